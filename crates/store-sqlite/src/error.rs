//! Conversion of SQLite's errors to the core's.

use std::collections::BTreeSet;

use recado_core::store::{CommitError, Conflict, RowKind, StoreError, UNIQUE, Unique, UniqueKey};
use recado_store_sql::{MissingKeys, OpenError, table_of, unique_columns};
use rusqlite::types::FromSqlError;
use rusqlite::{Error, ErrorCode, ffi};

/// The result of a closure that reads.
pub(crate) type ReadResult<T> = rusqlite::Result<T>;

/// Why a database could not be opened or migrated.
#[derive(Debug, thiserror::Error)]
pub enum SqliteError {
    /// SQLite refused. Possible reasons: the path, its permissions, a lock, or a file that is not a
    /// database.
    #[error("the database cannot be used: {0}")]
    Database(#[from] Error),
    /// The database was migrated by a newer release.
    #[error("the database has migration {found}, this release knows {known} only")]
    Newer {
        /// The latest migration of the database.
        found: u32,
        /// The latest migration of this release.
        known: u32,
    },
    /// The text of a migration that was applied differs from the one in this release.
    #[error("migration {0} was applied in another form than this release has it")]
    Changed(u32),
    /// Migrations are missing: run [`crate::SqliteStore::migrate`].
    #[error("the database has migration {found}, {known} is needed: migrate it")]
    Older {
        /// The latest migration of the database, 0 if none.
        found: u32,
        /// The latest migration of this release.
        known: u32,
    },
    /// Secrets are sealed with keys that were not given (R216).
    #[error("the database cannot be used: {0}")]
    MissingKeys(#[from] MissingKeys),
    /// The thread that writes could not be started, or has ended.
    #[error("the writer is not available")]
    Writer(#[source] Option<std::io::Error>),
}

/// The name of the function that migrates a database, for messages.
pub(crate) const MIGRATE: &str = "SqliteStore::migrate";

/// The core's error for a failed read, or for an error of the database as a whole.
pub(crate) fn store_error(error: Error) -> StoreError {
    if is_without_key(&error) {
        return StoreError::unavailable(error);
    }
    match error.sqlite_error_code() {
        Some(
            ErrorCode::DatabaseBusy
            | ErrorCode::DatabaseLocked
            | ErrorCode::OperationInterrupted
            | ErrorCode::OutOfMemory
            | ErrorCode::SystemIoFailure
            | ErrorCode::DiskFull
            | ErrorCode::CannotOpen
            | ErrorCode::ReadOnly
            | ErrorCode::PermissionDenied,
        ) => StoreError::unavailable(error),
        // The schema is missing or older: a server may be started before its database is migrated.
        _ if is_of_another_schema(&error.to_string()) => StoreError::not_migrated(MIGRATE, error),
        _ => StoreError::corrupt(error),
    }
}

/// Whether a statement names what a schema does not have.
fn is_of_another_schema(text: &str) -> bool {
    ["no such table", "no such column", "has no column named"]
        .iter()
        .any(|part| text.contains(part))
}

/// Whether a secret could not be read because its key was not given. Another process may have a
/// newer key already.
fn is_without_key(error: &Error) -> bool {
    let Error::FromSqlConversionFailure(_, _, cause) = error else { return false };
    let Some(FromSqlError::Other(cause)) = cause.downcast_ref() else { return false };
    matches!(cause.downcast_ref(), Some(OpenError::UnknownKey(_)))
}

/// The core's error for a failure within a change set.
pub(crate) fn commit_error(error: Error) -> CommitError {
    let Error::SqliteFailure(failure, message) = &error else {
        return store_error(error).into();
    };
    match failure.extended_code {
        ffi::SQLITE_CONSTRAINT_UNIQUE
        | ffi::SQLITE_CONSTRAINT_PRIMARYKEY
        | ffi::SQLITE_CONSTRAINT_ROWID => {
            Conflict::Taken(unique_key(message.as_deref().unwrap_or_default())).into()
        }
        ffi::SQLITE_CONSTRAINT_FOREIGNKEY => Conflict::Reference.into(),
        _ => store_error(error).into(),
    }
}

/// The unique key that a message such as `UNIQUE constraint failed: links.code` names. It is the
/// key that is declared for these columns, or else the identity of the table's rows.
fn unique_key(message: &str) -> UniqueKey {
    let columns = message.rsplit_once(": ").map_or(message, |(_, columns)| columns);
    let columns = columns.split(", ").map(|column| column.split_once('.').unwrap_or((column, "")));
    let (mut tables, columns): (Vec<_>, BTreeSet<_>) = columns.unzip();
    tables.dedup();
    let is_of = |kind: RowKind| tables == [table_of(kind).name];
    let is_it = |unique: &&Unique| is_of(unique.kind) && unique_columns(unique) == columns;
    let declared = UNIQUE.iter().find(is_it);
    let identity = || {
        let kind = RowKind::ALL.iter().copied().find(|kind| is_of(*kind));
        kind.map_or(UniqueKey::Id, UniqueKey::identity)
    };
    declared.map_or_else(identity, |unique| unique.key)
}
