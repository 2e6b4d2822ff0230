//! Workers: running processes with a lease, so that what a dead one left behind is found (D36).

mod lease;
mod rendezvous;

use async_trait::async_trait;

pub(crate) use lease::OwnLease;
pub use lease::{LEASE, Workers};
pub(crate) use rendezvous::{falls_to, weight};

use crate::Timestamp;
use crate::ids::WorkerId;
use crate::store::{StoreError, Stored};

/// A running process. Alive while its lease lasts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Worker {
    /// Its id, made at its start.
    pub id: WorkerId,
    /// Until when it counts as alive.
    pub leased_until: Timestamp,
    /// Whether it dispatches deliveries, so that webhooks may fall to it.
    pub dispatches: bool,
}

impl Worker {
    /// Whether it counts as alive at `now`.
    pub fn is_alive(&self, now: Timestamp) -> bool {
        self.leased_until > now
    }
}

/// Reads of workers.
#[async_trait]
pub trait WorkerReads: Send + Sync {
    /// A worker, alive or not.
    async fn worker(&self, id: WorkerId) -> Result<Option<Stored<Worker>>, StoreError>;

    /// All workers, alive or not, by id.
    async fn workers(&self) -> Result<Vec<Worker>, StoreError>;
}
