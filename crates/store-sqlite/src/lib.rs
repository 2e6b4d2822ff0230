#![doc = include_str!("../README.md")]
//!
//! # Overview
//!
//! Recado's store on an embedded SQLite file. One connection writes, with group commit, and several
//! connections read.
//!
//! The methods need a Tokio runtime. The file is in WAL mode with `synchronous=FULL`: an
//! acknowledged write survives a crash of the machine. Several processes of one machine may use the
//! same file. Only one of them writes at a time.
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod access;
mod accounts;
mod aliases;
mod backup;
mod batch;
mod campaigns;
mod cell;
mod commit;
mod connections;
mod contacts;
mod contacts_draft;
mod contacts_facets;
mod contacts_listing;
mod contacts_narrowing;
mod contacts_reads;
mod contacts_record;
mod contacts_search;
#[cfg(test)]
mod contract;
mod conversations;
mod custom_fields;
mod database;
mod deals;
mod deliveries;
mod deliveries_due;
mod deliveries_listing;
mod disk;
mod dispatches;
mod documents;
mod error;
mod events;
mod figures;
mod groups;
mod halts;
mod hashes;
mod inbound;
mod jobs;
mod links;
mod lists;
mod log;
mod merge;
mod message_refs;
mod message_texts;
mod messages;
mod messages_facets;
mod messages_listing;
mod messages_search;
mod newest_first;
mod outbox;
#[cfg(test)]
mod plans;
mod portions;
mod prosas;
mod readers;
mod reassign;
mod recipients;
mod records;
mod schema;
mod sealing;
mod table;
mod templates;
mod transfer;
mod unknown_events;
mod upkeep;
mod webhooks;
mod writer;

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Duration;
use std::{fmt, io};

use async_trait::async_trait;
use recado_core::events::Event;
use recado_core::ids::CompanyId;
use recado_core::store::{ChangeSet, Commit, CommitError, StoreError};
use recado_store_sql::SealingProgress;

pub use backup::back_up;
use batch::Transaction;
use database::Connection;
use error::ReadResult;
pub use error::SqliteError;
use log::Log;
use readers::Readers;
pub use recado_store_sql::{
    KeyFileError, MigrationPlan, MissingKeys, PlannedMigration, PlannedTable, SealedCounts, Sealer,
    SealingKey, SealingKeyId, TableWork,
};
use writer::Writer;

/// How long a read of a company may take.
const READ_LIMIT: Duration = Duration::from_secs(5);

/// A SQLite database as a [`recado_core::store::Store`].
///
/// Share it in an `Arc`; [`SqliteStore::close`] can be called on a clone of that. Writes that were
/// sent before the store is dropped are still made.
pub struct SqliteStore {
    path: PathBuf,
    sealer: Sealer,
    readers: Readers,
    writer: Writer,
    sealing: SealingProgress,
    log: Log,
}

/// The options of a [`SqliteStore`].
#[derive(Clone, Debug, Default)]
pub struct SqliteOptions {
    /// The keys that seal secrets at rest; by default none, and secrets are kept clear.
    pub sealer: Sealer,
}

/// Counts of what a store has written since it was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// The number of durable transactions.
    pub transactions: u64,
    /// The number of change sets and other writes in these transactions. It is greater than
    /// `transactions` when writes had to wait and were committed together.
    pub writes: u64,
}

impl fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteStore").field("path", &self.path).finish_non_exhaustive()
    }
}

impl SqliteStore {
    /// Whether there is a database at `path`: a file to which at least one migration was applied.
    /// Makes nothing and changes nothing.
    ///
    /// # Errors
    ///
    /// When there is a file that cannot be read, or is no database.
    pub fn exists(path: impl AsRef<Path>) -> Result<bool, SqliteError> {
        let path = path.as_ref();
        let is_missing = |e: io::Error| {
            matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
        };
        if path.metadata().is_err_and(is_missing) {
            return Ok(false);
        }
        Ok(schema::exists(&*database::reader(path)?)?)
    }

    /// Opens a database that keeps secrets clear, as [`SqliteStore::open_with`] does.
    ///
    /// # Errors
    ///
    /// As `open_with`.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, SqliteError> {
        Self::open_with(path, SqliteOptions::default())
    }

    /// Opens a database. The file is created if it is missing. Until the database is migrated,
    /// [`recado_core::store::Upkeep::ready`] and all reads and writes fail.
    ///
    /// # Errors
    ///
    /// When the file cannot be used, was migrated by a newer release or in another form, or holds
    /// secrets that are sealed with a key that is not among those of the options (R216).
    pub fn open_with(path: impl AsRef<Path>, options: SqliteOptions) -> Result<Self, SqliteError> {
        let path = path.as_ref().to_path_buf();
        let conn = database::writer(&path)?.sealed_by(&options.sealer);
        match schema::check(&conn) {
            Ok(()) => sealing::check(&conn)?,
            // What is sealed is looked at after the migration.
            Err(SqliteError::Older { .. }) => {}
            Err(error) => return Err(error),
        }
        let SqliteOptions { sealer } = options;
        let readers = Readers::new(path.clone(), sealer.clone(), READ_LIMIT);
        Ok(Self {
            path,
            sealer,
            readers,
            writer: Writer::start(conn)?,
            sealing: SealingProgress::default(),
            log: Log::default(),
        })
    }

    /// Sets how long a read of a company may take, 5 seconds unless set. A read that takes longer
    /// is ended, and answers [`StoreError::Unavailable`].
    #[must_use]
    pub fn with_read_limit(mut self, limit: Duration) -> Self {
        self.readers = Readers::new(self.path.clone(), self.sealer.clone(), limit);
        self
    }

    /// Brings the schema up to date: applies all missing migrations, or none. Processes that
    /// migrate at the same time wait for each other. This function blocks, and may take long on a
    /// large database.
    ///
    /// # Errors
    ///
    /// When the database is newer than this release or cannot be written, or holds secrets that are
    /// sealed with a key that is missing (R216).
    pub fn migrate(&self) -> Result<(), SqliteError> {
        let mut conn = database::writer(&self.path)?.sealed_by(&self.sealer);
        schema::migrate(&mut conn)?;
        sealing::check(&conn)
    }

    /// What migrating the database at a path would do; nothing is written and no file is made
    /// (R249).
    /// `None` where there is no database. This function blocks.
    ///
    /// # Errors
    ///
    /// When the file cannot be read, or was migrated by a newer release or in another form.
    pub fn plan(path: impl AsRef<Path>) -> Result<Option<MigrationPlan>, SqliteError> {
        let conn = database::looker(path.as_ref())?;
        conn.map(|conn| schema::plan(&conn)).transpose()
    }

    /// How many stored secrets are sealed with which key.
    ///
    /// # Errors
    ///
    /// As any read.
    pub async fn sealed_counts(&self) -> Result<SealedCounts, StoreError> {
        self.read(sealing::counts).await
    }

    /// Finishes the reads and writes under way and closes the file. Later reads and writes fail. A
    /// second call does nothing.
    pub async fn close(&self) {
        self.readers.close().await;
        self.writer.close().await;
    }

    /// Counts of what was written since the store was opened.
    pub fn stats(&self) -> Stats {
        let written = self.writer.written();
        Stats {
            transactions: written.transactions.load(Ordering::Relaxed),
            writes: written.tasks.load(Ordering::Relaxed),
        }
    }

    /// All events of a company, in the order of their commits; for tests.
    ///
    /// # Errors
    ///
    /// As any read.
    #[doc(hidden)]
    pub async fn events(&self, company: CompanyId) -> Result<Vec<Event>, StoreError> {
        self.read_of(company, move |conn| events::all(conn, company)).await
    }

    /// A read of the process itself.
    async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Connection) -> ReadResult<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.readers.read(read).await
    }

    /// A read for a company.
    async fn read_of<T: Send + 'static>(
        &self,
        company: CompanyId,
        read: impl FnOnce(&Connection) -> ReadResult<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.readers.read_of(company, read).await
    }

    /// A short read before anything is known of the caller.
    async fn read_first<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Connection) -> ReadResult<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.readers.read_first(read).await
    }

    async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Transaction<'_>) -> Result<T, CommitError> + Send + 'static,
    ) -> Result<T, CommitError> {
        self.writer.write(work).await
    }
}

#[async_trait]
impl Commit for SqliteStore {
    async fn commit(&self, changes: ChangeSet) -> Result<(), CommitError> {
        self.writer.commit(changes).await
    }
}
