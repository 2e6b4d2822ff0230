//! [`Installation`]: the core on the parts it is made of.

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use uuid::Uuid;

use crate::access::{Limiter, MemoryLimiter, UsedKeys};
use crate::accounts::{Passwords, SeenSessions, SessionLimits, Turns};
use crate::audit::{RecentDenials, RecentReads};
use crate::cell::Cell;
use crate::clock::{Clock, Timestamp};
use crate::commit::Database;
use crate::connections::{Connection, GatewayName, LastHeard};
use crate::contacts::CursorKey;
use crate::conversations::StopWords;
use crate::deliveries::{RetryWaits, Signals};
use crate::documents::Files;
use crate::gateway::{GatewayDestinations, Provider, Providers};
use crate::halts::KnownHalts;
use crate::ids::{Ids, WorkerId};
use crate::inbound::RecentCalls;
use crate::inbox::{Deciding, Lookups};
use crate::keyed_hash::HashKey;
use crate::messages::KnownKeys;
use crate::sending::Unrecorded;
use crate::standby::{KnownStandby, Standby};
use crate::store::{Reads, Store, StoreError};
use crate::tasks::{Spawner, UnderWay};
use crate::transport::Transport;
use crate::workers::OwnLease;

/// Settings of an installation that rules depend on. Created by [`Settings::new`]; then set the
/// fields that differ from the defaults.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Settings {
    /// The public URL of the service, without a slash at the end; tracked links begin with it.
    pub public_url: String,
    /// The base URL of the cnpj registry (D22). Without one, which is the default, nobody is asked
    /// (R172).
    pub registry_url: Option<String>,
    /// Where the gateways of connections may be (R230). What calls them needs the same.
    pub gateway_destinations: GatewayDestinations,
    /// What follows `@` in group codes (D2).
    pub group_suffix: String,
    /// The messages that ask to stop (D43); compared as [`opt_out`](crate::conversations::opt_out)
    /// says.
    pub stop_words: StopWords,
    /// The waits between the attempts at a delivery (8).
    pub retry_waits: RetryWaits,
    /// How long one attempt at a delivery may take in all (D53).
    pub webhook_timeout: Duration,
    /// How long finished deliveries and events are kept.
    pub retention: Duration,
    /// How long a link to the file of a message is good, at least (R193).
    pub media_link_lifetime: Duration,
    /// How long uploads are kept that no message has (X11).
    pub media_retention: Duration,
    /// How long messages are kept (R210); `None` keeps them. At least a day: what may be sent, and
    /// by whom a conversation is kept, depends on the last day.
    pub message_retention: Option<Duration>,
    /// How long clicks on tracked links are kept (R211); `None` keeps them.
    pub click_retention: Option<Duration>,
    /// How long the entries of the audit log are kept (R389): 365 days unless set; `None` keeps
    /// them.
    pub audit_retention: Option<Duration>,
    /// How long the lines of the ledger are kept (R212); `None` keeps them.
    pub ledger_retention: Option<Duration>,
    /// When sessions of members end (R397).
    pub sessions: SessionLimits,
    /// Whether a keyed hash is kept of the numbers of a deleted contact that had asked to stop, so
    /// that it is opted out from the start if it comes back (R413).
    pub remember_opt_outs: bool,
}

impl Settings {
    /// The settings of an installation whose public URL is `public_url`, such as
    /// `https://crm.example.org`; a slash at its end is dropped. Everything else is as documented.
    pub fn new(public_url: impl Into<String>) -> Self {
        let mut public_url: String = public_url.into();
        public_url.truncate(public_url.trim_end_matches('/').len());
        Self {
            public_url,
            registry_url: None,
            gateway_destinations: GatewayDestinations::default(),
            group_suffix: "g.us".to_owned(),
            stop_words: StopWords::default(),
            retry_waits: RetryWaits::default(),
            webhook_timeout: Duration::from_secs(10),
            retention: Duration::from_secs(30 * 24 * 60 * 60),
            media_link_lifetime: Duration::from_secs(30 * 24 * 60 * 60),
            media_retention: Duration::from_secs(30 * 24 * 60 * 60),
            message_retention: None,
            click_retention: None,
            audit_retention: Some(Duration::from_secs(365 * 24 * 60 * 60)),
            ledger_retention: None,
            sessions: SessionLimits::default(),
            remember_opt_outs: false,
        }
    }
}

/// What the core depends on; every part is a trait object, so that a program chooses it at run
/// time.
pub struct Parts {
    /// The database.
    pub store: Arc<dyn Store>,
    /// A standby of the database for listings (R462); `None` reads them from the database.
    pub standby: Option<Standby>,
    /// Notifications between the processes on the database (R463); `None` uses the store's own.
    /// With others, the store's own are never called. All processes need the same.
    pub signals: Option<Arc<dyn Signals>>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Ids and secrets.
    pub ids: Arc<dyn Ids>,
    /// The bytes of documents.
    pub files: Arc<dyn Files>,
    /// Runs work that must complete even if its caller no longer waits, such as sends.
    pub spawner: Arc<dyn Spawner>,
    /// Calls to addresses that others set: webhooks, registries, files.
    pub transport: Arc<dyn Transport>,
    /// Calls to the gateways, which are mostly in the same private network. It calls only where
    /// `settings.gateway_destinations` allows it (R230). `None` uses `transport`.
    pub gateway_transport: Option<Arc<dyn Transport>>,
    /// Rate limits; `None` keeps them in this process.
    pub limiter: Option<Arc<dyn Limiter>>,
    /// The gateways of connections.
    pub providers: Providers,
    /// Hashes the passwords of members (R395).
    pub passwords: Arc<dyn Passwords>,
    /// Settings.
    pub settings: Settings,
}

impl fmt::Debug for Parts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Parts").field("settings", &self.settings).finish_non_exhaustive()
    }
}

struct Inner {
    database: Database,
    known_standby: KnownStandby,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn Ids>,
    files: Arc<dyn Files>,
    spawner: Arc<dyn Spawner>,
    transport: Arc<dyn Transport>,
    gateway_transport: Arc<dyn Transport>,
    limiter: Arc<dyn Limiter>,
    providers: Providers,
    passwords: Arc<dyn Passwords>,
    settings: Settings,
    cursor_key: OnceLock<CursorKey>,
    media_keys: KnownKeys,
    hash_key: OnceLock<HashKey>,
    worker: OwnLease,
    unrecorded: Unrecorded,
    under_way: Arc<UnderWay>,
    gather: Deciding,
    lookups: Lookups,
    heard: LastHeard,
    used_keys: UsedKeys,
    recent_calls: RecentCalls,
    seen_sessions: SeenSessions,
    turns: Turns,
    halts: KnownHalts,
    denials: RecentDenials,
    document_reads: RecentReads,
}

/// The core on its parts: it reads, and it says who comes in. It has no use case that writes: that
/// is what [`Installation::by`] is for, which asks who acts (R384). Cheap to clone; every clone is
/// the same installation.
///
/// ```
/// # use recado_core::{Installation, audit::Acting};
/// fn of_program(installation: &Installation) {
///     installation.by(Acting::program("import")).contacts();
/// }
/// ```
///
/// ```compile_fail,E0599
/// # use recado_core::{Installation, audit::Acting};
/// fn of_nobody(installation: &Installation) {
///     // There is no such method: nobody has said who acts.
///     installation.contacts();
/// }
/// ```
#[derive(Clone)]
pub struct Installation(Arc<Inner>);

impl fmt::Debug for Installation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Installation").field("settings", &self.0.settings).finish_non_exhaustive()
    }
}

impl Installation {
    /// The core on these parts, without a call to the store yet: for a server that starts before
    /// its database. The installation's secrets are read, or made, at their first use.
    pub fn new(parts: Parts) -> Self {
        let (store, ids) = (Arc::clone(&parts.store), Arc::clone(&parts.ids));
        let database = Database::new(store, parts.signals.clone(), ids);
        Self::on(database, parts)
    }

    /// The same installation for a trial: every use case reads and decides as it would, answers as
    /// it would, and writes nothing to the database (R286). What one call would have written, the
    /// next one does not see. It is for dry runs of imports; calls to gateways and files are made.
    pub(crate) fn rehearsal(&self) -> Self {
        let inner = &self.0;
        let parts = Parts {
            store: inner.database.store(),
            standby: inner.known_standby.standby(),
            signals: inner.database.given_signals(),
            clock: Arc::clone(&inner.clock),
            ids: Arc::clone(&inner.ids),
            files: Arc::clone(&inner.files),
            spawner: Arc::clone(&inner.spawner),
            transport: Arc::clone(&inner.transport),
            gateway_transport: Some(Arc::clone(&inner.gateway_transport)),
            limiter: Some(Arc::clone(&inner.limiter)),
            providers: inner.providers.clone(),
            passwords: Arc::clone(&inner.passwords),
            settings: inner.settings.clone(),
        };
        Self::on(inner.database.rehearsal(), parts)
    }

    fn on(database: Database, parts: Parts) -> Self {
        let Parts { clock, ids, files, spawner, transport, .. } = parts;
        let worker = OwnLease::new(WorkerId::new(ids.uuid(clock.now())));
        Self(Arc::new(Inner {
            database,
            known_standby: KnownStandby::new(parts.standby),
            gateway_transport: parts.gateway_transport.unwrap_or_else(|| Arc::clone(&transport)),
            limiter: parts.limiter.unwrap_or_else(|| Arc::new(MemoryLimiter::new())),
            providers: parts.providers,
            passwords: parts.passwords,
            settings: parts.settings,
            clock,
            ids,
            files,
            spawner,
            transport,
            cursor_key: OnceLock::new(),
            media_keys: KnownKeys::default(),
            hash_key: OnceLock::new(),
            worker,
            unrecorded: Unrecorded::default(),
            under_way: Arc::default(),
            gather: Deciding::default(),
            lookups: Lookups::default(),
            heard: LastHeard::default(),
            used_keys: UsedKeys::default(),
            recent_calls: RecentCalls::default(),
            seen_sessions: SeenSessions::default(),
            turns: Turns::default(),
            halts: KnownHalts::default(),
            denials: RecentDenials::default(),
            document_reads: RecentReads::default(),
        }))
    }

    /// The settings it was started with.
    pub fn settings(&self) -> &Settings {
        &self.0.settings
    }

    /// All reads of the database.
    pub fn store(&self) -> &dyn Reads {
        self.0.database.reads()
    }

    /// Whether the database can be reached and has the current schema (for readiness probes).
    ///
    /// # Errors
    ///
    /// When it cannot be reached, or does not have the schema.
    pub async fn ready(&self) -> Result<(), StoreError> {
        self.0.database.upkeep().ready().await
    }

    pub(crate) fn database(&self) -> &Database {
        &self.0.database
    }

    pub(crate) fn known_standby(&self) -> &KnownStandby {
        &self.0.known_standby
    }

    /// The current time.
    pub fn now(&self) -> Timestamp {
        self.0.clock.now()
    }

    pub(crate) fn limiter(&self) -> &dyn Limiter {
        &*self.0.limiter
    }

    pub(crate) fn files(&self) -> &dyn Files {
        &*self.0.files
    }

    /// The same, to be kept by what is handed to gateways.
    pub(crate) fn shared_files(&self) -> Arc<dyn Files> {
        Arc::clone(&self.0.files)
    }

    pub(crate) fn spawner(&self) -> &dyn Spawner {
        &*self.0.spawner
    }

    pub(crate) fn under_way(&self) -> &Arc<UnderWay> {
        &self.0.under_way
    }

    pub(crate) fn transport(&self) -> &dyn Transport {
        &*self.0.transport
    }

    pub(crate) fn gateway_transport(&self) -> &dyn Transport {
        &*self.0.gateway_transport
    }

    /// The gateways of this program.
    pub(crate) fn providers(&self) -> &Providers {
        &self.0.providers
    }

    /// A text from a connection's gateway, without the secrets that it may have repeated (R125).
    pub(crate) fn masked(&self, connection: &Connection, text: &str) -> String {
        connection.settings.masked(self.providers().description(&connection.gateway), text)
    }

    pub(crate) fn provider(&self, gateway: &GatewayName) -> Option<Arc<dyn Provider>> {
        self.0.providers.get(gateway)
    }

    pub(crate) fn own_lease(&self) -> &OwnLease {
        &self.0.worker
    }

    pub(crate) fn gather(&self) -> &Deciding {
        &self.0.gather
    }

    pub(crate) fn lookups(&self) -> &Lookups {
        &self.0.lookups
    }

    pub(crate) fn heard(&self) -> &LastHeard {
        &self.0.heard
    }

    /// The last calls of inbound endpoints.
    pub(crate) fn recent_calls(&self) -> &RecentCalls {
        &self.0.recent_calls
    }

    pub(crate) fn used_keys(&self) -> &UsedKeys {
        &self.0.used_keys
    }

    pub(crate) fn recent_denials(&self) -> &RecentDenials {
        &self.0.denials
    }

    pub(crate) fn document_reads(&self) -> &RecentReads {
        &self.0.document_reads
    }

    pub(crate) fn seen_sessions(&self) -> &SeenSessions {
        &self.0.seen_sessions
    }

    pub(crate) fn turns(&self) -> &Turns {
        &self.0.turns
    }

    pub(crate) fn passwords(&self) -> &dyn Passwords {
        &*self.0.passwords
    }

    /// The halts, as they were last read.
    pub(crate) fn known_halts(&self) -> &KnownHalts {
        &self.0.halts
    }

    pub(crate) fn unrecorded(&self) -> &Unrecorded {
        &self.0.unrecorded
    }

    /// The key that signs cursors, once it was read.
    pub(crate) fn cursor_key_cell(&self) -> &OnceLock<CursorKey> {
        &self.0.cursor_key
    }

    /// The keys of links to media, as they were last read.
    pub(crate) fn known_media_keys(&self) -> &KnownKeys {
        &self.0.media_keys
    }

    /// The key of keyed hashes, once it was read.
    pub(crate) fn hash_key_cell(&self) -> &OnceLock<HashKey> {
        &self.0.hash_key
    }

    pub(crate) fn cell(&self) -> Cell {
        self.0.ids.cell()
    }

    pub(crate) fn uuid(&self, now: Timestamp) -> Uuid {
        self.0.ids.uuid(now)
    }

    pub(crate) fn random<const N: usize>(&self) -> [u8; N] {
        let mut bytes = [0; N];
        self.0.ids.fill(&mut bytes);
        bytes
    }
}
