//! The connections that read.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use recado_core::store::StoreError;
use recado_store_sql::Sealer;
use tokio::sync::Semaphore;

use crate::database::{self, Connection};
use crate::error::{ReadResult, store_error};

/// A fixed number of connections. A read waits while all of them are busy.
#[derive(Clone)]
pub(crate) struct Readers(Arc<ReaderPool>);

struct ReaderPool {
    path: PathBuf,
    sealer: Sealer,
    permits: Arc<Semaphore>,
    idle: Mutex<Vec<Connection>>,
}

impl Readers {
    /// At most `count` connections to the database at `path`. Each is opened when it is first
    /// needed.
    pub(crate) fn new(path: PathBuf, sealer: Sealer, count: usize) -> Self {
        let permits = Arc::new(Semaphore::new(count));
        Self(Arc::new(ReaderPool { path, sealer, permits, idle: Mutex::default() }))
    }

    /// Runs `read` in one transaction, so that everything it reads comes from one state of the
    /// database.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`] when the database cannot be reached or is being closed.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Connection) -> ReadResult<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.with_connection(|conn| in_one_state(conn, read)).await
    }

    /// Checkpoints the log: copies its pages to the database, except those that a transaction still
    /// needs in the log. Neither readers nor the writer wait for it.
    ///
    /// # Errors
    ///
    /// As [`Readers::read`].
    pub(crate) async fn checkpoint(&self) -> Result<(), StoreError> {
        self.with_connection(|conn| {
            conn.prepare_cached("PRAGMA wal_checkpoint(PASSIVE)")?.query_row([], |_| Ok(()))
        })
        .await
    }

    async fn with_connection<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> ReadResult<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let permit = Arc::clone(&self.0.permits).acquire_owned().await;
        let permit = permit.map_err(StoreError::unavailable)?;
        let pool = Arc::clone(&self.0);
        let work = move || {
            let answer = pool.with_connection(work);
            drop(permit);
            answer
        };
        let answer = tokio::task::spawn_blocking(work).await.map_err(StoreError::unavailable)?;
        answer.map_err(store_error)
    }

    /// Closes the connections after the reads under way. Later reads are refused.
    pub(crate) async fn close(&self, count: usize) {
        let all = self.0.permits.acquire_many(u32::try_from(count).unwrap_or(u32::MAX)).await;
        self.0.permits.close();
        drop(all);
        self.0.idle().clear();
    }
}

impl ReaderPool {
    /// If `work` panics, its connection is not used again.
    fn with_connection<T>(&self, work: impl FnOnce(&Connection) -> ReadResult<T>) -> ReadResult<T> {
        let idle = self.idle().pop();
        let conn = match idle {
            Some(conn) => conn,
            None => database::reader(&self.path)?.sealed_by(&self.sealer),
        };
        let answer = work(&conn);
        if conn.is_autocommit() {
            self.idle().push(conn);
        }
        answer
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Connection>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn in_one_state<T>(
    conn: &Connection,
    read: impl FnOnce(&Connection) -> ReadResult<T>,
) -> ReadResult<T> {
    conn.prepare_cached("BEGIN")?.execute([])?;
    let answer = read(conn);
    let ended = conn.prepare_cached("ROLLBACK").and_then(|mut end| end.execute([]));
    let answer = answer?;
    ended?;
    Ok(answer)
}
