//! Authentication and rate limits of endpoints (D13).

use super::{AuthMode, Inbound, InboundEndpoint, InboundError};
use crate::access::{ClientNet, Company, Gcra, RateCheck, RateDecision, RateKey};
use crate::error::Error;
use crate::inbound::EndpointSlug;
use crate::keyed_hash::HashKey;

/// Calls a minute (8).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InboundRates {
    /// Of one endpoint.
    pub per_endpoint: u32,
    /// Of one client.
    pub per_client: u32,
}

/// The rate limits of an authentication mode (8).
pub const fn rates(mode: AuthMode) -> InboundRates {
    match mode {
        AuthMode::SecretRequired => InboundRates { per_endpoint: 60, per_client: 10 },
        AuthMode::Public => InboundRates { per_endpoint: 30, per_client: 5 },
    }
}

/// The counter of a client's calls in an authentication mode. Each mode has a counter of its own,
/// so that calls of one do not use up the allowance of the other (D13).
const fn client_key(mode: AuthMode, client: ClientNet) -> RateKey {
    match mode {
        AuthMode::SecretRequired => RateKey::InboundClient(client),
        AuthMode::Public => RateKey::PublicInboundClient(client),
    }
}

/// An endpoint that admitted a call.
#[derive(Clone, Debug)]
pub struct Admitted {
    pub(super) endpoint: InboundEndpoint,
    pub(super) company: Company,
}

impl Admitted {
    /// The company it belongs to.
    pub const fn company(&self) -> &Company {
        &self.company
    }
}

/// Whether an endpoint admits a call with these secrets, apart from rate limits.
fn permitted(
    found: Option<(InboundEndpoint, Company)>,
    key: &HashKey,
    secrets: &[&[u8]],
) -> Result<Admitted, InboundError> {
    let (endpoint, company) =
        found.filter(|(_, company)| company.is_there()).ok_or(InboundError::EndpointNotFound)?;
    if !company.features.inbound_contacts {
        return Err(InboundError::FeatureDisabled);
    }
    if !endpoint.is_active {
        return Err(InboundError::EndpointInactive);
    }
    let is_open = endpoint.auth_mode == AuthMode::Public;
    if !is_open && !endpoint.secret_hash.is_presented(key, secrets) {
        return Err(InboundError::InvalidSecret);
    }
    Ok(Admitted { endpoint, company })
}

impl Inbound<'_> {
    /// Admits a call to an endpoint before its body is read. The client's rate limit is checked
    /// first, the endpoint's own only after the secret, so that callers without the secret cannot
    /// exhaust it. A call that is refused for its rate counts against no limit (D13). `secrets` are
    /// the values of all `X-Service-Secret` headers; more than one is refused like none (R77).
    ///
    /// # Errors
    ///
    /// [`InboundError`], in the order of D13.
    pub async fn admit(
        &self,
        slug: &str,
        client: ClientNet,
        secrets: &[&[u8]],
    ) -> Result<Admitted, Error<InboundError>> {
        let found = match EndpointSlug::parse(slug) {
            Some(slug) => self.app.store().endpoint_by_slug(&slug).await?,
            None => None,
        };
        // D13: an unknown slug has the limits of `secret_required`.
        let endpoint = found.as_ref().map(|(known, _)| known.id);
        let mode = found.as_ref().map_or(AuthMode::SecretRequired, |(known, _)| known.auth_mode);
        let rates = rates(mode);
        let permitted = permitted(found, self.app.hash_key().await?, secrets);
        let mut checks = vec![RateCheck {
            key: client_key(mode, client),
            allowance: Gcra::per_minute(rates.per_client),
        }];
        if let Ok(admitted) = &permitted {
            checks.push(RateCheck {
                key: RateKey::Endpoint(admitted.endpoint.id),
                allowance: Gcra::per_minute(rates.per_endpoint),
            });
        }
        let admitted = match self.app.limiter().check(&checks, self.app.now()).await? {
            RateDecision::Allowed => permitted,
            RateDecision::Limited { retry_after } => Err(InboundError::RateLimited { retry_after }),
        };
        if let (Some(endpoint), Err(refusal)) = (endpoint, &admitted) {
            self.remember_refused(endpoint, refusal);
        }
        admitted.map_err(Error::Rejected)
    }
}
