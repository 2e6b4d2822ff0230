//! Tokens of operators: their form, and what is stored of them (R382).

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Serialize;
use subtle::ConstantTimeEq;
use uuid::Uuid;

use super::{KeyHash, OperatorRole};
use crate::Timestamp;
use crate::body::{Clearable, Optional, Replaced, Required, body};
use crate::form::Name;
use crate::ids::{CompanyId, OperatorTokenId};
use crate::input::Given;
use crate::secret::SecretText;

/// What every token begins with.
const PREFIX: &str = "ro_";
/// The bytes of a token: its id, then those that nobody can guess.
const ID_BYTES: usize = 16;
const SECRET_BYTES: usize = 32;

/// The secret text of an operator token: `ro_` and 64 base64url characters, which hold its id and
/// 256 random bits (R382). Shown once, never stored.
#[derive(Clone, Debug)]
pub struct OperatorSecret(SecretText);

impl OperatorSecret {
    /// Makes a token out of its id and 256 random bits.
    pub fn new(id: OperatorTokenId, random: [u8; SECRET_BYTES]) -> Self {
        let bytes = [&id.uuid().as_bytes()[..], &random[..]].concat();
        Self(SecretText::new(format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(bytes))))
    }

    /// The id in a token that somebody shows; `None` for a text that is no token.
    pub fn id_in(presented: &str) -> Option<OperatorTokenId> {
        let text = presented.strip_prefix(PREFIX)?;
        let mut bytes = [0; ID_BYTES + SECRET_BYTES];
        let read = URL_SAFE_NO_PAD.decode_slice(text, &mut bytes).ok()?;
        let id: [u8; ID_BYTES] = bytes[..ID_BYTES].try_into().ok()?;
        (read == bytes.len()).then(|| OperatorTokenId::new(Uuid::from_bytes(id)))
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

/// An operator token as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperatorToken {
    /// Its id.
    pub id: OperatorTokenId,
    /// A name for people.
    pub name: String,
    /// The hash of its secret.
    pub hash: KeyHash,
    /// What its holder may do.
    pub role: OperatorRole,
    /// The only company that its holder reaches; `None`: all, and the installation (R381).
    pub company: Option<CompanyId>,
    /// From when on it is refused.
    pub expires_at: Option<Timestamp>,
    /// The beginning of the hour in which it was last used (R221).
    pub last_used_at: Option<Timestamp>,
    /// When it was made.
    pub created_at: Timestamp,
}

impl OperatorToken {
    /// Whether it is what somebody shows, and has not ended. The comparison takes the same time for
    /// every text.
    pub fn admits(&self, presented: &str, now: Timestamp) -> bool {
        self.is_shown(presented) && !self.has_ended(now)
    }

    /// Whether it is what somebody shows. Takes the same time for every text.
    pub(super) fn is_shown(&self, presented: &str) -> bool {
        let shown = KeyHash::of(presented);
        self.hash.as_bytes().ct_eq(shown.as_bytes()).into()
    }

    /// Whether its end has come.
    pub(super) fn has_ended(&self, now: Timestamp) -> bool {
        self.expires_at.is_some_and(|at| now >= at)
    }
}

/// An operator token as it is shown: without its secret.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct OperatorTokenView {
    /// Its id.
    pub id: OperatorTokenId,
    /// Its name.
    pub name: String,
    /// What its holder may do.
    pub role: OperatorRole,
    /// The only company that its holder reaches; null: all.
    pub company_id: Option<CompanyId>,
    /// From when on it is refused; null: never.
    pub expires_at: Option<Timestamp>,
    /// When it was last used, to the hour; null: not yet.
    pub last_used_at: Option<Timestamp>,
    /// When it was made.
    pub created_at: Timestamp,
}

impl From<&OperatorToken> for OperatorTokenView {
    fn from(token: &OperatorToken) -> Self {
        Self {
            id: token.id,
            name: token.name.clone(),
            role: token.role,
            company_id: token.company,
            expires_at: token.expires_at,
            last_used_at: token.last_used_at,
            created_at: token.created_at,
        }
    }
}

/// An operator token that was just made, with the secret that is shown this once.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct NewOperatorToken {
    /// The token.
    pub token: OperatorToken,
    /// Its secret.
    pub secret: OperatorSecret,
}

body! {
    /// A new operator token.
    #[derive(Clone, Debug)]
    pub struct OperatorTokenDraft as "CreateOperatorToken" {
        /// A name for people.
        name: String = Required<Name>,
        role: OperatorRole = Required<OperatorRole>,
        /// The only company that its holder reaches. Without it: all, and the installation.
        company_id: Option<CompanyId> = Optional<CompanyId>,
        /// A time to come, from which on the token is refused. It has no end by default.
        expires_at: Option<Timestamp> = Optional<Timestamp>,
    }
}

body! {
    /// A change of an operator token; it applies from the next call on.
    #[derive(Clone, Debug)]
    pub struct OperatorTokenPatch as "UpdateOperatorToken" of OperatorToken {
        /// A name for people.
        name: Option<String> = Replaced<Name>,
        role: Option<OperatorRole> = Optional<OperatorRole>,
        /// A time to come; null: the token has no end.
        expires_at: Given<Timestamp> = Clearable<Timestamp>,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(n: u128) -> OperatorTokenId {
        OperatorTokenId::new(Uuid::from_u128(n))
    }

    /// R382.
    #[test]
    fn a_token_holds_its_id_and_nothing_else_is_read_as_one() {
        let secret = OperatorSecret::new(id(77), [9; SECRET_BYTES]);
        assert_eq!(secret.expose().len(), PREFIX.len() + 64);
        assert_eq!(OperatorSecret::id_in(secret.expose()), Some(id(77)));
        let text = secret.expose();
        for wrong in ["", "ro_", "rk_AAAA", &text[3..], &text[..60], &format!("{text}A")] {
            assert_eq!(OperatorSecret::id_in(wrong), None, "{wrong}");
        }
        assert_eq!(format!("{secret:?}"), "OperatorSecret(***)");
    }

    /// R382.
    #[test]
    fn a_token_admits_its_own_text_until_its_end() {
        let at = Timestamp::from_millis;
        let secret = OperatorSecret::new(id(1), [1; SECRET_BYTES]);
        let other = OperatorSecret::new(id(1), [2; SECRET_BYTES]);
        let token = OperatorToken {
            id: id(1),
            name: "Ana".to_owned(),
            hash: secret.hash(),
            role: OperatorRole::Agent,
            company: None,
            expires_at: Some(at(10)),
            last_used_at: None,
            created_at: at(0),
        };
        assert!(token.admits(secret.expose(), at(9)) && !token.admits(secret.expose(), at(10)));
        assert!(!token.admits(other.expose(), at(9)));
    }
}
