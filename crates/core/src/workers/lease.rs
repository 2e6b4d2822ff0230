//! Keeping the lease of this process.

use std::convert::Infallible;
use std::time::Duration;

use super::Worker;
use super::worker::LEASE;
use crate::ids::WorkerId;
use crate::store::{Change, ChangeSet, Decided, RecordsExt, StoreError, Stored};
use crate::{Recado, Timestamp};

/// If it keeps its shards for less than this, the lease is renewed before work under it begins.
const MARGIN: Duration = Duration::from_secs(2);

/// A renewal by another task of this process within this time counts as one's own, so that of any
/// number of tasks that renew at the same time only one writes.
const JUST_NOW: Duration = Duration::from_secs(1);

impl Worker {
    /// Whether this row, written by another task, makes writing `wanted` needless.
    fn serves_as(&self, wanted: &Self) -> bool {
        self.runs_deliveries == wanted.runs_deliveries
            && self.leased_until.plus(JUST_NOW) >= wanted.leased_until
    }
}

/// The use cases on this process's lease. Made by [`Recado::workers`].
#[derive(Clone, Copy, Debug)]
pub struct Workers<'a> {
    pub(crate) app: &'a Recado,
}

impl Recado {
    /// The lease of this process.
    pub fn workers(&self) -> Workers<'_> {
        Workers { app: self }
    }
}

impl Workers<'_> {
    /// Renews the lease of this process. Call it at least every two seconds: other processes take
    /// over its shards once it has not been renewed for [`SHARD_LEASE`](super::SHARD_LEASE), and
    /// sends in flight count as abandoned once it has lapsed.
    ///
    /// # Errors
    ///
    /// When the store fails; the lease keeps its end.
    pub async fn renew(&self) -> Result<(), StoreError> {
        let lease = self.app.own_lease();
        let renewed =
            self.app.decide_after::<_, Infallible, _>(|now: Timestamp, lost| async move {
                let leased_until = now.plus(LEASE);
                let worker = Worker {
                    id: lease.id(),
                    leased_until,
                    runs_deliveries: lease.runs_deliveries(),
                };
                let change = match self.app.store().get::<Worker>(lease.id()).await? {
                    Some(known) if lost.is_some() && known.serves_as(&worker) => {
                        return Ok(Decided::unchanged(known.leased_until));
                    }
                    Some(known) => known.update(worker),
                    None => Change::insert(worker),
                };
                Ok(Decided::new(ChangeSet::new().with(change), leased_until))
            });
        lease.renewed(renewed.await?);
        Ok(())
    }

    /// Renews the lease if this process would lose its shards soon, for programs that do not call
    /// [`Workers::renew`] in a loop.
    ///
    /// # Errors
    ///
    /// When the store fails.
    pub async fn ensure_alive(&self) -> Result<(), StoreError> {
        if self.app.own_lease().keeps_shards_until() > self.app.now().plus(MARGIN) {
            return Ok(());
        }
        self.renew().await
    }

    /// Ends the lease at the end of the process: sends that are still in flight count as abandoned
    /// at once.
    ///
    /// # Errors
    ///
    /// When the store fails; the lease lapses by itself.
    pub async fn release(&self) -> Result<(), StoreError> {
        let lease = self.app.own_lease();
        lease.end();
        self.end_of_dead(lease.id()).await
    }

    /// Ends the lease of another process that is known to be dead, so that what it had under way is
    /// taken over at once and not when its lease lapses (R252).
    ///
    /// # Errors
    ///
    /// When the store fails; the lease lapses by itself.
    pub async fn end_of_dead(&self, id: WorkerId) -> Result<(), StoreError> {
        let ended = self.app.decide::<_, Infallible, _>(|_| async move {
            let known = self.app.store().get::<Worker>(id).await?;
            let delete = |changes: ChangeSet, worker: Stored<Worker>| changes.with(worker.delete());
            Ok(Decided::new(known.into_iter().fold(ChangeSet::new(), delete), ()))
        });
        Ok(ended.await?)
    }

    /// The id of this process.
    pub fn own_id(&self) -> WorkerId {
        self.app.own_lease().id()
    }
}
