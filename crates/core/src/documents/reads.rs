//! Reads of documents.

use async_trait::async_trait;

use super::Document;
use crate::ids::{CompanyId, ContactId};
use crate::store::{StoreError, Stored};

/// Reads of documents. Listings are by `created_at`, then `id`.
#[async_trait]
pub trait DocumentReads: Send + Sync {
    /// All documents of a contact, in any state.
    async fn documents(
        &self,
        company: CompanyId,
        contact: ContactId,
    ) -> Result<Vec<Stored<Document>>, StoreError>;
}
