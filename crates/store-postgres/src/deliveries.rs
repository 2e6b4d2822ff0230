//! Deliveries: how they are stored, and reads of them for the operator.

use std::fmt::Write;

use async_trait::async_trait;
use recado_core::Timestamp;
use recado_core::deliveries::{Attempt, Delivery, DeliveryFilter, DeliveryReads, DeliveryStatus};
use recado_core::events::EventType;
use recado_core::ids::{CompanyId, DeliveryId, EventId, WebhookId};
use recado_core::page::{Page, PageRequest};
use recado_core::store::{StoreError, Stored};

use crate::PostgresStore;
use crate::session::{get, rows, select};
use crate::table::{Columns, Param, Table, columns_of, params, signed, table_sql, unreadable};

impl Table for Delivery {
    const NAME: &'static str = "deliveries";
    const KEY: usize = 2;
    const COLUMNS: &'static [&'static str] = &[
        "company_id",
        "id",
        "webhook_id",
        "event_id",
        "event_type",
        "status",
        "attempts",
        "tries",
        "due_at",
        "queued_at",
        "created_at",
        "delivered_at",
        "log",
    ];
    table_sql!(Delivery);

    fn bind(self) -> Vec<Param> {
        let queued_at = self.queued_at().map(Timestamp::millis);
        params![
            self.company.uuid(),
            self.id.uuid(),
            self.webhook.uuid(),
            self.event.uuid(),
            self.event_type.as_str(),
            self.status.as_str(),
            i64::from(self.attempts),
            i64::from(self.tries),
            self.due_at.map(Timestamp::millis),
            queued_at,
            self.created_at.millis(),
            self.delivered_at.map(Timestamp::millis),
            log_text(&self.log),
        ]
    }

    fn read(columns: &mut Columns<'_>) -> Result<Self, StoreError> {
        let company = columns.id(CompanyId::new)?;
        let id = columns.id(DeliveryId::new)?;
        let webhook = columns.id(WebhookId::new)?;
        let event = columns.id(EventId::new)?;
        let event_type = columns.word(EventType::parse)?;
        let status = columns.word(DeliveryStatus::parse)?;
        let attempts = columns.number()?;
        let tries = columns.number()?;
        let due_at = columns.time_or_null()?;
        // Its place in the queue follows from the rest.
        columns.skip(1);
        Ok(Self {
            id,
            company,
            webhook,
            event,
            event_type,
            status,
            attempts,
            tries,
            due_at,
            created_at: columns.time()?,
            delivered_at: columns.time_or_null()?,
            log: read_log(columns.get()?)?,
        })
    }
}

/// The log as it is stored.
pub(crate) fn log_text(log: &[Attempt]) -> String {
    match log {
        [] => NO_LOG.to_owned(),
        _ => serde_json::to_string(log).expect("attempts are numbers and texts"),
    }
}

const NO_LOG: &str = "[]";

fn read_log(text: &str) -> Result<Vec<Attempt>, StoreError> {
    match text {
        NO_LOG => Ok(Vec::new()),
        _ => serde_json::from_str(text).map_err(|_| unreadable::<Attempt>()),
    }
}

/// One page with the total, in one state of the database.
pub(crate) fn page_statement(
    company: CompanyId,
    filter: &DeliveryFilter,
    page: PageRequest,
) -> (String, Vec<Param>) {
    let mut params = params![company.uuid(), i64::from(page.limit), signed(page.offset())];
    let mut condition = "company_id = $1".to_owned();
    let mut and = |column: &str, value: Option<Param>| {
        if let Some(value) = value {
            params.push(value);
            let _ = write!(condition, " AND {column} = ${}", params.len());
        }
    };
    and("status", filter.status.map(|status| Box::new(status.as_str()) as Param));
    and("webhook_id", filter.webhook.map(|webhook| Box::new(webhook.uuid()) as Param));
    and("event_type", filter.event.map(|event| Box::new(event.as_str()) as Param));
    if filter.status == Some(DeliveryStatus::Pending) {
        // They have an index.
        condition.push_str(" AND queued_at IS NOT NULL");
    }
    let sql = format!(
        "WITH matching AS MATERIALIZED (SELECT count(*) AS total FROM deliveries \
         WHERE {condition}), page AS MATERIALIZED (SELECT * FROM deliveries WHERE {condition} \
         ORDER BY created_at DESC, id DESC LIMIT $2::bigint OFFSET $3::bigint) \
         SELECT matching.total, {} \
         FROM matching LEFT JOIN page ON true ORDER BY page.created_at DESC, page.id DESC",
        columns_of::<Delivery>("page"),
    );
    (sql, params)
}

#[async_trait]
impl DeliveryReads for PostgresStore {
    async fn delivery(
        &self,
        company: CompanyId,
        id: DeliveryId,
    ) -> Result<Option<Stored<Delivery>>, StoreError> {
        get(&self.pool, params![company.uuid(), id.uuid()]).await
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
            page.total = columns.number()?;
            page.items.extend(columns.joined()?);
        }
        Ok(page)
    }

    async fn pending_deliveries(
        &self,
        company: CompanyId,
        webhook: WebhookId,
        limit: u32,
    ) -> Result<Vec<Stored<Delivery>>, StoreError> {
        let condition = "WHERE company_id = $1 AND webhook_id = $2 AND queued_at IS NOT NULL \
                         LIMIT $3::bigint";
        let params = params![company.uuid(), webhook.uuid(), i64::from(limit)];
        select(&self.pool, condition, params).await
    }
}
