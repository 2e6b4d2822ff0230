//! The outbox (D52): events are written in the commit that caused them, and read as the company's
//! journal.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use async_trait::async_trait;
use recado_core::events::{Event, EventReads, EventRecord, EventType, JournalPosition};
use recado_core::ids::{CompanyId, EventId};
use recado_core::store::{CommitError, StoreError};
use rusqlite::{Connection, OptionalExtension, params_from_iter};

use crate::SqliteStore;
use crate::cell::{Cell, Columns};
use crate::error::{ReadResult, commit_error};

/// What is read of an event, with whether the contact that it is about is gone.
const COLUMNS: &str = "company_id, id, event_type, contact_id, at, data, \
     contact_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM contacts AS c \
     WHERE c.company_id = events.company_id AND c.id = events.contact_id)";

static BY_ID: LazyLock<String> =
    LazyLock::new(|| format!("SELECT {COLUMNS} FROM events WHERE company_id = ?1 AND id = ?2"));
static BY_SEQ: LazyLock<String> =
    LazyLock::new(|| format!("SELECT {COLUMNS} FROM events WHERE seq = ?1"));
/// All events of a company.
static ALL: LazyLock<String> =
    LazyLock::new(|| format!("SELECT {COLUMNS} FROM events WHERE company_id = ?1 ORDER BY seq"));
/// The positions of events of one type. Only the index is read.
const OF_TYPE: &str = "SELECT seq FROM events INDEXED BY events_by_type \
     WHERE company_id = ?1 AND event_type = ?2 AND seq > ?3 ORDER BY seq LIMIT ?4";
/// The same from the newest on, before a position.
const NEWEST_OF_TYPE: &str = "SELECT seq FROM events INDEXED BY events_by_type \
     WHERE company_id = ?1 AND event_type = ?2 AND seq < ?3 ORDER BY seq DESC LIMIT ?4";

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

fn read(row: &rusqlite::Row<'_>) -> ReadResult<EventRecord> {
    let mut columns = Columns::new(row);
    Ok(EventRecord {
        company: columns.get()?,
        id: columns.get()?,
        event_type: columns.get()?,
        contact: columns.get()?,
        at: columns.get()?,
        data: columns.get()?,
        is_orphaned: columns.get()?,
    })
}

/// All events of a company, in the order of their commits. An erased event has no data.
pub(crate) fn all(conn: &Connection, company: CompanyId) -> ReadResult<Vec<Event>> {
    conn.prepare_cached(&ALL)?
        .query_map([Cell::from(company)], |row| {
            let EventRecord { id, company, event_type, contact, at, data, .. } = read(row)?;
            Ok(Event { id, company, event_type, contact, at, data: data.unwrap_or_default() })
        })?
        .collect()
}

/// The events of some types after a position. The positions of each type are merged, and only the
/// events of the answer are read.
fn after(
    conn: &Connection,
    company: CompanyId,
    types: &[EventType],
    after: JournalPosition,
    limit: u32,
) -> ReadResult<Vec<(JournalPosition, EventRecord)>> {
    let places = places(conn, OF_TYPE, company, types, after.0.into(), limit)?;
    at(conn, places.into_iter().take(limit as usize))
}

/// The newest events of some types, newest first, read in the same way.
fn newest(
    conn: &Connection,
    company: CompanyId,
    types: &[EventType],
    before: Option<JournalPosition>,
    limit: u32,
) -> ReadResult<Vec<(JournalPosition, EventRecord)>> {
    let before = before.map_or(Cell::Int(i64::MAX), |before| before.0.into());
    let places = places(conn, NEWEST_OF_TYPE, company, types, before, limit)?;
    at(conn, places.into_iter().rev().take(limit as usize))
}

/// At most `limit` positions of each type.
fn places(
    conn: &Connection,
    of_type: &str,
    company: CompanyId,
    types: &[EventType],
    end: Cell<'_>,
    limit: u32,
) -> ReadResult<BTreeSet<i64>> {
    let mut of_type = conn.prepare_cached(of_type)?;
    let mut places = BTreeSet::new();
    for event_type in types {
        let values: [Cell<'_>; 4] =
            [company.into(), event_type.as_str().into(), end.clone(), limit.into()];
        for place in of_type.query_map(params_from_iter(&values), |row| row.get::<_, i64>(0))? {
            places.insert(place?);
        }
    }
    Ok(places)
}

/// The events at these positions.
fn at(
    conn: &Connection,
    places: impl Iterator<Item = i64>,
) -> ReadResult<Vec<(JournalPosition, EventRecord)>> {
    let mut by_seq = conn.prepare_cached(&BY_SEQ)?;
    let event = |seq: i64| {
        let position = JournalPosition(seq.unsigned_abs());
        Ok((position, by_seq.query_row([seq], read)?))
    };
    places.map(event).collect()
}

#[async_trait]
impl EventReads for SqliteStore {
    async fn event(
        &self,
        company: CompanyId,
        id: EventId,
    ) -> Result<Option<EventRecord>, StoreError> {
        self.read_of(company, move |conn| {
            let key: [Cell<'_>; 2] = [company.into(), id.into()];
            conn.prepare_cached(&BY_ID)?.query_row(params_from_iter(&key), read).optional()
        })
        .await
    }

    // Positions are assigned under the one write lock: a reader that sees a position sees all
    // earlier ones.
    async fn events_after(
        &self,
        company: CompanyId,
        types: &[EventType],
        position: JournalPosition,
        limit: u32,
    ) -> Result<Vec<(JournalPosition, EventRecord)>, StoreError> {
        let types = types.to_vec();
        self.read_of(company, move |conn| after(conn, company, &types, position, limit)).await
    }

    async fn newest_events(
        &self,
        company: CompanyId,
        types: &[EventType],
        before: Option<JournalPosition>,
        limit: u32,
    ) -> Result<Vec<(JournalPosition, EventRecord)>, StoreError> {
        let types = types.to_vec();
        self.read_of(company, move |conn| newest(conn, company, &types, before, limit)).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plans;

    #[test]
    fn the_journal_is_read_from_a_position_on_in_the_index_alone() {
        let step = plans::step(&plans::database(), OF_TYPE);
        let found = "SEARCH events USING COVERING INDEX events_by_type \
                     (company_id=? AND event_type=? AND rowid>?)";
        assert_eq!(step, found);
        let steps = plans::steps(&plans::database(), NEWEST_OF_TYPE);
        let found = "SEARCH events USING COVERING INDEX events_by_type \
                     (company_id=? AND event_type=? AND rowid<?)";
        assert_eq!(steps, [found]);
    }

    #[test]
    fn an_event_and_its_contact_are_found_by_their_keys() {
        let conn = plans::database();
        for query in [&BY_ID, &BY_SEQ] {
            let steps = plans::steps(&conn, query);
            assert_eq!(steps.iter().filter(|step| step.starts_with("SEARCH")).count(), 2);
            assert!(!steps.iter().any(|step| step.starts_with("SCAN")), "{steps:?}");
        }
    }
}
