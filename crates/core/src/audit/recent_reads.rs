//! Documents that are read in parts (R386).

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::Actor;
use crate::Timestamp;
use crate::ids::DocumentId;

/// How long after a part the next one still belongs to the same read.
const GOES_ON: Duration = Duration::from_secs(60 * 60);
/// How many reads a process remembers at most. While it remembers as many, each part of others is
/// logged.
const REMEMBERED: usize = 10_000;

/// The reads of documents that this process has logged lately.
#[derive(Debug, Default)]
pub(crate) struct RecentReads(Mutex<HashMap<(Actor, DocumentId), Timestamp>>);

impl RecentReads {
    /// Whether a read is a new one: one from the first byte is, and so is one of a later part that
    /// follows no part that this process sent. Otherwise nobody who leaves out the first byte would
    /// be in the log.
    pub(crate) fn is_new(
        &self,
        actor: Actor,
        document: DocumentId,
        from: u64,
        now: Timestamp,
    ) -> bool {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let began = now.minus(GOES_ON);
        if known.len() >= REMEMBERED {
            known.retain(|_, at| *at > began);
        }
        let key = (actor, document);
        let goes_on = from > 0 && known.get(&key).is_some_and(|at| *at > began);
        if known.len() < REMEMBERED || known.contains_key(&key) {
            known.insert(key, now);
        }
        !goes_on
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn document(n: usize) -> DocumentId {
        DocumentId::new(Uuid::from_u128(n as u128))
    }

    /// R386.
    #[test]
    fn a_later_part_is_a_new_read_where_none_before_it_was_sent_to_the_same_actor() {
        let reads = RecentReads::default();
        let at = Timestamp::from_millis;
        let hour = i64::try_from(GOES_ON.as_millis()).expect("an hour");
        assert!(reads.is_new(Actor::Root, document(1), 1, at(0)));
        assert!(!reads.is_new(Actor::Root, document(1), 2, at(1)));
        assert!(reads.is_new(Actor::Root, document(1), 0, at(2)), "from the first byte");
        assert!(reads.is_new(Actor::Root, document(2), 2, at(3)));
        assert!(reads.is_new(Actor::Program, document(1), 2, at(3)));
        assert!(!reads.is_new(Actor::Root, document(1), 3, at(1 + hour)));
        assert!(reads.is_new(Actor::Root, document(1), 4, at(1 + 2 * hour)), "an hour later");
    }

    /// R386.
    #[test]
    fn a_process_remembers_so_many_reads_and_takes_each_part_of_others_for_a_new_one() {
        let reads = RecentReads::default();
        let at = Timestamp::from_millis;
        for n in 0..REMEMBERED {
            reads.is_new(Actor::Root, document(n), 0, at(0));
        }
        let other = document(REMEMBERED);
        assert!([1, 2].into_iter().all(|from| reads.is_new(Actor::Root, other, from, at(1))));
        assert!(!reads.is_new(Actor::Root, document(0), 1, at(1)));
    }
}
