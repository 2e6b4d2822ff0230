//! When a delivery is tried again, and when it is given up (3.3, 8, D52a, D53, D56a).

use std::time::Duration;

use super::{Attempt, Delivery, DeliveryStatus, Outcome};
use crate::Timestamp;

/// The attempts of one series: the first and four more (8).
pub const ATTEMPTS: u32 = 5;
/// How many attempts the log keeps.
pub const MAX_LOG: usize = 50;

/// The waits between the attempts of a series (8).
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
pub fn after_attempt(delivery: &Delivery, outcome: &Outcome, waits: &RetryWaits) -> Delivery {
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

/// A settled delivery at the beginning of a fresh series; the count and the log go on (D56a).
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

fn note(delivery: &mut Delivery, entry: Attempt) {
    delivery.log.push(entry);
    let surplus = delivery.log.len().saturating_sub(MAX_LOG);
    delivery.log.drain(..surplus);
}
