//! How contacts are written, with the columns by which listings and searches find them.

use std::borrow::Cow;
use std::sync::LazyLock;

use recado_core::contacts::Contact;
use recado_core::store::{Record, Version};
use recado_store_sql::{Layout, TableDef, signed};
use uuid::Uuid;

use crate::commit::CommitStep;
use crate::param::{Param, bind};
use crate::table::{Sql, insert_many, update_many};

/// The search text has a table of its own and is written only when it changes.
static SQL: LazyLock<Sql> = LazyLock::new(|| {
    let sql = Sql::of(TableDef { derived: &["facet"], ..Contact::TABLE });
    // The facet is the last column. The text is the parameter after it.
    let facet = Contact::TABLE.columns.len() + 1;
    let text = facet + 1;
    let version = text + 1;
    let insert = format!(
        "WITH searched AS (INSERT INTO contact_search (company_id, contact_id, facet, search_text) \
         VALUES ($1, $2, ${facet}, ${text})) {}",
        sql.insert
    );
    let searched = format!(
        "WITH searched AS (UPDATE contact_search SET facet = ${facet}, search_text = ${text} \
         WHERE company_id = $1 AND contact_id = $2 \
         AND (facet, search_text) <> (${facet}, ${text})), "
    );
    let update = sql
        .update
        .replace(&format!("version = ${text}"), &format!("version = ${version}"))
        .replacen("WITH ", &searched, 1);
    let columns: Vec<&str> = Contact::TABLE.columns.iter().copied().chain(["facet"]).collect();
    let insert_many = insert_many(&Contact::TABLE, &columns, "search_text", NEW);
    let update_many = update_many("contacts", 2, &columns, "search_text", CHANGED);
    Sql { insert, insert_many, update, update_many, ..sql }
});

/// Writes the facets and search texts of several new contacts.
const NEW: &str = ", searched AS (INSERT INTO contact_search \
(company_id, contact_id, facet, search_text) SELECT company_id, id, facet, search_text FROM u)";

/// Writes the facets and search texts of several contacts that have changed.
const CHANGED: &str = ", searched AS (UPDATE contact_search s \
SET facet = u.facet, search_text = u.search_text FROM u \
WHERE s.company_id = ANY(ARRAY[u.company_id]) AND s.contact_id = ANY(ARRAY[u.id]) \
AND (s.facet, s.search_text) <> (u.facet, u.search_text))";

/// The statements of contacts.
pub(crate) fn sql() -> &'static Sql {
    &SQL
}

/// The values of a contact, and its facet.
pub(crate) fn params(contact: &Contact) -> Vec<Param> {
    let mut params = bind(contact);
    params.push(Param::Id(Uuid::from_bytes(*contact.facet_key().as_bytes())));
    params
}

/// The search text of a contact, as a parameter.
pub(crate) fn text(contact: &Contact) -> Param {
    Param::Text(Cow::Owned(contact.search_text().as_str().to_owned()))
}

/// Inserts a contact.
pub(crate) fn insert(contact: &Contact) -> CommitStep {
    let mut params = params(contact);
    params.push(text(contact));
    CommitStep::new(&SQL.insert, params, None)
}

/// Replaces a contact if it has the version it was read at.
pub(crate) fn update(contact: &Contact, read_at: Version) -> CommitStep {
    let mut params = params(contact);
    params.push(text(contact));
    params.push(Param::Int(signed(read_at.number())));
    CommitStep::new(&SQL.update, params, Some(contact.row_key()))
}
