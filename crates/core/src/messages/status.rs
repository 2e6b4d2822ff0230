//! The changes of a message's status (3.2, D28).

use super::{DeliveryCode, Failure, Message, MessageStatus, StatusReport};

/// A real change of a message: of its status, or of why it failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatusStep {
    /// The status before.
    pub previous: MessageStatus,
    /// The status after.
    pub status: MessageStatus,
    /// The failure after the change; `None` unless the message is failed now.
    pub failure: Option<Failure>,
}

impl StatusStep {
    /// The message after the step; it has no sending process any more.
    #[must_use]
    pub fn apply(&self, message: &Message) -> Message {
        Message {
            status: self.status,
            failure: self.failure.clone(),
            sender: None,
            ..message.clone()
        }
    }

    /// Whether the status itself changed, so that `message.status_updated` is sent (6). It did not
    /// if only the reason of a failure changed.
    pub fn is_reported(&self) -> bool {
        self.previous != self.status
    }
}

/// The position of a status in the order pending, sent, delivered, read; `None` for other statuses.
const fn rank(status: MessageStatus) -> Option<u8> {
    match status {
        MessageStatus::Pending => Some(0),
        MessageStatus::Sent => Some(1),
        MessageStatus::Delivered => Some(2),
        MessageStatus::Read => Some(3),
        MessageStatus::Failed | MessageStatus::Received => None,
    }
}

/// What a report changes about a message with this status and failure; `None` when it changes
/// nothing (D28).
///
/// The order is pending, sent, delivered, read, and a message never goes back in it. It fails only
/// while pending or sent. A failure is final, unless it was recorded because the outcome was
/// unknown. Such a failure is replaced by proof that the message was sent, or by the reason why it
/// surely was not, which is final (R137). The status of inbound messages never changes.
pub fn advance(
    current: MessageStatus,
    failure: Option<&Failure>,
    reported: &StatusReport,
) -> Option<StatusStep> {
    let moves = match (current, reported.status) {
        (MessageStatus::Received, _) | (_, MessageStatus::Received | MessageStatus::Pending) => {
            false
        }
        (MessageStatus::Failed, to) => {
            let is_known = to != MessageStatus::Failed
                || !reported.failure.as_ref().is_some_and(Failure::is_uncertain);
            is_known && failure.is_some_and(Failure::is_uncertain)
        }
        (MessageStatus::Pending | MessageStatus::Sent, MessageStatus::Failed) => true,
        (_, MessageStatus::Failed) => false,
        (from, to) => rank(from) < rank(to),
    };
    moves.then(|| StatusStep {
        previous: current,
        status: reported.status,
        failure: (reported.status == MessageStatus::Failed).then(|| {
            reported.failure.clone().unwrap_or_else(|| Failure::new(DeliveryCode::Unknown, None))
        }),
    })
}

/// One report made of two, of which `kept` came first: applied to a pending or sent message, it has
/// the same effect as both in turn (R30, 3.2).
#[must_use]
pub fn merge_reports(kept: StatusReport, new: &StatusReport) -> StatusReport {
    match advance(kept.status, kept.failure.as_ref(), new) {
        Some(step) => StatusReport { status: step.status, failure: step.failure },
        None => kept,
    }
}

/// The steps that are reported one by one: a pending message that is reported delivered or read was
/// sent before (D28, R31).
pub(crate) fn steps(step: StatusStep) -> Vec<StatusStep> {
    let was_sent = matches!(step.status, MessageStatus::Delivered | MessageStatus::Read);
    if step.previous == MessageStatus::Pending && was_sent {
        let sent = MessageStatus::Sent;
        vec![
            StatusStep { previous: step.previous, status: sent, failure: None },
            StatusStep { previous: sent, ..step },
        ]
    } else {
        vec![step]
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::*;

    type State = (MessageStatus, Option<Failure>);

    const WAY: [MessageStatus; 4] = [
        MessageStatus::Pending,
        MessageStatus::Sent,
        MessageStatus::Delivered,
        MessageStatus::Read,
    ];

    fn report(status: MessageStatus) -> StatusReport {
        let failure = (status == MessageStatus::Failed)
            .then(|| Failure::new(DeliveryCode::RecipientUnreachable, None));
        StatusReport { status, failure }
    }

    fn uncertain() -> StatusReport {
        StatusReport { status: MessageStatus::Failed, failure: Some(Failure::uncertain(None)) }
    }

    fn after(state: State, reported: &StatusReport) -> State {
        match advance(state.0, state.1.as_ref(), reported) {
            Some(step) => (step.status, step.failure),
            None => state,
        }
    }

    fn all(state: State, reports: &[StatusReport]) -> State {
        reports.iter().fold(state, after)
    }

    fn reports() -> impl Strategy<Value = StatusReport> {
        let plain = select(MessageStatus::ALL).prop_map(report);
        prop_oneof![4 => plain, 1 => Just(uncertain())]
    }

    /// A report of a provider: never pending or received.
    fn provider_reports() -> impl Strategy<Value = StatusReport> {
        reports().prop_filter("reported by no provider", |report| {
            !matches!(report.status, MessageStatus::Pending | MessageStatus::Received)
        })
    }

    fn starts() -> impl Strategy<Value = State> {
        let failed = |code| (MessageStatus::Failed, Some(Failure::new(code, None)));
        prop_oneof![
            select(&WAY[..]).prop_map(|status| (status, None)),
            Just((MessageStatus::Received, None)),
            Just(failed(DeliveryCode::Network)),
            Just(failed(DeliveryCode::DeliveryUncertain)),
        ]
    }

    /// 3.2.
    #[test]
    fn every_pair_of_statuses_moves_as_the_rule_says() {
        use MessageStatus::{Delivered, Failed, Pending, Read, Received, Sent};
        let allowed = [
            (Pending, Sent),
            (Pending, Delivered),
            (Pending, Read),
            (Pending, Failed),
            (Sent, Delivered),
            (Sent, Read),
            (Sent, Failed),
            (Delivered, Read),
        ];
        let final_failure = Failure::new(DeliveryCode::Media, None);
        for &from in MessageStatus::ALL {
            for &to in MessageStatus::ALL {
                let failure = (from == Failed).then_some(&final_failure);
                let moved = advance(from, failure, &report(to)).is_some();
                assert_eq!(moved, allowed.contains(&(from, to)), "{from} to {to}");
            }
            assert_eq!(advance(from, None, &report(Received)), None);
        }
    }

    #[test]
    fn proof_that_an_uncertain_message_was_sent_clears_its_failure() {
        let failure = Failure::uncertain(None);
        for status in [MessageStatus::Sent, MessageStatus::Delivered, MessageStatus::Read] {
            let step = advance(MessageStatus::Failed, Some(&failure), &report(status));
            let step = step.expect("the message moves on");
            assert_eq!((step.status, step.failure.clone()), (status, None));
        }
        assert_eq!(advance(MessageStatus::Failed, Some(&failure), &uncertain()), None);
    }

    #[test]
    fn a_sure_failure_replaces_one_that_nobody_was_sure_of_and_stays() {
        let unsure = (MessageStatus::Failed, Some(Failure::uncertain(None)));
        let failed = report(MessageStatus::Failed);
        let step = advance(unsure.0, unsure.1.as_ref(), &failed).expect("the reason changes");
        assert_eq!((step.status, &step.failure), (MessageStatus::Failed, &failed.failure));
        assert!(!step.is_reported(), "its status is what it was");
        let bare = StatusReport { status: MessageStatus::Failed, failure: None };
        let unknown = Some(Failure::new(DeliveryCode::Unknown, None));
        assert_eq!(after(unsure.clone(), &bare), (MessageStatus::Failed, unknown));
        // `sent` and `failed` have the same result in either order.
        for order in [
            [MessageStatus::Sent, MessageStatus::Failed],
            [MessageStatus::Failed, MessageStatus::Sent],
        ] {
            let reports = order.map(report);
            assert_eq!(
                all(unsure.clone(), &reports),
                (MessageStatus::Failed, failed.failure.clone())
            );
        }
        let late = [MessageStatus::Sent, MessageStatus::Delivered, MessageStatus::Read].map(report);
        assert_eq!(all(after(unsure, &failed), &late), (MessageStatus::Failed, failed.failure));
    }

    #[test]
    fn a_reported_failure_without_a_reason_has_an_unknown_one() {
        let bare = StatusReport { status: MessageStatus::Failed, failure: None };
        let step = advance(MessageStatus::Sent, None, &bare).expect("it fails");
        assert_eq!(step.failure, Some(Failure::new(DeliveryCode::Unknown, None)));
    }

    proptest! {
        #[test]
        fn reports_without_failures_end_at_the_furthest_in_any_order_and_repetition(
            start in select(&WAY[..]),
            sequence in prop::collection::vec(select(&WAY[1..]), 0..12),
        ) {
            let furthest = sequence.iter().copied().fold(start, MessageStatus::max);
            let reports: Vec<StatusReport> = sequence.into_iter().map(report).collect();
            prop_assert_eq!(all((start, None), &reports), (furthest, None));
        }

        /// A final failure stays, unless the message was reported delivered before it: with
        /// failures among the reports the order counts, and only in this way.
        #[test]
        fn a_final_failure_stands_exactly_when_nothing_was_delivered_before_it(
            start in select(&WAY[..2]),
            sequence in prop::collection::vec(
                select(&MessageStatus::ALL[1..5]),
                0..12,
            ),
        ) {
            let failed = sequence.iter().position(|s| *s == MessageStatus::Failed);
            let delivered = sequence.iter().position(|s| rank(*s) >= Some(2));
            let stands = failed.is_some_and(|f| delivered.is_none_or(|d| f < d));
            let reports: Vec<StatusReport> = sequence.into_iter().map(report).collect();
            let (end, failure) = all((start, None), &reports);
            prop_assert_eq!(end == MessageStatus::Failed, stands);
            prop_assert_eq!(failure.is_some(), stands);
        }

        /// R112.
        #[test]
        fn an_uncertain_end_never_hides_proof_of_the_message_in_any_order(
            sequence in prop::collection::vec(
                prop_oneof![select(&WAY[1..]).prop_map(report), Just(uncertain())], 1..12,
            ).prop_shuffle(),
        ) {
            let (end, failure) = all((MessageStatus::Pending, None), &sequence);
            let furthest =
                sequence.iter().filter_map(|r| rank(r.status)).max().unwrap_or_default();
            if furthest >= 2 {
                prop_assert_eq!(rank(end), Some(furthest));
            }
            prop_assert_eq!(failure.is_some(), end == MessageStatus::Failed);
        }

        #[test]
        fn the_same_report_again_changes_nothing(
            start in starts(),
            before in prop::collection::vec(reports(), 0..6),
            repeated in reports(),
        ) {
            let once = after(all(start, &before), &repeated);
            prop_assert_eq!(advance(once.0, once.1.as_ref(), &repeated), None);
        }

        #[test]
        fn a_final_state_stays_whatever_is_reported(
            state in prop_oneof![
                Just((MessageStatus::Read, None)),
                Just((MessageStatus::Received, None)),
                Just((MessageStatus::Failed, Some(Failure::new(DeliveryCode::Payment, None)))),
            ],
            reports in prop::collection::vec(reports(), 0..12),
        ) {
            prop_assert_eq!(all(state.clone(), &reports), state);
        }

        #[test]
        fn a_failure_is_there_exactly_while_the_message_is_failed(
            start in starts(),
            reports in prop::collection::vec(reports(), 0..12),
        ) {
            let (status, failure) = all(start, &reports);
            prop_assert_eq!(failure.is_some(), status == MessageStatus::Failed);
        }

        /// R30.
        #[test]
        fn merged_reports_do_what_they_do_in_turn(
            start in select(&WAY[..2]),
            first in provider_reports(),
            rest in prop::collection::vec(provider_reports(), 0..8),
        ) {
            let in_turn = all(after((start, None), &first), &rest);
            let merged = rest.iter().fold(first, merge_reports);
            prop_assert_eq!(after((start, None), &merged), in_turn);
        }
    }
}
