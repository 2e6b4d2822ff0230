//! Running work to its end, and waiting for all of it.

use std::any::Any;
use std::future::Future;
use std::panic::{AssertUnwindSafe, resume_unwind};
use std::sync::Arc;

use futures_channel::oneshot;
use futures_util::FutureExt;

use crate::Recado;

/// Work that comes to its end whoever waits for it. Made by [`Recado::tasks`].
#[derive(Clone, Copy, Debug)]
pub struct Tasks<'a> {
    pub(crate) app: &'a Recado,
}

impl Recado {
    /// Work of this process that comes to its end whoever waits for it.
    pub fn tasks(&self) -> Tasks<'_> {
        Tasks { app: self }
    }
}

/// The work did not come to its end: what ran it has ended, as a runtime does at the end of its
/// process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the work was cut off by the end of what ran it")]
pub struct CutOff;

impl Tasks<'_> {
    /// Runs `work` to its end by the [`Spawner`](super::Spawner) of the parts, also when this future
    /// is dropped once it was polled. A panic of the work reaches whoever waits for it.
    ///
    /// All sends run like this by themselves. It is for what goes around them: a request of one's
    /// own whose answer has to be kept, for example.
    ///
    /// # Errors
    ///
    /// [`CutOff`].
    pub async fn run<T: Send + 'static>(
        self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, CutOff> {
        let (tell, told) = oneshot::channel::<Result<T, Box<dyn Any + Send>>>();
        let under_way = self.app.under_way().begin();
        let running = self.app.spawner().spawn(Box::pin(async move {
            let ended = AssertUnwindSafe(work).catch_unwind().await;
            // Whoever waited may have gone.
            let _ = tell.send(ended);
            drop(under_way);
        }));
        running.await;
        match told.await {
            Ok(Ok(output)) => Ok(output),
            Ok(Err(panic)) => resume_unwind(panic),
            Err(oneshot::Canceled) => Err(CutOff),
        }
    }

    /// Waits until no such work is under way: the last thing before what is left is recorded by
    /// [`Sending::abandon_own`](crate::sending::Sending::abandon_own). Whatever begins work has to
    /// have stopped before.
    pub async fn finished(self) {
        Arc::clone(self.app.under_way()).finished().await;
    }
}
