//! Records that rules are about. Ids are few, so that records refer to each other.

use proptest::collection::vec;
use proptest::option::of as maybe;
use proptest::prelude::*;
use proptest::sample::select;
use uuid::Uuid;

use super::{emails, names, phones};
use crate::Timestamp;
use crate::contacts::{Contact, CrmStatus, Identifier, Platform, Priority};
use crate::conversations::{Act, AiMode, ConversationState};
use crate::deals::{Deal, DealStatus};
use crate::ids::{
    CloseReasonId, CompanyId, ContactId, DealId, LedgerLineId, MemberId, StageId, TemplateId,
};
use crate::prosas::{Brl, LedgerLine, LineKind, ProsaScope, Prosas};
use crate::templates::{Template, TemplateCategory, TemplateStatus, TemplateTokenHash};

/// One of four ids: `ids(ContactId::new)`.
pub fn ids<T: std::fmt::Debug>(new: fn(Uuid) -> T) -> impl Strategy<Value = T> {
    (1..=4_u128).prop_map(move |id| new(Uuid::from_u128(id)))
}

/// The company that all records here belong to.
pub fn company() -> CompanyId {
    CompanyId::new(Uuid::from_u128(0xC0))
}

/// Moments of the first weeks of 2026, some of them alike.
pub fn times() -> impl Strategy<Value = Timestamp> {
    const START: i64 = 1_767_225_600_000;
    prop_oneof![0..4_i64, 0..20_000_i64, 0..2_000_000_000_i64]
        .prop_map(|millis| Timestamp::from_millis(START + millis))
}

/// What may happen to a conversation.
pub fn acts() -> impl Strategy<Value = Act> {
    let member = || ids(MemberId::new);
    let closed = (times(), maybe(ids(CloseReasonId::new)), maybe(member()));
    prop_oneof![
        Just(Act::CustomerWrote),
        Just(Act::TemplateSent),
        maybe(member()).prop_map(|member| Act::AgentReplied { member }),
        any::<bool>().prop_map(|is_reply| Act::Echoed { is_reply }),
        member().prop_map(|member| Act::TakenOver { member }),
        maybe(member()).prop_map(|member| Act::HandedOff { member }),
        maybe(member()).prop_map(|member| Act::Assigned { member }),
        closed.prop_map(|(at, reason, member)| Act::Closed { at, reason, member }),
        times().prop_map(|until| Act::AiPaused { until }),
        Just(Act::AiResumed),
        select(AiMode::ALL).prop_map(Act::AiModePicked),
        Just(Act::ExternalAiEnabled),
        Just(Act::Blocked),
        Just(Act::Unblocked),
        times().prop_map(|at| Act::OptedOut { at }),
        times().prop_map(|at| Act::OptOutBackfilled { at }),
        times().prop_map(|at| Act::OptedIn { at }),
    ]
}

/// Reachable states of conversations: those of new contacts, changed by some acts.
pub fn conversation_states() -> impl Strategy<Value = ConversationState> {
    vec(acts(), 0..8).prop_map(|acts| {
        let identifier = Identifier::parse("5534991230001").expect("acceptable");
        let id = ContactId::new(Uuid::nil());
        let now = Timestamp::from_millis(0);
        let new = Contact::new(id, company(), Platform::whatsapp(), identifier, None, now);
        acts.into_iter().fold(ConversationState::of(&new), ConversationState::after)
    })
}

/// Contacts with a phone, in any state of their conversation.
pub fn contacts() -> impl Strategy<Value = Contact> {
    let words = (select(Priority::ALL), select(CrmStatus::ALL), any::<[bool; 4]>());
    let people = (ids(ContactId::new), phones(), names(), maybe(emails()));
    (people, words, conversation_states(), times(), maybe(times())).prop_map(
        |((id, phone, name, email), (priority, crm_status, flags), state, made, wrote)| {
            let identifier = Identifier::of_phone(&phone);
            let channel = Platform::whatsapp();
            let mut contact = Contact::new(id, company(), channel, identifier, Some(phone), made);
            (contact.name, contact.email) = (name, email);
            (contact.priority, contact.crm_status) = (priority, crm_status);
            let [archived, pinned, muted, simulated] = flags;
            (contact.is_archived, contact.is_pinned) = (archived, pinned);
            (contact.is_muted, contact.is_simulated) = (muted, simulated);
            let wrote = wrote.map(|at| at.max(made));
            (contact.first_message_at, contact.last_message_at) = (wrote, wrote);
            contact.last_inbound_at = wrote;
            state.write_to(&mut contact);
            contact.derive();
            contact
        },
    )
}

/// Deals of one contact, with and without a stage.
pub fn deals() -> impl Strategy<Value = Deal> {
    let stage = maybe((ids(StageId::new), times()));
    (ids(DealId::new), stage, select(DealStatus::ALL), times(), names()).prop_map(
        |(id, stage, status, made, title)| Deal {
            id,
            company: company(),
            contact_id: ContactId::new(Uuid::from_u128(1)),
            title,
            stage_id: stage.map(|(stage, _)| stage),
            stage_entered_at: stage.map(|(_, entered)| entered),
            status,
            created_at: made,
            updated_at: made,
        },
    )
}

/// Templates with none to three variables.
pub fn templates() -> impl Strategy<Value = Template> {
    let text = vec("[A-Za-zçãé!,]{1,8}", 1..4).prop_map(|words| {
        let with_variable = |(n, word): (usize, &String)| match n {
            0 => word.clone(),
            n => format!(" {{{{{n}}}}} {word}"),
        };
        words.iter().enumerate().map(with_variable).collect::<String>()
    });
    let words = (select(TemplateCategory::ALL), select(TemplateStatus::ALL));
    (ids(TemplateId::new), "[a-z_]{1,12}", select(vec!["pt_BR", "en"]), text, words, times())
        .prop_map(|(id, name, language, body, (category, status), made)| Template {
            id,
            company: company(),
            name,
            category,
            language: language.to_owned(),
            body,
            components: crate::templates::Components::default(),
            status,
            connection: None,
            provider_id: None,
            needs: crate::templates::TemplateNeeds::default(),
            token_hash: TemplateTokenHash::from_bytes([7; 32]),
            created_at: made,
            updated_at: made,
        })
}

/// A debit of the ledger and the refunds of it: together they never refund more than was spent. The
/// debit is the first line and holds the sum of its refunds.
pub fn ledgers() -> impl Strategy<Value = Vec<LedgerLine>> {
    let scope = select(ProsaScope::ALL);
    let amounts = (0..=10_000_i64, 0..=10_000_i64, vec((0..=100_i64, 0..=100_i64), 0..4));
    (amounts, scope, maybe(ids(ContactId::new)), times()).prop_map(
        |((prosas, cost, parts), scope, contact, at)| {
            let line = |n: u128, kind, prosas, cost| LedgerLine {
                id: LedgerLineId::new(Uuid::from_u128(n)),
                company: company(),
                consumption_id: LedgerLineId::new(Uuid::from_u128(1)),
                kind,
                scope,
                prosas: Prosas::from_units(prosas),
                cost: Brl::from_units(cost),
                refunded: (Prosas::ZERO, Brl::ZERO),
                contact,
                campaign: None,
                description: None,
                created_at: at,
            };
            let mut lines = vec![line(1, LineKind::Debit, prosas, cost)];
            let mut left = (prosas, cost);
            for (n, (of_prosas, of_cost)) in (2..).zip(parts) {
                let back = (left.0 * of_prosas / 100, left.1 * of_cost / 100);
                left = (left.0 - back.0, left.1 - back.1);
                lines.push(line(n, LineKind::Refund, -back.0, -back.1));
            }
            lines[0].refunded =
                (Prosas::from_units(prosas - left.0), Brl::from_units(cost - left.1));
            lines
        },
    )
}
