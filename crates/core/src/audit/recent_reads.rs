//! Documents that are read in parts (R386).

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
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
    fn known(&self) -> MutexGuard<'_, HashMap<(Actor, DocumentId), Timestamp>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a read goes on with one that is remembered. One from the first byte does not, and
    /// neither does one of a later part that follows no part that this process sent. Otherwise
    /// nobody who leaves out the first byte would be in the log.
    pub(crate) fn goes_on(
        &self,
        actor: Actor,
        document: DocumentId,
        from: u64,
        now: Timestamp,
    ) -> bool {
        let began = now.minus(GOES_ON);
        from > 0 && self.known().get(&(actor, document)).is_some_and(|at| *at > began)
    }

    /// Remembers a read that is in the log.
    pub(crate) fn remember(&self, actor: Actor, document: DocumentId, now: Timestamp) {
        let mut known = self.known();
        if known.len() >= REMEMBERED {
            let began = now.minus(GOES_ON);
            known.retain(|_, at| *at > began);
        }
        let key = (actor, document);
        if known.len() < REMEMBERED || known.contains_key(&key) {
            known.insert(key, now);
        }
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn document(n: usize) -> DocumentId {
        DocumentId::new(Uuid::from_u128(n as u128))
    }

    /// Whether a read is a new one, which is then logged and remembered.
    fn is_new(
        reads: &RecentReads,
        actor: Actor,
        document: DocumentId,
        from: u64,
        now: Timestamp,
    ) -> bool {
        let goes_on = reads.goes_on(actor, document, from, now);
        reads.remember(actor, document, now);
        !goes_on
    }

    /// R386.
    #[test]
    fn a_later_part_is_a_new_read_where_none_before_it_was_sent_to_the_same_actor() {
        let reads = RecentReads::default();
        let at = Timestamp::from_millis;
        let hour = i64::try_from(GOES_ON.as_millis()).expect("an hour");
        assert!(is_new(&reads, Actor::Root, document(1), 1, at(0)));
        assert!(!is_new(&reads, Actor::Root, document(1), 2, at(1)));
        assert!(is_new(&reads, Actor::Root, document(1), 0, at(2)), "from the first byte");
        assert!(is_new(&reads, Actor::Root, document(2), 2, at(3)));
        assert!(is_new(&reads, Actor::Program, document(1), 2, at(3)));
        assert!(!is_new(&reads, Actor::Root, document(1), 3, at(1 + hour)));
        assert!(is_new(&reads, Actor::Root, document(1), 4, at(1 + 2 * hour)), "an hour later");
        // The question alone changes nothing.
        assert!(!reads.goes_on(Actor::Program, document(3), 1, at(0)));
        assert!(!reads.goes_on(Actor::Program, document(3), 2, at(0)));
    }

    /// R386.
    #[test]
    fn a_process_remembers_so_many_reads_and_takes_each_part_of_others_for_a_new_one() {
        let reads = RecentReads::default();
        let at = Timestamp::from_millis;
        for n in 0..REMEMBERED {
            is_new(&reads, Actor::Root, document(n), 0, at(0));
        }
        let other = document(REMEMBERED);
        assert!([1, 2].into_iter().all(|from| is_new(&reads, Actor::Root, other, from, at(1))));
        assert!(!is_new(&reads, Actor::Root, document(0), 1, at(1)));
    }
}
