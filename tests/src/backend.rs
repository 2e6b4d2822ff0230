//! The parts of a test installation: a fresh database, and a server within this process. The test
//! controls the server's clock, documents and outbound requests.

mod database;

use std::collections::BTreeMap;
use std::fmt;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use recado_core::gateway::{GatewayDestinations, Providers};
use recado_core::ids::CompanyId;
use recado_core::inbox::Replayed;
use recado_core::secret::SecretText;
use recado_core::transport::Transport;
use recado_core::{Cell, Clock, Recado, Timestamp};
use recado_http_hyper::{ClientOptions, GuardedClient, Reach};
use recado_runtime::LocalFiles;
use recado_server::{Options, Overrides, RunningServer, start};
use recado_testkit::FaultyStore;
use recado_testkit::TestClock;
use recado_testkit::files::FaultyFiles;
use recado_testkit::transport::ScriptedTransport;
use tempfile::TempDir;
use tokio::task::JoinHandle;

use crate::behind_proxy::{self, ProxyProcess};
use crate::openid;
use crate::world::OPERATOR;
pub use database::{Database, StoreKind, files_under};

/// The test clock, which can also be set back.
#[derive(Clone, Debug, Default)]
pub struct HandClock(TestClock);

impl HandClock {
    /// Moves the clock forwards.
    pub fn advance(&self, by: Duration) {
        self.0.advance(by);
    }

    /// Moves the clock back, as a correction does.
    pub fn set_back(&self, by: Duration) {
        self.0.set(self.0.now().minus(by));
    }

    /// The current time.
    pub fn now(&self) -> Timestamp {
        self.0.now()
    }
}

/// How outbound requests are made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Outside {
    /// They are not made: a script answers them.
    #[default]
    Scripted,
    /// Over sockets, also to private addresses.
    Open,
    /// Over sockets, only to public addresses.
    Guarded,
}

/// The settings of a test server that differ from the usual ones.
#[derive(Clone, Debug, Default)]
pub struct Setup {
    /// The clock, if it is shared with another server.
    pub clock: Option<HandClock>,
    /// Does not migrate the database.
    pub no_migrate: bool,
    /// Does not run the background loops; [`TestServer::run_due_jobs`] does their work.
    pub no_background: bool,
    /// Starts without an operator token.
    pub no_operator: bool,
    /// The URL of the database, if the server uses another one.
    pub database_url: Option<String>,
    /// How outbound requests are made.
    pub outside: Outside,
    /// The waits between the attempts of a delivery.
    pub retry_waits: Option<[Duration; 4]>,
    /// The time limit of one attempt of a delivery.
    pub webhook_timeout: Option<Duration>,
    /// How long finished deliveries and events are kept.
    pub retention: Option<Duration>,
    /// How long messages, clicks and ledger lines are kept, if not forever.
    pub kept: [Option<Duration>; 3],
    /// Where its gateways may be.
    pub gateway_destinations: GatewayDestinations,
    /// The suffix of group codes, if it is not the default one.
    pub group_suffix: Option<&'static str>,
    /// Its gateways, if they are not those of the binary.
    pub providers: Option<Providers>,
    /// The keys that seal its secrets, as the text of a key file.
    pub secret_keys: Option<String>,
    /// Starts without the address of a cnpj registry.
    pub no_registry: bool,
    /// Remembers that the numbers of deleted contacts had asked to stop.
    pub remember_opt_outs: bool,
    /// The networks of proxies whose header about the client's address is trusted.
    pub trusted_proxies: &'static [&'static str],
    /// The address under which people reach it, if it is not the one that it listens on.
    pub public_url: Option<&'static str>,
    /// Which of several installations it is.
    pub cell: Cell,
    /// It is no cell behind a proxy, in runs where servers of tests are that.
    pub alone: bool,
    /// Where others answer.
    pub cell_urls: BTreeMap<Cell, String>,
    /// The issuer of the provider that its members may sign in with.
    pub oidc_issuer: Option<String>,
}

/// A server within this process.
pub struct TestServer {
    /// The address that it listens on.
    pub addr: SocketAddr,
    /// Its clock, which only the test moves.
    pub clock: HandClock,
    /// Its documents. Their store fails on demand.
    pub files: FaultyFiles,
    /// Its outbound requests.
    pub transport: ScriptedTransport,
    /// Its store, which fails on demand.
    pub store: FaultyStore,
    documents: Arc<TempDir>,
    setup: Setup,
    running: Option<RunningServer>,
    in_front: Option<ProxyProcess>,
}

impl fmt::Debug for TestServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TestServer").field("addr", &self.addr).finish_non_exhaustive()
    }
}

impl TestServer {
    /// Starts a server on a database.
    pub async fn start(database: &Database, mut setup: Setup) -> Self {
        if behind_proxy::in_use() && !setup.alone {
            setup.cell = behind_proxy::cell();
            setup.public_url = setup.public_url.or(Some(behind_proxy::PUBLIC_URL));
        }
        let clock = setup.clock.clone().unwrap_or_default();
        let documents = Arc::new(tempfile::tempdir().expect("a temporary folder"));
        let files = FaultyFiles::new(LocalFiles::new(documents.path()));
        let transport = ScriptedTransport::new();
        let (running, store) = launch(database, &setup, &clock, &files, &transport, 0).await;
        let addr = running.addr;
        let in_front = ProxyProcess::of_one(&setup, addr);
        let running = Some(running);
        Self { addr, clock, files, transport, store, documents, setup, running, in_front }
    }

    /// Stops the server gracefully and starts another one with the same clock, documents and
    /// transport.
    pub async fn restart(&mut self, database: &Database) {
        self.restart_at(database, 0).await;
    }

    /// [`TestServer::restart`] on the same address, as for an open page.
    pub async fn restart_in_place(&mut self, database: &Database) {
        self.restart_at(database, self.addr.port()).await;
    }

    async fn restart_at(&mut self, database: &Database, port: u16) {
        if let Some(running) = self.running.take() {
            running.stop().await;
        }
        let (setup, clock, files) = (&self.setup, &self.clock, &self.files);
        let transport = &self.transport;
        let (running, store) = launch(database, setup, clock, files, transport, port).await;
        self.addr = running.addr;
        self.store = store;
        self.running = Some(running);
        self.in_front = None;
        self.in_front = ProxyProcess::of_one(&self.setup, self.addr);
    }

    /// The core that it runs on.
    pub fn recado(&self) -> &Recado {
        &self.running.as_ref().expect("it runs").recado
    }

    /// Which of several installations it is.
    pub fn cell(&self) -> Cell {
        self.setup.cell
    }

    /// The address under which people reach it.
    pub fn public_url(&self) -> String {
        self.setup.public_url.map_or_else(|| format!("http://{}", self.addr), str::to_owned)
    }

    /// Its settings, with its clock, for another server.
    pub fn setup(&self) -> Setup {
        Setup { clock: Some(self.clock.clone()), ..self.setup.clone() }
    }

    /// Reads again what was not understood, as `recado inbox replay` does.
    pub async fn replay(&self, company: CompanyId) -> Replayed {
        let inbox = self.running.as_ref().expect("it runs").recado.inbox();
        let (mut all, mut cursor) = (Replayed::default(), None);
        loop {
            let (step, next) = inbox.replay(company, None, cursor).await.expect("the store works");
            all = all.and(step);
            cursor = next;
            if cursor.is_none() {
                return all;
            }
        }
    }

    /// Replaces the key of links to media, as `recado media rotate-key` does.
    pub async fn rotate_media_key(&self, at_once: bool) {
        let messages = self.running.as_ref().expect("it runs").recado.messages();
        messages.rotate_media_key(at_once).await.expect("the store works");
    }

    /// Runs all background work that is due.
    pub async fn run_due_jobs(&self) {
        let recado = &self.running.as_ref().expect("it runs").recado;
        while recado.jobs().run_one().await.expect("the store works") {}
    }

    /// Does the upkeep of the store, as the background work does.
    pub async fn upkeep(&self) {
        let recado = &self.running.as_ref().expect("it runs").recado;
        recado.upkeep().await.expect("the store works");
    }

    /// Ends the sends whose outcome could not be recorded, as the background work does.
    pub async fn recover_sends(&self) {
        let recado = &self.running.as_ref().expect("it runs").recado;
        while recado.sending().recover().await.expect("the store works") {}
    }

    /// Sends everything that campaigns may send at the current time.
    pub async fn drain_campaigns(&self) {
        self.running.as_ref().expect("it runs").recado.campaigns().drain().await;
    }

    /// Sets how outbound requests are made after the next start.
    pub fn set_outside(&mut self, outside: Outside) {
        self.setup.outside = outside;
    }

    /// Sets the keys that seal secrets after the next start.
    pub fn set_secret_keys(&mut self, keys: &str) {
        self.setup.secret_keys = Some(keys.to_owned());
    }

    /// Sets where other cells answer after the next start.
    pub fn set_cell_urls(&mut self, urls: BTreeMap<Cell, String>) {
        self.setup.cell_urls = urls;
    }

    /// Sets where gateways may be after the next start.
    pub fn set_gateway_destinations(&mut self, destinations: GatewayDestinations) {
        self.setup.gateway_destinations = destinations;
    }

    /// Sets the gateways after the next start.
    pub fn set_providers(&mut self, providers: Providers) {
        self.setup.providers = Some(providers);
    }

    /// Reads the figures for the metrics, as the background work does. Answers whether the store
    /// could be read.
    pub async fn read_figures(&self) -> bool {
        let running = self.running.as_ref().expect("it runs");
        running.read_figures().await.is_ok()
    }

    /// Puts the installation on hold (D75).
    pub async fn hold(&self, reason: &str) {
        let recado = &self.running.as_ref().expect("it runs").recado;
        recado.halts().hold(Some(reason)).await.expect("the store works");
    }

    /// Attempts every delivery that is due.
    pub async fn drain(&self) {
        self.draining().await.expect("it ends");
    }

    /// Starts to attempt every delivery that is due.
    pub fn draining(&self) -> JoinHandle<()> {
        let recado = self.running.as_ref().expect("it runs").recado.clone();
        tokio::spawn(async move {
            recado.deliveries().drain().await;
        })
    }

    /// Deletes the rows that are older than the retention, as the background work does.
    pub async fn sweep_deliveries(&self) {
        let recado = &self.running.as_ref().expect("it runs").recado;
        while recado.deliveries().sweep().await.expect("the store works") {}
    }

    /// Removes the records that are not kept any longer, as the background work does.
    pub async fn sweep_records(&self) {
        let recado = &self.running.as_ref().expect("it runs").recado;
        while recado.retention().sweep().await.expect("the store works") {}
        while recado.retention().sweep_organizations().await.expect("the store works") {}
        while recado.uploads().sweep().await.expect("the store works") {}
    }

    /// The documents on disk, as relative paths.
    pub fn files_on_disk(&self) -> Vec<String> {
        files_under(self.documents.path())
    }

    /// Deletes all documents on disk, as an accident would.
    pub fn lose_all_files(&self) {
        for file in self.files_on_disk() {
            std::fs::remove_file(self.documents.path().join(file)).expect("removable");
        }
    }
}

async fn launch(
    database: &Database,
    setup: &Setup,
    clock: &HandClock,
    files: &FaultyFiles,
    transport: &ScriptedTransport,
    port: u16,
) -> (RunningServer, FaultyStore) {
    let url = setup.database_url.clone().unwrap_or_else(|| database.url());
    let usual = Options::default();
    let options = Options {
        allow_private_destinations: setup.outside == Outside::Open,
        webhook_retry_waits: setup
            .retry_waits
            .map_or(usual.webhook_retry_waits, |waits| waits.map(option)),
        webhook_timeout: setup.webhook_timeout.map_or(usual.webhook_timeout, option),
        retention: setup.retention.map_or(usual.retention, option),
        message_retention: setup.kept[0].map(option),
        click_retention: setup.kept[1].map(option),
        ledger_retention: setup.kept[2].map(option),
        remember_opt_outs: setup.remember_opt_outs,
        group_suffix: setup.group_suffix.map_or(usual.group_suffix, str::to_owned),
        trusted_proxies: setup
            .trusted_proxies
            .iter()
            .map(|net| net.parse().expect("a network"))
            .collect(),
        database: url.parse().expect("a database address"),
        // Each is a process of Postgres, which costs a test more than its statements do.
        database_connections: 4,
        gateway_destinations: setup.gateway_destinations.clone(),
        operator_token: (!setup.no_operator).then(|| SecretText::new(OPERATOR)),
        no_migrate: setup.no_migrate,
        cnpj_registry: (!setup.no_registry).then(|| "https://registry.example".to_owned()),
        secret_key: setup.secret_keys.clone().map(SecretText::new),
        listen: SocketAddr::from(([127, 0, 0, 1], port)),
        public_url: setup.public_url.map(str::to_owned),
        cell: setup.cell,
        cell_urls: setup.cell_urls.clone(),
        oidc_issuer: setup.oidc_issuer.clone(),
        oidc_client_id: Some(openid::CLIENT.to_owned()),
        oidc_client_secret: Some(SecretText::new(openid::SECRET)),
        ..usual
    };
    let transport: Option<Arc<dyn Transport>> = match setup.outside {
        Outside::Scripted => Some(Arc::new(transport.clone())),
        Outside::Open | Outside::Guarded => None,
    };
    let wrapped = Arc::new(Mutex::new(None));
    let keep = Arc::clone(&wrapped);
    let overrides = Overrides {
        providers: setup.providers.clone(),
        clock: Some(Arc::new(clock.0.clone())),
        files: Some(Arc::new(files.clone())),
        transport,
        // The gateways of tests are fakes on sockets of this machine.
        gateway_transport: Some(Arc::new(GuardedClient::new(ClientOptions {
            reach: Reach::Gateways(options.gateway_destinations.clone()),
        }))),
        no_background: setup.no_background,
        wrap_store: Some(Box::new(move |store| {
            let faulty = FaultyStore::new(store);
            *keep.lock().unwrap_or_else(PoisonError::into_inner) = Some(faulty.clone());
            Arc::new(faulty)
        })),
        ..Overrides::default()
    };
    let running = start(options, overrides).await.expect("the server starts");
    let store = wrapped.lock().unwrap_or_else(PoisonError::into_inner).take();
    (running, store.expect("the store was wrapped"))
}

/// A duration in the form of an option.
fn option(duration: Duration) -> recado_server::Duration {
    let millis = u64::try_from(duration.as_millis()).expect("a reasonable time");
    recado_server::Duration::from_millis(millis)
}
