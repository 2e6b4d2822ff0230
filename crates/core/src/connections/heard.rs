//! When gateways were last heard, so that an operator notices one that falls silent (X9).

use super::last_heard::is_recent;
use super::{Connection, Connections};
use crate::ids::{CompanyId, ConnectionId};
use crate::store::{ChangeSet, RecordsExt, StoreError};

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
