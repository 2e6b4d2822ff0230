//! A complete [`Recado`] for tests, on any store, with control of time, ids and outbound requests.
//!
//! ```
//! use recado_testkit::{Kit, kit::body};
//! use serde_json::json;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! let kit = Kit::new().await;
//! let new = body(json!({ "phone": "+55 34 99123-4567", "name": "Ana" }));
//! let created = kit.app.contacts().create(&kit.caller, &new).await.expect("acceptable");
//! assert_eq!(created.contact.display_name, "Ana");
//!
//! kit.clock.advance(std::time::Duration::from_secs(60));
//! # }
//! ```

use std::sync::Arc;

use recado_core::access::{Caller, Company, CompanyDraft, KeyDraft, Limiter, Scopes};
use recado_core::audit::Acting;
use recado_core::deliveries::Signals;
use recado_core::documents::Files;
use recado_core::gateway::Providers;
use recado_core::ids::CompanyId;
use recado_core::store::Store;
use recado_core::transport::Transport;
use recado_core::{Ids, Installation, Parts, Recado, Settings, Spawner, Standby};
use serde_json::{Map, Value};

use crate::{
    AttachedSpawner, MemoryFiles, MemoryStore, ScriptedProvider, ScriptedTransport, SeededIds,
    TestClock, TestPasswords,
};

/// A [`Recado`] with a company and a caller that has every permission.
#[derive(Clone)]
pub struct Kit {
    /// The core.
    pub app: Recado,
    /// The store of the core. Tests can write to it directly.
    pub store: Arc<dyn Store>,
    /// The clock of the core.
    pub clock: TestClock,
    /// The transport of the core.
    pub transport: ScriptedTransport,
    /// The provider of every gateway, unless the builder was given other gateways.
    pub provider: ScriptedProvider,
    /// A company on the plan `enterprise`.
    pub company: Company,
    /// A caller with every scope.
    pub caller: Caller,
    /// The secret of the caller's key.
    pub key: String,
}

/// Sets the parts of a [`Kit`].
pub struct KitBuilder {
    store: Arc<dyn Store>,
    standby: Option<Standby>,
    signals: Option<Arc<dyn Signals>>,
    files: Arc<dyn Files>,
    ids: Arc<dyn Ids>,
    spawner: Arc<dyn Spawner>,
    clock: TestClock,
    transport: ScriptedTransport,
    gateway_transport: Option<ScriptedTransport>,
    provider: ScriptedProvider,
    providers: Option<Providers>,
    limiter: Option<Arc<dyn Limiter>>,
    passwords: TestPasswords,
    settings: Settings,
}

impl KitBuilder {
    /// Uses this store.
    #[must_use]
    pub fn store(mut self, store: Arc<dyn Store>) -> Self {
        self.store = store;
        self
    }

    /// Reads listings of handles that allow it from this standby.
    #[must_use]
    pub fn standby(mut self, standby: Standby) -> Self {
        self.standby = Some(standby);
        self
    }

    /// Notifies other processes by these signals, in place of the store's own.
    #[must_use]
    pub fn signals(mut self, signals: Arc<dyn Signals>) -> Self {
        self.signals = Some(signals);
        self
    }

    /// Stores documents here.
    #[must_use]
    pub fn files(mut self, files: impl Files + 'static) -> Self {
        self.files = Arc::new(files);
        self
    }

    /// Uses this source of identifiers.
    #[must_use]
    pub fn ids(mut self, ids: impl Ids + 'static) -> Self {
        self.ids = Arc::new(ids);
        self
    }

    /// Runs sends with this spawner, instead of within the future that waits for them.
    #[must_use]
    pub fn spawner(mut self, spawner: impl Spawner + 'static) -> Self {
        self.spawner = Arc::new(spawner);
        self
    }

    /// Uses this clock.
    #[must_use]
    pub fn clock(mut self, clock: TestClock) -> Self {
        self.clock = clock;
        self
    }

    /// Uses this transport.
    #[must_use]
    pub fn transport(mut self, transport: ScriptedTransport) -> Self {
        self.transport = transport;
        self
    }

    /// Calls gateways by this transport, instead of by the one for everything else.
    #[must_use]
    pub fn gateway_transport(mut self, transport: ScriptedTransport) -> Self {
        self.gateway_transport = Some(transport);
        self
    }

    /// Uses this provider for every gateway.
    #[must_use]
    pub fn provider(mut self, provider: ScriptedProvider) -> Self {
        self.provider = provider;
        self
    }

    /// Uses these gateways, and no others.
    #[must_use]
    pub fn providers(mut self, providers: Providers) -> Self {
        self.providers = Some(providers);
        self
    }

    /// Uses this rate limiter. Several instances that share a limiter share their limits.
    #[must_use]
    pub fn limiter(mut self, limiter: Arc<dyn Limiter>) -> Self {
        self.limiter = Some(limiter);
        self
    }

    /// Uses these passwords.
    #[must_use]
    pub fn passwords(mut self, passwords: TestPasswords) -> Self {
        self.passwords = passwords;
        self
    }

    /// Uses these settings.
    #[must_use]
    pub fn settings(mut self, settings: Settings) -> Self {
        self.settings = settings;
        self
    }

    /// Starts the core only. Several cores on one store act as several processes.
    pub async fn start(self) -> Recado {
        let parts = Parts {
            store: self.store,
            standby: self.standby,
            signals: self.signals,
            clock: Arc::new(self.clock),
            ids: self.ids,
            files: self.files,
            spawner: self.spawner,
            transport: Arc::new(self.transport),
            gateway_transport: self
                .gateway_transport
                .map(|transport| Arc::new(transport) as Arc<dyn Transport>),
            limiter: self.limiter,
            providers: self.providers.unwrap_or_else(|| self.provider.everywhere()),
            passwords: Arc::new(self.passwords),
            settings: self.settings,
        };
        let started = Installation::start(parts).await;
        started.expect("the store of the kit works at the start").by(Acting::program("test"))
    }

    /// Starts the core and creates the company and the caller.
    pub async fn build(self) -> Kit {
        let (clock, transport) = (self.clock.clone(), self.transport.clone());
        let (provider, store) = (self.provider.clone(), Arc::clone(&self.store));
        let app = self.start().await;
        let draft = CompanyDraft::named("Padaria do João").expect("the name is acceptable");
        let company = app.access().create_company(draft).await.expect("a company can be made");
        let (caller, key) = new_caller(&app, company.id).await;
        Kit { app, store, clock, transport, provider, company, caller, key }
    }
}

impl std::fmt::Debug for Kit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Kit").field("company", &self.company).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for KitBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KitBuilder").field("settings", &self.settings).finish_non_exhaustive()
    }
}

/// The usual settings, with a registry: the scripted transport answers in its place.
fn settings() -> Settings {
    let mut settings = Settings::new("http://127.0.0.1:8080");
    settings.registry_url = Some("https://registry.example".to_owned());
    settings
}

async fn new_caller(app: &Recado, company: CompanyId) -> (Caller, String) {
    let made = app.access().create_key(company, KeyDraft::new("kit", Scopes::all())).await;
    let key = made.expect("a key can be made").secret.expose().to_owned();
    let caller = app.access().authenticate(&key).await.expect("the key was just made");
    (caller, key)
}

impl Kit {
    /// A builder whose parts are all in memory.
    pub fn builder() -> KitBuilder {
        KitBuilder {
            store: Arc::new(MemoryStore::new()),
            standby: None,
            signals: None,
            files: Arc::new(MemoryFiles::new()),
            ids: Arc::new(SeededIds::new(1)),
            spawner: Arc::new(AttachedSpawner),
            clock: TestClock::default(),
            transport: ScriptedTransport::new(),
            gateway_transport: None,
            provider: ScriptedProvider::new(),
            providers: None,
            limiter: None,
            passwords: TestPasswords::new(),
            settings: settings(),
        }
    }

    /// A kit with everything in memory.
    pub async fn new() -> Self {
        Self::builder().build().await
    }

    /// A kit on this store.
    pub async fn on(store: Arc<dyn Store>) -> Self {
        Self::builder().store(store).build().await
    }

    /// Another company with a caller of its own.
    pub async fn another_company(&self, name: &str) -> (Company, Caller) {
        let draft = CompanyDraft::named(name).expect("the name is acceptable");
        let company = self.app.access().create_company(draft).await.expect("a company can be made");
        let (caller, _) = new_caller(&self.app, company.id).await;
        (company, caller)
    }
}

/// The object of a `json!` value: a body for use cases. Panics if the value is no object.
pub fn body(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(body) => body,
        other => panic!("a body must be an object, not {other}"),
    }
}
