//! The number of contacts with each combination of the values that the exact filters compare.

use recado_core::contacts::{Contact, ContactFilter, Facets};
use recado_core::ids::CompanyId;
use rusqlite::{Connection, OptionalExtension, params_from_iter};

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
    let values: [Cell<'_>; 8] = [
        contact.company.into(),
        Cell::Bytes(key.as_bytes()),
        facets.source_platform.as_str().into(),
        facets.inbox_status.as_str().into(),
        facets.pipeline_stage_id.into(),
        facets.crm_status.as_str().into(),
        facets.is_ai_enabled.into(),
        facets.is_group.into(),
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
         pipeline_stage_id, crm_status, is_ai_enabled, is_group, contacts) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, 1)",
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

/// The combinations of a company that pass a filter.
#[derive(Debug)]
pub(crate) struct Passing {
    /// The ids of the combinations that pass.
    pub(crate) facets: Vec<FacetId>,
    /// The number of contacts with these combinations.
    pub(crate) total: u64,
    /// Whether every contact of the company passes.
    pub(crate) all: bool,
}

/// The combinations that pass the exact filters; `search` is applied elsewhere (4.1).
pub(crate) fn passing(
    conn: &Connection,
    company: CompanyId,
    filter: &ContactFilter,
) -> ReadResult<Passing> {
    let mut statement = conn.prepare_cached(
        "SELECT id, contacts, source_platform, inbox_status, pipeline_stage_id, crm_status, \
         is_ai_enabled, is_group FROM contact_facets WHERE company_id = ?1",
    )?;
    let mut rows = statement.query([Cell::from(company)])?;
    let mut passing = Passing { facets: Vec::new(), total: 0, all: true };
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
