//! The login of a member (R394).

use serde::Serialize;

use super::{LoginSubjectHash, PasswordHash, RecoveryHashes};
use crate::Timestamp;
use crate::access::OperatorRole;
use crate::body::{Optional, Required, body};
use crate::contacts::Email;
use crate::ids::{CompanyId, MemberId};
use crate::secret::SecretBytes;

/// How a member logs in (R394).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Login {
    /// The company of the member.
    pub company: CompanyId,
    /// The member; it has one login at most.
    pub member: MemberId,
    /// The address, which no other login of the installation has.
    pub email: Email,
    /// What the member may do with the operator API and the console.
    pub role: OperatorRole,
    /// The hash of the password; `None` until the member has chosen one. Who signs in at the
    /// provider needs none.
    pub password: Option<PasswordHash>,
    /// Since when it does not work any more.
    pub disabled_at: Option<Timestamp>,
    /// The secret of the second factor; sealed in stores.
    pub totp_secret: Option<SecretBytes>,
    /// Since when a code of the second factor is asked for; `None` while it is being set up.
    pub totp_confirmed_at: Option<Timestamp>,
    /// The last time step whose code was accepted (R400).
    pub totp_step: Option<u64>,
    /// The hashes of the recovery codes that are left.
    pub recovery: Option<RecoveryHashes>,
    /// When the password was set last.
    pub password_set_at: Option<Timestamp>,
    /// Who the member is at the provider that members sign in with; no other login of the
    /// installation has it (R433). `None` until the member signed in there.
    pub subject: Option<LoginSubjectHash>,
    /// When it was made.
    pub created_at: Timestamp,
}

impl Login {
    /// Whether the member has begun to use it: has set a password, or has signed in at the provider
    /// (R433).
    pub const fn was_accepted(&self) -> bool {
        self.password.is_some() || self.subject.is_some()
    }

    /// Whether it works: the member has begun to use it and nobody has disabled it.
    pub const fn works(&self) -> bool {
        self.was_accepted() && self.disabled_at.is_none()
    }

    /// Whether a code of the second factor is asked for (R400).
    pub const fn asks_for_code(&self) -> bool {
        self.totp_secret.is_some() && self.totp_confirmed_at.is_some()
    }

    /// The login without its second factor.
    #[must_use]
    pub fn without_totp(&self) -> Self {
        Self {
            totp_secret: None,
            totp_confirmed_at: None,
            totp_step: None,
            recovery: None,
            ..self.clone()
        }
    }
}

/// A login as it is shown: without anything secret.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct LoginView {
    /// The member.
    pub member_id: MemberId,
    /// The address.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub email: Email,
    /// What the member may do.
    pub role: OperatorRole,
    /// Whether the member has begun to use it: has set a password, or has signed in at the provider
    /// of the installation.
    pub was_accepted: bool,
    /// Whether the member has set a password.
    pub has_password: bool,
    /// Whether it is bound to an account of the provider that members sign in with.
    pub has_provider: bool,
    /// Whether signing in asks for a code of the second factor.
    pub has_totp: bool,
    /// Since when it is disabled; null: it is not.
    pub disabled_at: Option<Timestamp>,
    /// When it was made.
    pub created_at: Timestamp,
}

impl From<&Login> for LoginView {
    fn from(login: &Login) -> Self {
        Self {
            member_id: login.member,
            email: login.email.clone(),
            role: login.role,
            was_accepted: login.was_accepted(),
            has_password: login.password.is_some(),
            has_provider: login.subject.is_some(),
            has_totp: login.asks_for_code(),
            disabled_at: login.disabled_at,
            created_at: login.created_at,
        }
    }
}

body! {
    /// A login for a member.
    #[derive(Clone, Debug)]
    pub struct LoginDraft as "InviteMember" {
        /// The address, which no other login of the installation has.
        email: Email = Required<Email>,
        /// What the member may do; not above the own role.
        role: OperatorRole = Required<OperatorRole>,
    }
}

body! {
    /// A change of a login. A new role, and disabling, end the sessions of the member, and so does
    /// another address of a login that is bound at the provider.
    #[derive(Clone, Debug)]
    pub struct LoginPatch as "UpdateLogin" {
        /// The address, which no other login of the installation has.
        email: Option<Email> = Optional<Email>,
        /// What the member may do; not above the own role.
        role: Option<OperatorRole> = Optional<OperatorRole>,
        /// Whether it stops working until this is false again.
        disabled: Option<bool> = Optional<bool>,
    }
}

impl LoginPatch {
    /// The login with this change (R402). With another address it belongs to nobody at the provider
    /// any more (R433).
    pub(super) fn over(&self, login: &Login, now: Timestamp) -> Login {
        let disabled_at = match self.disabled {
            Some(true) => login.disabled_at.or(Some(now)),
            Some(false) => None,
            None => login.disabled_at,
        };
        let email = self.email.clone().unwrap_or_else(|| login.email.clone());
        Login {
            subject: login.subject.filter(|_| email == login.email),
            email,
            role: self.role.unwrap_or(login.role),
            disabled_at,
            ..login.clone()
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use uuid::Uuid;

    use super::*;

    pub(in super::super) fn login() -> Login {
        Login {
            company: CompanyId::new(Uuid::from_u128(1)),
            member: MemberId::new(Uuid::from_u128(2)),
            email: Email::parse("ana@example.org").unwrap(),
            role: OperatorRole::Agent,
            password: Some(PasswordHash::from_stored("$argon2id$x".to_owned())),
            disabled_at: None,
            totp_secret: None,
            totp_confirmed_at: None,
            totp_step: None,
            recovery: None,
            password_set_at: None,
            subject: None,
            created_at: Timestamp::from_millis(0),
        }
    }

    /// R394.
    #[test]
    fn a_login_works_with_a_password_unless_it_is_disabled() {
        let login = login();
        assert!(login.works());
        assert!(!Login { password: None, ..login.clone() }.works());
        assert!(!Login { disabled_at: Some(Timestamp::from_millis(1)), ..login }.works());
    }

    /// R433.
    #[test]
    fn a_login_without_a_password_works_once_it_is_bound_and_another_address_unbinds_it() {
        let subject = Some(LoginSubjectHash::from_bytes([1; 32]));
        let bound = Login { password: None, subject, ..login() };
        assert!(bound.works());
        let patch = |email: &str| LoginPatch {
            email: Some(Email::parse(email).unwrap()),
            role: None,
            disabled: None,
        };
        let now = Timestamp::from_millis(1);
        assert_eq!(patch("ana@example.org").over(&bound, now), bound);
        assert_eq!(patch("eva@example.org").over(&bound, now).subject, None);
    }

    /// R402.
    #[test]
    fn disabling_twice_keeps_the_first_time_and_enabling_ends_it() {
        let at = Timestamp::from_millis;
        let patch = |disabled| LoginPatch { email: None, role: None, disabled: Some(disabled) };
        let once = patch(true).over(&login(), at(5));
        assert_eq!(once.disabled_at, Some(at(5)));
        assert_eq!(patch(true).over(&once, at(9)), once);
        assert_eq!(patch(false).over(&once, at(9)), login());
    }
}
