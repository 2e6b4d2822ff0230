//! The records that a body which creates or changes a contact refers to.

use std::collections::HashSet;

use recado_core::Timestamp;
use recado_core::contacts::{DraftFacts, DraftQuery, OrganizationKey};
use recado_core::custom_fields::CustomField;
use recado_core::ids::{CompanyId, ContactId};
use recado_core::organizations::Organization;
use recado_core::store::Stored;
use rusqlite::{OptionalExtension, params_from_iter};

use crate::aliases;
use crate::cell::{Cell, Columns};
use crate::contacts::export_frontier;
use crate::contacts_record::tags_of;
use crate::database::Connection;
use crate::error::ReadResult;
use crate::table::{self, Table, exists, get};

/// Answers the whole query from one state of the database.
pub(crate) fn facts(
    conn: &Connection,
    company: CompanyId,
    query: &DraftQuery,
) -> ReadResult<DraftFacts> {
    let mut facts = DraftFacts {
        holder: holder(conn, company, query)?,
        email_holder: email_holder(conn, company, query)?,
        organization: organization(conn, company, query)?,
        lists: those_of(conn, company, query.lists.iter().copied())?,
        fields: fields(conn, company, query)?,
        tags: those_of(conn, company, query.tags.iter().copied())?,
        connection: those_of(conn, company, query.connection.into_iter())?.pop(),
        export_frontier: export_frontier(conn, company)?,
        ..DraftFacts::default()
    };
    if let Some(id) = query.contact {
        facts.contact = get(conn, &[company.into(), id.into()])?;
        facts.tagged = tags_of(conn, company, id)?.into_iter().map(|tag| tag.id).collect();
        let is_member = "SELECT 1 FROM list_members \
                         WHERE company_id = ?1 AND list_id = ?2 AND contact_id = ?3";
        for list in &query.lists {
            if exists(conn, is_member, &[company.into(), (*list).into(), id.into()])? {
                facts.member_of.push(*list);
            }
        }
    }
    if let Some((platform, key)) = &query.alias {
        facts.alias_taken = !aliases::holders(conn, company, Some(platform), key)?.is_empty();
    }
    if let Some(id) = query.member {
        let key = [company.into(), id.into()];
        facts.member =
            exists(conn, "SELECT 1 FROM members WHERE company_id = ?1 AND id = ?2", &key)?;
    }
    if let Some(id) = query.close_reason {
        let key = [company.into(), id.into()];
        facts.close_reason =
            exists(conn, "SELECT 1 FROM close_reasons WHERE company_id = ?1 AND id = ?2", &key)?;
    }
    Ok(facts)
}

fn those_of<T: Table>(
    conn: &Connection,
    company: CompanyId,
    ids: impl Iterator<Item = impl Into<Cell<'static>>>,
) -> ReadResult<Vec<Stored<T>>> {
    ids.filter_map(|id| get(conn, &[company.into(), id.into()]).transpose()).collect()
}

/// The definitions of fields that are asked for by id or by slug, each once.
fn fields(
    conn: &Connection,
    company: CompanyId,
    query: &DraftQuery,
) -> ReadResult<Vec<Stored<CustomField>>> {
    let mut fields = those_of(conn, company, query.fields.iter().copied())?;
    for slug in &query.slugs {
        let values = [company.into(), slug.into()];
        fields.extend(table::find(conn, "company_id = ?1 AND slug = ?2", &values)?);
    }
    let mut seen = HashSet::new();
    fields.retain(|field: &Stored<CustomField>| seen.insert(field.id));
    Ok(fields)
}

type Holder = (Timestamp, ContactId);

fn read_holder(conn: &Connection, query: &str, values: &[Cell<'_>]) -> ReadResult<Option<Holder>> {
    conn.prepare_cached(query)?
        .query_row(params_from_iter(values), |row| {
            let mut columns = Columns::new(row);
            Ok((columns.get()?, columns.get()?))
        })
        .optional()
}

/// The oldest contact that has one of the phones, identifiers or keys. The statement
/// names its indexes: without that SQLite would read all contacts in the order of creation rather
/// than sort the few that match.
fn holder(
    conn: &Connection,
    company: CompanyId,
    query: &DraftQuery,
) -> ReadResult<Option<ContactId>> {
    let mut oldest: Option<Holder> = None;
    for phone in &query.phones {
        let by_phone = "SELECT created_at, id FROM contacts INDEXED BY contacts_by_phone \
                        WHERE company_id = ?1 AND phone = ?2 ORDER BY created_at, id LIMIT 1";
        let found = read_holder(conn, by_phone, &[company.into(), phone.as_str().into()])?;
        oldest = oldest.into_iter().chain(found).min();
    }
    for identifier in &query.identifiers {
        let by_identifier = "SELECT created_at, id FROM contacts \
                             INDEXED BY contacts_by_identifier \
                             WHERE company_id = ?1 AND identifier = ?2 \
                             ORDER BY created_at, id LIMIT 1";
        let values = [company.into(), identifier.as_str().into()];
        let found = read_holder(conn, by_identifier, &values)?;
        oldest = oldest.into_iter().chain(found).min();
    }
    for key in &query.keys {
        for id in aliases::holders(conn, company, None, key)? {
            let by_id = "SELECT created_at, id FROM contacts WHERE company_id = ?1 AND id = ?2";
            let found = read_holder(conn, by_id, &[company.into(), id.into()])?;
            oldest = oldest.into_iter().chain(found).min();
        }
    }
    Ok(oldest.map(|(_, id)| id))
}

fn email_holder(
    conn: &Connection,
    company: CompanyId,
    query: &DraftQuery,
) -> ReadResult<Option<ContactId>> {
    let Some(email) = &query.email else { return Ok(None) };
    let by_email = "SELECT created_at, id FROM contacts WHERE company_id = ?1 AND email = ?2";
    let found = read_holder(conn, by_email, &[company.into(), email.as_str().into()])?;
    Ok(found.map(|(_, id)| id))
}

fn organization(
    conn: &Connection,
    company: CompanyId,
    query: &DraftQuery,
) -> ReadResult<Option<Stored<Organization>>> {
    match &query.organization {
        None => Ok(None),
        Some(OrganizationKey::Cnpj(cnpj)) => {
            let values = [company.into(), cnpj.as_str().into()];
            table::find(conn, "company_id = ?1 AND cnpj = ?2", &values)
        }
        Some(OrganizationKey::Id(id)) => get(conn, &[company.into(), (*id).into()]),
    }
}
