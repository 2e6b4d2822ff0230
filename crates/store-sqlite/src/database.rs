//! Opens connections. All connections have the same settings.

use std::ops::{Deref, DerefMut};
use std::path::Path;
use std::time::Duration;

use recado_store_sql::Sealer;
use rusqlite::OpenFlags;
use rusqlite::config::DbConfig;

use crate::message_refs;

/// How long a statement waits for a lock that another process holds.
pub(crate) const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
/// Statements that a connection keeps prepared.
const STATEMENTS: usize = 256;
/// Page cache of the connection that writes, in KiB.
const WRITER_CACHE: u32 = 16 * 1024;
/// Page cache of each connection that reads, in KiB.
const READER_CACHE: u32 = 6 * 1024;
/// A commit checkpoints the log into the database when the log has this many pages, in case
/// `upkeep` is never called.
const CHECKPOINT_PAGES: u32 = 4000;
/// The log file is truncated to this size when SQLite restarts it.
const LOG_BYTES: u32 = 64 * 1024 * 1024;

/// A connection, with the keys of the secrets that are read and written by it.
pub(crate) struct Connection {
    conn: rusqlite::Connection,
    sealer: Sealer,
}

impl Connection {
    /// The keys of secrets.
    pub(crate) const fn sealer(&self) -> &Sealer {
        &self.sealer
    }

    /// The connection with other keys.
    pub(crate) fn sealed_by(self, sealer: &Sealer) -> Self {
        Self { sealer: sealer.clone(), ..self }
    }

    /// A database in memory.
    #[cfg(test)]
    pub(crate) fn open_in_memory() -> rusqlite::Result<Self> {
        rusqlite::Connection::open_in_memory().map(Self::from)
    }
}

/// Without keys.
impl From<rusqlite::Connection> for Connection {
    fn from(conn: rusqlite::Connection) -> Self {
        Self { conn, sealer: Sealer::default() }
    }
}

impl Deref for Connection {
    type Target = rusqlite::Connection;

    fn deref(&self) -> &Self::Target {
        &self.conn
    }
}

impl DerefMut for Connection {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.conn
    }
}

/// Opens the connection that writes. Creates the file if it is missing.
pub(crate) fn writer(path: &Path) -> rusqlite::Result<Connection> {
    let conn = open(path, OpenFlags::SQLITE_OPEN_CREATE, WRITER_CACHE)?;
    conn.pragma_update(None, "journal_mode", "WAL")?;
    // A 2xx answer means durable, also after a power failure of the machine.
    conn.pragma_update(None, "synchronous", "FULL")?;
    conn.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_PAGES)?;
    conn.pragma_update(None, "journal_size_limit", LOG_BYTES)?;
    // What is deleted is overwritten, so that no free page tells of it (R197).
    conn.pragma_update(None, "secure_delete", true)?;
    message_refs::add_trace(&conn)?;
    Ok(conn)
}

/// Opens a connection that empties the log; it waits so long for reads under way.
pub(crate) fn checkpointer(path: &Path, wait: Duration) -> rusqlite::Result<Connection> {
    let conn = open(path, OpenFlags::empty(), READER_CACHE)?;
    conn.busy_timeout(wait)?;
    Ok(conn)
}

/// Opens a connection that reads.
pub(crate) fn reader(path: &Path) -> rusqlite::Result<Connection> {
    let conn = open(path, OpenFlags::empty(), READER_CACHE)?;
    conn.pragma_update(None, "query_only", true)?;
    Ok(conn)
}

/// Opens a connection that leaves no trace on the disk, or `None` where there is no database. A log
/// that has something makes it an ordinary connection that reads.
pub(crate) fn looker(path: &Path) -> rusqlite::Result<Option<rusqlite::Connection>> {
    let there = |path: &Path| path.metadata().is_ok_and(|file| file.len() > 0);
    if !there(path) {
        return Ok(None);
    }
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    if there(Path::new(&log)) {
        let conn = rusqlite::Connection::open_with_flags(path, flags)?;
        conn.busy_timeout(BUSY_TIMEOUT)?;
        return Ok(Some(conn));
    }
    let encoded: String = path.to_string_lossy().bytes().fold(String::new(), |mut all, byte| {
        match byte {
            b'/' | b'.' | b'-' | b'_' => all.push(char::from(byte)),
            byte if byte.is_ascii_alphanumeric() => all.push(char::from(byte)),
            byte => all.push_str(&format!("%{byte:02X}")),
        }
        all
    });
    let uri = format!("file:{encoded}?immutable=1");
    rusqlite::Connection::open_with_flags(uri, flags | OpenFlags::SQLITE_OPEN_URI).map(Some)
}

// Memory-mapped I/O is off: the operating system caches the file in any case, and those pages do
// not count as memory of this process.
fn open(path: &Path, more: OpenFlags, cache: u32) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | more;
    let conn = Connection::from(rusqlite::Connection::open_with_flags(path, flags)?);
    conn.busy_timeout(BUSY_TIMEOUT)?;
    conn.set_prepared_statement_cache_capacity(STATEMENTS);
    // Query plans never depend on bound values; otherwise SQLite would plan some joins again at
    // each call.
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    conn.pragma_update(None, "foreign_keys", true)?;
    conn.pragma_update(None, "cache_size", -i64::from(cache))?;
    conn.pragma_update(None, "temp_store", "MEMORY")?;
    Ok(conn)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_waits_for_the_disk_and_references_are_checked() {
        let folder = tempfile::tempdir().unwrap();
        let conn = writer(&folder.path().join("recado.db")).unwrap();
        let setting =
            |name| conn.pragma_query_value(None, name, |row| row.get::<_, i64>(0)).unwrap();
        assert_eq!(setting("synchronous"), 2, "FULL");
        assert_eq!(setting("foreign_keys"), 1);
    }

    #[test]
    fn a_connection_that_reads_cannot_write() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("recado.db");
        writer(&path).unwrap().execute_batch("CREATE TABLE a (x)").unwrap();
        assert!(reader(&path).unwrap().execute_batch("INSERT INTO a VALUES (1)").is_err());
    }
}
