//! The debit of an AI turn or a message, and a line of the ledger (2.4, D32).

use super::{Brl, Prosas};
use crate::Timestamp;
use crate::ids::{CampaignId, CompanyId, ContactId, LedgerLineId};
use crate::page::Page;
use crate::words::words;

words! {
    /// What a debit covers (2.4).
    ProsaScope {
        /// Every bubble of one AI turn.
        Turn = "turn",
        /// One message.
        Message = "message",
    }
}

words! {
    /// What a ledger line is (D59).
    LineKind {
        /// Prosas were spent.
        Debit = "debit",
        /// Prosas were refunded; its amounts are negative.
        Refund = "refund",
    }
}

/// The debit that covers a message, as the message carries it (2.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prosa {
    /// The debit.
    pub consumption_id: LedgerLineId,
    /// Its whole value in prosas.
    pub prosas: Prosas,
    /// Its whole cost.
    pub cost: Brl,
    /// What it covers.
    pub scope: ProsaScope,
}

/// A line of the ledger. It outlives its contact (D26), and is kept forever unless the installation
/// says for how long (R212).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerLine {
    /// Its id; of a debit also its consumption id.
    pub id: LedgerLineId,
    /// Its company.
    pub company: CompanyId,
    /// The debit: this line, or the one that it refunds.
    pub consumption_id: LedgerLineId,
    /// What it is.
    pub kind: LineKind,
    /// What the debit covers.
    pub scope: ProsaScope,
    /// The value in prosas; negative for a refund.
    pub prosas: Prosas,
    /// The cost; negative for a refund.
    pub cost: Brl,
    /// Of a debit: what was refunded so far, as positive amounts.
    pub refunded: (Prosas, Brl),
    /// The contact it was spent on.
    pub contact: Option<ContactId>,
    /// The campaign it was spent on.
    pub campaign: Option<CampaignId>,
    /// What it was for.
    pub description: Option<String>,
    /// When it was booked.
    pub created_at: Timestamp,
}

/// Which ledger lines a listing holds (D59).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LedgerFilter {
    /// `created_at` at or after this.
    pub from: Option<Timestamp>,
    /// `created_at` at or before this.
    pub to: Option<Timestamp>,
    /// Of this kind.
    pub kind: Option<LineKind>,
}

/// A page of the ledger with the sums of everything that matches.
#[derive(Clone, Debug, PartialEq)]
pub struct LedgerPage {
    /// The lines.
    pub page: Page<LedgerLine>,
    /// The sum of `prosas` over all pages.
    pub prosas: Prosas,
    /// The sum of `cost` over all pages.
    pub cost: Brl,
}
