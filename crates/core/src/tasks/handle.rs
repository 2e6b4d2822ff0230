//! Running work to completion, and waiting for all of it.

use std::any::Any;
use std::future::Future;
use std::panic::{AssertUnwindSafe, resume_unwind};
use std::sync::Arc;

use futures_channel::oneshot;
use futures_util::FutureExt;

use crate::Installation;

/// Work that is completed even if its caller stops waiting. Made by [`Installation::tasks`].
#[derive(Clone, Copy, Debug)]
pub struct Tasks<'a> {
    pub(crate) app: &'a Installation,
}

impl Installation {
    /// Work of this process that is completed even if its caller stops waiting.
    pub fn tasks(&self) -> Tasks<'_> {
        Tasks { app: self }
    }
}

/// The work was not completed: its runtime has ended, as at the end of the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the work was cut off by the end of what ran it")]
pub struct CutOff;

impl Tasks<'_> {
    /// Runs `work` to completion on the configured [`Spawner`](super::Spawner), also when this
    /// future is dropped after it was first polled. A panic of the work is passed on to the caller.
    ///
    /// Sends run like this without further ado. Call this for other work that must not be cut off,
    /// for example a request of the host program whose answer has to be kept.
    ///
    /// # Errors
    ///
    /// [`CutOff`].
    pub async fn run<T: Send + 'static>(
        self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, CutOff> {
        let (answer, answered) = oneshot::channel::<Result<T, Box<dyn Any + Send>>>();
        let under_way = self.app.under_way().begin();
        let running = self.app.spawner().spawn(Box::pin(async move {
            let ended = AssertUnwindSafe(work).catch_unwind().await;
            // The caller may have stopped waiting.
            let _ = answer.send(ended);
            drop(under_way);
        }));
        running.await;
        match answered.await {
            Ok(Ok(output)) => Ok(output),
            Ok(Err(panic)) => resume_unwind(panic),
            Err(oneshot::Canceled) => Err(CutOff),
        }
    }

    /// Waits until no such work is under way. On shutdown, stop everything that begins work first,
    /// then call this, then [`Sending::abandon_own`](crate::sending::Sending::abandon_own), which
    /// records the sends that were not completed.
    pub async fn finished(self) {
        Arc::clone(self.app.under_way()).finished().await;
    }
}
