//! Keeps the outbox small: the sweep of old, finished rows, and the erasure of the data of a
//! contact's events (D26).

use std::collections::HashSet;

use async_trait::async_trait;
use recado_core::Timestamp;
use recado_core::events::{Erased, EventsAbout, Outbox, Swept};
use recado_core::ids::CompanyId;
use recado_core::store::{CommitError, StoreError};
use rusqlite::{Connection, params, params_from_iter};

use crate::SqliteStore;
use crate::batch::Transaction;
use crate::cell::Cell;
use crate::error::{ReadResult, commit_error};
use crate::table;
use crate::writer::{expect_no_conflict, read_error};

/// The condition of events that hold what message `?3` said before its sender deleted it, or of all
/// where `?3` is null.
macro_rules! of_message {
    () => {
        "(?3 IS NULL OR event_type IN ('message.received', 'message.sent', 'message.updated') \
         AND json_extract(data, '$.message_id') = ?3 \
         AND json_extract(data, '$.deleted_by_sender_at') IS NULL)"
    };
}

const ERASE: &str = concat!(
    "UPDATE events SET data = NULL WHERE seq IN (\
     SELECT seq FROM events AS e INDEXED BY events_about_contact \
     WHERE company_id = ?1 AND contact_id = ?2 AND data IS NOT NULL AND ",
    of_message!(),
    " AND NOT EXISTS (\
     SELECT 1 FROM deliveries AS d INDEXED BY deliveries_by_event \
     WHERE d.company_id = ?1 AND d.event_id = e.id AND d.queued_at IS NOT NULL) LIMIT ?4) \
     RETURNING id"
);
/// Erases what receivers answered to the deliveries of an event (R195).
const ERASE_ANSWERS: &str = "UPDATE deliveries INDEXED BY deliveries_by_event \
     SET version = version + 1, log = (\
     SELECT json_group_array(json_set(entry.value, '$.response', NULL)) \
     FROM json_each(deliveries.log) AS entry) \
     WHERE company_id = ?1 AND event_id = ?2 AND instr(log, '\"response\":\"') > 0";
const ABOUT_CONTACT: &str = concat!(
    "SELECT 1 FROM events INDEXED BY events_about_contact \
     WHERE company_id = ?1 AND contact_id = ?2 AND data IS NOT NULL AND ",
    of_message!()
);

const FINISHED: &str = "SELECT seq FROM deliveries INDEXED BY deliveries_settled \
     WHERE queued_at IS NULL AND created_at < ?1 ORDER BY created_at, seq LIMIT ?2";
/// Newest first: the older events are those that a pending delivery still needs.
const OLD_EVENTS: &str = "SELECT seq, company_id, id FROM events INDEXED BY events_by_time \
     WHERE at < ?1 ORDER BY at DESC, seq DESC";
const OF_EVENT: &str = "SELECT seq FROM deliveries INDEXED BY deliveries_by_event \
     WHERE company_id = ?1 AND event_id = ?2";
// After it was selected and before it is deleted, a delivery may have been started again.
const DROP_DELIVERY: &str = "DELETE FROM deliveries WHERE seq = ?1 AND queued_at IS NULL";
const DROP_EVENT: &str = "DELETE FROM events AS e WHERE seq = ?1 AND NOT EXISTS (\
     SELECT 1 FROM deliveries AS d INDEXED BY deliveries_by_event \
     WHERE d.company_id = e.company_id AND d.event_id = e.id)";

const DROP_DELIVERIES_OF: &str = "DELETE FROM deliveries WHERE seq IN \
     (SELECT seq FROM deliveries WHERE company_id = ?1 LIMIT ?2)";
const DROP_EVENTS_OF: &str = "DELETE FROM events WHERE seq IN \
     (SELECT seq FROM events WHERE company_id = ?1 LIMIT ?2)";

/// The rows that one step of the sweep may delete.
#[derive(Debug, Default)]
struct Old {
    deliveries: Vec<i64>,
    events: Vec<i64>,
}

/// Selects old rows. An event is selected if all its deliveries are deleted in the same step.
fn find_old(conn: &Connection, before: Timestamp, limit: u32) -> ReadResult<Old> {
    let deliveries: Vec<i64> = conn
        .prepare_cached(FINISHED)?
        .query_map(params![before.millis(), limit], |row| row.get(0))?
        .collect::<ReadResult<_>>()?;
    let going: HashSet<i64> = deliveries.iter().copied().collect();
    let mut of_event = conn.prepare_cached(OF_EVENT)?;
    let mut old = conn.prepare_cached(OLD_EVENTS)?;
    let mut rows = old.query([before.millis()])?;
    let mut events = Vec::new();
    while events.len() < limit as usize
        && let Some(row) = rows.next()?
    {
        let (company, id) = (row.get_ref(1)?.as_blob()?, row.get_ref(2)?.as_blob()?);
        let mut named_by = of_event.query([company, id])?;
        let mut is_needed = false;
        while !is_needed && let Some(delivery) = named_by.next()? {
            is_needed = !going.contains(&delivery.get(0)?);
        }
        if !is_needed {
            events.push(row.get(0)?);
        }
    }
    Ok(Old { deliveries, events })
}

/// Deletes the rows; answers how many were deleted.
fn remove(tx: &mut Transaction<'_>, old: &Old) -> Result<u32, CommitError> {
    let mut gone = 0;
    for (drop, places) in [(DROP_DELIVERY, &old.deliveries), (DROP_EVENT, &old.events)] {
        let mut statement = tx.conn.prepare_cached(drop).map_err(commit_error)?;
        for place in places {
            gone += statement.execute([place]).map_err(commit_error)?;
        }
    }
    Ok(u32::try_from(gone).unwrap_or(u32::MAX))
}

/// Deletes deliveries and events of a company, whatever their state.
fn remove_all(
    tx: &mut Transaction<'_>,
    company: CompanyId,
    limit: u32,
) -> Result<u32, CommitError> {
    let values: [Cell<'_>; 2] = [company.into(), limit.into()];
    tx.has_erased = true;
    let mut gone = 0;
    for drop in [DROP_DELIVERIES_OF, DROP_EVENTS_OF] {
        let mut statement = tx.conn.prepare_cached(drop).map_err(commit_error)?;
        gone += statement.execute(params_from_iter(&values)).map_err(commit_error)?;
    }
    Ok(u32::try_from(gone).unwrap_or(u32::MAX))
}

/// The parameters that name events.
fn names(company: CompanyId, about: EventsAbout) -> [Cell<'static>; 3] {
    let message = about.message.map_or(Cell::Null, |message| Cell::Owned(message.to_string()));
    [company.into(), about.contact.into(), message]
}

/// Erases the data of events and the answers to their deliveries; answers of how many events.
fn erase_data(conn: &Connection, values: &[Cell<'static>]) -> ReadResult<usize> {
    let events: Vec<Vec<u8>> = conn
        .prepare_cached(ERASE)?
        .query_map(params_from_iter(values), |row| row.get(0))?
        .collect::<ReadResult<_>>()?;
    let mut answers = conn.prepare_cached(ERASE_ANSWERS)?;
    for event in &events {
        answers.execute(params![values[0], event])?;
    }
    Ok(events.len())
}

fn erase(
    tx: &mut Transaction<'_>,
    company: CompanyId,
    about: EventsAbout,
    limit: u32,
) -> Result<Erased, CommitError> {
    let [company, contact, message] = names(company, about);
    let values = [company, contact, message, limit.into()];
    tx.has_erased = true;
    let erased = erase_data(tx.conn, &values).map_err(commit_error)?;
    Ok(Erased {
        events: u32::try_from(erased).unwrap_or(u32::MAX),
        left: table::exists(tx.conn, ABOUT_CONTACT, &values[..3]).map_err(read_error)?,
    })
}

#[async_trait]
impl Outbox for SqliteStore {
    async fn erase_events(
        &self,
        company: CompanyId,
        about: EventsAbout,
        limit: u32,
    ) -> Result<Erased, StoreError> {
        let tells = names(company, about);
        if !self.read_of(company, move |conn| table::exists(conn, ABOUT_CONTACT, &tells)).await? {
            return Ok(Erased::default());
        }
        self.write(move |tx| erase(tx, company, about, limit)).await.map_err(expect_no_conflict)
    }

    // The rows are selected on a reading connection, so that the writer only has to delete.
    async fn sweep_outbox(&self, swept: Swept, limit: u32) -> Result<u32, StoreError> {
        let before = match swept {
            Swept::Before(time) => time,
            Swept::Company(company) => {
                let removed = self.write(move |tx| remove_all(tx, company, limit)).await;
                return removed.map_err(expect_no_conflict);
            }
        };
        let old = self.read(move |conn| find_old(conn, before, limit)).await?;
        if old.deliveries.is_empty() && old.events.is_empty() {
            return Ok(0);
        }
        self.write(move |tx| remove(tx, &old)).await.map_err(expect_no_conflict)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plans;

    #[test]
    fn what_is_swept_or_erased_is_found_by_an_index_and_needs_no_sorting() {
        let conn = plans::database();
        for (statement, index) in [
            (ERASE, "events_about_contact (company_id=? AND contact_id=?)"),
            (ERASE, "deliveries_by_event (company_id=? AND event_id=?)"),
            (ABOUT_CONTACT, "events_about_contact (company_id=? AND contact_id=?)"),
            (ERASE_ANSWERS, "deliveries_by_event (company_id=? AND event_id=?)"),
            (FINISHED, "deliveries_settled (created_at<?)"),
            (OLD_EVENTS, "events_by_time (at<?)"),
            (OF_EVENT, "deliveries_by_event (company_id=? AND event_id=?)"),
            (DROP_DELIVERY, "USING INTEGER PRIMARY KEY (rowid=?)"),
            (DROP_EVENT, "USING INTEGER PRIMARY KEY (rowid=?)"),
            (DROP_EVENT, "deliveries_by_event (company_id=? AND event_id=?)"),
        ] {
            let steps = plans::steps(&conn, statement);
            assert!(steps.iter().any(|step| step.ends_with(index)), "{statement}: {steps:?}");
            // The entries of one log.
            let is_log = |step: &String| step.starts_with("SCAN entry VIRTUAL TABLE");
            let strays =
                |step: &String| step.starts_with("SCAN") && !is_log(step) || step.contains("TEMP");
            assert!(!steps.iter().any(strays), "{statement}: {steps:?}");
        }
    }
}
