//! Connections: the pool, its limits, and the settings of every connection.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use deadpool_postgres::{Hook, HookError, Manager, ManagerConfig, RecyclingMethod, Runtime};
use recado_core::store::StoreError;
use recado_store_sql::{Sealer, SealingProgress};
use tokio_postgres::{Config, NoTls};

use crate::limiter::PostgresLimiter;
use crate::signals::Notifier;

/// The options of a [`PostgresStore`].
#[derive(Clone, Debug)]
pub struct Options {
    /// The most connections that this process opens for the pool.
    pub pool_size: usize,
    /// How long opening a connection may take.
    pub connect_timeout: Duration,
    /// How long a call waits for a free connection before it answers
    /// [`StoreError::Unavailable`].
    pub wait_timeout: Duration,
    /// How long one statement may take.
    pub statement_timeout: Duration,
    /// The keys that seal secrets at rest; by default none, and secrets are kept clear.
    pub sealer: Sealer,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            pool_size: 16,
            connect_timeout: Duration::from_secs(5),
            wait_timeout: Duration::from_secs(5),
            statement_timeout: Duration::from_secs(30),
            sealer: Sealer::default(),
        }
    }
}

/// A store on Postgres. Clones share one pool of connections.
#[derive(Clone)]
pub struct PostgresStore {
    pub(crate) pool: Pool,
    pub(crate) notifier: Arc<Notifier>,
    pub(crate) sealing: Arc<SealingProgress>,
}

/// The connections, with the keys of the secrets that are read and written by them.
#[derive(Clone)]
pub(crate) struct Pool {
    connections: deadpool_postgres::Pool,
    sealer: Sealer,
}

impl Pool {
    /// The keys of secrets.
    pub(crate) const fn sealer(&self) -> &Sealer {
        &self.sealer
    }
}

impl Deref for Pool {
    type Target = deadpool_postgres::Pool;

    fn deref(&self) -> &Self::Target {
        &self.connections
    }
}

/// The data needed to open a connection.
#[derive(Clone)]
pub(crate) struct Dial {
    pub(crate) config: Config,
    /// Encrypts the connection, unless the database's URL forbids it.
    #[cfg(feature = "tls")]
    pub(crate) tls: Option<tokio_postgres_rustls::MakeRustlsConnect>,
    pub(crate) timeout: Duration,
}

impl Dial {
    fn new(config: Config, timeout: Duration) -> Result<Self, StoreError> {
        Ok(Self {
            #[cfg(feature = "tls")]
            tls: match config.get_ssl_mode() {
                tokio_postgres::config::SslMode::Disable => None,
                _ => Some(crate::tls::connector()?),
            },
            config,
            timeout,
        })
    }
}

impl fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresStore").field("pool", &self.pool.status()).finish_non_exhaustive()
    }
}

/// The settings of every connection.
///
/// Every statement is written so that one plan serves all parameters, so each is planned once. Each
/// has an index that bounds its cost: a plan made while a table was small must not scan the table
/// after it has grown. No statement gains from JIT compilation or parallel workers.
fn settings(options: &Options) -> String {
    format!(
        "SET statement_timeout = {}; SET lock_timeout = {}; \
         SET idle_in_transaction_session_timeout = 60000; \
         SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off; \
         SET random_page_cost = 1.1; SET jit = off; SET max_parallel_workers_per_gather = 0",
        options.statement_timeout.as_millis(),
        options.statement_timeout.as_millis() / 2,
    )
}

impl PostgresStore {
    /// Connects to the database of a URL (`postgres://user:password@host/name`) or of a connection
    /// string of key-value pairs. `sslmode` may be `disable`, `prefer` (the default) or `require`.
    /// A certificate is always checked against the host's name and the root certificates of the
    /// operating system (`SSL_CERT_FILE` names others).
    ///
    /// # Errors
    ///
    /// [`StoreError::Corrupt`] for a URL that cannot be read, [`StoreError::Unavailable`] when the
    /// database cannot be reached, or holds secrets that are sealed with a key that is not among
    /// those of the options (R216).
    pub async fn connect(url: &str, options: Options) -> Result<Self, StoreError> {
        let mut config: Config =
            url.parse().map_err(|error| StoreError::corrupt(format!("database URL: {error}")))?;
        config.connect_timeout(options.connect_timeout);
        config.keepalives_idle(Duration::from_secs(30));
        if config.get_application_name().is_none() {
            config.application_name("recado");
        }
        let dial = Dial::new(config, options.connect_timeout)?;
        let store = Self {
            pool: pool(&dial, &options)?,
            notifier: Arc::new(Notifier::new(dial)),
            sealing: Arc::default(),
        };
        drop(store.pool.get().await.map_err(StoreError::unavailable)?);
        // Before a migration, what is sealed is looked at after it.
        if store.check_schema().await.is_ok() {
            store.check_keys().await?;
        }
        Ok(store)
    }

    /// A limiter whose rate limits all processes on this database share.
    pub fn limiter(&self) -> PostgresLimiter {
        PostgresLimiter::new(self.pool.clone())
    }
}

fn pool(dial: &Dial, options: &Options) -> Result<Pool, StoreError> {
    let recycling = ManagerConfig { recycling_method: RecyclingMethod::Fast };
    let config = dial.config.clone();
    #[cfg(feature = "tls")]
    let manager = match dial.tls.clone() {
        None => Manager::from_config(config, NoTls, recycling),
        Some(tls) => Manager::from_config(config, tls, recycling),
    };
    #[cfg(not(feature = "tls"))]
    let manager = Manager::from_config(config, NoTls, recycling);
    let settings = settings(options);
    let connections = deadpool_postgres::Pool::builder(manager)
        .max_size(options.pool_size.max(1))
        .wait_timeout(Some(options.wait_timeout))
        .create_timeout(Some(options.connect_timeout))
        .recycle_timeout(Some(options.connect_timeout))
        .runtime(Runtime::Tokio1)
        .post_create(Hook::async_fn(move |client, _| {
            let settings = settings.clone();
            Box::pin(
                async move { client.batch_execute(&settings).await.map_err(HookError::Backend) },
            )
        }))
        .build()
        .map_err(StoreError::unavailable)?;
    Ok(Pool { connections, sealer: options.sealer.clone() })
}
