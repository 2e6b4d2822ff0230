//! Reads of conversations.

use async_trait::async_trait;

use super::{ChannelContact, ChannelQuery};
use crate::Timestamp;
use crate::ids::{CompanyId, ContactId};
use crate::messages::SenderType;
use crate::store::StoreError;

/// Reads of conversations.
#[async_trait]
pub trait ConversationReads: Send + Sync {
    /// The contacts that a query names, each once, by `created_at`, then `id`. Of those that it
    /// names by phone alone there may be a bound (`per_phone`).
    async fn channel_contacts(
        &self,
        company: CompanyId,
        query: &ChannelQuery,
    ) -> Result<Vec<ChannelContact>, StoreError>;

    /// The `timestamp` of the newest inbound message of a contact (by `created_at`, then `id`)
    /// that is not from a history (D42a).
    async fn newest_inbound_at(
        &self,
        company: CompanyId,
        contact: ContactId,
    ) -> Result<Option<Timestamp>, StoreError>;

    /// Who sent the newest outbound message of a contact (by `created_at`, then `id`) that is not
    /// from a history (D43).
    async fn newest_outbound_sender(
        &self,
        company: CompanyId,
        contact: ContactId,
    ) -> Result<Option<SenderType>, StoreError>;
}
