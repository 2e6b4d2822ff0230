//! What a server does beside answering: its lease, recovery, due jobs, deliveries to webhooks,
//! campaigns, the simulated gateway's reports and the store's upkeep.

mod jobs;
mod reports;
mod runner;

use std::future::Future;
use std::time::Duration;

use recado_core::Recado;
use recado_core::messages::left_sent_between;
use recado_core::store::StoreError;
use recado_providers::simulated::Reports;
use tokio::sync::watch;
use tokio::task::{JoinError, JoinSet};

use crate::causes::causes;
use crate::timer::TokioTimer;

/// The runners, as logs name them.
const DISPATCHER: &str = "dispatcher";
const CAMPAIGNS: &str = "campaigns";
/// How often the lease of this process is renewed.
const BEAT: Duration = Duration::from_secs(3);
/// How often messages are looked for whose sender has died.
const RECOVERY: Duration = Duration::from_secs(2);
/// How often the store gets its upkeep.
const UPKEEP: Duration = Duration::from_secs(2);
/// How often it is looked for connections without the jobs that come back for them.
const CONNECTIONS: Duration = Duration::from_secs(60 * 60);
/// How often it is counted which messages are sent and no further.
const LEFT_SENT: Duration = Duration::from_secs(60);
/// How often settled deliveries and events are looked for that are older than the retention.
const RETENTION: Duration = Duration::from_secs(10);
/// The longest wait after failures.
const MAX_WAIT: Duration = Duration::from_secs(15);

/// The background loops of a server.
#[derive(Debug)]
pub(crate) struct Loops {
    stop: watch::Sender<bool>,
    tasks: JoinSet<()>,
}

impl Loops {
    /// No loop at all.
    pub(crate) fn none() -> Self {
        Self { stop: watch::Sender::new(false), tasks: JoinSet::new() }
    }

    /// Spawns those that end when a stop begins.
    pub(crate) fn work(recado: &Recado) -> Self {
        let mut loops = Self::none();
        let jobs = recado.clone();
        let step = move || {
            let recado = jobs.clone();
            async move { recado.jobs().run_one().await }
        };
        loops.tasks.spawn(jobs::run(step, loops.stop.subscribe()));
        let sending = recado.clone();
        loops.add("recovery", RECOVERY, move || {
            let recado = sending.clone();
            async move { recado.sending().recover().await }
        });
        let webhooks = recado.clone();
        let worker = move |stop: watch::Receiver<bool>| {
            let recado = webhooks.clone();
            let timer = TokioTimer::named(DISPATCHER);
            async move { recado.deliveries().run(&timer, runner::stopping(stop)).await }
        };
        loops.tasks.spawn(runner::run(DISPATCHER, worker, loops.stop.subscribe()));
        let campaigns = recado.clone();
        let campaigns = move |stop: watch::Receiver<bool>| {
            let recado = campaigns.clone();
            let timer = TokioTimer::named(CAMPAIGNS);
            async move { recado.campaigns().run(&timer, runner::stopping(stop)).await }
        };
        loops.tasks.spawn(runner::run(CAMPAIGNS, campaigns, loops.stop.subscribe()));
        let deliveries = recado.clone();
        loops.add("retention", RETENTION, move || {
            let recado = deliveries.clone();
            async move { recado.deliveries().sweep().await }
        });
        let store = recado.clone();
        loops.add("upkeep", UPKEEP, move || {
            let recado = store.clone();
            async move {
                crate::metrics::recorder().run_upkeep();
                recado.upkeep().await.map(|()| false)
            }
        });
        let connections = recado.clone();
        loops.add("connections", CONNECTIONS, move || {
            let recado = connections.clone();
            async move { recado.connections().ensure_jobs().await.map(|_| false) }
        });
        let messages = recado.clone();
        loops.add("messages left sent", LEFT_SENT, move || {
            let recado = messages.clone();
            async move {
                let (from, to) = left_sent_between(recado.now());
                let left = recado.store().messages_left_sent(from, to);
                crate::metrics::left_sent(left.await?);
                Ok(false)
            }
        });
        loops
    }

    /// Spawns those that go on while a stop lets messages in flight finish.
    pub(crate) fn support(recado: &Recado, reports: Option<Reports>) -> Self {
        let mut loops = Self::none();
        let workers = recado.clone();
        loops.add("lease", BEAT, move || {
            let recado = workers.clone();
            async move { recado.workers().renew().await.map(|()| false) }
        });
        if let Some(reports) = reports {
            loops.tasks.spawn(reports::run(recado.clone(), reports, loops.stop.subscribe()));
        }
        loops
    }

    /// Repeats `step` until the stop: at once while there is more to do, after `idle` when there is
    /// not, and after growing waits while it fails.
    fn add<F>(
        &mut self,
        name: &'static str,
        idle: Duration,
        step: impl Fn() -> F + Send + Sync + 'static,
    ) where
        F: Future<Output = Result<bool, StoreError>> + Send + 'static,
    {
        let mut stop = self.stop.subscribe();
        self.tasks.spawn(async move {
            let mut failures = 0;
            while !*stop.borrow() {
                // A task of its own, so that a panic fails one step and not the loop.
                let ended = tokio::spawn(step()).await;
                let wait = match outcome(name, ended, &mut failures) {
                    RoundOutcome::More => Duration::ZERO,
                    RoundOutcome::Idle => idle,
                    RoundOutcome::Failed => backoff(idle, failures),
                };
                tokio::select! {
                    _ = stop.changed() => {}
                    () = tokio::time::sleep(wait) => {}
                }
            }
        });
    }

    /// Lets every loop finish what it is at, and ends it.
    pub(crate) async fn stop(mut self) {
        self.stop.send_replace(true);
        while self.tasks.join_next().await.is_some() {}
    }
}

/// The wait after `failures` failures in a row: doubling, bounded.
fn backoff(idle: Duration, failures: u32) -> Duration {
    idle.saturating_mul(2_u32.saturating_pow(failures)).min(MAX_WAIT)
}

/// What a step showed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RoundOutcome {
    /// There may be more to do.
    More,
    /// There is not.
    Idle,
    /// It failed.
    Failed,
}

/// Reads how a step of this task ended, logs a failure and counts those in a row.
fn outcome(
    task: &'static str,
    ended: Result<Result<bool, StoreError>, JoinError>,
    failures: &mut u32,
) -> RoundOutcome {
    match ended {
        Ok(Ok(more)) => {
            if *failures > 0 {
                tracing::info!(task, "works again");
            }
            *failures = 0;
            if more { RoundOutcome::More } else { RoundOutcome::Idle }
        }
        Ok(Err(error)) => {
            let error = causes(&error);
            tracing::warn!(task, failures, error, "failed");
            *failures += 1;
            RoundOutcome::Failed
        }
        Err(_) => {
            tracing::error!(task, failures, "panicked");
            *failures += 1;
            RoundOutcome::Failed
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const IDLE: Duration = Duration::from_millis(250);

    #[test]
    fn the_wait_after_failures_doubles_and_is_bounded() {
        let waits: Vec<u128> = (1..=8).map(|n| backoff(IDLE, n).as_millis()).collect();
        assert_eq!(waits, [500, 1000, 2000, 4000, 8000, 15_000, 15_000, 15_000]);
        assert_eq!(backoff(UPKEEP, u32::MAX), MAX_WAIT);
    }

    #[tokio::test(start_paused = true)]
    async fn a_step_that_panics_does_not_end_its_loop() {
        use std::sync::Arc;
        use std::sync::atomic::{AtomicU32, Ordering};
        let steps = Arc::new(AtomicU32::new(0));
        let (counted, reached) = (steps.clone(), Arc::new(tokio::sync::Notify::new()));
        let notify = reached.clone();
        let mut loops = Loops::none();
        loops.add("test", IDLE, move || {
            let (steps, reached) = (counted.clone(), notify.clone());
            async move {
                match steps.fetch_add(1, Ordering::SeqCst) {
                    0 => panic!("a defect"),
                    1 => Err(StoreError::corrupt("a failure")),
                    _ => {
                        reached.notify_one();
                        Ok(false)
                    }
                }
            }
        });
        reached.notified().await;
        loops.stop().await;
        assert!(steps.load(Ordering::SeqCst) >= 3);
    }
}
