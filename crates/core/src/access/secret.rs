//! Secrets of the installation, kept in the store and shared by all processes.

use crate::secret::SecretBytes;
use crate::words::words;

words! {
    /// Which secret.
    SecretName {
        /// Authenticates export cursors (D25).
        CursorKey = "cursor_key",
        /// Signs the links to received media (D31a).
        MediaKey = "media_key",
        /// The keys that signed them before, each with its end (R194).
        MediaKeyPrevious = "media_key_previous",
        /// Makes the keyed hashes of secrets that are only compared (R222).
        HashKey = "hash_key",
    }
}

/// A secret, made when the installation first needs it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Secret {
    /// Which one.
    pub name: SecretName,
    /// The secret itself.
    pub bytes: SecretBytes,
}
