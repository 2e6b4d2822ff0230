//! A process and its lease.

use crate::Timestamp;
use crate::ids::WorkerId;

/// A running process. Alive while its lease lasts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Worker {
    /// Its id, made at its start.
    pub id: WorkerId,
    /// Until when it counts as alive.
    pub leased_until: Timestamp,
    /// Whether it runs the delivery worker, so that shards may be assigned to it.
    pub runs_deliveries: bool,
}

impl Worker {
    /// Whether it counts as alive at `now`.
    pub fn is_alive(&self, now: Timestamp) -> bool {
        self.leased_until > now
    }
}
