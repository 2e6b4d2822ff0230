//! Reads of lists.

use async_trait::async_trait;

use super::{List, ListCandidates};
use crate::ids::{CompanyId, ContactId, ListId};
use crate::store::{StoreError, Stored};

/// Reads of lists. Listings are by `created_at`, then `id` (D58).
#[async_trait]
pub trait ListReads: Send + Sync {
    /// A list of the company, with how many contacts it holds.
    async fn list(
        &self,
        company: CompanyId,
        id: ListId,
    ) -> Result<Option<(Stored<List>, u64)>, StoreError>;

    /// All lists of the company, with how many contacts each holds (exact).
    async fn lists(&self, company: CompanyId) -> Result<Vec<(List, u64)>, StoreError>;

    /// Which of `contacts` exist in the company, and which of them are in the list already; and the
    /// first `first` contacts of the list, by id.
    async fn list_candidates(
        &self,
        company: CompanyId,
        list: ListId,
        contacts: &[ContactId],
        first: u32,
    ) -> Result<ListCandidates, StoreError>;
}
