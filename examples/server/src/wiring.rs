//! From options to the core: the store, the files, the transport.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use recado_core::access::Limiter;
use recado_core::accounts::{SessionLimits, SignInProvider};
use recado_core::audit::{Acting, Actor, OperationName};
use recado_core::connections::GatewayView;
use recado_core::conversations::StopWords;
use recado_core::deliveries::{RetryWaits, Shards};
use recado_core::gateway::{GatewayDestinations, Providers};
use recado_core::secret::SecretText;
use recado_core::store::{Store, StoreError};
use recado_core::transport::Transport;
use recado_core::{Clock, Ids, Installation, Parts, Recado, Settings, Standby};
use recado_http_hyper::{ClientOptions, GuardedClient, Reach};
use recado_providers::cloud_api::CloudApi;
use recado_providers::evolution::Evolution;
use recado_providers::simulated::{Reports, Simulated};
use recado_providers::waha::Waha;
use recado_runtime::{ArgonPasswords, RandomIds, SystemClock, TokioSpawner};
use recado_store_postgres::{
    ConnectError, ConnectionParameters, Options as PostgresOptions, PostgresStore,
};
use recado_store_sql::transfer::Transferable;
use recado_store_sqlite::{MigrationPlan, SealedCounts, Sealer, SqliteOptions, SqliteStore};

use crate::attempts::CountedTransport;
use crate::files;
use crate::options::{ConfigError, DatabaseLocation, Duration, Options};
use crate::sign_in_provider;
use crate::signals;
use crate::start::{Overrides, StartError};
use crate::traces::Traces;
use crate::watch::{StoreUse, TimedStore, counted};

/// A database that was opened, and the limiter that its processes share.
pub(crate) struct Opened {
    pub(crate) store: Arc<dyn Store>,
    /// The same, as what can be moved.
    pub(crate) transferable: Arc<dyn Transferable>,
    own: StoreUse,
    limiter: Option<Arc<dyn Limiter>>,
    pub(crate) closer: Closer,
}

/// Closes the database at the end of a command or a server: of an SQLite file the log is emptied
/// then, so that the file alone is the whole database.
#[derive(Debug, Default)]
pub(crate) struct Closer(Option<Arc<SqliteStore>>);

impl Closer {
    /// Finishes what is under way; later reads and writes fail.
    pub(crate) async fn close(self) {
        if let Some(store) = self.0 {
            store.close().await;
        }
    }
}

/// Opens the database of the options, and migrates its schema if `migrate` is true.
pub(crate) async fn open(options: &Options, migrate: bool) -> Result<Opened, StartError> {
    match &options.database {
        DatabaseLocation::Sqlite(path) => {
            let store = Arc::new(sqlite(path, options.sealer()?, migrate).await?);
            let own = StoreUse::Sqlite { store: store.clone(), path: path.clone() };
            let closer = Closer(Some(Arc::clone(&store)));
            Ok(Opened { store: store.clone(), transferable: store, own, limiter: None, closer })
        }
        DatabaseLocation::Postgres(url) => {
            let store = postgres(url, options, migrate).await?;
            let limiter = Arc::new(store.limiter());
            let own = StoreUse::Postgres(store.clone());
            let closer = Closer::default();
            let store = Arc::new(store);
            let transferable = store.clone();
            Ok(Opened { store, transferable, own, limiter: Some(limiter), closer })
        }
    }
}

/// Migrates the database, and chooses its number of shards. Answers the number that it has.
///
/// R464.
pub(crate) async fn migrate(
    options: &Options,
    shards: Option<Shards>,
) -> Result<Shards, StartError> {
    let opened = open(options, true).await?;
    if let (StoreUse::Postgres(store), Some(shards)) = (&opened.own, shards) {
        store.migrate_into(shards).await.map_err(|error| StartError::Migrate(error.into()))?;
    }
    let shards = opened.store.shards().await?;
    opened.closer.close().await;
    Ok(shards)
}

/// What migrating the database would do; `None` if there is none. Writes nothing (R249).
pub(crate) async fn migration_plan(options: &Options) -> Result<Option<MigrationPlan>, StartError> {
    match &options.database {
        DatabaseLocation::Sqlite(path) => {
            let path = path.clone();
            let planning = tokio::task::spawn_blocking(move || SqliteStore::plan(path));
            let planned = planning.await.map_err(|e| StartError::Open(e.into()))?;
            planned.map_err(|e| StartError::Migrate(e.into()))
        }
        DatabaseLocation::Postgres(url) => match postgres(url, options, false).await {
            Err(StartError::Open(error)) if is_unknown_database(&*error) => Ok(None),
            store => store?.plan().await.map(Some).map_err(|e| StartError::Migrate(e.into())),
        },
    }
}

/// Whether there is a database. Makes nothing.
///
/// R264.
pub(crate) async fn exists(options: &Options) -> Result<bool, StartError> {
    match &options.database {
        DatabaseLocation::Sqlite(path) => {
            let path = path.clone();
            let looking = tokio::task::spawn_blocking(move || SqliteStore::exists(path));
            let found = looking.await.map_err(|e| StartError::Open(e.into()))?;
            found.map_err(|e| StartError::Open(e.into()))
        }
        DatabaseLocation::Postgres(url) => match postgres(url, options, false).await {
            Err(StartError::Open(error)) if is_unknown_database(&*error) => Ok(false),
            store => store?.exists().await.map_err(|e| StartError::Open(e.into())),
        },
    }
}

/// Whether the server knows no database of that name.
fn is_unknown_database(error: &(dyn Error + 'static)) -> bool {
    let mut causes = std::iter::successors(Some(error), |&error| error.source());
    causes.any(|cause| cause.downcast_ref().is_some_and(ConnectError::is_unknown_database))
}

/// How many stored secrets are sealed with which key.
pub(crate) async fn sealed_counts(options: &Options) -> Result<SealedCounts, StartError> {
    Ok(match &options.database {
        DatabaseLocation::Sqlite(path) => {
            let store = sqlite(path, options.sealer()?, false).await?;
            let counts = store.sealed_counts().await;
            store.close().await;
            counts?
        }
        DatabaseLocation::Postgres(url) => {
            postgres(url, options, false).await?.sealed_counts().await?
        }
    })
}

/// Opens a file. That blocks, and so does migrating it.
async fn sqlite(path: &Path, sealer: Sealer, migrate: bool) -> Result<SqliteStore, StartError> {
    let path = path.to_path_buf();
    let opening = tokio::task::spawn_blocking(move || {
        let store = SqliteStore::open_with(path, SqliteOptions { sealer })
            .map_err(|e| StartError::Open(e.into()))?;
        if migrate {
            store.migrate().map_err(|e| StartError::Migrate(e.into()))?;
        }
        Ok::<_, StartError>(store)
    });
    opening.await.map_err(|e| StartError::Open(e.into()))?
}

/// What the options say of connections to Postgres.
fn of_postgres(options: &Options) -> Result<PostgresOptions, StartError> {
    let (sealer, pool_size) = (options.sealer()?, options.database_connections);
    Ok(PostgresOptions { sealer, pool_size, ..PostgresOptions::default() })
}

async fn postgres(
    url: &SecretText,
    options: &Options,
    migrate: bool,
) -> Result<PostgresStore, StartError> {
    let options = of_postgres(options)?;
    let parameters = ConnectionParameters::of_process(url.expose())
        .map_err(|error| ConfigError::one(format!("--database: {error}")))?;
    let store = PostgresStore::connect_to(parameters, options)
        .await
        .map_err(|e| StartError::Open(e.into()))?;
    if migrate {
        store.migrate().await.map_err(|e| StartError::Migrate(e.into()))?;
    }
    Ok(store)
}

/// The standby of which listings are read. It need not be there yet.
///
/// R462.
fn standby(options: &Options, url: &SecretText) -> Result<Standby, StartError> {
    let parameters = ConnectionParameters::of_process(url.expose())
        .map_err(|error| ConfigError::one(format!("--standby-database: {error}")))?;
    let replica = PostgresStore::of_standby(parameters, of_postgres(options)?);
    let replica = Arc::new(replica.map_err(|error| StartError::Open(error.into()))?);
    Ok(Standby { replica, max_staleness: options.standby_max_lag.get() })
}

/// Whether a database has no table: nothing was ever migrated into it.
pub(crate) async fn postgres_is_empty(
    url: &SecretText,
    options: &Options,
) -> Result<bool, StartError> {
    Ok(postgres(url, options, false).await?.is_empty().await?)
}

/// The core, and the reports that the program has to pass to it.
pub(crate) struct Core {
    pub(crate) recado: Recado,
    /// The simulated gateway's reports; `None` with other gateways.
    pub(crate) reports: Option<Reports>,
    /// The store, for what is its own.
    pub(crate) store: StoreUse,
    /// The gateways.
    pub(crate) gateways: Providers,
    /// The provider that members may sign in with.
    pub(crate) sign_in_provider: Option<Arc<dyn SignInProvider>>,
    /// Closes its database.
    pub(crate) closer: Closer,
}

/// The core on everything that the options name. Links begin with `public_url`.
pub(crate) async fn core(
    options: &Options,
    public_url: String,
    overrides: Overrides,
) -> Result<Core, StartError> {
    let is_replaced = overrides.transport.is_some();
    let opened = open(options, !options.no_migrate).await?;
    let wired = parts(options, public_url, overrides, opened)?;
    let Wired { parts, reports, store, gateways, closer } = wired;
    let transport = |destinations| match is_replaced {
        true => parts.transport.clone(),
        false => Arc::new(CountedTransport(to_provider(options, destinations), Traces::default())),
    };
    let sign_in_provider = sign_in_provider::open(options, &parts.clock, transport)?;
    let started = match options.no_migrate {
        // The schema may come later; until then /readyz answers 503.
        true => Installation::new(parts),
        false => Installation::start(parts).await?,
    };
    let recado = started.by(acting(options));
    Ok(Core { recado, reports, store, gateways, sign_in_provider, closer })
}

/// Who acts where no call comes in: who runs the command.
///
/// R384.
fn acting(options: &Options) -> Acting {
    Acting::new(Actor::Program, OperationName::new(&options.command), None)
}

/// The core of a command: on a database that has the schema of this version, which stays as it is.
///
/// R264.
pub(crate) async fn core_of_command(
    options: &Options,
    public_url: String,
) -> Result<Core, StartError> {
    let opened = open(options, false).await?;
    let wired = parts(options, public_url, Overrides::default(), opened)?;
    let Wired { parts, reports, store, gateways, closer } = wired;
    match Installation::start(parts).await {
        Ok(started) => {
            let recado = started.by(acting(options));
            Ok(Core { recado, reports, store, gateways, sign_in_provider: None, closer })
        }
        Err(StoreError::NotMigrated { .. }) => Err(StartError::NotMigrated),
        Err(error) => Err(error.into()),
    }
}

/// What a core is made of.
struct Wired {
    parts: Parts,
    reports: Option<Reports>,
    store: StoreUse,
    gateways: Providers,
    closer: Closer,
}

/// What the core works with.
fn parts(
    options: &Options,
    public_url: String,
    overrides: Overrides,
    opened: Opened,
) -> Result<Wired, StartError> {
    let files = match overrides.files {
        Some(files) => files,
        None => files::open(&options.documents)?,
    };
    let store = match overrides.wrap_store {
        Some(wrap) => wrap(opened.store),
        None => opened.store,
    };
    let clock = overrides.clock.unwrap_or_else(|| Arc::new(SystemClock));
    let ids = overrides.ids.unwrap_or_else(|| Arc::new(RandomIds::in_cell(options.cell)));
    let (providers, reports) = match overrides.providers {
        Some(providers) => (providers, None),
        None => providers(&clock, &ids, &options.group_suffix),
    };
    let traces = Traces::default();
    let gateways = counted(&providers, &traces);
    let gateway_transport = overrides.gateway_transport.or_else(|| overrides.transport.clone());
    let gateway_transport = gateway_transport
        .unwrap_or_else(|| client(Reach::Gateways(options.gateway_destinations.clone())));
    let transport = overrides.transport.unwrap_or_else(|| {
        client(if options.allow_private_destinations { Reach::Everything } else { Reach::Public })
    });
    let standby = match &options.standby_database {
        Some(url) => Some(standby(options, url)?),
        None => None,
    };
    let parts = Parts {
        standby,
        signals: signals::open(options)?,
        store: Arc::new(TimedStore::new(store, traces.clone())),
        clock,
        ids,
        files,
        spawner: Arc::new(TokioSpawner),
        transport: Arc::new(CountedTransport(transport, traces.clone())),
        gateway_transport: Some(Arc::new(CountedTransport(gateway_transport, traces))),
        limiter: opened.limiter,
        providers: gateways.clone(),
        passwords: Arc::new(ArgonPasswords::new()),
        settings: settings(options, public_url),
    };
    Ok(Wired { parts, reports, store: opened.own, gateways, closer: opened.closer })
}

/// The settings that rules depend on.
fn settings(options: &Options, public_url: String) -> Settings {
    let mut settings = Settings::new(public_url);
    settings.registry_url.clone_from(&options.cnpj_registry);
    settings.gateway_destinations.clone_from(&options.gateway_destinations);
    settings.group_suffix.clone_from(&options.group_suffix);
    settings.stop_words = StopWords::new(options.stop_words.iter().map(String::as_str));
    settings.retry_waits = RetryWaits(options.webhook_retry_waits.map(Duration::get));
    settings.webhook_timeout = options.webhook_timeout.get();
    settings.retention = options.retention.get();
    settings.media_link_lifetime = options.media_link_lifetime.get();
    settings.media_retention = options.media_retention.get();
    settings.remember_opt_outs = options.remember_opt_outs;
    settings.message_retention = options.message_retention.map(Duration::get);
    settings.click_retention = options.click_retention.map(Duration::get);
    settings.ledger_retention = options.ledger_retention.map(Duration::get);
    settings.audit_retention = options.audit_retention.map(Duration::get);
    settings.sessions = SessionLimits {
        idle: options.session_idle.get(),
        lifetime: options.session_lifetime.get(),
    };
    settings
}

/// A client for outbound calls.
fn client(reach: Reach) -> Arc<dyn Transport> {
    Arc::new(GuardedClient::new(ClientOptions { reach }))
}

/// R435. A client for calls to the provider that members may sign in with.
fn to_provider(options: &Options, destinations: GatewayDestinations) -> Arc<dyn Transport> {
    client(match options.allow_private_destinations {
        true => Reach::Everything,
        false => Reach::Gateways(destinations),
    })
}

/// The gateways of this program, as the operator API shows them.
pub(crate) fn gateways(options: &Options) -> Vec<GatewayView> {
    let (clock, ids): (Arc<dyn Clock>, Arc<dyn Ids>) =
        (Arc::new(SystemClock), Arc::new(RandomIds::new()));
    let (providers, _) = providers(&clock, &ids, &options.group_suffix);
    providers.descriptions().map(GatewayView::new).collect()
}

/// The gateways of this program. Group codes end with `@` and `group_suffix`.
fn providers(
    clock: &Arc<dyn Clock>,
    ids: &Arc<dyn Ids>,
    group_suffix: &str,
) -> (Providers, Option<Reports>) {
    let (simulated, reports) = Simulated::new(clock.clone(), ids.clone());
    let providers = Providers::none()
        .with(Arc::new(simulated))
        .with(Arc::new(CloudApi::with_group_suffix(group_suffix)))
        .with(Arc::new(Waha::new(group_suffix)))
        .with(Arc::new(Evolution::new(group_suffix)));
    (providers, Some(reports))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R172.
    #[test]
    fn no_registry_is_asked_unless_the_operator_names_one() {
        let url = || "https://crm.example.org".to_owned();
        assert_eq!(settings(&Options::default(), url()).registry_url, None);
        let named = Some("https://registry.example".to_owned());
        let options = Options { cnpj_registry: named.clone(), ..Options::default() };
        assert_eq!(settings(&options, url()).registry_url, named);
    }
}
