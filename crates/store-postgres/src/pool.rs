//! Connections: the pool, its limits, and the settings of every connection.

use std::fmt;
use std::future::{pending, poll_fn};
use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::task::{Poll, ready};
use std::time::Duration;

use deadpool::managed::{self, Metrics, PoolError, QueueMode, RecycleError, RecycleResult};
use deadpool::{Runtime, Status};
use deadpool_postgres::ClientWrapper;
use recado_core::deliveries::Shards;
use recado_core::store::StoreError;
use recado_store_sql::{Sealer, SealingProgress};
use tokio::sync::OnceCell;
use tokio::sync::{Notify, oneshot};
use tokio_postgres::AsyncMessage;

use crate::access::KeyLookup;
use crate::channel_lookup::ChannelLookup;
use crate::commit_group::GroupCommit;
use crate::connections::ConnectionListing;
use crate::connector::{ConnectError, Connector, Messages};
use crate::conninfo::ConnectionParameters;
use crate::error::failed;
use crate::failover::{Failover, GIVEN_UP_AFTER, Instance, WHICH, is_not_replicated};
use crate::limiter::PostgresLimiter;
use crate::poolers::{SharedSessions, keeps_sessions};
use crate::row_lookups::RowLookups;
use crate::shared_calls::SharedCalls;
use crate::signals::Notifier;

/// The options of a [`PostgresStore`].
#[derive(Clone, Debug)]
pub struct Options {
    /// The most connections that this process opens for the pool.
    pub pool_size: usize,
    /// How long one attempt to open a connection may take, unless `connect_timeout` says so. With
    /// several hosts, each has this time.
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
    pub(crate) group: Arc<GroupCommit>,
    pub(crate) key_lookups: SharedCalls<KeyLookup>,
    pub(crate) channel_lookups: SharedCalls<ChannelLookup>,
    pub(crate) connection_listings: SharedCalls<ConnectionListing>,
    pub(crate) row_lookups: RowLookups,
    pub(crate) shards: Arc<OnceCell<Shards>>,
}

/// The connections, with the keys of the secrets that are read and written by them.
#[derive(Clone)]
pub(crate) struct Pool {
    connections: managed::Pool<Opener>,
    failover: Failover,
    /// How long a commit may take.
    commit_timeout: Duration,
    sealer: Sealer,
}

/// A connection of the pool.
pub(crate) type Object = managed::Object<Opener>;

impl Pool {
    /// The keys of secrets.
    pub(crate) const fn sealer(&self) -> &Sealer {
        &self.sealer
    }

    /// Where the database is.
    pub(crate) const fn failover(&self) -> &Failover {
        &self.failover
    }

    /// How long a commit may take.
    pub(crate) const fn commit_timeout(&self) -> Duration {
        self.commit_timeout
    }

    /// How many connections there are, in use and free.
    pub(crate) fn status(&self) -> Status {
        self.connections.status()
    }

    /// Takes a connection. Waits for a bounded time.
    pub(crate) async fn get(&self) -> Result<Object, StoreError> {
        self.connections.get().await.map_err(|error| match error {
            PoolError::Backend(error) => StoreError::unavailable(error),
            other => StoreError::unavailable(other),
        })
    }
}

/// A connection, which can be given up while answers are awaited on it.
pub(crate) struct PooledConnection {
    client: ClientWrapper,
    given_up: Arc<Notify>,
}

impl PooledConnection {
    /// Ends it: what is awaited on it fails.
    pub(crate) fn give_up(&self) {
        self.given_up.notify_one();
    }
}

impl Deref for PooledConnection {
    type Target = ClientWrapper;

    fn deref(&self) -> &ClientWrapper {
        &self.client
    }
}

impl DerefMut for PooledConnection {
    fn deref_mut(&mut self) -> &mut ClientWrapper {
        &mut self.client
    }
}

/// Opens the connections of the pool.
pub(crate) struct Opener {
    connector: Connector,
    failover: Failover,
    settings: String,
}

impl managed::Manager for Opener {
    type Type = PooledConnection;
    type Error = ConnectError;

    async fn create(&self) -> Result<PooledConnection, ConnectError> {
        let (client, messages) = self.connector.open().await?;
        let (server, reached) = oneshot::channel();
        let given_up = Arc::new(Notify::new());
        let driving = drive(messages, self.failover.clone(), reached, given_up.clone());
        let driving = tokio::spawn(driving);
        let client = ClientWrapper::new(client, driving);
        let set = client.simple_query(&self.settings);
        let instance = Instance::of(&self.connector.in_time(set).await??);
        self.failover.reached(&instance);
        let _: Result<(), Instance> = server.send(instance);
        Ok(PooledConnection { client, given_up })
    }

    async fn recycle(
        &self,
        client: &mut PooledConnection,
        _: &Metrics,
    ) -> RecycleResult<ConnectError> {
        match client.is_closed() {
            true => Err(RecycleError::message("it was closed")),
            false => Ok(()),
        }
    }
}

/// Drives a connection, until it ends, or until the database is elsewhere than at the server that
/// it has `reached`.
async fn drive(
    mut messages: Messages,
    failover: Failover,
    reached: oneshot::Receiver<Instance>,
    given_up: Arc<Notify>,
) {
    let left = async {
        match reached.await {
            Ok(instance) => failover.left(&instance).await,
            Err(_) => pending().await,
        }
    };
    let ended = poll_fn(|cx| {
        loop {
            match ready!(messages.poll_message(cx)) {
                Some(Ok(AsyncMessage::Notice(notice))) if is_not_replicated(&notice) => {
                    tracing::error!(%notice, "a commit has an unknown outcome");
                    return Poll::Ready(());
                }
                Some(Ok(_)) => {}
                Some(Err(error)) => {
                    tracing::warn!(%error, "a connection to the database is gone");
                    return Poll::Ready(());
                }
                None => return Poll::Ready(()),
            }
        }
    });
    tokio::select! {
        () = ended => {}
        () = left => tracing::warn!("the database is at another server; a connection is closed"),
        () = given_up.notified() => tracing::warn!("a commit takes too long; its connection is closed"),
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
///
/// The server notices within half a minute that this machine is gone, and releases its locks.
fn settings(options: &Options) -> String {
    format!(
        "SET statement_timeout = {}; SET lock_timeout = {}; \
         SET tcp_keepalives_idle = 15; SET tcp_keepalives_interval = 5; \
         SET tcp_keepalives_count = 3; SET tcp_user_timeout = 30000; \
         SET idle_in_transaction_session_timeout = 60000; \
         SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off; \
         SET random_page_cost = 1.1; SET jit = off; SET max_parallel_workers_per_gather = 0; {WHICH}",
        options.statement_timeout.as_millis(),
        options.statement_timeout.as_millis() / 2,
    )
}

impl PostgresStore {
    /// Connects to the database of a URL (`postgres://user:password@host/name`) or of a connection
    /// string of key-value pairs. Parameters, environment variables, service and password files are
    /// those of libpq (R245).
    ///
    /// # Errors
    ///
    /// [`StoreError::Corrupt`] for parameters that cannot be used, and those of
    /// [`PostgresStore::connect_to`].
    pub async fn connect(url: &str, options: Options) -> Result<Self, StoreError> {
        let parameters = ConnectionParameters::of_process(url).map_err(StoreError::corrupt)?;
        Self::connect_to(parameters, options).await
    }

    /// Connects to a database.
    ///
    /// # Errors
    ///
    /// [`StoreError::Corrupt`] for certificates that cannot be used, [`StoreError::Unavailable`]
    /// when the database cannot be reached, or holds secrets that are sealed with a key that is not
    /// among those of the options (R216). [`StoreError::Corrupt`] too behind a pooler that does not
    /// keep sessions (R454); this is not seen with a pool of one connection.
    pub async fn connect_to(
        parameters: ConnectionParameters,
        options: Options,
    ) -> Result<Self, StoreError> {
        let several = options.pool_size > 1;
        let store = Self::unconnected(parameters, options, GIVEN_UP_AFTER)?;
        let first = store.pool.get().await?;
        if several {
            let other = store.pool.get().await?;
            if !keeps_sessions(&first, &other).await.map_err(failed)? {
                return Err(StoreError::corrupt(SharedSessions));
            }
        }
        drop(first);
        // Before a migration, what is sealed is looked at after it.
        if store.check_schema().await.is_ok() {
            store.check_keys().await?;
        }
        Ok(store)
    }

    /// The store before its first connection. Connections are given up once no server has answered
    /// for so long.
    pub(crate) fn unconnected(
        parameters: ConnectionParameters,
        options: Options,
        given_up_after: Duration,
    ) -> Result<Self, StoreError> {
        let connector =
            Connector::new(parameters.0, options.connect_timeout).map_err(StoreError::corrupt)?;
        let pool = pool(connector, &options, given_up_after)?;
        Ok(Self {
            notifier: Arc::new(Notifier::new(pool.failover.clone())),
            pool,
            sealing: Arc::default(),
            group: Arc::default(),
            key_lookups: SharedCalls::default(),
            channel_lookups: SharedCalls::default(),
            connection_listings: SharedCalls::default(),
            row_lookups: RowLookups::default(),
            shards: Arc::default(),
        })
    }

    /// A limiter whose rate limits all processes on this database share.
    pub fn limiter(&self) -> PostgresLimiter {
        PostgresLimiter::new(self.pool.clone())
    }
}

fn pool(
    connector: Connector,
    options: &Options,
    given_up_after: Duration,
) -> Result<Pool, StoreError> {
    let failover = Failover::new(connector.clone(), given_up_after);
    let opener = Opener { connector, failover: failover.clone(), settings: settings(options) };
    // The connector bounds each attempt: a host that is silent must not use up the time of others.
    let connections = managed::Pool::builder(opener)
        .max_size(options.pool_size.max(1))
        .wait_timeout(Some(options.wait_timeout))
        // The connection that was used last knows most statements.
        .queue_mode(QueueMode::Lifo)
        .runtime(Runtime::Tokio1)
        .build()
        .map_err(StoreError::unavailable)?;
    Ok(Pool {
        connections,
        failover,
        // None for statements is none for commits.
        commit_timeout: match options.statement_timeout {
            Duration::ZERO => Duration::MAX,
            limit => limit,
        },
        sealer: options.sealer.clone(),
    })
}
