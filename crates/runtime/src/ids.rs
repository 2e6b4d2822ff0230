//! Identifiers and secrets from the operating system's random source.

use std::sync::{Mutex, PoisonError};

use recado_core::{Cell, Ids, Timestamp};
use uuid::Uuid;

/// The size of the step between two ids of one millisecond: random, but small compared with the
/// tail.
const STEP_BITS: u32 = 32;

/// Makes identifiers that ascend within a millisecond, and secrets (D3).
#[derive(Debug, Default)]
pub struct RandomIds {
    cell: Cell,
    latest: Mutex<Latest>,
}

/// The last id of the latest millisecond seen.
#[derive(Clone, Copy, Debug, Default)]
struct Latest {
    millis: u64,
    tail: u128,
}

impl RandomIds {
    /// A generator. Ids ascend within one generator; share it.
    pub fn new() -> Self {
        Self::default()
    }

    /// A generator for one of several installations (D3, D11).
    pub fn in_cell(cell: Cell) -> Self {
        Self { cell, ..Self::default() }
    }

    fn tail(&self, millis: u64) -> u128 {
        let random = u128::from_be_bytes(random());
        // The top bit stays clear, so that the ids of a millisecond can count up.
        let fresh = random & ((1 << (self.cell.tail_bits() - 1)) - 1);
        let mut latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        if millis < latest.millis {
            // A caller with an older time gets a random id; the order of later ids does not change.
            return fresh;
        }
        let tail = if millis == latest.millis {
            latest.tail + 1 + (random & ((1 << STEP_BITS) - 1))
        } else {
            fresh
        };
        *latest = Latest { millis, tail };
        tail
    }
}

impl Ids for RandomIds {
    fn uuid(&self, now: Timestamp) -> Uuid {
        let millis = u64::try_from(now.millis()).unwrap_or(0);
        self.cell.uuid(millis, self.tail(millis))
    }

    fn cell(&self) -> Cell {
        self.cell
    }

    fn fill(&self, bytes: &mut [u8]) {
        getrandom::fill(bytes).expect("the operating system has a random source");
    }
}

/// Sixteen random bytes.
pub(crate) fn random() -> [u8; 16] {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).expect("the operating system has a random source");
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = 1_795_000_000_123;

    /// Cell 0 and another one.
    fn generators() -> [RandomIds; 2] {
        [RandomIds::new(), RandomIds::in_cell(Cell::new(417).expect("a cell"))]
    }

    /// D3.
    #[test]
    fn ids_of_one_millisecond_ascend() {
        for ids in generators() {
            let made: Vec<Uuid> =
                (0..10_000).map(|_| ids.uuid(Timestamp::from_millis(NOW))).collect();
            assert!(made.windows(2).all(|pair| pair[0] < pair[1]));
        }
    }

    /// D3.
    #[test]
    fn an_id_carries_its_cell_and_its_time() {
        for ids in generators() {
            let id = ids.uuid(Timestamp::from_millis(NOW));
            assert_eq!(Cell::of_uuid(id), Some(ids.cell()));
            assert_eq!((id.as_u128() >> 80) as i64, NOW);
        }
    }

    #[test]
    fn an_older_time_does_not_break_the_order_of_later_ids() {
        let ids = RandomIds::new();
        let first = ids.uuid(Timestamp::from_millis(NOW));
        let older = ids.uuid(Timestamp::from_millis(NOW - 1));
        let second = ids.uuid(Timestamp::from_millis(NOW));
        assert!(older < first && first < second);
    }

    #[test]
    fn two_fills_differ() {
        let (mut a, mut b) = ([0; 32], [0; 32]);
        RandomIds::new().fill(&mut a);
        RandomIds::new().fill(&mut b);
        assert_ne!(a, b);
    }
}
