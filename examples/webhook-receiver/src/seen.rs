//! Which deliveries were accepted already.

use std::collections::{HashSet, VecDeque};

/// The ids of the latest deliveries. A delivery is sent again until it was answered with 2xx, so
/// the same one can come twice; and 10,000 ids of 36 characters are about a megabyte.
///
/// It is in the memory of one process. A receiver that must not process a delivery twice across
/// restarts, or that runs in several processes, stores the id in its database instead: under a
/// unique key, in the transaction that processes the event.
#[derive(Debug)]
pub struct Seen {
    most: usize,
    ids: HashSet<String>,
    order: VecDeque<String>,
}

impl Seen {
    /// Remembers at most `most` ids.
    pub fn new(most: usize) -> Self {
        Self { most: most.max(1), ids: HashSet::new(), order: VecDeque::new() }
    }

    /// Whether the id is one of the latest deliveries.
    pub fn contains(&self, id: &str) -> bool {
        self.ids.contains(id)
    }

    /// Stores an id, and removes the oldest if there are too many.
    pub fn insert(&mut self, id: &str) {
        if !self.ids.insert(id.to_owned()) {
            return;
        }
        self.order.push_back(id.to_owned());
        if self.order.len() > self.most
            && let Some(oldest) = self.order.pop_front()
        {
            self.ids.remove(&oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_is_forgotten_first_and_memory_stays_bounded() {
        let mut seen = Seen::new(2);
        for id in ["a", "b", "a", "b", "c"] {
            seen.insert(id);
        }
        assert_eq!(["a", "b", "c"].map(|id| seen.contains(id)), [false, true, true]);
        assert_eq!((seen.ids.len(), seen.order.len()), (2, 2));
    }
}
