//! Signing in at a provider (R432–R434).

use std::net::IpAddr;
use std::time::Duration;

use subtle::ConstantTimeEq;

use super::attempts::Attempt;
use super::id_token::{Expected, ProviderIdentity};
use super::provider_attempt::{PendingSignIn, ProviderAttempt};
use super::provider_login::opened;
use super::sign_in::{Proof, SecondFactor, second_factor};
use super::{
    Accounts, BegunSignIn, Login, LoginSubjectHash, NewSession, ProviderAnswer, ProviderCode,
    ProviderRefused, ProviderRequest, ProviderStep, SignInProvider, SignInRefused, SignInStateHash,
    TokenProblem,
};
use crate::Timestamp;
use crate::access::{Gcra, RateCheck, RateDecision, RateKey};
use crate::error::Error;
use crate::keyed_hash::HashKey;
use crate::secret::SecretText;
use crate::store::{RecordsExt, Stored};

/// Where the provider sends a browser back to, behind the public URL.
const CALLBACK: &str = "/console/sign-in/oidc/callback";
/// How long it is remembered that a sign-in was answered: as long as one may take, and a minute
/// more for the clocks of other processes.
const REMEMBERED: Duration = Duration::from_secs(11 * 60);

type ProviderResult<T> = Result<T, Error<ProviderRefused>>;

const STALE: Error<ProviderRefused> = Error::Rejected(ProviderRefused::Stale);
const NO_LOGIN: Error<ProviderRefused> = Error::Rejected(ProviderRefused::NoLogin);

fn limited(retry_after: Duration) -> Error<ProviderRefused> {
    Error::Rejected(ProviderRefused::Limited { retry_after })
}

/// R432. The sign-in that an answer belongs to: one that this browser began, not long ago. Nothing
/// changes by the question.
fn own_attempt(
    key: &HashKey,
    answer: &ProviderAnswer<'_>,
    now: Timestamp,
) -> Option<ProviderAttempt> {
    let attempt = answer.kept.and_then(ProviderAttempt::read)?;
    let shown = answer.state.and_then(SignInStateHash::from_text)?;
    let is_own: bool = attempt.state(key).as_bytes().ct_eq(shown.as_bytes()).into();
    (is_own && attempt.is_open(now)).then_some(attempt)
}

impl Accounts<'_> {
    fn redirect_uri(&self) -> String {
        format!("{}{CALLBACK}", self.app.settings().public_url)
    }

    /// Begins a sign-in at the provider that leads to `next` in the end (R432).
    ///
    /// # Errors
    ///
    /// [`ProviderRefused::Provider`].
    pub async fn begin_at_provider(
        &self,
        provider: &dyn SignInProvider,
        next: &str,
    ) -> ProviderResult<BegunSignIn> {
        let key = self.app.hash_key().await?;
        let attempt = ProviderAttempt::begin(self.app.random(), self.app.now(), next);
        let request = ProviderRequest {
            redirect_uri: self.redirect_uri(),
            state: attempt.state(key).to_text(),
            nonce: attempt.nonce(key),
            challenge: attempt.challenge(key),
        };
        let url = provider.sign_in_url(&request).await;
        let url = url.map_err(|failure| Error::Rejected(ProviderRefused::Provider(failure)))?;
        Ok(BegunSignIn { url, kept: attempt.kept() })
    }

    /// Goes on when the browser comes back from the provider (R432). `client` is the address of who
    /// asks.
    ///
    /// # Errors
    ///
    /// [`ProviderRefused`].
    pub async fn answer_of_provider(
        &self,
        provider: &dyn SignInProvider,
        answer: &ProviderAnswer<'_>,
        client: Option<IpAddr>,
    ) -> ProviderResult<ProviderStep> {
        let key = self.app.hash_key().await?;
        let attempt = own_attempt(key, answer, self.app.now()).ok_or(STALE)?;
        if answer.issuer.is_some_and(|issuer| issuer != provider.issuer()) {
            return Err(Error::Rejected(ProviderRefused::Token(TokenProblem::Issuer)));
        }
        let code = answer.code.filter(|code| !code.is_empty());
        let code = code.ok_or(Error::Rejected(ProviderRefused::Declined))?;
        // Held until the attempt was charged.
        let _turn = self.app.turns().take_at(client).map_err(limited)?;
        let counted = Attempt::of_client(client);
        if let Some(wait) = self.wait_for(counted, true).await? {
            return Err(limited(wait));
        }
        self.answer_once(attempt.state(key)).await?;
        let (login, subject) = match self.opened_login(provider, &attempt, key, code).await {
            Err(Error::Rejected(refused)) if refused.is_wrong_attempt() => {
                let wait = self.wait_for(counted, false).await?;
                return Err(wait.map_or(Error::Rejected(refused), limited));
            }
            found => found?,
        };
        let login_key = (login.company, login.member);
        if login.asks_for_code() {
            let pending = PendingSignIn::begin(login_key, subject, self.app.now(), &attempt.next);
            return Ok(ProviderStep::CodeNeeded { kept: pending.kept(key, login.email.as_str()) });
        }
        let proof = Proof::Provider { subject, email: login.email.clone() };
        let session = self.begin_session(login_key, &proof, None).await;
        let session = session.map_err(|error| error.map(|_| ProviderRefused::NoLogin))?;
        Ok(ProviderStep::SignedIn { session, next: attempt.next })
    }

    /// Ends a sign-in at the provider by the code of the second factor (R434). Gives the session
    /// and where to lead.
    ///
    /// # Errors
    ///
    /// [`ProviderRefused`]; wrong codes are limited as wrong passwords are (R398).
    pub async fn code_after_provider(
        &self,
        kept: &str,
        code: &str,
        client: Option<IpAddr>,
    ) -> ProviderResult<(NewSession, String)> {
        let key = self.app.hash_key().await?;
        let pending = PendingSignIn::read(kept).ok_or(STALE)?;
        let login_key = (pending.company, pending.member);
        // Held until the attempt was charged.
        let _turn = self.app.turns().take_at(client).map_err(limited)?;
        let login = self.app.store().get::<Login>(login_key).await?.ok_or(STALE)?;
        if !pending.holds(key, login.email.as_str(), self.app.now()) {
            return Err(STALE);
        }
        let counted = self.attempt(login.email.as_str(), client).await?;
        if let Some(wait) = self.wait_for(counted, true).await? {
            return Err(limited(wait));
        }
        let factor = second_factor(&login, Some(code), self.app.now());
        let is_right = !matches!(factor, SecondFactor::Wrong);
        if let Some(wait) = self.wait_for(counted, is_right).await? {
            return Err(limited(wait));
        }
        match factor {
            SecondFactor::Missing => return Err(Error::Rejected(ProviderRefused::CodeNeeded)),
            SecondFactor::Wrong => {
                // R387.
                self.app.audit().note_refused_sign_in(&login);
                return Err(Error::Rejected(ProviderRefused::WrongCode));
            }
            SecondFactor::Passed(_) => {}
        }
        let proof = Proof::Provider { subject: pending.subject, email: login.email.clone() };
        let session = self.begin_session(login_key, &proof, Some(code)).await;
        let session =
            session.map_err(|error| error.map(|_: SignInRefused| ProviderRefused::WrongCode))?;
        Ok((session, pending.next))
    }

    /// R432. Takes the answer to a sign-in, once. It is asked last, after the limits: an answer
    /// that goes no further is not used up, and nothing is remembered of it.
    async fn answer_once(&self, state: SignInStateHash) -> ProviderResult<()> {
        let once =
            RateCheck { key: RateKey::SignInAnswer(state), allowance: Gcra::over(REMEMBERED, 1) };
        match self.app.limiter().check(&[once], self.app.now()).await? {
            RateDecision::Allowed => Ok(()),
            RateDecision::Limited { .. } => Err(STALE),
        }
    }

    /// Who signed in at the provider.
    async fn identity(
        &self,
        provider: &dyn SignInProvider,
        attempt: &ProviderAttempt,
        key: &HashKey,
        code: &str,
    ) -> Result<ProviderIdentity, ProviderRefused> {
        let code = ProviderCode {
            code: SecretText::new(code),
            redirect_uri: self.redirect_uri(),
            verifier: attempt.verifier(key),
        };
        let token = provider.redeem(&code).await.map_err(ProviderRefused::Provider)?;
        let nonce = attempt.nonce(key);
        let (issuer, client_id) = (provider.issuer(), provider.client_id());
        let expected = Expected { issuer, client_id, nonce: &nonce };
        token.check(expected, self.app.now()).map_err(ProviderRefused::Token)
    }

    /// R433. The login that a code opens, if its company was not deleted, and its subject.
    async fn opened_login(
        &self,
        provider: &dyn SignInProvider,
        attempt: &ProviderAttempt,
        key: &HashKey,
        code: &str,
    ) -> ProviderResult<(Stored<Login>, LoginSubjectHash)> {
        let identity = self.identity(provider, attempt, key, code).await;
        let identity = identity.map_err(Error::Rejected)?;
        let subject = LoginSubjectHash::of_subject(key, provider.issuer(), &identity.subject);
        let by_subject = self.app.store().login_by_subject(&subject).await?;
        let by_email = match &identity.email {
            Some(email) => self.app.store().login_by_email(email).await?,
            None => None,
        };
        let refused = by_subject.clone().or_else(|| by_email.clone());
        let Some(login) = opened(&identity, by_subject, by_email) else {
            // R387.
            if let Some(login) = refused {
                self.app.audit().note_refused_sign_in(&login);
            }
            return Err(NO_LOGIN);
        };
        self.app.company(login.company).await?.ok_or(NO_LOGIN)?;
        Ok((login, subject))
    }
}
