//! When gateways were last heard, so that an operator notices one that falls silent (X9).

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::{Connection, Connections};
use crate::Timestamp;
use crate::ids::{CompanyId, ConnectionId};
use crate::store::{ChangeSet, RecordsExt, StoreError};

/// How often it is recorded at most that a connection was heard (X9).
pub const HEARD_AGAIN: Duration = Duration::from_secs(60);
/// How many connections are remembered. Beyond that all are forgotten, which costs a read each.
const REMEMBERED: usize = 100_000;

/// When this process last saw it recorded that a connection was heard.
#[derive(Debug, Default)]
pub(crate) struct LastHeard(Mutex<HashMap<(CompanyId, ConnectionId), Timestamp>>);

impl LastHeard {
    /// Whether that is old enough to be recorded again.
    fn is_old(&self, of: (CompanyId, ConnectionId), now: Timestamp) -> bool {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(&of).is_none_or(|at| !is_recent(*at, now))
    }

    fn remember(&self, of: (CompanyId, ConnectionId), at: Timestamp) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= REMEMBERED {
            known.clear();
        }
        known.insert(of, at);
    }
}

/// Whether a record of this time stands for `now`, too.
fn is_recent(at: Timestamp, now: Timestamp) -> bool {
    at <= now && now < at.plus(HEARD_AGAIN)
}

impl Connections<'_> {
    /// Records that an event of a connection's gateway came (X9). Most calls write nothing: the
    /// time is written when the last one is a minute old. One that another process writes at the
    /// same time is as good, and a change of the connection goes before it.
    ///
    /// # Errors
    ///
    /// When the store fails.
    pub async fn heard(&self, company: CompanyId, id: ConnectionId) -> Result<(), StoreError> {
        let (heard, now) = (self.app.heard(), self.app.now());
        if !heard.is_old((company, id), now) {
            return Ok(());
        }
        let Some(connection) = self.app.store().get::<Connection>((company, id)).await? else {
            return Ok(());
        };
        let recorded = connection.last_heard_at.filter(|at| is_recent(*at, now));
        if recorded.is_none() {
            let at = Connection { last_heard_at: Some(now), ..connection.value().clone() };
            if !self.app.commit_once(ChangeSet::new().with(connection.update(at))).await? {
                return Ok(());
            }
        }
        heard.remember((company, id), recorded.unwrap_or(now));
        Ok(())
    }
}
