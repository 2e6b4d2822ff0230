//! Reads of webhooks.

use async_trait::async_trait;

use super::Webhook;
use crate::ids::CompanyId;
use crate::store::{StoreError, Stored};

/// Reads of webhooks.
#[async_trait]
pub trait WebhookReads: Send + Sync {
    /// The webhooks of the company that are not deleted, by `created_at`, then `id`.
    async fn webhooks(&self, company: CompanyId) -> Result<Vec<Stored<Webhook>>, StoreError>;
}
