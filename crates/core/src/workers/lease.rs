//! Keeping the lease of this process.

use std::convert::Infallible;
use std::time::Duration;

use super::Worker;
use super::worker::LEASE;
use crate::Recado;
use crate::ids::WorkerId;
use crate::store::{Change, ChangeSet, Decided, RecordsExt, StoreError, Stored};

/// If it keeps its shards for less than this, the lease is renewed before work under it begins.
const MARGIN: Duration = Duration::from_secs(2);

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
        let renewed = self.app.decide::<_, Infallible, _>(|now| async move {
            let leased_until = now.plus(LEASE);
            let worker =
                Worker { id: lease.id(), leased_until, runs_deliveries: lease.runs_deliveries() };
            let change = match self.app.store().get::<Worker>(lease.id()).await? {
                Some(known) => known.update(worker),
                None => Change::insert(worker),
            };
            Ok(Decided::new(ChangeSet::new().with(change), leased_until))
        });
        lease.renewed(renewed.await?);
        Ok(())
    }

    /// Renews the lease if this process would lose its shards soon: when calls have kept the
    /// renewal from its turn, and in programs that do not call [`Workers::renew`] in a loop.
    ///
    /// Of any number of tasks that find it so, one writes, and the others take what comes of it: if
    /// each wrote, all but one would have a conflict and write again, and the lease would be about
    /// to end once more before the last of them was done (R28).
    ///
    /// # Errors
    ///
    /// When the store fails, for all who waited.
    pub async fn ensure_alive(&self) -> Result<(), StoreError> {
        let lease = self.app.own_lease();
        let is_due = || lease.keeps_shards_until() <= self.app.now().plus(MARGIN);
        if !is_due() {
            return Ok(());
        }
        let failed_before = lease.failed();
        let _turn = lease.turn().await;
        if !is_due() {
            return Ok(());
        }
        if lease.failed() != failed_before {
            return Err(StoreError::Unavailable(None));
        }
        self.renew().await.inspect_err(|_| lease.has_failed())
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
