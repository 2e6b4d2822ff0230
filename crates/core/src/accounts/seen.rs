//! When sessions were last used, without a write per call (R397).

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::Session;
use crate::Timestamp;
use crate::ids::{CompanyId, SessionId};

/// How many sessions are noted at most until they are written. One beyond that is noted by one of
/// its later calls.
const NOTED: usize = 10_000;
/// How many are written in one step.
const AT_ONCE: usize = 256;
/// What `last_seen_at` is exact to.
const WRITTEN_EVERY: Duration = Duration::from_secs(5 * 60);

type Key = (CompanyId, SessionId);

/// The sessions whose use this process has yet to write.
#[derive(Debug, Default)]
pub(crate) struct SeenSessions(Mutex<BTreeMap<Key, Timestamp>>);

impl SeenSessions {
    fn noted(&self) -> MutexGuard<'_, BTreeMap<Key, Timestamp>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that a session was used, unless that is written already (R397).
    pub(super) fn note(&self, session: &Session, now: Timestamp) {
        if !is_due(session, now) {
            return;
        }
        let mut noted = self.noted();
        if noted.len() < NOTED {
            noted.insert((session.company, session.id), now);
        }
    }

    pub(super) fn take(&self) -> Vec<(Key, Timestamp)> {
        let mut noted = self.noted();
        let taken: Vec<_> = noted.iter().take(AT_ONCE).map(|(key, at)| (*key, *at)).collect();
        for (key, _) in &taken {
            noted.remove(key);
        }
        taken
    }
}

/// Whether a use has to be written: at most once in five minutes.
pub(super) fn is_due(session: &Session, now: Timestamp) -> bool {
    now >= session.last_seen_at.plus(WRITTEN_EVERY)
}
