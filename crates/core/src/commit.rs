//! The only way to commit: it adds the deliveries of a change set's events (6.1, D52, D52a) and
//! notifies the delivery workers.
//!
//! No other code has the store's [`Commit`](crate::store::Commit), so that nothing can be written
//! in another way.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::deliveries::{
    Delivery, DueReads, FanOut, KnownRoutes, QueueKey, Signals, Touch, fan_out, touched,
};
use crate::events::Outbox;
use crate::ids::{CompanyId, DeliveryId, Ids};
use crate::store::{
    Change, ChangeSet, Claims, CommitError, Conflict, Precondition, Reads, RecordsExt, RowKey,
    Store, StoreError, Upkeep,
};
use crate::webhooks::Routes;

/// The database: its reads are public, and [`Database::commit`] writes.
pub(crate) struct Database {
    store: Arc<dyn Store>,
    ids: Arc<dyn Ids>,
    fan_out: FanOut,
    /// Whether nothing is written (R286).
    is_rehearsal: bool,
}

impl Database {
    pub(crate) fn new(store: Arc<dyn Store>, ids: Arc<dyn Ids>) -> Self {
        Self { store, ids, fan_out: FanOut::default(), is_rehearsal: false }
    }

    /// The same database, to which nothing is written (R286).
    pub(crate) fn rehearsal(&self) -> Self {
        let (store, ids) = (Arc::clone(&self.store), Arc::clone(&self.ids));
        Self { is_rehearsal: true, ..Self::new(store, ids) }
    }

    pub(crate) fn store(&self) -> Arc<dyn Store> {
        Arc::clone(&self.store)
    }

    pub(crate) fn reads(&self) -> &dyn Reads {
        &*self.store
    }

    pub(crate) fn upkeep(&self) -> &dyn Upkeep {
        &*self.store
    }

    pub(crate) fn claims(&self) -> &dyn Claims {
        &*self.store
    }

    pub(crate) fn due(&self) -> &dyn DueReads {
        &*self.store
    }

    pub(crate) fn outbox(&self) -> &dyn Outbox {
        &*self.store
    }

    pub(crate) fn signals(&self) -> &dyn Signals {
        &*self.store
    }

    pub(crate) fn fan_out(&self) -> &FanOut {
        &self.fan_out
    }

    /// Commits a change set with the deliveries of its events (D52).
    ///
    /// # Errors
    ///
    /// As [`Commit::commit`](crate::store::Commit::commit). A concurrent change of a webhook is a
    /// conflict: decide again.
    pub(crate) async fn commit(&self, mut changes: ChangeSet) -> Result<(), CommitError> {
        if self.is_rehearsal {
            return Ok(());
        }
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
            let id = |at| DeliveryId::new(self.ids.uuid_v7(at));
            let made: Vec<Delivery> =
                events.flat_map(|event| fan_out(event, &routes, || id(event.at))).collect();
            changes.changes.extend(made.into_iter().map(Change::insert));
        }
        let touched = touched(&changes.changes);
        let committed = self.commit_unnotified(changes).await;
        match &committed {
            // The changes may have been written.
            Ok(()) | Err(CommitError::Store(_)) => self.notify(&touched),
            Err(CommitError::Conflict(Conflict::Stale(RowKey::Routes { company }))) => {
                self.fan_out.forget(*company);
            }
            Err(CommitError::Conflict(_)) => {}
        }
        committed
    }

    /// Commits what a delivery worker recorded in its own queues: no other process has to be
    /// notified.
    ///
    /// # Errors
    ///
    /// As [`Commit::commit`](crate::store::Commit::commit).
    pub(crate) async fn commit_unnotified(&self, changes: ChangeSet) -> Result<(), CommitError> {
        if self.is_rehearsal {
            return Ok(());
        }
        self.store.commit(changes).await
    }

    async fn routes(&self, company: CompanyId) -> Result<KnownRoutes, StoreError> {
        if let Some(known) = self.fan_out.known(company) {
            return Ok(known);
        }
        let read = self.store.get::<Routes>(company).await?;
        let known = read.map(|stored| (stored.version(), Arc::new(stored.into_value())));
        self.fan_out.remember(company, known.clone());
        Ok(known)
    }

    /// Notifies the delivery workers of these queues.
    fn notify(&self, queues: &BTreeMap<QueueKey, Touch>) {
        if queues.is_empty() {
            return;
        }
        self.fan_out.notify(queues);
        if !self.fan_out.is_alone() {
            let queues: Vec<QueueKey> = queues.keys().copied().collect();
            self.store.notify(&queues);
        }
    }
}
