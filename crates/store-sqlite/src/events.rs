//! The outbox (D52): written in the commit that caused the event.

use recado_core::events::{Event, EventType};
use recado_core::ids::{CompanyId, ContactId, EventId};
use recado_core::store::CommitError;
use rusqlite::{Connection, params_from_iter};

use crate::cell::{Cell, Columns};
use crate::error::{ReadResult, commit_error};

/// Writes an event.
pub(crate) fn insert(conn: &Connection, event: &Event) -> Result<(), CommitError> {
    let values: [Cell<'_>; 6] = [
        event.company.into(),
        event.id.into(),
        event.event_type.as_str().into(),
        event.contact.into(),
        event.at.into(),
        (&event.data).into(),
    ];
    conn.prepare_cached(
        "INSERT INTO events (company_id, id, event_type, contact_id, at, data) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )
    .and_then(|mut statement| statement.execute(params_from_iter(values)))
    .map_err(commit_error)?;
    Ok(())
}

/// All events of a company, in the order of their commits.
pub(crate) fn all(conn: &Connection, company: CompanyId) -> ReadResult<Vec<Event>> {
    conn.prepare_cached(
        "SELECT company_id, id, event_type, contact_id, at, data FROM events \
         WHERE company_id = ?1 ORDER BY seq",
    )?
    .query_map([Cell::from(company)], |row| {
        let mut columns = Columns::new(row);
        Ok(Event {
            company: columns.id(CompanyId::new)?,
            id: columns.id(EventId::new)?,
            event_type: columns.word(EventType::parse)?,
            contact: columns.opt_id(ContactId::new)?,
            at: columns.time()?,
            data: columns.text()?,
        })
    })?
    .collect()
}
