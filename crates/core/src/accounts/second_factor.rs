//! Setting up and removing the own second factor (R400).

use super::recovery::{CODE_BYTES, CODES};
use super::totp::SECRET_BYTES;
use super::{
    AccountRefused, Accounts, Login, NewTotp, RecoveryCode, RecoveryHashes, SignedIn, TotpSecret,
};
use crate::error::Error;
use crate::secret::SecretBytes;
use crate::store::{ChangeSet, Decided};

/// Who issues the codes, as authenticator programs show it.
const ISSUER: &str = "Recado";

impl Accounts<'_> {
    /// Begins to set up the second factor of the own login, by the password, with a new secret. It
    /// is not asked for until [`Accounts::confirm_totp`]. Whoever has only a session of somebody
    /// else could otherwise shut that member out (R400).
    ///
    /// # Errors
    ///
    /// [`AccountRefused`]: [`AccountRefused::TotpOn`] if there is one already.
    pub async fn begin_totp(
        &self,
        who: &SignedIn,
        password: &str,
    ) -> Result<NewTotp, Error<AccountRefused>> {
        let checked = &self.own_password(who, password).await?;
        let secret = SecretBytes::new(self.app.random::<SECRET_BYTES>());
        let shared = &secret;
        let begun = self.app.decide(|_| async move {
            let login = self.own_login(who).await?;
            if login.password != checked.password {
                return Err(Error::Rejected(AccountRefused::WrongPassword));
            }
            if login.asks_for_code() {
                return Err(Error::Rejected(AccountRefused::TotpOn));
            }
            let after = Login { totp_secret: Some(shared.clone()), ..login.without_totp() };
            let email = login.email.clone();
            Ok(Decided::new(ChangeSet::new().with(login.update(after)), email))
        });
        let email = begun.await?;
        let secret = TotpSecret::new(secret);
        Ok(NewTotp { secret: secret.text(), url: secret.url(ISSUER, email.as_str()) })
    }

    /// Turns the second factor on, by a code of it, and makes its recovery codes, which are shown
    /// this once (R400).
    ///
    /// # Errors
    ///
    /// [`AccountRefused`]; wrong codes are limited as wrong passwords are (R398).
    pub async fn confirm_totp(
        &self,
        who: &SignedIn,
        code: &str,
    ) -> Result<Vec<RecoveryCode>, Error<AccountRefused>> {
        let random: [u8; CODES * CODE_BYTES] = self.app.random();
        let codes: Vec<_> = random.chunks(CODE_BYTES).map(RecoveryCode::new).collect();
        let hashes = &RecoveryHashes::of(&codes);
        let login = self.own_login(who).await?;
        let attempt = self.attempt(login.email.as_str(), None).await?;
        let confirm = || {
            self.app.decide(|now| async move {
                let login = self.own_login(who).await?;
                if login.asks_for_code() {
                    return Err(Error::Rejected(AccountRefused::TotpOn));
                }
                let Some(secret) = login.totp_secret.clone() else {
                    return Err(Error::Rejected(AccountRefused::TotpOff));
                };
                let Some(step) = TotpSecret::new(secret).accepted(code, now, login.totp_step)
                else {
                    return Err(Error::Rejected(AccountRefused::WrongCode));
                };
                let after = Login {
                    totp_confirmed_at: Some(now),
                    totp_step: Some(step),
                    recovery: Some(hashes.clone()),
                    ..login.value().clone()
                };
                Ok(Decided::new(ChangeSet::new().with(login.update(after)), ()))
            })
        };
        let limited = |retry_after| Error::Rejected(AccountRefused::Limited { retry_after });
        if let Some(wait) = self.wait_for(attempt, true).await? {
            return Err(limited(wait));
        }
        // Counted before anything is confirmed: of many codes at once, the right one waits too.
        let is_wrong = !login.asks_for_code()
            && login.totp_secret.clone().is_some_and(|secret| {
                let secret = TotpSecret::new(secret);
                secret.accepted(code, self.app.now(), login.totp_step).is_none()
            });
        if let Some(wait) = self.wait_for(attempt, !is_wrong).await? {
            return Err(limited(wait));
        }
        if is_wrong {
            return Err(Error::Rejected(AccountRefused::WrongCode));
        }
        confirm().await?;
        Ok(codes)
    }

    /// Removes the own second factor, by the password.
    ///
    /// # Errors
    ///
    /// [`AccountRefused`].
    pub async fn remove_totp(
        &self,
        who: &SignedIn,
        password: &str,
    ) -> Result<(), Error<AccountRefused>> {
        let checked = &self.own_password(who, password).await?;
        let removed = self.app.decide(|_| async move {
            let login = self.own_login(who).await?;
            if login.password != checked.password {
                return Err(Error::Rejected(AccountRefused::WrongPassword));
            }
            let after = login.without_totp();
            if after == *login.value() {
                return Ok(Decided::unchanged(()));
            }
            Ok(Decided::new(ChangeSet::new().with(login.update(after)), ()))
        });
        removed.await
    }

    /// Whether the own login asks for a code, and how many recovery codes are left.
    ///
    /// # Errors
    ///
    /// [`AccountRefused::SignedOut`].
    pub async fn totp(&self, who: &SignedIn) -> Result<Option<usize>, Error<AccountRefused>> {
        let login = self.own_login(who).await?;
        let left = login.recovery.as_ref().map_or(0, RecoveryHashes::left);
        Ok(login.asks_for_code().then_some(left))
    }
}
