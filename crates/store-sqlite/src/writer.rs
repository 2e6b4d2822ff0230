//! The thread that writes. All waiting change sets are applied in one transaction, each in its own
//! savepoint, and are acknowledged when the transaction is durable (group commit). A large one has
//! a transaction to itself (R443).

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Instant;

use recado_core::store::{ChangeSet, CommitError, StoreError};
use tokio::sync::{mpsc, oneshot};

use crate::batch::{Transaction, WriteTask, next_batch, roll_back, write_batch};
use crate::commit;
use crate::database::Connection;
use crate::disk::{self, Disk, Known};
use crate::error::{SqliteError, store_error};

/// How many tasks may wait. If more are sent, their senders wait.
const QUEUE: usize = 1024;
/// The most tasks in one transaction.
const BATCH: usize = 256;
/// The most changes and events of a set that shares a transaction.
///
/// R443.
const FEW: usize = 100;

struct WriteJob<T, F> {
    alone: bool,
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

    fn is_alone(&self) -> bool {
        self.alone
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

/// A task that does `work`, and its answer.
pub(crate) fn write_job<T: Send + 'static>(
    alone: bool,
    work: impl FnOnce(&mut Transaction<'_>) -> Result<T, CommitError> + Send + 'static,
) -> (Box<dyn WriteTask>, oneshot::Receiver<Result<T, CommitError>>) {
    let (reply, answer) = oneshot::channel();
    (Box::new(WriteJob { alone, work: Some(work), output: None, reply }), answer)
}

/// How much was written since the store was opened.
#[derive(Debug, Default)]
pub(crate) struct WriteCounts {
    pub(crate) transactions: AtomicU64,
    pub(crate) tasks: AtomicU64,
    /// How many transactions have deleted something that the log must not keep (R197).
    pub(crate) erasures: AtomicU64,
    /// Whether the disk takes what is written.
    pub(crate) disk: Disk,
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
        self.run(false, work).await
    }

    /// Applies a change set in the next transaction, a large one in one of its own, and answers
    /// when that is durable.
    ///
    /// # Errors
    ///
    /// As [`commit::apply`], and the error of the transaction.
    pub(crate) async fn commit(&self, changes: ChangeSet) -> Result<(), CommitError> {
        self.run(is_large(&changes), move |tx| commit::apply(tx, changes)).await
    }

    async fn run<T: Send + 'static>(
        &self,
        alone: bool,
        work: impl FnOnce(&mut Transaction<'_>) -> Result<T, CommitError> + Send + 'static,
    ) -> Result<T, CommitError> {
        let (task, answer) = write_job(alone, work);
        self.queue.send(task).await.map_err(|_| StoreError::Unavailable(None))?;
        answer.await.map_err(|_| StoreError::OutcomeUnknown(None))?
    }

    /// Makes the thread begin and end a transaction, so that it shows whether it lives and can take
    /// the write lock. The transaction is empty and costs no write to the disk, unless the disk has
    /// refused one: then it probes the disk, at most once a second (R240).
    ///
    /// # Errors
    ///
    /// When the thread has ended, or cannot begin a transaction, and while the disk refuses writes.
    /// A thread that is stuck does not answer: the caller sets a time limit.
    pub(crate) async fn ready(&self) -> Result<(), StoreError> {
        let asked = match self.written.disk.known(Instant::now()) {
            Known::Takes => self.write(|_| Ok(())).await,
            Known::Unknown => self.write(disk::probe).await,
            Known::Refuses => Err(StoreError::unavailable("the disk has refused a write").into()),
        };
        asked.map_err(expect_no_conflict)
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

/// Whether a change set is too large to share a transaction.
fn is_large(changes: &ChangeSet) -> bool {
    changes.changes.len() + changes.events.len() > FEW
}

/// Writes until the store is closed. A panic fails the tasks of its batch, whose outcome is then
/// unknown to their callers; the thread goes on with the next batch (R162).
fn run(
    conn: &Connection,
    mut tasks: mpsc::Receiver<Box<dyn WriteTask>>,
    written: &WriteCounts,
    closing: &AtomicBool,
) {
    let mut waiting = Vec::with_capacity(BATCH);
    while tasks.blocking_recv_many(&mut waiting, BATCH) > 0 {
        while !waiting.is_empty() {
            let mut batch = next_batch(&mut waiting);
            let write = || write_batch(conn, &mut batch, written);
            if catch_unwind(AssertUnwindSafe(write)).is_err() {
                begin_again(conn, &mut batch);
            }
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
pub(crate) mod tests {
    use recado_core::Timestamp;
    use recado_core::access::{Company, Features, Plan, TimeZone};
    use recado_core::contacts::{Contact, Identifier, Platform, Region};
    use recado_core::ids::{CompanyId, ContactId};
    use uuid::Uuid;

    use super::*;
    use crate::schema;

    pub(crate) type Answer = oneshot::Receiver<Result<(), CommitError>>;

    /// A write of a change set, and its answer.
    pub(crate) fn task(changes: ChangeSet) -> (Box<dyn WriteTask>, Answer) {
        write_job(is_large(&changes), move |tx| commit::apply(tx, changes))
    }

    /// A company.
    pub(crate) fn company() -> Company {
        Company {
            id: CompanyId::new(Uuid::from_u128(1)),
            name: "Company".to_owned(),
            plan: Plan::Enterprise,
            features: Features::default(),
            default_region: Region::br(),
            time_zone: TimeZone::default(),
            erase_deleted_messages: false,
            created_at: Timestamp::MIN,
            updated_at: Timestamp::MIN,
            deleted_at: None,
        }
    }

    /// A contact of the company.
    pub(crate) fn contact(number: u128) -> Contact {
        let identifier = Identifier::parse(&number.to_string()).expect("an identifier");
        let (id, company) = (ContactId::new(Uuid::from_u128(number)), company().id);
        let whatsapp = Platform::whatsapp();
        let mut contact = Contact::new(id, company, whatsapp, identifier, None, Timestamp::MIN);
        contact.name = "Dora".to_owned();
        contact
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

    /// The limit of the database's pages, which SQLite reports as a full disk: the pages there are,
    /// and so many more.
    async fn leave_room(writer: &Writer, more: i64) {
        let set = move |tx: &mut Transaction<'_>| {
            let count = |name| tx.conn.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
            let most = count("page_count").map_err(read_error)? + more;
            tx.conn.pragma_update(None, "max_page_count", most).map_err(read_error)
        };
        writer.write(set).await.unwrap();
    }

    /// R240.
    #[tokio::test]
    async fn a_writer_whose_disk_is_full_is_not_ready_until_there_is_room_for_much_more() {
        let folder = tempfile::tempdir().unwrap();
        let mut conn = crate::database::writer(&folder.path().join("recado.db")).unwrap();
        schema::migrate(&mut conn).unwrap();
        // Migrations leave free pages, which would be room.
        conn.execute_batch("VACUUM").unwrap();
        let writer = Writer::start(conn).unwrap();
        let store = |changes| writer.write(move |tx| commit::apply(tx, changes));
        store(ChangeSet::new().insert(company())).await.unwrap();
        // Less than a probe takes.
        leave_room(&writer, 8).await;
        let many = (0..500).fold(ChangeSet::new(), |all, n| all.insert(contact(n)));
        let full = store(many).await;
        assert!(matches!(full, Err(CommitError::Store(StoreError::Unavailable(_)))), "{full:?}");
        let ready = async || {
            // A probe is good for a second.
            writer.written.disk.forget_probe();
            writer.ready().await
        };
        assert!(matches!(ready().await, Err(StoreError::Unavailable(_))));
        // A small write finds room, and others do not.
        store(ChangeSet::new().insert(contact(1))).await.unwrap();
        assert!(ready().await.is_err());
        leave_room(&writer, 1_000).await;
        ready().await.unwrap();
        let probed = writer.written.transactions.load(Ordering::Relaxed);
        ready().await.unwrap();
        let left = "SELECT count(*) FROM schema_migrations WHERE number < 0";
        let left = writer.write(move |tx| {
            tx.conn.query_row(left, [], |row| row.get::<_, i64>(0)).map_err(read_error)
        });
        assert_eq!(left.await.unwrap(), 0);
        assert_eq!(writer.written.transactions.load(Ordering::Relaxed), probed + 2);
        writer.close().await;
    }
}
