//! Which loops a process runs.

use std::fmt;
use std::future::Future;
use std::time::Duration;

use recado_core::audit::Acting;
use recado_core::store::StoreError;
use recado_core::{Installation, Recado};
#[cfg(feature = "simulated")]
use recado_providers::simulated::Reports;
use tokio::sync::watch;

use super::loops::Loops;
use super::{Background, jobs, runner};
use crate::timer::TokioTimer;

/// The runners, as logs name them.
const DELIVERY_WORKER: &str = "delivery_worker";
const CAMPAIGNS: &str = "campaigns";
/// How often the lease of this process is renewed.
const BEAT: Duration = Duration::from_millis(1_500);
/// After how long a renewal that failed is tried again: often enough that a process keeps its
/// shards through a trouble shorter than what is left of their four seconds.
const BEAT_AFTER_FAILURE: Duration = Duration::from_millis(500);
/// How often messages are searched for whose sending process has ended.
const RECOVERY: Duration = Duration::from_secs(2);
/// How often the store gets its upkeep.
const UPKEEP: Duration = Duration::from_secs(2);
/// How often connections without the jobs that repeat for them are searched for.
const CONNECTIONS: Duration = Duration::from_secs(60 * 60);
/// How often uploads are searched for that nobody has any more.
const UPLOADS: Duration = Duration::from_secs(60);
/// How often finished deliveries and events are searched for that are older than the retention.
const RETENTION: Duration = Duration::from_secs(10);
/// How often messages, clicks and ledger lines are searched for that are not kept any longer.
const RECORDS: Duration = Duration::from_secs(60);
/// How often organizations are searched for that no contact has any more.
const ORGANIZATIONS: Duration = Duration::from_secs(60 * 60);
/// How long work in flight may take once a stop has begun. With the recording of what is left, a
/// stop takes less than the 30 seconds that most supervisors allow.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(27);

type AddLoop = Box<dyn FnOnce(&mut Loops) + Send>;

/// Chooses what a [`Background`] runs. Made by [`Background::builder`].
#[must_use]
pub struct BackgroundBuilder {
    recado: Recado,
    drain_timeout: Duration,
    is_idle: bool,
    own: Vec<AddLoop>,
    #[cfg(feature = "simulated")]
    reports: Option<Reports>,
}

impl fmt::Debug for BackgroundBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BackgroundBuilder")
            .field("drain_timeout", &self.drain_timeout)
            .field("is_idle", &self.is_idle)
            .finish_non_exhaustive()
    }
}

impl BackgroundBuilder {
    pub(super) fn new(installation: &Installation) -> Self {
        Self {
            recado: installation.by(Acting::system("background")),
            drain_timeout: DRAIN_TIMEOUT,
            is_idle: false,
            own: Vec::new(),
            #[cfg(feature = "simulated")]
            reports: None,
        }
    }

    /// How long work in flight may take once a stop has begun; 27 seconds unless set.
    pub fn drain_timeout(mut self, timeout: Duration) -> Self {
        self.drain_timeout = timeout;
        self
    }

    /// Repeats a step of the host program until the stop: at once while it returns `true`, after
    /// `idle` when it returns `false`, and after growing waits while it fails. Logs name it `name`.
    pub fn every<F>(
        mut self,
        name: &'static str,
        idle: Duration,
        step: impl Fn() -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<bool, StoreError>> + Send + 'static,
    {
        self.own.push(Box::new(move |loops| loops.add(name, idle, step)));
        self
    }

    /// Passes the reports of the simulated gateway to the core, as a real gateway does by its
    /// webhook.
    #[cfg(feature = "simulated")]
    pub fn reports(mut self, reports: Reports) -> Self {
        self.reports = Some(reports);
        self
    }

    /// Runs no loop at all: for tests that run the steps themselves. A stop still waits for sends
    /// in flight and records them.
    pub fn idle(mut self) -> Self {
        self.is_idle = true;
        self
    }

    /// Spawns it on the current tokio runtime.
    pub fn spawn(self) -> Background {
        let (mut work, mut support) = (Loops::new(), Loops::new());
        if !self.is_idle {
            add_work(&mut work, &self.recado);
            self.own.into_iter().for_each(|add| add(&mut work));
            add_lease(&mut support, &self.recado);
            #[cfg(feature = "simulated")]
            if let Some(reports) = self.reports {
                let recado = self.recado.clone();
                support.spawn(|stop| super::reports::run(recado, reports, stop));
            }
        }
        let stop = watch::Sender::new(false);
        let (recado, drain_timeout) = (self.recado, self.drain_timeout);
        Background { recado, stop, servers: Vec::new(), work, support, drain_timeout }
    }
}

/// Adds the loops that end when a stop begins.
fn add_work(loops: &mut Loops, recado: &Recado) {
    let jobs = recado.clone();
    let step = move || {
        let recado = jobs.clone();
        async move { recado.jobs().run_one().await }
    };
    loops.spawn(|stop| jobs::run(step, stop));
    let sending = recado.clone();
    loops.add("recovery", RECOVERY, move || {
        let recado = sending.clone();
        async move { recado.sending().recover().await }
    });
    let webhooks = recado.clone();
    let worker = move |stop: watch::Receiver<bool>| {
        let recado = webhooks.clone();
        let timer = TokioTimer::named(DELIVERY_WORKER);
        async move { recado.deliveries().run(&timer, runner::stopping(stop)).await }
    };
    loops.spawn(|stop| runner::run(DELIVERY_WORKER, worker, stop));
    let campaigns = recado.clone();
    let campaigns = move |stop: watch::Receiver<bool>| {
        let recado = campaigns.clone();
        let timer = TokioTimer::named(CAMPAIGNS);
        async move { recado.campaigns().run(&timer, runner::stopping(stop)).await }
    };
    loops.spawn(|stop| runner::run(CAMPAIGNS, campaigns, stop));
    let deliveries = recado.clone();
    loops.add("retention", RETENTION, move || {
        let recado = deliveries.clone();
        async move { recado.deliveries().sweep().await }
    });
    let records = recado.clone();
    loops.add_shared("records", RECORDS, move || {
        let recado = records.clone();
        async move { recado.retention().sweep().await }
    });
    let audit = recado.clone();
    loops.add("audit_log", RECORDS, move || {
        let recado = audit.clone();
        async move { recado.audit().sweep().await }
    });
    let organizations = recado.clone();
    loops.add_shared("organizations", ORGANIZATIONS, move || {
        let recado = organizations.clone();
        async move { recado.retention().sweep_organizations().await }
    });
    let uploads = recado.clone();
    loops.add_shared("uploads", UPLOADS, move || {
        let recado = uploads.clone();
        async move { recado.uploads().sweep().await }
    });
    let store = recado.clone();
    loops.add("upkeep", UPKEEP, move || {
        let recado = store.clone();
        async move { recado.upkeep().await.map(|()| false) }
    });
    let connections = recado.clone();
    loops.add_shared("connections", CONNECTIONS, move || {
        let recado = connections.clone();
        async move { recado.connections().ensure_jobs().await.map(|_| false) }
    });
}

/// Adds the loops that go on while a stop waits for work in flight. The lease is renewed in a task
/// of its own, so that no slow step lets it lapse.
fn add_lease(loops: &mut Loops, recado: &Recado) {
    let workers = recado.clone();
    loops.add_steady("lease", BEAT, BEAT_AFTER_FAILURE, move || {
        let recado = workers.clone();
        async move { recado.workers().renew().await.map(|()| false) }
    });
}
