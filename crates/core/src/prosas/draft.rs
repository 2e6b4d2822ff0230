//! The bodies that book debits and refunds (D32).

use super::{Brl, GivenBack, ProsaScope, Prosas};
use crate::body::{Optional, OrDefault, Required, body};
use crate::form::{Distinct, Short};
use crate::ids::{ContactId, LedgerLineId, MessageId};

/// The most messages one debit may cover (R53).
const MAX_MESSAGES: usize = 1_000;

body! {
    /// A debit.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct DebitDraft as "Debit" {
        scope: ProsaScope = Required<ProsaScope>,
        prosas: Prosas = Required<Prosas>,
        cost as "cost_brl": Brl = Required<Brl>,
        messages as "message_ids": Vec<MessageId> = OrDefault<Distinct<MessageId, MAX_MESSAGES>>,
        contact as "contact_id": Option<ContactId> = Optional<ContactId>,
        description: Option<String> = Optional<Short>,
    }
    check |input| if scope == Some(ProsaScope::Message)
        && messages.as_ref().is_some_and(|messages| messages.len() > 1)
    {
        input.problem("message_ids", "may name one message when scope is message");
    };
}

body! {
    /// A refund, in positive amounts.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct RefundDraft as "Refund" {
        debit as "consumption_id": LedgerLineId = Required<LedgerLineId>,
        prosas: Prosas = Required<Prosas>,
        cost as "cost_brl": Brl = Required<Brl>,
        /// Why, for people.
        reason: Option<String> = Optional<Short>,
    }
    check |input| if prosas == Some(Prosas::ZERO) && cost == Some(Brl::ZERO) {
        input.problem("prosas", "must be positive, or cost_brl must");
    };
}

impl RefundDraft {
    /// The amounts and reason of the refund.
    pub(super) fn back(&self) -> GivenBack {
        GivenBack { prosas: self.prosas, cost: self.cost, reason: self.reason.clone() }
    }
}
