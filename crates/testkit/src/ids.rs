//! Identifiers that are the same in every run.

use std::sync::atomic::{AtomicU64, Ordering};

use recado_core::{Ids, Timestamp};
use uuid::{Builder, Uuid};

/// Identifiers and "secrets" made from a seed and a counter. Two sources with the same seed make
/// the same ones. Within a millisecond, identifiers ascend in the order in which they were made.
/// Never use this in production.
#[derive(Debug)]
pub struct SeededIds {
    seed: u64,
    made: AtomicU64,
}

impl SeededIds {
    /// A source with this seed.
    pub const fn new(seed: u64) -> Self {
        Self { seed, made: AtomicU64::new(0) }
    }

    fn count(&self) -> u64 {
        self.made.fetch_add(1, Ordering::SeqCst)
    }
}

impl Ids for SeededIds {
    fn uuid(&self, now: Timestamp) -> Uuid {
        // After the time there are 12 bits, then 6, then whole bytes. The counter comes first, so
        // that ids ascend in the order in which they were made. The seed comes last, so that two
        // sources never make the same id.
        let count = self.count();
        let mut bytes = [0; 10];
        bytes[0] = (count >> 30) as u8;
        bytes[1] = (count >> 22) as u8;
        bytes[2] = (count >> 16) as u8 & 0x3f;
        bytes[3] = (count >> 8) as u8;
        bytes[4] = count as u8;
        bytes[5..].copy_from_slice(&self.seed.to_be_bytes()[3..]);
        // The last byte differs from id to id, as in real ids, because it determines the shard of a
        // webhook.
        bytes[9] = bytes[9].wrapping_add(count as u8);
        let millis = u64::try_from(now.millis()).unwrap_or(0);
        Builder::from_unix_timestamp_millis(millis, &bytes).into_uuid()
    }

    fn fill(&self, bytes: &mut [u8]) {
        // SplitMix64 over seed and counter: different for every call, equal in every run.
        let mut state = self.seed.wrapping_add(self.count().wrapping_mul(0xd1b5_4a32_d192_ed03));
        for chunk in bytes.chunks_mut(8) {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut mixed = state;
            mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            mixed ^= mixed >> 31;
            chunk.copy_from_slice(&mixed.to_le_bytes()[..chunk.len()]);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn ids_are_of_version_7_distinct_and_sort_as_they_were_made() {
        let ids = SeededIds::new(7);
        let now = Timestamp::from_millis(1_795_176_000_000);
        let made: Vec<Uuid> = (0..70_000).map(|_| ids.uuid(now)).collect();
        assert!(made.iter().all(|id| id.get_version_num() == 7));
        assert!(made.windows(2).all(|pair| pair[0] < pair[1]));
    }

    #[test]
    fn the_same_seed_answers_the_same_and_another_one_differs() {
        let now = Timestamp::from_millis(0);
        let answers = |seed| {
            let ids = SeededIds::new(seed);
            let mut bytes = [0; 32];
            ids.fill(&mut bytes);
            (ids.uuid(now), bytes)
        };
        assert_eq!(answers(1), answers(1));
        assert_ne!(answers(1), answers(2));
    }

    #[test]
    fn no_two_fills_are_alike() {
        let ids = SeededIds::new(3);
        let mut seen = BTreeSet::new();
        for _ in 0..10_000 {
            let mut bytes = [0; 16];
            ids.fill(&mut bytes);
            assert!(seen.insert(bytes));
        }
    }
}
