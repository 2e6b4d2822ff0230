//! A process and its lease.

use super::lease::WITHOUT_SHARDS;
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

    /// Whether it keeps its shards at `now`. If not, other processes may take them over (R67, R98).
    pub fn keeps_shards(&self, now: Timestamp) -> bool {
        self.leased_until > now.plus(WITHOUT_SHARDS)
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::workers::{LEASE, SHARD_LEASE};

    const NOW: Timestamp = Timestamp::from_millis(1_763_000_000_000);

    /// R28.
    #[test]
    fn a_process_loses_its_shards_before_its_sends_count_as_abandoned() {
        let id = WorkerId::new(Uuid::from_u128(1));
        let worker = Worker { id, leased_until: NOW.plus(LEASE), runs_deliveries: true };
        let millisecond = std::time::Duration::from_millis(1);
        let states = [
            (NOW.plus(SHARD_LEASE - millisecond), (true, true)),
            (NOW.plus(SHARD_LEASE), (false, true)),
            (NOW.plus(LEASE - millisecond), (false, true)),
            (NOW.plus(LEASE), (false, false)),
        ];
        for (now, expected) in states {
            assert_eq!((worker.keeps_shards(now), worker.is_alive(now)), expected);
        }
    }
}
