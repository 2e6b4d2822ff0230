//! Readiness and housekeeping.

use async_trait::async_trait;
use recado_core::Timestamp;
use recado_core::store::{Cutoffs, StoreError, Upkeep};

use crate::PostgresStore;
use crate::error::failed;
use crate::param::params;
use crate::session::{Session, Statement, TransactionMode, rows};
use crate::unknown_kinds;

/// The lock of the process that folds; others need not.
const LOCK: i64 = 0x7265_6361_646f_0002;
/// How many rows one statement handles.
const BATCH: i64 = 10_000;
/// How many batches one call handles, so that it ends also under load.
const BATCHES: usize = 20;

/// Adds the differences that came since to the counts by combination. A difference is counted once
/// in every snapshot: before, among the differences; after, in the count. One that a writer is
/// adding to is left for later.
const FOLD_FACETS: &str = "\
WITH taken AS MATERIALIZED \
(SELECT ctid FROM contact_facet_deltas LIMIT $1 FOR UPDATE SKIP LOCKED), \
gone AS (DELETE FROM contact_facet_deltas d USING taken WHERE d.ctid = taken.ctid RETURNING d.*), \
folded AS (INSERT INTO contact_facets AS f SELECT company_id, facet, source_platform, \
inbox_status, pipeline_stage_id, crm_status, is_ai_enabled, is_group, sum(n)::bigint FROM gone \
GROUP BY 1, 2, 3, 4, 5, 6, 7, 8 ORDER BY 1, 2 \
ON CONFLICT (company_id, facet) DO UPDATE SET n = f.n + excluded.n) \
SELECT count(*) FROM gone";

/// The same for the counts of lists.
const FOLD_LISTS: &str = "\
WITH taken AS MATERIALIZED (SELECT ctid FROM list_count_deltas LIMIT $1), \
gone AS (DELETE FROM list_count_deltas d USING taken WHERE d.ctid = taken.ctid RETURNING d.*), \
folded AS (INSERT INTO list_counts AS c SELECT company_id, list_id, sum(n)::bigint FROM gone \
GROUP BY 1, 2 ORDER BY 1, 2 \
ON CONFLICT (company_id, list_id) DO UPDATE SET n = c.n + excluded.n) \
SELECT count(*) FROM gone";

/// The same for the counts of messages.
const FOLD_MESSAGES: &str = "\
WITH taken AS MATERIALIZED (SELECT ctid FROM message_count_deltas LIMIT $1), \
gone AS (DELETE FROM message_count_deltas d USING taken WHERE d.ctid = taken.ctid RETURNING d.*), \
folded AS (INSERT INTO message_counts AS c SELECT company_id, connection_id, direction, \
message_type, status, sum(n)::bigint FROM gone GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5 \
ON CONFLICT (company_id, connection_id, direction, message_type, status) \
DO UPDATE SET n = c.n + excluded.n) \
SELECT count(*) FROM gone";

/// Forgets allowances that are whole again.
const FORGET_RATES: &str = "\
DELETE FROM rate_limits WHERE key IN \
(SELECT key FROM rate_limits WHERE tat <= $1 LIMIT $2 FOR UPDATE SKIP LOCKED)";

/// Forgets reports of messages that never came.
const FORGET_REPORTS: &str = "\
DELETE FROM message_refs WHERE ctid = ANY(ARRAY(SELECT ctid FROM message_refs \
WHERE expires_at <= $1 LIMIT $2 FOR UPDATE SKIP LOCKED))";

/// Forgets calls that were remembered long enough.
const FORGET_CALLS: &str = "\
DELETE FROM remembered_calls WHERE ctid = ANY(ARRAY(SELECT ctid FROM remembered_calls \
WHERE expires_at <= $1 LIMIT $2 FOR UPDATE SKIP LOCKED))";

/// Forgets windows that have ended.
pub(crate) const FORGET_WINDOWS: &str = "\
DELETE FROM dispatch_windows WHERE ctid = ANY(ARRAY(SELECT ctid FROM dispatch_windows \
WHERE ends_at <= $1 LIMIT $2 FOR UPDATE SKIP LOCKED))";

/// Forgets processes that died.
const FORGET_WORKERS: &str = "\
DELETE FROM workers WHERE ctid = ANY(ARRAY(SELECT ctid FROM workers \
WHERE leased_until <= $1 LIMIT $2 FOR UPDATE SKIP LOCKED))";

/// Tables that have at least doubled since the planner looked at them. What is written over and over
/// does not grow; differences and the texts of searches have one index or none, which is used anyway,
/// and looking at the texts is work.
const OUTGROWN: &str = "\
SELECT string_agg(quote_ident(s.schemaname) || '.' || quote_ident(s.relname), ', ') \
FROM pg_stat_user_tables s JOIN pg_class c ON c.oid = s.relid \
WHERE s.schemaname = current_schema() AND s.relname NOT LIKE '%deltas' \
AND s.relname <> 'contact_search' AND s.n_live_tup > 1000 AND c.reltuples < s.n_live_tup / 2";

impl PostgresStore {
    /// Lets the planner look again at tables that are not what they were: statements that were
    /// planned while a table was empty use any index of a company, and the server itself may take a
    /// minute to notice. Tables that somebody else looks after at the moment are left to them.
    async fn look_again(&self) -> Result<(), StoreError> {
        let found = rows(&self.pool, OUTGROWN, Vec::new()).await?;
        if let Some(tables) = found.first().and_then(|row| row.get::<_, Option<String>>(0)) {
            let client = self.pool.get().await.map_err(StoreError::unavailable)?;
            let analyze = format!("ANALYZE (SKIP_LOCKED) {tables}");
            client.batch_execute(&analyze).await.map_err(failed)?;
        }
        Ok(())
    }

    /// Deletes what `sql` selects until nothing is left, within bounds. What somebody else is
    /// deleting or changing is left to them.
    async fn forget(&self, sql: &'static str, until: Timestamp) -> Result<(), StoreError> {
        let counted = format!("WITH gone AS ({sql} RETURNING 1) SELECT count(*) FROM gone");
        for _ in 0..BATCHES {
            let params = params![until.millis(), BATCH];
            let found = rows(&self.pool, counted.clone(), params).await?;
            if found.first().is_none_or(|row| row.get::<_, i64>(0) < BATCH) {
                break;
            }
        }
        Ok(())
    }

    /// Folds until nothing is left, within bounds.
    async fn fold(&self, sql: &'static str) -> Result<(), StoreError> {
        for _ in 0..BATCHES {
            let session = Session::take(&self.pool).await?;
            let lock = "SELECT pg_advisory_xact_lock($1)";
            let statements =
                vec![Statement::new(lock, params![LOCK]), Statement::new(sql, params![BATCH])];
            let outcome = session.run(TransactionMode::Transaction, statements).await?;
            let found = outcome.into_rows().map_err(|(_, error)| failed(error))?;
            let row = found.get(1).and_then(|rows| rows.first());
            if row.is_none_or(|row| row.get::<_, i64>(0) < BATCH) {
                break;
            }
        }
        Ok(())
    }
}

#[async_trait]
impl Upkeep for PostgresStore {
    async fn ready(&self) -> Result<(), StoreError> {
        self.check_schema().await
    }

    async fn upkeep(&self, now: Timestamp) -> Result<(), StoreError> {
        self.fold(FOLD_FACETS).await?;
        self.fold(FOLD_LISTS).await?;
        self.fold(FOLD_MESSAGES).await?;
        rows(&self.pool, FORGET_RATES, params![now.millis() * 1000, BATCH]).await?;
        self.look_again().await?;
        let cutoffs = Cutoffs::at(now);
        self.forget(FORGET_REPORTS, cutoffs.ended).await?;
        self.forget(FORGET_CALLS, cutoffs.ended).await?;
        self.forget(FORGET_WINDOWS, cutoffs.ended).await?;
        self.forget(FORGET_WORKERS, cutoffs.workers).await?;
        self.forget(unknown_kinds::FORGET, cutoffs.unknown_kinds).await?;
        Ok(())
    }
}
