//! A connection of its own.

use std::pin::Pin;

use recado_core::halts::Halt;
use recado_core::idempotency::RememberedCall;
use recado_core::store::StoreError;
use recado_store_sql::transfer::{Part, Scope, moved_tables};
use recado_store_sql::{Layout, Sealer};
use tokio_postgres::RowStream;
use tokio_postgres::error::SqlState;

use super::repeat::Shapes;
use crate::error::failed;
use crate::pool::{Object, Pool, PooledConnection};

/// The settings of the connection: statements take as long as the tables are large, and what a
/// source has sent waits for as long as the target takes for what it got before.
const SETTINGS: &str = "SET statement_timeout = 0; SET lock_timeout = 10000; \
     SET idle_in_transaction_session_timeout = 0; SET tcp_user_timeout = 0; \
     SET enable_seqscan = on; \
     SET maintenance_work_mem = '256MB'; SET plan_cache_mode = auto";
/// How many times the tables are locked, while others write.
const LOCK_ATTEMPTS: u32 = 5;

/// The connection. When this is dropped, the connection is closed, and the transaction that it is
/// in is undone.
pub(super) struct Session {
    pub(super) client: PooledConnection,
    pub(super) sealer: Sealer,
    pub(super) scope: Scope,
    /// The part that is being read.
    pub(super) reading: Option<(Part, Pin<Box<RowStream>>)>,
    pub(super) shapes: Shapes,
}

impl Session {
    pub(super) async fn open(pool: &Pool, scope: Scope) -> Result<Self, StoreError> {
        let client = Object::take(pool.get().await?);
        let (sealer, shapes) = (pool.sealer().clone(), Shapes::default());
        let session = Self { client, sealer, scope, reading: None, shapes };
        session.run(SETTINGS).await?;
        Ok(session)
    }

    /// Runs statements without parameters.
    pub(super) async fn run(&self, statements: &str) -> Result<(), StoreError> {
        self.client.batch_execute(statements).await.map_err(failed)
    }

    /// Begins a transaction that sees one state of the database. While an installation is closed,
    /// nobody else writes rows that are moved until the transaction ends.
    ///
    /// R262.
    pub(super) async fn begin_reading(&self, is_closed: bool) -> Result<(), StoreError> {
        let lock = match self.scope {
            // The lock comes before the first query, which decides what state is seen.
            Scope::Installation if is_closed => {
                let mut tables = moved_tables();
                // The move itself writes halts, and calls that were begun before are finished.
                let written = [Halt::TABLE.name, RememberedCall::TABLE.name];
                tables.retain(|table| !written.contains(table));
                format!("; LOCK TABLE {} IN SHARE MODE", tables.join(", "))
            }
            _ => String::new(),
        };
        let begin = format!("BEGIN ISOLATION LEVEL REPEATABLE READ{lock}");
        for _ in 1..LOCK_ATTEMPTS {
            match self.client.batch_execute(&begin).await {
                Ok(()) => return Ok(()),
                Err(error) if is_contended(&error) => self.run("ROLLBACK").await?,
                Err(error) => return Err(failed(error)),
            }
        }
        self.run(&begin).await
    }
}

fn is_contended(error: &tokio_postgres::Error) -> bool {
    let code = error.code();
    code == Some(&SqlState::T_R_DEADLOCK_DETECTED) || code == Some(&SqlState::LOCK_NOT_AVAILABLE)
}

#[cfg(test)]
mod tests {
    use recado_testkit::postgres::TestPostgres;

    use super::*;
    use crate::{Options, PostgresStore};

    /// R461: what a source has sent may wait longer than any other answer.
    #[tokio::test(flavor = "multi_thread")]
    async fn a_source_waits_for_as_long_as_the_target_takes() {
        const LIMIT: &str = "SHOW tcp_user_timeout";
        let database = TestPostgres::shared().fresh_database();
        let store = PostgresStore::connect(database.url(), Options::default()).await.unwrap();
        let other = store.pool.get().await.unwrap().query_one(LIMIT, &[]).await.unwrap();
        assert_eq!(other.get::<_, &str>(0), "30000", "milliseconds");
        let session = Session::open(&store.pool, Scope::Installation).await.unwrap();
        let row = session.client.query_one(LIMIT, &[]).await.unwrap();
        assert_eq!(row.get::<_, &str>(0), "0");
    }
}
