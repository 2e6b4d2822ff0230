//! Tasks of the tokio runtime.

use recado_core::{Spawner, Work};
use tracing::Instrument;

/// Runs work as tasks of the tokio runtime that the caller is in; the log's span goes with it.
#[derive(Clone, Copy, Debug, Default)]
pub struct TokioSpawner;

impl Spawner for TokioSpawner {
    fn spawn(&self, work: Work) -> Work {
        let task = tokio::spawn(work.in_current_span());
        Box::pin(async move {
            // The work sends its own result. If the runtime ends first, none is sent.
            let _ = task.await;
        })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::sync::oneshot;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn work_goes_on_when_nobody_waits_for_it() {
        let (done, told) = oneshot::channel();
        let waiting = TokioSpawner.spawn(Box::pin(async {
            tokio::time::sleep(Duration::from_secs(5)).await;
            done.send(()).expect("the test waits");
        }));
        drop(waiting);
        told.await.expect("it came to its end");
    }
}
