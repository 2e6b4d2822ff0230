//! A store that fails on demand.

mod reads;
mod switched;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use recado_core::deliveries::{QueueKey, Signals};
use recado_core::events::{Erased, EventsAbout, Outbox, Swept};
use recado_core::ids::CompanyId;
use recado_core::jobs::Job;
use recado_core::store::{
    Change, ChangeKind, ChangeSet, Claims, Commit, CommitError, Conflict, Row, RowKey, Store,
    StoreError, Stored, Upkeep,
};
use recado_core::{Replica, Timestamp};

use switched::Switched;

/// A kind of operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreOp {
    /// Any read.
    Read,
    /// [`Commit::commit`], except [`StoreOp::Presence`].
    Commit,
    /// A commit that writes only workers, shards and keys that exist. Servers make these all the
    /// time, to renew the lease of a process and its shard assignments, and to write when keys were
    /// used.
    Presence,
    /// [`Claims::claim_jobs`].
    Claim,
    /// [`Upkeep`].
    Upkeep,
    /// [`Outbox`].
    Outbox,
    /// [`Signals::notify`]: for every kind of failure the notification is lost.
    Notify,
}

/// How an operation fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreFailure {
    /// The operation had no effect.
    Unavailable,
    /// The connection broke before a commit or claim was applied. The caller cannot know whether it
    /// was.
    UnknownBefore,
    /// The connection broke after it was applied. The caller cannot know whether it was.
    UnknownAfter,
    /// The connection broke while a commit was under way. The commit is applied later, by
    /// [`FaultyStore::land`]. The caller cannot know whether it is applied.
    UnknownLate,
    /// A commit failed with [`Conflict::Contended`].
    Contended,
}

fn commit_op(changes: &ChangeSet) -> StoreOp {
    let is_presence = |change: &Change| match change.kind() {
        ChangeKind::Insert(row) | ChangeKind::Update { row, .. } => {
            matches!(row, Row::Worker(_) | Row::Shard(_))
                || matches!((change.kind(), row), (ChangeKind::Update { .. }, Row::ApiKey(_)))
        }
        ChangeKind::Delete { key, .. } => matches!(key, RowKey::Worker { .. }),
        _ => false,
    };
    let all = !changes.changes.is_empty() && changes.changes.iter().all(is_presence);
    if all && changes.events.is_empty() { StoreOp::Presence } else { StoreOp::Commit }
}

type Plan = Box<dyn FnMut(StoreOp) -> Option<StoreFailure> + Send>;
type CommitPlan = Box<dyn FnMut(&ChangeSet) -> Option<StoreFailure> + Send>;

/// A store that fails on demand. Clones share one plan.
#[derive(Clone)]
pub struct FaultyStore {
    inner: Switched,
    plan: Arc<Mutex<Option<Plan>>>,
    commits: Arc<Mutex<Option<CommitPlan>>>,
    late: Arc<Mutex<Vec<ChangeSet>>>,
    broken: Arc<Mutex<BTreeSet<String>>>,
    asked: Arc<Mutex<BTreeSet<String>>>,
    hangs: Arc<AtomicBool>,
    delay: Arc<Mutex<Duration>>,
    shows_until: Arc<Mutex<Option<Timestamp>>>,
}

impl std::fmt::Debug for FaultyStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FaultyStore").finish_non_exhaustive()
    }
}

impl FaultyStore {
    /// Wraps a store. No operation fails until a failure is set.
    pub fn new(inner: Arc<dyn Store>) -> Self {
        Self {
            inner: Switched::new(inner),
            plan: Arc::default(),
            commits: Arc::default(),
            late: Arc::default(),
            broken: Arc::default(),
            asked: Arc::default(),
            hangs: Arc::default(),
            delay: Arc::default(),
            shows_until: Arc::default(),
        }
    }

    /// Takes another store in place of the wrapped one, also in all clones: what it held was moved
    /// there.
    ///
    /// # Panics
    ///
    /// If this is called more than fifteen times.
    pub fn switch_to(&self, store: Arc<dyn Store>) {
        self.inner.switch_to(store);
    }

    /// Calls `plan` for the outcome of every later operation.
    pub fn plan(&self, plan: impl FnMut(StoreOp) -> Option<StoreFailure> + Send + 'static) {
        *locked(&self.plan) = Some(Box::new(plan));
    }

    /// Calls `plan` for the outcome of every later commit, with its changes. It is called before
    /// the other plan.
    pub fn plan_commits(
        &self,
        plan: impl FnMut(&ChangeSet) -> Option<StoreFailure> + Send + 'static,
    ) {
        *locked(&self.commits) = Some(Box::new(plan));
    }

    /// Applies the commits that were under way when their connection broke
    /// ([`StoreFailure::UnknownLate`]). A commit that has a conflict by now changes nothing.
    /// Answers how many were applied.
    ///
    /// # Errors
    ///
    /// If the wrapped store fails.
    pub async fn land(&self) -> Result<usize, StoreError> {
        let late = std::mem::take(&mut *locked(&self.late));
        let mut landed = 0;
        for changes in late {
            match self.inner.commit(changes).await {
                Ok(()) => landed += 1,
                Err(CommitError::Conflict(_)) => {}
                Err(CommitError::Store(error)) => return Err(error),
            }
        }
        Ok(landed)
    }

    /// Makes the `n`-th operation of a kind from now fail, counted from 0.
    pub fn fail_nth(&self, op: StoreOp, n: u64, failure: StoreFailure) {
        let mut seen = 0;
        self.plan(move |asked| {
            if asked != op {
                return None;
            }
            seen += 1;
            (seen == n + 1).then_some(failure)
        });
    }

    /// Makes every operation fail until [`FaultyStore::heal`].
    pub fn fail_all(&self, failure: StoreFailure) {
        self.plan(move |_| Some(failure));
    }

    /// Makes one read unavailable until [`FaultyStore::heal`], in addition to the plan. `name` is
    /// the name of its method, such as `contact_page`. Reads by key and of all rows are `row of
    /// Contact` and `rows of Worker`. Call this once for each read.
    ///
    /// # Panics
    ///
    /// If no read has this name.
    pub fn fail_read(&self, name: &str) {
        assert!(reads::exists(name), "there is no read called {name}");
        self.broken().insert(name.to_owned());
    }

    /// Lets every later sweep and upkeep wait for an answer that never comes, until
    /// [`FaultyStore::heal`].
    pub fn hang_upkeep(&self) {
        self.hangs.store(true, Ordering::SeqCst);
    }

    /// Makes every later read and commit take so long, until [`FaultyStore::heal`]: of the time
    /// that passes, not of a test clock, because what measures calls measures that.
    pub fn delay(&self, by: Duration) {
        *locked(&self.delay) = by;
    }

    /// As a standby, shows its database up to this time from now on.
    pub fn show_until(&self, until: Option<Timestamp>) {
        *locked(&self.shows_until) = until;
    }

    async fn wait(&self) {
        let by = *locked(&self.delay);
        if !by.is_zero() {
            tokio::time::sleep(by).await;
        }
    }

    async fn hang(&self) {
        if self.hangs.load(Ordering::SeqCst) {
            std::future::pending::<()>().await;
        }
    }

    fn note(&self, name: &str) {
        locked(&self.asked).insert(name.to_owned());
    }

    /// The methods that were called. Reads have the names that [`FaultyStore::fail_read`] takes.
    pub fn asked(&self) -> BTreeSet<String> {
        locked(&self.asked).clone()
    }

    /// Makes all reads of contacts unavailable until [`FaultyStore::heal`]: the core then cannot
    /// decide whether a contact may be sent messages.
    pub fn fail_contact_reads(&self) {
        const NAMES: &[&str] = &[
            "row of Contact",
            "contact_record",
            "contact_by_identifier",
            "contact_page",
            "contact_export",
            "draft_facts",
            "channel_contacts",
        ];
        NAMES.iter().for_each(|name| self.fail_read(name));
    }

    /// Ends all failures.
    pub fn heal(&self) {
        *locked(&self.plan) = None;
        *locked(&self.commits) = None;
        self.broken().clear();
        self.hangs.store(false, Ordering::SeqCst);
        self.delay(Duration::ZERO);
    }

    fn broken(&self) -> MutexGuard<'_, BTreeSet<String>> {
        locked(&self.broken)
    }

    fn planned(&self, op: StoreOp) -> Option<StoreFailure> {
        locked(&self.plan).as_mut().and_then(|plan| plan(op))
    }

    fn fate_of(&self, changes: &ChangeSet) -> Option<StoreFailure> {
        let known = locked(&self.commits).as_mut().and_then(|plan| plan(changes));
        known.or_else(|| self.planned(commit_op(changes)))
    }

    /// Makes a read, unless it has to fail. Every failure of a read is `Unavailable`.
    async fn read<T>(
        &self,
        name: &str,
        work: impl Future<Output = Result<T, StoreError>> + Send,
    ) -> Result<T, StoreError> {
        self.note(name);
        self.wait().await;
        if self.broken().contains(name) {
            return Err(unavailable());
        }
        match self.planned(StoreOp::Read) {
            None | Some(StoreFailure::Contended) => {
                let found = work.await;
                // As with a real database, other tasks run between a read and a commit.
                tokio::task::yield_now().await;
                found
            }
            Some(_) => Err(unavailable()),
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn unavailable() -> StoreError {
    StoreError::unavailable("unavailable on demand")
}

fn unknown() -> StoreError {
    StoreError::outcome_unknown("the answer was lost on demand")
}

#[async_trait]
impl Replica for FaultyStore {
    async fn shows_until(&self) -> Result<Option<Timestamp>, StoreError> {
        let until = *locked(&self.shows_until);
        self.read("shows_until", async { Ok(until) }).await
    }
}

#[async_trait]
impl Commit for FaultyStore {
    async fn commit(&self, changes: ChangeSet) -> Result<(), CommitError> {
        self.note("commit");
        self.wait().await;
        match self.fate_of(&changes) {
            None => self.inner.commit(changes).await,
            Some(StoreFailure::Unavailable) => Err(unavailable().into()),
            Some(StoreFailure::UnknownBefore) => Err(unknown().into()),
            Some(StoreFailure::UnknownAfter) => {
                self.inner.commit(changes).await?;
                Err(unknown().into())
            }
            Some(StoreFailure::UnknownLate) => {
                locked(&self.late).push(changes);
                Err(unknown().into())
            }
            Some(StoreFailure::Contended) => Err(Conflict::Contended.into()),
        }
    }
}

#[async_trait]
impl Claims for FaultyStore {
    async fn claim_jobs(
        &self,
        now: Timestamp,
        leased_until: Timestamp,
        limit: u32,
        except: &[&'static str],
    ) -> Result<Vec<Stored<Job>>, StoreError> {
        self.note("claim_jobs");
        match self.planned(StoreOp::Claim) {
            None | Some(StoreFailure::Contended) => {
                self.inner.claim_jobs(now, leased_until, limit, except).await
            }
            Some(StoreFailure::UnknownAfter) => {
                self.inner.claim_jobs(now, leased_until, limit, except).await?;
                Err(unknown())
            }
            Some(
                StoreFailure::Unavailable | StoreFailure::UnknownBefore | StoreFailure::UnknownLate,
            ) => Err(unavailable()),
        }
    }
}

#[async_trait]
impl Upkeep for FaultyStore {
    async fn ready(&self) -> Result<(), StoreError> {
        self.note("ready");
        match self.planned(StoreOp::Upkeep) {
            None => self.inner.ready().await,
            Some(_) => Err(unavailable()),
        }
    }

    async fn upkeep(&self, now: Timestamp) -> Result<(), StoreError> {
        self.note("upkeep");
        self.hang().await;
        match self.planned(StoreOp::Upkeep) {
            None => self.inner.upkeep(now).await,
            Some(_) => Err(unavailable()),
        }
    }
}

impl FaultyStore {
    /// Makes an operation that deletes rows, unless it has to fail.
    async fn clear<T>(
        &self,
        work: impl Future<Output = Result<T, StoreError>> + Send,
    ) -> Result<T, StoreError> {
        self.hang().await;
        match self.planned(StoreOp::Outbox) {
            None | Some(StoreFailure::Contended) => work.await,
            Some(StoreFailure::UnknownAfter) => {
                work.await?;
                Err(unknown())
            }
            Some(
                StoreFailure::Unavailable | StoreFailure::UnknownBefore | StoreFailure::UnknownLate,
            ) => Err(unavailable()),
        }
    }
}

#[async_trait]
impl Outbox for FaultyStore {
    async fn erase_events(
        &self,
        company: CompanyId,
        about: EventsAbout,
        limit: u32,
    ) -> Result<Erased, StoreError> {
        self.note("erase_events");
        self.clear(self.inner.erase_events(company, about, limit)).await
    }

    async fn sweep_outbox(&self, swept: Swept, limit: u32) -> Result<u32, StoreError> {
        self.note("sweep_outbox");
        self.clear(self.inner.sweep_outbox(swept, limit)).await
    }
}

#[async_trait]
impl Signals for FaultyStore {
    fn notify(&self, queues: &[QueueKey]) {
        self.note("notify");
        if self.planned(StoreOp::Notify).is_none() {
            self.inner.notify(queues);
        }
    }

    async fn notified(&self) -> Option<Vec<QueueKey>> {
        self.note("notified");
        self.inner.notified().await
    }
}
