//! How contacts are written, with the columns by which listings and searches find them.

use std::borrow::Cow;
use std::sync::LazyLock;

use recado_core::contacts::Contact;
use recado_core::store::{Record, Version};
use recado_store_sql::{Layout, TableDef, signed};
use uuid::Uuid;

use crate::commit::CommitStep;
use crate::param::{Param, bind};
use crate::table::Sql;

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
    Sql { insert, update, ..sql }
});

/// The values of a contact, its facet and its search text.
fn params(contact: &Contact) -> Vec<Param> {
    let mut params = bind(contact);
    params.push(Param::Id(Uuid::from_bytes(*contact.facet_key().as_bytes())));
    params.push(Param::Text(Cow::Owned(contact.search_text().as_str().to_owned())));
    params
}

/// Inserts a contact.
pub(crate) fn insert(contact: &Contact) -> CommitStep {
    CommitStep::new(&SQL.insert, params(contact), None)
}

/// Replaces a contact if it has the version it was read at.
pub(crate) fn update(contact: &Contact, read_at: Version) -> CommitStep {
    let mut params = params(contact);
    params.push(Param::Int(signed(read_at.number())));
    CommitStep::new(&SQL.update, params, Some(contact.row_key()))
}
