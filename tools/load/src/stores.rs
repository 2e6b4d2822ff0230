//! Opens a store by the URL of its database.

use std::sync::Arc;

use recado_core::store::Store;
use recado_store_postgres::{Options, PostgresStore};
use recado_store_sqlite::SqliteStore;

/// An error of any kind, for a command that ends with it.
pub(crate) type AnyError = Box<dyn std::error::Error + Send + Sync>;

/// The URL of a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Database<'a> {
    /// The path of a file.
    Sqlite(&'a str),
    /// A connection string.
    Postgres(&'a str),
}

impl<'a> Database<'a> {
    /// Reads `sqlite:PATH` or `postgres://…`.
    ///
    /// # Errors
    ///
    /// When it is neither.
    pub(crate) fn parse(url: &'a str) -> Result<Self, AnyError> {
        if let Some(path) = url.strip_prefix("sqlite:") {
            Ok(Self::Sqlite(path))
        } else if url.starts_with("postgres://") || url.starts_with("postgresql://") {
            Ok(Self::Postgres(url))
        } else {
            Err(format!("{url:?} is neither sqlite:PATH nor postgres://…").into())
        }
    }
}

/// Opens a database for a bulk load and migrates it. Postgres does not wait for the disk at each
/// commit; [`finish`] makes everything durable at the end.
///
/// # Errors
///
/// When it cannot be opened.
pub(crate) async fn open(url: &str) -> Result<Arc<dyn Store>, AnyError> {
    Ok(match Database::parse(url)? {
        Database::Sqlite(path) => {
            let store = SqliteStore::open(path)?;
            store.migrate()?;
            Arc::new(store)
        }
        Database::Postgres(url) => {
            let separator = if url.contains('?') { '&' } else { '?' };
            let url = format!("{url}{separator}options=-c%20synchronous_commit%3Doff");
            let store = PostgresStore::connect(&url, Options::default()).await?;
            store.migrate().await?;
            Arc::new(store)
        }
    })
}

/// Runs the database's maintenance after a bulk load, so that it does not run during measurements.
///
/// # Errors
///
/// When the database fails.
pub(crate) async fn finish(url: &str) -> Result<(), AnyError> {
    match Database::parse(url)? {
        Database::Sqlite(path) => {
            let connection = rusqlite::Connection::open(path)?;
            connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)")?;
        }
        Database::Postgres(url) => {
            let (client, connection) = tokio_postgres::connect(url, tokio_postgres::NoTls).await?;
            let connection = tokio::spawn(connection);
            client.batch_execute("VACUUM (ANALYZE)").await?;
            client.batch_execute("CHECKPOINT").await?;
            drop(client);
            connection.await??;
        }
    }
    Ok(())
}
