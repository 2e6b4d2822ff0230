//! Workers: running processes with a lease, so that what a dead one left behind is found (D36).

mod lease;
mod own_lease;
mod rendezvous;

pub use lease::{LEASE, Workers};
pub(crate) use own_lease::OwnLease;
pub(crate) use rendezvous::{falls_to, weight};

use crate::Timestamp;
use crate::ids::WorkerId;

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
