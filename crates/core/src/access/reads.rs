//! Reads of API keys.

use async_trait::async_trait;

use super::{ApiKey, Company, KeyHash};
use crate::store::StoreError;

/// Reads of keys.
#[async_trait]
pub trait AccessReads: Send + Sync {
    /// The key of this hash with its company, in one read: made for every call (D11).
    async fn key_by_hash(&self, hash: &KeyHash) -> Result<Option<(ApiKey, Company)>, StoreError>;
}
