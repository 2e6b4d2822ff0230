//! Accepting invitations and resets, and changing the own password (R399).

use super::sessions::ended;
use super::{
    AccountRefused, Accounts, LinkToken, LinkView, Login, LoginLink, Password, PasswordHash,
    SignedIn,
};
use crate::access::Member;
use crate::error::Error;
use crate::store::{ChangeSet, Decided, RecordsExt, StoreError, Stored};

const LINK_ENDED: Error<AccountRefused> = Error::Rejected(AccountRefused::LinkEnded);
const SIGNED_OUT: Error<AccountRefused> = Error::Rejected(AccountRefused::SignedOut);

impl Accounts<'_> {
    /// What a one-time link is for; `None` for one that does not work (R399). It is not used up.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    pub async fn link(&self, presented: &str) -> Result<Option<LinkView>, StoreError> {
        let Some((link, login)) = self.shown_link(presented).await? else { return Ok(None) };
        let member = self.app.store().get::<Member>((link.company, link.member)).await?;
        Ok(member.map(|member| LinkView {
            purpose: link.purpose,
            name: member.display_name.clone(),
            email: login.email.clone(),
            expires_at: link.expires_at,
        }))
    }

    async fn shown_link(
        &self,
        presented: &str,
    ) -> Result<Option<(Stored<LoginLink>, Stored<Login>)>, StoreError> {
        let Some(key) = LinkToken::ids_in(presented) else { return Ok(None) };
        let now = self.app.now();
        let found = self.app.store().get::<LoginLink>(key).await?;
        let Some(link) = found.filter(|link| link.admits(presented, now)) else { return Ok(None) };
        let login = self.app.store().get::<Login>(key).await?;
        let Some(login) = login.filter(|login| login.disabled_at.is_none()) else {
            return Ok(None);
        };
        Ok(self.app.company(key.0).await?.map(|_| (link, login)))
    }

    /// Sets the password of the login that a one-time link is for, and uses the link up (R399). All
    /// sessions of the member end. The member signs in afterwards, with the second factor if there
    /// is one.
    ///
    /// # Errors
    ///
    /// [`AccountRefused::LinkEnded`] or [`AccountRefused::Password`]; the latter leaves the link.
    pub async fn accept_link(
        &self,
        presented: &str,
        new_password: &str,
    ) -> Result<LinkView, Error<AccountRefused>> {
        let view = self.link(presented).await?.ok_or(LINK_ENDED)?;
        let hash = &self.chosen(new_password, &view.email).await?;
        let (shown, _) = self.shown_link(presented).await?.ok_or(LINK_ENDED)?;
        let named = self.app.as_member(shown.company, shown.member);
        let accepted = named.decide(|now| async move {
            let (link, login) = self.shown_link(presented).await?.ok_or(LINK_ENDED)?;
            let sessions = self.app.store().sessions_of(link.company, link.member).await?;
            let after = Login {
                password: Some(hash.clone()),
                password_set_at: Some(now),
                ..login.value().clone()
            };
            let changes = ChangeSet::new().with(link.delete()).with(login.update(after));
            Ok(Decided::new(ended(changes, &sessions, None), ()))
        });
        accepted.await?;
        Ok(view)
    }

    /// Changes the own password, and ends the other sessions of the member. Wrong attempts count as
    /// those of signing in do (R398).
    ///
    /// # Errors
    ///
    /// [`AccountRefused`].
    pub async fn change_password(
        &self,
        who: &SignedIn,
        old: &str,
        new: &str,
    ) -> Result<(), Error<AccountRefused>> {
        let checked = &self.own_password(who, old).await?;
        let hash = &self.chosen(new, &checked.email).await?;
        let changed = self.app.decide(|now| async move {
            let login = self.own_login(who).await?;
            if login.password != checked.password {
                return Err(Error::Rejected(AccountRefused::WrongPassword));
            }
            let sessions = self.app.store().sessions_of(who.company, who.member).await?;
            let after = Login {
                password: Some(hash.clone()),
                password_set_at: Some(now),
                ..login.value().clone()
            };
            let mut changes = ChangeSet::new().with(login.update(after));
            // A link that somebody else asked for, too.
            if let Some(link) = self.app.store().get::<LoginLink>((who.company, who.member)).await?
            {
                changes = changes.with(link.delete());
            }
            Ok(Decided::new(ended(changes, &sessions, Some(who.session)), ()))
        });
        changed.await
    }

    /// The hash of a password that somebody chooses (R395).
    async fn chosen(
        &self,
        text: &str,
        email: &crate::contacts::Email,
    ) -> Result<PasswordHash, Error<AccountRefused>> {
        let password = Password::choose(text, email)
            .map_err(|problem| Error::Rejected(AccountRefused::Password(problem)))?;
        Ok(self.app.passwords().hash(&password, self.app.random()).await?)
    }

    /// The login of who signed in.
    pub(super) async fn own_login(
        &self,
        who: &SignedIn,
    ) -> Result<Stored<Login>, Error<AccountRefused>> {
        let found = self.app.store().get::<Login>((who.company, who.member)).await?;
        found.filter(|login| login.works()).ok_or(SIGNED_OUT)
    }

    /// The own login, whose password was shown. Wrong ones are limited (R398).
    pub(super) async fn own_password(
        &self,
        who: &SignedIn,
        shown: &str,
    ) -> Result<Login, Error<AccountRefused>> {
        let login = self.own_login(who).await?;
        let attempt = self.attempt(login.email.as_str(), None).await?;
        let limited = |retry_after| Error::Rejected(AccountRefused::Limited { retry_after });
        if let Some(wait) = self.wait_for(attempt, true).await? {
            return Err(limited(wait));
        }
        let checked = self.check_password(Some(&login), shown).await?;
        if let Some(wait) = self.wait_for(attempt, checked.is_some()).await? {
            return Err(limited(wait));
        }
        match checked {
            Some((login, _)) => Ok(login),
            None => Err(Error::Rejected(AccountRefused::WrongPassword)),
        }
    }
}
