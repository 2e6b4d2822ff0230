//! From events to deliveries, in the commit that causes them (6.1, D52, D52a), and the
//! notification of the delivery worker.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

use super::{Delivery, DeliveryStatus, QueueKey};
use crate::Recado;
use crate::events::Event;
use crate::ids::{CompanyId, DeliveryId};
use crate::store::{
    Change, ChangeKind, ChangeSet, CommitError, Conflict, Precondition, RecordsExt, Row, RowKey,
    StoreError, Version,
};
use crate::webhooks::Routes;

/// How many companies' routes are remembered.
const REMEMBERED: usize = 10_000;

/// Routes as they were read; `None` for a company that never had a webhook.
type KnownRoutes = Option<(Version, Arc<Routes>)>;

/// The routes that this process remembers, and the notices for its delivery worker (R73).
///
/// What is remembered decides nothing by itself: every commit that relies on it states the version
/// it was read at.
#[derive(Default)]
pub(crate) struct FanOut {
    routes: Mutex<HashMap<CompanyId, KnownRoutes>>,
    notices: Mutex<Notices>,
    alone: AtomicBool,
}

/// What a commit did to a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Touch {
    /// It left something to do in it.
    Queue,
    /// It wrote its webhook.
    Webhook,
}

#[derive(Default)]
struct Notices {
    listening: bool,
    queues: BTreeMap<QueueKey, Touch>,
    waker: Option<Waker>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl FanOut {
    fn known(&self, company: CompanyId) -> Option<KnownRoutes> {
        lock(&self.routes).get(&company).cloned()
    }

    fn remember(&self, company: CompanyId, known: KnownRoutes) {
        let mut routes = lock(&self.routes);
        if routes.len() >= REMEMBERED {
            routes.clear();
        }
        routes.insert(company, known);
    }

    fn forget(&self, company: CompanyId) {
        lock(&self.routes).remove(&company);
    }

    /// Begins or ends to collect notices.
    pub(super) fn listen(&self, listening: bool) {
        *lock(&self.notices) = Notices { listening, ..Notices::default() };
    }

    /// Notes whether this process sends to all webhooks, so that no other process needs a
    /// notification.
    pub(super) fn set_alone(&self, alone: bool) {
        self.alone.store(alone, Ordering::Release);
    }

    pub(super) fn is_alone(&self) -> bool {
        self.alone.load(Ordering::Acquire)
    }

    fn notify(&self, queues: &BTreeMap<QueueKey, Touch>) {
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

    /// Waits until something was committed, and answers for whose queues.
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

/// The deliveries that an event makes: one for each webhook that its company's routes lead to.
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

/// The queues in which a change set leaves something to do, or whose webhook it writes.
fn touched(changes: &[Change]) -> BTreeMap<QueueKey, Touch> {
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

impl Recado {
    async fn routes(&self, company: CompanyId) -> Result<KnownRoutes, StoreError> {
        if let Some(known) = self.fan_out().known(company) {
            return Ok(known);
        }
        let read = self.store().get::<Routes>(company).await?;
        let known = read.map(|stored| (stored.version(), Arc::new(stored.into_value())));
        self.fan_out().remember(company, known.clone());
        Ok(known)
    }

    /// Commits a change set with the deliveries of its events (D52). All use cases write through
    /// this.
    ///
    /// # Errors
    ///
    /// As [`Commit::commit`](crate::store::Commit::commit). When a webhook was changed meanwhile,
    /// that is a conflict: decide again.
    pub(crate) async fn commit(&self, mut changes: ChangeSet) -> Result<(), CommitError> {
        let companies: BTreeSet<CompanyId> = changes
            .events
            .iter()
            .filter(|event| event.event_type.is_public())
            .map(|event| event.company)
            .collect();
        for company in companies {
            let known = self.routes(company).await?;
            let read_at = known.as_ref().map(|(version, _)| *version);
            changes.requires.push(Precondition::Routed { company, read_at });
            let Some((_, routes)) = known else { continue };
            let events = changes.events.iter().filter(|event| event.company == company);
            let made: Vec<Delivery> = events
                .flat_map(|event| fan_out(event, &routes, || DeliveryId::new(self.uuid(event.at))))
                .collect();
            changes.changes.extend(made.into_iter().map(Change::insert));
        }
        let touched = touched(&changes.changes);
        let committed = self.store().commit(changes).await;
        match &committed {
            // What may have been written is looked for.
            Ok(()) | Err(CommitError::Store(_)) => self.notify(&touched),
            Err(CommitError::Conflict(Conflict::Stale(RowKey::Routes { company }))) => {
                self.fan_out().forget(*company);
            }
            Err(CommitError::Conflict(_)) => {}
        }
        committed
    }

    /// Tells the delivery workers that these queues have something to do.
    fn notify(&self, queues: &BTreeMap<QueueKey, Touch>) {
        if queues.is_empty() {
            return;
        }
        self.fan_out().notify(queues);
        if !self.fan_out().is_alone() {
            let queues: Vec<QueueKey> = queues.keys().copied().collect();
            self.store().notify(&queues);
        }
    }
}
