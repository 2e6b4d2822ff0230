//! When this process last saw it recorded that connections were heard (X9).

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::Timestamp;
use crate::ids::{CompanyId, ConnectionId};

/// How often it is recorded at most that a connection was heard (X9).
pub const HEARD_AGAIN: Duration = Duration::from_secs(60);
/// How many connections are remembered. Beyond that all are forgotten, which costs a read each.
const REMEMBERED: usize = 100_000;

/// When this process last saw it recorded that a connection was heard.
#[derive(Debug, Default)]
pub(crate) struct LastHeard(Mutex<HashMap<(CompanyId, ConnectionId), Timestamp>>);

impl LastHeard {
    /// Whether that is old enough to be recorded again.
    pub(super) fn is_old(&self, of: (CompanyId, ConnectionId), now: Timestamp) -> bool {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(&of).is_none_or(|at| !is_recent(*at, now))
    }

    pub(super) fn remember(&self, of: (CompanyId, ConnectionId), at: Timestamp) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= REMEMBERED {
            known.clear();
        }
        known.insert(of, at);
    }
}

/// Whether a record of this time stands for `now`, too.
pub(super) fn is_recent(at: Timestamp, now: Timestamp) -> bool {
    at <= now && now < at.plus(HEARD_AGAIN)
}
