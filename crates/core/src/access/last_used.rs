//! When keys were last used, to the hour, without a write per call (R221).

use super::used_keys::{hour, is_written};
use super::{Access, ApiKey};
use crate::store::{ChangeSet, RecordsExt, StoreError};

impl Access<'_> {
    /// Writes the hour in which keys were used, for those that calls noted since the last time
    /// (R221): at most one write per key and hour, over all processes. A change or deletion of the
    /// key at the same time goes before it; a later call of that hour notes the key again.
    pub(crate) async fn record_uses(&self) -> Result<(), StoreError> {
        for key in self.app.used_keys().take() {
            let now = self.app.now();
            let Some(key) = self.app.store().get::<ApiKey>(key).await? else { continue };
            if !is_written(&key, now) {
                let used = ApiKey { last_used_at: Some(hour(now)), ..key.value().clone() };
                match self.app.commit_once(ChangeSet::new().with(key.update(used))).await {
                    // The call of a closed company was a read (D76).
                    Ok(_) | Err(StoreError::Closed) => {}
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(())
    }
}
