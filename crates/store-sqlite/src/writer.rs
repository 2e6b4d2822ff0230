//! The thread that writes. All waiting change sets are applied in one transaction, each in its own
//! savepoint, and are acknowledged when the transaction is durable (group commit).

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};

use recado_core::store::{CommitError, StoreError};
use rusqlite::ErrorCode;
use tokio::sync::{mpsc, oneshot};

use crate::contacts_search::Pending;
use crate::database::Connection;
use crate::error::{SqliteError, store_error};

/// How many tasks may wait. If more are sent, their senders wait.
const QUEUE: usize = 1024;
/// The most tasks in one transaction.
const BATCH: usize = 256;
/// How many times the writer tries to get the write lock while another process holds it. Each
/// attempt lasts for the busy timeout.
const LOCK_ATTEMPTS: u32 = 3;

/// What a task writes with, inside a transaction and a savepoint.
pub(crate) struct Transaction<'c> {
    /// The connection that writes.
    pub(crate) conn: &'c Connection,
    /// What is to be written to the search index before the commit.
    pub(crate) search: Pending,
    /// Whether something was deleted that the log must not keep (R197).
    pub(crate) has_erased: bool,
}

/// A write that waits for a transaction.
trait WriteTask: Send {
    /// Makes the write. If this fails, what it wrote is undone.
    fn apply(&mut self, tx: &mut Transaction<'_>) -> Result<(), CommitError>;

    /// Sends the outcome to the caller.
    fn answer(self: Box<Self>, outcome: Result<(), CommitError>);
}

struct WriteJob<T, F> {
    work: Option<F>,
    output: Option<T>,
    reply: oneshot::Sender<Result<T, CommitError>>,
}

impl<T, F> WriteTask for WriteJob<T, F>
where
    T: Send,
    F: FnOnce(&mut Transaction<'_>) -> Result<T, CommitError> + Send,
{
    fn apply(&mut self, tx: &mut Transaction<'_>) -> Result<(), CommitError> {
        if let Some(work) = self.work.take() {
            self.output = Some(work(tx)?);
        }
        Ok(())
    }

    fn answer(self: Box<Self>, outcome: Result<(), CommitError>) {
        let answer = match (outcome, self.output) {
            (Ok(()), Some(output)) => Ok(output),
            (Ok(()), None) => Err(StoreError::corrupt("a task was not run").into()),
            (Err(error), _) => Err(error),
        };
        // The caller may have stopped waiting.
        drop(self.reply.send(answer));
    }
}

/// How much was written since the store was opened.
#[derive(Debug, Default)]
pub(crate) struct WriteCounts {
    pub(crate) transactions: AtomicU64,
    pub(crate) tasks: AtomicU64,
    /// How many transactions have deleted something that the log must not keep (R197).
    pub(crate) erasures: AtomicU64,
}

/// The queue of the writing thread.
pub(crate) struct Writer {
    queue: mpsc::Sender<Box<dyn WriteTask>>,
    /// `None` after `close`.
    thread: Mutex<Option<JoinHandle<()>>>,
    /// Set by `close`: no more tasks are accepted.
    closing: Arc<AtomicBool>,
    written: Arc<WriteCounts>,
}

impl Writer {
    /// Starts the thread.
    pub(crate) fn start(conn: Connection) -> Result<Self, SqliteError> {
        let (queue, tasks) = mpsc::channel(QUEUE);
        let written = Arc::<WriteCounts>::default();
        let closing = Arc::<AtomicBool>::default();
        let (counters, close) = (Arc::clone(&written), Arc::clone(&closing));
        let thread = Builder::new()
            .name("recado-sqlite-writer".to_owned())
            .spawn(move || run(&conn, tasks, &counters, &close))
            .map_err(|error| SqliteError::Writer(Some(error)))?;
        Ok(Self { queue, thread: Mutex::new(Some(thread)), closing, written })
    }

    /// Runs `work` in the next transaction, and answers when that is durable.
    ///
    /// # Errors
    ///
    /// The error of `work`, or the error of the transaction.
    pub(crate) async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Transaction<'_>) -> Result<T, CommitError> + Send + 'static,
    ) -> Result<T, CommitError> {
        let (reply, answer) = oneshot::channel();
        let task = Box::new(WriteJob { work: Some(work), output: None, reply });
        self.queue.send(task).await.map_err(|_| StoreError::Unavailable(None))?;
        answer.await.map_err(|_| StoreError::OutcomeUnknown(None))?
    }

    /// Makes the thread begin and end a transaction, so that it shows whether it lives and can take
    /// the write lock. The transaction is empty and costs no write to the disk.
    ///
    /// # Errors
    ///
    /// When the thread has ended, or cannot begin a transaction. A thread that is stuck does not
    /// answer: the caller sets a time limit.
    pub(crate) async fn ready(&self) -> Result<(), StoreError> {
        self.write(|_| Ok(())).await.map_err(expect_no_conflict)
    }

    /// How much was written.
    pub(crate) fn written(&self) -> &WriteCounts {
        &self.written
    }

    /// Ends the thread after the waiting tasks are written, and closes its connection. A second
    /// call does not wait.
    pub(crate) async fn close(&self) {
        self.closing.store(true, Ordering::Release);
        // This task wakes the thread, so that it reads the flag. An error means that the thread has
        // ended.
        let _ = self.write(|_| Ok(())).await;
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(thread) = thread else { return };
        let ended = tokio::task::spawn_blocking(move || thread.join()).await;
        if !matches!(ended, Ok(Ok(()))) {
            tracing::error!("the writer ended by a panic");
        }
    }
}

/// Writes until the store is closed. A panic fails the tasks of its batch, whose outcome is then
/// unknown to their callers; the thread goes on with the next batch (R162).
fn run(
    conn: &Connection,
    mut tasks: mpsc::Receiver<Box<dyn WriteTask>>,
    written: &WriteCounts,
    closing: &AtomicBool,
) {
    let mut batch = Vec::with_capacity(BATCH);
    while tasks.blocking_recv_many(&mut batch, BATCH) > 0 {
        let write = || write_batch(conn, &mut batch, written);
        if catch_unwind(AssertUnwindSafe(write)).is_err() {
            begin_again(conn, &mut batch);
        }
        if closing.load(Ordering::Acquire) {
            // The tasks that already wait are still written.
            tasks.close();
        }
    }
}

/// Leaves nothing of a batch during which there was a panic.
fn begin_again(conn: &Connection, batch: &mut Vec<Box<dyn WriteTask>>) {
    let tasks = batch.len();
    // Their callers learn that the outcome is unknown.
    batch.clear();
    // The log may be what panicked.
    let _ = catch_unwind(AssertUnwindSafe(|| {
        roll_back(conn);
        tracing::error!(tasks, "the writer panicked, and goes on");
    }));
}

/// Why a whole batch was not written.
enum BatchError {
    /// Certainly nothing was written.
    Nothing(rusqlite::Error),
    /// The commit itself failed, so the outcome is unknown.
    Unknown(rusqlite::Error),
}

fn write_batch(conn: &Connection, batch: &mut Vec<Box<dyn WriteTask>>, written: &WriteCounts) {
    let mut outcomes = Vec::with_capacity(batch.len());
    let done = begin(conn)
        .and_then(|()| apply(conn, batch, &mut outcomes))
        .map_err(BatchError::Nothing)
        .and_then(|has_erased| commit(conn, &outcomes).map(|()| has_erased));
    match done {
        Ok(has_erased) => {
            written.erasures.fetch_add(u64::from(has_erased), Ordering::Relaxed);
            written.transactions.fetch_add(1, Ordering::Relaxed);
            let applied = outcomes.iter().filter(|outcome| outcome.is_ok()).count();
            written.tasks.fetch_add(applied as u64, Ordering::Relaxed);
            batch.drain(..).zip(outcomes).for_each(|(task, outcome)| task.answer(outcome));
        }
        Err(failure) => {
            roll_back(conn);
            let unknown = matches!(failure, BatchError::Unknown(_));
            let (BatchError::Nothing(error) | BatchError::Unknown(error)) = failure;
            tracing::error!(%error, unknown, tasks = batch.len(), "a transaction failed");
            let message = error.to_string();
            let outcome = |task: Box<dyn WriteTask>| {
                let error = if unknown {
                    StoreError::outcome_unknown(message.clone())
                } else {
                    StoreError::unavailable(message.clone())
                };
                task.answer(Err(error.into()));
            };
            batch.drain(..).for_each(outcome);
        }
    }
}

fn begin(conn: &Connection) -> rusqlite::Result<()> {
    let mut attempts = 1;
    loop {
        match execute(conn, "BEGIN IMMEDIATE") {
            Err(error) if is_busy(&error) && attempts < LOCK_ATTEMPTS => attempts += 1,
            result => return result,
        }
    }
}

/// Applies each task in a savepoint, then writes the search index. Answers whether a task erased
/// something. An error is an error of the transaction as a whole.
fn apply(
    conn: &Connection,
    batch: &mut [Box<dyn WriteTask>],
    outcomes: &mut Vec<Result<(), CommitError>>,
) -> rusqlite::Result<bool> {
    let mut tx = Transaction { conn, search: Pending::default(), has_erased: false };
    for task in batch {
        execute(conn, "SAVEPOINT task")?;
        let mark = tx.search.mark();
        // A defect in one task must not fail those of others.
        let applied = catch_unwind(AssertUnwindSafe(|| task.apply(&mut tx)));
        let outcome =
            applied.unwrap_or_else(|_| Err(StoreError::corrupt("a write panicked").into()));
        if outcome.is_err() {
            // After an error of the disk or of memory SQLite rolls the whole transaction back.
            if conn.is_autocommit() {
                let message = Some("the transaction was rolled back".to_owned());
                let failure = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_ABORT);
                return Err(rusqlite::Error::SqliteFailure(failure, message));
            }
            tx.search.forget_since(mark);
            execute(conn, "ROLLBACK TO task")?;
        }
        execute(conn, "RELEASE task")?;
        outcomes.push(outcome);
    }
    tx.search.write(conn)?;
    Ok(tx.has_erased)
}

fn commit(conn: &Connection, outcomes: &[Result<(), CommitError>]) -> Result<(), BatchError> {
    if outcomes.iter().all(Result::is_err) {
        return execute(conn, "ROLLBACK").map_err(BatchError::Nothing);
    }
    let mut attempts = 1;
    loop {
        match execute(conn, "COMMIT") {
            // Nothing was written yet: another connection checkpoints the log.
            Err(error) if is_busy(&error) && attempts < LOCK_ATTEMPTS => attempts += 1,
            Err(error) if is_busy(&error) => return Err(BatchError::Nothing(error)),
            result => return result.map_err(BatchError::Unknown),
        }
    }
}

fn roll_back(conn: &Connection) {
    if !conn.is_autocommit()
        && let Err(error) = execute(conn, "ROLLBACK")
    {
        tracing::error!(%error, "a transaction could not be rolled back");
    }
}

fn execute(conn: &Connection, statement: &str) -> rusqlite::Result<()> {
    conn.prepare_cached(statement)?.execute([]).map(|_| ())
}

fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

/// The store error of a task that cannot have a conflict.
pub(crate) fn expect_no_conflict(error: CommitError) -> StoreError {
    match error {
        CommitError::Store(error) => error,
        CommitError::Conflict(conflict) => StoreError::corrupt(format!("{conflict:?}")),
    }
}

/// The commit error of a failed read within a task.
pub(crate) fn read_error(error: rusqlite::Error) -> CommitError {
    store_error(error).into()
}

#[cfg(test)]
mod tests {
    use recado_core::Timestamp;
    use recado_core::access::{Company, Features, Plan};
    use recado_core::contacts::{Contact, Identifier, Platform, Region};
    use recado_core::ids::{CompanyId, ContactId};
    use recado_core::store::{ChangeSet, Conflict, UniqueKey};
    use uuid::Uuid;

    use super::*;
    use crate::{commit, schema};

    type Answer = oneshot::Receiver<Result<(), CommitError>>;

    fn task(changes: ChangeSet) -> (Box<dyn WriteTask>, Answer) {
        let (reply, answer) = oneshot::channel();
        let work = move |tx: &mut Transaction<'_>| commit::apply(tx, changes);
        (Box::new(WriteJob { work: Some(work), output: None, reply }), answer)
    }

    fn company() -> Company {
        Company {
            id: CompanyId::new(Uuid::from_u128(1)),
            name: "Company".to_owned(),
            plan: Plan::Enterprise,
            features: Features::default(),
            default_region: Region::br(),
            erase_deleted_messages: false,
            created_at: Timestamp::MIN,
            updated_at: Timestamp::MIN,
            deleted_at: None,
        }
    }

    fn contact(number: u128) -> Contact {
        let identifier = Identifier::parse(&number.to_string()).expect("an identifier");
        let (id, company) = (ContactId::new(Uuid::from_u128(number)), company().id);
        let whatsapp = Platform::whatsapp();
        let mut contact = Contact::new(id, company, whatsapp, identifier, None, Timestamp::MIN);
        contact.name = "Dora".to_owned();
        contact
    }

    #[test]
    fn what_a_change_set_wrote_before_it_failed_is_neither_kept_nor_found() {
        let mut conn = Connection::open_in_memory().unwrap();
        schema::migrate(&mut conn).unwrap();
        let (kept, kept_answer) = task(ChangeSet::new().insert(company()).insert(contact(1)));
        let (failed, failed_answer) = task(ChangeSet::new().insert(contact(2)).insert(company()));
        let written = WriteCounts::default();
        let mut batch = vec![kept, failed];
        write_batch(&conn, &mut batch, &written);
        kept_answer.blocking_recv().unwrap().unwrap();
        let outcome = failed_answer.blocking_recv().unwrap();
        let Err(CommitError::Conflict(conflict)) = outcome else { panic!("{outcome:?}") };
        assert_eq!(conflict, Conflict::Taken(UniqueKey::Id));
        let count = |query| conn.query_row(query, [], |row| row.get::<_, i64>(0)).unwrap();
        assert_eq!(count("SELECT count(*) FROM contacts"), 1);
        assert_eq!(count("SELECT sum(contacts) FROM contact_facets"), 1);
        assert_eq!(count("SELECT count(*) FROM contact_search('b1dor b1ora')"), 1);
        assert_eq!(written.transactions.into_inner(), 1);
        assert_eq!(written.tasks.into_inner(), 1);
    }

    #[test]
    fn a_failure_of_the_transaction_reaches_everybody() {
        let conn = Connection::open_in_memory().unwrap();
        let (first, first_answer) = task(ChangeSet::new());
        let (second, second_answer) = task(ChangeSet::new());
        conn.execute_batch("BEGIN").unwrap();
        let mut batch = vec![first, second];
        write_batch(&conn, &mut batch, &WriteCounts::default());
        for answer in [first_answer, second_answer] {
            let outcome = answer.blocking_recv().unwrap();
            assert!(matches!(outcome, Err(CommitError::Store(StoreError::Unavailable(_)))));
        }
        assert!(conn.is_autocommit(), "the connection can go on");
    }

    fn open_writer(folder: &tempfile::TempDir) -> Writer {
        let mut conn = crate::database::writer(&folder.path().join("recado.db")).unwrap();
        schema::migrate(&mut conn).unwrap();
        Writer::start(conn).unwrap()
    }

    /// A subscriber that panics at each event, as one does that cannot print.
    struct PanickingLog;

    impl tracing::Subscriber for PanickingLog {
        fn enabled(&self, _: &tracing::Metadata<'_>) -> bool {
            true
        }
        fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
            tracing::span::Id::from_u64(1)
        }
        fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}
        fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}
        fn event(&self, _: &tracing::Event<'_>) {
            panic!("failed printing to stderr");
        }
        fn enter(&self, _: &tracing::span::Id) {}
        fn exit(&self, _: &tracing::span::Id) {}
    }

    /// R162.
    #[tokio::test(flavor = "multi_thread")]
    async fn a_task_that_panics_fails_alone_and_the_writer_goes_on() {
        let folder = tempfile::tempdir().unwrap();
        let writer = open_writer(&folder);
        let changes = ChangeSet::new().insert(company());
        let panics = writer.write(|_| -> Result<(), CommitError> { panic!("a defect") });
        let stored = writer.write(move |tx| commit::apply(tx, changes));
        let (panicked, stored) = tokio::join!(panics, stored);
        assert!(
            matches!(panicked, Err(CommitError::Store(StoreError::Corrupt(_)))),
            "{panicked:?}"
        );
        stored.unwrap();
        writer.ready().await.unwrap();
        writer.close().await;
    }

    /// R162.
    #[test]
    fn a_panic_of_the_log_leaves_the_writer_alive() {
        let folder = tempfile::tempdir().unwrap();
        let mut conn = crate::database::writer(&folder.path().join("recado.db")).unwrap();
        schema::migrate(&mut conn).unwrap();
        let (queue, tasks) = mpsc::channel(QUEUE);
        // The first batch fails as a whole, and its error is logged.
        conn.execute_batch("BEGIN").unwrap();
        let (failing, failed) = task(ChangeSet::new());
        queue.try_send(failing).ok().unwrap();
        let thread = std::thread::spawn(move || {
            tracing::subscriber::with_default(PanickingLog, || {
                run(&conn, tasks, &WriteCounts::default(), &AtomicBool::new(false));
            });
        });
        assert!(failed.blocking_recv().is_err(), "the outcome is unknown to the caller");
        let (next, written) = task(ChangeSet::new().insert(company()));
        queue.try_send(next).ok().unwrap();
        written.blocking_recv().unwrap().unwrap();
        drop(queue);
        thread.join().unwrap();
    }

    /// R162.
    #[tokio::test(flavor = "multi_thread")]
    async fn a_writer_that_is_stuck_or_gone_is_not_ready() {
        let folder = tempfile::tempdir().unwrap();
        let writer = open_writer(&folder);
        writer.ready().await.unwrap();
        let (release, stuck) = std::sync::mpsc::channel::<()>();
        let (begun, begins) = oneshot::channel();
        let holds = writer.write(move |_| {
            let _ = begun.send(());
            let _ = stuck.recv();
            Ok(())
        });
        let asked = async {
            begins.await.unwrap();
            let limit = std::time::Duration::from_millis(100);
            let answer = tokio::time::timeout(limit, writer.ready()).await;
            drop(release);
            answer
        };
        let (held, answer) = tokio::join!(holds, asked);
        held.unwrap();
        assert!(answer.is_err(), "a stuck writer does not answer: {answer:?}");
        writer.ready().await.unwrap();
        writer.close().await;
        let gone = writer.ready().await;
        assert!(matches!(gone, Err(StoreError::Unavailable(_))), "{gone:?}");
    }
}
