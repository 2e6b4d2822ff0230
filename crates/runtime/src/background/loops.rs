//! Loops: steps that are repeated until a stop.

use std::future::{Future, pending};
use std::time::Duration;

use recado_core::store::StoreError;
use recado_core::workers::SHARD_LEASE;
use tokio::sync::watch;
use tokio::task::{JoinError, JoinSet};

use crate::causes::causes;

/// The longest wait after failures.
const MAX_WAIT: Duration = Duration::from_secs(15);

/// After how long a process that died before this one started keeps no shards any more, and those
/// that were started with it are known.
const SETTLED: Duration = SHARD_LEASE.saturating_add(Duration::from_secs(1));

/// Loops that end together. Dropping it aborts them.
#[derive(Debug)]
pub(super) struct Loops {
    stop: watch::Sender<bool>,
    tasks: JoinSet<()>,
}

impl Loops {
    /// No loop yet.
    pub(super) fn new() -> Self {
        Self { stop: watch::Sender::new(false), tasks: JoinSet::new() }
    }

    /// Spawns a custom loop, which gets the receiver of the stop signal.
    pub(super) fn spawn<F>(&mut self, run: impl FnOnce(watch::Receiver<bool>) -> F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        self.tasks.spawn(run(self.stop.subscribe()));
    }

    /// Repeats `step` until the stop: at once while there is more to do, after `idle` when there is
    /// not, and after growing waits while it fails.
    pub(super) fn add<F>(
        &mut self,
        name: &'static str,
        idle: Duration,
        step: impl Fn() -> F + Send + Sync + 'static,
    ) where
        F: Future<Output = Result<bool, StoreError>> + Send + 'static,
    {
        self.repeat(name, Duration::ZERO, idle, move |failures| backoff(idle, failures), step);
    }

    /// The same for steps that processes share out among themselves by shards. The first round is a
    /// few seconds after the start: by then this process knows the others that were started at the
    /// same time, and one that died before keeps no shards any more (R456).
    pub(super) fn add_shared<F>(
        &mut self,
        name: &'static str,
        idle: Duration,
        step: impl Fn() -> F + Send + Sync + 'static,
    ) where
        F: Future<Output = Result<bool, StoreError>> + Send + 'static,
    {
        let first = SETTLED.min(idle);
        self.repeat(name, first, idle, move |failures| backoff(idle, failures), step);
    }

    /// The same, but that a step that failed is tried again after the same short wait each time:
    /// for what a time limit runs against.
    pub(super) fn add_steady<F>(
        &mut self,
        name: &'static str,
        idle: Duration,
        retry: Duration,
        step: impl Fn() -> F + Send + Sync + 'static,
    ) where
        F: Future<Output = Result<bool, StoreError>> + Send + 'static,
    {
        self.repeat(name, Duration::ZERO, idle, move |_| retry, step);
    }

    /// Repeats `step`, for the first time after the wait `first`; `idle` is the wait after a round
    /// with nothing more to do, `after_failures` the one after so many failures in a row.
    fn repeat<F>(
        &mut self,
        name: &'static str,
        first: Duration,
        idle: Duration,
        after_failures: impl Fn(u32) -> Duration + Send + Sync + 'static,
        step: impl Fn() -> F + Send + Sync + 'static,
    ) where
        F: Future<Output = Result<bool, StoreError>> + Send + 'static,
    {
        self.spawn(|mut stop| async move {
            let (mut failures, mut wait) = (0, first);
            while !*stop.borrow() {
                tokio::select! {
                    _ = stop.changed() => continue,
                    () = tokio::time::sleep(wait) => {}
                }
                // A task of its own, so that a panic fails one step and not the loop.
                let ended = tokio::spawn(step()).await;
                wait = match outcome(name, ended, &mut failures) {
                    RoundOutcome::More => Duration::ZERO,
                    RoundOutcome::Idle => idle,
                    RoundOutcome::Failed => after_failures(failures),
                };
            }
        });
    }

    /// Waits until one of them has ended, before the stop only by a defect. Without a loop it waits
    /// for ever.
    pub(super) async fn ended(&mut self) {
        if self.tasks.join_next().await.is_none() {
            pending::<()>().await;
        }
    }

    /// Signals every loop to end after its current step.
    pub(super) fn begin_to_stop(&self) {
        self.stop.send_replace(true);
    }

    /// Ends every loop and waits for its current step.
    pub(super) async fn stop(mut self) {
        self.begin_to_stop();
        while self.tasks.join_next().await.is_some() {}
    }
}

/// The wait after `failures` failures in a row: doubling, bounded.
pub(super) fn backoff(idle: Duration, failures: u32) -> Duration {
    idle.saturating_mul(2_u32.saturating_pow(failures)).min(MAX_WAIT)
}

/// The outcome of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RoundOutcome {
    /// There may be more to do.
    More,
    /// There is nothing to do now.
    Idle,
    /// It failed.
    Failed,
}

/// The outcome of a step of this task. Logs a failure and counts failures in a row.
pub(super) fn outcome(
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
        // D76: there is nothing to write until a move has ended.
        Ok(Err(StoreError::Closed)) => RoundOutcome::Idle,
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
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::sync::{Arc, Mutex};

    use super::*;

    const IDLE: Duration = Duration::from_millis(250);

    #[test]
    fn the_wait_after_failures_doubles_and_is_bounded() {
        let waits: Vec<u128> = (1..=8).map(|n| backoff(IDLE, n).as_millis()).collect();
        assert_eq!(waits, [500, 1000, 2000, 4000, 8000, 15_000, 15_000, 15_000]);
        assert_eq!(backoff(Duration::from_secs(2), u32::MAX), MAX_WAIT);
    }

    #[tokio::test(start_paused = true)]
    async fn a_steady_loop_keeps_its_beat_while_its_step_fails() {
        let (reached, times) = (Arc::new(tokio::sync::Notify::new()), Arc::new(Mutex::default()));
        let (notify, noted): (_, Arc<Mutex<Vec<u64>>>) = (reached.clone(), times.clone());
        let began = tokio::time::Instant::now();
        let mut loops = Loops::new();
        loops.add_steady("test", Duration::from_secs(3), Duration::from_secs(1), move || {
            let (noted, reached) = (noted.clone(), notify.clone());
            async move {
                let mut noted = noted.lock().expect("nobody panicked");
                noted.push(began.elapsed().as_secs());
                match noted.len() {
                    1 | 12 => Ok(false),
                    13 => {
                        reached.notify_one();
                        Ok(false)
                    }
                    _ => Err(StoreError::corrupt("a failure")),
                }
            }
        });
        reached.notified().await;
        loops.stop().await;
        let times = times.lock().expect("nobody panicked");
        assert_eq!(times[..13], [0, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 16]);
    }

    /// R456.
    #[tokio::test(start_paused = true)]
    async fn a_shared_loop_begins_once_a_dead_process_keeps_no_shards() {
        let (reached, times) = (Arc::new(tokio::sync::Notify::new()), Arc::new(Mutex::default()));
        let (notify, noted): (_, Arc<Mutex<Vec<u64>>>) = (reached.clone(), times.clone());
        let began = tokio::time::Instant::now();
        let mut loops = Loops::new();
        loops.add_shared("test", Duration::from_secs(60), move || {
            let (noted, reached) = (noted.clone(), notify.clone());
            async move {
                let mut noted = noted.lock().expect("nobody panicked");
                noted.push(began.elapsed().as_secs());
                if noted.len() == 4 {
                    reached.notify_one();
                }
                Ok(false)
            }
        });
        reached.notified().await;
        loops.stop().await;
        let times = times.lock().expect("nobody panicked");
        assert_eq!(times[..4], [5, 65, 125, 185]);
        assert!(Duration::from_secs(times[0]) > SHARD_LEASE);
    }

    /// R162.
    #[tokio::test(start_paused = true)]
    async fn a_loop_that_ends_before_the_stop_is_noticed() {
        let mut loops = Loops::new();
        loops.add("test", IDLE, || async { Ok(false) });
        let running = tokio::time::timeout(Duration::from_secs(60), loops.ended()).await;
        assert!(running.is_err(), "a loop that runs has not ended");
        loops.spawn(|_| async { panic!("a defect of the loop itself") });
        let noticed = tokio::time::timeout(Duration::from_secs(60), loops.ended()).await;
        noticed.expect("it is noticed");
    }

    #[tokio::test(start_paused = true)]
    async fn a_step_that_panics_does_not_end_its_loop() {
        let steps = Arc::new(AtomicU32::new(0));
        let (counted, reached) = (steps.clone(), Arc::new(tokio::sync::Notify::new()));
        let notify = reached.clone();
        let mut loops = Loops::new();
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
