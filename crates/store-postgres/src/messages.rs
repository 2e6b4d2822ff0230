//! Messages: how they are stored, and reads of a single message.

use async_trait::async_trait;
use recado_core::Timestamp;
use recado_core::ids::{CompanyId, ConnectionId, MessageId, WorkerId};
use recado_core::messages::{
    Message, MessageFilter, MessageReads, MessageRecord, ProviderMessageId, Referred,
};
use recado_core::page::{Page, PageRequest};
use recado_core::store::{StoreError, Stored};
use uuid::Uuid;

use crate::PostgresStore;
use crate::param::params;
use crate::session::{all_sealed, rows, select};
use crate::table::columns_of;

/// Counts messages to persons with status `sent`, through active, connected connections of kind
/// `qr`. Each row is looked up separately, whatever the planner estimates of the tables.
pub(crate) const LEFT_SENT: &str = "\
SELECT count(*) FROM messages_left_sent s \
CROSS JOIN LATERAL (SELECT contact_id, connection_id FROM messages \
WHERE company_id = s.company_id AND id = s.message_id OFFSET 0) AS m \
CROSS JOIN LATERAL (SELECT FROM connections WHERE company_id = s.company_id \
AND id = m.connection_id AND kind = 'qr' AND is_active AND status = 'connected' OFFSET 0) AS n \
CROSS JOIN LATERAL (SELECT FROM contacts WHERE company_id = s.company_id \
AND id = m.contact_id AND NOT is_group OFFSET 0) AS c \
WHERE s.created_at BETWEEN $1 AND $2";

/// The pending messages whose senders fulfil a condition on `f`, `$2` at most. Each is looked up
/// separately, whatever the planner estimates of the tables.
pub(crate) fn in_flight(sender: &str) -> String {
    format!(
        "SELECT {} FROM messages_in_flight f CROSS JOIN LATERAL (SELECT * FROM messages \
         WHERE company_id = f.company_id AND id = f.message_id AND status = 'pending' OFFSET 0) AS m \
         WHERE {sender} LIMIT $2",
        columns_of::<Message>("m"),
    )
}

#[async_trait]
impl MessageReads for PostgresStore {
    async fn messages(
        &self,
        company: CompanyId,
        ids: &[MessageId],
    ) -> Result<Vec<Stored<Message>>, StoreError> {
        let ids: Vec<Uuid> = ids.iter().map(|id| id.uuid()).collect();
        let condition = "WHERE company_id = $1 AND id = ANY($2)";
        select(&self.pool, condition, params![company.uuid(), ids]).await
    }

    async fn referred(
        &self,
        company: CompanyId,
        connection: ConnectionId,
        ids: &[ProviderMessageId],
    ) -> Result<Vec<Referred>, StoreError> {
        self.references(company, connection, ids).await
    }

    async fn message_page(
        &self,
        company: CompanyId,
        filter: &MessageFilter,
        page: PageRequest,
    ) -> Result<Page<MessageRecord>, StoreError> {
        self.listing(company, filter, page).await
    }

    async fn abandoned_messages(
        &self,
        now: Timestamp,
        limit: u32,
    ) -> Result<Vec<Stored<Message>>, StoreError> {
        let sql = in_flight(
            "NOT EXISTS (SELECT FROM workers w WHERE w.id = f.sender_id AND w.leased_until > $1)",
        );
        let found = rows(&self.pool, sql, params![now.millis(), i64::from(limit)]).await?;
        all_sealed(&found, self.pool.sealer())
    }

    async fn messages_in_flight(
        &self,
        sender: WorkerId,
        limit: u32,
    ) -> Result<Vec<Stored<Message>>, StoreError> {
        let params = params![sender.uuid(), i64::from(limit)];
        let found = rows(&self.pool, in_flight("f.sender_id = $1"), params).await?;
        all_sealed(&found, self.pool.sealer())
    }
}
