//! When a delivery is tried again, and when it is given up (3.3, 8, D52a, D53, D56a, D74).

use std::time::Duration;

use super::{Attempt, AttemptOutcome, Delivery, DeliveryStatus};
use crate::Timestamp;
use crate::webhooks::WebhookState;

/// The attempts of one series: the first and four more (8).
pub const ATTEMPTS: u32 = 5;
/// How many attempts the log keeps (R65).
pub const MAX_LOG: usize = 50;

/// The waits between the attempts of a series (8, R75).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryWaits(pub [Duration; ATTEMPTS as usize - 1]);

impl Default for RetryWaits {
    fn default() -> Self {
        Self([30, 120, 600, 1_800].map(Duration::from_secs))
    }
}

impl RetryWaits {
    /// The wait after this many attempts of a series; `None` when they were all.
    pub fn after(&self, tries: u32) -> Option<Duration> {
        let index = usize::try_from(tries.checked_sub(1)?).ok()?;
        self.0.get(index).copied()
    }
}

/// The delivery after an attempt (3.3): delivered, or due again after the wait, counted from the
/// attempt's end, or given up after the fifth.
#[must_use]
pub fn after_attempt(
    delivery: &Delivery,
    outcome: &AttemptOutcome,
    waits: &RetryWaits,
) -> Delivery {
    let mut after = delivery.clone();
    after.attempts = after.attempts.saturating_add(1);
    after.tries = after.tries.saturating_add(1);
    note(&mut after, outcome.entry(delivery.attempts.saturating_add(1)));
    if outcome.is_delivered() {
        after.status = DeliveryStatus::Delivered;
        after.due_at = None;
        after.delivered_at = Some(outcome.ended_at);
    } else if let Some(wait) = waits.after(after.tries) {
        after.due_at = Some(outcome.ended_at.plus(wait));
    } else {
        after.status = DeliveryStatus::Failed;
        after.due_at = None;
    }
    after
}

/// A finished delivery at the beginning of a new series; the count and the log continue (D56a).
#[must_use]
pub fn redelivered(delivery: &Delivery, now: Timestamp) -> Delivery {
    Delivery {
        status: DeliveryStatus::Pending,
        tries: 0,
        due_at: Some(now),
        delivered_at: None,
        ..delivery.clone()
    }
}

/// A pending delivery whose webhook was deleted: given up without another attempt (D52a).
#[must_use]
pub fn cancelled(delivery: &Delivery) -> Delivery {
    Delivery { status: DeliveryStatus::Failed, due_at: None, ..delivery.clone() }
}

/// Whether a pending delivery of an event about a contact is given up when the contact is deleted
/// (D74): one that an operator began again, because its receiver has had it before; and one that
/// waits for an inactive webhook, because nobody knows for how long. The others go on until they
/// are finished (D26).
pub fn is_withdrawn(delivery: &Delivery, webhook: WebhookState) -> bool {
    delivery.status == DeliveryStatus::Pending
        && (delivery.is_redelivery() || webhook != WebhookState::Active)
}

/// An attempt whose delivery was written by another process or caller while it was under way.
#[derive(Clone, Copy, Debug)]
pub struct LateAttempt<'a> {
    /// The delivery as the attempt found it.
    pub before: &'a Delivery,
    /// The delivery as the attempt would have left it.
    pub after: &'a Delivery,
    /// Whether the request may have reached the receiver.
    pub arrived: bool,
}

/// A delivery as it is stored (`known`), with an attempt that was under way when it was written:
/// because it was cancelled (D52a), or because another process took it over and tried it too. The
/// attempt is counted and logged, so that both processes together stay within the five of a series
/// (D53). If the receiver accepted either attempt, the delivery is delivered. If an operator has
/// begun another series meanwhile, that series keeps its attempts and its status.
///
/// What the receiver answered is not kept of a delivery that is finished by then, to no attempt:
/// its event may have been erased already, or be erased at this moment (R195).
///
/// `None` when there is nothing to add: no attempt was made, it is in the log already, or it
/// reached nobody and another process made one in its place.
pub fn overtaken(known: &Delivery, late: &LateAttempt<'_>, waits: &RetryWaits) -> Option<Delivery> {
    let LateAttempt { before, after, arrived } = late;
    let made = after.attempts > before.attempts;
    let attempt = after.log.last().filter(|_| made)?;
    // The answer in the log may have been erased.
    let bare = attempt.clone().without_answer();
    let is_it = |entry: &Attempt| {
        let entry_bare = entry.clone().without_answer();
        entry.attempt > before.attempts && Attempt { attempt: bare.attempt, ..entry_bare } == bare
    };
    // The commit that recorded it may have been made although it seemed to fail.
    if known.log.iter().any(is_it) || (!arrived && known.attempts > before.attempts) {
        return None;
    }
    let mut both = known.clone();
    both.attempts = both.attempts.saturating_add(1);
    note(&mut both, Attempt { attempt: known.attempts.saturating_add(1), ..attempt.clone() });
    if known.status != DeliveryStatus::Pending {
        both.log = both.log.into_iter().map(Attempt::without_answer).collect();
    }
    if known.earlier_attempts() != before.earlier_attempts() {
        return Some(both);
    }
    both.tries = both.tries.saturating_add(1);
    if known.status == DeliveryStatus::Delivered {
        return Some(both);
    }
    if after.status == DeliveryStatus::Delivered {
        both.status = DeliveryStatus::Delivered;
        both.due_at = None;
        both.delivered_at = after.delivered_at;
    } else if known.status == DeliveryStatus::Pending {
        let wait = waits.after(both.tries);
        both.due_at = known.due_at.max(wait.map(|wait| attempt.ended_at().plus(wait)));
        if wait.is_none() {
            both.status = DeliveryStatus::Failed;
            both.due_at = None;
        }
    }
    Some(both)
}

fn note(delivery: &mut Delivery, entry: Attempt) {
    delivery.log.push(entry);
    let surplus = delivery.log.len().saturating_sub(MAX_LOG);
    delivery.log.drain(..surplus);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use uuid::Uuid;

    use super::*;
    use crate::events::EventType;
    use crate::ids::{CompanyId, DeliveryId, EventId, WebhookId};
    use crate::transport::{OutboundResponse, TransportError};

    const START: Timestamp = Timestamp::from_millis(1_763_000_000_000);

    fn delivery() -> Delivery {
        Delivery::new(
            DeliveryId::new(Uuid::from_u128(1)),
            CompanyId::new(Uuid::from_u128(2)),
            WebhookId::new(Uuid::from_u128(3)),
            EventId::new(Uuid::from_u128(4)),
            EventType::ContactCreated,
            START,
        )
    }

    fn answered(status: u16, at: Timestamp) -> AttemptOutcome {
        let answer = Ok(OutboundResponse::new(status, b"answer".to_vec()));
        AttemptOutcome { started_at: at, ended_at: at.plus(Duration::from_millis(40)), answer }
    }

    /// 3.3.
    #[test]
    fn the_waits_are_30_seconds_2_10_and_30_minutes_from_the_end_of_the_attempt() {
        let (mut delivery, mut now, mut waits) = (delivery(), START, Vec::new());
        while delivery.status == DeliveryStatus::Pending {
            let outcome = answered(500, now);
            delivery = after_attempt(&delivery, &outcome, &RetryWaits::default());
            if let Some(due) = delivery.due_at {
                waits.push(due.since(outcome.ended_at).as_secs());
                now = due;
            }
        }
        assert_eq!(waits, [30, 120, 600, 1_800]);
        assert_eq!((delivery.status, delivery.attempts), (DeliveryStatus::Failed, ATTEMPTS));
    }

    /// R75.
    #[test]
    fn a_wait_is_that_of_the_moment_at_which_an_attempt_fails() {
        let short = RetryWaits([Duration::from_secs(1); 4]);
        let first = answered(500, START);
        let failed = after_attempt(&delivery(), &first, &short);
        assert_eq!(failed.due_at, Some(first.ended_at.plus(Duration::from_secs(1))));
        let second = answered(500, START.plus(Duration::from_secs(5)));
        let failed = after_attempt(&failed, &second, &RetryWaits::default());
        assert_eq!(failed.due_at, Some(second.ended_at.plus(Duration::from_secs(120))));
    }

    #[test]
    fn a_redelivery_has_five_attempts_of_its_own_and_the_count_goes_on() {
        let mut delivery =
            after_attempt(&delivery(), &answered(200, START), &RetryWaits::default());
        assert_eq!(delivery.delivered_at, Some(START.plus(Duration::from_millis(40))));
        delivery = redelivered(&delivery, START.plus(Duration::from_secs(60)));
        assert_eq!((delivery.delivered_at, delivery.is_fresh()), (None, false));
        for _ in 0..5 {
            assert_eq!(delivery.status, DeliveryStatus::Pending);
            delivery = after_attempt(&delivery, &answered(404, START), &RetryWaits::default());
        }
        assert_eq!((delivery.status, delivery.attempts), (DeliveryStatus::Failed, 6));
        let numbers: Vec<u32> = delivery.log.iter().map(|entry| entry.attempt).collect();
        assert_eq!(numbers, [1, 2, 3, 4, 5, 6]);
    }

    /// What is stored when an attempt that found `before` ends while `known` is stored.
    fn merged(before: &Delivery, known: &Delivery, outcome: &AttemptOutcome) -> Option<Delivery> {
        let waits = RetryWaits::default();
        let after = after_attempt(before, outcome, &waits);
        let late = LateAttempt { before, after: &after, arrived: outcome.may_have_arrived() };
        overtaken(known, &late, &waits)
    }

    /// A delivery with as many failed attempts.
    fn failed_times(tries: u32) -> Delivery {
        (0..tries).fold(delivery(), |delivery, _| {
            after_attempt(&delivery, &answered(500, START), &RetryWaits::default())
        })
    }

    fn later(seconds: u64) -> Timestamp {
        START.plus(Duration::from_secs(seconds))
    }

    #[test]
    fn an_attempt_that_was_under_way_when_its_delivery_was_given_up_is_kept() {
        let before = delivery();
        let given_up = cancelled(&before);
        let mut taken = after_attempt(&before, &answered(204, START), &RetryWaits::default());
        taken.log = taken.log.into_iter().map(Attempt::without_answer).collect();
        assert_eq!(merged(&before, &given_up, &answered(204, START)), Some(taken));
        let kept = merged(&before, &given_up, &answered(500, START)).expect("kept");
        assert_eq!((kept.status, kept.attempts, kept.due_at), (DeliveryStatus::Failed, 1, None));
    }

    /// R195.
    #[test]
    fn what_a_receiver_answered_is_kept_only_while_its_delivery_is_pending() {
        let before = delivery();
        let answer = |known: &Delivery| {
            let both = merged(&before, known, &answered(500, later(1))).expect("recorded");
            both.log.last().and_then(|entry| entry.response.clone())
        };
        assert_eq!(answer(&failed_times(1)).as_deref(), Some("answer"));
        assert_eq!(answer(&cancelled(&before)), None, "its event may be erased already");
        let finished = failed_times(ATTEMPTS);
        let both = merged(&before, &finished, &answered(500, later(1))).expect("recorded");
        assert!(both.log.iter().all(|entry| entry.response.is_none()), "nor of earlier attempts");
    }

    /// R195.
    #[test]
    fn an_attempt_whose_answer_was_erased_is_not_counted_again() {
        let outcome = answered(200, START);
        let mut known = after_attempt(&delivery(), &outcome, &RetryWaits::default());
        known.log = known.log.into_iter().map(Attempt::without_answer).collect();
        assert_eq!(merged(&delivery(), &known, &outcome), None);
    }

    /// D53.
    #[test]
    fn an_attempt_that_another_process_made_too_counts_as_one_of_the_five() {
        for tries in 0..ATTEMPTS - 1 {
            let before = failed_times(tries);
            let known = after_attempt(&before, &answered(500, later(5)), &RetryWaits::default());
            let both = merged(&before, &known, &answered(503, later(1))).expect("counted");
            assert_eq!((both.attempts, both.tries), (tries + 2, tries + 2));
            let numbers: Vec<u32> = both.log.iter().map(|entry| entry.attempt).collect();
            assert_eq!(numbers, (1..=tries + 2).collect::<Vec<u32>>());
            assert_eq!(both.log.last().and_then(|entry| entry.status_code), Some(503));
            let is_over = tries + 2 == ATTEMPTS;
            assert_eq!(both.status == DeliveryStatus::Failed, is_over, "after {tries}");
            assert_eq!(both.due_at.is_none(), is_over);
            assert!(is_over || both.due_at >= known.due_at);
        }
    }

    /// D53.
    #[test]
    fn the_wait_after_two_attempts_at_once_is_the_one_after_the_second() {
        let known = after_attempt(&delivery(), &answered(500, START), &RetryWaits::default());
        let late = answered(500, later(7));
        let both = merged(&delivery(), &known, &late).expect("counted");
        assert_eq!(both.due_at, Some(late.ended_at.plus(Duration::from_secs(120))));
    }

    #[test]
    fn a_delivery_that_either_process_delivered_is_delivered() {
        let (taken, refused) = (answered(200, later(1)), answered(500, later(5)));
        let waits = RetryWaits::default();
        let by_other = after_attempt(&delivery(), &taken, &waits);
        let both = merged(&delivery(), &by_other, &refused).expect("counted");
        assert_eq!((both.status, both.attempts), (DeliveryStatus::Delivered, 2));
        assert_eq!(both.delivered_at, Some(taken.ended_at));
        for known in [after_attempt(&delivery(), &refused, &waits), failed_times(ATTEMPTS)] {
            let both = merged(&delivery(), &known, &taken).expect("counted");
            assert_eq!((both.status, both.due_at), (DeliveryStatus::Delivered, None));
            assert_eq!(
                (both.attempts, both.delivered_at),
                (known.attempts + 1, Some(taken.ended_at))
            );
        }
    }

    /// D53.
    #[test]
    fn an_attempt_that_reached_nobody_and_was_made_by_another_process_is_not_counted() {
        let refused =
            AttemptOutcome { answer: Err(TransportError::Refused), ..answered(0, later(9)) };
        let known = after_attempt(&delivery(), &answered(500, START), &RetryWaits::default());
        assert_eq!(merged(&delivery(), &known, &refused), None);
        let cut_off = TransportError::TimedOut { after_sending: true };
        let silent = AttemptOutcome { answer: Err(cut_off), ..refused };
        assert_eq!(merged(&delivery(), &known, &silent).map(|both| both.attempts), Some(2));
    }

    #[test]
    fn an_attempt_is_not_counted_again_when_its_commit_only_seemed_to_fail() {
        let outcome = answered(500, START);
        let known = after_attempt(&delivery(), &outcome, &RetryWaits::default());
        assert_eq!(merged(&delivery(), &known, &outcome), None);
        let other = answered(500, later(1));
        let both = merged(&delivery(), &known, &other).expect("counted");
        assert_eq!(merged(&delivery(), &both, &other), None, "under whatever number");
        let (before, waits) = (delivery(), RetryWaits::default());
        let none = LateAttempt { before: &before, after: &cancelled(&before), arrived: false };
        assert_eq!(overtaken(&known, &none, &waits), None, "no attempt was made");
    }

    /// D56a.
    #[test]
    fn an_attempt_of_an_earlier_series_takes_none_of_a_redelivery() {
        let again = redelivered(&failed_times(ATTEMPTS), later(100));
        let both = merged(&failed_times(4), &again, &answered(200, later(9))).expect("logged");
        assert_eq!((both.status, both.tries, both.due_at), (again.status, 0, again.due_at));
        assert_eq!((both.attempts, both.log.len()), (6, 6));
    }

    /// D26, D74.
    #[test]
    fn a_deleted_contacts_redeliveries_and_what_waits_for_an_inactive_webhook_are_withdrawn() {
        let finished = failed_times(ATTEMPTS);
        let again = redelivered(&finished, START);
        let going = after_attempt(&again, &answered(500, START), &RetryWaits::default());
        for (delivery, active, inactive) in [
            (delivery(), false, true),
            (failed_times(3), false, true),
            (again, true, true),
            (going, true, true),
            (finished, false, false),
        ] {
            let case = format!("{} of {}", delivery.tries, delivery.attempts);
            assert_eq!(is_withdrawn(&delivery, WebhookState::Active), active, "{case}");
            assert_eq!(is_withdrawn(&delivery, WebhookState::Inactive), inactive, "{case}");
        }
    }

    /// R65.
    #[test]
    fn the_log_keeps_the_newest_attempts() {
        let mut delivery = delivery();
        for _ in 0..70 {
            delivery = redelivered(&delivery, START);
            delivery = after_attempt(&delivery, &answered(200, START), &RetryWaits::default());
        }
        assert_eq!(delivery.log.len(), MAX_LOG);
        assert_eq!(delivery.log.last().map(|entry| entry.attempt), Some(70));
    }

    proptest! {
        #[test]
        fn only_a_status_of_the_200s_delivers(status in 100_u16..1_000) {
            let after = after_attempt(&delivery(), &answered(status, START), &RetryWaits::default());
            let delivered = after.status == DeliveryStatus::Delivered;
            prop_assert_eq!(delivered, (200..300).contains(&status));
            prop_assert_eq!(after.queued_at().is_none(), delivered);
        }

        #[test]
        fn a_series_never_has_more_than_five_attempts(statuses in prop::collection::vec(prop_oneof![Just(None), (200_u16..600).prop_map(Some)], 1..12)) {
            let mut delivery = delivery();
            for status in statuses {
                if delivery.status != DeliveryStatus::Pending {
                    break;
                }
                let outcome = match status {
                    Some(status) => answered(status, START),
                    None => AttemptOutcome {
                        started_at: START,
                        ended_at: START,
                        answer: Err(TransportError::Refused),
                    },
                };
                delivery = after_attempt(&delivery, &outcome, &RetryWaits::default());
            }
            prop_assert!(delivery.tries <= ATTEMPTS);
            prop_assert_eq!(delivery.log.len(), delivery.attempts as usize);
            prop_assert_eq!(delivery.due_at.is_some(), delivery.status == DeliveryStatus::Pending);
        }
    }
}
