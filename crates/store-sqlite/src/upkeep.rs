//! Housekeeping: deletes rows that are not needed any more.

use async_trait::async_trait;
use recado_core::Timestamp;
use recado_core::store::{Cutoffs, StoreError, Upkeep};
use rusqlite::params;

use crate::error::{MIGRATE, SqliteError, commit_error, store_error};
use crate::writer::expect_no_conflict;
use crate::{SqliteStore, schema};

/// The number of rows that one transaction deletes. It is small so that other writes wait only
/// briefly.
const BATCH: u32 = 500;
/// The number of transactions for each kind of row in one round of upkeep. The next round
/// continues.
const BATCHES: u32 = 20;

/// Rows to delete after a given time.
struct ExpiredRows {
    any: &'static str,
    drop: &'static str,
    until: fn(&Cutoffs) -> Timestamp,
}

const SPENT: [ExpiredRows; 5] = [
    ExpiredRows {
        any: "SELECT 1 FROM message_refs INDEXED BY message_refs_by_expiry WHERE expires_at <= ?1",
        drop: "DELETE FROM message_refs WHERE (company_id, connection_id, provider_id) IN \
               (SELECT company_id, connection_id, provider_id FROM message_refs \
               INDEXED BY message_refs_by_expiry WHERE expires_at <= ?1 LIMIT ?2)",
        until: |cutoffs| cutoffs.ended,
    },
    ExpiredRows {
        any: "SELECT 1 FROM remembered_calls WHERE expires_at <= ?1",
        drop: "DELETE FROM remembered_calls WHERE rowid IN \
               (SELECT rowid FROM remembered_calls INDEXED BY remembered_calls_by_expiry \
               WHERE expires_at <= ?1 LIMIT ?2)",
        until: |cutoffs| cutoffs.ended,
    },
    ExpiredRows {
        any: "SELECT 1 FROM dispatch_windows WHERE ends_at <= ?1",
        drop: "DELETE FROM dispatch_windows WHERE (company_id, contact_id, key) IN \
               (SELECT company_id, contact_id, key FROM dispatch_windows \
               INDEXED BY dispatch_windows_by_end WHERE ends_at <= ?1 LIMIT ?2)",
        until: |cutoffs| cutoffs.ended,
    },
    ExpiredRows {
        any: "SELECT 1 FROM unknown_events WHERE received_at <= ?1",
        drop: "DELETE FROM unknown_events WHERE rowid IN \
               (SELECT rowid FROM unknown_events INDEXED BY unknown_events_by_time \
               WHERE received_at <= ?1 LIMIT ?2)",
        until: |cutoffs| cutoffs.unknown_events,
    },
    ExpiredRows {
        any: "SELECT 1 FROM workers WHERE leased_until <= ?1",
        drop: "DELETE FROM workers WHERE id IN \
               (SELECT id FROM workers WHERE leased_until <= ?1 LIMIT ?2)",
        until: |cutoffs| cutoffs.workers,
    },
];

impl SqliteStore {
    /// Deletes expired rows in small transactions. Usually there are none; then there is no write
    /// transaction.
    async fn drop_spent(
        &self,
        spent: &'static ExpiredRows,
        cutoffs: &Cutoffs,
    ) -> Result<(), StoreError> {
        let until = (spent.until)(cutoffs).millis();
        for _ in 0..BATCHES {
            let any = self.read(move |conn| conn.prepare_cached(spent.any)?.exists([until]));
            if !any.await? {
                break;
            }
            self.write(move |tx| {
                tx.has_erased = true;
                let dropped = tx
                    .conn
                    .prepare_cached(spent.drop)
                    .and_then(|mut statement| statement.execute(params![until, BATCH]));
                dropped.map_err(commit_error)
            })
            .await
            .map_err(expect_no_conflict)?;
        }
        Ok(())
    }
}

#[async_trait]
impl Upkeep for SqliteStore {
    /// Asks a reader for the schema, one that no company can hold (R200), and then the thread that
    /// writes (R162).
    async fn ready(&self) -> Result<(), StoreError> {
        let checked = self.read_first(|conn| Ok(schema::check(conn))).await?;
        checked.map_err(|error| match error {
            SqliteError::Database(error) => store_error(error),
            older @ SqliteError::Older { .. } => StoreError::not_migrated(MIGRATE, older),
            error => StoreError::unavailable(error),
        })?;
        self.writer.ready().await
    }

    // The log is checkpointed here, so that the commit that makes it too long does not have to.
    // There is no `PRAGMA optimize`: gathered statistics could change the plans, and every query
    // has the one index it was written for. A migration sets the statistics that the planner uses.
    async fn upkeep(&self, now: Timestamp) -> Result<(), StoreError> {
        let cutoffs = Cutoffs::at(now);
        for spent in &SPENT {
            self.drop_spent(spent, &cutoffs).await?;
        }
        self.make_message_texts().await?;
        self.seal_all(now).await?;
        if self.log.is_due(self.writer.written()) {
            self.log.truncate(&self.path, self.writer.written()).await
        } else {
            self.readers.checkpoint().await
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plans;

    #[test]
    fn rows_that_are_not_spent_are_not_looked_at() {
        let conn = plans::database();
        for spent in SPENT.iter().filter(|spent| !spent.any.contains("FROM workers ")) {
            let is_range = |step: &String| {
                ["_by_expiry (expires_at<?)", "_by_end (ends_at<?)", "_by_time (received_at<?)"]
                    .iter()
                    .any(|range| step.contains(range))
            };
            let step = plans::step(&conn, spent.any);
            assert!(is_range(&step), "{step}");
            let steps = plans::steps(&conn, spent.drop);
            assert!(steps.iter().any(is_range), "{steps:?}");
            assert!(steps.iter().all(|step| !step.starts_with("SCAN")), "{steps:?}");
        }
    }
}
