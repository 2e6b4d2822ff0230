//! Conversations, and contacts with the data known of them on their channel.

use async_trait::async_trait;
use recado_core::Timestamp;
use recado_core::conversations::{ChannelContact, ChannelQuery, ConversationReads};
use recado_core::ids::{CompanyId, ContactId};
use recado_core::messages::{Direction, SenderType};
use recado_core::store::StoreError;

use crate::PostgresStore;
use crate::channel_lookup::ChannelLookup;
use crate::columns::Columns;
use crate::param::params;
use crate::session::rows;

/// A column of the newest message of a contact in one direction, without messages from a history.
fn newest(column: &str) -> String {
    format!(
        "SELECT {column} FROM messages WHERE company_id = $1 AND contact_id = $2 \
         AND direction = $3 AND NOT is_history ORDER BY created_at DESC, id DESC LIMIT 1"
    )
}

#[async_trait]
impl ConversationReads for PostgresStore {
    async fn channel_contacts(
        &self,
        company: CompanyId,
        query: &ChannelQuery,
    ) -> Result<Vec<ChannelContact>, StoreError> {
        let lookup = ChannelLookup::new(company, query.clone());
        match lookup.is_shared() {
            true => self.channel_lookups.make(&self.pool, lookup).await?,
            false => lookup.answer_alone(&self.pool).await,
        }
    }

    async fn newest_inbound_at(
        &self,
        company: CompanyId,
        contact: ContactId,
    ) -> Result<Option<Timestamp>, StoreError> {
        let params = params![company.uuid(), contact.uuid(), Direction::Inbound.as_str()];
        let found = rows(&self.pool, newest("stamped_at"), params).await?;
        found.first().map(|row| Columns::new(row).get()).transpose()
    }

    async fn newest_outbound_sender(
        &self,
        company: CompanyId,
        contact: ContactId,
    ) -> Result<Option<SenderType>, StoreError> {
        let params = params![company.uuid(), contact.uuid(), Direction::Outbound.as_str()];
        let found = rows(&self.pool, newest("sender_type"), params).await?;
        found.first().map(|row| Columns::new(row).get()).transpose()
    }
}
