//! Deliveries: how they are stored, and the operator's reads.

use std::fmt::Write;
use std::sync::LazyLock;

use async_trait::async_trait;
use recado_core::deliveries::{
    Delivery, DeliveryFilter, DeliveryReads, DeliveryStatus, PendingDeliveries, Shards,
};
use recado_core::ids::{CompanyId, DeliveryId};
use recado_core::page::{Page, PageRequest};
use recado_core::store::{StoreError, Stored};
use recado_store_sql::signed;
use uuid::Uuid;

use crate::PostgresStore;
use crate::columns::Columns;
use crate::param::{Param, params};
use crate::session::{all_stored, rows, select};
use crate::table::columns_of;

/// All shards, as the database itself has them: a standby may be behind.
const EVERY_SHARD: &str =
    "(SELECT n::smallint AS shard FROM generate_series(0, recado_shards() - 1) AS n)";

/// One page with the total, read from one state of the database.
pub(crate) fn page_statement(
    company: CompanyId,
    filter: &DeliveryFilter,
    page: PageRequest,
) -> (String, Vec<Param>) {
    let mut params = params![company.uuid(), i64::from(page.limit), signed(page.offset())];
    let mut condition = "company_id = $1".to_owned();
    let mut and = |column: &str, value: Option<Param>| {
        value.map(|value| {
            params.push(value);
            let _ = write!(condition, " AND {column} = ${}", params.len());
            params.len()
        })
    };
    and("status", filter.status.map(|status| Param::of(status.as_str())));
    let webhook = and("webhook_id", filter.webhook.map(|webhook| Param::of(webhook.uuid())));
    and("event_type", filter.event.map(|event| Param::of(event.as_str())));
    let mut source = "deliveries".to_owned();
    if filter.status == Some(DeliveryStatus::Pending) {
        // They have an index, which begins with their shard. Each shard is looked up by itself:
        // otherwise all deliveries of the company might be read.
        let shards = match webhook {
            Some(webhook) => format!("(SELECT recado_shard_of(${webhook}::uuid) AS shard)"),
            None => EVERY_SHARD.to_owned(),
        };
        source = format!(
            "{shards} AS s CROSS JOIN LATERAL (SELECT * FROM deliveries \
             WHERE recado_shard_of(webhook_id) = s.shard AND company_id = $1 \
             AND queued_at IS NOT NULL OFFSET 0) AS queued"
        );
    }
    let sql = format!(
        "WITH matching AS MATERIALIZED (SELECT count(*) AS total FROM {source} \
         WHERE {condition}), page AS MATERIALIZED (SELECT * FROM {source} WHERE {condition} \
         ORDER BY created_at DESC, id DESC LIMIT $2::bigint OFFSET $3::bigint) \
         SELECT matching.total, {} \
         FROM matching LEFT JOIN page ON true ORDER BY page.created_at DESC, page.id DESC",
        columns_of::<Delivery>("page"),
    );
    (sql, params)
}

/// The condition of the pending deliveries of the webhook `$2`.
pub(crate) const PENDING: &str = "\
WHERE company_id = $1 AND webhook_id = $2 AND recado_shard_of(webhook_id) = recado_shard_of($2) \
AND queued_at IS NOT NULL LIMIT $3::bigint";

/// The pending deliveries of the events about `$2`. The deliveries of each event are looked up
/// separately: a join might read all pending deliveries for each of them.
pub(crate) static ABOUT: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT {} FROM events e CROSS JOIN LATERAL (SELECT * FROM deliveries \
         WHERE company_id = e.company_id AND created_at = e.at AND event_id = e.id \
         AND status = 'pending' OFFSET 0) AS d \
         WHERE e.company_id = $1 AND e.contact_id = $2 AND e.data IS NOT NULL \
         AND d.id > $3 ORDER BY d.id LIMIT $4::bigint",
        columns_of::<Delivery>("d"),
    )
});

#[async_trait]
impl DeliveryReads for PostgresStore {
    async fn shards(&self) -> Result<Shards, StoreError> {
        self.known_shards().await
    }

    async fn deliveries(
        &self,
        company: CompanyId,
        filter: &DeliveryFilter,
        page: PageRequest,
    ) -> Result<Page<Delivery>, StoreError> {
        let (sql, params) = page_statement(company, filter, page);
        let found = rows(&self.pool, sql, params).await?;
        let mut page = Page::empty();
        for row in &found {
            let mut columns = Columns::new(row);
            page.total = columns.get()?;
            page.items.extend(columns.joined()?);
        }
        Ok(page)
    }

    async fn pending_deliveries(
        &self,
        company: CompanyId,
        which: PendingDeliveries,
        limit: u32,
    ) -> Result<Vec<Stored<Delivery>>, StoreError> {
        match which {
            PendingDeliveries::Of(webhook) => {
                let params = params![company.uuid(), webhook.uuid(), i64::from(limit)];
                select(&self.pool, PENDING, params).await
            }
            PendingDeliveries::About { contact, after } => {
                // No delivery has the nil id.
                let after = after.map_or(Uuid::nil(), DeliveryId::uuid);
                let params = params![company.uuid(), contact.uuid(), after, i64::from(limit)];
                all_stored(&rows(&self.pool, ABOUT.as_str(), params).await?)
            }
        }
    }
}
