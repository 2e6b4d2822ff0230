//! Figures of the whole installation (R280).

use async_trait::async_trait;
use recado_core::Timestamp;
use recado_core::deliveries::QueueKey;
use recado_core::deliveries::Shards;
use recado_core::events::JournalPosition;
use recado_core::figures::{ConnectionFigures, DueFigures, FigureQuery, FigureReads, Figures};
use recado_core::store::StoreError;
use rusqlite::{OptionalExtension, params_from_iter};

use crate::SqliteStore;
use crate::cell::{Cell, Columns};
use crate::database::Connection;
use crate::deliveries_due::pending_queues;
use crate::error::ReadResult;
use crate::messages::left_sent;

/// Connections are few, so all are read.
const CONNECTIONS: &str = "SELECT gateway, kind, is_active, status, count(*), min(updated_at), \
     min(coalesce(last_heard_at, updated_at)) FROM connections \
     GROUP BY gateway, kind, is_active, status";

/// Whether the webhook of a queue is active.
const IS_ACTIVE: &str =
    "SELECT 1 FROM webhooks WHERE company_id = ?1 AND id = ?2 AND state = 'active'";
/// How many of a queue are pending, and how many of them are due, in the index alone.
const COUNTS: &str = "SELECT count(*), count(*) FILTER (WHERE queued_at <= ?3) FROM \
     (SELECT queued_at FROM deliveries INDEXED BY deliveries_pending \
     WHERE company_id = ?1 AND webhook_id = ?2 AND queued_at IS NOT NULL \
     ORDER BY queued_at LIMIT ?4)";
/// The due time of the first of a queue that was never tried.
const FRESH_HEAD: &str = "SELECT due_at FROM deliveries INDEXED BY deliveries_pending \
     WHERE company_id = ?1 AND webhook_id = ?2 AND queued_at = ?3 ORDER BY seq LIMIT 1";
/// The due time of the first of a queue that was tried.
const TRIED_HEAD: &str = "SELECT queued_at FROM deliveries INDEXED BY deliveries_pending \
     WHERE company_id = ?1 AND webhook_id = ?2 AND queued_at > ?3 ORDER BY queued_at LIMIT 1";

const JOBS: &str = "SELECT count(*), min(due_at) FROM \
     (SELECT due_at FROM jobs INDEXED BY jobs_by_due \
     WHERE due_at <= ?1 AND (leased_until IS NULL OR leased_until <= ?1) \
     ORDER BY due_at, id LIMIT ?2)";

const CAMPAIGNS: &str =
    "SELECT count(*) FROM campaigns INDEXED BY campaigns_running WHERE status = 'running'";

/// A position is never used again, so this table has the newest one after a sweep, too.
const JOURNAL: &str = "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'events'";

/// How many queues are read at once.
const QUEUES: u32 = 500;

fn connections(conn: &Connection) -> ReadResult<Vec<ConnectionFigures>> {
    conn.prepare_cached(CONNECTIONS)?
        .query_map([], |row| {
            let mut columns = Columns::new(row);
            Ok(ConnectionFigures {
                gateway: columns.get()?,
                kind: columns.get()?,
                is_active: columns.get()?,
                status: columns.get()?,
                count: columns.get()?,
                changed_at: columns.get()?,
                heard_at: columns.get()?,
            })
        })?
        .collect()
}

/// Adds the figures of one queue.
fn add_queue(
    conn: &Connection,
    query: &FigureQuery,
    key: QueueKey,
    all: &mut DueFigures,
) -> ReadResult<()> {
    let QueueKey { company, webhook } = key;
    let key: [Cell<'_>; 2] = [company.into(), webhook.into()];
    if !conn.prepare_cached(IS_ACTIVE)?.exists(params_from_iter(&key))? {
        return Ok(());
    }
    let left = u64::from(query.most).saturating_sub(all.pending);
    let values: [Cell<'_>; 4] = [company.into(), webhook.into(), query.now.into(), left.into()];
    let count = |row: &rusqlite::Row<'_>| {
        let mut columns = Columns::new(row);
        Ok((columns.get::<u64>()?, columns.get::<u64>()?))
    };
    let (pending, due) = conn.prepare_cached(COUNTS)?.query_row(params_from_iter(values), count)?;
    all.pending += pending;
    all.due += due;
    for head in [FRESH_HEAD, TRIED_HEAD] {
        let values: [Cell<'_>; 3] = [company.into(), webhook.into(), Timestamp::MIN.into()];
        let due_at = conn
            .prepare_cached(head)?
            .query_row(params_from_iter(values), |row| Columns::new(row).get::<Timestamp>())
            .optional()?
            .filter(|due_at| *due_at <= query.now);
        all.oldest = all.oldest.into_iter().chain(due_at).min();
    }
    Ok(())
}

fn deliveries(conn: &Connection, query: &FigureQuery) -> ReadResult<DueFigures> {
    let (mut all, mut after) = (DueFigures::default(), None);
    let shards = Shards::USUAL.all().collect();
    loop {
        let queues = pending_queues(conn, &shards, after, QUEUES)?;
        for queue in &queues {
            add_queue(conn, query, queue.key, &mut all)?;
        }
        match queues.last() {
            Some(last) => after = Some(last.key),
            None => return Ok(all),
        }
    }
}

fn jobs(conn: &Connection, query: &FigureQuery) -> ReadResult<DueFigures> {
    let values: [Cell<'_>; 2] = [query.now.into(), query.most.into()];
    conn.prepare_cached(JOBS)?.query_row(params_from_iter(values), |row| {
        let mut columns = Columns::new(row);
        let due = columns.get()?;
        Ok(DueFigures { pending: due, due, oldest: columns.get()? })
    })
}

fn number(conn: &Connection, sql: &str) -> ReadResult<u64> {
    conn.prepare_cached(sql)?.query_row([], |row| Columns::new(row).get())
}

#[async_trait]
impl FigureReads for SqliteStore {
    async fn figures(&self, query: &FigureQuery) -> Result<Figures, StoreError> {
        let query = *query;
        self.read(move |conn| {
            let (from, to) = query.left_sent;
            Ok(Figures {
                connections: connections(conn)?,
                deliveries: deliveries(conn, &query)?,
                jobs: jobs(conn, &query)?,
                campaigns: number(conn, CAMPAIGNS)?,
                left_sent: left_sent(conn, from, to)?,
                journal: JournalPosition(number(conn, JOURNAL)?),
            })
        })
        .await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plans;

    /// R280.
    #[test]
    fn what_waits_is_counted_in_indexes() {
        let conn = plans::database();
        for (query, found) in [
            (IS_ACTIVE, "sqlite_autoindex_webhooks_1 (company_id=? AND id=?)"),
            (
                COUNTS,
                "USING COVERING INDEX deliveries_pending \
                 (company_id=? AND webhook_id=? AND queued_at>?)",
            ),
            (
                FRESH_HEAD,
                "USING INDEX deliveries_pending (company_id=? AND webhook_id=? AND queued_at=?)",
            ),
            (
                TRIED_HEAD,
                "USING COVERING INDEX deliveries_pending \
                 (company_id=? AND webhook_id=? AND queued_at>?)",
            ),
            (JOBS, "USING COVERING INDEX jobs_by_due (due_at<?)"),
            (CAMPAIGNS, "USING COVERING INDEX campaigns_running"),
        ] {
            let steps = plans::steps(&conn, query);
            assert!(steps.iter().any(|step| step.contains(found)), "{query}: {steps:?}");
            assert!(!steps.iter().any(|step| step.contains("TEMP B-TREE")), "{query}: {steps:?}");
        }
    }
}
