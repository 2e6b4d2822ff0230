//! The queues of webhooks, for the delivery worker.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use async_trait::async_trait;
use recado_core::Timestamp;
use recado_core::deliveries::{
    Delivery, DeliverySeq, DueDelivery, DueReads, PendingQueue, QueueKey, QueuePage, QueueRead,
    ShardNumber, Shards,
};
use recado_core::ids::{CompanyId, WebhookId};
use recado_core::store::StoreError;
use recado_core::webhooks::Webhook;
use recado_store_sql::signed;
use tokio_postgres::Row;
use uuid::Uuid;

use crate::PostgresStore;
use crate::columns::Columns;
use crate::error::failed;
use crate::param::{Param, params};
use crate::session::{Session, Statement, TransactionMode, first_sealed, rows};
use crate::table::{Table, columns_of};

/// Deliveries of `$1` and `$2` that fulfil `condition`, with contact and data of their events. Each
/// event is looked up separately, whatever the planner estimates of the tables.
fn queued(condition: &str) -> String {
    format!(
        "SELECT d.seq, {}, e.contact_id, e.data FROM deliveries d \
         LEFT JOIN LATERAL (SELECT contact_id, data FROM events \
         WHERE company_id = d.company_id AND id = d.event_id LIMIT 1) AS e ON true \
         WHERE d.company_id = $1 AND d.webhook_id = $2 \
         AND recado_shard_of(d.webhook_id) = recado_shard_of($2) AND {condition} LIMIT $4::bigint",
        columns_of::<Delivery>("d"),
    )
}

/// Deliveries after a position that had no attempt yet.
pub(crate) static FRESH: LazyLock<String> = LazyLock::new(|| {
    let never = Timestamp::MIN.millis();
    queued(&format!("d.queued_at = {never} AND d.seq > $3 ORDER BY d.queued_at, d.seq"))
});

/// Deliveries that are due for another attempt.
pub(crate) static AGAIN: LazyLock<String> = LazyLock::new(|| {
    let never = Timestamp::MIN.millis();
    queued(&format!("d.queued_at > {never} AND d.queued_at <= $3 ORDER BY d.queued_at, d.seq"))
});

/// The first entry of each queue of the shards in `shards`, rows with a `shard`, a `company` and a
/// `webhook` after which those of the shard are looked for. One look-up for each shard and queue.
pub(crate) fn queues_sql(shards: &str) -> String {
    let first = |table: &str, after: &str| {
        format!(
            "SELECT {table}.company_id, {table}.webhook_id, {table}.queued_at \
             FROM deliveries {table} WHERE {table}.queued_at IS NOT NULL \
             AND recado_shard_of({table}.webhook_id) = s.shard \
             AND ({table}.company_id, {table}.webhook_id) > ({after}) \
             ORDER BY {table}.company_id, {table}.webhook_id, {table}.queued_at LIMIT 1"
        )
    };
    format!(
        "SELECT q.* FROM {shards} AS s (shard, company, webhook) CROSS JOIN LATERAL (\
         WITH RECURSIVE queues AS (({}) UNION ALL SELECT next.* FROM queues \
         CROSS JOIN LATERAL ({}) AS next) SELECT * FROM queues) AS q",
        first("f", "s.company, s.webhook"),
        first("n", "queues.company_id, queues.webhook_id"),
    )
}

/// The queues of some shards, at most `$1`: by shard, then by company and webhook.
pub(crate) static QUEUES: LazyLock<String> = LazyLock::new(|| {
    let shards = queues_sql("unnest($2::smallint[], $3::uuid[], $4::uuid[])");
    format!("{shards} LIMIT $1::bigint")
});

/// The parameters of [`QUEUES`].
fn queues_after(
    all: Shards,
    shards: &BTreeSet<ShardNumber>,
    after: Option<QueueKey>,
    limit: u32,
) -> Vec<Param> {
    // No company and no webhook has the nil id.
    let begin =
        QueueKey { company: CompanyId::new(Uuid::nil()), webhook: WebhookId::new(Uuid::nil()) };
    let reached = after.map(|after| (all.of_webhook(after.webhook), after));
    let (mut numbers, mut companies, mut webhooks) = (Vec::new(), Vec::new(), Vec::new());
    for shard in shards {
        let from = match reached {
            Some((of, _)) if *shard < of => continue,
            Some((of, after)) if *shard == of => after,
            _ => begin,
        };
        numbers.push(shard.number().cast_signed());
        companies.push(from.company.uuid());
        webhooks.push(from.webhook.uuid());
    }
    params![i64::from(limit), numbers, companies, webhooks]
}

fn due(row: &Row) -> Result<DueDelivery, StoreError> {
    let mut columns = Columns::new(row);
    Ok(DueDelivery {
        seq: columns.get().map(DeliverySeq)?,
        delivery: columns.stored()?,
        contact: columns.get()?,
        data: columns.get()?,
    })
}

#[async_trait]
impl DueReads for PostgresStore {
    async fn pending_queues(
        &self,
        shards: &BTreeSet<ShardNumber>,
        after: Option<QueueKey>,
        limit: u32,
    ) -> Result<Vec<PendingQueue>, StoreError> {
        let params = queues_after(self.known_shards().await?, shards, after, limit);
        let found = rows(&self.pool, QUEUES.as_str(), params).await?;
        let read = |row| {
            let mut columns = Columns::new(row);
            let company = columns.get()?;
            let key = QueueKey { company, webhook: columns.get()? };
            Ok(PendingQueue { key, queued_at: columns.get()? })
        };
        found.iter().map(read).collect()
    }

    async fn read_queue(&self, read: QueueRead) -> Result<QueuePage, StoreError> {
        let (company, webhook) = (read.key.company.uuid(), read.key.webhook.uuid());
        let mut statements =
            vec![Statement::new(Webhook::sql().get.as_str(), params![company, webhook])];
        if read.fresh > 0 {
            let params = params![company, webhook, signed(read.after.0), i64::from(read.fresh)];
            statements.push(Statement::new(FRESH.as_str(), params));
        }
        if read.again > 0 {
            let params = params![company, webhook, read.due.millis(), i64::from(read.again)];
            statements.push(Statement::new(AGAIN.as_str(), params));
        }
        let session = Session::take(&self.pool).await?;
        let outcome = session.run(TransactionMode::Nothing, statements).await?;
        let mut found = outcome.into_rows().map_err(|(_, error)| failed(error))?.into_iter();
        let webhook = first_sealed(&found.next().unwrap_or_default(), self.pool.sealer())?;
        let mut next = |wanted: u32| -> Result<Vec<DueDelivery>, StoreError> {
            let rows = if wanted > 0 { found.next() } else { None };
            rows.unwrap_or_default().iter().map(due).collect()
        };
        Ok(QueuePage { webhook, fresh: next(read.fresh)?, again: next(read.again)? })
    }
}
