//! A provider of OpenID Connect that members sign in with (R432–R435).
//!
//! The authorization code flow with PKCE. The provider is described by its own document, which is
//! read again after an hour, and so are its keys. One call at a time reads them, and a failure
//! counts for five seconds.

mod cached;
mod description;
mod keys;

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use recado_core::Clock;
use recado_core::access::Gcra;
use recado_core::accounts::{
    IdToken, ProviderCode, ProviderFailure, ProviderRequest, SignInProvider,
};
use recado_core::gateway::GatewayDestinations;
use recado_core::secret::SecretText;
use recado_core::transport::{Host, Origin, OutboundRequest, OutboundResponse, Transport};
use serde::Deserialize;

use self::cached::Cached;
use self::description::Description;
use self::keys::{KeySet, Unverified};

/// How many bytes of the description or the keys are read.
const MOST_BYTES: usize = 512 * 1024;
/// How often in a minute the keys are read because of a token that names an unknown one (R435).
const READS_OF_KEYS: u32 = 6;

/// What this installation is at the provider.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct OpenIdOptions {
    /// The issuer: an address below which the provider describes itself.
    pub issuer: String,
    /// The client.
    pub client_id: String,
    /// The secret of the client; `None` for a client without one.
    pub client_secret: Option<SecretText>,
    /// What the page to sign in calls the provider.
    pub name: String,
}

impl OpenIdOptions {
    /// A client of an issuer, which is called by its host.
    pub fn new(issuer: impl Into<String>, client_id: impl Into<String>) -> Self {
        let issuer = issuer.into();
        let host = issuer.split_once("://").map_or(issuer.as_str(), |(_, rest)| rest);
        let name = host.split('/').next().unwrap_or_default().to_owned();
        Self { issuer, client_id: client_id.into(), client_secret: None, name }
    }
}

/// An issuer that cannot be one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidIssuer {
    /// It is no address.
    #[error("must be an address such as https://id.example.com/realms/people: {0}")]
    Address(&'static str),
    /// Tokens would travel in clear.
    #[error("must begin with https://, unless it is on this machine")]
    InClear,
    /// It has a query or a fragment.
    #[error("must have no query and no fragment")]
    Query,
}

/// R435. Where calls to a provider with this issuer may go: to its own host and port, wherever that
/// is, as the operator named it; and to public addresses, at which it may have its endpoints.
///
/// # Errors
///
/// [`InvalidIssuer`].
pub fn destinations_of(issuer: &str) -> Result<GatewayDestinations, InvalidIssuer> {
    let origin = checked_issuer(issuer)?;
    let host = match &origin.host {
        Host::Name(name) => name.trim_end_matches('.').to_owned(),
        Host::Address(std::net::IpAddr::V4(address)) => address.to_string(),
        Host::Address(std::net::IpAddr::V6(address)) => format!("[{address}]"),
    };
    let own = format!("public,{host}:{}", origin.port);
    own.parse().map_err(|_| InvalidIssuer::Address("its host is none"))
}

/// R435. The origin of an issuer that may be one.
fn checked_issuer(issuer: &str) -> Result<Origin, InvalidIssuer> {
    let origin = Origin::of(issuer).map_err(InvalidIssuer::Address)?;
    if issuer.contains(['?', '#']) {
        return Err(InvalidIssuer::Query);
    }
    let is_here = match &origin.host {
        Host::Address(address) => address.is_loopback(),
        Host::Name(name) => name.trim_end_matches('.').eq_ignore_ascii_case("localhost"),
    };
    if origin.https || is_here { Ok(origin) } else { Err(InvalidIssuer::InClear) }
}

/// A provider of OpenID Connect.
pub struct OpenIdProvider {
    options: OpenIdOptions,
    transport: Arc<dyn Transport>,
    clock: Arc<dyn Clock>,
    description: Cached<Description>,
    keys: Cached<KeySet>,
    /// The state of the limit of reads of the keys.
    reads: Mutex<Option<i64>>,
}

impl fmt::Debug for OpenIdProvider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenIdProvider").field("options", &self.options).finish_non_exhaustive()
    }
}

fn untrusted(why: Unverified) -> ProviderFailure {
    ProviderFailure::Token(why.to_string())
}

fn unavailable(why: impl fmt::Display) -> ProviderFailure {
    ProviderFailure::Unavailable(why.to_string())
}

impl OpenIdProvider {
    /// A provider that is called by this transport; see [`destinations_of`]. Nothing is read yet.
    ///
    /// # Errors
    ///
    /// [`InvalidIssuer`].
    pub fn new(
        options: OpenIdOptions,
        transport: Arc<dyn Transport>,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, InvalidIssuer> {
        checked_issuer(&options.issuer)?;
        keys::choose_cryptography();
        let (description, keys) = (Cached::default(), Cached::default());
        Ok(Self { options, transport, clock, description, keys, reads: Mutex::default() })
    }

    /// The body of a document of the provider.
    async fn document(&self, url: &str) -> Result<Vec<u8>, ProviderFailure> {
        let request = OutboundRequest::get(url).header("accept", "application/json");
        let request = request.with_answer_limit(MOST_BYTES).repeatable();
        let answer = self.transport.send(request).await.map_err(unavailable)?;
        match answer.status {
            200 => Ok(answer.body),
            status => Err(unavailable(format_args!("it answers {status} to {url}"))),
        }
    }

    /// R435. The description of the provider, which has to name the issuer itself.
    async fn description(&self) -> Result<Arc<Description>, ProviderFailure> {
        let issuer = &self.options.issuer;
        let read = async {
            let url = format!("{}/.well-known/openid-configuration", issuer.trim_end_matches('/'));
            Description::read(&self.document(&url).await?, issuer).map_err(unavailable)
        };
        self.description.other_than(None, &*self.clock, || Ok(()), read).await
    }

    /// R435. The keys of the provider, other than these old ones, which lack one.
    async fn keys(&self, old: Option<&Arc<KeySet>>) -> Result<Arc<KeySet>, ProviderFailure> {
        let may_read = || match old {
            Some(_) if !self.may_read_keys() => Err(untrusted(Unverified::UnknownKey)),
            _ => Ok(()),
        };
        let read = async {
            let description = self.description().await?;
            KeySet::read(&self.document(&description.jwks_uri).await?).map_err(unavailable)
        };
        self.keys.other_than(old, &*self.clock, may_read, read).await
    }

    /// R435. Whether the keys may be read again now because of a token that names an unknown one.
    fn may_read_keys(&self) -> bool {
        let mut reads = self.reads.lock().unwrap_or_else(PoisonError::into_inner);
        match Gcra::per_minute(READS_OF_KEYS).decide(*reads, self.clock.now()) {
            Ok(state) => {
                *reads = Some(state);
                true
            }
            Err(_) => false,
        }
    }

    /// R435. The claims of a token, by a key of the issuer. If it names one that is not among those
    /// that were known before, the keys are read again once.
    async fn verified(&self, token: &str) -> Result<IdToken, ProviderFailure> {
        let before = self.keys.fresh(self.clock.now());
        let keys = match &before {
            Some(keys) => keys.clone(),
            None => self.keys(None).await?,
        };
        match keys.verify(token) {
            Err(Unverified::UnknownKey) if before.is_some() => {
                self.keys(before.as_ref()).await?.verify(token).map_err(untrusted)
            }
            verified => verified.map_err(untrusted),
        }
    }

    /// The request that gives a code back.
    fn token_request(&self, description: &Description, code: &ProviderCode) -> OutboundRequest {
        let mut form = form_urlencoded::Serializer::new(String::new());
        form.append_pair("grant_type", "authorization_code");
        form.append_pair("code", code.code.expose());
        form.append_pair("redirect_uri", &code.redirect_uri);
        form.append_pair("code_verifier", code.verifier.expose());
        let (id, secret) = (&self.options.client_id, &self.options.client_secret);
        let basic = match secret {
            Some(secret) if description.takes_basic() => {
                // Each half is encoded as in a form (RFC 6749, 2.3.1).
                let encoded = |text: &str| -> String {
                    form_urlencoded::byte_serialize(text.as_bytes()).collect()
                };
                Some(format!("{}:{}", encoded(id), encoded(secret.expose())))
            }
            Some(secret) => {
                form.append_pair("client_id", id).append_pair("client_secret", secret.expose());
                None
            }
            None => {
                form.append_pair("client_id", id);
                None
            }
        };
        let kind = ("content-type".to_owned(), "application/x-www-form-urlencoded".to_owned());
        let url = description.token_endpoint.as_str();
        let request = OutboundRequest::post(url, vec![kind], form.finish().into_bytes()).once();
        let request = request.header("accept", "application/json");
        match basic {
            Some(basic) => {
                request.header("authorization", format!("Basic {}", STANDARD.encode(basic)))
            }
            None => request,
        }
    }
}

#[async_trait]
impl SignInProvider for OpenIdProvider {
    fn name(&self) -> &str {
        &self.options.name
    }

    fn issuer(&self) -> &str {
        &self.options.issuer
    }

    fn client_id(&self) -> &str {
        &self.options.client_id
    }

    async fn sign_in_url(&self, request: &ProviderRequest) -> Result<String, ProviderFailure> {
        let description = self.description().await?;
        let endpoint = &description.authorization_endpoint;
        let query = form_urlencoded::Serializer::new(String::new())
            .append_pair("response_type", "code")
            .append_pair("scope", "openid email")
            .append_pair("client_id", &self.options.client_id)
            .append_pair("redirect_uri", &request.redirect_uri)
            .append_pair("state", &request.state)
            .append_pair("nonce", &request.nonce)
            .append_pair("code_challenge", &request.challenge)
            .append_pair("code_challenge_method", "S256")
            .finish();
        let separator = if endpoint.contains('?') { '&' } else { '?' };
        Ok(format!("{endpoint}{separator}{query}"))
    }

    async fn redeem(&self, code: &ProviderCode) -> Result<IdToken, ProviderFailure> {
        let description = self.description().await?;
        let request = self.token_request(&description, code);
        let answer = self.transport.send(request).await.map_err(unavailable)?;
        let token = token_in(&answer)?;
        self.verified(token.expose()).await
    }
}

/// The token in the answer to a code.
fn token_in(answer: &OutboundResponse) -> Result<SecretText, ProviderFailure> {
    #[derive(Deserialize)]
    struct Answer {
        id_token: String,
    }
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Refusal {
        error: String,
    }
    if answer.status == 200 {
        let read = serde_json::from_slice::<Answer>(&answer.body);
        let read = read.map_err(|_| ProviderFailure::Token("the answer has none".to_owned()))?;
        return Ok(SecretText::new(read.id_token));
    }
    let refusal: Refusal = serde_json::from_slice(&answer.body).unwrap_or_default();
    let is_word = refusal.error.len() <= 64
        && refusal.error.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let why = match &refusal.error {
        word if is_word && !word.is_empty() => format!("{} {word}", answer.status),
        _ => answer.status.to_string(),
    };
    // That the client is not accepted is a matter of the operator's, not of who signs in.
    match answer.status {
        400 if refusal.error != "invalid_client" => Err(ProviderFailure::Refused(why)),
        _ => Err(unavailable(format_args!("it answers a code with {why}"))),
    }
}

#[cfg(test)]
mod tests;
