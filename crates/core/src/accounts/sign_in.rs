//! Signing in (R396).

use std::net::IpAddr;

use super::totp::is_code;
use super::{
    Accounts, Login, LoginLink, LoginSubjectHash, NewSession, Password, PasswordHash,
    PasswordVerdict, Session, SessionLimits, SessionToken, SignInRefused, SignedIn, TotpSecret,
};
use crate::Timestamp;
use crate::access::Member;
use crate::contacts::Email;
use crate::error::Error;
use crate::ids::{CompanyId, MemberId, SessionId};
use crate::store::{ChangeSet, Decided, RecordsExt, StoreError, Stored};

/// How many sessions a member may have; the oldest gives way (R397).
const MOST_SESSIONS: usize = 50;

/// What became of the second factor.
pub(super) enum SecondFactor {
    /// None is asked for, or the code was right: the login afterwards.
    Passed(Box<Login>),
    Missing,
    Wrong,
}

/// What shows that somebody is the member of a login.
pub(super) enum Proof {
    /// The password that the login had, and its hash with the parameters of now if it was weaker.
    Password { was: Option<PasswordHash>, stronger: Option<PasswordHash> },
    /// Who the member is at the provider. A login that is bound to nobody has to have this address,
    /// and is bound (R433).
    Provider { subject: LoginSubjectHash, email: Email },
}

impl Proof {
    /// Whether it shows it for the login as it is by now.
    fn holds(&self, login: &Login) -> bool {
        match self {
            Self::Password { was, .. } => login.works() && login.password == *was,
            Self::Provider { subject, email } => {
                let is_own = login.subject.map_or(login.email == *email, |own| own == *subject);
                is_own && login.disabled_at.is_none()
            }
        }
    }

    /// The login after a sign-in by it.
    fn after(&self, login: Login) -> Login {
        match self {
            Self::Password { stronger: Some(hash), .. } => {
                Login { password: Some(hash.clone()), ..login }
            }
            Self::Password { stronger: None, .. } => login,
            Self::Provider { subject, .. } => Login { subject: Some(*subject), ..login },
        }
    }
}

/// Examines the code of the second factor; a code is good once (R400).
pub(super) fn second_factor(login: &Login, code: Option<&str>, now: Timestamp) -> SecondFactor {
    let Some(secret) = login.totp_secret.as_ref().filter(|_| login.asks_for_code()) else {
        return SecondFactor::Passed(Box::new(login.clone()));
    };
    let Some(code) = code.map(str::trim).filter(|code| !code.is_empty()) else {
        return SecondFactor::Missing;
    };
    let passed = if is_code(code) {
        let step = TotpSecret::new(secret.clone()).accepted(code, now, login.totp_step);
        step.map(|step| Login { totp_step: Some(step), ..login.clone() })
    } else {
        let left = login.recovery.as_ref().and_then(|codes| codes.after(code));
        left.map(|left| Login { recovery: Some(left), ..login.clone() })
    };
    passed.map_or(SecondFactor::Wrong, |login| SecondFactor::Passed(Box::new(login)))
}

/// The sessions that give way to a new one: ended ones, and the oldest beyond the limit (R397).
fn giving_way<'a>(
    sessions: &'a [Stored<Session>],
    limits: &SessionLimits,
    now: Timestamp,
) -> impl Iterator<Item = &'a Stored<Session>> {
    let ends = *limits;
    let is_open = move |session: &Stored<Session>| now < session.ends_at(&ends);
    let open = sessions.iter().filter(|session| is_open(session)).count();
    let mut too_many = (open + 1).saturating_sub(MOST_SESSIONS);
    sessions.iter().filter(move |session| {
        let oldest = is_open(session) && too_many > 0;
        too_many -= usize::from(oldest);
        oldest || !is_open(session)
    })
}

const WRONG: Error<SignInRefused> = Error::Rejected(SignInRefused::Wrong);

impl Accounts<'_> {
    /// Signs a member in (R396). An unknown address, a disabled login and a wrong password take the
    /// same work and get the same answer; that a code is needed is said after the right password
    /// only. `client` is the address of who asks, of which four attempts are examined at once
    /// (R398); without it only the account's limit applies.
    ///
    /// # Errors
    ///
    /// [`SignInRefused`].
    pub async fn sign_in(
        &self,
        email: &str,
        password: &str,
        code: Option<&str>,
        client: Option<IpAddr>,
    ) -> Result<NewSession, Error<SignInRefused>> {
        let address = Email::parse(email).ok();
        let attempt = self.attempt(address.as_ref().map_or("", Email::as_str), client).await?;
        let limited = |retry_after| Error::Rejected(SignInRefused::Limited { retry_after });
        // Held until the attempt was charged.
        let _turn = self.app.turns().take_at(client).map_err(limited)?;
        // Before the hash is computed, so that too many attempts cost nothing.
        if let Some(wait) = self.wait_for(attempt, true).await? {
            return Err(limited(wait));
        }
        let login = self.working_login(address.as_ref()).await?;
        let checked = self.check_password(login.as_ref(), password).await?;
        let factor = checked.as_ref().map(|(login, _)| second_factor(login, code, self.app.now()));
        let is_right = matches!(factor, Some(SecondFactor::Passed(_) | SecondFactor::Missing));
        if let Some(wait) = self.wait_for(attempt, is_right).await? {
            return Err(limited(wait));
        }
        match (checked, factor) {
            (Some(_), Some(SecondFactor::Missing)) => {
                Err(Error::Rejected(SignInRefused::CodeNeeded))
            }
            (Some((login, stronger)), Some(SecondFactor::Passed(_))) => {
                let key = (login.company, login.member);
                let proof = Proof::Password { was: login.password, stronger };
                self.begin_session(key, &proof, code).await
            }
            _ => {
                // R387.
                if let Some(login) = &login {
                    self.app.audit().note_refused_sign_in(login);
                }
                Err(WRONG)
            }
        }
    }

    /// The login of an address, if it works and its company was not deleted.
    async fn working_login(
        &self,
        email: Option<&Email>,
    ) -> Result<Option<Stored<Login>>, StoreError> {
        let Some(email) = email else { return Ok(None) };
        let found = self.app.store().login_by_email(email).await?;
        let Some(login) = found.filter(|login| login.works()) else { return Ok(None) };
        let company = self.app.company(login.company).await?;
        Ok(company.map(|_| login))
    }

    /// The login whose password was shown, and its hash with the parameters of now if it was
    /// weaker (R395). Without a login it takes the same work (R396).
    pub(super) async fn check_password(
        &self,
        login: Option<&Stored<Login>>,
        shown: &str,
    ) -> Result<Option<(Login, Option<PasswordHash>)>, StoreError> {
        let passwords = self.app.passwords();
        let hash = login.and_then(|login| login.password.as_ref());
        let Some(password) = Password::shown(shown) else {
            let other = Password::shown("-").expect("a password");
            passwords.compare(&other, None).await?;
            return Ok(None);
        };
        let verdict = passwords.compare(&password, hash).await?;
        let (Some(login), Some(_)) = (login, hash) else { return Ok(None) };
        let stronger = match verdict {
            PasswordVerdict::Wrong => return Ok(None),
            PasswordVerdict::Right => None,
            PasswordVerdict::RightAndWeak => {
                Some(passwords.hash(&password, self.app.random()).await?)
            }
        };
        Ok(Some((login.value().clone(), stronger)))
    }

    /// Makes a session for the login that somebody has shown to be the own one. What was changed in
    /// the meantime is looked at again, so that a code is good once and a new password ends the old
    /// one at once.
    pub(super) async fn begin_session(
        &self,
        key: (CompanyId, MemberId),
        proof: &Proof,
        code: Option<&str>,
    ) -> Result<NewSession, Error<SignInRefused>> {
        let id = SessionId::new(self.app.uuid(self.app.now()));
        let token = SessionToken::new(key.0, id, self.app.random());
        let (hash, limits) = (token.hash(), self.app.settings().sessions);
        let named = self.app.as_member(key.0, key.1);
        let who = named.decide(|now| async move {
            let store = self.app.store();
            let login = store.get::<Login>(key).await?.ok_or(WRONG)?;
            let member = store.get::<Member>(key).await?.ok_or(WRONG)?;
            if !proof.holds(&login) {
                return Err(WRONG);
            }
            let SecondFactor::Passed(after) = second_factor(&login, code, now) else {
                return Err(WRONG);
            };
            let after = proof.after(*after);
            let session = Session {
                company: key.0,
                id,
                member: key.1,
                hash,
                last_seen_at: now,
                created_at: now,
            };
            let mut changes = ChangeSet::new();
            if after.subject != login.subject {
                changes = self.bound(changes, &after).await?;
            }
            // The login is written in any case: a change of it at the same time is seen.
            changes = changes.with(login.update(after)).insert(session);
            let sessions = store.sessions_of(key.0, key.1).await?;
            for old in giving_way(&sessions, &limits, now) {
                changes = changes.with(old.delete());
            }
            let who = SignedIn {
                session: id,
                company: key.0,
                member: key.1,
                name: member.display_name.clone(),
                role: login.role,
            };
            Ok(Decided::new(changes, who))
        });
        Ok(NewSession { who: who.await?, token })
    }

    /// R433. What else changes when a login is bound. Its subject must be that of no other login,
    /// and an invitation ends: it was accepted.
    async fn bound(
        &self,
        changes: ChangeSet,
        login: &Login,
    ) -> Result<ChangeSet, Error<SignInRefused>> {
        let store = self.app.store();
        if let Some(subject) = &login.subject
            && store.login_by_subject(subject).await?.is_some()
        {
            return Err(WRONG);
        }
        if login.password.is_some() {
            return Ok(changes);
        }
        let link = store.get::<LoginLink>((login.company, login.member)).await?;
        Ok(link.into_iter().fold(changes, |changes, link| changes.with(link.delete())))
    }
}
