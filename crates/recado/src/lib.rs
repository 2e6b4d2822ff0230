#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

use std::path::PathBuf;
use std::sync::Arc;

/// The guides of the repository. Their code is compiled and run by its tests.
#[cfg(all(doc, not(doctest)))]
pub mod guide {
    #[doc = include_str!("../guides/embedding.md")]
    pub mod embedding {}
}

// What signatures need of other crates.
pub use ::http as http_types;
pub use async_trait::async_trait;
pub use chrono;
pub use ipnet;
#[cfg(feature = "console")]
pub use recado_console as console;
pub use recado_core::audit::Acting;
pub use recado_core::*;
pub use recado_http_hyper as http;
#[cfg(any(
    feature = "cloud-api",
    feature = "waha",
    feature = "evolution",
    feature = "simulated"
))]
pub use recado_providers as providers;
pub use recado_runtime as runtime;
pub use recado_runtime::{Background, Stopped};
#[cfg(all(feature = "postgres", not(feature = "sqlite")))]
pub use recado_store_postgres::{
    KeyFileError, MissingKeys, SealedCounts, Sealer, SealingKey, SealingKeyId,
};
#[cfg(feature = "postgres")]
pub use recado_store_postgres::{Options as PostgresOptions, PostgresStore};
#[cfg(feature = "sqlite")]
pub use recado_store_sqlite::{
    KeyFileError, MissingKeys, SealedCounts, Sealer, SealingKey, SealingKeyId, SqliteOptions,
    SqliteStore,
};
pub use serde_json;
pub use uuid;

use crate::gateway::Providers;
use crate::http::{ClientOptions, GuardedClient, Reach};
use crate::runtime::{ArgonPasswords, LocalFiles, RandomIds, SystemClock, TokioSpawner};
use crate::store::Store;
use crate::transport::Transport;

/// The parts of a program on this system: its clock, random ids, tokio's tasks, documents in a
/// local folder, a guarded client for calls to the outside, and every gateway whose feature is on,
/// except the simulated one, whose reports have to be passed on. Change fields as needed before
/// [`Installation::start`].
///
/// Rate limits are counted in this process; several processes on one Postgres share
/// `PostgresStore::limiter`.
pub fn parts(store: Arc<dyn Store>, settings: Settings, documents: impl Into<PathBuf>) -> Parts {
    let client =
        |reach| -> Arc<dyn Transport> { Arc::new(GuardedClient::new(ClientOptions { reach })) };
    Parts {
        store,
        standby: None,
        signals: None,
        clock: Arc::new(SystemClock),
        ids: Arc::new(RandomIds::new()),
        files: Arc::new(LocalFiles::new(documents)),
        spawner: Arc::new(TokioSpawner),
        transport: client(Reach::Public),
        gateway_transport: Some(client(Reach::Gateways(settings.gateway_destinations.clone()))),
        limiter: None,
        providers: gateways(&settings),
        passwords: Arc::new(ArgonPasswords::new()),
        settings,
    }
}

/// The gateways whose features are on, for group codes with the suffix of the settings.
#[cfg_attr(
    not(any(feature = "cloud-api", feature = "waha", feature = "evolution")),
    expect(unused_variables, unused_mut, reason = "no gateway is switched on")
)]
fn gateways(settings: &Settings) -> Providers {
    let (mut gateways, suffix) = (Providers::none(), &settings.group_suffix);
    #[cfg(feature = "cloud-api")]
    {
        use crate::providers::cloud_api::CloudApi;
        let adapter = Arc::new(CloudApi::with_group_suffix(suffix));
        gateways = gateways.with(adapter);
    }
    #[cfg(feature = "waha")]
    {
        use crate::providers::waha::Waha;
        gateways = gateways.with(Arc::new(Waha::new(suffix)));
    }
    #[cfg(feature = "evolution")]
    {
        use crate::providers::evolution::Evolution;
        let adapter = Arc::new(Evolution::new(suffix));
        gateways = gateways.with(adapter);
    }
    gateways
}
