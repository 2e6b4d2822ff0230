//! The number of contacts with each combination of the values that the exact filters compare.

use recado_core::contacts::{
    Contact, ContactFilter, ContactSet, CrmStatus, Facets, InboxStatus, Platform,
};
use recado_core::ids::{CompanyId, StageId};
use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::{Connection, OptionalExtension, params_from_iter};
use uuid::Uuid;

use crate::cell::{Cell, Columns};
use crate::error::ReadResult;

/// The id of a combination of one company. The contact's row has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FacetId(pub(crate) i64);

/// Counts one more contact with this combination. These are two statements: for an upsert that
/// returns the id, SQLite would keep a statement journal.
pub(crate) fn add(conn: &Connection, contact: &Contact) -> ReadResult<FacetId> {
    let facets = contact.facets();
    let key = facets.key();
    let values: [Cell<'_>; 10] = [
        contact.company.into(),
        Cell::Bytes(key.as_bytes()),
        facets.source_platform.as_str().into(),
        facets.inbox_status.as_str().into(),
        facets.pipeline_stage_id.into(),
        facets.crm_status.as_str().into(),
        facets.is_ai_enabled.into(),
        facets.is_group.into(),
        facets.is_assigned.into(),
        facets.has_unread.into(),
    ];
    let known = "SELECT id FROM contact_facets WHERE company_id = ?1 AND key = ?2";
    let known: Option<i64> = conn
        .prepare_cached(known)?
        .query_row(params_from_iter(&values[..2]), |row| row.get(0))
        .optional()?;
    if let Some(id) = known {
        conn.prepare_cached("UPDATE contact_facets SET contacts = contacts + 1 WHERE id = ?1")?
            .execute([id])?;
        return Ok(FacetId(id));
    }
    conn.prepare_cached(
        "INSERT INTO contact_facets (company_id, key, source_platform, inbox_status, \
         pipeline_stage_id, crm_status, is_ai_enabled, is_group, is_assigned, has_unread, \
         contacts) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, 1)",
    )?
    .insert(params_from_iter(&values))
    .map(FacetId)
}

/// Counts one contact less. A combination without contacts is deleted.
pub(crate) fn remove(conn: &Connection, facet: FacetId) -> ReadResult<()> {
    conn.prepare_cached("UPDATE contact_facets SET contacts = contacts - 1 WHERE id = ?1")?
        .execute([facet.0])?;
    conn.prepare_cached("DELETE FROM contact_facets WHERE id = ?1 AND contacts = 0")?
        .execute([facet.0])?;
    Ok(())
}

/// The combinations of a company, or of a set of its contacts, that pass a filter.
#[derive(Debug)]
pub(crate) struct Passing {
    /// The ids of the combinations that pass.
    pub(crate) facets: Vec<FacetId>,
    /// The number of contacts with these combinations.
    pub(crate) total: u64,
    /// Whether every contact of the company passes.
    pub(crate) all: bool,
    /// The set that the contacts are counted in; without one, it is the company.
    pub(crate) within: Option<ContactSet>,
}

const OF_COMPANY: &str = "SELECT f.id, f.contacts, f.source_platform, f.inbox_status, \
    f.pipeline_stage_id, f.crm_status, f.is_ai_enabled, f.is_group, f.is_assigned, f.has_unread \
    FROM contact_facets AS f WHERE f.company_id = ?1";

/// `CROSS JOIN` keeps the order of the tables. The combinations say whose contacts are counted:
/// another company may have a set of the same id.
const OF_SET: &str = "SELECT f.id, s.contacts, f.source_platform, f.inbox_status, \
    f.pipeline_stage_id, f.crm_status, f.is_ai_enabled, f.is_group, f.is_assigned, f.has_unread \
    FROM contact_set_facets AS s CROSS JOIN contact_facets AS f ON f.id = s.facet_id \
    WHERE s.set_id = ?2 AND s.kind = ?3 AND f.company_id = ?1";

/// The combinations that pass the exact filters (4.1, D77). `search` and times are applied
/// elsewhere, and so is every set but `within`.
pub(crate) fn passing(
    conn: &Connection,
    company: CompanyId,
    within: Option<ContactSet>,
    filter: &ContactFilter,
) -> ReadResult<Passing> {
    let query = if within.is_some() { OF_SET } else { OF_COMPANY };
    let set = within.iter().flat_map(|set| [Cell::from(set.id()), Cell::Int(set.kind())]);
    let mut statement = conn.prepare_cached(query)?;
    let mut rows = statement.query(params_from_iter([company.into()].into_iter().chain(set)))?;
    let mut passing = Passing { facets: Vec::new(), total: 0, all: within.is_none(), within };
    while let Some(row) = rows.next()? {
        let mut columns = Columns::new(row);
        let id = FacetId(columns.get()?);
        let contacts: u64 = columns.get()?;
        let facets = Facets {
            source_platform: columns.get()?,
            inbox_status: columns.get()?,
            pipeline_stage_id: columns.get()?,
            crm_status: columns.get()?,
            is_ai_enabled: columns.get()?,
            is_group: columns.get()?,
            is_assigned: columns.get()?,
            has_unread: columns.get()?,
        };
        if facets.pass(filter) {
            passing.facets.push(id);
            passing.total += contacts;
        } else {
            passing.all = false;
        }
    }
    Ok(passing)
}

/// The combination that the values of a call are.
fn given(call: &Context<'_>) -> rusqlite::Result<Option<Facets>> {
    let text = |at| Ok::<_, rusqlite::Error>(call.get_raw(at).as_str()?.to_owned());
    let stage = call.get_raw(2).as_bytes_or_null()?;
    let stage = stage.and_then(|bytes| Uuid::from_slice(bytes).ok());
    let (platform, inbox, crm) = (text(0)?, text(1)?, text(3)?);
    let known = (Platform::parse(&platform), InboxStatus::parse(&inbox), CrmStatus::parse(&crm));
    let (Some(source_platform), Some(inbox_status), Some(crm_status)) = known else {
        return Ok(None);
    };
    Ok(Some(Facets {
        source_platform,
        inbox_status,
        pipeline_stage_id: stage.map(StageId::new),
        crm_status,
        is_ai_enabled: call.get(4)?,
        is_group: call.get(5)?,
        is_assigned: call.get(6)?,
        has_unread: call.get(7)?,
    }))
}

/// Gives the connection that migrates the function `facet_key`: the key of a combination, null if
/// its words are unknown.
pub(crate) fn define(conn: &Connection) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    conn.create_scalar_function("facet_key", 8, flags, |call| {
        Ok(given(call)?.map(|facets| facets.key().as_bytes().to_vec()))
    })
}
