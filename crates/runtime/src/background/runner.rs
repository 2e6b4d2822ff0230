//! Runners that run as long as the process: the delivery worker and the runner of campaigns. Each
//! is started again if it ends before the stop.

use std::future::Future;
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::JoinSet;

use super::loops::backoff;

/// The wait before a restart; it doubles with each restart in a row.
const PAUSE: Duration = Duration::from_millis(250);
/// A runner that ran for so long counts as successful: the wait starts anew.
const WORKED: Duration = Duration::from_secs(60);

/// Runs runners, one at a time, until the stop, and then waits for the current one. A runner gets a
/// future that ends when it has to stop. Dropping this future aborts the runner.
pub(super) async fn run<F>(
    task: &'static str,
    runner: impl Fn(watch::Receiver<bool>) -> F + Send,
    mut stop: watch::Receiver<bool>,
) where
    F: Future<Output = ()> + Send + 'static,
{
    let mut failures = 0;
    // A task of its own, so that a panic ends one runner and not the loop.
    let mut running = JoinSet::new();
    while !*stop.borrow() {
        let begun = tokio::time::Instant::now();
        running.spawn(runner(stop.clone()));
        let ended = running.join_next().await;
        if *stop.borrow() {
            return;
        }
        if begun.elapsed() >= WORKED {
            failures = 0;
        }
        failures += 1;
        let panicked = matches!(ended, Some(Err(_)));
        tracing::error!(task, failures, panicked, "ended, and is begun again");
        tokio::select! {
            _ = stop.changed() => {}
            () = tokio::time::sleep(backoff(PAUSE, failures)) => {}
        }
    }
}

/// Waits for the stop.
pub(super) async fn stopping(mut stop: watch::Receiver<bool>) {
    // An error means that the sender was dropped, which is a stop as well.
    let _ = stop.wait_for(|stopping| *stopping).await;
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    use tokio::sync::Notify;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_runner_that_panics_or_ends_is_begun_again() {
        let (stop, stopped) = watch::channel(false);
        let (begun, third) = (Arc::new(AtomicU32::new(0)), Arc::new(Notify::new()));
        let (counted, reached) = (begun.clone(), third.clone());
        let running = tokio::spawn(run(
            "test",
            move |stop| {
                let (number, reached) = (counted.fetch_add(1, Ordering::SeqCst), reached.clone());
                async move {
                    match number {
                        0 => panic!("a defect"),
                        1 => {}
                        _ => {
                            reached.notify_one();
                            stopping(stop).await;
                        }
                    }
                }
            },
            stopped,
        ));
        third.notified().await;
        stop.send_replace(true);
        running.await.expect("it ends with its runner");
        assert_eq!(begun.load(Ordering::SeqCst), 3);
    }

    #[tokio::test(start_paused = true)]
    async fn a_stop_waits_for_what_the_runner_is_at() {
        let (stop, stopped) = watch::channel(false);
        let finished = Arc::new(AtomicU32::new(0));
        let counted = finished.clone();
        let running = tokio::spawn(run(
            "test",
            move |stop| {
                let finished = counted.clone();
                async move {
                    stopping(stop).await;
                    tokio::time::sleep(Duration::from_secs(9)).await;
                    finished.fetch_add(1, Ordering::SeqCst);
                }
            },
            stopped,
        ));
        tokio::task::yield_now().await;
        stop.send_replace(true);
        running.await.expect("it ends");
        assert_eq!(finished.load(Ordering::SeqCst), 1);
    }
}
