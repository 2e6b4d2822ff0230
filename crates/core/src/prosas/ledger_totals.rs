//! Sums of the ledger (D58, D59).

use serde::Serialize;

use super::{Brl, Prosas};

/// Sums of debits less refunds: of everything that matches, on all pages (D59), or of a campaign
/// (D58).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LedgerTotals {
    /// The prosas.
    pub prosas: Prosas,
    /// The money.
    pub cost_brl: Brl,
}
