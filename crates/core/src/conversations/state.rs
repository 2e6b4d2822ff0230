//! The conversation of a contact as one state machine (3.1, 3.4, D41–D44).

use std::time::Duration;

use super::act::{Act, AiMode};
use crate::Timestamp;
use crate::contacts::{Contact, InboxStatus};
use crate::ids::{CloseReasonId, MemberId};

/// An echo counts as the operator's reply only later than this after the contact's last message.
pub const ECHO_AFTER: Duration = Duration::from_secs(5);
/// An echo counts as the operator's reply only sooner than this after the contact's last message.
pub const ECHO_BEFORE: Duration = Duration::from_secs(10 * 60);

/// The part of a contact that its conversation changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConversationState {
    /// Whether the conversation is open or resolved.
    pub inbox_status: InboxStatus,
    /// The member it is assigned to.
    pub assignee: Option<MemberId>,
    /// Whether the service's AI answers.
    pub is_ai_enabled: bool,
    /// Whether the company's own automation may send.
    pub external_ai_enabled: bool,
    /// Until when the service's AI is paused.
    pub ai_paused_until: Option<Timestamp>,
    /// Since when the contact has opted out.
    pub opted_out_at: Option<Timestamp>,
    /// Whether that block was announced by a backfill.
    pub opt_out_backfilled: bool,
    /// When a block was last lifted.
    pub opted_in_at: Option<Timestamp>,
    /// Whether the company blocked the contact.
    pub is_blocked: bool,
    /// When the conversation was last closed.
    pub last_closed_at: Option<Timestamp>,
    /// Why it was.
    pub last_close_reason: Option<CloseReasonId>,
}

impl ConversationState {
    /// The state of a contact.
    pub fn of(contact: &Contact) -> Self {
        Self {
            inbox_status: contact.inbox_status,
            assignee: contact.assigned_to_member_id,
            is_ai_enabled: contact.is_ai_enabled,
            external_ai_enabled: contact.external_ai_enabled,
            ai_paused_until: contact.ai_paused_until,
            opted_out_at: contact.opted_out_at,
            opt_out_backfilled: contact.opt_out_backfilled,
            opted_in_at: contact.opted_in_at,
            is_blocked: contact.is_blocked,
            last_closed_at: contact.last_closed_at,
            last_close_reason: contact.last_close_reason_id,
        }
    }

    /// Writes the state back.
    pub fn write_to(self, contact: &mut Contact) {
        contact.inbox_status = self.inbox_status;
        contact.assigned_to_member_id = self.assignee;
        contact.is_ai_enabled = self.is_ai_enabled;
        contact.external_ai_enabled = self.external_ai_enabled;
        contact.ai_paused_until = self.ai_paused_until;
        contact.opted_out_at = self.opted_out_at;
        contact.opt_out_backfilled = self.opt_out_backfilled;
        contact.opted_in_at = self.opted_in_at;
        contact.is_blocked = self.is_blocked;
        contact.last_closed_at = self.last_closed_at;
        contact.last_close_reason_id = self.last_close_reason;
    }

    /// The state after `act`. Total: every act is possible in every state.
    #[must_use]
    pub fn after(mut self, act: Act) -> Self {
        match act {
            Act::CustomerWrote => self.reopen_for_customer(),
            Act::TemplateSent => self.inbox_status = InboxStatus::Open,
            Act::AgentReplied { member } | Act::HandedOff { member } => {
                self.people_take_it();
                self.inbox_status = InboxStatus::Open;
                self.assignee = member.or(self.assignee);
            }
            Act::Echoed { is_reply } => {
                if is_reply {
                    self.people_take_it();
                }
                self.inbox_status = InboxStatus::Open;
            }
            Act::TakenOver { member } => {
                self.people_take_it();
                self.inbox_status = InboxStatus::Open;
                self.assignee = Some(member);
            }
            Act::Assigned { member } => self.assignee = member,
            Act::Closed { at, reason, member } => {
                self.inbox_status = InboxStatus::Resolved;
                self.last_closed_at = Some(at);
                self.last_close_reason = reason;
                self.assignee = member.or(self.assignee);
            }
            Act::AiPaused { until } => {
                self.ai_paused_until = Some(until);
                self.external_ai_enabled = false;
            }
            Act::AiResumed => self.ai_paused_until = None,
            Act::AiModePicked(mode) => {
                self.is_ai_enabled = mode == AiMode::Service;
                self.external_ai_enabled = mode == AiMode::External;
            }
            Act::ExternalAiEnabled => self.external_ai_enabled = true,
            Act::Blocked => self.is_blocked = true,
            Act::Unblocked => self.is_blocked = false,
            Act::OptedOut { at } => {
                self.opt_out(at, false);
                self.external_ai_enabled = false;
            }
            Act::OptOutBackfilled { at } => {
                self.opt_out(at, true);
                self.opt_out_backfilled = true;
            }
            Act::OptedIn { at } => {
                if self.opted_out_at.take().is_some() {
                    self.opt_out_backfilled = false;
                    self.opted_in_at = Some(at);
                }
            }
        }
        self
    }

    /// Whether the service's AI answers the contact: it is on, and no pause of it lies ahead. The
    /// external AI says nothing about it (D42).
    pub fn service_ai_answers(&self, now: Timestamp) -> bool {
        self.is_ai_enabled && self.ai_paused_until.is_none_or(|until| until <= now)
    }

    /// Whether `act` makes a block that has to be announced (3.4: once per block, D43): a request
    /// while there is none, or a backfill that this block has not had yet.
    pub const fn announces_opt_out(&self, act: &Act) -> bool {
        match act {
            Act::OptedOut { .. } => self.opted_out_at.is_none(),
            Act::OptOutBackfilled { .. } => self.opted_out_at.is_none() || !self.opt_out_backfilled,
            _ => false,
        }
    }

    /// 3.1, D41: a reply after closing reopens it with no assignee and with the AI off.
    fn reopen_for_customer(&mut self) {
        if self.inbox_status == InboxStatus::Resolved {
            self.inbox_status = InboxStatus::Open;
            self.assignee = None;
            self.is_ai_enabled = false;
        }
    }

    /// 3.4, D42: from here on people answer, not the automation.
    const fn people_take_it(&mut self) {
        self.external_ai_enabled = false;
        self.is_ai_enabled = false;
    }

    /// A block that exists already stays as it is (D43).
    const fn opt_out(&mut self, at: Timestamp, backfilled: bool) {
        if self.opted_out_at.is_none() {
            self.opted_out_at = Some(at);
            self.opt_out_backfilled = backfilled;
            self.external_ai_enabled = false;
        }
    }
}

/// Whether an echo at `echoed_at` counts as an operator's reply: strictly later than 5 seconds and
/// strictly sooner than 10 minutes after the contact's last message, both in the provider's time
/// (3.4, 8, D42a).
pub fn echo_is_reply(echoed_at: Timestamp, last_inbound: Option<Timestamp>) -> bool {
    last_inbound.is_some_and(|inbound| {
        let after = echoed_at.since(inbound);
        after > ECHO_AFTER && after < ECHO_BEFORE
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use uuid::Uuid;

    use super::*;
    use crate::strategies::acts;

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millis(millis)
    }

    fn fresh() -> ConversationState {
        ConversationState {
            inbox_status: InboxStatus::Open,
            assignee: None,
            is_ai_enabled: true,
            external_ai_enabled: true,
            ai_paused_until: None,
            opted_out_at: None,
            opt_out_backfilled: false,
            opted_in_at: None,
            is_blocked: false,
            last_closed_at: None,
            last_close_reason: None,
        }
    }

    /// The condition that every state of a conversation fulfils.
    fn is_legal(state: &ConversationState) -> bool {
        let resolved_was_closed =
            state.inbox_status == InboxStatus::Open || state.last_closed_at.is_some();
        let reason_has_time = state.last_close_reason.is_none() || state.last_closed_at.is_some();
        let backfill_has_block = !state.opt_out_backfilled || state.opted_out_at.is_some();
        resolved_was_closed && reason_has_time && backfill_has_block
    }

    fn takes_ai_from(act: &Act) -> bool {
        matches!(
            act,
            Act::AgentReplied { .. }
                | Act::HandedOff { .. }
                | Act::TakenOver { .. }
                | Act::Echoed { is_reply: true }
                | Act::AiPaused { .. }
                | Act::OptedOut { .. }
                | Act::AiModePicked(AiMode::Service | AiMode::Off)
        )
    }

    proptest! {
        #[test]
        fn no_walk_leads_into_an_illegal_state(walk in prop::collection::vec(acts(), 0..60)) {
            let mut state = fresh();
            for act in walk {
                state = state.after(act);
                prop_assert!(is_legal(&state), "after {act:?}: {state:?}");
            }
        }

        #[test]
        fn a_walk_announces_as_many_blocks_as_it_makes(
            walk in prop::collection::vec(acts(), 0..60),
        ) {
            let (mut state, mut announced, mut made, mut backfills) = (fresh(), 0, 0, 0);
            for act in walk {
                announced += u32::from(state.announces_opt_out(&act));
                let next = state.after(act);
                if state.opted_out_at.is_none() && next.opted_out_at.is_some() {
                    made += 1;
                } else if !state.opt_out_backfilled && next.opt_out_backfilled {
                    backfills += 1;
                }
                state = next;
            }
            prop_assert_eq!(announced, made + backfills);
        }

        /// 3.4.
        #[test]
        fn external_ai_comes_back_only_when_somebody_switches_it_on(
            walk in prop::collection::vec(acts(), 0..60),
        ) {
            let mut state = fresh();
            for act in walk {
                let next = state.after(act);
                if !state.external_ai_enabled && next.external_ai_enabled {
                    let on = matches!(
                        act,
                        Act::ExternalAiEnabled | Act::AiModePicked(AiMode::External)
                    );
                    prop_assert!(on, "{act:?} switched it on");
                }
                if takes_ai_from(&act) {
                    prop_assert!(!next.external_ai_enabled, "{act:?} left it on");
                }
                state = next;
            }
        }

        #[test]
        fn closing_facts_stay_when_a_conversation_reopens(
            walk in prop::collection::vec(acts(), 0..60),
        ) {
            let mut state = fresh();
            for act in walk {
                let next = state.after(act);
                if !matches!(act, Act::Closed { .. }) {
                    prop_assert_eq!(next.last_closed_at, state.last_closed_at);
                    prop_assert_eq!(next.last_close_reason, state.last_close_reason);
                }
                state = next;
            }
        }

        #[test]
        fn a_block_keeps_the_time_of_its_first_request(
            walk in prop::collection::vec(acts(), 0..60),
        ) {
            let mut state = fresh();
            for act in walk {
                let next = state.after(act);
                if let (Some(before), Some(after)) = (state.opted_out_at, next.opted_out_at) {
                    prop_assert_eq!(before, after);
                }
                state = next;
            }
        }

        /// 3.4.
        #[test]
        fn an_echo_is_a_reply_strictly_between_5_seconds_and_10_minutes(gap in -10_000_i64..700_000) {
            let inbound = at(1_000_000);
            let is_reply = echo_is_reply(at(1_000_000 + gap), Some(inbound));
            prop_assert_eq!(is_reply, gap > 5_000 && gap < 600_000);
        }
    }

    #[test]
    fn the_echo_window_is_exact_to_the_millisecond() {
        let inbound = Some(at(0));
        let edges = [(5_000, false), (5_001, true), (599_999, true), (600_000, false)];
        for (gap, reply) in edges {
            assert_eq!(echo_is_reply(at(gap), inbound), reply, "{gap} ms");
        }
        assert!(!echo_is_reply(at(60_000), None));
    }

    /// 3.1, D41.
    #[test]
    fn a_reply_after_closing_comes_back_unassigned_and_without_ai() {
        let member = MemberId::new(Uuid::from_u128(1));
        let closed = ConversationState {
            inbox_status: InboxStatus::Resolved,
            assignee: Some(member),
            last_closed_at: Some(at(1)),
            ..fresh()
        };
        let back = closed.after(Act::CustomerWrote);
        assert_eq!(back.inbox_status, InboxStatus::Open);
        assert_eq!((back.assignee, back.is_ai_enabled), (None, false));
        assert!(back.external_ai_enabled);
    }

    #[test]
    fn a_message_in_an_open_conversation_moves_nothing() {
        assert_eq!(fresh().after(Act::CustomerWrote), fresh());
    }

    /// D41.
    #[test]
    fn a_conversation_that_a_template_reopened_keeps_assignee_and_ai() {
        let member = Some(MemberId::new(Uuid::from_u128(1)));
        let closed = fresh().after(Act::Assigned { member }).after(Act::Closed {
            at: at(1),
            reason: None,
            member: None,
        });
        let reopened = closed.after(Act::TemplateSent).after(Act::CustomerWrote);
        assert_eq!((reopened.assignee, reopened.is_ai_enabled), (member, true));
    }

    #[test]
    fn lifting_a_block_leaves_the_external_ai_as_it_is() {
        let blocked = fresh().after(Act::OptedOut { at: at(1) });
        let lifted = blocked.after(Act::OptedIn { at: at(2) });
        assert_eq!((lifted.opted_out_at, lifted.external_ai_enabled), (None, false));
        assert!(lifted.announces_opt_out(&Act::OptedOut { at: at(3) }));
    }

    /// D43.
    #[test]
    fn a_repeated_request_takes_the_external_ai_again_and_a_backfill_leaves_it() {
        let back = fresh().after(Act::OptedOut { at: at(1) }).after(Act::ExternalAiEnabled);
        let again = back.after(Act::OptedOut { at: at(5) });
        assert_eq!((again.opted_out_at, again.external_ai_enabled), (Some(at(1)), false));
        assert!(back.after(Act::OptOutBackfilled { at: at(5) }).external_ai_enabled);
    }

    #[test]
    fn a_second_backfill_of_one_block_announces_nothing() {
        let act = Act::OptOutBackfilled { at: at(5) };
        let blocked = fresh().after(Act::OptedOut { at: at(1) });
        assert!(blocked.announces_opt_out(&act));
        let backfilled = blocked.after(act);
        assert_eq!(backfilled.opted_out_at, Some(at(1)));
        assert!(!backfilled.announces_opt_out(&act));
    }

    /// D42.
    #[test]
    fn the_services_ai_goes_by_its_own_flags_and_the_clock() {
        let paused = fresh().after(Act::AiPaused { until: at(10) });
        for (now, answers) in [(0, false), (9, false), (10, true), (11, true)] {
            assert_eq!(paused.service_ai_answers(at(now)), answers, "{now}");
        }
        assert!(!paused.external_ai_enabled, "which it does not go by");
        assert!(paused.after(Act::AiResumed).service_ai_answers(at(0)));
        for (mode, answers) in
            [(AiMode::Service, true), (AiMode::External, false), (AiMode::Off, false)]
        {
            let state = fresh().after(Act::AiModePicked(mode));
            assert_eq!(state.service_ai_answers(at(0)), answers, "{mode:?}");
        }
    }

    /// R22.
    #[test]
    fn the_modes_of_the_menu_leave_one_automation_at_most() {
        for (mode, service, external) in [
            (AiMode::Service, true, false),
            (AiMode::External, false, true),
            (AiMode::Off, false, false),
        ] {
            let state = fresh().after(Act::AiModePicked(mode));
            assert_eq!((state.is_ai_enabled, state.external_ai_enabled), (service, external));
        }
    }
}
