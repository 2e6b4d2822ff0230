//! Using, listing and ending sessions (R397).

use super::refusal::LoginRefused;
use super::{Accounts, Login, Session, SessionToken, SessionView, SignedIn};
use crate::access::{Member, Operator};
use crate::error::Error;
use crate::ids::{CompanyId, MemberId, SessionId};
use crate::manage::ManageError;
use crate::store::{ChangeSet, Decided, RecordsExt, StoreError, Stored};

impl Accounts<'_> {
    /// Who shows the token of a session (R397); `None` for a text that is no token, or one of a
    /// session that is unknown, revoked or ended, or of a login that does not work any more. That
    /// it was used is noted, and written later.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    pub async fn session(&self, presented: &str) -> Result<Option<SignedIn>, StoreError> {
        self.looked_up(presented, true).await
    }

    /// The same for what goes on by itself, such as an open page that listens: a session does not
    /// last longer by it.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    pub async fn session_as_it_is(&self, presented: &str) -> Result<Option<SignedIn>, StoreError> {
        self.looked_up(presented, false).await
    }

    async fn looked_up(
        &self,
        presented: &str,
        is_use: bool,
    ) -> Result<Option<SignedIn>, StoreError> {
        let Some(session) = self.shown(presented).await? else { return Ok(None) };
        let key = (session.company, session.member);
        let Some(login) = self.app.store().get::<Login>(key).await? else { return Ok(None) };
        let Some(member) = self.app.store().get::<Member>(key).await? else { return Ok(None) };
        if !login.works() || self.app.company(session.company).await?.is_none() {
            return Ok(None);
        }
        if is_use {
            self.app.seen_sessions().note(&session, self.app.now());
        }
        Ok(Some(SignedIn {
            session: session.id,
            company: session.company,
            member: session.member,
            name: member.display_name.clone(),
            role: login.role,
        }))
    }

    async fn shown(&self, presented: &str) -> Result<Option<Stored<Session>>, StoreError> {
        let Some(key) = SessionToken::ids_in(presented) else { return Ok(None) };
        let found = self.app.store().get::<Session>(key).await?;
        let (limits, now) = (self.app.settings().sessions, self.app.now());
        Ok(found.filter(|session| session.admits(presented, &limits, now)))
    }

    /// Ends the session whose token this is; one that has ended already is no error.
    ///
    /// # Errors
    ///
    /// When the store fails.
    pub async fn sign_out(&self, presented: &str) -> Result<(), StoreError> {
        let end = self.app.decide::<_, std::convert::Infallible, _>(|_| async move {
            let Some(session) = self.shown(presented).await? else {
                return Ok(Decided::unchanged(()));
            };
            Ok(Decided::new(ChangeSet::new().with(session.delete()), ()))
        });
        Ok(end.await?)
    }

    /// The sessions of a member that have not ended, the oldest first.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    pub async fn sessions(
        &self,
        company: CompanyId,
        member: MemberId,
    ) -> Result<Vec<SessionView>, StoreError> {
        let (limits, now) = (self.app.settings().sessions, self.app.now());
        let all = self.app.store().sessions_of(company, member).await?;
        let open = all.iter().filter(|session| now < session.ends_at(&limits));
        Ok(open.map(|session| SessionView::of(session, &limits)).collect())
    }

    /// As [`Accounts::sessions`], for an operator.
    ///
    /// # Errors
    ///
    /// [`ManageError::NotFound`] when there is no such member.
    pub async fn member_sessions(
        &self,
        company: CompanyId,
        member: MemberId,
    ) -> Result<Vec<SessionView>, Error<LoginRefused>> {
        if self.app.store().get::<Member>((company, member)).await?.is_none() {
            return Err(Error::Rejected(LoginRefused::Managed(ManageError::NotFound)));
        }
        Ok(self.sessions(company, member).await?)
    }

    /// Ends a session of a member whose login is not above the own role (R402): no call that begins
    /// after this answered is accepted.
    ///
    /// # Errors
    ///
    /// [`LoginRefused`].
    pub async fn revoke_session(
        &self,
        by: &Operator,
        company: CompanyId,
        member: MemberId,
        id: SessionId,
    ) -> Result<(), Error<LoginRefused>> {
        let end = self.app.decide(|_| async move {
            self.reached_login(by, company, member).await?;
            let found = self.app.store().get::<Session>((company, id)).await?;
            let Some(session) = found.filter(|session| session.member == member) else {
                return Err(Error::Rejected(LoginRefused::Managed(ManageError::NotFound)));
            };
            Ok(Decided::new(ChangeSet::new().with(session.delete()), ()))
        });
        end.await
    }

    /// Ends all sessions of a member whose login is not above the own role (R402), but for the own
    /// one.
    ///
    /// # Errors
    ///
    /// [`LoginRefused`].
    pub async fn revoke_all(
        &self,
        by: &Operator,
        company: CompanyId,
        member: MemberId,
    ) -> Result<(), Error<LoginRefused>> {
        let end = self.app.decide(|_| async move {
            self.reached_login(by, company, member).await?;
            let sessions = self.app.store().sessions_of(company, member).await?;
            Ok(Decided::new(ended(ChangeSet::new(), &sessions, by.session()), ()))
        });
        end.await
    }
}

/// Ends sessions, but for one (R397).
pub(super) fn ended(
    changes: ChangeSet,
    sessions: &[Stored<Session>],
    except: Option<SessionId>,
) -> ChangeSet {
    let others = sessions.iter().filter(|session| Some(session.id) != except);
    others.fold(changes, |changes, session| changes.with(session.delete()))
}
