//! [`Recado`]: the handle an embedder holds, its builder, and the runner of use cases.

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use async_trait::async_trait;
use uuid::Uuid;

use crate::access::{Access, Limiter, MemoryLimiter, Secret, SecretName};
use crate::campaigns::Campaigns;
use crate::clock::{Clock, Timestamp};
use crate::connections::{Connections, Gateway};
use crate::contacts::{Contacts, CursorKey, OrganizationIds};
use crate::conversations::{Conversations, StopWords};
use crate::custom_fields::CustomFields;
use crate::deals::Deals;
use crate::deliveries::{Deliveries, FanOut, RetryWaits};
use crate::dispatches::Dispatches;
use crate::documents::{Documents, Files};
use crate::error::Error;
use crate::events::Events;
use crate::gateway::{Provider, Providers};
use crate::groups::Groups;
use crate::idempotency::Calls;
use crate::ids::{Ids, JobId, OrganizationId, WorkerId};
use crate::inbound::Inbound;
use crate::inbox::{Deciding, Inbox, Lookups};
use crate::jobs::Jobs;
use crate::leads::Leads;
use crate::links::Links;
use crate::lists::Lists;
use crate::messages::{MediaLinks, Messages};
use crate::prosas::ProsaLedger;
use crate::secret::SecretBytes;
use crate::sending::{Sending, Unrecorded};
use crate::store::{ChangeSet, CommitError, Decided, Reads, RecordsExt, Store, StoreError};
use crate::tags::Tags;
use crate::templates::Templates;
use crate::transport::Transport;
use crate::webhooks::Webhooks;
use crate::workers::{OwnLease, Workers};

/// How often a decision is made again after a conflict before the caller is asked to come back
/// (R17).
const MAX_ATTEMPTS: u32 = 64;

/// One use case: what it reads, and the pure decision on what was read.
///
/// Everything random (ids, secrets) is made before and kept in `self`, so that deciding again after
/// a conflict decides the same.
#[async_trait]
pub trait UseCase: Send + Sync {
    /// What was read.
    type Loaded: Send;
    /// The answer.
    type Output: Send;
    /// The refusal.
    type Error: Send;

    /// Reads what the decision needs.
    async fn load(&self, store: &dyn Reads) -> Result<Self::Loaded, StoreError>;

    /// Decides; pure.
    ///
    /// # Errors
    ///
    /// The refusal. Nothing is written.
    fn decide(
        &self,
        loaded: Self::Loaded,
        now: Timestamp,
    ) -> Result<Decided<Self::Output>, Self::Error>;
}

/// Settings of an installation that rules depend on.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Where the service is reached from outside, without a slash at the end; tracked links begin
    /// with it.
    pub public_url: String,
    /// The base URL of the cnpj registry (D22).
    pub registry_url: String,
    /// What follows `@` in group codes (D2).
    pub group_suffix: String,
    /// The messages that ask to stop (D43); compared as [`opt_out`](crate::conversations::opt_out)
    /// says.
    pub stop_words: StopWords,
    /// The waits between the attempts at a delivery (8).
    pub retry_waits: RetryWaits,
    /// How long one attempt at a delivery may take in all (D53).
    pub webhook_timeout: Duration,
    /// How long settled deliveries and events are kept.
    pub retention: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            public_url: "http://127.0.0.1:8080".to_owned(),
            registry_url: "https://brasilapi.com.br".to_owned(),
            group_suffix: "g.us".to_owned(),
            stop_words: StopWords::default(),
            retry_waits: RetryWaits::default(),
            webhook_timeout: Duration::from_secs(10),
            retention: Duration::from_secs(30 * 24 * 60 * 60),
        }
    }
}

/// What the core works with; every part is a trait object, so that a program picks it at run time.
pub struct Parts {
    /// The database.
    pub store: Arc<dyn Store>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Ids and secrets.
    pub ids: Arc<dyn Ids>,
    /// The bytes of documents.
    pub files: Arc<dyn Files>,
    /// Calls to addresses that strangers give us: webhooks, registries, files.
    pub transport: Arc<dyn Transport>,
    /// Calls to the gateways, whose addresses the operator gives us and which mostly stand in the
    /// same private network; `None` calls them by `transport`.
    pub gateway_transport: Option<Arc<dyn Transport>>,
    /// Rate limits; `None` keeps them in this process.
    pub limiter: Option<Arc<dyn Limiter>>,
    /// The gateways that connections talk through.
    pub providers: Providers,
    /// Settings.
    pub settings: Settings,
}

impl fmt::Debug for Parts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Parts").field("settings", &self.settings).finish_non_exhaustive()
    }
}

struct Inner {
    parts: Parts,
    limiter: Arc<dyn Limiter>,
    cursor_key: OnceLock<CursorKey>,
    media_links: OnceLock<MediaLinks>,
    worker: OwnLease,
    unrecorded: Unrecorded,
    gather: Deciding,
    lookups: Lookups,
    fan_out: FanOut,
}

/// The core, ready to use. Cheap to clone; every clone is the same installation.
#[derive(Clone)]
pub struct Recado(Arc<Inner>);

impl fmt::Debug for Recado {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recado").field("parts", &self.0.parts).finish()
    }
}

impl Recado {
    /// Starts the core on these parts. Makes the installation's secrets if they are missing.
    ///
    /// # Errors
    ///
    /// When the store cannot be reached.
    pub async fn start(parts: Parts) -> Result<Self, StoreError> {
        let recado = Self::new(parts);
        recado.cursor_key().await?;
        Ok(recado)
    }

    /// The core on these parts, without asking the store for anything yet: for a server that is up
    /// before its database is. The installation's secrets are read, or made, at their first use.
    pub fn new(parts: Parts) -> Self {
        let limiter = parts.limiter.clone().unwrap_or_else(|| Arc::new(MemoryLimiter::new()));
        let worker = OwnLease::new(WorkerId::new(parts.ids.uuid_v7(parts.clock.now())));
        let (cursor_key, media_links) = (OnceLock::new(), OnceLock::new());
        let (unrecorded, gather) = (Unrecorded::default(), Deciding::default());
        let lookups = Lookups::default();
        let fan_out = FanOut::default();
        Self(Arc::new(Inner {
            limiter,
            cursor_key,
            media_links,
            worker,
            unrecorded,
            gather,
            lookups,
            fan_out,
            parts,
        }))
    }

    /// Companies, keys and members.
    pub fn access(&self) -> Access<'_> {
        Access { app: self }
    }

    /// Campaigns.
    pub fn campaigns(&self) -> Campaigns<'_> {
        Campaigns { app: self }
    }

    /// Connections.
    pub fn connections(&self) -> Connections<'_> {
        Connections { app: self }
    }

    /// Contacts.
    pub fn contacts(&self) -> Contacts<'_> {
        Contacts { app: self }
    }

    /// What operators do with conversations.
    pub fn conversations(&self) -> Conversations<'_> {
        Conversations { app: self }
    }

    /// Inbound endpoints.
    pub fn inbound(&self) -> Inbound<'_> {
        Inbound { app: self }
    }

    /// What gateways tell of.
    pub fn inbox(&self) -> Inbox<'_> {
        Inbox { app: self }
    }

    /// Sending messages.
    pub fn sending(&self) -> Sending<'_> {
        Sending { app: self }
    }

    /// The lease of this process.
    pub fn workers(&self) -> Workers<'_> {
        Workers { app: self }
    }

    /// Outbound webhooks.
    pub fn webhooks(&self) -> Webhooks<'_> {
        Webhooks { app: self }
    }

    /// Deliveries to webhooks, and their delivery worker.
    pub fn deliveries(&self) -> Deliveries<'_> {
        Deliveries { app: self }
    }

    /// The journal of events.
    pub fn events(&self) -> Events<'_> {
        Events { app: self }
    }

    /// Definitions of custom fields.
    pub fn custom_fields(&self) -> CustomFields<'_> {
        CustomFields { app: self }
    }

    /// Pipelines and deals.
    pub fn deals(&self) -> Deals<'_> {
        Deals { app: self }
    }

    /// Template dispatch.
    pub fn dispatches(&self) -> Dispatches<'_> {
        Dispatches { app: self }
    }

    /// Documents of contacts.
    pub fn documents(&self) -> Documents<'_> {
        Documents { app: self }
    }

    /// Groups of connections.
    pub fn groups(&self) -> Groups<'_> {
        Groups { app: self }
    }

    /// Tracked links.
    pub fn links(&self) -> Links<'_> {
        Links { app: self }
    }

    /// Calls that are remembered by a key.
    pub fn calls(&self) -> Calls<'_> {
        Calls { app: self }
    }

    /// Lead memories.
    pub fn leads(&self) -> Leads<'_> {
        Leads { app: self }
    }

    /// Debits, refunds and their ledger.
    pub fn prosas(&self) -> ProsaLedger<'_> {
        ProsaLedger { app: self }
    }

    /// Message templates.
    pub fn templates(&self) -> Templates<'_> {
        Templates { app: self }
    }

    /// Lists of contacts.
    pub fn lists(&self) -> Lists<'_> {
        Lists { app: self }
    }

    /// Messages that are stored.
    pub fn messages(&self) -> Messages<'_> {
        Messages { app: self }
    }

    /// Background work.
    pub fn jobs(&self) -> Jobs<'_> {
        Jobs { app: self }
    }

    /// Tags and close reasons.
    pub fn tags(&self) -> Tags<'_> {
        Tags { app: self }
    }

    /// The settings it was started with.
    pub fn settings(&self) -> &Settings {
        &self.0.parts.settings
    }

    /// The database, for readiness probes and housekeeping.
    pub fn store(&self) -> &dyn Store {
        &*self.0.parts.store
    }

    /// The current time.
    pub fn now(&self) -> Timestamp {
        self.0.parts.clock.now()
    }

    pub(crate) fn limiter(&self) -> &dyn Limiter {
        &*self.0.limiter
    }

    pub(crate) fn files(&self) -> &dyn Files {
        &*self.0.parts.files
    }

    pub(crate) fn transport(&self) -> &dyn Transport {
        &*self.0.parts.transport
    }

    pub(crate) fn gateway_transport(&self) -> &dyn Transport {
        self.0.parts.gateway_transport.as_deref().unwrap_or_else(|| self.transport())
    }

    pub(crate) fn provider(&self, gateway: Gateway) -> Option<Arc<dyn Provider>> {
        self.0.parts.providers.get(gateway)
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

    pub(crate) fn fan_out(&self) -> &FanOut {
        &self.0.fan_out
    }

    pub(crate) fn unrecorded(&self) -> &Unrecorded {
        &self.0.unrecorded
    }

    pub(crate) async fn cursor_key(&self) -> Result<&CursorKey, StoreError> {
        if let Some(key) = self.0.cursor_key.get() {
            return Ok(key);
        }
        let key = installation_secret(&self.0.parts, SecretName::CursorKey).await?;
        Ok(self.0.cursor_key.get_or_init(|| CursorKey::new(key)))
    }

    /// Makes and checks the links to received media (D31a).
    pub(crate) async fn media_links(&self) -> Result<&MediaLinks, StoreError> {
        if let Some(links) = self.0.media_links.get() {
            return Ok(links);
        }
        let key = installation_secret(&self.0.parts, SecretName::MediaKey).await?;
        let public_url = self.settings().public_url.clone();
        Ok(self.0.media_links.get_or_init(|| MediaLinks::new(public_url, key)))
    }

    pub(crate) fn uuid(&self, now: Timestamp) -> Uuid {
        self.0.parts.ids.uuid_v7(now)
    }

    pub(crate) fn random<const N: usize>(&self) -> [u8; N] {
        let mut bytes = [0; N];
        self.0.parts.ids.fill(&mut bytes);
        bytes
    }

    pub(crate) fn organization_ids(&self, now: Timestamp) -> OrganizationIds {
        OrganizationIds::new(OrganizationId::new(self.uuid(now)), JobId::new(self.uuid(now)))
    }

    /// Runs a use case: load, decide, commit; again after a conflict, until it is bounded.
    ///
    /// # Errors
    ///
    /// The use case's refusal, [`Error::Busy`] after too many conflicts, or the store's failure.
    pub async fn run<U: UseCase>(&self, use_case: &U) -> Result<U::Output, Error<U::Error>> {
        let mut attempts = self.attempts();
        loop {
            let now = attempts.next()?;
            let loaded = use_case.load(self.store()).await?;
            let decided = use_case.decide(loaded, now).map_err(Error::Rejected)?;
            if let Some(output) = self.try_commit(decided).await? {
                return Ok(output);
            }
        }
    }

    /// Counts the attempts at one decision.
    pub(crate) fn attempts(&self) -> Attempts<'_> {
        Attempts { app: self, made: 0 }
    }

    /// Commits a decision: its answer, or `None` after a conflict.
    pub(crate) async fn try_commit<T>(&self, decided: Decided<T>) -> Result<Option<T>, StoreError> {
        if decided.changes.is_empty() {
            return Ok(Some(decided.output));
        }
        match self.commit(decided.changes).await {
            Ok(()) => Ok(Some(decided.output)),
            Err(CommitError::Conflict(_)) => Ok(None),
            Err(CommitError::Store(error)) => Err(error),
        }
    }
}

/// Bounds how often one decision is made again.
#[derive(Debug)]
pub(crate) struct Attempts<'a> {
    app: &'a Recado,
    made: u32,
}

impl Attempts<'_> {
    /// The time to decide at, or [`Error::Busy`] when it was tried too often.
    pub(crate) fn next<E>(&mut self) -> Result<Timestamp, Error<E>> {
        self.made += 1;
        if self.made > MAX_ATTEMPTS { Err(Error::Busy) } else { Ok(self.app.now()) }
    }
}

/// Reads a secret of the installation, or makes it; of several processes that start at once, one
/// makes it and the others read that one.
async fn installation_secret(parts: &Parts, name: SecretName) -> Result<SecretBytes, StoreError> {
    for _ in 0..MAX_ATTEMPTS {
        if let Some(secret) = parts.store.get::<Secret>(name).await? {
            return Ok(secret.into_value().bytes);
        }
        let mut bytes = vec![0; 32];
        parts.ids.fill(&mut bytes);
        let secret = Secret { name, bytes: SecretBytes::new(bytes) };
        match parts.store.commit(ChangeSet::new().insert(secret)).await {
            Ok(()) | Err(CommitError::Conflict(_)) => {}
            Err(CommitError::Store(error)) => return Err(error),
        }
    }
    Err(StoreError::corrupt("the installation's secret cannot be kept"))
}
