//! The installation's secrets: read, or made, at their first use.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use crate::Recado;
use crate::access::{Secret, SecretName};
use crate::contacts::CursorKey;
use crate::ids::{CompanyId, MessageId};
use crate::keyed_hash::HashKey;
use crate::messages::{KEYS_READ_AGAIN, LinkTarget, MediaKeys, MediaLinks, UNKNOWN_READ_AGAIN};
use crate::secret::SecretBytes;
use crate::store::{ChangeSet, Decided, RecordsExt, StoreError};

impl Recado {
    /// The key that signs cursors.
    pub(crate) async fn cursor_key(&self) -> Result<&CursorKey, StoreError> {
        let cell = self.cursor_key_cell();
        if let Some(key) = cell.get() {
            return Ok(key);
        }
        let key = self.secret(SecretName::CursorKey).await?;
        Ok(cell.get_or_init(|| CursorKey::new(key)))
    }

    /// Makes links to received media (D31a), which end as those that are made now do (R193).
    pub(crate) async fn media_links(&self) -> Result<MediaLinks, StoreError> {
        let keys = self.media_keys(KEYS_READ_AGAIN).await?;
        let settings = self.settings();
        Ok(keys.links(&settings.public_url, self.now(), settings.media_link_lifetime))
    }

    /// What the last part of a link to received media leads to.
    ///
    /// R193, R194.
    pub(crate) async fn media_target(
        &self,
        company: CompanyId,
        id: MessageId,
        presented: &str,
    ) -> Result<Option<LinkTarget>, StoreError> {
        let keys = self.media_keys(KEYS_READ_AGAIN).await?;
        if let Some(target) = keys.target(company, id, presented, self.now()) {
            return Ok(Some(target));
        }
        // Another process may sign with a new key already.
        let newer = self.media_keys(UNKNOWN_READ_AGAIN).await?;
        Ok(newer.target(company, id, presented, self.now()))
    }

    /// The keys of links to received media, read again when they are older than `max_age` (R194).
    async fn media_keys(&self, max_age: Duration) -> Result<Arc<MediaKeys>, StoreError> {
        let (known, now) = (self.known_media_keys(), self.now());
        if let Some(keys) = known.recent(now, max_age) {
            return Ok(keys);
        }
        // In this order: a rotation between the two reads moves the first key to the others.
        let current = self.secret(SecretName::MediaKey).await?;
        let previous = self.store().get::<Secret>(SecretName::MediaKeyPrevious).await?;
        let keys = MediaKeys::new(current, previous.as_ref().map(|secret| &secret.bytes));
        Ok(known.remember(keys, now))
    }

    /// The key of keyed hashes (R222).
    pub(crate) async fn hash_key(&self) -> Result<&HashKey, StoreError> {
        let cell = self.hash_key_cell();
        if let Some(key) = cell.get() {
            return Ok(key);
        }
        let key = self.secret(SecretName::HashKey).await?;
        Ok(cell.get_or_init(|| HashKey::new(key)))
    }

    /// Makes the secrets of the installation that are otherwise made when they are first needed:
    /// before some of its companies go on elsewhere, with the same ones (R261).
    ///
    /// # Errors
    ///
    /// When the store fails.
    pub async fn make_secrets(&self) -> Result<(), StoreError> {
        for name in [SecretName::CursorKey, SecretName::MediaKey, SecretName::HashKey] {
            self.secret(name).await?;
        }
        Ok(())
    }

    /// Reads a secret of the installation, or makes it; of several processes that start at once,
    /// one makes it and the others read that one.
    async fn secret(&self, name: SecretName) -> Result<SecretBytes, StoreError> {
        let read = self.decide::<_, Infallible, _>(|_| async move {
            if let Some(secret) = self.store().get::<Secret>(name).await? {
                return Ok(Decided::unchanged(secret.bytes.clone()));
            }
            let bytes = SecretBytes::new(self.random::<32>().to_vec());
            let secret = Secret { name, bytes: bytes.clone() };
            Ok(Decided::new(ChangeSet::new().insert(secret), bytes))
        });
        Ok(read.await?)
    }
}
