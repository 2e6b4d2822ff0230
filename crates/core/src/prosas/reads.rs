//! Reads of the ledger.

use async_trait::async_trait;

use super::{LedgerFilter, LedgerPage};
use crate::ids::CompanyId;
use crate::page::PageRequest;
use crate::store::StoreError;

/// Reads of the ledger.
#[async_trait]
pub trait LedgerReads: Send + Sync {
    /// One page, by `created_at` descending, then `id` descending; total and sums are exact and
    /// belong to the same state of the database.
    async fn ledger_page(
        &self,
        company: CompanyId,
        filter: &LedgerFilter,
        page: PageRequest,
    ) -> Result<LedgerPage, StoreError>;
}
