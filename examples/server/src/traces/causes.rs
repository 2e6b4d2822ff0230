//! Which request caused a delivery, as far as this process has seen it.
//!
//! Neither an event nor a delivery is stored with the id of a request or a trace: it would be kept
//! for thirty days for the sake of a few minutes. So the cause is remembered here, within a bound,
//! and an attempt by another process, or after a restart, is connected with its request by the id
//! of the delivery alone, which both spans have (R311).

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use opentelemetry::trace::SpanContext;
use recado_core::ids::{DeliveryId, EventId, WebhookId};

/// How many deliveries are remembered, the latest.
const REMEMBERED: usize = 10_000;

/// What caused a delivery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cause {
    /// The span in which the event was committed.
    pub(super) span: SpanContext,
    /// The request, if it was one.
    pub(super) request_id: Option<Arc<str>>,
    /// The event.
    pub(super) event: EventId,
    /// Where it goes.
    pub(super) webhook: WebhookId,
}

/// The causes of recent deliveries.
#[derive(Debug, Default)]
pub(super) struct Causes(Mutex<Remembered>);

#[derive(Debug, Default)]
struct Remembered {
    by_delivery: HashMap<DeliveryId, Cause>,
    /// The oldest first; also those that were forgotten since.
    order: VecDeque<DeliveryId>,
}

impl Causes {
    fn lock(&self) -> MutexGuard<'_, Remembered> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Remembers the cause of a delivery, in place of the oldest one if there are too many.
    pub(super) fn remember(&self, delivery: DeliveryId, cause: Cause) {
        let mut all = self.lock();
        if all.order.len() >= REMEMBERED
            && let Some(oldest) = all.order.pop_front()
        {
            all.by_delivery.remove(&oldest);
        }
        all.order.push_back(delivery);
        all.by_delivery.insert(delivery, cause);
    }

    /// The cause of a delivery.
    pub(super) fn of(&self, delivery: DeliveryId) -> Option<Cause> {
        self.lock().by_delivery.get(&delivery).cloned()
    }

    /// Forgets a delivery that needs no further attempt, or does not exist.
    pub(super) fn forget(&self, delivery: DeliveryId) {
        self.lock().by_delivery.remove(&delivery);
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn delivery(n: usize) -> DeliveryId {
        DeliveryId::new(Uuid::from_u128(n as u128))
    }

    fn cause() -> Cause {
        Cause {
            span: SpanContext::NONE,
            request_id: Some("r-1".into()),
            event: EventId::new(Uuid::from_u128(1)),
            webhook: WebhookId::new(Uuid::from_u128(2)),
        }
    }

    /// R311.
    #[test]
    fn the_latest_causes_are_remembered_within_a_bound() {
        let causes = Causes::default();
        for n in 0..=REMEMBERED {
            causes.remember(delivery(n), cause());
            if n % 2 == 1 {
                causes.forget(delivery(n));
            }
        }
        assert_eq!(causes.of(delivery(0)), None, "the oldest one has made room");
        assert_eq!(causes.of(delivery(1)), None);
        assert_eq!(causes.of(delivery(2)), Some(cause()));
        assert_eq!(causes.of(delivery(REMEMBERED)), Some(cause()));
        for n in 0..3 * REMEMBERED {
            causes.remember(delivery(n), cause());
            causes.forget(delivery(n));
        }
        let all = causes.lock();
        assert_eq!((all.order.len(), all.by_delivery.len()), (REMEMBERED, 0));
    }
}
