//! How long the store takes, and how often it fails.

use std::sync::Arc;
use std::time::Instant;

use async_trait::async_trait;
use metrics::{Unit, counter, describe_counter, describe_histogram, histogram};
use recado_core::Timestamp;
use recado_core::deliveries::{QueueKey, Signals};
use recado_core::events::{Erased, EventsAbout, Outbox, Swept};
use recado_core::ids::CompanyId;
use recado_core::jobs::Job;
use recado_core::store::{
    ChangeSet, Claims, Commit, CommitError, Store, StoreError, Stored, Upkeep,
};

use crate::traces::Traces;

const DURATION: &str = "recado_store_call_duration_seconds";
const ERRORS: &str = "recado_store_errors_total";
const CONFLICTS: &str = "recado_store_conflicts_total";

/// A kind of call. Single reads have no label: a store has fifty (R281).
#[derive(Clone, Copy)]
enum Call {
    Read,
    Commit,
    Claim,
    Upkeep,
}

impl Call {
    const ALL: [Self; 4] = [Self::Read, Self::Commit, Self::Claim, Self::Upkeep];

    const fn label(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Commit => "commit",
            Self::Claim => "claim",
            Self::Upkeep => "upkeep",
        }
    }
}

/// The label of a failure. That nothing is written while the data is being moved (D76) is none, and
/// neither is that messages of an earlier release cannot be searched yet (R302).
const fn error(error: &StoreError) -> Option<&'static str> {
    match error {
        StoreError::Unavailable(_) => Some("unavailable"),
        StoreError::NotMigrated { .. } => Some("not_migrated"),
        StoreError::OutcomeUnknown(_) => Some("outcome_unknown"),
        StoreError::Corrupt(_) => Some("corrupt"),
        StoreError::Closed | StoreError::NotSearchable => None,
    }
}

pub(super) fn describe() {
    describe_histogram!(DURATION, Unit::Seconds, "How long calls of the store took, by kind.");
    describe_counter!(ERRORS, Unit::Count, "Calls of the store that failed, by kind and error.");
    describe_counter!(
        CONFLICTS,
        Unit::Count,
        "Commits whose facts had changed meanwhile; they are decided again."
    );
    counter!(CONFLICTS).increment(0);
    for call in Call::ALL {
        for error in ["unavailable", "outcome_unknown", "not_migrated", "corrupt"] {
            counter!(ERRORS, "call" => call.label(), "error" => error).increment(0);
        }
    }
}

/// A store whose calls are timed and counted, and whose commits have spans.
pub(crate) struct TimedStore(Arc<dyn Store>, Traces);

impl TimedStore {
    /// Wraps a store.
    pub(crate) fn new(store: Arc<dyn Store>, traces: Traces) -> Self {
        Self(store, traces)
    }
}

fn failed(call: Call, cause: &StoreError) {
    if let Some(error) = error(cause) {
        counter!(ERRORS, "call" => call.label(), "error" => error).increment(1);
    }
}

async fn timed<T>(
    call: Call,
    work: impl Future<Output = Result<T, StoreError>> + Send,
) -> Result<T, StoreError> {
    let begun = Instant::now();
    let answer = work.await;
    histogram!(DURATION, "call" => call.label()).record(begun.elapsed().as_secs_f64());
    answer.inspect_err(|cause| failed(call, cause))
}

/// Implements every read.
macro_rules! reads {
    ($($trait:ident($path:path) {
        $(fn $name:ident($($arg:ident: $type:ty),* $(,)?) -> $answer:ty;)+
    })+) => {
        $(
            #[async_trait]
            impl $path for TimedStore {
                $(async fn $name(&self, $($arg: $type),*) -> Result<$answer, StoreError> {
                    timed(Call::Read, self.0.$name($($arg),*)).await
                })+
            }
        )+
    };
}
recado_core::for_each_read!(reads);

#[async_trait]
impl Commit for TimedStore {
    async fn commit(&self, changes: ChangeSet) -> Result<(), CommitError> {
        let begun = Instant::now();
        let answer = self.1.commit(&*self.0, changes).await;
        histogram!(DURATION, "call" => Call::Commit.label()).record(begun.elapsed().as_secs_f64());
        match &answer {
            Ok(()) => {}
            Err(CommitError::Conflict(_)) => counter!(CONFLICTS).increment(1),
            Err(CommitError::Store(cause)) => failed(Call::Commit, cause),
        }
        answer
    }
}

#[async_trait]
impl Claims for TimedStore {
    async fn claim_jobs(
        &self,
        now: Timestamp,
        leased_until: Timestamp,
        limit: u32,
        except: &[&'static str],
    ) -> Result<Vec<Stored<Job>>, StoreError> {
        let claiming = self.0.claim_jobs(now, leased_until, limit, except);
        let claimed = timed(Call::Claim, claiming).await;
        claimed.inspect(|jobs| self.1.claimed(jobs))
    }
}

#[async_trait]
impl Upkeep for TimedStore {
    async fn ready(&self) -> Result<(), StoreError> {
        timed(Call::Upkeep, self.0.ready()).await
    }

    async fn upkeep(&self, now: Timestamp) -> Result<(), StoreError> {
        timed(Call::Upkeep, self.0.upkeep(now)).await
    }
}

#[async_trait]
impl Outbox for TimedStore {
    async fn erase_events(
        &self,
        company: CompanyId,
        about: EventsAbout,
        limit: u32,
    ) -> Result<Erased, StoreError> {
        timed(Call::Upkeep, self.0.erase_events(company, about, limit)).await
    }

    async fn sweep_outbox(&self, swept: Swept, limit: u32) -> Result<u32, StoreError> {
        timed(Call::Upkeep, self.0.sweep_outbox(swept, limit)).await
    }
}

// A notification is no call that is waited for.
#[async_trait]
impl Signals for TimedStore {
    fn notify(&self, queues: &[QueueKey]) {
        self.0.notify(queues);
    }

    async fn notified(&self) -> Option<Vec<QueueKey>> {
        self.0.notified().await
    }
}
