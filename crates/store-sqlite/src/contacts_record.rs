//! Contacts with the records they refer to.

use std::collections::HashMap;
use std::sync::LazyLock;

use recado_core::access::Member;
use recado_core::contacts::{Contact, ContactRecord, ContactSlice, ListBrief, Related};
use recado_core::custom_fields::CustomField;
use recado_core::deals::Stage;
use recado_core::ids::{CompanyId, ContactId, OrganizationId, StageId};
use recado_core::leads::LeadMemory;
use recado_core::organizations::Organization;
use recado_core::store::Stored;
use recado_core::tags::Tag;
use rusqlite::params_from_iter;

use crate::cell::{Cell, Columns};
use crate::contacts_listing::ListingPage;
use crate::conversations::with_connections;
use crate::database::Connection;
use crate::error::ReadResult;
use crate::links::human_clicks;
use crate::table::{self, Table, read_stored};

/// Reads the records of one company's contacts. A record that several contacts refer to is read
/// once.
pub(crate) struct ContactRecords<'c> {
    conn: &'c Connection,
    company: CompanyId,
    clicks: bool,
    organizations: HashMap<OrganizationId, Option<Organization>>,
    stages: HashMap<StageId, Option<Stage>>,
}

impl<'c> ContactRecords<'c> {
    pub(crate) fn new(conn: &'c Connection, company: CompanyId, clicks: bool) -> Self {
        let (organizations, stages) = (HashMap::new(), HashMap::new());
        Self { conn, company, clicks, organizations, stages }
    }

    /// The records of one part of a listing.
    pub(crate) fn slice(mut self, listed: &ListingPage) -> ReadResult<ContactSlice> {
        static SELECT: LazyLock<String> =
            LazyLock::new(|| format!("{} WHERE seq = ?1", Contact::statements().select));
        let mut statement = self.conn.prepare_cached(&SELECT)?;
        let mut records = Vec::with_capacity(listed.keys.len());
        for key in &listed.keys {
            let contact = statement.query_row([key.seq.0], read_stored)?;
            records.push(self.record(contact)?);
        }
        let fields = table::all(self.conn, self.company)?;
        Ok(ContactSlice { records, total: listed.total, more: false, fields })
    }

    fn record(&mut self, contact: Stored<Contact>) -> ReadResult<ContactRecord> {
        let (conn, company) = (self.conn, self.company);
        let related = Related {
            organization: match contact.organization_id {
                None => None,
                Some(id) => referred(conn, company, id, &mut self.organizations)?,
            },
            stage: match contact.pipeline_stage_id {
                None => None,
                Some(id) => referred(conn, company, id, &mut self.stages)?,
            },
            tags: tags_of(conn, company, contact.id)?,
            clicks: match self.clicks {
                true => Some(human_clicks(conn, company, contact.id)?),
                false => None,
            },
            ..Related::default()
        };
        Ok(ContactRecord { contact, related })
    }
}

fn referred<I, T>(
    conn: &Connection,
    company: CompanyId,
    id: I,
    known: &mut HashMap<I, Option<T>>,
) -> ReadResult<Option<T>>
where
    I: Copy + Eq + std::hash::Hash + Into<Cell<'static>>,
    T: Table + Clone,
{
    if let Some(known) = known.get(&id) {
        return Ok(known.clone());
    }
    let found = table::get(conn, &[company.into(), id.into()])?.map(Stored::into_value);
    known.insert(id, found.clone());
    Ok(found)
}

static TAGS_OF: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT {} FROM contact_tags AS g \
         JOIN tags AS t ON t.company_id = g.company_id AND t.id = g.tag_id \
         WHERE g.company_id = ?1 AND g.contact_id = ?2 ORDER BY t.created_at, t.id",
        Tag::statements().qualified("t")
    )
});

/// The tags of a contact by `created_at`, then `id`.
pub(crate) fn tags_of(
    conn: &Connection,
    company: CompanyId,
    contact: ContactId,
) -> ReadResult<Vec<Tag>> {
    let key: [Cell<'_>; 2] = [company.into(), contact.into()];
    let mut statement = conn.prepare_cached(&TAGS_OF)?;
    let tags = statement.query_map(params_from_iter(&key), read_stored::<Tag>)?;
    tags.map(|tag| tag.map(Stored::into_value)).collect()
}

/// The lists a contact is in by `created_at`, then `id`.
fn lists_of(
    conn: &Connection,
    company: CompanyId,
    contact: ContactId,
) -> ReadResult<Vec<ListBrief>> {
    let query = "SELECT l.id, l.name FROM list_members AS m \
                 JOIN lists AS l ON l.company_id = m.company_id AND l.id = m.list_id \
                 WHERE m.company_id = ?1 AND m.contact_id = ?2 ORDER BY l.created_at, l.id";
    let key: [Cell<'_>; 2] = [company.into(), contact.into()];
    let mut statement = conn.prepare_cached(query)?;
    let lists = statement.query_map(params_from_iter(&key), |row| {
        let mut columns = Columns::new(row);
        Ok(ListBrief { id: columns.get()?, name: columns.get()? })
    })?;
    lists.collect()
}

/// A contact with all records it refers to, and the company's definitions of custom fields.
pub(crate) fn whole(
    conn: &Connection,
    company: CompanyId,
    id: ContactId,
) -> ReadResult<Option<(ContactRecord, Vec<CustomField>)>> {
    let Some(contact) = table::get::<Contact>(conn, &[company.into(), id.into()])? else {
        return Ok(None);
    };
    let assigned_to = match contact.assigned_to_member_id {
        None => None,
        Some(member) => table::get::<Member>(conn, &[company.into(), member.into()])?,
    };
    let mut record = ContactRecords::new(conn, company, false).record(contact)?;
    record.related.assigned_to = assigned_to.map(Stored::into_value);
    record.related.lists = lists_of(conn, company, id)?;
    record.related.conversations = with_connections(conn, company, id)?;
    let memory = table::get::<LeadMemory>(conn, &[company.into(), id.into()])?;
    record.related.lead_memory = memory.map(Stored::into_value);
    Ok(Some((record, table::all(conn, company)?)))
}

#[cfg(test)]
mod tests {
    use rusqlite::StatementStatus;
    use uuid::Uuid;

    use super::*;
    use crate::{database, schema};

    #[test]
    fn a_join_is_planned_once_whatever_is_bound_to_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("recado.db");
        schema::migrate(&mut database::writer(&path).unwrap()).unwrap();
        let conn = database::reader(&path).unwrap();
        let company = CompanyId::new(Uuid::from_u128(1));
        for contact in 0..3 {
            let contact = ContactId::new(Uuid::from_u128(contact));
            assert!(tags_of(&conn, company, contact).unwrap().is_empty());
        }
        let statement = conn.prepare_cached(&TAGS_OF).unwrap();
        assert_eq!(statement.get_status(StatementStatus::Run), 3);
        assert_eq!(statement.get_status(StatementStatus::RePrepare), 0);
    }
}
