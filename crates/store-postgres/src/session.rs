//! Running statements on one connection, all in one round trip.

use std::borrow::Cow;
use std::pin::Pin;
use std::time::Duration;

use futures_util::{FutureExt, TryStreamExt};
use recado_core::store::{StoreError, Stored};
use recado_store_sql::Sealer;
use tokio_postgres::{Error, Row};

use crate::columns::Columns;
use crate::error::{failed, follows};
use crate::failover::Failover;
use crate::param::Param;
use crate::pool::{Object, Pool};
use crate::table::Table;

/// A statement with its parameters.
#[derive(Debug)]
pub(crate) struct Statement {
    sql: Cow<'static, str>,
    params: Vec<Param>,
}

impl Statement {
    /// A statement with its parameters.
    pub(crate) fn new(sql: impl Into<Cow<'static, str>>, params: Vec<Param>) -> Self {
        Self { sql: sql.into(), params }
    }
}

/// The transaction in which statements run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TransactionMode {
    /// Each statement runs by itself.
    Nothing,
    /// All statements take effect, or none. Each sees what was committed before it began.
    Transaction,
    /// As `Transaction`, and it fails rather than wait long for a lock.
    Brief,
    /// All statements see one state of the database, and write nothing.
    Snapshot,
}

/// Fifty milliseconds are much longer than a transaction that waits for nothing takes.
const BEGIN_BRIEF: &str = "BEGIN; SET LOCAL lock_timeout = 50";

/// The results of statements.
pub(crate) struct SessionOutcome {
    /// The rows of each statement.
    pub(crate) rows: Vec<Result<Vec<Row>, Error>>,
    /// Whether the transaction was ended. It has no meaning if a statement failed.
    pub(crate) end: Result<(), Error>,
}

impl SessionOutcome {
    /// The rows, or the first failure with the index of its statement: later statements fail
    /// because of it.
    pub(crate) fn into_rows(self) -> Result<Vec<Vec<Row>>, (usize, Error)> {
        let count = self.rows.len();
        let mut rows = Vec::with_capacity(count);
        let mut first = None;
        for (at, result) in self.rows.into_iter().enumerate() {
            match result {
                Ok(found) => rows.push(found),
                Err(error) if first.is_none() || !follows(&error) && is_follow(&first) => {
                    first = Some((at, error));
                }
                Err(_) => {}
            }
        }
        match (first, self.end) {
            (Some(first), _) => Err(first),
            (None, Err(error)) => Err((count, error)),
            (None, Ok(())) => Ok(rows),
        }
    }
}

fn is_follow(first: &Option<(usize, Error)>) -> bool {
    first.as_ref().is_some_and(|(_, error)| follows(error))
}

type Running<'a, T> = Pin<Box<dyn Future<Output = Result<T, Error>> + Send + 'a>>;

/// A future that has been started: its request is sent.
enum StartedFuture<'a, T> {
    Running(Running<'a, T>),
    Done(Result<T, Error>),
}

impl<'a, T> StartedFuture<'a, T> {
    /// Sends the request of `future`, without waiting for the answer.
    fn new(future: impl Future<Output = Result<T, Error>> + Send + 'a) -> Self {
        let mut running: Running<'a, T> = Box::pin(future);
        match running.as_mut().now_or_never() {
            Some(done) => Self::Done(done),
            None => Self::Running(running),
        }
    }

    async fn finish(self) -> Result<T, Error> {
        match self {
            Self::Running(running) => running.await,
            Self::Done(done) => done,
        }
    }
}

/// A connection of the pool.
pub(crate) struct Session {
    connection: Object,
    failover: Failover,
    commit_timeout: Duration,
}

impl Session {
    /// Takes a connection from the pool. Waits for a bounded time.
    pub(crate) async fn take(pool: &Pool) -> Result<Self, StoreError> {
        let connection = pool.get().await?;
        let (failover, commit_timeout) = (pool.failover().clone(), pool.commit_timeout());
        Ok(Self { connection, failover, commit_timeout })
    }

    /// Sends all statements with the beginning and end of their transaction, then awaits all
    /// answers. Everything is sent together, so a caller that is dropped leaves no transaction
    /// open.
    pub(crate) async fn run(
        &self,
        around: TransactionMode,
        statements: Vec<Statement>,
    ) -> Result<SessionOutcome, StoreError> {
        let mut prepared = Vec::with_capacity(statements.len());
        for statement in statements {
            let known = self.connection.prepare_cached(&statement.sql);
            let known = self.failover.answer(known).await.map_err(failed)?;
            prepared.push((known, statement.params));
        }
        let begin = match around {
            TransactionMode::Nothing => None,
            TransactionMode::Transaction => Some("BEGIN"),
            TransactionMode::Brief => Some(BEGIN_BRIEF),
            TransactionMode::Snapshot => Some("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"),
        };
        let client: &tokio_postgres::Client = &self.connection;
        let begin = begin.map(|begin| StartedFuture::new(client.batch_execute(begin)));
        let running: Vec<_> = prepared
            .into_iter()
            .map(|(statement, params)| {
                StartedFuture::new(async move {
                    client.query_raw(&statement, params).await?.try_collect::<Vec<Row>>().await
                })
            })
            .collect();
        let end = begin.is_some().then(|| StartedFuture::new(client.batch_execute("COMMIT")));
        let answers = async {
            let begun = match begin {
                Some(begin) => begin.finish().await,
                None => Ok(()),
            };
            let mut rows = Vec::with_capacity(running.len());
            for running in running {
                rows.push(running.finish().await);
            }
            let ended = match end {
                Some(end) => self.committed(end.finish()).await,
                None => Ok(()),
            };
            SessionOutcome { rows, end: begun.and(ended) }
        };
        Ok(self.failover.answer(answers).await)
    }

    /// The end of a transaction. The server has no limit for the time in which a commit waits for a
    /// standby: when it takes too long, the connection is given up, and the outcome is unknown
    /// (R458).
    async fn committed(&self, end: impl Future<Output = Result<(), Error>>) -> Result<(), Error> {
        let mut end = std::pin::pin!(end);
        tokio::select! {
            biased;
            ended = &mut end => return ended,
            () = tokio::time::sleep(self.commit_timeout) => self.connection.give_up(),
        }
        end.await
    }

    /// The rows of one statement.
    pub(crate) async fn rows(
        &self,
        sql: impl Into<Cow<'static, str>>,
        params: Vec<Param>,
    ) -> Result<Vec<Row>, StoreError> {
        let statements = vec![Statement::new(sql, params)];
        let outcome = self.run(TransactionMode::Nothing, statements).await?;
        let mut rows = outcome.into_rows().map_err(|(_, error)| failed(error))?;
        Ok(rows.pop().unwrap_or_default())
    }

    /// Runs what has no parameters and answers nothing.
    pub(crate) async fn execute(&self, sql: &str) -> Result<(), StoreError> {
        self.failover.answer(self.connection.batch_execute(sql)).await.map_err(failed)
    }

    /// Closes the connection, with everything that the server keeps for it.
    pub(crate) fn close(self) {
        drop(Object::take(self.connection));
    }
}

/// Reads with one statement.
pub(crate) async fn rows(
    pool: &Pool,
    sql: impl Into<Cow<'static, str>>,
    params: Vec<Param>,
) -> Result<Vec<Row>, StoreError> {
    Session::take(pool).await?.rows(sql, params).await
}

/// Reads one state of the database with several statements.
pub(crate) async fn snapshot(
    pool: &Pool,
    statements: Vec<Statement>,
) -> Result<Vec<Vec<Row>>, StoreError> {
    let session = Session::take(pool).await?;
    let outcome = session.run(TransactionMode::Snapshot, statements).await?;
    outcome.into_rows().map_err(|(_, error)| failed(error))
}

/// The record of a primary key.
pub(crate) async fn get<T: Table>(
    pool: &Pool,
    key: Vec<Param>,
) -> Result<Option<Stored<T>>, StoreError> {
    first_sealed(&rows(pool, T::sql().get.as_str(), key).await?, pool.sealer())
}

/// The first record of a result, of any kind.
pub(crate) fn first_sealed<T: Table>(
    rows: &[Row],
    sealer: &Sealer,
) -> Result<Option<Stored<T>>, StoreError> {
    rows.first().map(|row| Columns::new(row).stored_sealed(sealer)).transpose()
}

/// All records of a result, of any kind, with their versions.
pub(crate) fn all_sealed<T: Table>(
    rows: &[Row],
    sealer: &Sealer,
) -> Result<Vec<Stored<T>>, StoreError> {
    rows.iter().map(|row| Columns::new(row).stored_sealed(sealer)).collect()
}

/// The first record of a result, of a kind that holds no secrets.
pub(crate) fn first_stored<T: Table>(rows: &[Row]) -> Result<Option<Stored<T>>, StoreError> {
    rows.first().map(|row| Columns::new(row).stored()).transpose()
}

/// All records of a result, of a kind that holds no secrets, with their versions.
pub(crate) fn all_stored<T: Table>(rows: &[Row]) -> Result<Vec<Stored<T>>, StoreError> {
    rows.iter().map(|row| Columns::new(row).stored()).collect()
}

/// The records that a condition (`WHERE … ORDER BY …`) selects.
pub(crate) async fn select<T: Table>(
    pool: &Pool,
    condition: &str,
    params: Vec<Param>,
) -> Result<Vec<Stored<T>>, StoreError> {
    let found = rows(pool, format!("{} {condition}", T::sql().select), params).await?;
    all_sealed(&found, pool.sealer())
}

/// All records of a company, by `created_at`, then `id`.
pub(crate) async fn of_company<T: Table>(
    pool: &Pool,
    company: recado_core::ids::CompanyId,
) -> Result<Vec<T>, StoreError> {
    let condition = "WHERE company_id = $1 ORDER BY created_at, id";
    let stored = select::<T>(pool, condition, crate::param::params![company.uuid()]).await?;
    Ok(stored.into_iter().map(Stored::into_value).collect())
}
