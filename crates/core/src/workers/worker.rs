//! A process and its lease.

use std::time::Duration;

use crate::Timestamp;
use crate::ids::WorkerId;

/// How long a process counts as alive after its last renewal (R28).
pub const LEASE: Duration = Duration::from_secs(10);
/// How long it keeps its shards after its last renewal (R67). It is shorter: a shard that changes
/// hands too early costs little, and a message that is taken for abandoned is never sent again.
pub const SHARD_LEASE: Duration = Duration::from_secs(4);
/// The last part of the lease, in which others may take over its shards.
pub(crate) const WITHOUT_SHARDS: Duration = LEASE.saturating_sub(SHARD_LEASE);

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

    const NOW: Timestamp = Timestamp::from_millis(1_763_000_000_000);

    /// R28.
    #[test]
    fn a_process_loses_its_shards_before_its_sends_count_as_abandoned() {
        let id = WorkerId::new(Uuid::from_u128(1));
        let worker = Worker { id, leased_until: NOW.plus(LEASE), runs_deliveries: true };
        let millisecond = Duration::from_millis(1);
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
