//! The queues of webhooks, for the delivery worker.

use std::sync::LazyLock;

use async_trait::async_trait;
use recado_core::Timestamp;
use recado_core::deliveries::{
    Delivery, DeliverySeq, DueDelivery, DueReads, PendingQueue, QueueKey, QueuePage, QueueRead,
};
use recado_core::store::StoreError;
use recado_core::webhooks::Webhook;
use recado_store_sql::signed;
use tokio_postgres::Row;

use crate::PostgresStore;
use crate::columns::Columns;
use crate::error::failed;
use crate::param::params;
use crate::session::{Session, Statement, TransactionMode, first_sealed, rows};
use crate::table::{Table, columns_of};

/// Deliveries of `$1` and `$2` that fulfil `condition`, with contact and data of their events. Each
/// event is looked up separately, whatever the planner estimates of the tables.
fn queued(condition: &str) -> String {
    format!(
        "SELECT d.seq, {}, e.contact_id, e.data FROM deliveries d \
         LEFT JOIN LATERAL (SELECT contact_id, data FROM events \
         WHERE company_id = d.company_id AND id = d.event_id LIMIT 1) AS e ON true \
         WHERE d.company_id = $1 AND d.webhook_id = $2 AND {condition} LIMIT $4::bigint",
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

/// The first entry of each queue, with one look-up for each.
pub(crate) fn queues_sql(after: bool) -> String {
    let first = |table: &str, after: &str| {
        format!(
            "SELECT {table}.company_id, {table}.webhook_id, {table}.queued_at \
             FROM deliveries {table} WHERE {table}.queued_at IS NOT NULL {after} \
             ORDER BY {table}.company_id, {table}.webhook_id, {table}.queued_at LIMIT 1"
        )
    };
    let begin = if after { "AND (f.company_id, f.webhook_id) > ($2::uuid, $3::uuid)" } else { "" };
    format!(
        "WITH RECURSIVE queues AS (({}) UNION ALL SELECT next.* FROM queues \
         CROSS JOIN LATERAL ({}) AS next) SELECT * FROM queues LIMIT $1::bigint",
        first("f", begin),
        first("n", "AND (n.company_id, n.webhook_id) > (queues.company_id, queues.webhook_id)"),
    )
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
        after: Option<QueueKey>,
        limit: u32,
    ) -> Result<Vec<PendingQueue>, StoreError> {
        let mut params = params![i64::from(limit)];
        if let Some(after) = after {
            params.extend(params![after.company.uuid(), after.webhook.uuid()]);
        }
        let found = rows(&self.pool, queues_sql(after.is_some()), params).await?;
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
