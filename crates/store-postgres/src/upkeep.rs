//! Readiness and housekeeping.

use async_trait::async_trait;
use recado_core::Timestamp;
use recado_core::store::{Cutoffs, StoreError, Upkeep};

use crate::PostgresStore;
use crate::error::failed;
use crate::param::params;
use crate::session::{Session, Statement, TransactionMode, rows};
use crate::unknown_events;

/// The advisory lock of the process that folds counts; one process at a time is enough.
const LOCK: i64 = 0x7265_6361_646f_0002;
/// How many rows one statement takes.
const BATCH: i64 = 10_000;
/// How many batches one call makes at most, so that it ends even under load.
const BATCHES: usize = 20;

/// Adds the differences to the counts by combination. In every snapshot a difference is counted
/// once: before the commit as a difference, after it as part of the count. A difference that a
/// writer is changing is skipped until the next time.
const FOLD_FACETS: &str = "\
WITH taken AS MATERIALIZED \
(SELECT ctid FROM contact_facet_deltas LIMIT $1 FOR UPDATE SKIP LOCKED), \
gone AS (DELETE FROM contact_facet_deltas d USING taken WHERE d.ctid = taken.ctid RETURNING d.*), \
folded AS (INSERT INTO contact_facets AS f (company_id, facet, source_platform, inbox_status, \
pipeline_stage_id, crm_status, is_ai_enabled, is_group, is_assigned, has_unread, n) \
SELECT company_id, facet, source_platform, inbox_status, pipeline_stage_id, crm_status, \
is_ai_enabled, is_group, is_assigned, has_unread, sum(n)::bigint FROM gone \
GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 ORDER BY 1, 2 \
ON CONFLICT (company_id, facet) DO UPDATE SET n = f.n + excluded.n) \
SELECT count(*) FROM gone";

/// Adds the differences to the counts of sets of contacts, as for facets.
const FOLD_SETS: &str = "\
WITH taken AS MATERIALIZED \
(SELECT ctid FROM contact_set_count_deltas LIMIT $1 FOR UPDATE SKIP LOCKED), \
gone AS (DELETE FROM contact_set_count_deltas d USING taken WHERE d.ctid = taken.ctid \
RETURNING d.*), \
folded AS (INSERT INTO contact_set_counts AS c \
SELECT company_id, kind, set_id, facet, sum(n)::bigint FROM gone \
GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4 \
ON CONFLICT (company_id, kind, set_id, facet) DO UPDATE SET n = c.n + excluded.n) \
SELECT count(*) FROM gone";

/// Adds the differences to the counts of lists.
const FOLD_LISTS: &str = "\
WITH taken AS MATERIALIZED (SELECT ctid FROM list_count_deltas LIMIT $1), \
gone AS (DELETE FROM list_count_deltas d USING taken WHERE d.ctid = taken.ctid RETURNING d.*), \
folded AS (INSERT INTO list_counts AS c SELECT company_id, list_id, sum(n)::bigint FROM gone \
GROUP BY 1, 2 ORDER BY 1, 2 \
ON CONFLICT (company_id, list_id) DO UPDATE SET n = c.n + excluded.n) \
SELECT count(*) FROM gone";

/// Adds the differences to the counts of recipients.
const FOLD_RECIPIENTS: &str = "\
WITH taken AS MATERIALIZED (SELECT ctid FROM recipient_count_deltas LIMIT $1), \
gone AS (DELETE FROM recipient_count_deltas d USING taken WHERE d.ctid = taken.ctid RETURNING d.*), \
folded AS (INSERT INTO recipient_counts AS c SELECT company_id, campaign_id, status, \
sum(n)::bigint FROM gone GROUP BY 1, 2, 3 ORDER BY 1, 2, 3 \
ON CONFLICT (company_id, campaign_id, status) DO UPDATE SET n = c.n + excluded.n) \
SELECT count(*) FROM gone";

/// Adds the differences to the sums of campaigns.
const FOLD_SUMS: &str = "\
WITH taken AS MATERIALIZED (SELECT ctid FROM campaign_sum_deltas LIMIT $1), \
gone AS (DELETE FROM campaign_sum_deltas d USING taken WHERE d.ctid = taken.ctid RETURNING d.*), \
folded AS (INSERT INTO campaign_sums AS c SELECT company_id, campaign_id, sum(prosas), sum(cost) \
FROM gone GROUP BY 1, 2 ORDER BY 1, 2 ON CONFLICT (company_id, campaign_id) \
DO UPDATE SET prosas = c.prosas + excluded.prosas, cost = c.cost + excluded.cost) \
SELECT count(*) FROM gone";

/// Adds the differences to the counts of messages.
const FOLD_MESSAGES: &str = "\
WITH taken AS MATERIALIZED (SELECT ctid FROM message_count_deltas LIMIT $1), \
gone AS (DELETE FROM message_count_deltas d USING taken WHERE d.ctid = taken.ctid RETURNING d.*), \
folded AS (INSERT INTO message_counts AS c SELECT company_id, connection_id, direction, \
message_type, status, sum(n)::bigint FROM gone GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5 \
ON CONFLICT (company_id, connection_id, direction, message_type, status) \
DO UPDATE SET n = c.n + excluded.n) \
SELECT count(*) FROM gone";

/// Deletes rate limits that have their full allowance again.
const FORGET_RATES: &str = "\
DELETE FROM rate_limits WHERE key IN \
(SELECT key FROM rate_limits WHERE tat <= $1 LIMIT $2 FOR UPDATE SKIP LOCKED)";

/// Deletes references that have expired, such as reports of messages that never came.
const FORGET_REPORTS: &str = "\
DELETE FROM message_refs WHERE ctid = ANY(ARRAY(SELECT ctid FROM message_refs \
WHERE expires_at <= $1 LIMIT $2 FOR UPDATE SKIP LOCKED))";

/// Deletes remembered calls that have expired.
const FORGET_CALLS: &str = "\
DELETE FROM remembered_calls WHERE ctid = ANY(ARRAY(SELECT ctid FROM remembered_calls \
WHERE expires_at <= $1 LIMIT $2 FOR UPDATE SKIP LOCKED))";

/// Deletes windows that have ended.
pub(crate) const FORGET_WINDOWS: &str = "\
DELETE FROM dispatch_windows WHERE ctid = ANY(ARRAY(SELECT ctid FROM dispatch_windows \
WHERE ends_at <= $1 LIMIT $2 FOR UPDATE SKIP LOCKED))";

/// Deletes processes whose lease has ended.
const FORGET_WORKERS: &str = "\
DELETE FROM workers WHERE ctid = ANY(ARRAY(SELECT ctid FROM workers \
WHERE leased_until <= $1 LIMIT $2 FOR UPDATE SKIP LOCKED))";

/// Tables that have at least doubled since they were last analyzed. Tables of differences and of
/// search texts are left out: they have one index or none, so their plans do not change, and
/// analyzing the texts is expensive.
const OUTGROWN: &str = "\
SELECT string_agg(quote_ident(s.schemaname) || '.' || quote_ident(s.relname), ', ') \
FROM pg_stat_user_tables s JOIN pg_class c ON c.oid = s.relid \
WHERE s.schemaname = current_schema() AND s.relname NOT LIKE '%deltas' \
AND s.relname NOT IN ('contact_search', 'message_texts') AND s.n_live_tup > 1000 AND c.reltuples < s.n_live_tup / 2";

impl PostgresStore {
    /// Analyzes tables that have grown. A statement planned while a table was empty may use any
    /// index on the company, and the server's own autovacuum may take a minute to analyze the
    /// table. A table that another process is analyzing is skipped.
    async fn check_again(&self) -> Result<(), StoreError> {
        let found = rows(&self.pool, OUTGROWN, Vec::new()).await?;
        if let Some(tables) = found.first().and_then(|row| row.get::<_, Option<String>>(0)) {
            let client = self.pool.get().await?;
            let analyze = format!("ANALYZE (SKIP_LOCKED) {tables}");
            client.batch_execute(&analyze).await.map_err(failed)?;
        }
        Ok(())
    }

    /// Deletes what `sql` selects until nothing is left, with a limit on the number of batches.
    /// Rows that another transaction is deleting or changing are skipped.
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

    /// Folds until nothing is left, with a limit on the number of batches.
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
        self.fold(FOLD_SETS).await?;
        self.fold(FOLD_LISTS).await?;
        self.fold(FOLD_RECIPIENTS).await?;
        self.fold(FOLD_SUMS).await?;
        self.fold(FOLD_MESSAGES).await?;
        rows(&self.pool, FORGET_RATES, params![now.millis() * 1000, BATCH]).await?;
        self.check_again().await?;
        let cutoffs = Cutoffs::at(now);
        self.forget(FORGET_REPORTS, cutoffs.ended).await?;
        self.forget(FORGET_CALLS, cutoffs.ended).await?;
        self.forget(FORGET_WINDOWS, cutoffs.ended).await?;
        self.forget(FORGET_WORKERS, cutoffs.workers).await?;
        self.forget(unknown_events::FORGET, cutoffs.unknown_events).await?;
        self.make_message_texts().await?;
        self.seal_all(now).await
    }
}
