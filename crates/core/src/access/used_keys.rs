//! The keys and operator tokens whose use has yet to be written, and the hour that is written
//! (R221).

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{ApiKey, OperatorToken};
use crate::Timestamp;
use crate::ids::{CompanyId, KeyId, OperatorTokenId};

/// How many keys are noted at most until they are written. A key beyond that is noted by one of its
/// later calls.
const NOTED: usize = 10_000;
/// How many are written in one step.
const AT_ONCE: usize = 256;
/// An hour in milliseconds: `last_used_at` says no more.
const HOUR: i64 = 60 * 60 * 1000;

/// What calls come with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Used {
    Key(CompanyId, KeyId),
    Token(OperatorTokenId),
}

/// The keys and tokens whose use this process has yet to write.
#[derive(Debug, Default)]
pub(crate) struct UsedKeys(Mutex<BTreeSet<Used>>);

impl UsedKeys {
    fn noted(&self) -> MutexGuard<'_, BTreeSet<Used>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that a key was used, unless that is written already (R221).
    pub(super) fn note(&self, key: &ApiKey, now: Timestamp) {
        if !is_written(key.last_used_at, now) {
            self.insert(Used::Key(key.company, key.id));
        }
    }

    /// Notes that an operator token was used, unless that is written already (R221).
    pub(super) fn note_operator(&self, token: &OperatorToken, now: Timestamp) {
        if !is_written(token.last_used_at, now) {
            self.insert(Used::Token(token.id));
        }
    }

    fn insert(&self, used: Used) {
        let mut noted = self.noted();
        if noted.len() < NOTED {
            noted.insert(used);
        }
    }

    pub(super) fn take(&self) -> Vec<Used> {
        let mut noted = self.noted();
        let taken: Vec<_> = noted.iter().take(AT_ONCE).copied().collect();
        for key in &taken {
            noted.remove(key);
        }
        taken
    }
}

/// The hour that a time lies in, by its beginning.
pub(super) fn hour(at: Timestamp) -> Timestamp {
    Timestamp::from_millis(at.millis().div_euclid(HOUR).saturating_mul(HOUR))
}

/// Whether it is written that something was used in this hour.
pub(super) fn is_written(last_used_at: Option<Timestamp>, now: Timestamp) -> bool {
    last_used_at.is_some_and(|at| at >= hour(now))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R221.
    #[test]
    fn a_time_is_rounded_down_to_its_hour() {
        let read = |text| Timestamp::parse(text).expect("a time");
        for (at, rounded) in [
            ("2026-11-20T17:31:36.123Z", "2026-11-20T17:00:00.000Z"),
            ("2026-11-20T17:00:00.000Z", "2026-11-20T17:00:00.000Z"),
            ("1969-12-31T23:59:59.999Z", "1969-12-31T23:00:00.000Z"),
        ] {
            assert_eq!(hour(read(at)), read(rounded), "{at}");
        }
        hour(Timestamp::MIN);
    }
}
