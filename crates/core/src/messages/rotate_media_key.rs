//! Replacing the key that signs links to received media (R194).

use std::convert::Infallible;

use serde::Serialize;

use super::{KEY_BYTES, MediaKeys, Messages};
use crate::Timestamp;
use crate::access::{Secret, SecretName};
use crate::error::Error;
use crate::secret::SecretBytes;
use crate::store::{ChangeSet, Decided, RecordsExt, StoreError, Stored};

/// What the rotation of the key did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct MediaKeyRotation {
    /// When the new key began to sign.
    pub rotated_at: Timestamp,
    /// When the last link under a replaced key ends; `None` if all have ended.
    pub links_until: Option<Timestamp>,
}

impl Messages<'_> {
    /// Replaces the key that signs links to received media (R194). Links that were given out stay
    /// good until their end; with `at_once` they end now. Other processes follow within a minute.
    ///
    /// # Errors
    ///
    /// When the store fails.
    pub async fn rotate_media_key(&self, at_once: bool) -> Result<MediaKeyRotation, StoreError> {
        let app = self.app;
        let new = &SecretBytes::new(app.random::<KEY_BYTES>());
        let lifetime = app.settings().media_link_lifetime;
        let rotated = app.decide(|now| async move {
            let known = app.store().get::<Secret>(SecretName::MediaKey).await?;
            let kept = app.store().get::<Secret>(SecretName::MediaKeyPrevious).await?;
            let rotated = known.as_ref().map(|known| {
                let keys = MediaKeys::new(known.bytes.clone(), kept.as_ref().map(|k| &k.bytes));
                keys.rotated(new.clone(), at_once, now, lifetime)
            });
            // Without a key there are no links.
            let keys = rotated.unwrap_or_else(|| MediaKeys::new(new.clone(), None));
            let changes = ChangeSet::new();
            let changes = put(changes, SecretName::MediaKey, known, Some(keys.current().clone()));
            let changes = put(changes, SecretName::MediaKeyPrevious, kept, keys.previous());
            let links_until = keys.previous_end();
            Ok(Decided::new(changes, MediaKeyRotation { rotated_at: now, links_until }))
        });
        let rotated = rotated.await.map_err(|error: Error<Infallible>| StoreError::from(error))?;
        app.known_media_keys().forget();
        Ok(rotated)
    }
}

/// Makes a secret hold these bytes, or removes it.
fn put(
    changes: ChangeSet,
    name: SecretName,
    known: Option<Stored<Secret>>,
    bytes: Option<SecretBytes>,
) -> ChangeSet {
    match (known, bytes.map(|bytes| Secret { name, bytes })) {
        (Some(known), Some(secret)) => changes.with(known.update(secret)),
        (Some(known), None) => changes.with(known.delete()),
        (None, Some(secret)) => changes.insert(secret),
        (None, None) => changes,
    }
}
