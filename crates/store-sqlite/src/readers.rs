//! The connections that read, and who may use how many of them (R200).

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use recado_core::ids::CompanyId;
use recado_core::store::StoreError;
use recado_store_sql::Sealer;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::database::{self, Connection};
use crate::error::{ReadResult, store_error};

/// How many connections read for companies and for the process itself.
const SHARED: usize = 4;
/// How many of these read for one company at once.
const SHARE: usize = 2;
/// How many more are kept for short reads that every call needs first: those by which keys and
/// other credentials are looked up, and the one that checks whether the database is ready.
const RESERVED: usize = 1;
/// After how many instructions of SQLite it is checked whether a read has taken too long.
const STEPS: i32 = 1_000;
/// From this many known companies on, those that read nothing are forgotten.
const KNOWN: usize = 1_000;

/// A fixed number of connections. A read waits while all that it may use are busy.
#[derive(Clone)]
pub(crate) struct Readers(Arc<ReaderPool>);

struct ReaderPool {
    path: PathBuf,
    sealer: Sealer,
    /// How long a read of a company may take.
    limit: Duration,
    shared: Arc<Semaphore>,
    reserved: Arc<Semaphore>,
    companies: Mutex<HashMap<CompanyId, Weak<Semaphore>>>,
    idle: Mutex<Vec<Connection>>,
}

/// The right to use one connection.
type Permit = OwnedSemaphorePermit;

impl Readers {
    /// Connections to the database at `path`. Each is opened when it is first needed.
    pub(crate) fn new(path: PathBuf, sealer: Sealer, limit: Duration) -> Self {
        Self(Arc::new(ReaderPool {
            path,
            sealer,
            limit,
            shared: Arc::new(Semaphore::new(SHARED)),
            reserved: Arc::new(Semaphore::new(RESERVED)),
            companies: Mutex::default(),
            idle: Mutex::default(),
        }))
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
        let permit = acquire(&self.0.shared).await?;
        self.with_connection(permit, |conn| in_one_state(conn, None, read)).await
    }

    /// [`Readers::read`] for a company: with no more than the company's share of the connections,
    /// and for a limited time (R200).
    ///
    /// # Errors
    ///
    /// As [`Readers::read`], and when the read takes too long.
    pub(crate) async fn read_of<T: Send + 'static>(
        &self,
        company: CompanyId,
        read: impl FnOnce(&Connection) -> ReadResult<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let share = acquire(&self.0.share_of(company)).await?;
        let permit = acquire(&self.0.shared).await?;
        let limit = self.0.limit;
        self.with_connection((share, permit), move |conn| in_one_state(conn, Some(limit), read))
            .await
    }

    /// [`Readers::read`] for a short read that every call needs first: also on the connection that
    /// is kept for such reads (R200).
    ///
    /// # Errors
    ///
    /// As [`Readers::read`].
    pub(crate) async fn read_first<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Connection) -> ReadResult<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let permit = tokio::select! {
            biased;
            permit = acquire(&self.0.reserved) => permit?,
            permit = acquire(&self.0.shared) => permit?,
        };
        self.with_connection(permit, |conn| in_one_state(conn, None, read)).await
    }

    /// Checkpoints the log: copies its pages to the database, except those that a transaction still
    /// needs in the log. Neither readers nor the writer wait for it.
    ///
    /// # Errors
    ///
    /// As [`Readers::read`].
    pub(crate) async fn checkpoint(&self) -> Result<(), StoreError> {
        let permit = acquire(&self.0.shared).await?;
        self.with_connection(permit, |conn| {
            conn.prepare_cached("PRAGMA wal_checkpoint(PASSIVE)")?.query_row([], |_| Ok(()))
        })
        .await
    }

    /// Does `work` on a connection. The permits end with it, also if the caller stops waiting.
    async fn with_connection<T: Send + 'static>(
        &self,
        permits: impl Send + 'static,
        work: impl FnOnce(&mut Connection) -> ReadResult<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let pool = Arc::clone(&self.0);
        let work = move || {
            let answer = pool.with_connection(work);
            drop(permits);
            answer
        };
        let answer = tokio::task::spawn_blocking(work).await.map_err(StoreError::unavailable)?;
        answer.map_err(store_error)
    }

    /// Closes the connections after the reads under way. Later reads are refused.
    pub(crate) async fn close(&self) {
        for (permits, count) in [(&self.0.shared, SHARED), (&self.0.reserved, RESERVED)] {
            let all = permits.acquire_many(u32::try_from(count).unwrap_or(u32::MAX)).await;
            permits.close();
            drop(all);
        }
        lock(&self.0.idle).clear();
    }
}

/// Waits for the right to use a connection.
async fn acquire(permits: &Arc<Semaphore>) -> Result<Permit, StoreError> {
    Arc::clone(permits).acquire_owned().await.map_err(StoreError::unavailable)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl ReaderPool {
    /// The company's share of the connections.
    fn share_of(&self, company: CompanyId) -> Arc<Semaphore> {
        let mut companies = lock(&self.companies);
        if let Some(share) = companies.get(&company).and_then(Weak::upgrade) {
            return share;
        }
        if companies.len() >= KNOWN {
            companies.retain(|_, share| share.strong_count() > 0);
        }
        let share = Arc::new(Semaphore::new(SHARE));
        companies.insert(company, Arc::downgrade(&share));
        share
    }

    /// If `work` panics, its connection is not used again.
    fn with_connection<T>(
        &self,
        work: impl FnOnce(&mut Connection) -> ReadResult<T>,
    ) -> ReadResult<T> {
        let idle = lock(&self.idle).pop();
        let mut conn = match idle {
            Some(conn) => conn,
            None => database::reader(&self.path)?.sealed_by(&self.sealer),
        };
        let answer = work(&mut conn);
        if conn.is_autocommit() {
            lock(&self.idle).push(conn);
        }
        answer
    }
}

/// Reads in one transaction; if that takes longer than `limit`, the read fails as interrupted.
fn in_one_state<T>(
    conn: &mut Connection,
    limit: Option<Duration>,
    read: impl FnOnce(&Connection) -> ReadResult<T>,
) -> ReadResult<T> {
    conn.prepare_cached("BEGIN")?.execute([])?;
    if let Some(limit) = limit {
        let started = Instant::now();
        conn.progress_handler(STEPS, Some(move || started.elapsed() > limit))?;
    }
    let answer = read(conn);
    if limit.is_some() {
        conn.progress_handler(0, None::<fn() -> bool>)?;
    }
    let ended = conn.prepare_cached("ROLLBACK").and_then(|mut end| end.execute([]));
    let answer = answer?;
    ended?;
    Ok(answer)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use tokio::sync::oneshot;
    use tokio::task::JoinHandle;
    use uuid::Uuid;

    use super::*;

    fn company(number: u128) -> CompanyId {
        CompanyId::new(Uuid::from_u128(number))
    }

    fn readers(limit: Duration) -> (tempfile::TempDir, Readers) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("recado.db");
        database::writer(&path).expect("a database");
        (folder, Readers::new(path, Sealer::default(), limit))
    }

    /// A read of a company that has begun and goes on until it is released.
    struct Held {
        release: mpsc::Sender<()>,
        read: JoinHandle<Result<(), StoreError>>,
    }

    impl Held {
        async fn begin(readers: &Readers, of: CompanyId) -> Self {
            let ((release, released), (begun, begins)) = (mpsc::channel(), oneshot::channel());
            let readers = readers.clone();
            let read = tokio::spawn(async move {
                let hold = move |_: &Connection| {
                    begun.send(()).expect("the test waits");
                    released.recv().expect("it is released");
                    Ok(())
                };
                readers.read_of(of, hold).await
            });
            begins.await.expect("it begins");
            Self { release, read }
        }

        async fn end(self) {
            self.release.send(()).expect("it waits");
            self.read.await.expect("it ends").expect("it was read");
        }
    }

    fn is_waiting<T>(read: impl Future<Output = T>) -> bool {
        let mut read = std::pin::pin!(read);
        let waker = std::task::Waker::noop();
        read.as_mut().poll(&mut std::task::Context::from_waker(waker)).is_pending()
    }

    /// R200.
    #[tokio::test]
    async fn a_company_has_no_more_than_its_share_and_others_read_meanwhile() {
        let (_folder, readers) = readers(Duration::MAX);
        let mut held = Vec::new();
        for _ in 0..SHARE {
            held.push(Held::begin(&readers, company(1)).await);
        }
        assert!(is_waiting(acquire(&readers.0.share_of(company(1)))), "its share is used up");
        assert_eq!(readers.read_of(company(2), |_| Ok(7)).await.unwrap(), 7);
        assert_eq!(readers.read(|_| Ok(7)).await.unwrap(), 7);
        for read in held {
            read.end().await;
        }
        assert_eq!(readers.read_of(company(1), |_| Ok(7)).await.unwrap(), 7);
    }

    /// R200.
    #[tokio::test]
    async fn what_every_call_needs_first_is_read_while_companies_hold_all_the_others() {
        let (_folder, readers) = readers(Duration::MAX);
        let mut held = Vec::new();
        for number in 0..SHARED {
            held.push(Held::begin(&readers, company((number / SHARE) as u128)).await);
        }
        assert!(is_waiting(readers.read_of(company(9), |_| Ok(7))), "all are held");
        assert_eq!(readers.read_first(|_| Ok(7)).await.unwrap(), 7);
        for read in held {
            read.end().await;
        }
        assert_eq!(readers.read_of(company(9), |_| Ok(7)).await.unwrap(), 7);
    }

    const COUNT: &str = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n \
                         WHERE i < 100000) SELECT count(*) FROM n";

    /// R200.
    #[tokio::test]
    async fn a_read_of_a_company_that_takes_too_long_is_ended_and_the_next_one_is_not() {
        let count = |conn: &Connection| conn.query_row(COUNT, [], |row| row.get::<_, i64>(0));
        let (_folder, strict) = readers(Duration::ZERO);
        let ended = strict.read_of(company(1), count).await;
        assert!(matches!(ended, Err(StoreError::Unavailable(_))), "{ended:?}");
        let few = strict.read_of(company(1), |conn| conn.query_row("SELECT 1", [], |_| Ok(7)));
        assert_eq!(few.await.unwrap(), 7);
        // The same connection, for the process itself.
        assert_eq!(strict.read(count).await.unwrap(), 100_000);
        let (_folder, patient) = readers(Duration::MAX);
        assert_eq!(patient.read_of(company(1), count).await.unwrap(), 100_000);
    }

    #[test]
    fn companies_that_read_nothing_are_forgotten() {
        let readers = Readers::new(PathBuf::new(), Sealer::default(), Duration::MAX);
        let kept = readers.0.share_of(company(0));
        for number in 1..=2 * KNOWN {
            readers.0.share_of(company(number as u128));
        }
        assert!(lock(&readers.0.companies).len() <= KNOWN);
        assert!(Arc::ptr_eq(&kept, &readers.0.share_of(company(0))));
    }
}
