//! API keys and their scopes (5, D11, D12).

use std::collections::BTreeSet;
use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Serialize;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::body::{Clearable, Optional, Replaced, Required, body};
use crate::form::{Form, Name, Number, to_json};
use crate::ids::{CompanyId, KeyId};
use crate::input::Given;
use crate::problems::Problems;
use crate::secret::SecretText;
use crate::words::words;
use crate::{Cell, Timestamp};

/// Calls per minute of a new key (D12).
pub(crate) const DEFAULT_RATE: u32 = 600;
/// Export calls per minute of a new key (8, D12).
pub(crate) const DEFAULT_EXPORT_RATE: u32 = 60;
/// The highest rate a key can be given (R9).
const MAX_RATE: u32 = 1_000_000;

words! {
    /// What a key may do (5.1).
    Scope {
        /// Read contacts, custom fields and lists.
        ContactsRead = "contacts:read",
        /// Create, change and delete contacts.
        ContactsWrite = "contacts:write",
        /// Read messages, campaigns and the prosa ledger.
        MessagesRead = "messages:read",
        /// Send messages and templates.
        MessagesSend = "messages:send",
        /// See `lead_memory` in the contact detail (2.3).
        LeadMemoryRead = "lead_memory:read",
        /// Read the journal of events.
        EventsRead = "events:read",
    }
}

/// The scopes of a key.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Scopes(BTreeSet<Scope>);

impl Scopes {
    /// Every scope there is.
    pub fn all() -> Self {
        Self(Scope::ALL.iter().copied().collect())
    }

    /// These scopes.
    pub fn of(scopes: &[Scope]) -> Self {
        Self(scopes.iter().copied().collect())
    }

    /// Whether `scope` is among them.
    pub fn has(&self, scope: Scope) -> bool {
        self.0.contains(&scope)
    }

    /// The scopes, in a fixed order.
    pub fn iter(&self) -> impl Iterator<Item = Scope> + '_ {
        self.0.iter().copied()
    }
}

to_json!(Scopes, |scopes| serde_json::json!(scopes));

impl Form for Scopes {
    type Value = Self;

    fn read(value: &Value) -> Result<Self, String> {
        let entries = value.as_array().ok_or("must be an array of scopes")?;
        entries
            .iter()
            .map(|entry| {
                entry
                    .as_str()
                    .and_then(Scope::parse)
                    .ok_or_else(|| format!("may only hold {}", Scope::WORDS.join(", ")))
            })
            .collect::<Result<_, _>>()
            .map(Self)
    }

    #[cfg(feature = "openapi")]
    fn schema() -> crate::openapi::Property {
        crate::openapi::array(Scope::schema(), |scopes| scopes)
    }

    #[cfg(feature = "openapi")]
    fn components(all: &mut crate::openapi::Components) {
        Scope::components(all);
    }
}

/// The secret text of an API key: `rk_` (`rkN_` in cell N) and 43 base64url characters. Shown once,
/// never stored (D11).
#[derive(Clone, Debug)]
pub struct KeySecret(SecretText);

impl KeySecret {
    /// Makes a key of a cell out of 256 random bits.
    pub fn from_random(cell: Cell, bytes: [u8; 32]) -> Self {
        let random = URL_SAFE_NO_PAD.encode(bytes);
        Self(SecretText::new(format!("{}{random}", cell.key_prefix())))
    }

    /// The text to show to its owner, this once.
    pub fn expose(&self) -> &str {
        self.0.expose()
    }

    /// The hash that the store keeps.
    pub fn hash(&self) -> KeyHash {
        KeyHash::of(self.expose())
    }
}

/// The SHA-256 of an API key: all that is stored of it, and what it is looked up by (D11).
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct KeyHash([u8; 32]);

impl KeyHash {
    /// The hash of the key of a call, whatever its form.
    pub fn of(presented: &str) -> Self {
        Self(Sha256::digest(presented.as_bytes()).into())
    }

    /// A hash as the store keeps it.
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The bytes, for stores.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Debug for KeyHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeyHash(***)")
    }
}

/// An API key as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiKey {
    /// Its id.
    pub id: KeyId,
    /// Its company.
    pub company: CompanyId,
    /// A name for people.
    pub name: String,
    /// The hash of its secret.
    pub hash: KeyHash,
    /// What it may do.
    pub scopes: Scopes,
    /// Calls a minute, at least 1 (D12).
    pub rate_per_minute: u32,
    /// Export calls a minute, at least 1 (8, D12).
    pub export_rate_per_minute: u32,
    /// From when on it is refused (R220).
    pub expires_at: Option<Timestamp>,
    /// The beginning of the hour in which it was last used (R221).
    pub last_used_at: Option<Timestamp>,
    /// When it was made.
    pub created_at: Timestamp,
}

impl ApiKey {
    /// Whether it has ended: it is refused as if it were revoked (R220).
    pub fn has_ended(&self, now: Timestamp) -> bool {
        self.expires_at.is_some_and(|at| at <= now)
    }
}

/// An API key as it is shown: without its secret.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct ApiKeyView {
    /// Its id.
    pub id: KeyId,
    /// Its name.
    pub name: String,
    /// What it may do.
    pub scopes: Scopes,
    /// Calls a minute.
    pub rate_per_minute: u32,
    /// Export calls a minute.
    pub export_rate_per_minute: u32,
    /// From when on it is refused; null: never.
    pub expires_at: Option<Timestamp>,
    /// When it was last used, to the hour; null: not yet.
    pub last_used_at: Option<Timestamp>,
    /// When it was made.
    pub created_at: Timestamp,
}

impl From<&ApiKey> for ApiKeyView {
    fn from(key: &ApiKey) -> Self {
        Self {
            id: key.id,
            name: key.name.clone(),
            scopes: key.scopes.clone(),
            rate_per_minute: key.rate_per_minute,
            export_rate_per_minute: key.export_rate_per_minute,
            expires_at: key.expires_at,
            last_used_at: key.last_used_at,
            created_at: key.created_at,
        }
    }
}

/// A key that was just made, with the secret that is shown this once.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct NewKey {
    /// The key.
    pub key: ApiKey,
    /// Its secret.
    pub secret: KeySecret,
}

/// Calls in a minute.
type PerMinute = Number<1, MAX_RATE>;

body! {
    /// A new API key.
    #[derive(Clone, Debug)]
    pub struct KeyDraft as "CreateKey" {
        name: String = Required<Name>,
        scopes: Scopes = Required<Scopes>,
        /// 600 by default.
        rate_per_minute: Option<u32> = Optional<PerMinute>,
        /// 60 by default.
        export_rate_per_minute: Option<u32> = Optional<PerMinute>,
        /// A time to come, from which on the key is refused. It has no end by default.
        expires_at: Option<Timestamp> = Optional<Timestamp>,
    }
}

body! {
    /// A change of an API key; it applies from the next call on.
    #[derive(Clone, Debug)]
    pub struct KeyPatch as "UpdateKey" of ApiKey {
        name: Option<String> = Replaced<Name>,
        scopes: Option<Scopes> = Optional<Scopes>,
        rate_per_minute: Option<u32> = Optional<PerMinute>,
        export_rate_per_minute: Option<u32> = Optional<PerMinute>,
        /// A time to come; null: the key has no end.
        expires_at: Given<Timestamp> = Clearable<Timestamp>,
    }
}

/// Refuses an end that a key cannot have, as it has passed (R220).
pub(super) fn require_to_come(at: Option<Timestamp>, now: Timestamp) -> Result<(), Problems> {
    match at {
        Some(at) if at <= now => Err(Problems::of("expires_at", "must lie in the future")),
        Some(_) | None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// D11.
    #[test]
    fn a_key_is_stored_as_its_sha_256() {
        let hex = |hash: KeyHash| hash.as_bytes().map(|byte| format!("{byte:02x}")).concat();
        // FIPS 180-2, appendix B.1.
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(hex(KeyHash::of("abc")), expected);
        let kept = KeyHash::of("abc");
        assert_eq!(KeyHash::from_bytes(*kept.as_bytes()), kept);
        assert_eq!(format!("{kept:?}"), "KeyHash(***)");
    }
}
