//! The installation's secrets: read, or made, at their first use.

use std::convert::Infallible;

use crate::Recado;
use crate::access::{Secret, SecretName};
use crate::contacts::CursorKey;
use crate::keyed_hash::HashKey;
use crate::messages::MediaLinks;
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

    /// Makes and checks the links to received media (D31a).
    pub(crate) async fn media_links(&self) -> Result<&MediaLinks, StoreError> {
        let cell = self.media_links_cell();
        if let Some(links) = cell.get() {
            return Ok(links);
        }
        let key = self.secret(SecretName::MediaKey).await?;
        let public_url = self.settings().public_url.clone();
        Ok(cell.get_or_init(|| MediaLinks::new(public_url, key)))
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
