//! Readiness and housekeeping.

use std::borrow::Cow;
use std::time::Duration;

use async_trait::async_trait;
use recado_core::Timestamp;
use recado_core::store::{Cutoffs, StoreError, Upkeep};
use tokio_postgres::Row;

use crate::PostgresStore;
use crate::param::{Param, params};
use crate::session::Session;
use crate::unknown_events;

/// The advisory lock of whoever folds counts, until its transaction has ended. The removal of a
/// company waits for it; folding does not.
const LOCK: i64 = 0x7265_6361_646f_0002;
/// The advisory lock of the process whose upkeep is under way; that of one process is enough.
const TURN: i64 = 0x7265_6361_646f_0003;
/// The longest wait between two tries for the turn; all of them together are less than two seconds.
const LONGEST_WAIT: Duration = Duration::from_secs(1);
/// How many rows one statement takes.
const BATCH: i64 = 10_000;
/// How many batches one call makes at most, so that it ends even under load.
const BATCHES: usize = 20;

/// How differences become part of the counts that are kept. In every snapshot a difference is
/// counted once: before the commit as a difference, after it as part of the count.
struct Fold {
    deltas: &'static str,
    /// Whether writers change differences. One that is being changed is skipped until the next
    /// time.
    is_changed: bool,
    /// Adds the rows of `gone` to the counts.
    folded: &'static str,
}

impl Fold {
    /// Folds `$1` differences, or none if somebody else folds: no connection is kept waiting.
    /// Answers how many there were.
    fn sql(&self) -> String {
        let Self { deltas, is_changed, folded } = self;
        let skip = if *is_changed { " FOR UPDATE SKIP LOCKED" } else { "" };
        format!(
            "WITH taken AS MATERIALIZED (SELECT ctid FROM {deltas} \
             LIMIT CASE WHEN pg_try_advisory_xact_lock($2) THEN $1::bigint ELSE 0 END{skip}), \
             gone AS (DELETE FROM {deltas} d USING taken WHERE d.ctid = taken.ctid RETURNING d.*), \
             folded AS ({folded}) SELECT count(*) FROM gone"
        )
    }
}

const FOLDS: [Fold; 6] = [
    Fold {
        deltas: "contact_facet_deltas",
        is_changed: true,
        folded: "INSERT INTO contact_facets AS f (company_id, facet, source_platform, inbox_status, \
                 pipeline_stage_id, crm_status, is_ai_enabled, is_group, is_assigned, has_unread, n) \
                 SELECT company_id, facet, source_platform, inbox_status, pipeline_stage_id, \
                 crm_status, is_ai_enabled, is_group, is_assigned, has_unread, sum(n)::bigint \
                 FROM gone GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 ORDER BY 1, 2 \
                 ON CONFLICT (company_id, facet) DO UPDATE SET n = f.n + excluded.n",
    },
    Fold {
        deltas: "contact_set_count_deltas",
        is_changed: true,
        folded: "INSERT INTO contact_set_counts AS c \
                 SELECT company_id, kind, set_id, facet, sum(n)::bigint FROM gone \
                 GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4 \
                 ON CONFLICT (company_id, kind, set_id, facet) DO UPDATE SET n = c.n + excluded.n",
    },
    Fold {
        deltas: "list_count_deltas",
        is_changed: false,
        folded: "INSERT INTO list_counts AS c SELECT company_id, list_id, sum(n)::bigint FROM gone \
                 GROUP BY 1, 2 ORDER BY 1, 2 \
                 ON CONFLICT (company_id, list_id) DO UPDATE SET n = c.n + excluded.n",
    },
    Fold {
        deltas: "recipient_count_deltas",
        is_changed: false,
        folded: "INSERT INTO recipient_counts AS c SELECT company_id, campaign_id, status, \
                 sum(n)::bigint FROM gone GROUP BY 1, 2, 3 ORDER BY 1, 2, 3 \
                 ON CONFLICT (company_id, campaign_id, status) DO UPDATE SET n = c.n + excluded.n",
    },
    Fold {
        deltas: "campaign_sum_deltas",
        is_changed: false,
        folded: "INSERT INTO campaign_sums AS c SELECT company_id, campaign_id, sum(prosas), \
                 sum(cost) FROM gone GROUP BY 1, 2 ORDER BY 1, 2 \
                 ON CONFLICT (company_id, campaign_id) \
                 DO UPDATE SET prosas = c.prosas + excluded.prosas, cost = c.cost + excluded.cost",
    },
    Fold {
        deltas: "message_count_deltas",
        is_changed: false,
        folded: "INSERT INTO message_counts AS c SELECT company_id, connection_id, direction, \
                 message_type, status, sum(n)::bigint FROM gone \
                 GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5 \
                 ON CONFLICT (company_id, connection_id, direction, message_type, status) \
                 DO UPDATE SET n = c.n + excluded.n",
    },
];

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

/// The right to do the upkeep of the installation, and the connection that has it and does it.
///
/// R452.
struct Turn(Option<Session>);

impl Turn {
    /// Tries a few times within two seconds, without a connection in between; `None` if another
    /// process has it all the time.
    async fn take(store: &PostgresStore) -> Result<Option<Self>, StoreError> {
        let mut wait = Duration::from_millis(30);
        loop {
            let mut turn = Self(Some(Session::take(&store.pool).await?));
            let taken = turn.rows("SELECT pg_try_advisory_lock($1)", params![TURN]).await?;
            if taken.first().is_some_and(|row| row.get(0)) {
                return Ok(Some(turn));
            }
            turn.0 = None;
            if wait > LONGEST_WAIT {
                return Ok(None);
            }
            tokio::time::sleep(wait).await;
            wait *= 2;
        }
    }

    /// Folds and forgets, and gives the turn back.
    async fn keep(self, now: Timestamp) -> Result<(), StoreError> {
        for fold in &FOLDS {
            self.fold(fold).await?;
        }
        self.rows(FORGET_RATES, params![now.millis() * 1000, BATCH]).await?;
        self.check_again().await?;
        let cutoffs = Cutoffs::at(now);
        self.forget(FORGET_REPORTS, cutoffs.ended).await?;
        self.forget(FORGET_CALLS, cutoffs.ended).await?;
        self.forget(FORGET_WINDOWS, cutoffs.ended).await?;
        self.forget(FORGET_WORKERS, cutoffs.workers).await?;
        self.forget(unknown_events::FORGET, cutoffs.unknown_events).await?;
        self.end().await
    }

    async fn end(mut self) -> Result<(), StoreError> {
        self.rows("SELECT pg_advisory_unlock($1)", params![TURN]).await?;
        self.0 = None;
        Ok(())
    }

    async fn rows(
        &self,
        sql: impl Into<Cow<'static, str>>,
        params: Vec<Param>,
    ) -> Result<Vec<Row>, StoreError> {
        match &self.0 {
            Some(session) => session.rows(sql, params).await,
            None => Ok(Vec::new()),
        }
    }

    /// Deletes what `sql` selects until nothing is left, with a limit on the number of batches.
    /// Rows that another transaction is deleting or changing are skipped.
    async fn forget(&self, sql: &'static str, until: Timestamp) -> Result<(), StoreError> {
        let counted = format!("WITH gone AS ({sql} RETURNING 1) SELECT count(*) FROM gone");
        self.repeat(&counted, || params![until.millis(), BATCH]).await
    }

    /// Folds until nothing is left, with a limit on the number of batches.
    async fn fold(&self, fold: &Fold) -> Result<(), StoreError> {
        self.repeat(&fold.sql(), || params![BATCH, LOCK]).await
    }

    /// Runs a statement that answers how many rows it took, until it takes less than a batch.
    async fn repeat(&self, sql: &str, params: impl Fn() -> Vec<Param>) -> Result<(), StoreError> {
        for _ in 0..BATCHES {
            let found = self.rows(sql.to_owned(), params()).await?;
            if found.first().is_none_or(|row| row.get::<_, i64>(0) < BATCH) {
                break;
            }
        }
        Ok(())
    }

    /// Analyzes tables that have grown. A statement planned while a table was empty may use any
    /// index on the company, and the server's own autovacuum may take a minute to analyze the
    /// table. A table that another process is analyzing is skipped.
    async fn check_again(&self) -> Result<(), StoreError> {
        let found = self.rows(OUTGROWN, Vec::new()).await?;
        let tables = found.first().and_then(|row| row.get::<_, Option<String>>(0));
        if let (Some(tables), Some(session)) = (tables, &self.0) {
            session.execute(&format!("ANALYZE (SKIP_LOCKED) {tables}")).await?;
        }
        Ok(())
    }
}

impl Drop for Turn {
    /// What is cut short gives the turn back by closing its connection.
    fn drop(&mut self) {
        if let Some(session) = self.0.take() {
            session.close();
        }
    }
}

#[async_trait]
impl Upkeep for PostgresStore {
    async fn ready(&self) -> Result<(), StoreError> {
        self.check_schema().await
    }

    async fn upkeep(&self, now: Timestamp) -> Result<(), StoreError> {
        if let Some(turn) = Turn::take(self).await? {
            turn.keep(now).await?;
        }
        // Each process seals with the keys that it has.
        self.make_message_texts().await?;
        self.seal_all(now).await
    }
}
