//! Which process sends to which webhooks: each webhook belongs to one of 64 shards, and each
//! shard to one living process at a time. So the bound on a webhook's attempts in flight and the
//! order of a contact's events hold over all processes (D55) without a claim per delivery.
//! Campaigns belong to the same shards (R98).

use std::collections::BTreeSet;

use uuid::Uuid;

use crate::ids::{CampaignId, CompanyId, WebhookId, WorkerId};
use crate::workers::falls_to;

/// How many shards there are. Never changes: processes of two versions must agree on it.
pub const SHARDS: u8 = 64;

/// The number of a shard, below [`SHARDS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ShardNumber(u8);

impl ShardNumber {
    /// A number as a store keeps it; `None` for one that is no shard's.
    pub const fn new(number: u8) -> Option<Self> {
        if number < SHARDS { Some(Self(number)) } else { None }
    }

    /// The number itself.
    pub const fn number(self) -> u8 {
        self.0
    }

    /// Every shard.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..SHARDS).map(Self)
    }

    /// The last byte of a UUID is random.
    fn of(id: Uuid) -> Self {
        Self(id.as_bytes()[15] % SHARDS)
    }
}

/// A share of the webhooks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// Its number.
    pub number: ShardNumber,
    /// The process that sends its deliveries; it holds the shard for as long as its lease lasts.
    pub owner: Option<WorkerId>,
}

/// The shard of a webhook.
pub fn shard_of(webhook: WebhookId) -> ShardNumber {
    ShardNumber::of(webhook.uuid())
}

/// The shard of a campaign.
pub fn shard_of_campaign(campaign: CampaignId) -> ShardNumber {
    ShardNumber::of(campaign.uuid())
}

/// The shard of a company.
pub(crate) fn shard_of_company(company: CompanyId) -> ShardNumber {
    ShardNumber::of(company.uuid())
}

/// The shards assigned to a process among all that send deliveries (rendezvous hashing): all of
/// them if none is known, none if only others are. Every process that sees the same set of
/// processes computes the same result. When one starts or stops, only its own shards move (R67,
/// R98).
pub fn shares(own: WorkerId, workers: &[WorkerId]) -> BTreeSet<ShardNumber> {
    ShardNumber::all().filter(|shard| falls_to(own, workers, &[shard.number()])).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use uuid::Uuid;

    use super::*;

    fn worker(n: u128) -> WorkerId {
        WorkerId::new(Uuid::from_u128(n))
    }

    proptest! {
        /// R67.
        #[test]
        fn every_shard_falls_to_exactly_one_of_the_processes(ids in prop::collection::btree_set(any::<u128>(), 1..9)) {
            let workers: Vec<WorkerId> = ids.into_iter().map(worker).collect();
            let mut all: Vec<ShardNumber> =
                workers.iter().flat_map(|own| shares(*own, &workers)).collect();
            all.sort_unstable();
            prop_assert_eq!(all, ShardNumber::all().collect::<Vec<_>>());
        }

        /// R98.
        #[test]
        fn a_process_that_is_not_among_those_that_are_known_has_no_shard(ids in prop::collection::btree_set(any::<u128>(), 2..9)) {
            let workers: Vec<WorkerId> = ids.into_iter().map(worker).collect();
            let (stranger, known) = workers.split_first().expect("at least two");
            prop_assert!(shares(*stranger, known).is_empty());
        }

        /// R67.
        #[test]
        fn a_process_that_leaves_hands_over_its_own_shards_only(ids in prop::collection::btree_set(any::<u128>(), 2..9)) {
            let workers: Vec<WorkerId> = ids.into_iter().map(worker).collect();
            let (gone, left) = workers.split_first().expect("at least two");
            for own in left {
                prop_assert!(shares(*own, left).is_superset(&shares(*own, &workers)));
            }
            prop_assert!(!left.contains(gone));
        }
    }
}
