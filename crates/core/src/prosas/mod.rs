//! Prosas: what AI turns and messages cost (2.4, D32, D59).

mod amount;
mod book;
mod draft;
mod handle;
mod ledger;
mod ledger_line;
mod ledger_totals;
mod manage;
mod reads;
mod span;
mod usage;

pub use amount::{AmountError, Brl, Prosas};
pub use book::{
    GivenBack, Spent, debit_line, give_back, refund_line, total_of_messages, why_not_covered,
};
pub use draft::{DebitDraft, RefundDraft};
pub use handle::ProsaLedger;
pub use ledger::{LedgerLineView, LedgerListing};
pub use ledger_line::{LedgerFilter, LedgerLine, LedgerPage, LineKind, Prosa, ProsaScope};
pub use ledger_totals::LedgerTotals;
pub use manage::{BookDebit, BookRefund, RefundError};
pub use reads::LedgerReads;
pub use span::{LedgerSpan, SpanTotals};
pub use usage::{USAGE_DAYS, UsageDay};
