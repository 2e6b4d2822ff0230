//! Sums over parts of time (R430).

use serde::Serialize;

use super::LedgerTotals;
use crate::Timestamp;

/// A part of time, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LedgerSpan {
    /// The first millisecond.
    pub from: Timestamp,
    /// The last millisecond; nothing is in a span that ends before it begins.
    pub to: Timestamp,
}

/// The sums of a span by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SpanTotals {
    /// The debits.
    pub debits: LedgerTotals,
    /// The refunds; negative.
    pub refunds: LedgerTotals,
}
