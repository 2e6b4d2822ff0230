//! When keys and operator tokens were last used, to the hour, without a write per call (R221).

use super::used_keys::{Used, hour, is_written};
use super::{Access, ApiKey, OperatorToken};
use crate::Timestamp;
use crate::store::{ChangeSet, RecordsExt, StoreError};

impl Access<'_> {
    /// Writes the hour in which keys and operator tokens were used, for those that calls noted
    /// since the last time (R221): at most one write per key and hour, over all processes. A change
    /// or deletion of the key at the same time goes before it; a later call of that hour notes the
    /// key again.
    pub(crate) async fn record_uses(&self) -> Result<(), StoreError> {
        for used in self.app.used_keys().take() {
            let now = self.app.now();
            let Some(change) = self.use_of(used, now).await? else { continue };
            match self.app.commit_once(change).await {
                // The call of a closed company was a read (D76).
                Ok(_) | Err(StoreError::Closed) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    async fn use_of(&self, used: Used, now: Timestamp) -> Result<Option<ChangeSet>, StoreError> {
        let (store, last_used_at) = (self.app.store(), Some(hour(now)));
        Ok(match used {
            Used::Key(company, id) => {
                let key = store.get::<ApiKey>((company, id)).await?;
                let key = key.filter(|key| !is_written(key.last_used_at, now));
                key.map(|key| key.update(ApiKey { last_used_at, ..key.value().clone() }))
            }
            Used::Token(id) => {
                let token = store.get::<OperatorToken>(id).await?;
                let token = token.filter(|token| !is_written(token.last_used_at, now));
                token.map(|token| {
                    token.update(OperatorToken { last_used_at, ..token.value().clone() })
                })
            }
        }
        .map(|change| ChangeSet::new().with(change)))
    }
}
