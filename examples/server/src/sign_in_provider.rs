//! The provider that members may sign in with, of the options (R432).

use std::sync::Arc;

use recado_core::Clock;
use recado_core::accounts::SignInProvider;
use recado_core::gateway::GatewayDestinations;
use recado_core::transport::Transport;

use crate::options::{ConfigError, Options};

/// The provider, with a transport that calls these destinations (R435); `None` where the options
/// name none.
#[cfg(feature = "oidc")]
pub(crate) fn open(
    options: &Options,
    clock: &Arc<dyn Clock>,
    transport: impl FnOnce(GatewayDestinations) -> Arc<dyn Transport>,
) -> Result<Option<Arc<dyn SignInProvider>>, ConfigError> {
    use recado_runtime::oidc::{InvalidIssuer, OpenIdOptions, OpenIdProvider, destinations_of};

    let (Some(issuer), Some(client_id)) = (&options.oidc_issuer, &options.oidc_client_id) else {
        return Ok(None);
    };
    let wrong = |error: InvalidIssuer| ConfigError::one(format!("--oidc-issuer {error}"));
    let mut client = OpenIdOptions::new(issuer, client_id);
    client.client_secret = options.read_oidc_client_secret()?;
    if let Some(name) = &options.oidc_name {
        client.name.clone_from(name);
    }
    let transport = transport(destinations_of(issuer).map_err(wrong)?);
    let provider = OpenIdProvider::new(client, transport, clock.clone()).map_err(wrong)?;
    Ok(Some(Arc::new(provider)))
}

/// A build without the feature has no provider; its options refuse one.
#[cfg(not(feature = "oidc"))]
pub(crate) fn open(
    _: &Options,
    _: &Arc<dyn Clock>,
    _: impl FnOnce(GatewayDestinations) -> Arc<dyn Transport>,
) -> Result<Option<Arc<dyn SignInProvider>>, ConfigError> {
    Ok(None)
}
