//! What operators do with the logins of members (R401, R402).

use super::sessions::ended;
use super::{
    Accounts, LinkPurpose, LinkToken, Login, LoginDraft, LoginLink, LoginPatch, LoginRefused,
    LoginView, NewLink,
};
use crate::Timestamp;
use crate::access::{Member, Operator, OperatorDenied, OperatorRole};
use crate::body::IntoBody;
use crate::contacts::Email;
use crate::error::Error;
use crate::ids::{CompanyId, MemberId};
use crate::manage::ManageError;
use crate::problems::Problems;
use crate::secret::SecretText;
use crate::store::{ChangeSet, Decided, RecordsExt, Removable, Stored};

/// The result of a use case on a login.
type LoginResult<T> = Result<T, Error<LoginRefused>>;

const NOT_FOUND: Error<LoginRefused> =
    Error::Rejected(LoginRefused::Managed(ManageError::NotFound));

fn invalid(problems: Problems) -> Error<LoginRefused> {
    Error::Rejected(LoginRefused::Managed(ManageError::Invalid(problems)))
}

/// Refuses what concerns a role above the own one (R402).
fn require_rank(by: &Operator, role: OperatorRole) -> LoginResult<()> {
    if role <= by.role() {
        return Ok(());
    }
    Err(Error::Rejected(LoginRefused::Role(OperatorDenied::Role { required: role })))
}

/// Whether a change of a login ends its one-time link: whoever was handed it was to get the login
/// as it was.
///
/// R402.
fn ends_link(before: &Login, after: &Login) -> bool {
    after.disabled_at.is_some() || after.role != before.role || after.email != before.email
}

/// Whether a change of a login ends the sessions of the member. Those of a login that belongs to
/// nobody at the provider any more would otherwise be good again once somebody else is bound to it.
///
/// R402.
fn ends_sessions(before: &Login, after: &Login) -> bool {
    after.disabled_at.is_some() || after.role != before.role || after.subject != before.subject
}

impl Accounts<'_> {
    /// The logins of a company's members.
    ///
    /// # Errors
    ///
    /// Only of the store.
    pub async fn logins(&self, company: CompanyId) -> LoginResult<Vec<LoginView>> {
        let all = self.app.store().all::<Login>(company).await?;
        Ok(all.iter().map(LoginView::from).collect())
    }

    /// The login of a member.
    ///
    /// # Errors
    ///
    /// [`ManageError::NotFound`] when the member has none.
    pub async fn login(&self, company: CompanyId, member: MemberId) -> LoginResult<LoginView> {
        let found = self.app.store().get::<Login>((company, member)).await?;
        found.map(|login| LoginView::from(login.value())).ok_or(NOT_FOUND)
    }

    /// Gives a member a login and makes the one-time link to choose its password, to be handed
    /// over (R399). While the invitation was not accepted it can be made again, with another
    /// address or role too; the link before ends.
    ///
    /// # Errors
    ///
    /// What is wrong with the body; [`LoginRefused`].
    pub async fn invite(
        &self,
        by: &Operator,
        company: CompanyId,
        member: MemberId,
        body: impl IntoBody<LoginDraft>,
    ) -> LoginResult<NewLink> {
        let draft = &LoginDraft::parse(body).map_err(invalid)?;
        require_rank(by, draft.role)?;
        let token = &LinkToken::new(company, member, self.app.random());
        let made = self.app.decide(|now| async move {
            let store = self.app.store();
            let of = store.get::<Member>((company, member)).await?;
            let of = of.filter(|_| by.reaches(company)).ok_or(NOT_FOUND)?;
            self.require_free(&draft.email, company, member).await?;
            // The member is written as it is, so that a deletion at the same time sees the login.
            let with_member = || ChangeSet::new().with(of.update(of.value().clone()));
            let changes = match store.get::<Login>((company, member)).await? {
                None => with_member().insert(Login {
                    company,
                    member,
                    email: draft.email.clone(),
                    role: draft.role,
                    password: None,
                    disabled_at: None,
                    totp_secret: None,
                    totp_confirmed_at: None,
                    totp_step: None,
                    recovery: None,
                    password_set_at: None,
                    subject: None,
                    created_at: now,
                }),
                Some(login) => {
                    require_rank(by, login.role)?;
                    if login.was_accepted() {
                        return Err(Error::Rejected(LoginRefused::LoginExists));
                    }
                    let (email, role) = (draft.email.clone(), draft.role);
                    let after = Login { email, role, ..login.value().clone() };
                    ChangeSet::new().with(login.update(after))
                }
            };
            self.with_link(changes, (company, member), token, LinkPurpose::Invitation, now).await
        });
        made.await
    }

    /// Makes a one-time link to choose a new password, to be handed over; the link before ends
    /// (R399). The password stays until the link is used.
    ///
    /// # Errors
    ///
    /// [`LoginRefused`].
    pub async fn reset_link(
        &self,
        by: &Operator,
        company: CompanyId,
        member: MemberId,
    ) -> LoginResult<NewLink> {
        let token = &LinkToken::new(company, member, self.app.random());
        let made = self.app.decide(|now| async move {
            let login = self.reached_login(by, company, member).await?;
            let purpose = match login.was_accepted() {
                true => LinkPurpose::Reset,
                false => LinkPurpose::Invitation,
            };
            // Written as it is, so that the link is not made for a login that was just given a
            // higher role.
            let changes = ChangeSet::new().with(login.update(login.value().clone()));
            self.with_link(changes, (company, member), token, purpose, now).await
        });
        made.await
    }

    async fn with_link(
        &self,
        changes: ChangeSet,
        key: (CompanyId, MemberId),
        token: &LinkToken,
        purpose: LinkPurpose,
        now: Timestamp,
    ) -> LoginResult<Decided<NewLink>> {
        let (company, member) = key;
        let expires_at = now.plus(purpose.lifetime());
        let link =
            LoginLink { company, member, hash: token.hash(), purpose, expires_at, created_at: now };
        let changes = match self.app.store().get::<LoginLink>(key).await? {
            Some(before) => changes.with(before.update(link)),
            None => changes.insert(link),
        };
        let base = &self.app.settings().public_url;
        // Behind `#`: browsers do not send it, so that no log of a proxy has it.
        let url = SecretText::new(format!("{base}/console/welcome#{}", token.expose()));
        let new = NewLink { member_id: member, purpose, expires_at, token: token.clone(), url };
        Ok(Decided::new(changes, new))
    }

    /// Changes a login. A new role and disabling end the sessions of the member, and so does
    /// another address of a login that is bound at the provider. A new role, disabling and another
    /// address end the link, too (R402).
    ///
    /// # Errors
    ///
    /// What is wrong with the body; [`LoginRefused`].
    pub async fn change_login(
        &self,
        by: &Operator,
        company: CompanyId,
        member: MemberId,
        body: impl IntoBody<LoginPatch>,
    ) -> LoginResult<LoginView> {
        let patch = &LoginPatch::parse(body).map_err(invalid)?;
        if let Some(role) = patch.role {
            require_rank(by, role)?;
        }
        let changed = self.app.decide(|now| async move {
            let login = self.reached_login(by, company, member).await?;
            let after = patch.over(&login, now);
            let view = LoginView::from(&after);
            if after == *login.value() {
                return Ok(Decided::unchanged(view));
            }
            if after.email != login.email {
                self.require_free(&after.email, company, member).await?;
            }
            let mut changes = ChangeSet::new().with(login.update(after.clone()));
            if ends_sessions(&login, &after) {
                let sessions = self.app.store().sessions_of(company, member).await?;
                changes = ended(changes, &sessions, None);
            }
            let link = self.app.store().get::<LoginLink>((company, member)).await?;
            if let Some(link) = link.filter(|_| ends_link(&login, &after)) {
                changes = changes.with(link.delete());
            }
            Ok(Decided::new(changes, view))
        });
        changed.await
    }

    /// Removes the login of a member, with its link and sessions. The member stays.
    ///
    /// # Errors
    ///
    /// [`LoginRefused`].
    pub async fn remove_login(
        &self,
        by: &Operator,
        company: CompanyId,
        member: MemberId,
    ) -> LoginResult<()> {
        let removed = self.app.decide(|_| async move {
            let login = self.reached_login(by, company, member).await?;
            let sessions = self.app.store().sessions_of(company, member).await?;
            let mut changes = ChangeSet::new().with(login.delete());
            if let Some(link) = self.app.store().get::<LoginLink>((company, member)).await? {
                changes = changes.with(link.delete());
            }
            Ok(Decided::new(ended(changes, &sessions, None), ()))
        });
        removed.await
    }

    /// Removes the second factor of a member who lost it.
    ///
    /// # Errors
    ///
    /// [`LoginRefused`].
    pub async fn remove_member_totp(
        &self,
        by: &Operator,
        company: CompanyId,
        member: MemberId,
    ) -> LoginResult<()> {
        let removed = self.app.decide(|_| async move {
            let login = self.reached_login(by, company, member).await?;
            let after = login.without_totp();
            if after == *login.value() {
                return Ok(Decided::unchanged(()));
            }
            Ok(Decided::new(ChangeSet::new().with(login.update(after)), ()))
        });
        removed.await
    }

    /// Deletes a member that no contact is assigned to (R5), with its login, link and sessions,
    /// unless that login is above the own role (R402). A login that is made or raised at the same
    /// time is seen.
    ///
    /// # Errors
    ///
    /// [`LoginRefused`].
    pub async fn delete_member(
        &self,
        by: &Operator,
        company: CompanyId,
        member: MemberId,
    ) -> LoginResult<()> {
        let deleted = self.app.decide(|_| async move {
            let store = self.app.store();
            let found = store.get::<Member>((company, member)).await?;
            let found = found.filter(|_| by.reaches(company)).ok_or(NOT_FOUND)?;
            let mut changes = ChangeSet::new();
            if let Some(login) = store.get::<Login>((company, member)).await? {
                require_rank(by, login.role)?;
                let sessions = store.sessions_of(company, member).await?;
                changes = ended(changes, &sessions, None);
                if let Some(link) = store.get::<LoginLink>((company, member)).await? {
                    changes = changes.with(link.delete());
                }
                changes = changes.with(login.delete());
            }
            if store.is_in_use(company, Removable::Member(member)).await? {
                return Err(Error::Rejected(LoginRefused::Managed(ManageError::InUse)));
            }
            Ok(Decided::new(changes.with(found.delete()), ()))
        });
        deleted.await
    }

    /// The login of a member, if it is not above the own role (R402).
    pub(super) async fn reached_login(
        &self,
        by: &Operator,
        company: CompanyId,
        member: MemberId,
    ) -> LoginResult<Stored<Login>> {
        let found = self.app.store().get::<Login>((company, member)).await?;
        let login = found.filter(|_| by.reaches(company)).ok_or(NOT_FOUND)?;
        require_rank(by, login.role)?;
        Ok(login)
    }

    /// Refuses an address that the login of another member has (R394).
    async fn require_free(
        &self,
        email: &Email,
        company: CompanyId,
        member: MemberId,
    ) -> LoginResult<()> {
        let found = self.app.store().login_by_email(email).await?;
        match found.filter(|login| (login.company, login.member) != (company, member)) {
            Some(_) => Err(Error::Rejected(LoginRefused::EmailTaken)),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R402.
    #[test]
    fn a_link_ends_with_another_role_another_address_and_disabling() {
        let before = super::super::login::tests::login();
        assert!(!ends_link(&before, &before));
        let renewed = Login { password_set_at: Some(Timestamp::from_millis(1)), ..before.clone() };
        assert!(!ends_link(&before, &renewed));
        let role = Login { role: OperatorRole::Viewer, ..before.clone() };
        let email = Email::parse("eva@example.org").expect("an address");
        let email = Login { email, ..before.clone() };
        let disabled = Login { disabled_at: Some(Timestamp::from_millis(1)), ..before.clone() };
        for after in [role, email, disabled] {
            assert!(ends_link(&before, &after), "{after:?}");
        }
    }

    /// R402.
    #[test]
    fn sessions_end_with_another_role_another_owner_at_the_provider_and_disabling() {
        let before = super::super::login::tests::login();
        let email = Email::parse("eva@example.org").expect("an address");
        assert!(!ends_sessions(&before, &Login { email, ..before.clone() }));
        let role = Login { role: OperatorRole::Viewer, ..before.clone() };
        let disabled = Login { disabled_at: Some(Timestamp::from_millis(1)), ..before.clone() };
        let subject = Some(super::super::LoginSubjectHash::from_bytes([1; 32]));
        let bound = Login { subject, ..before.clone() };
        for (before, after) in [(&before, &role), (&before, &disabled), (&bound, &before)] {
            assert!(ends_sessions(before, after), "{after:?}");
        }
    }

    /// R402.
    #[test]
    fn nobody_gives_or_touches_a_role_above_the_own_one() {
        let company = CompanyId::new(uuid::Uuid::from_u128(1));
        let member = MemberId::new(uuid::Uuid::from_u128(2));
        let session = crate::ids::SessionId::new(uuid::Uuid::from_u128(3));
        for own in OperatorRole::ALL {
            for role in OperatorRole::ALL {
                let by = Operator::member(company, member, session, *own);
                assert_eq!(require_rank(&by, *role).is_ok(), role <= own, "{own} {role}");
            }
        }
    }
}
