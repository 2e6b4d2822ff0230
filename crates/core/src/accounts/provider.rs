//! The provider that members may sign in with (R432): what it is asked, and what it answers.

use std::fmt;

use async_trait::async_trait;

use super::IdToken;
use crate::secret::SecretText;

/// A provider that members may sign in with, over OpenID Connect (R432). The adapter speaks HTTP
/// and verifies signatures; what a verified token is worth is decided in the core.
#[async_trait]
pub trait SignInProvider: fmt::Debug + Send + Sync {
    /// What the page to sign in calls it.
    fn name(&self) -> &str;

    /// The issuer, as its tokens name it.
    fn issuer(&self) -> &str;

    /// The client that this installation is there.
    fn client_id(&self) -> &str;

    /// Where a browser is sent to sign in.
    ///
    /// # Errors
    ///
    /// [`ProviderFailure`].
    async fn sign_in_url(&self, request: &ProviderRequest) -> Result<String, ProviderFailure>;

    /// Gives a code back for the token it stands for. The signature of the token has been verified
    /// with a key of the issuer, by an asymmetric algorithm; nothing else about it has.
    ///
    /// # Errors
    ///
    /// [`ProviderFailure`].
    async fn redeem(&self, code: &ProviderCode) -> Result<IdToken, ProviderFailure>;
}

/// What a browser asks the provider for (R432).
#[derive(Clone, Debug)]
pub struct ProviderRequest {
    /// Where the provider sends the browser back to.
    pub redirect_uri: String,
    /// What it sends back with the browser.
    pub state: String,
    /// What it writes into the token.
    pub nonce: String,
    /// The SHA-256 of the verifier, in base64url (PKCE, S256).
    pub challenge: String,
}

/// A code of the provider, to be given back for a token (R432).
#[derive(Clone, Debug)]
pub struct ProviderCode {
    /// The code.
    pub code: SecretText,
    /// Where the browser was sent back to.
    pub redirect_uri: String,
    /// What the challenge of the request is the hash of.
    pub verifier: SecretText,
}

/// Why the provider gave no token.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProviderFailure {
    /// It cannot be reached, fails itself, or describes itself wrongly: try again later.
    #[error("the provider cannot be used now: {0}")]
    Unavailable(String),
    /// It refuses the code.
    #[error("the provider refuses the code: {0}")]
    Refused(String),
    /// The token is none, or its signature is not one of the issuer.
    #[error("the token cannot be trusted: {0}")]
    Token(String),
}
