//! Notifications between processes, where the options name others than those of the database
//! (R463).

use std::sync::Arc;

use recado_core::deliveries::Signals;

use crate::options::{ConfigError, Options};

/// Registers the description of the metric of [`NatsSignals`](recado_runtime::nats::NatsSignals).
pub(crate) fn describe() {
    metrics::describe_gauge!(
        "recado_nats_connected",
        metrics::Unit::Count,
        "1 while notifications by NATS arrive, 0 since it was lost or refused."
    );
}

/// Those of NATS; `None` where the options name no server.
#[cfg(feature = "nats")]
pub(crate) fn open(options: &Options) -> Result<Option<Arc<dyn Signals>>, ConfigError> {
    use recado_runtime::nats::{InvalidNats, NatsSignals};

    let Some(servers) = &options.nats else { return Ok(None) };
    let wrong = |name: &str, error: InvalidNats| ConfigError::one(format!("--{name} {error}"));
    let servers = servers.expose().parse().map_err(|error| wrong("nats", error))?;
    let subject = options.nats_subject.parse().map_err(|error| wrong("nats-subject", error))?;
    Ok(Some(Arc::new(NatsSignals::new(servers, &subject))))
}

/// A build without the feature has none; its options refuse them.
#[cfg(not(feature = "nats"))]
pub(crate) fn open(_: &Options) -> Result<Option<Arc<dyn Signals>>, ConfigError> {
    Ok(None)
}
