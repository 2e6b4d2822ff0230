//! Running due jobs, several at once, so that jobs that wait for a slow server (a registry, a
//! gateway's file) do not delay the others.

use std::future::Future;
use std::time::Duration;

use recado_core::store::StoreError;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};
use tracing::Instrument;
use tracing::field::Empty;

use super::loops::{RoundOutcome, backoff, outcome};

const NAME: &str = "jobs";
/// How many jobs are worked on at once.
const MAX_AT_ONCE: usize = 16;
/// How often due jobs are searched for while none is known.
const IDLE: Duration = Duration::from_millis(250);

/// Runs steps until the stop, then finishes those it has begun. A step works on one due job and
/// returns whether there was one.
pub(super) async fn run<F>(step: impl Fn() -> F + Send, mut stop: watch::Receiver<bool>)
where
    F: Future<Output = Result<bool, StoreError>> + Send + 'static,
{
    let mut steps = JoinSet::new();
    let mut failures = 0;
    let mut next_poll = Instant::now();
    while !*stop.borrow() {
        tokio::select! {
            _ = stop.changed() => {}
            // However long the running steps take, another one is begun at this interval.
            () = sleep_until(next_poll) => {
                begin(&mut steps, &step);
                next_poll = Instant::now() + IDLE;
            }
            Some(ended) = steps.join_next() => match outcome(NAME, ended, &mut failures) {
                RoundOutcome::More => {
                    // After a job was found there may be many: two more steps are begun.
                    begin(&mut steps, &step);
                    begin(&mut steps, &step);
                }
                RoundOutcome::Idle => {}
                RoundOutcome::Failed => next_poll = Instant::now() + backoff(IDLE, failures),
            },
        }
    }
    while steps.join_next().await.is_some() {}
}

/// Begins a step, unless the maximum is under way.
fn begin<F>(steps: &mut JoinSet<Result<bool, StoreError>>, step: &impl Fn() -> F)
where
    F: Future<Output = Result<bool, StoreError>> + Send + 'static,
{
    if steps.len() < MAX_AT_ONCE {
        // Who claims jobs says which one it is (R310).
        let span = tracing::trace_span!(
            target: "recado::trace",
            parent: None,
            "job",
            recado.job = Empty
        );
        steps.spawn(step().instrument(span));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use tokio::sync::Notify;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn jobs_that_hang_do_not_keep_the_others_waiting() {
        let (stop, stopping) = watch::channel(false);
        let begun = Arc::new(AtomicUsize::new(0));
        let (counted, release) = (begun.clone(), Arc::new(Notify::new()));
        let hang = release.clone();
        let running = tokio::spawn(run(
            move || {
                let (number, hang) = (counted.fetch_add(1, Ordering::SeqCst), hang.clone());
                async move {
                    // The first ten never end, the others end at once.
                    if number < 10 {
                        hang.notified().await;
                    }
                    Ok(number < 110)
                }
            },
            stopping,
        ));
        tokio::time::sleep(IDLE * 15).await;
        assert!(begun.load(Ordering::SeqCst) > 110, "{begun:?}");
        stop.send_replace(true);
        release.notify_waiters();
        running.await.expect("it ends when what it has begun is finished");
    }

    #[tokio::test(start_paused = true)]
    async fn no_more_than_so_many_are_under_way() {
        let (stop, stopping) = watch::channel(false);
        let under_way = Arc::new(AtomicUsize::new(0));
        let counted = under_way.clone();
        let running = tokio::spawn(run(
            move || {
                counted.fetch_add(1, Ordering::SeqCst);
                std::future::pending::<Result<bool, StoreError>>()
            },
            stopping,
        ));
        tokio::time::sleep(IDLE * 100).await;
        assert_eq!(under_way.load(Ordering::SeqCst), MAX_AT_ONCE);
        running.abort();
        drop(stop);
    }

    #[tokio::test(start_paused = true)]
    async fn an_idle_system_is_asked_four_times_a_second() {
        let (stop, stopping) = watch::channel(false);
        let polls = Arc::new(AtomicUsize::new(0));
        let counted = polls.clone();
        let running = tokio::spawn(run(
            move || {
                counted.fetch_add(1, Ordering::SeqCst);
                async { Ok(false) }
            },
            stopping,
        ));
        tokio::time::sleep(Duration::from_secs(10)).await;
        assert!((38..=42).contains(&polls.load(Ordering::SeqCst)), "{polls:?}");
        stop.send_replace(true);
        running.await.expect("it ends");
    }
}
