//! One-time links: invitations and resets of passwords (R399).

use std::time::Duration;

use serde::Serialize;
use subtle::ConstantTimeEq;

use super::token;
use crate::Timestamp;
use crate::access::KeyHash;
use crate::contacts::Email;
use crate::ids::{CompanyId, MemberId};
use crate::secret::SecretText;
use crate::words::words;

/// What every token of a link begins with.
const PREFIX: &str = "rl_";
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

words! {
    /// What a one-time link is for.
    LinkPurpose {
        /// Choosing the first password.
        Invitation = "invitation",
        /// Choosing a new password.
        Reset = "reset",
    }
}

impl LinkPurpose {
    /// How long a link is good (R399).
    pub(super) const fn lifetime(self) -> Duration {
        match self {
            Self::Invitation => Duration::from_secs(7 * DAY.as_secs()),
            Self::Reset => DAY,
        }
    }
}

/// The secret text of a link: `rl_` and 86 base64url characters, which hold the ids of company and
/// member and 256 random bits. Shown once, never stored.
#[derive(Clone, Debug)]
pub struct LinkToken(SecretText);

impl LinkToken {
    /// Makes a token.
    pub fn new(company: CompanyId, member: MemberId, random: [u8; token::RANDOM]) -> Self {
        Self(SecretText::new(token::write(PREFIX, [company.uuid(), member.uuid()], random)))
    }

    /// The ids in a token that somebody shows; `None` for a text that is no token.
    pub fn ids_in(presented: &str) -> Option<(CompanyId, MemberId)> {
        let [company, member] = token::ids_in(PREFIX, presented)?;
        Some((CompanyId::new(company), MemberId::new(member)))
    }

    /// The text, to be handed over once.
    pub fn expose(&self) -> &str {
        self.0.expose()
    }

    /// The hash that the store keeps.
    pub fn hash(&self) -> KeyHash {
        KeyHash::of(self.expose())
    }
}

/// A link as it is stored. A member has one at most: a new one replaces it (R399).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoginLink {
    /// The company of the member.
    pub company: CompanyId,
    /// The member.
    pub member: MemberId,
    /// The hash of its token.
    pub hash: KeyHash,
    /// What it is for.
    pub purpose: LinkPurpose,
    /// From when on it is refused.
    pub expires_at: Timestamp,
    /// When it was made.
    pub created_at: Timestamp,
}

impl LoginLink {
    /// Whether it is what somebody shows, and has not ended (R399). The comparison takes the same
    /// time for every text.
    pub fn admits(&self, presented: &str, now: Timestamp) -> bool {
        let shown = KeyHash::of(presented);
        let is_right: bool = self.hash.as_bytes().ct_eq(shown.as_bytes()).into();
        is_right && now < self.expires_at
    }
}

/// What a link is for, to be shown to whoever opened it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LinkView {
    /// What it is for.
    pub purpose: LinkPurpose,
    /// The name of the member.
    pub name: String,
    /// The address of the login.
    pub email: Email,
    /// From when on it is refused.
    pub expires_at: Timestamp,
}

/// A link that was just made, to be handed to the member.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct NewLink {
    /// The member.
    pub member_id: MemberId,
    /// What it is for.
    pub purpose: LinkPurpose,
    /// From when on it is refused.
    pub expires_at: Timestamp,
    /// Its token, in [`NewLink::url`].
    #[serde(skip)]
    pub token: LinkToken,
    /// The address to hand to the member, this once; it is not shown again. Secret.
    #[serde(skip)]
    pub url: SecretText,
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    /// R399.
    #[test]
    fn a_link_admits_its_own_token_until_its_end() {
        let at = Timestamp::from_millis;
        let ids = (CompanyId::new(Uuid::from_u128(1)), MemberId::new(Uuid::from_u128(2)));
        let [token, other] = [1, 2].map(|byte| LinkToken::new(ids.0, ids.1, [byte; 32]));
        assert_eq!(LinkToken::ids_in(token.expose()), Some(ids));
        let link = LoginLink {
            company: ids.0,
            member: ids.1,
            hash: token.hash(),
            purpose: LinkPurpose::Reset,
            expires_at: at(10),
            created_at: at(0),
        };
        assert!(link.admits(token.expose(), at(9)) && !link.admits(token.expose(), at(10)));
        assert!(!link.admits(other.expose(), at(9)));
        assert_eq!(format!("{token:?}"), "LinkToken(***)");
    }
}
