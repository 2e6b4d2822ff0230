//! Starting a server: store, core, HTTP surface and background work, wired from [`Options`].

use std::error::Error;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use std::{fmt, io};

use recado_console::{Console, ConsoleOptions, LastHour, SAMPLE_EVERY};
use recado_core::documents::Files;
use recado_core::gateway::Providers;
use recado_core::store::{Store, StoreError};
use recado_core::transport::Transport;
use recado_core::{Clock, Ids, Recado};
use recado_http_hyper::{
    HttpOptions, Paths, QrPainter, Readiness, RecadoHttp, ServeOptions, serve_with,
};
use recado_providers::simulated::Reports;
use recado_runtime::{Background, BackgroundBuilder};
use tokio::net::TcpListener;

use crate::descriptors::Connections;
use crate::options::{ConfigError, Options};
use crate::serve_lock::ServeLock;
use crate::watch::{Certificates, Volumes, Watch};
use crate::wiring::Closer;
use crate::{descriptors, last_hour, metrics, qr_picture, wiring};

/// How long work in flight may take once a stop has begun. Of the thirty seconds of a stop two are
/// for the lease, one is for the last spans (R314) and one for the last lines of the log.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(26);
/// The interval of the metrics' upkeep.
const METRICS: Duration = Duration::from_secs(2);
/// The interval of reading the figures of the installation (R280).
const FIGURES: Duration = Duration::from_secs(15);

/// Wraps a store.
pub type WrapStore = Box<dyn FnOnce(Arc<dyn Store>) -> Arc<dyn Store> + Send>;

/// Parts that tests replace; `None` uses the options.
#[derive(Default)]
pub struct Overrides {
    /// The time.
    pub clock: Option<Arc<dyn Clock>>,
    /// Ids and secrets.
    pub ids: Option<Arc<dyn Ids>>,
    /// The bytes of documents.
    pub files: Option<Arc<dyn Files>>,
    /// Outbound calls.
    pub transport: Option<Arc<dyn Transport>>,
    /// Calls to gateways, which may be at private addresses; `None` takes `transport`, if that is
    /// there.
    pub gateway_transport: Option<Arc<dyn Transport>>,
    /// The gateways of connections.
    pub providers: Option<Providers>,
    /// Wraps the store that was opened, for failures and pauses.
    pub wrap_store: Option<WrapStore>,
    /// How long work in flight may take once a stop has begun.
    pub drain_timeout: Option<Duration>,
    /// Leaves out the background loops, for tests that run the steps themselves.
    pub no_background: bool,
}

impl fmt::Debug for Overrides {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Overrides")
            .field("no_background", &self.no_background)
            .finish_non_exhaustive()
    }
}

/// Why a server did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The options are wrong.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The database cannot be opened.
    #[error("the database cannot be opened")]
    Open(#[source] Box<dyn Error + Send + Sync>),
    /// The database cannot be brought to the current schema.
    #[error("the database cannot be migrated")]
    Migrate(#[source] Box<dyn Error + Send + Sync>),
    /// The schema is an older one, and only the server and `recado migrate` change it (R264).
    #[error("the database has the schema of an earlier version: run `recado migrate` first")]
    NotMigrated,
    /// The database failed.
    #[error("the database failed")]
    Store(#[from] StoreError),
    /// The address cannot be listened on.
    #[error("cannot listen on {addr}")]
    Listen {
        /// The address.
        addr: SocketAddr,
        /// The cause.
        #[source]
        error: io::Error,
    },
}

/// A server that runs in this process. If it is dropped without [`RunningServer::stop`], it stops
/// in the background, and nothing waits for that.
#[derive(Debug)]
pub struct RunningServer {
    /// The address it listens on.
    pub addr: SocketAddr,
    /// The address of the operator's own listener, if there is one (R182).
    pub operator_addr: Option<SocketAddr>,
    /// The core, for calls without HTTP.
    pub recado: Recado,
    readiness: Readiness,
    background: Background,
    watch: Arc<Watch>,
    closer: Closer,
    /// Held until the end.
    _lock: Option<ServeLock>,
}

impl RunningServer {
    /// Its base URL.
    pub fn url(&self) -> String {
        format!("http://{}", self.addr)
    }

    /// The base URL of the operator API.
    pub fn operator_url(&self) -> String {
        format!("http://{}", self.operator_addr.unwrap_or(self.addr))
    }

    /// Reads the figures for the metrics now, as the background work does every 15 seconds (R280).
    ///
    /// # Errors
    ///
    /// When the store fails.
    pub async fn read_figures(&self) -> Result<(), StoreError> {
        self.watch.clone().read().await.map(|_| ())
    }

    /// Waits until a part of it that has to run always has ended before a stop, which only a defect
    /// can cause.
    pub async fn ended(&mut self) {
        self.background.ended().await;
    }

    /// Stops gracefully: readiness turns 503, no more connections are accepted and idle ones are
    /// closed; the rest is [`Background::stop`]. Takes 30 seconds at most.
    pub async fn stop(self) {
        self.readiness.close();
        self.background.stop().await;
    }

    /// The same at the end of the program: the database is closed, too. Of an SQLite file no log is
    /// left.
    pub(crate) async fn end(self) {
        self.readiness.close();
        self.background.stop().await;
        self.closer.close().await;
    }
}

/// Starts a server: opens the store, migrates it unless configured not to, listens, and spawns the
/// background work on the current runtime.
///
/// # Errors
///
/// [`StartError`]. Nothing is left running.
pub async fn start(options: Options, overrides: Overrides) -> Result<RunningServer, StartError> {
    start_locked(options, overrides, None).await
}

/// The same with the lock of the one server on an SQLite file (R252).
pub(crate) async fn start_locked(
    options: Options,
    overrides: Overrides,
    mut lock: Option<ServeLock>,
) -> Result<RunningServer, StartError> {
    let operator_token = options.read_operator_token()?;
    let descriptors = descriptors::raise();
    let connections = Connections::within(descriptors);
    let (listener, addr) = bind(options.listen).await?;
    let operators = match options.operator_listen {
        Some(addr) => Some(bind(addr).await?),
        None => None,
    };
    let background = !overrides.no_background;
    let drain_timeout = overrides.drain_timeout.unwrap_or(DRAIN_TIMEOUT);
    metrics::recorder();
    let wiring::Core { recado, reports, store, gateways, sign_in_provider, closer } =
        wiring::core(&options, public_url(&options, addr), overrides).await?;
    if let Some(lock) = &mut lock {
        succeed(&recado, lock).await;
    }

    let certificates = Certificates::of(&options, |name| std::env::var_os(name));
    let volumes = Volumes::of(&options);
    let watch = Watch::new(recado.clone(), gateways, store, volumes, certificates);
    let scraped = watch.clone();
    let render: Arc<dyn Fn() -> String + Send + Sync> = Arc::new(move || {
        scraped.record();
        metrics::render()
    });
    let readiness = Readiness::new();
    let http_options = |paths| HttpOptions {
        paths,
        operator_token: operator_token.clone(),
        metrics: Some(render.clone()),
        readiness: readiness.clone(),
        trusted_proxies: options.trusted_proxies.clone(),
        qr_painter: Some(QrPainter::new(qr_picture::png)),
        cells: options.cells(),
        ..HttpOptions::default()
    };
    let last_hour = LastHour::new();
    let with_console = !options.no_console;
    let builder = Background::builder(&recado).drain_timeout(drain_timeout);
    let mut background = match background {
        true if with_console => {
            spawn(sampled(builder, &recado, &last_hour), reports, watch.clone())
        }
        true => spawn(builder, reports, watch.clone()),
        false => builder.idle().spawn(),
    };
    let mut serve = |listener, paths, max_connections| {
        let mut http = http_options(paths);
        if with_console {
            let mut console = ConsoleOptions::default();
            console.last_hour = Some(last_hour.clone());
            console.sign_in_provider.clone_from(&sign_in_provider);
            let console = Console::new(recado.clone(), console);
            http = http.mounted(Console::PREFIX, console.clone());
            let stopping = background.stopping();
            tokio::spawn(async move {
                stopping.await;
                console.end_live_pages();
            });
        }
        let service = RecadoHttp::new(recado.clone(), http);
        let options = ServeOptions { max_connections, drain_timeout, ..ServeOptions::default() };
        background.serve(|stopping| serve_with(listener, service, options, stopping));
    };
    let operator_addr = operators.as_ref().map(|(_, addr)| *addr);
    match operators {
        Some((operators, _)) => {
            serve(listener, Paths::Public, connections.main);
            serve(operators, Paths::Operator, connections.operator);
        }
        None => serve(listener, Paths::All, connections.main + connections.operator),
    }
    let operator_listener = operator_addr.map(tracing::field::display);
    tracing::info!(
        %addr,
        operator_listener,
        database = ?options.database,
        descriptors,
        connections = connections.main + connections.operator,
        "started"
    );
    Ok(RunningServer {
        addr,
        operator_addr,
        recado,
        readiness,
        background,
        watch,
        closer,
        _lock: lock,
    })
}

/// Takes over from the server that had the lock before: at once, as it is dead (R252). If that
/// fails, its lease lapses.
async fn succeed(recado: &Recado, lock: &mut ServeLock) {
    if let Some(dead) = lock.predecessor()
        && let Err(error) = recado.workers().end_of_dead(dead).await
    {
        let error = recado_runtime::causes(&error);
        tracing::warn!(error, "the lease of the server before this one could not be ended");
    }
    lock.held_by(recado.workers().own_id());
}

/// Listens on an address; the one that is bound is returned too.
async fn bind(addr: SocketAddr) -> Result<(TcpListener, SocketAddr), StartError> {
    let listening = async {
        let listener = TcpListener::bind(addr).await?;
        let bound = listener.local_addr()?;
        Ok((listener, bound))
    };
    listening.await.map_err(|error| StartError::Listen { addr, error })
}

/// The background work, with the loop that samples the metrics for the console (R431).
fn sampled(builder: BackgroundBuilder, recado: &Recado, last_hour: &LastHour) -> BackgroundBuilder {
    let (recado, last_hour) = (recado.clone(), last_hour.clone());
    builder.every("last hour", SAMPLE_EVERY, move || {
        let (recado, last_hour) = (recado.clone(), last_hour.clone());
        async move {
            if let Some((counters, backlog)) = last_hour::read_metrics().await {
                last_hour.record(recado.now(), counters, backlog);
            }
            Ok(false)
        }
    })
}

/// The background work, with the loops for the metrics.
fn spawn(builder: BackgroundBuilder, reports: Option<Reports>, watch: Arc<Watch>) -> Background {
    let builder = match reports {
        Some(reports) => builder.reports(reports),
        None => builder,
    };
    builder
        .every("metrics", METRICS, || async {
            metrics::recorder().run_upkeep();
            Ok(false)
        })
        .every("figures", FIGURES, move || watch.clone().read())
        .spawn()
}

/// The address that links begin with: the configured one, else the one listened on, with this
/// machine in place of an unspecified address.
pub(crate) fn public_url(options: &Options, bound: SocketAddr) -> String {
    match &options.public_url {
        Some(url) => url.clone(),
        None => local_url(bound),
    }
}

/// The URL of a listener on this machine, for callers on this machine.
pub(crate) fn local_url(bound: SocketAddr) -> String {
    let mut addr = bound;
    if addr.ip().is_unspecified() {
        addr.set_ip(match addr {
            SocketAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
            SocketAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
        });
    }
    format!("http://{addr}")
}
