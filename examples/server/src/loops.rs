//! What a server does beside answering: due jobs and the store's upkeep.

use std::future::Future;
use std::time::Duration;

use recado_core::Recado;
use recado_core::store::StoreError;
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::causes::causes;

/// How long to wait when no job is due.
const IDLE: Duration = Duration::from_millis(250);
/// How often the store gets its upkeep.
const UPKEEP: Duration = Duration::from_secs(2);
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

    /// Spawns the loops.
    pub(crate) fn spawn(recado: &Recado) -> Self {
        let mut loops = Self::none();
        let jobs = recado.clone();
        loops.add("jobs", IDLE, move || {
            let recado = jobs.clone();
            async move { work(&recado).await }
        });
        let store = recado.clone();
        loops.add("upkeep", UPKEEP, move || {
            let recado = store.clone();
            async move {
                crate::metrics::recorder().run_upkeep();
                recado.store().upkeep(recado.now()).await.map(|()| false)
            }
        });
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
                let wait = match tokio::spawn(step()).await {
                    Ok(Ok(more)) => {
                        if failures > 0 {
                            tracing::info!(task = name, "works again");
                        }
                        failures = 0;
                        if more { Duration::ZERO } else { idle }
                    }
                    Ok(Err(error)) => {
                        let error = causes(&error);
                        tracing::warn!(task = name, failures, error, "failed");
                        failures += 1;
                        backoff(idle, failures)
                    }
                    Err(_) => {
                        tracing::error!(task = name, failures, "panicked");
                        failures += 1;
                        backoff(idle, failures)
                    }
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

/// Works on up to four due jobs side by side, so that a registry that hangs does not keep the
/// others waiting, and tells whether there may be more.
async fn work(recado: &Recado) -> Result<bool, StoreError> {
    if !recado.jobs().run_one().await? {
        return Ok(false);
    }
    let jobs = recado.jobs();
    let (a, b, c, d) = tokio::join!(jobs.run_one(), jobs.run_one(), jobs.run_one(), jobs.run_one());
    Ok(a? | b? | c? | d?)
}

#[cfg(test)]
mod tests {
    use super::*;

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
