//! The transaction in which a batch of writes is made (group commit).

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;

use recado_core::store::{CommitError, StoreError};
use rusqlite::ErrorCode;

use crate::contacts_search::Pending;
use crate::database::Connection;
use crate::writer::WriteCounts;

/// How many times the writer tries to get the write lock while another process holds it. Each
/// attempt lasts for the busy timeout.
const LOCK_ATTEMPTS: u32 = 3;

/// What a task writes with, inside a transaction.
pub(crate) struct Transaction<'c> {
    /// The connection that writes.
    pub(crate) conn: &'c Connection,
    /// What is to be written to the search index before the commit.
    pub(crate) search: Pending,
    /// Whether something was deleted that the log must not keep (R197).
    pub(crate) has_erased: bool,
    /// Whether it was a probe of the disk (R240).
    pub(crate) has_probed: bool,
}

/// A write that waits for a transaction.
pub(crate) trait WriteTask: Send {
    /// Makes the write. If this fails, what it wrote is undone.
    fn apply(&mut self, tx: &mut Transaction<'_>) -> Result<(), CommitError>;

    /// Whether it has a transaction to itself.
    fn is_alone(&self) -> bool;

    /// Sends the outcome to the caller.
    fn answer(self: Box<Self>, outcome: Result<(), CommitError>);
}

/// Why a whole batch was not written.
enum BatchError {
    /// Certainly nothing was written.
    Nothing(rusqlite::Error),
    /// The commit itself failed, so the outcome is unknown.
    Unknown(rusqlite::Error),
}

/// What a batch did beside its writes.
#[derive(Clone, Copy, Debug)]
struct Done {
    has_erased: bool,
    has_probed: bool,
}

/// Takes the tasks of the next transaction from those that wait, in their order.
pub(crate) fn next_batch(waiting: &mut Vec<Box<dyn WriteTask>>) -> Vec<Box<dyn WriteTask>> {
    let together = waiting.iter().take_while(|task| !task.is_alone()).count();
    waiting.drain(..together.max(1).min(waiting.len())).collect()
}

/// Makes the writes of a batch in one transaction, each in a savepoint of its own if there are
/// several, and answers them when it is durable. The batch is empty afterwards.
pub(crate) fn write_batch(
    conn: &Connection,
    batch: &mut Vec<Box<dyn WriteTask>>,
    written: &WriteCounts,
) {
    let mut outcomes = Vec::with_capacity(batch.len());
    let done = begin(conn)
        .and_then(|()| apply(conn, batch, &mut outcomes))
        .map_err(BatchError::Nothing)
        .and_then(|done| commit(conn, &outcomes).map(|()| done));
    match done {
        Ok(done) => {
            if done.has_probed {
                written.disk.takes();
            }
            // A full disk may fail a statement alone, and then its task.
            outcomes.iter().filter_map(cause).for_each(|error| written.disk.failed(error));
            written.erasures.fetch_add(u64::from(done.has_erased), Ordering::Relaxed);
            written.transactions.fetch_add(1, Ordering::Relaxed);
            let applied = outcomes.iter().filter(|outcome| outcome.is_ok()).count();
            written.tasks.fetch_add(applied as u64, Ordering::Relaxed);
            batch.drain(..).zip(outcomes).for_each(|(task, outcome)| task.answer(outcome));
        }
        Err(failure) => {
            roll_back(conn);
            let unknown = matches!(failure, BatchError::Unknown(_));
            let (BatchError::Nothing(error) | BatchError::Unknown(error)) = failure;
            written.disk.failed(&error);
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

/// Why the database failed a task.
fn cause(outcome: &Result<(), CommitError>) -> Option<&rusqlite::Error> {
    match outcome {
        Err(CommitError::Store(StoreError::Unavailable(Some(cause)))) => cause.downcast_ref(),
        _ => None,
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

/// Applies each task, in a savepoint if there are others, then writes the search index. An error is
/// an error of the transaction as a whole.
fn apply(
    conn: &Connection,
    batch: &mut [Box<dyn WriteTask>],
    outcomes: &mut Vec<Result<(), CommitError>>,
) -> rusqlite::Result<Done> {
    let search = Pending::default();
    let mut tx = Transaction { conn, search, has_erased: false, has_probed: false };
    // If the only one fails, the transaction is rolled back. Within a savepoint each statement
    // costs more the more pages were changed before it: SQLite walks through what it has kept of
    // them.
    let in_savepoint = batch.len() > 1;
    for task in batch {
        if in_savepoint {
            execute(conn, "SAVEPOINT task")?;
        }
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
            if in_savepoint {
                execute(conn, "ROLLBACK TO task")?;
            }
        }
        if in_savepoint {
            execute(conn, "RELEASE task")?;
        }
        outcomes.push(outcome);
    }
    tx.search.write(conn)?;
    Ok(Done { has_erased: tx.has_erased, has_probed: tx.has_probed })
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
            // The last page of the transaction is what commits it, and there was no room for it.
            Err(error) if is_full(&error) => return Err(BatchError::Nothing(error)),
            result => return result.map_err(BatchError::Unknown),
        }
    }
}

/// Ends a transaction under way, if there is one.
pub(crate) fn roll_back(conn: &Connection) {
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

fn is_full(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::DiskFull)
}

#[cfg(test)]
mod tests {
    use recado_core::store::{ChangeSet, Conflict, UniqueKey};

    use super::*;
    use crate::schema;
    use crate::writer::tests::{company, contact, task};
    use crate::writer::write_job;

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

    /// R443.
    #[test]
    fn a_large_change_set_that_fails_leaves_nothing_of_itself_and_all_of_others() {
        let mut conn = Connection::open_in_memory().unwrap();
        schema::migrate(&mut conn).unwrap();
        let large = |numbers: std::ops::Range<u128>| {
            numbers.fold(ChangeSet::new(), |changes, n| changes.insert(contact(n)))
        };
        let (before, before_answer) = task(ChangeSet::new().insert(company()));
        // The last contact is there already.
        let (failing, failed) = task(large(1..200).insert(contact(1)));
        let (stored, stored_answer) = task(large(200..400));
        let (after, after_answer) = task(ChangeSet::new().insert(contact(1)));
        let written = WriteCounts::default();
        let mut waiting = vec![before, failing, stored, after];
        while !waiting.is_empty() {
            write_batch(&conn, &mut next_batch(&mut waiting), &written);
        }
        let outcome = failed.blocking_recv().unwrap();
        let Err(CommitError::Conflict(conflict)) = outcome else { panic!("{outcome:?}") };
        assert_eq!(conflict, Conflict::Taken(UniqueKey::Id));
        for answer in [before_answer, stored_answer, after_answer] {
            answer.blocking_recv().unwrap().unwrap();
        }
        let count = |query| conn.query_row(query, [], |row| row.get::<_, i64>(0)).unwrap();
        assert_eq!(count("SELECT count(*) FROM contacts"), 201);
        assert_eq!(count("SELECT sum(contacts) FROM contact_facets"), 201);
        assert_eq!(count("SELECT count(*) FROM contact_search('b1dor b1ora')"), 201);
        assert_eq!(written.tasks.into_inner(), 3);
    }

    /// R443: each statement would cost more than the one before.
    #[test]
    fn the_only_task_of_a_transaction_is_in_no_savepoint() {
        let mut conn = Connection::open_in_memory().unwrap();
        schema::migrate(&mut conn).unwrap();
        for (tasks, in_savepoint) in [(1, false), (2, true)] {
            let (mut batch, mut answers) = (Vec::new(), Vec::new());
            for _ in 0..tasks {
                let (task, answer) =
                    write_job(false, |tx| Ok(tx.conn.execute_batch("ROLLBACK TO task").is_ok()));
                batch.push(task);
                answers.push(answer);
            }
            write_batch(&conn, &mut batch, &WriteCounts::default());
            for answer in answers {
                assert_eq!(answer.blocking_recv().unwrap().unwrap(), in_savepoint, "{tasks}");
            }
        }
    }

    /// R443.
    #[test]
    fn a_large_change_set_has_a_transaction_to_itself_in_its_turn() {
        let large = || (0..200).fold(ChangeSet::new(), |all, n| all.insert(contact(n)));
        let small = || ChangeSet::new().insert(company());
        let sets = [small(), small(), large(), large(), small()];
        let mut waiting: Vec<_> = sets.into_iter().map(|set| task(set).0).collect();
        let mut sizes = Vec::new();
        while !waiting.is_empty() {
            sizes.push(next_batch(&mut waiting).len());
        }
        assert_eq!(sizes, [2, 1, 1, 1]);
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
}
