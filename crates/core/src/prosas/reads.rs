//! Reads of the ledger.

use async_trait::async_trait;

use super::{LedgerFilter, LedgerPage, LedgerSpan, SpanTotals};
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

    /// The sums of each span by kind, in the order of the spans (R430). They are exact, and what is
    /// read grows with the lines in the spans and with nothing else.
    async fn ledger_totals(
        &self,
        company: CompanyId,
        spans: &[LedgerSpan],
    ) -> Result<Vec<SpanTotals>, StoreError>;
}
