//! Keeping the lease of this process.

use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::Duration;

use super::Worker;
use crate::ids::WorkerId;
use crate::store::{Change, ChangeSet, CommitError, RecordsExt, StoreError};
use crate::{Recado, Timestamp};

/// How long a process counts as alive after its last beat. Beat about three times as often (R28).
pub const LEASE: Duration = Duration::from_secs(10);
/// With less than this left, the lease is renewed before anything is begun under the lease.
const MARGIN: Duration = Duration::from_secs(5);

/// The lease of this process as far as it knows.
#[derive(Debug)]
pub(crate) struct OwnLease {
    id: WorkerId,
    leased_until: AtomicI64,
    dispatches: AtomicBool,
}

impl OwnLease {
    pub(crate) const fn new(id: WorkerId) -> Self {
        Self { id, leased_until: AtomicI64::new(i64::MIN), dispatches: AtomicBool::new(false) }
    }

    pub(crate) const fn id(&self) -> WorkerId {
        self.id
    }

    /// Until when it lasts, as far as this process knows.
    pub(crate) fn lasts_until(&self) -> Timestamp {
        Timestamp::from_millis(self.leased_until.load(Ordering::Acquire))
    }

    /// Notes whether this process sends deliveries; the others read it after the next renewal.
    pub(crate) fn set_dispatches(&self, dispatches: bool) {
        self.dispatches.store(dispatches, Ordering::Release);
    }
}

/// The use cases on this process's lease. Made by [`Recado::workers`].
#[derive(Clone, Copy, Debug)]
pub struct Workers<'a> {
    pub(crate) app: &'a Recado,
}

impl Workers<'_> {
    /// Renews the lease of this process. Call it every three seconds: what the process has in
    /// flight counts as abandoned once the lease has lapsed.
    ///
    /// # Errors
    ///
    /// When the store fails; the lease runs on as it was.
    pub async fn renew(&self) -> Result<(), StoreError> {
        let lease = self.app.own_lease();
        loop {
            let dispatches = lease.dispatches.load(Ordering::Acquire);
            let leased_until = self.app.now().plus(LEASE);
            let worker = Worker { id: lease.id(), leased_until, dispatches };
            let change = match self.app.store().get::<Worker>(lease.id()).await? {
                Some(known) => known.update(worker),
                None => Change::insert(worker),
            };
            match self.app.store().commit(ChangeSet::new().with(change)).await {
                Ok(()) => {
                    lease.leased_until.fetch_max(worker.leased_until.millis(), Ordering::AcqRel);
                    return Ok(());
                }
                // Another task of this process renewed at the same time.
                Err(CommitError::Conflict(_)) => {}
                Err(CommitError::Store(error)) => return Err(error),
            }
        }
    }

    /// Beats if the lease would lapse soon, so that a program without a loop for it is safe too.
    ///
    /// # Errors
    ///
    /// When the store fails.
    pub async fn ensure_alive(&self) -> Result<(), StoreError> {
        if self.app.own_lease().lasts_until() > self.app.now().plus(MARGIN) {
            return Ok(());
        }
        self.renew().await
    }

    /// Gives the lease up at the end of the process: whatever is still in flight counts as
    /// abandoned at once.
    ///
    /// # Errors
    ///
    /// When the store fails; the lease lapses by itself.
    pub async fn release(&self) -> Result<(), StoreError> {
        let lease = self.app.own_lease();
        lease.leased_until.store(i64::MIN, Ordering::Release);
        while let Some(known) = self.app.store().get::<Worker>(lease.id()).await? {
            match self.app.store().commit(ChangeSet::new().with(known.delete())).await {
                Ok(()) => break,
                Err(CommitError::Conflict(_)) => {}
                Err(CommitError::Store(error)) => return Err(error),
            }
        }
        Ok(())
    }

    /// The id of this process.
    pub fn own_id(&self) -> WorkerId {
        self.app.own_lease().id()
    }
}
