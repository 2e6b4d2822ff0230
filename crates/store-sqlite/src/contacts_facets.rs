//! The number of contacts with each combination of the values that the exact filters compare.

use std::fmt::Write as _;

use recado_core::contacts::{
    AssigneeFilter, Contact, ContactFilter, ContactSet, CrmStatus, Facets, InboxStatus, Platform,
};
use recado_core::ids::{CompanyId, StageId};
use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::{Connection, OptionalExtension, params_from_iter};
use uuid::Uuid;

use crate::cell::{Cell, Columns};
use crate::error::ReadResult;

/// The id of a combination of one company. The contact's row has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
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
    /// The ids of the combinations that pass; not read if every contact of the company does.
    pub(crate) facets: Vec<FacetId>,
    /// The number of contacts with these combinations.
    pub(crate) total: u64,
    /// The number of contacts of the company.
    pub(crate) of_company: u64,
    /// Whether every contact of the company passes.
    pub(crate) all: bool,
    /// The set that the contacts are counted in; without one, it is the company.
    pub(crate) within: Option<ContactSet>,
}

const OF_COMPANY: &str = "SELECT f.id, f.contacts FROM contact_facets AS f WHERE f.company_id = ?1";

/// `CROSS JOIN` keeps the order of the tables. The combinations say whose contacts are counted:
/// another company may have a set of the same id.
const OF_SET: &str = "SELECT f.id, s.contacts \
    FROM contact_set_facets AS s CROSS JOIN contact_facets AS f ON f.id = s.facet_id \
    WHERE f.company_id = ?1 AND s.set_id = ?2 AND s.kind = ?3";

/// Adds the exact filters to a query of combinations `f` and to its values. Combinations pass by
/// [`Facets::pass`]. Those that do not pass are not read.
fn with_exact(query: &str, filter: &ContactFilter, values: &mut Vec<Cell<'_>>) -> String {
    let platform = filter.source_platform.as_ref().map(Platform::as_str);
    let is_assigned = filter.assigned_to.map(|to| to != AssigneeFilter::Nobody);
    let exact: [(&str, Option<Cell<'_>>); 8] = [
        ("source_platform", platform.map(|platform| Cell::Owned(platform.to_owned()))),
        ("inbox_status", filter.inbox_status.map(|status| status.as_str().into())),
        ("pipeline_stage_id", filter.pipeline_stage_id.map(Into::into)),
        ("crm_status", filter.crm_status.map(|status| status.as_str().into())),
        ("is_ai_enabled", filter.is_ai_enabled.map(Into::into)),
        ("is_group", filter.is_group.map(Into::into)),
        ("is_assigned", is_assigned.map(Into::into)),
        ("has_unread", filter.unread.map(Into::into)),
    ];
    let mut query = query.to_owned();
    for (column, value) in exact {
        if let Some(value) = value {
            values.push(value);
            let _ = write!(query, " AND f.{column} = ?{}", values.len());
        }
    }
    query
}

/// The number of contacts of a company (R417).
pub(crate) fn total(conn: &Connection, company: CompanyId) -> ReadResult<u64> {
    let total = conn
        .prepare_cached("SELECT contacts FROM contact_totals WHERE company_id = ?1")?
        .query_row(params_from_iter([Cell::from(company)]), |row| Columns::new(row).get())
        .optional()?;
    Ok(total.unwrap_or(0))
}

/// The combinations that pass the exact filters (4.1, D77). `search` and times are applied
/// elsewhere, and so is every set but `within`. Where every contact of the company passes, the
/// combinations are not read.
pub(crate) fn passing(
    conn: &Connection,
    company: CompanyId,
    within: Option<ContactSet>,
    filter: &ContactFilter,
) -> ReadResult<Passing> {
    let of_company = total(conn, company)?;
    if within.is_none() && !filter.has_exact() {
        let total = of_company;
        return Ok(Passing { facets: Vec::new(), total, of_company, all: true, within });
    }
    let mut values: Vec<Cell<'_>> = vec![company.into()];
    let query = match within {
        None => OF_COMPANY,
        Some(set) => {
            values.extend([Cell::from(set.id()), Cell::Int(set.kind())]);
            OF_SET
        }
    };
    let query = with_exact(query, filter, &mut values);
    let mut statement = conn.prepare_cached(&query)?;
    let mut rows = statement.query(params_from_iter(values))?;
    let mut passing = Passing { facets: Vec::new(), total: 0, of_company, all: false, within };
    while let Some(row) = rows.next()? {
        let mut columns = Columns::new(row);
        passing.facets.push(FacetId(columns.get()?));
        let contacts: u64 = columns.get()?;
        passing.total += contacts;
    }
    passing.all = within.is_none() && passing.total == of_company;
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
