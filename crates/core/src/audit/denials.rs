//! The refusals that a process remembers (R387).

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::{Actor, AuditEntry, OperationName};
use crate::Timestamp;

/// How long one refusal stands for those like it (R387).
const ONCE_IN: Duration = Duration::from_secs(60);
/// How many refusals a process remembers at most. While it remembers as many, others are not
/// logged.
const REMEMBERED: usize = 10_000;

/// How many entries are written in one step.
const AT_ONCE: usize = 256;

/// The refusals of the last minute, by who was refused what.
#[derive(Debug, Default)]
pub(crate) struct RecentDenials {
    known: Mutex<HashMap<(Actor, OperationName), Timestamp>>,
    /// Entries that are written later.
    unwritten: Mutex<VecDeque<AuditEntry>>,
}

impl RecentDenials {
    /// Whether a refusal gets an entry: one per actor, operation and minute does, and no more than
    /// this process remembers (R387).
    pub(super) fn is_first(&self, actor: Actor, operation: &OperationName, now: Timestamp) -> bool {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let began = now.minus(ONCE_IN);
        if known.len() >= REMEMBERED {
            known.retain(|_, at| *at > began);
        }
        let key = (actor, operation.clone());
        let is_recent = known.get(&key).is_some_and(|at| *at > began);
        if is_recent || known.len() >= REMEMBERED {
            return false;
        }
        known.insert(key, now);
        true
    }

    /// Keeps an entry until it is written, unless too many wait.
    pub(super) fn keep(&self, entry: AuditEntry) {
        let mut unwritten = self.unwritten.lock().unwrap_or_else(PoisonError::into_inner);
        if unwritten.len() < REMEMBERED {
            unwritten.push_back(entry);
        }
    }

    /// Some of the kept entries, the oldest first.
    pub(super) fn take(&self) -> Vec<AuditEntry> {
        let mut unwritten = self.unwritten.lock().unwrap_or_else(PoisonError::into_inner);
        let count = unwritten.len().min(AT_ONCE);
        unwritten.drain(..count).collect()
    }

    /// Keeps entries that were taken and could not be written, in front of those that came
    /// meanwhile, unless too many wait.
    pub(super) fn put_back(&self, entries: impl DoubleEndedIterator<Item = AuditEntry>) {
        let mut unwritten = self.unwritten.lock().unwrap_or_else(PoisonError::into_inner);
        for entry in entries.rev() {
            if unwritten.len() < REMEMBERED {
                unwritten.push_front(entry);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R387.
    #[test]
    fn a_refusal_is_logged_once_a_minute_for_each_actor_and_operation() {
        let recent = RecentDenials::default();
        let [one, other] = ["createContact", "listContacts"].map(OperationName::of);
        let at = Timestamp::from_millis;
        assert!(recent.is_first(Actor::Root, &one, at(0)));
        assert!(!recent.is_first(Actor::Root, &one, at(59_999)));
        assert!(recent.is_first(Actor::Root, &other, at(59_999)));
        assert!(recent.is_first(Actor::Program, &one, at(59_999)));
        assert!(recent.is_first(Actor::Root, &one, at(60_000)));
    }

    /// R387.
    #[test]
    fn a_process_remembers_so_many_refusals_and_logs_no_others() {
        let recent = RecentDenials::default();
        let name = |n: usize| OperationName::new(&n.to_string());
        let at = Timestamp::from_millis;
        assert!((0..REMEMBERED).all(|n| recent.is_first(Actor::Root, &name(n), at(0))));
        assert!(!recent.is_first(Actor::Root, &name(REMEMBERED), at(1)));
        assert!(recent.is_first(Actor::Root, &name(REMEMBERED), at(60_000)));
    }
}
