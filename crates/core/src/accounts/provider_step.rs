//! The steps of a sign-in at a provider, and why one is refused (R432–R434).

use std::time::Duration;

use super::{NewSession, ProviderFailure, TokenProblem};
use crate::secret::SecretText;

/// A sign-in that was begun.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct BegunSignIn {
    /// Where to send the browser.
    pub url: String,
    /// What the browser has to keep, in a cookie that no script and no other site reads.
    pub kept: SecretText,
}

/// What a browser brings back from the provider.
#[derive(Clone, Copy, Debug, Default)]
pub struct ProviderAnswer<'a> {
    /// What it kept.
    pub kept: Option<&'a str>,
    /// The state.
    pub state: Option<&'a str>,
    /// The code.
    pub code: Option<&'a str>,
    /// The issuer, where the provider says it (RFC 9207).
    pub issuer: Option<&'a str>,
}

/// How a sign-in at the provider goes on.
#[derive(Clone, Debug)]
pub enum ProviderStep {
    /// It is done.
    SignedIn {
        /// The session.
        session: NewSession,
        /// Where to lead, as it was given at the beginning.
        next: String,
    },
    /// A code of the second factor is needed (R434).
    CodeNeeded {
        /// What the browser has to keep until then, as before.
        kept: SecretText,
    },
}

/// Why a sign-in at the provider is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProviderRefused {
    /// It was not begun in this browser, too long ago, or was answered already.
    #[error("the sign-in was not begun in this browser, or too long ago")]
    Stale,
    /// The provider gave no code: the member declined, or may not sign in there.
    #[error("the provider did not sign the member in")]
    Declined,
    /// The provider cannot be used.
    #[error(transparent)]
    Provider(ProviderFailure),
    /// The answer is of another issuer, or its token does not say what it has to.
    #[error("the token is refused: {0}")]
    Token(TokenProblem),
    /// There is no login for who signed in there, or it is disabled. Which of them is not said.
    #[error("no login belongs to this account of the provider")]
    NoLogin,
    /// A code of the second factor is needed.
    #[error("a code of the second factor is needed")]
    CodeNeeded,
    /// The code of the second factor is wrong.
    #[error("the code is wrong")]
    WrongCode,
    /// Too many attempts (R398).
    #[error("too many attempts; try again later")]
    Limited {
        /// The wait until one attempt is looked at.
        retry_after: Duration,
    },
}

impl ProviderRefused {
    /// Whether it counts as an attempt: what a provider that is down costs is nobody's fault.
    pub(super) const fn is_wrong_attempt(&self) -> bool {
        !matches!(self, Self::Provider(ProviderFailure::Unavailable(_)))
    }
}
