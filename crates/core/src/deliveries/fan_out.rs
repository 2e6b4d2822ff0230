//! From events to deliveries, in the commit that causes them (6.1, D52, D52a), and the
//! notification of the delivery worker.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

use super::{Delivery, DeliveryStatus, QueueKey, ShardNumber, Shards};
use crate::events::Event;
use crate::ids::{CompanyId, DeliveryId};
use crate::store::{Change, ChangeKind, Row, Version};
use crate::webhooks::Routes;

/// How many companies' routes are cached.
const REMEMBERED: usize = 10_000;

/// Routes as they were read; `None` for a company that never had a webhook.
pub(crate) type KnownRoutes = Option<(Version, Arc<Routes>)>;

/// The routes that this process caches, and the notices for its delivery worker (R73).
///
/// A cached entry may be outdated: every commit that relies on it has the version at which it was
/// read as a precondition.
#[derive(Default)]
pub(crate) struct FanOut {
    routes: Mutex<HashMap<CompanyId, KnownRoutes>>,
    notices: Mutex<PendingNotifications>,
    kept: Mutex<KeptShards>,
}

/// The shards whose webhooks a process sends to and goes on sending to; none before it is assigned
/// any.
type KeptShards = Option<(Shards, BTreeSet<ShardNumber>)>;

/// How a commit affects a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Touch {
    /// It added or changed pending deliveries.
    Queue,
    /// It wrote its webhook.
    Webhook,
}

#[derive(Default)]
struct PendingNotifications {
    listening: bool,
    queues: BTreeMap<QueueKey, Touch>,
    waker: Option<Waker>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl FanOut {
    pub(crate) fn known(&self, company: CompanyId) -> Option<KnownRoutes> {
        lock(&self.routes).get(&company).cloned()
    }

    pub(crate) fn remember(&self, company: CompanyId, known: KnownRoutes) {
        let mut routes = lock(&self.routes);
        if routes.len() >= REMEMBERED {
            routes.clear();
        }
        routes.insert(company, known);
    }

    pub(crate) fn forget(&self, company: CompanyId) {
        lock(&self.routes).remove(&company);
    }

    /// Starts or stops collecting notices.
    pub(super) fn listen(&self, listening: bool) {
        *lock(&self.notices) =
            PendingNotifications { listening, ..PendingNotifications::default() };
    }

    /// Records the shards whose webhooks this process sends to and goes on sending to.
    pub(super) fn keep(&self, of: Shards, kept: BTreeSet<ShardNumber>) {
        *lock(&self.kept) = Some((of, kept));
    }

    /// Records that it sends to none.
    pub(super) fn keep_none(&self) {
        *lock(&self.kept) = None;
    }

    /// Those of some queues that other processes have to be notified of: this process does not send
    /// to their webhooks (R455).
    pub(crate) fn of_others(&self, queues: &BTreeMap<QueueKey, Touch>) -> Vec<QueueKey> {
        let kept = lock(&self.kept);
        let is_own = |key: &&QueueKey| {
            kept.as_ref().is_some_and(|(of, kept)| kept.contains(&of.of_webhook(key.webhook)))
        };
        queues.keys().filter(|key| !is_own(key)).copied().collect()
    }

    pub(crate) fn notify(&self, queues: &BTreeMap<QueueKey, Touch>) {
        let mut notices = lock(&self.notices);
        if notices.listening {
            for (key, touch) in queues {
                let known = notices.queues.entry(*key).or_insert(*touch);
                *known = (*known).max(*touch);
            }
            if let Some(waker) = notices.waker.take() {
                waker.wake();
            }
        }
    }

    /// Waits until something was committed, and returns the affected queues.
    pub(super) async fn notified(&self) -> BTreeMap<QueueKey, Touch> {
        poll_fn(|context| {
            let mut notices = lock(&self.notices);
            if notices.queues.is_empty() {
                notices.waker = Some(context.waker().clone());
                return Poll::Pending;
            }
            Poll::Ready(std::mem::take(&mut notices.queues))
        })
        .await
    }
}

/// The deliveries that an event makes: one for each webhook in its company's routes.
pub(crate) fn fan_out(
    event: &Event,
    routes: &Routes,
    mut id: impl FnMut() -> DeliveryId,
) -> Vec<Delivery> {
    routes
        .of(event.event_type)
        .map(|webhook| {
            Delivery::new(id(), event.company, webhook, event.id, event.event_type, event.at)
        })
        .collect()
}

/// The queues in which a change set leaves work, or whose webhook it writes.
pub(crate) fn touched(changes: &[Change]) -> BTreeMap<QueueKey, Touch> {
    let mut touched = BTreeMap::new();
    for change in changes {
        let (ChangeKind::Insert(row) | ChangeKind::Update { row, .. }) = change.kind() else {
            continue;
        };
        let (key, touch) = match row {
            Row::Delivery(delivery) if delivery.status == DeliveryStatus::Pending => {
                (QueueKey { company: delivery.company, webhook: delivery.webhook }, Touch::Queue)
            }
            Row::Webhook(webhook) => {
                (QueueKey { company: webhook.company, webhook: webhook.id }, Touch::Webhook)
            }
            _ => continue,
        };
        let known = touched.entry(key).or_insert(touch);
        *known = touch.max(*known);
    }
    touched
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::ids::WebhookId;

    fn company(n: usize) -> CompanyId {
        CompanyId::new(Uuid::from_u128(n as u128))
    }

    #[test]
    fn the_routes_of_many_companies_are_cached_and_not_of_more() {
        let cache = FanOut::default();
        for n in 0..REMEMBERED {
            cache.remember(company(n), None);
        }
        assert!((0..REMEMBERED).all(|n| cache.known(company(n)).is_some()));
        cache.remember(company(REMEMBERED), None);
        assert!(cache.known(company(REMEMBERED)).is_some());
        assert!(cache.known(company(0)).is_none(), "the cache is emptied when it is full");
    }

    /// R455.
    #[test]
    fn others_are_notified_of_what_this_process_does_not_send() {
        let key =
            |n: u128| QueueKey { company: company(0), webhook: WebhookId::new(Uuid::from_u128(n)) };
        let queues = BTreeMap::from([(key(1), Touch::Queue), (key(2), Touch::Webhook)]);
        let fan_out = FanOut::default();
        assert_eq!(fan_out.of_others(&queues), [key(1), key(2)], "it sends nothing");
        fan_out.keep(Shards::USUAL, [Shards::USUAL.of_webhook(key(1).webhook)].into());
        assert_eq!(fan_out.of_others(&queues), [key(2)]);
        fan_out.keep(Shards::USUAL, Shards::USUAL.all().collect());
        assert_eq!(fan_out.of_others(&queues), []);
    }
}
