//! Writing when sessions were last used (R397).

use super::seen::is_due;
use super::{Accounts, Session};
use crate::store::{ChangeSet, RecordsExt, StoreError};

impl Accounts<'_> {
    /// Writes when sessions were used, for those that calls noted since the last time (R397). A
    /// change or the end of the session at the same time goes before it.
    pub(crate) async fn record_seen(&self) -> Result<(), StoreError> {
        for (key, last_seen_at) in self.app.seen_sessions().take() {
            let Some(session) = self.app.store().get::<Session>(key).await? else { continue };
            if !is_due(&session, last_seen_at) {
                continue;
            }
            let seen = Session { last_seen_at, ..session.value().clone() };
            match self.app.commit_once(ChangeSet::new().with(session.update(seen))).await {
                // The call of a closed company was a read (D76).
                Ok(_) | Err(StoreError::Closed) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}
