//! What only one of the stores has: a pool of connections, or a thread that writes.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use metrics::{Unit, counter, describe_counter, describe_gauge, gauge};
use recado_core::store::StoreError;
use recado_store_postgres::PostgresStore;
use recado_store_sqlite::SqliteStore;

use super::float;

const SIZE: &str = "recado_database_bytes";
const POOL_MAX: &str = "recado_postgres_pool_max_connections";
const POOL: &str = "recado_postgres_pool_connections";
const WAITING: &str = "recado_postgres_pool_waiting";
const TRANSACTIONS: &str = "recado_sqlite_transactions_total";
const WRITES: &str = "recado_sqlite_writes_total";

pub(super) fn describe() {
    describe_gauge!(SIZE, Unit::Bytes, "Size of the database, with the log of SQLite.");
    describe_gauge!(POOL_MAX, Unit::Count, "The most connections of the pool.");
    describe_gauge!(POOL, Unit::Count, "Open connections of the pool, by whether they are in use.");
    describe_gauge!(WAITING, Unit::Count, "Calls that wait for a connection of the pool.");
    describe_counter!(TRANSACTIONS, Unit::Count, "Durable transactions of the writer.");
    describe_counter!(
        WRITES,
        Unit::Count,
        "Writes in these transactions: more than one in each is a group commit."
    );
}

/// The store of this process, for what is its own.
#[derive(Clone)]
pub(crate) enum StoreUse {
    /// A file.
    Sqlite {
        /// The store.
        store: Arc<SqliteStore>,
        /// The file.
        path: PathBuf,
    },
    /// A pool of connections.
    Postgres(PostgresStore),
}

impl StoreUse {
    /// Sets what costs nothing to find out.
    pub(crate) fn record(&self) {
        match self {
            Self::Sqlite { store, .. } => {
                let stats = store.stats();
                counter!(TRANSACTIONS).absolute(stats.transactions);
                counter!(WRITES).absolute(stats.writes);
            }
            Self::Postgres(store) => {
                let pool = store.pool_use();
                gauge!(POOL_MAX).set(float(pool.max));
                gauge!(POOL, "state" => "idle").set(float(pool.idle));
                gauge!(POOL, "state" => "in_use").set(float(pool.in_use));
                gauge!(WAITING).set(float(pool.waiting));
            }
        }
    }

    /// Sets the size of the database.
    ///
    /// # Errors
    ///
    /// When Postgres fails. A file that cannot be read has no size.
    pub(crate) async fn record_size(&self) -> Result<(), StoreError> {
        let size = match self {
            Self::Postgres(store) => store.size().await?,
            Self::Sqlite { path, .. } => {
                let path = path.clone();
                let size = tokio::task::spawn_blocking(move || with_log(&path));
                size.await.map_err(StoreError::unavailable)?
            }
        };
        gauge!(SIZE).set(float(size));
        Ok(())
    }
}

/// The bytes of a database file and its log.
fn with_log(path: &Path) -> u64 {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    let bytes = |path: &Path| std::fs::metadata(path).map_or(0, |found| found.len());
    bytes(path) + bytes(Path::new(&log))
}
