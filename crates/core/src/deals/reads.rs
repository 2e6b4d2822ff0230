//! Reads of pipelines, stages and deals.

use async_trait::async_trait;

use super::Deal;
use crate::ids::{CompanyId, ContactId};
use crate::store::StoreError;

/// Reads of deals, by `created_at`, then `id`.
#[async_trait]
pub trait DealReads: Send + Sync {
    /// All deals of the company, or those of one contact.
    async fn deals(
        &self,
        company: CompanyId,
        contact: Option<ContactId>,
    ) -> Result<Vec<Deal>, StoreError>;
}
