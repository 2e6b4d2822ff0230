//! The schema: forward-only, checksummed migrations that are part of this crate.

mod engine;
mod list;

use std::collections::BTreeMap;

use recado_core::deliveries::Shards;
use recado_core::store::StoreError;
use recado_store_sql::{MigrationPlan, expands};
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, Error};

use crate::PostgresStore;
use crate::error::{MIGRATE, failed};
use crate::shards::choose;
pub use engine::EngineFeature;
use list::{MIGRATIONS, Migration};

/// The advisory lock of the process that migrates.
const LOCK: i64 = 0x7265_6361_646f_0001;

/// Why the schema could not be migrated.
#[derive(Debug, thiserror::Error)]
pub enum MigrateError {
    /// An applied migration differs from the one of this version. Either it was changed afterwards,
    /// or the database belongs to another program.
    #[error("migration {version} was applied with another content")]
    Changed {
        /// The number of the migration.
        version: i32,
    },
    /// The database was migrated by a newer version.
    #[error("the database was migrated by a newer version, to {version}")]
    Newer {
        /// The number of the last migration that was applied.
        version: i32,
    },
    /// The encoding of the database is not UTF-8.
    #[error("the database's encoding is {encoding}; it must be UTF8")]
    Encoding {
        /// The encoding of the database.
        encoding: String,
    },
    /// The database's engine is not Postgres, or does not behave as it does. Use a database of
    /// Postgres itself.
    #[error("the database's engine lacks {lacks}: {said}")]
    Engine {
        /// What it lacks.
        lacks: EngineFeature,
        /// What it answered.
        said: String,
    },
    /// The installation has another number of shards, and is in use. Leave its number, or begin
    /// with a new database (R464).
    #[error(
        "the database has {has} shards and is in use: {wanted} can be chosen for a new one only"
    )]
    Shards {
        /// How many it has.
        has: u16,
        /// How many it was to have.
        wanted: u16,
    },
    /// The database failed. The migration under way was not applied.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<MigrateError> for StoreError {
    fn from(error: MigrateError) -> Self {
        match error {
            MigrateError::Store(error) => error,
            other => Self::corrupt(other),
        }
    }
}

impl PostgresStore {
    /// Brings the schema up to date. Each migration is applied wholly or not at all. If several
    /// processes call this at the same time, one applies the migrations and the others wait for it.
    ///
    /// # Errors
    ///
    /// [`MigrateError`]; calling it again is safe.
    pub async fn migrate(&self) -> Result<(), MigrateError> {
        self.migrated(None).await
    }

    /// [`PostgresStore::migrate`], and gives the installation this number of shards (R464). It is
    /// chosen before the first process serves, and never changes. Choosing the same again is fine.
    ///
    /// # Errors
    ///
    /// [`MigrateError`]; [`MigrateError::Shards`] if it has another number and is in use.
    pub async fn migrate_into(&self, shards: Shards) -> Result<(), MigrateError> {
        self.migrated(Some(shards)).await
    }

    async fn migrated(&self, shards: Option<Shards>) -> Result<(), MigrateError> {
        let client = self.pool.get().await?;
        // The connection is not returned to the pool, because its settings are changed. Dropping it
        // releases the lock.
        let client = crate::pool::Object::take(client);
        client
            .batch_execute(
                "SET statement_timeout = 0; SET lock_timeout = 0; \
                 SET idle_in_transaction_session_timeout = 0; SET enable_seqscan = on",
            )
            .await
            .map_err(failed)?;
        client.execute("SELECT pg_advisory_lock($1)", &[&LOCK]).await.map_err(failed)?;
        migrate(&client, &*self.pool.get().await?).await?;
        if let Some(shards) = shards {
            choose(&client, shards).await?;
        }
        drop(client);
        Ok(self.check_keys().await?)
    }

    /// Whether there is a database of Recado: at least one migration was applied. Makes nothing.
    ///
    /// # Errors
    ///
    /// When the database cannot be reached.
    pub async fn exists(&self) -> Result<bool, StoreError> {
        let client = self.pool.get().await?;
        match client.query(APPLIED, &[]).await {
            Err(error) if error.code() == Some(&SqlState::UNDEFINED_TABLE) => Ok(false),
            applied => Ok(!applied.map_err(failed)?.is_empty()),
        }
    }

    /// What migrating would do; nothing is written (R249).
    ///
    /// # Errors
    ///
    /// [`MigrateError`], as [`PostgresStore::migrate`].
    pub async fn plan(&self) -> Result<MigrationPlan, MigrateError> {
        let client = self.pool.get().await?;
        plan(&client).await
    }

    /// Fails unless the schema is the one of this version, or one on which it runs.
    pub(crate) async fn check_schema(&self) -> Result<(), StoreError> {
        let applied = crate::session::rows(&self.pool, APPLIED, Vec::new()).await?;
        let applied = applied.iter().map(|row| (row.get(0), row.get(1))).collect::<Vec<_>>();
        let oldest = match applied.len() > MIGRATIONS.len() {
            true => oldest(&*self.pool.get().await?).await.map_err(failed)?,
            false => None,
        };
        let pending = pending(&applied, oldest)?;
        if pending.is_empty() {
            return Ok(());
        }
        let found = format!(
            "it has migration {}, {} is needed",
            MIGRATIONS.len() - pending.len(),
            MIGRATIONS.len()
        );
        Err(StoreError::not_migrated(MIGRATE, found))
    }
}

/// The number of the oldest schema whose programs run on the one that is named as the newest
/// (R248): one row.
const OLDEST: &str = "CREATE TABLE IF NOT EXISTS recado_schema_oldest (\
                      only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row), \
                      number int NOT NULL, newest int NOT NULL)";

/// The migrations that were applied.
const HISTORY: &str = "CREATE TABLE IF NOT EXISTS recado_migrations (version int PRIMARY KEY, \
                       name text NOT NULL, checksum text NOT NULL, \
                       applied_at timestamptz NOT NULL DEFAULT now())";

const APPLIED: &str = "SELECT version, checksum FROM recado_migrations ORDER BY version";

/// The migrations that were not applied yet. Later ones than this program knows are passed over if
/// it runs on them (R248).
fn pending(
    applied: &[(i32, String)],
    oldest: Option<i32>,
) -> Result<&'static [Migration], MigrateError> {
    let known = MIGRATIONS.len();
    for ((version, checksum), known) in applied.iter().zip(MIGRATIONS) {
        if known.version != *version || known.checksum() != *checksum {
            return Err(MigrateError::Changed { version: *version });
        }
    }
    match applied.last() {
        Some((version, _)) if applied.len() > known => {
            let runs =
                oldest.is_some_and(|oldest| usize::try_from(oldest).is_ok_and(|o| o <= known));
            if runs { Ok(&[]) } else { Err(MigrateError::Newer { version: *version }) }
        }
        _ => Ok(&MIGRATIONS[applied.len()..]),
    }
}

/// The oldest schema whose programs run on the one of the database, if that is known of it.
async fn oldest(client: &Client) -> Result<Option<i32>, Error> {
    let query = "SELECT number FROM recado_schema_oldest \
                 WHERE newest = (SELECT max(version) FROM recado_migrations)";
    match client.query_opt(query, &[]).await {
        Err(error) if error.code() == Some(&SqlState::UNDEFINED_TABLE) => Ok(None),
        found => Ok(found?.map(|row| row.get(0))),
    }
}

/// Applies what is pending. `other` is another connection to the same database.
async fn migrate(client: &Client, other: &Client) -> Result<(), MigrateError> {
    let row = client.query_one("SHOW server_encoding", &[]).await.map_err(failed)?;
    let encoding: String = row.get(0);
    if encoding != "UTF8" {
        return Err(MigrateError::Encoding { encoding });
    }
    let applied = applied(client).await.map_err(failed)?;
    let oldest = oldest(client).await.map_err(failed)?;
    let pending = pending(&applied, oldest)?;
    if !pending.is_empty() {
        engine::check(client, other).await?;
        client.batch_execute(HISTORY).await.map_err(failed)?;
    }
    for migration in pending {
        tracing::info!(version = migration.version, name = migration.name, "migrating the schema");
        apply(client, migration).await.map_err(failed)?;
    }
    Ok(())
}

/// What migrating would do.
async fn plan(client: &Client) -> Result<MigrationPlan, MigrateError> {
    let applied = applied(client).await.map_err(failed)?;
    let oldest = oldest(client).await.map_err(failed)?;
    let pending = pending(&applied, oldest)?;
    let sizes = "SELECT relname::text, pg_total_relation_size(oid) FROM pg_class \
                 WHERE relkind = 'r' AND pg_table_is_visible(oid)";
    let sizes = client.query(sizes, &[]).await.map_err(failed)?;
    let sizes: BTreeMap<String, i64> = sizes.iter().map(|row| (row.get(0), row.get(1))).collect();
    let bytes = client.query_one("SELECT pg_database_size(current_database())", &[]).await;
    let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    let found = applied.last().map_or(0, |(version, _)| u32::try_from(*version).unwrap_or(0));
    Ok(MigrationPlan::new(
        found,
        number(MIGRATIONS.len()),
        pending.iter().map(|m| (u32::try_from(m.version).unwrap_or(0), m.sql)),
        u64::try_from(bytes.map_err(failed)?.get::<_, i64>(0)).unwrap_or(0),
        |name| sizes.get(name).and_then(|bytes| u64::try_from(*bytes).ok()),
    ))
}

/// The migrations that were applied.
async fn applied(client: &Client) -> Result<Vec<(i32, String)>, Error> {
    match client.query(APPLIED, &[]).await {
        Err(error) if error.code() == Some(&SqlState::UNDEFINED_TABLE) => Ok(Vec::new()),
        rows => Ok(rows?.iter().map(|row| (row.get(0), row.get(1))).collect()),
    }
}

/// Applies one migration and records it, in one transaction.
async fn apply(client: &Client, migration: &Migration) -> Result<(), Error> {
    let (oldest, or_else) = match expands(migration.sql) {
        true => (migration.version - 1, ""),
        false => (migration.version, ", number = excluded.number"),
    };
    let newest = migration.version;
    // None of the values needs escaping: a number, a name of this crate, hexadecimal digits.
    let script = format!(
        "BEGIN;\n{OLDEST};\n{}\nINSERT INTO recado_migrations (version, name, checksum) \
         VALUES ({newest}, '{}', '{}');\n\
         INSERT INTO recado_schema_oldest (number, newest) VALUES ({oldest}, {newest}) \
         ON CONFLICT (only_row) DO UPDATE SET newest = excluded.newest{or_else};\nCOMMIT;",
        migration.sql,
        migration.name,
        migration.checksum(),
    );
    client.batch_execute(&script).await
}

#[cfg(test)]
mod sets_tests;
#[cfg(test)]
mod totals_tests;

#[cfg(test)]
mod upgrades;

#[cfg(test)]
mod tests;
