//! One server on an SQLite file: a lock beside it, which also says that the server before this one
//! is dead (R252).

use std::ffi::OsString;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use recado_core::ids::WorkerId;
use recado_core::{Clock, Timestamp};
use recado_runtime::SystemClock;
use serde::{Deserialize, Serialize};

/// The most bytes of a lock file that are read.
const LONGEST: u64 = 4096;

/// Who holds the lock, as the file says.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Holder {
    pid: u32,
    since: Timestamp,
    /// The id that its sends, deliveries and calls under way have in the database.
    worker: Option<WorkerId>,
}

/// The lock of the one server on a file. The system releases it when the process ends, however it
/// ends.
#[derive(Debug)]
pub(crate) struct ServeLock {
    file: File,
    holder: Holder,
    predecessor: Option<WorkerId>,
}

/// Why a server may not start.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ServeLockError {
    /// Another server runs on the file.
    #[error("another server runs on {database}{holder}: stop it first")]
    Held {
        /// The file.
        database: String,
        /// Its process and since when, where the lock says so.
        holder: String,
    },
    /// The file of the lock cannot be used.
    #[error("{path} cannot be locked: {error}")]
    Unusable {
        /// The file of the lock.
        path: String,
        /// Why.
        error: io::Error,
    },
}

impl ServeLock {
    /// Takes the lock of a database, and does not wait for it.
    ///
    /// # Errors
    ///
    /// [`ServeLockError`].
    pub(crate) fn take(database: &Path) -> Result<Self, ServeLockError> {
        let path = beside(database);
        let unusable = |error| {
            let path = path.display().to_string();
            ServeLockError::Unusable { path, error }
        };
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        let mut file = options.open(&path).map_err(unusable)?;
        let locked = file.try_lock();
        let written = read(&mut file);
        match locked {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let database = database.display().to_string();
                let holder = written
                    .map(|holder| format!(", the process {} since {}", holder.pid, holder.since));
                let holder = holder.unwrap_or_default();
                return Err(ServeLockError::Held { database, holder });
            }
            Err(TryLockError::Error(error)) => return Err(unusable(error)),
        }
        let predecessor = written.and_then(|holder| holder.worker);
        let since = SystemClock.now();
        let holder = Holder { pid: std::process::id(), since, worker: predecessor };
        let mut lock = Self { file, holder, predecessor };
        lock.write().map_err(unusable)?;
        Ok(lock)
    }

    /// The id of the server before this one: it is dead.
    pub(crate) fn predecessor(&self) -> Option<WorkerId> {
        self.predecessor
    }

    /// Writes the id of this server, for the one after it. If that fails, the one after it waits
    /// for the lease of this one.
    pub(crate) fn held_by(&mut self, worker: WorkerId) {
        self.holder.worker = Some(worker);
        if let Err(error) = self.write() {
            tracing::warn!(%error, "the lock of the database could not be written");
        }
    }

    fn write(&mut self) -> io::Result<()> {
        self.file.set_len(0)?;
        self.file.seek(SeekFrom::Start(0))?;
        serde_json::to_writer(&mut self.file, &self.holder)?;
        self.file.flush()
    }
}

/// The file of the lock of a database.
fn beside(database: &Path) -> PathBuf {
    let mut name = OsString::from(database);
    name.push(".lock");
    PathBuf::from(name)
}

/// What a file of a lock says; `None` for one that is new or cut off.
fn read(file: &mut File) -> Option<Holder> {
    let mut text = String::new();
    file.take(LONGEST).read_to_string(&mut text).ok()?;
    serde_json::from_str(&text).ok()
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    /// R252.
    #[test]
    fn a_lock_is_held_once_and_names_who_held_it_before() {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("recado.db");
        let mut first = ServeLock::take(&database).unwrap();
        assert_eq!(first.predecessor(), None);
        let worker = WorkerId::new(Uuid::from_u128(7));
        first.held_by(worker);
        let refused = ServeLock::take(&database).unwrap_err().to_string();
        let pid = format!("the process {} since", std::process::id());
        assert!(refused.contains("recado.db") && refused.contains(&pid), "{refused}");
        drop(first);
        assert_eq!(ServeLock::take(&database).unwrap().predecessor(), Some(worker));
        // One that ended before it had an id leaves the one before it to the next.
        assert_eq!(ServeLock::take(&database).unwrap().predecessor(), Some(worker));
        std::fs::write(beside(&database), "{").unwrap();
        assert_eq!(ServeLock::take(&database).unwrap().predecessor(), None);
    }
}
