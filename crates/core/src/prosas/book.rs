//! The rules of booking: the contents of a ledger line, how much may be refunded, and how the
//! debits of messages are totalled. Plain functions; the use cases that spend prosas call them.

use std::collections::HashSet;

use super::{Brl, LedgerLine, LineKind, Prosa, ProsaScope, Prosas};
use crate::Timestamp;
use crate::ids::{CampaignId, CompanyId, ContactId, LedgerLineId};
use crate::messages::{Direction, Message, SenderType};

/// What a debit is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spent {
    /// The company that spends.
    pub company: CompanyId,
    /// What the debit covers.
    pub scope: ProsaScope,
    /// The value in prosas.
    pub prosas: Prosas,
    /// The cost.
    pub cost: Brl,
    /// The contact it is spent on.
    pub contact: Option<ContactId>,
    /// The campaign it is spent on.
    pub campaign: Option<CampaignId>,
    /// What it is for.
    pub description: Option<String>,
}

/// The line of a debit; `id` is its consumption id too (2.4).
pub fn debit_line(id: LedgerLineId, spent: Spent, now: Timestamp) -> LedgerLine {
    LedgerLine {
        id,
        company: spent.company,
        consumption_id: id,
        kind: LineKind::Debit,
        scope: spent.scope,
        prosas: spent.prosas,
        cost: spent.cost,
        refunded: (Prosas::ZERO, Brl::ZERO),
        contact: spent.contact,
        campaign: spent.campaign,
        description: spent.description,
        created_at: now,
    }
}

impl LedgerLine {
    /// The debit as the messages it covers carry it: its whole value, not a share (2.4.2).
    pub const fn prosa(&self) -> Prosa {
        Prosa {
            consumption_id: self.consumption_id,
            prosas: self.prosas,
            cost: self.cost,
            scope: self.scope,
        }
    }

    /// The line once its contact was deleted: what was booked stays, and what somebody wrote about
    /// it goes, because it may name the person (R196).
    #[must_use]
    pub fn without_contact(self) -> Self {
        Self { contact: None, description: None, ..self }
    }

    /// What can still be refunded of a debit (R53).
    pub const fn refundable(&self) -> (Prosas, Brl) {
        (self.prosas.minus(self.refunded.0), self.cost.minus(self.refunded.1))
    }
}

/// A refund of a debit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GivenBack {
    /// The value in prosas, from zero on.
    pub prosas: Prosas,
    /// The money, from zero on.
    pub cost: Brl,
    /// Why.
    pub reason: Option<String>,
}

/// The line of a refund: negative amounts, for what the debit was for.
pub fn refund_line(
    id: LedgerLineId,
    debit: &LedgerLine,
    back: GivenBack,
    now: Timestamp,
) -> LedgerLine {
    LedgerLine {
        id,
        company: debit.company,
        consumption_id: debit.consumption_id,
        kind: LineKind::Refund,
        scope: debit.scope,
        prosas: back.prosas.negated(),
        cost: back.cost.negated(),
        refunded: (Prosas::ZERO, Brl::ZERO),
        contact: debit.contact,
        campaign: debit.campaign,
        description: back.reason,
        created_at: now,
    }
}

/// The debit after the refund, and the refund's line; `None` when the refund exceeds what is left,
/// of prosas or of money (D32). The debit is written too, so that two concurrent refunds cannot
/// both use what is left (R94).
pub fn give_back(
    id: LedgerLineId,
    debit: &LedgerLine,
    back: GivenBack,
    now: Timestamp,
) -> Option<(LedgerLine, LedgerLine)> {
    let (prosas, cost) = debit.refundable();
    if back.prosas > prosas || back.cost > cost {
        return None;
    }
    let refunded = (debit.refunded.0.plus(back.prosas), debit.refunded.1.plus(back.cost));
    let line = refund_line(id, debit, back, now);
    Some((LedgerLine { refunded, ..debit.clone() }, line))
}

/// Why a message cannot be covered by a debit (D32); `None` when it can.
pub fn why_not_covered(message: &Message) -> Option<&'static str> {
    if message.direction == Direction::Inbound {
        return Some("names an inbound message");
    }
    if message.prosa.is_some() {
        return Some("names a message that has a debit");
    }
    match message.sender_type {
        SenderType::Ai | SenderType::System => None,
        SenderType::Agent => Some("names an operator's message"),
        SenderType::Campaign => Some("names a campaign's message"),
        SenderType::Contact => Some("names a contact's message"),
    }
}

/// What messages cost together: each debit counts once, however many messages it covers (2.4.3).
pub fn total_of_messages(prosas: impl IntoIterator<Item = Option<Prosa>>) -> (Prosas, Brl) {
    let mut counted = HashSet::new();
    prosas
        .into_iter()
        .flatten()
        .filter(|prosa| counted.insert(prosa.consumption_id))
        .fold((Prosas::ZERO, Brl::ZERO), |(prosas, cost), prosa| {
            (prosas.plus(prosa.prosas), cost.plus(prosa.cost))
        })
}
