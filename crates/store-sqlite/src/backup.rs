//! A copy of the database while it is used.

use std::path::Path;
use std::time::Duration;

use rusqlite::OpenFlags;
use rusqlite::backup::{Backup, StepResult};

use crate::database;
use crate::error::SqliteError;

/// How often a copy is tried while another process holds a lock.
const TRIES: u32 = 100;
/// The wait between two tries.
const PAUSE: Duration = Duration::from_millis(100);

/// Copies the database `from` into the new file `to`, as it is at one moment, while others use it.
/// The copy is one file without a log. This function blocks.
///
/// All pages are copied in one step, from one snapshot: writers go on meanwhile, and their commits
/// do not make the copy begin again.
///
/// # Errors
///
/// When `from` does not exist or cannot be read, or `to` cannot be written.
pub fn back_up(from: impl AsRef<Path>, to: impl AsRef<Path>) -> Result<(), SqliteError> {
    let source = database::reader(from.as_ref())?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut target = rusqlite::Connection::open_with_flags(to.as_ref(), flags)?;
    let backup = Backup::new(&source, &mut target)?;
    for _ in 1..TRIES {
        match backup.step(-1)? {
            StepResult::Done => return Ok(()),
            _ => std::thread::sleep(PAUSE),
        }
    }
    match backup.step(-1)? {
        StepResult::Done => Ok(()),
        _ => Err(SqliteError::Database(rusqlite::Error::SqliteFailure(
            rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_BUSY),
            Some("another process locks the database".to_owned()),
        ))),
    }
}
