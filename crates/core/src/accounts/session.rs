//! Sessions: what stands for a member who signed in (R397).

use std::time::Duration;

use serde::Serialize;
use subtle::ConstantTimeEq;

use super::token;
use crate::Timestamp;
use crate::access::{KeyHash, Operator, OperatorRole};
use crate::ids::{CompanyId, MemberId, SessionId};
use crate::secret::SecretText;

/// What every token of a session begins with.
const PREFIX: &str = "rs_";

/// When sessions end (R397).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionLimits {
    /// How long a session lives without a call.
    pub idle: Duration,
    /// How long it lives in all.
    pub lifetime: Duration,
}

impl Default for SessionLimits {
    fn default() -> Self {
        const HOUR: u64 = 60 * 60;
        Self { idle: Duration::from_secs(12 * HOUR), lifetime: Duration::from_secs(14 * 24 * HOUR) }
    }
}

/// The secret text of a session: `rs_` and 86 base64url characters, which hold the ids of company
/// and session and 256 random bits. Shown once, never stored.
#[derive(Clone, Debug)]
pub struct SessionToken(SecretText);

impl SessionToken {
    /// Makes a token.
    pub fn new(company: CompanyId, session: SessionId, random: [u8; token::RANDOM]) -> Self {
        Self(SecretText::new(token::write(PREFIX, [company.uuid(), session.uuid()], random)))
    }

    /// The ids in a token that somebody shows; `None` for a text that is no token.
    pub fn ids_in(presented: &str) -> Option<(CompanyId, SessionId)> {
        let [company, session] = token::ids_in(PREFIX, presented)?;
        Some((CompanyId::new(company), SessionId::new(session)))
    }

    /// The text, to be shown once: the value of a cookie.
    pub fn expose(&self) -> &str {
        self.0.expose()
    }

    /// The hash that the store keeps.
    pub fn hash(&self) -> KeyHash {
        KeyHash::of(self.expose())
    }
}

/// A session as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// The company of the member.
    pub company: CompanyId,
    /// Its id.
    pub id: SessionId,
    /// The member who signed in.
    pub member: MemberId,
    /// The hash of its token.
    pub hash: KeyHash,
    /// When it was last used, to five minutes.
    pub last_seen_at: Timestamp,
    /// When the member signed in.
    pub created_at: Timestamp,
}

impl Session {
    /// When it ends if nobody uses it any more (R397).
    pub fn ends_at(&self, limits: &SessionLimits) -> Timestamp {
        self.last_seen_at.plus(limits.idle).min(self.created_at.plus(limits.lifetime))
    }

    /// Whether it is what somebody shows, and has not ended (R397). The comparison takes the same
    /// time for every text.
    pub fn admits(&self, presented: &str, limits: &SessionLimits, now: Timestamp) -> bool {
        let shown = KeyHash::of(presented);
        let is_right: bool = self.hash.as_bytes().ct_eq(shown.as_bytes()).into();
        is_right && now < self.ends_at(limits)
    }
}

/// A session as it is shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct SessionView {
    /// Its id.
    pub id: SessionId,
    /// When the member signed in.
    pub created_at: Timestamp,
    /// When it was last used, to five minutes.
    pub last_seen_at: Timestamp,
    /// When it ends if nobody uses it any more.
    pub ends_at: Timestamp,
}

impl SessionView {
    pub(super) fn of(session: &Session, limits: &SessionLimits) -> Self {
        Self {
            id: session.id,
            created_at: session.created_at,
            last_seen_at: session.last_seen_at,
            ends_at: session.ends_at(limits),
        }
    }
}

/// Who signed in.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SignedIn {
    /// The session.
    pub session: SessionId,
    /// The company.
    pub company: CompanyId,
    /// The member.
    pub member: MemberId,
    /// The name of the member.
    pub name: String,
    /// What the member may do.
    pub role: OperatorRole,
}

impl SignedIn {
    /// The member as an operator, who reaches the own company only (R394).
    pub const fn operator(&self) -> Operator {
        Operator::member(self.company, self.member, self.session, self.role)
    }
}

/// A session that was just made, with the token that is shown this once.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct NewSession {
    /// Its token.
    pub token: SessionToken,
    /// Who signed in.
    pub who: SignedIn,
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    /// R397.
    #[test]
    fn a_session_ends_when_idle_and_in_any_case() {
        let at = |seconds: i64| Timestamp::from_millis(seconds * 1000);
        let company = CompanyId::new(Uuid::from_u128(1));
        let id = SessionId::new(Uuid::from_u128(2));
        let token = SessionToken::new(company, id, [3; 32]);
        assert_eq!(SessionToken::ids_in(token.expose()), Some((company, id)));
        let limits =
            SessionLimits { idle: Duration::from_secs(10), lifetime: Duration::from_secs(25) };
        let member = MemberId::new(Uuid::from_u128(4));
        let seen = |seconds| Session {
            company,
            id,
            member,
            hash: token.hash(),
            last_seen_at: at(seconds),
            created_at: at(0),
        };
        for (last, now, admits) in [(0, 9, true), (0, 10, false), (20, 24, true), (20, 25, false)] {
            assert_eq!(seen(last).admits(token.expose(), &limits, at(now)), admits, "{last} {now}");
        }
        let other = SessionToken::new(company, id, [4; 32]);
        assert!(!seen(0).admits(other.expose(), &limits, at(1)));
        assert_eq!(format!("{token:?}"), "SessionToken(***)");
    }
}
