//! A connection of its own, in a thread of its own.

use std::path::PathBuf;
use std::thread::Builder;

use recado_core::store::StoreError;
use recado_store_sql::Sealer;
use recado_store_sql::transfer::{Moved, Scope};
use tokio::sync::{mpsc, oneshot};

use crate::database::{self, Connection};
use crate::error::{ReadResult, store_error};

/// Page cache of the connection, in KiB.
const CACHE: i64 = 64 * 1024;
/// How many tasks may wait.
const TASKS: usize = 2;
/// How many parts of an answer may wait.
pub(super) const CHUNKS: usize = 2;

type Task = Box<dyn FnOnce(&Connection) + Send>;

/// Rows that are being read.
pub(super) type Chunks = mpsc::Receiver<ReadResult<Vec<Moved>>>;

/// The connection. When this is dropped, the connection is closed, and the transaction that it is
/// in is undone.
pub(super) struct Session {
    tasks: mpsc::Sender<Task>,
    pub(super) scope: Scope,
    pub(super) chunks: Option<Chunks>,
}

impl Session {
    pub(super) fn open(path: PathBuf, sealer: Sealer, scope: Scope) -> Result<Self, StoreError> {
        let conn = database::writer(&path).map_err(store_error)?.sealed_by(&sealer);
        conn.pragma_update(None, "cache_size", -CACHE).map_err(store_error)?;
        let (tasks, mut waiting) = mpsc::channel::<Task>(TASKS);
        Builder::new()
            .name("recado-sqlite-transfer".to_owned())
            .spawn(move || {
                while let Some(task) = waiting.blocking_recv() {
                    task(&conn);
                }
            })
            .map_err(StoreError::unavailable)?;
        Ok(Self { tasks, scope, chunks: None })
    }

    /// Gives the thread a task, whose outcome can be awaited.
    pub(super) async fn start<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> ReadResult<T> + Send + 'static,
    ) -> Result<Started<T>, StoreError> {
        let (reply, outcome) = oneshot::channel();
        let task = Box::new(move |conn: &Connection| {
            // The caller may have stopped waiting.
            drop(reply.send(work(conn)));
        });
        self.tasks.send(task).await.map_err(|_| StoreError::Unavailable(None))?;
        Ok(Started(outcome))
    }

    /// Runs a task.
    pub(super) async fn call<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> ReadResult<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.start(work).await?.finish().await
    }
}

/// A task that was given to the thread.
pub(super) struct Started<T>(oneshot::Receiver<ReadResult<T>>);

impl<T> Started<T> {
    /// Waits for the outcome.
    pub(super) async fn finish(self) -> Result<T, StoreError> {
        self.0.await.map_err(|_| StoreError::Unavailable(None))?.map_err(store_error)
    }
}
