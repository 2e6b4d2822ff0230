//! Figures of the whole installation (R280).

use std::sync::LazyLock;

use async_trait::async_trait;
use recado_core::Timestamp;
use recado_core::events::JournalPosition;
use recado_core::figures::{ConnectionFigures, DueFigures, FigureQuery, FigureReads, Figures};
use recado_core::store::StoreError;
use tokio_postgres::Row;
use uuid::Uuid;

use crate::PostgresStore;
use crate::columns::Columns;
use crate::deliveries_due::queues_sql;
use crate::messages::LEFT_SENT;
use crate::param::params;
use crate::session::{Statement, snapshot};

/// Connections are few, so all are read.
pub(crate) const CONNECTIONS: &str = "\
SELECT gateway, kind, is_active, status, count(*), min(updated_at), \
min(coalesce(last_heard_at, updated_at)) FROM connections \
GROUP BY gateway, kind, is_active, status";

/// The queues of active webhooks with pending deliveries are found one after the other. Of all of
/// them together `$2` deliveries are counted, and the head of each part of a queue is looked up.
pub(crate) static DELIVERIES: LazyLock<String> = LazyLock::new(|| {
    let never = Timestamp::MIN.millis();
    let of = "company_id = a.company_id AND webhook_id = a.webhook_id \
              AND recado_shard_of(webhook_id) = recado_shard_of(a.webhook_id)";
    let nil = Uuid::nil();
    let every_shard = format!(
        "(SELECT n, '{nil}'::uuid, '{nil}'::uuid FROM generate_series(0, recado_shards() - 1) n)"
    );
    format!(
        "WITH queues AS ({}), \
         active AS MATERIALIZED (SELECT q.* FROM queues q CROSS JOIN LATERAL \
         (SELECT FROM webhooks WHERE company_id = q.company_id AND id = q.webhook_id \
         AND state = 'active' OFFSET 0) AS w), \
         counted AS (SELECT d.queued_at FROM active a CROSS JOIN LATERAL \
         (SELECT queued_at FROM deliveries WHERE {of} AND queued_at IS NOT NULL \
         ORDER BY queued_at) AS d LIMIT $2::bigint), \
         heads AS (SELECT h.due_at FROM active a CROSS JOIN LATERAL (\
         (SELECT due_at FROM deliveries WHERE {of} AND queued_at = {never} \
         ORDER BY queued_at, seq LIMIT 1) UNION ALL \
         (SELECT queued_at FROM deliveries WHERE {of} AND queued_at > {never} \
         ORDER BY queued_at LIMIT 1)) AS h) \
         SELECT (SELECT count(*) FROM counted), \
         (SELECT count(*) FROM counted WHERE queued_at <= $1), \
         (SELECT min(due_at) FROM heads WHERE due_at <= $1)",
        queues_sql(&every_shard),
    )
});

pub(crate) const JOBS: &str = "\
SELECT count(*), min(due_at) FROM (SELECT due_at FROM jobs \
WHERE due_at <= $1 AND (leased_until IS NULL OR leased_until <= $1) \
ORDER BY due_at, id LIMIT $2::bigint) AS due";

pub(crate) const CAMPAIGNS: &str = "SELECT count(*) FROM campaigns WHERE status = 'running'";

/// The sequence has the newest position after a sweep, too.
const JOURNAL: &str = "SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM events_place_seq";

fn connection(row: &Row) -> Result<ConnectionFigures, StoreError> {
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
}

/// The only row of a result.
fn only(rows: &[Row]) -> Result<Columns<'_>, StoreError> {
    let row = rows.first().ok_or_else(|| StoreError::corrupt("a count without a row"))?;
    Ok(Columns::new(row))
}

#[async_trait]
impl FigureReads for PostgresStore {
    async fn figures(&self, query: &FigureQuery) -> Result<Figures, StoreError> {
        let FigureQuery { now, left_sent: (from, to), most } = query;
        let bounded = || params![now.millis(), i64::from(*most)];
        let statements = vec![
            Statement::new(CONNECTIONS, params![]),
            Statement::new(DELIVERIES.as_str(), bounded()),
            Statement::new(JOBS, bounded()),
            Statement::new(CAMPAIGNS, params![]),
            Statement::new(LEFT_SENT, params![from.millis(), to.millis()]),
            Statement::new(JOURNAL, params![]),
        ];
        let found = snapshot(&self.pool, statements).await?;
        let [connections, deliveries, jobs, campaigns, left_sent, journal] = found.as_slice()
        else {
            return Err(StoreError::corrupt("a statement was not answered"));
        };
        let mut deliveries = only(deliveries)?;
        let mut jobs = only(jobs)?;
        let due = jobs.get()?;
        Ok(Figures {
            connections: connections.iter().map(connection).collect::<Result<_, _>>()?,
            deliveries: DueFigures {
                pending: deliveries.get()?,
                due: deliveries.get()?,
                oldest: deliveries.get()?,
            },
            jobs: DueFigures { pending: due, due, oldest: jobs.get()? },
            campaigns: only(campaigns)?.get()?,
            left_sent: only(left_sent)?.get()?,
            journal: JournalPosition(only(journal)?.get()?),
        })
    }
}

#[cfg(test)]
mod tests {
    use recado_core::figures::MOST;
    use recado_testkit::postgres::TestPostgres;
    use serde_json::Value;

    use super::*;
    use crate::Options;
    use crate::plans::{plan, walk};

    /// Three companies with an active webhook each, and 20,000 deliveries that are pending at it.
    const SEED: &str = "\
        INSERT INTO companies (id, name, plan, inbound_contacts, template_dispatch, \
        default_region, created_at, updated_at, version) \
        SELECT md5('c' || c)::uuid, 'c', 'enterprise', false, false, 'BR', 0, 0, 1 \
        FROM generate_series(1, 3) c; \
        INSERT INTO webhooks (company_id, id, url, topics, state, standard_headers, secret, \
        created_at, updated_at, version) \
        SELECT md5('c' || c)::uuid, md5('w' || c)::uuid, 'u', '\"*\"', 'active', false, 's', 0, 0, \
        1 FROM generate_series(1, 3) c; \
        INSERT INTO deliveries (company_id, id, webhook_id, event_id, created_at, due_at, \
        queued_at, attempts, tries, version, status, event_type, log) \
        SELECT md5('c' || c)::uuid, md5('d' || i)::uuid, md5('w' || c)::uuid, \
        md5('e' || i)::uuid, i, i, CASE WHEN i % 2 = 0 THEN i ELSE never END, i % 2, 0, 1, \
        'pending', 'message.sent', '[]' \
        FROM generate_series(1, 3) c, generate_series(1, 20000) i; \
        ANALYZE deliveries";

    /// How many rows of deliveries a plan read.
    fn read(plan: &Value) -> f64 {
        let mut rows = 0.0;
        walk(plan, &mut |node| {
            assert_ne!(node["Node Type"], "Seq Scan", "{plan:#}");
            if node["Relation Name"] == "deliveries" {
                let number = |name: &str| node[name].as_f64().unwrap_or(0.0);
                let each = number("Actual Rows") + number("Rows Removed by Filter");
                rows += each * number("Actual Loops");
            }
        });
        rows
    }

    /// R280.
    #[tokio::test(flavor = "multi_thread")]
    async fn no_more_deliveries_are_read_than_are_counted_and_the_heads_of_queues() {
        let database = TestPostgres::shared().fresh_database();
        let store = PostgresStore::connect(database.url(), Options::default()).await.unwrap();
        store.migrate().await.unwrap();
        let client = store.pool.get().await.unwrap();
        let never = Timestamp::MIN.millis().to_string();
        client.batch_execute(&SEED.replace("never", &never)).await.unwrap();
        drop(client);
        let few = read(&plan(&store, &DELIVERIES, "30000, 100").await);
        assert!(few < 100.0 + 20.0, "{few}");
        let all = read(&plan(&store, &DELIVERIES, &format!("30000, {MOST}")).await);
        assert!((60_000.0..60_020.0).contains(&all), "{all}");
        let query = FigureQuery::at(Timestamp::from_millis(10_000));
        let deliveries = store.figures(&query).await.unwrap().deliveries;
        let oldest = Some(Timestamp::from_millis(1));
        assert_eq!(deliveries, DueFigures { pending: 60_000, due: 45_000, oldest });
    }
}
