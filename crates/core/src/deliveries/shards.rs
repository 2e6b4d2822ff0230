//! Which process sends to which webhooks: each webhook belongs to one of 64 shards or more, and
//! each shard to one living process at a time. So the bound on a webhook's attempts in flight and
//! the order of a contact's events hold over all processes (D55) without a claim per delivery.
//! Campaigns belong to the same shards (R98).

use std::collections::BTreeSet;

use uuid::Uuid;

use crate::ids::{CampaignId, CompanyId, WebhookId, WorkerId};
use crate::workers::falls_to;

/// The most shards that an installation can have.
const MOST: u16 = 1_024;

/// How many shards an installation has: a power of two from 64 to 1,024. It is chosen when the
/// database is made, and never changes: all processes must agree on it (R464).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shards(u16);

impl Shards {
    /// As many as an installation has that has not chosen, and each in a store of one process.
    pub const USUAL: Self = Self(64);

    /// A number of shards; `None` for one that no installation has.
    pub const fn new(count: u16) -> Option<Self> {
        let is_one = count.is_power_of_two() && count >= Self::USUAL.0 && count <= MOST;
        if is_one { Some(Self(count)) } else { None }
    }

    /// The number itself.
    pub const fn count(self) -> u16 {
        self.0
    }

    /// Every shard, by number.
    pub fn all(self) -> impl Iterator<Item = ShardNumber> {
        (0..self.0).map(ShardNumber)
    }

    /// The shard of a webhook.
    pub fn of_webhook(self, webhook: WebhookId) -> ShardNumber {
        self.of(webhook.uuid())
    }

    /// The shard of a campaign.
    pub fn of_campaign(self, campaign: CampaignId) -> ShardNumber {
        self.of(campaign.uuid())
    }

    /// The shard of a company.
    pub(crate) fn of_company(self, company: CompanyId) -> ShardNumber {
        self.of(company.uuid())
    }

    /// The last two bytes of a UUID are random.
    fn of(self, id: Uuid) -> ShardNumber {
        let [.., high, low] = id.into_bytes();
        ShardNumber(u16::from_be_bytes([high, low]) % self.0)
    }

    /// The shards assigned to a process among all that send deliveries (rendezvous hashing): all of
    /// them if none is known, none if only others are. Every process that sees the same set of
    /// processes computes the same result. When one starts or stops, only its own shards move (R67,
    /// R98).
    pub fn shares(self, own: WorkerId, workers: &[WorkerId]) -> BTreeSet<ShardNumber> {
        self.all().filter(|shard| falls_to(own, workers, shard.subject().as_slice())).collect()
    }
}

impl Default for Shards {
    fn default() -> Self {
        Self::USUAL
    }
}

/// The number of a shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ShardNumber(u16);

impl ShardNumber {
    /// A number as a store keeps it; `None` for one that is no shard's in any installation.
    pub const fn new(number: u16) -> Option<Self> {
        if number < MOST { Some(Self(number)) } else { None }
    }

    /// The number itself.
    pub const fn number(self) -> u16 {
        self.0
    }

    /// What is hashed to assign it: its bytes, one of them for a number below 256, as processes of
    /// earlier versions hash it.
    fn subject(self) -> Vec<u8> {
        let [high, low] = self.0.to_be_bytes();
        if high == 0 { vec![low] } else { vec![high, low] }
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use uuid::Uuid;

    use super::*;

    fn worker(n: u128) -> WorkerId {
        WorkerId::new(Uuid::from_u128(n))
    }

    fn shards() -> impl Strategy<Value = Shards> {
        prop::sample::select(vec![64, 128, 256, 512, 1_024])
            .prop_map(|count| Shards::new(count).expect("a number of shards"))
    }

    /// R464.
    #[test]
    fn there_are_64_shards_or_the_next_powers_of_two() {
        let counts: Vec<u16> = (0..=u16::MAX).filter(|n| Shards::new(*n).is_some()).collect();
        assert_eq!(counts, [64, 128, 256, 512, 1_024]);
        assert_eq!(Shards::USUAL.count(), 64);
    }

    /// R67: what processes of earlier versions hash.
    #[test]
    fn the_first_256_shards_are_hashed_by_one_byte() {
        let subjects = [0, 63, 255, 256, 1_023].map(|n| ShardNumber(n).subject());
        assert_eq!(subjects, [vec![0], vec![63], vec![255], vec![1, 0], vec![3, 255]]);
    }

    proptest! {
        /// R464: whoever has 64 shards has them by the last byte, as in earlier versions.
        #[test]
        fn ids_are_spread_by_their_last_bytes(shards in shards(), id in any::<u128>()) {
            let webhook = WebhookId::new(Uuid::from_u128(id));
            let number = u128::from(shards.of_webhook(webhook).number());
            prop_assert_eq!(number, id % u128::from(shards.count()));
            prop_assert_eq!(number % 64, id.to_be_bytes()[15] as u128 % 64);
        }

        /// R67.
        #[test]
        fn every_shard_falls_to_exactly_one_of_the_processes(
            shards in shards(),
            ids in prop::collection::btree_set(any::<u128>(), 1..9),
        ) {
            let workers: Vec<WorkerId> = ids.into_iter().map(worker).collect();
            let mut all: Vec<ShardNumber> =
                workers.iter().flat_map(|own| shards.shares(*own, &workers)).collect();
            all.sort_unstable();
            prop_assert_eq!(all, shards.all().collect::<Vec<_>>());
        }

        /// R98.
        #[test]
        fn a_process_that_is_not_among_those_that_are_known_has_no_shard(
            shards in shards(),
            ids in prop::collection::btree_set(any::<u128>(), 2..9),
        ) {
            let workers: Vec<WorkerId> = ids.into_iter().map(worker).collect();
            let (stranger, known) = workers.split_first().expect("at least two");
            prop_assert!(shards.shares(*stranger, known).is_empty());
        }

        /// R67.
        #[test]
        fn a_process_that_leaves_hands_over_its_own_shards_only(
            shards in shards(),
            ids in prop::collection::btree_set(any::<u128>(), 2..9),
        ) {
            let workers: Vec<WorkerId> = ids.into_iter().map(worker).collect();
            let (gone, left) = workers.split_first().expect("at least two");
            for own in left {
                prop_assert!(shards.shares(*own, left).is_superset(&shards.shares(*own, &workers)));
            }
            prop_assert!(!left.contains(gone));
        }
    }
}
