//! API keys and their scopes (5, D11, D12).

use std::collections::BTreeSet;
use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Serialize;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use crate::Timestamp;
use crate::ids::{CompanyId, KeyId};
use crate::input::{Input, read_number};
use crate::problems::Problems;
use crate::secret::SecretText;
use crate::text;
use crate::words::words;

/// Calls per minute of a new key (D12).
pub(crate) const DEFAULT_RATE: u32 = 600;
/// Export calls per minute of a new key (8, D12).
pub(crate) const DEFAULT_EXPORT_RATE: u32 = 60;
/// The highest rate a key can be given.
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
}

/// The secret text of an API key: `rk_` and 43 base64url characters. Shown once, never stored.
#[derive(Clone, Debug)]
pub struct KeySecret(SecretText);

impl KeySecret {
    /// Makes a key out of 256 random bits.
    pub fn from_random(bytes: [u8; 32]) -> Self {
        Self(SecretText::new(format!("rk_{}", URL_SAFE_NO_PAD.encode(bytes))))
    }

    /// The text to show to its owner, this once.
    pub fn expose(&self) -> &str {
        self.0.expose()
    }

    /// What the store keeps of it.
    pub fn hash(&self) -> KeyHash {
        KeyHash::of(self.expose())
    }
}

/// The SHA-256 of an API key: all that is stored of it, and what it is looked up by (D11).
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct KeyHash([u8; 32]);

impl KeyHash {
    /// The hash of a presented key, whatever its form.
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
    /// When it was made.
    pub created_at: Timestamp,
}

/// An API key as it is shown: without its secret.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ApiKeyView {
    id: KeyId,
    name: String,
    scopes: Scopes,
    rate_per_minute: u32,
    export_rate_per_minute: u32,
    created_at: Timestamp,
}

impl From<&ApiKey> for ApiKeyView {
    fn from(key: &ApiKey) -> Self {
        Self {
            id: key.id,
            name: key.name.clone(),
            scopes: key.scopes.clone(),
            rate_per_minute: key.rate_per_minute,
            export_rate_per_minute: key.export_rate_per_minute,
            created_at: key.created_at,
        }
    }
}

/// A key that was just made, with the secret that is shown this once.
#[derive(Clone, Debug)]
pub struct NewKey {
    /// The key.
    pub key: ApiKey,
    /// Its secret.
    pub secret: KeySecret,
}

/// A body that makes a key.
#[derive(Clone, Debug)]
pub struct KeyDraft {
    pub(crate) name: String,
    pub(crate) scopes: Scopes,
    pub(crate) rate_per_minute: u32,
    pub(crate) export_rate_per_minute: u32,
}

impl KeyDraft {
    /// A key with the default rates.
    pub fn new(name: &str, scopes: Scopes) -> Self {
        Self {
            name: name.to_owned(),
            scopes,
            rate_per_minute: DEFAULT_RATE,
            export_rate_per_minute: DEFAULT_EXPORT_RATE,
        }
    }

    /// Reads `name`, `scopes`, `rate_per_minute?`, `export_rate_per_minute?`.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with the body.
    pub fn parse(body: &Map<String, Value>) -> Result<Self, Problems> {
        let mut input = Input::new(body);
        let name = input.required_text("name", text::NAME);
        let scopes = input.required("scopes", Scopes::read);
        let rate = input.given("rate_per_minute", read_number(1, MAX_RATE)).value();
        let export = input.given("export_rate_per_minute", read_number(1, MAX_RATE)).value();
        input.finish().into_result()?;
        Ok(Self {
            name: name.unwrap_or_default(),
            scopes: scopes.unwrap_or_default(),
            rate_per_minute: rate.unwrap_or(DEFAULT_RATE),
            export_rate_per_minute: export.unwrap_or(DEFAULT_EXPORT_RATE),
        })
    }
}

/// A change of a key; it holds from the next call on (D12).
#[derive(Clone, Debug, Default)]
pub struct KeyPatch {
    name: Option<String>,
    scopes: Option<Scopes>,
    rate_per_minute: Option<u32>,
    export_rate_per_minute: Option<u32>,
}

impl KeyPatch {
    /// Reads any of `name`, `scopes`, `rate_per_minute`, `export_rate_per_minute`.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with the body.
    pub fn parse(body: &Map<String, Value>) -> Result<Self, Problems> {
        let mut input = Input::new(body);
        let patch = Self {
            name: super::company::patched_name(&mut input, "name").value(),
            scopes: input.given("scopes", Scopes::read).value(),
            rate_per_minute: input.given("rate_per_minute", read_number(1, MAX_RATE)).value(),
            export_rate_per_minute: input
                .given("export_rate_per_minute", read_number(1, MAX_RATE))
                .value(),
        };
        input.finish().into_result()?;
        Ok(patch)
    }

    /// The key after the change.
    pub fn apply(&self, key: &ApiKey) -> ApiKey {
        ApiKey {
            name: self.name.clone().unwrap_or_else(|| key.name.clone()),
            scopes: self.scopes.clone().unwrap_or_else(|| key.scopes.clone()),
            rate_per_minute: self.rate_per_minute.unwrap_or(key.rate_per_minute),
            export_rate_per_minute: self
                .export_rate_per_minute
                .unwrap_or(key.export_rate_per_minute),
            ..key.clone()
        }
    }
}
