//! Keyed hashes: what is kept of secrets that are only compared (R222).

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::secret::SecretBytes;

/// The installation's key of the hashes, kept with its other secrets. Whoever sees a hash without
/// this key cannot even try whether it is that of a secret that somebody may have chosen.
#[derive(Clone, Debug)]
pub struct HashKey(SecretBytes);

impl HashKey {
    /// A key of these bytes.
    pub const fn new(bytes: SecretBytes) -> Self {
        Self(bytes)
    }

    /// The HMAC-SHA-256 of a secret of one kind. Each kind has a label of its own, so that a hash
    /// of one kind is never one of another (R222).
    pub(crate) fn hash(&self, label: &str, secret: &[u8]) -> [u8; 32] {
        let mut mac =
            Hmac::<Sha256>::new_from_slice(self.0.expose()).expect("HMAC takes keys of any length");
        mac.update(label.as_bytes());
        mac.update(b":");
        mac.update(secret);
        mac.finalize().into_bytes().into()
    }
}

/// Declares the keyed hash of one kind of secret (R222).
macro_rules! keyed_hash {
    ($(#[doc = $doc:literal])+ $Name:ident of $label:literal) => {
        $(#[doc = $doc])+
        #[derive(Clone, Copy, PartialEq, Eq, Hash)]
        pub struct $Name([u8; 32]);

        impl $Name {
            /// The hash of a secret, whatever its form.
            pub fn of(key: &$crate::keyed_hash::HashKey, secret: &[u8]) -> Self {
                Self(key.hash($label, secret))
            }

            /// A hash as a store keeps it.
            pub const fn from_bytes(bytes: [u8; 32]) -> Self {
                Self(bytes)
            }

            /// The bytes, for stores.
            pub const fn as_bytes(&self) -> &[u8; 32] {
                &self.0
            }

            /// The 43 base64url characters, for stores that keep it as text.
            pub fn to_text(&self) -> String {
                use base64::Engine;
                base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(self.0)
            }

            /// Reads such a text.
            pub fn from_text(text: &str) -> Option<Self> {
                use base64::Engine;
                let bytes = base64::engine::general_purpose::URL_SAFE_NO_PAD.decode(text).ok()?;
                bytes.try_into().ok().map(Self)
            }
        }

        impl std::fmt::Debug for $Name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                $crate::secret::masked(f, stringify!($Name), "***", &self.0)
            }
        }
    };
}
pub(crate) use keyed_hash;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inbound::EndpointSecretHash;
    use crate::links::LinkCodeHash;

    fn key(byte: u8) -> HashKey {
        HashKey::new(SecretBytes::new([byte; 32]))
    }

    /// R222.
    #[test]
    fn a_hash_is_the_hmac_of_the_label_and_the_secret() {
        // printf "link code:hunter2" | openssl dgst -sha256 -mac HMAC -macopt hexkey:0707…07
        let expected = "8b51538bd7fbf5bb78b66838424ed1a91b6c941654c1e26be4ebbc98b537e4f5";
        let hash = LinkCodeHash::of(&key(7), b"hunter2");
        assert_eq!(hash.as_bytes().map(|byte| format!("{byte:02x}")).concat(), expected);
    }

    /// R222.
    #[test]
    fn hashes_differ_by_key_kind_and_secret() {
        let hash = LinkCodeHash::of(&key(7), b"hunter2");
        assert_eq!(hash, LinkCodeHash::of(&key(7), b"hunter2"));
        assert_ne!(hash, LinkCodeHash::of(&key(8), b"hunter2"));
        assert_ne!(hash, LinkCodeHash::of(&key(7), b"hunter3"));
        assert_ne!(hash.as_bytes(), EndpointSecretHash::of(&key(7), b"hunter2").as_bytes());
    }

    #[test]
    fn a_hash_is_read_back_and_prints_as_stars() {
        let hash = LinkCodeHash::of(&key(7), b"hunter2");
        assert_eq!(LinkCodeHash::from_bytes(*hash.as_bytes()), hash);
        assert_eq!(hash.to_text().len(), 43);
        assert_eq!(LinkCodeHash::from_text(&hash.to_text()), Some(hash));
        assert_eq!(LinkCodeHash::from_text("hunter2"), None);
        assert_eq!(format!("{hash:?}"), "LinkCodeHash(***)");
    }
}
