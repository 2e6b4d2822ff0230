//! Which shards this process claims and which it releases (D52a, D55).

use std::collections::BTreeSet;

use crate::Timestamp;
use crate::deliveries::{Shard, ShardNumber, Shards};
use crate::ids::WorkerId;
use crate::store::{Change, Stored};
use crate::workers::{Worker, delivering};

/// The claims and releases of shards, planned for one moment.
#[derive(Debug, Default, PartialEq)]
pub(super) struct ShardPlan {
    /// Shards without an owner, or with one whose lease lapsed, that are assigned to this process.
    pub(super) claims: Vec<(ShardNumber, Change)>,
    /// Shards that this process releases, as nothing is under way in them.
    pub(super) releases: Vec<(ShardNumber, Change)>,
    /// Shards that this process holds.
    pub(super) held: BTreeSet<ShardNumber>,
    /// Those of them that are assigned to another process now.
    pub(super) leaving: BTreeSet<ShardNumber>,
}

/// The plan of process `own` at `now`, for all shards and what is known of them. `quiet` are shards
/// in which it has nothing under way; a process that is `stopping` releases all of its shards.
pub(super) fn plan(
    own: WorkerId,
    workers: &[Worker],
    (all, shards): (Shards, &[Stored<Shard>]),
    quiet: &BTreeSet<ShardNumber>,
    stopping: bool,
    now: Timestamp,
) -> ShardPlan {
    let alive: Vec<&Worker> = workers.iter().filter(|worker| worker.keeps_shards(now)).collect();
    let lives = |owner: WorkerId| alive.iter().any(|worker| worker.id == owner);
    let mine = match stopping {
        true => BTreeSet::new(),
        false => all.shares(own, &delivering(workers, now)),
    };
    let mut plan = ShardPlan::default();
    for number in all.all() {
        let known = shards.iter().find(|shard| shard.number == number);
        let owner = known.and_then(|shard| shard.owner);
        let write = |owner: Option<WorkerId>| {
            let shard = Shard { number, owner };
            known.map_or_else(|| Change::insert(shard), |known| known.update(shard))
        };
        let is_mine = mine.contains(&number);
        if owner == Some(own) {
            if is_mine {
                plan.held.insert(number);
            } else if quiet.contains(&number) {
                plan.releases.push((number, write(None)));
            } else {
                plan.held.insert(number);
                plan.leaving.insert(number);
            }
        } else if is_mine && owner.is_none_or(|owner| !lives(owner)) {
            plan.claims.push((number, write(Some(own))));
        }
    }
    plan
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use uuid::Uuid;

    use super::*;
    use crate::store::Version;
    use crate::workers::WITHOUT_SHARDS;

    const ALL: Shards = Shards::USUAL;
    const NOW: Timestamp = Timestamp::from_millis(1_763_000_000_000);

    fn worker(n: u128, alive: bool, runs_deliveries: bool) -> Worker {
        let keeps = Duration::from_millis(if alive { 1 } else { 0 });
        let leased_until = NOW.plus(WITHOUT_SHARDS + keeps);
        Worker { id: WorkerId::new(Uuid::from_u128(n)), leased_until, runs_deliveries }
    }

    fn held_by(owner: WorkerId) -> Vec<Stored<Shard>> {
        let shard = |number| Stored::new(Shard { number, owner: Some(owner) }, Version::FIRST);
        ALL.all().map(shard).collect()
    }

    #[test]
    fn a_process_that_is_alone_takes_everything() {
        let (own, other) = (worker(1, true, true), worker(2, true, false));
        let plan = plan(own.id, &[own, other], (ALL, &[]), &BTreeSet::new(), false, NOW);
        assert_eq!(plan.claims.len(), 64);
    }

    #[test]
    fn what_a_living_process_holds_is_left_to_it() {
        let (own, other) = (worker(1, true, true), worker(2, true, true));
        let shards = held_by(other.id);
        let plan = plan(own.id, &[own, other], (ALL, &shards), &BTreeSet::new(), false, NOW);
        assert!(plan.claims.is_empty());
    }

    #[test]
    fn what_a_process_still_has_under_way_while_it_stops_is_left_to_it() {
        let (own, stopping) = (worker(1, true, true), worker(2, true, false));
        let shards = held_by(stopping.id);
        let none = plan(own.id, &[own, stopping], (ALL, &shards), &BTreeSet::new(), false, NOW);
        assert!(none.claims.is_empty());
        let plan = plan(own.id, &[own, stopping], (ALL, &[]), &BTreeSet::new(), false, NOW);
        assert_eq!(plan.claims.len(), 64, "what it has handed back falls to nobody else");
    }

    #[test]
    fn what_a_dead_process_held_is_taken_over() {
        let (own, dead) = (worker(1, true, true), worker(2, false, true));
        let shards = held_by(dead.id);
        let plan = plan(own.id, &[own, dead], (ALL, &shards), &BTreeSet::new(), false, NOW);
        assert_eq!(plan.claims.len(), 64);
    }

    #[test]
    fn a_shard_that_falls_to_another_is_handed_back_once_it_is_quiet() {
        let (own, other) = (worker(1, true, true), worker(2, true, true));
        let shards = held_by(own.id);
        let loud = plan(own.id, &[own, other], (ALL, &shards), &BTreeSet::new(), false, NOW);
        assert!(loud.releases.is_empty() && !loud.leaving.is_empty());
        assert_eq!(loud.held.len(), 64);
        let quiet = plan(own.id, &[own, other], (ALL, &shards), &loud.leaving, false, NOW);
        assert_eq!(quiet.releases.len(), loud.leaving.len());
        assert_eq!(quiet.held.len() + quiet.releases.len(), 64);
    }

    #[test]
    fn a_claim_replaces_the_shard_as_it_was_read() {
        let (own, dead) = (worker(1, true, true), worker(2, false, true));
        let mut version = Version::FIRST;
        let shards: Vec<Stored<Shard>> = held_by(dead.id)
            .into_iter()
            .map(|shard| {
                version = version.next();
                Stored::new(shard.into_value(), version)
            })
            .collect();
        let plan = plan(own.id, &[own, dead], (ALL, &shards), &BTreeSet::new(), false, NOW);
        let claim = |known: &Stored<Shard>| {
            let mine = Shard { number: known.number, owner: Some(own.id) };
            (known.number, known.update(mine))
        };
        assert_eq!(plan.claims, shards.iter().map(claim).collect::<Vec<_>>());
    }

    #[test]
    fn a_process_that_stops_hands_everything_back() {
        let own = worker(1, true, true);
        let all: BTreeSet<ShardNumber> = ALL.all().collect();
        let plan = plan(own.id, &[own], (ALL, &held_by(own.id)), &all, true, NOW);
        assert_eq!(plan.releases.len(), 64);
        assert!(plan.held.is_empty());
    }
}
