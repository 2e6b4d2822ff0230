//! When a delivery is tried again, and when it is given up (3.3, 8, D52a, D53, D56a).

use std::time::Duration;

use super::{Attempt, AttemptOutcome, Delivery, DeliveryStatus};
use crate::Timestamp;

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

/// A delivery that was given up (`known`) while an attempt at it was under way that ended as
/// `after`: the attempt is counted and logged, and if the receiver accepted it, the delivery is
/// delivered. `None` when another process has recorded an attempt meanwhile.
pub fn overtaken(known: &Delivery, after: &Delivery) -> Option<Delivery> {
    if known.status != DeliveryStatus::Failed || known.attempts + 1 != after.attempts {
        return None;
    }
    let mut both = Delivery {
        attempts: after.attempts,
        tries: after.tries,
        log: after.log.clone(),
        ..known.clone()
    };
    if after.status == DeliveryStatus::Delivered {
        both.status = DeliveryStatus::Delivered;
        both.delivered_at = after.delivered_at;
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

    #[test]
    fn an_attempt_that_was_under_way_when_its_delivery_was_given_up_is_kept() {
        let before = delivery();
        let (given_up, waits) = (cancelled(&before), RetryWaits::default());
        let taken = after_attempt(&before, &answered(204, START), &waits);
        assert_eq!(overtaken(&given_up, &taken), Some(taken.clone()));
        let refused = after_attempt(&before, &answered(500, START), &waits);
        let kept = overtaken(&given_up, &refused).expect("kept");
        assert_eq!((kept.status, kept.attempts, kept.due_at), (DeliveryStatus::Failed, 1, None));
        assert_eq!(overtaken(&taken, &refused), None);
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
