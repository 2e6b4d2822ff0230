//! The queues of the delivery worker.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use async_trait::async_trait;
use recado_core::Timestamp;
use recado_core::deliveries::{
    Delivery, DeliverySeq, DueDelivery, DueReads, PendingQueue, QueueKey, QueuePage, QueueRead,
    ShardNumber, Shards, Signals,
};
use recado_core::store::StoreError;
use rusqlite::{OptionalExtension, params_from_iter};

use crate::SqliteStore;
use crate::cell::{Cell, Columns};
use crate::database::Connection;
use crate::error::ReadResult;
use crate::table::{self, Table};

/// The head of the first queue after a given one. Each is found by one step into the index.
const NEXT_QUEUE: &str = "SELECT company_id, webhook_id, queued_at \
     FROM deliveries INDEXED BY deliveries_pending \
     WHERE queued_at IS NOT NULL AND (company_id, webhook_id) > (?1, ?2) \
     ORDER BY company_id, webhook_id, queued_at LIMIT 1";
/// The head of the first queue.
const FIRST_QUEUE: &str = "SELECT company_id, webhook_id, queued_at \
     FROM deliveries INDEXED BY deliveries_pending WHERE queued_at IS NOT NULL \
     ORDER BY company_id, webhook_id, queued_at LIMIT 1";

/// A part of a queue, with the contact and data of the events.
fn select(part: &str) -> String {
    format!(
        "SELECT d.seq, e.contact_id, e.data, {} \
         FROM deliveries AS d INDEXED BY deliveries_pending \
         LEFT JOIN events AS e ON e.company_id = d.company_id AND e.id = d.event_id \
         WHERE d.company_id = ?1 AND d.webhook_id = ?2 AND {part} LIMIT ?5",
        Delivery::statements().qualified("d")
    )
}

static FRESH: LazyLock<String> =
    LazyLock::new(|| select("d.queued_at = ?3 AND d.seq > ?4 ORDER BY d.seq"));
static AGAIN: LazyLock<String> =
    LazyLock::new(|| select("d.queued_at > ?3 AND d.queued_at <= ?4 ORDER BY d.queued_at, d.seq"));

fn part(
    conn: &Connection,
    query: &str,
    key: QueueKey,
    to: Cell<'_>,
    limit: u32,
) -> ReadResult<Vec<DueDelivery>> {
    if limit == 0 {
        return Ok(Vec::new());
    }
    let values: [Cell<'_>; 5] =
        [key.company.into(), key.webhook.into(), Timestamp::MIN.into(), to, limit.into()];
    conn.prepare_cached(query)?
        .query_map(params_from_iter(&values), |row| {
            let mut columns = Columns::new(row);
            let seq = DeliverySeq(columns.get()?);
            let (contact, data) = (columns.get()?, columns.get()?);
            Ok(DueDelivery { seq, delivery: columns.stored()?, contact, data })
        })?
        .collect()
}

fn read_queue(conn: &Connection, read: QueueRead) -> ReadResult<QueuePage> {
    let QueueKey { company, webhook } = read.key;
    Ok(QueuePage {
        webhook: table::get(conn, &[company.into(), webhook.into()])?,
        fresh: part(conn, &FRESH, read.key, read.after.0.into(), read.fresh)?,
        again: part(conn, &AGAIN, read.key, read.due.into(), read.again)?,
    })
}

/// The queues of `shards` with pending deliveries, by company and webhook. The others are found,
/// too, and left out: processes that share a file are few.
pub(crate) fn pending_queues(
    conn: &Connection,
    shards: &BTreeSet<ShardNumber>,
    mut after: Option<QueueKey>,
    limit: u32,
) -> ReadResult<Vec<PendingQueue>> {
    let (mut first, mut next) =
        (conn.prepare_cached(FIRST_QUEUE)?, conn.prepare_cached(NEXT_QUEUE)?);
    let read = |row: &rusqlite::Row<'_>| {
        let mut columns = Columns::new(row);
        let key = QueueKey { company: columns.get()?, webhook: columns.get()? };
        Ok(PendingQueue { key, queued_at: columns.get()? })
    };
    let mut pending = Vec::new();
    while pending.len() < limit as usize {
        let found = match after {
            None => first.query_row([], read),
            Some(QueueKey { company, webhook }) => {
                next.query_row([Cell::from(company), webhook.into()], read)
            }
        };
        let Some(found) = found.optional()? else { break };
        after = Some(found.key);
        if shards.contains(&Shards::USUAL.of_webhook(found.key.webhook)) {
            pending.push(found);
        }
    }
    Ok(pending)
}

#[async_trait]
impl DueReads for SqliteStore {
    async fn pending_queues(
        &self,
        shards: &BTreeSet<ShardNumber>,
        after: Option<QueueKey>,
        limit: u32,
    ) -> Result<Vec<PendingQueue>, StoreError> {
        let shards = shards.clone();
        self.read(move |conn| pending_queues(conn, &shards, after, limit)).await
    }

    async fn read_queue(&self, read: QueueRead) -> Result<QueuePage, StoreError> {
        self.read(move |conn| read_queue(conn, read)).await
    }
}

// Processes that share a file find each other's deliveries by polling.
#[async_trait]
impl Signals for SqliteStore {
    fn notify(&self, _queues: &[QueueKey]) {}

    async fn notified(&self) -> Option<Vec<QueueKey>> {
        std::future::pending().await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plans;

    #[test]
    fn a_queue_is_read_from_its_head_in_its_order() {
        let conn = plans::database();
        for (query, bounds) in [
            (&*FRESH, "(company_id=? AND webhook_id=? AND queued_at=? AND rowid>?)"),
            (&*AGAIN, "(company_id=? AND webhook_id=? AND queued_at>? AND queued_at<?)"),
        ] {
            let steps = plans::steps(&conn, query);
            let [queue, event] = steps.as_slice() else { panic!("{query}: {steps:?}") };
            assert_eq!(*queue, format!("SEARCH d USING INDEX deliveries_pending {bounds}"));
            assert!(event.contains("sqlite_autoindex_events_1 (company_id=? AND id=?)"), "{event}");
        }
    }

    #[test]
    fn the_next_queue_is_found_without_reading_the_one_before() {
        let conn = plans::database();
        let step = plans::step(&conn, NEXT_QUEUE);
        let found = "USING COVERING INDEX deliveries_pending ((company_id,webhook_id)>(?,?))";
        assert!(step.ends_with(found), "{step}");
        let step = plans::step(&conn, FIRST_QUEUE);
        assert_eq!(step, "SCAN deliveries USING COVERING INDEX deliveries_pending");
    }
}
