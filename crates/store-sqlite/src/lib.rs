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
mod aliases;
mod campaigns;
mod cell;
mod commit;
mod connections;
mod contacts;
mod contacts_draft;
mod contacts_facets;
mod contacts_listing;
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
mod dispatches;
mod documents;
mod error;
mod events;
mod groups;
mod hashes;
mod inbound;
mod jobs;
mod links;
mod lists;
mod merge;
mod message_refs;
mod messages;
mod messages_facets;
mod messages_listing;
mod newest_first;
mod outbox;
#[cfg(test)]
mod plans;
mod prosas;
mod readers;
mod reassign;
mod recipients;
mod records;
mod schema;
mod table;
mod templates;
mod unknown_events;
mod upkeep;
mod webhooks;
mod writer;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use async_trait::async_trait;
use recado_core::events::Event;
use recado_core::ids::CompanyId;
use recado_core::store::{ChangeSet, Commit, CommitError, StoreError};
use rusqlite::Connection;

use error::ReadResult;
pub use error::SqliteError;
use readers::Readers;
use writer::{Transaction, Writer};

/// How many connections read.
const READERS: usize = 4;

/// A SQLite database as a [`recado_core::store::Store`].
///
/// Share it in an `Arc`; [`SqliteStore::close`] can be called on a clone of that. Writes that were
/// sent before the store is dropped are still made.
pub struct SqliteStore {
    path: PathBuf,
    readers: Readers,
    writer: Writer,
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
    /// Opens a database. The file is created if it is missing. Until the database is migrated,
    /// [`recado_core::store::Upkeep::ready`] and all reads and writes fail.
    ///
    /// # Errors
    ///
    /// When the file cannot be used, or was migrated by a newer release or in another form.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, SqliteError> {
        let path = path.as_ref().to_path_buf();
        let conn = database::writer(&path)?;
        match schema::check(&conn) {
            Ok(()) | Err(SqliteError::Older { .. }) => {}
            Err(error) => return Err(error),
        }
        let readers = Readers::new(path.clone(), READERS);
        Ok(Self { path, readers, writer: Writer::start(conn)? })
    }

    /// Brings the schema up to date: applies all missing migrations, or none. Processes that
    /// migrate at the same time wait for each other. This function blocks, and may take long on a
    /// large database.
    ///
    /// # Errors
    ///
    /// When the database is newer than this release or cannot be written.
    pub fn migrate(&self) -> Result<(), SqliteError> {
        let mut conn = database::writer(&self.path)?;
        schema::migrate(&mut conn)
    }

    /// Finishes the reads and writes under way and closes the file. Later reads and writes fail. A
    /// second call does nothing.
    pub async fn close(&self) {
        self.readers.close(READERS).await;
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
        self.read(move |conn| events::all(conn, company)).await
    }

    async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Connection) -> ReadResult<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.readers.read(read).await
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
        self.write(move |tx| commit::apply(tx, changes)).await
    }
}
