//! Random numbers that are the same in every run of a seed.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// SplitMix64. Clones share one sequence.
#[derive(Clone, Debug)]
pub struct Dice(Arc<AtomicU64>);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(Arc::new(AtomicU64::new(seed.wrapping_mul(0xd1b5_4a32_d192_ed03))))
    }

    fn next(&self) -> u64 {
        let step = 0x9e37_79b9_7f4a_7c15;
        let mut mixed = self.0.fetch_add(step, Ordering::Relaxed).wrapping_add(step);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub fn below(&self, end: usize) -> usize {
        let end = u64::try_from(end.max(1)).expect("a small number");
        usize::try_from(self.next() % end).expect("below a small number")
    }

    pub fn one_in(&self, times: usize) -> bool {
        self.below(times) == 0
    }

    pub fn pick<'a, T>(&self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }
}
