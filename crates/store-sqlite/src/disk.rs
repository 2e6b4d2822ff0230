//! Whether the disk takes what is written, as far as the writer knows (R240).

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use recado_core::store::CommitError;
use rusqlite::ErrorCode;

use crate::batch::Transaction;
use crate::error::commit_error;

/// How many bytes the probe writes. They are more than most transactions write: one page may still
/// find room where the next transaction does not.
const PROBE: u32 = 256 * 1024;
/// How long the answer of a probe is good for. Anybody may ask whether the store is ready.
const PROBE_EVERY: Duration = Duration::from_secs(1);

/// What is known of the disk. It takes writes until one was refused, and again from the first probe
/// on that was written.
#[derive(Debug, Default)]
pub(crate) struct Disk(Mutex<Option<Refusal>>);

/// A write was refused.
#[derive(Debug, Default)]
struct Refusal {
    /// When the disk was probed since.
    probed_at: Option<Instant>,
}

/// What is known when somebody asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Known {
    /// No write was refused.
    Takes,
    /// Writes are refused.
    Refuses,
    /// A write was refused, and the disk is to be probed.
    Unknown,
}

impl Disk {
    fn lock(&self) -> MutexGuard<'_, Option<Refusal>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes an error of a transaction.
    pub(crate) fn failed(&self, error: &rusqlite::Error) {
        if is_refusal(error) {
            self.lock().get_or_insert_default();
        }
    }

    /// Notes that a probe was written.
    pub(crate) fn takes(&self) {
        *self.lock() = None;
    }

    /// Makes the next question probe.
    #[cfg(test)]
    pub(crate) fn forget_probe(&self) {
        if let Some(refusal) = self.lock().as_mut() {
            refusal.probed_at = None;
        }
    }

    /// What is known. After [`Known::Unknown`] the caller probes.
    pub(crate) fn known(&self, now: Instant) -> Known {
        let mut refusal = self.lock();
        let Some(refusal) = refusal.as_mut() else { return Known::Takes };
        let is_due = |at| now.saturating_duration_since(at) >= PROBE_EVERY;
        if !refusal.probed_at.is_none_or(is_due) {
            return Known::Refuses;
        }
        refusal.probed_at = Some(now);
        Known::Unknown
    }
}

/// Whether the disk was full, or the file cannot be written. SQLite aborts a transaction after an
/// error of the disk during a statement.
fn is_refusal(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(
            ErrorCode::DiskFull
                | ErrorCode::SystemIoFailure
                | ErrorCode::ReadOnly
                | ErrorCode::CannotOpen
                | ErrorCode::OperationAborted
        )
    )
}

/// Writes as many bytes as [`PROBE`] says to the log, and leaves nothing of them: what is deleted
/// is overwritten (R197), so all their pages are written. The number is one that no migration has.
pub(crate) fn probe(tx: &mut Transaction<'_>) -> Result<(), CommitError> {
    let write = "INSERT INTO schema_migrations (number, checksum) VALUES (-1, zeroblob(?1))";
    let written = tx.conn.prepare_cached(write).and_then(|mut write| write.execute([PROBE]));
    written.map_err(commit_error)?;
    let forget = "DELETE FROM schema_migrations WHERE number = -1";
    let gone = tx.conn.prepare_cached(forget).and_then(|mut forget| forget.execute([]));
    gone.map_err(commit_error)?;
    tx.has_probed = true;
    Ok(())
}

#[cfg(test)]
mod tests {
    use rusqlite::ffi;

    use super::*;

    fn error(code: i32) -> rusqlite::Error {
        rusqlite::Error::SqliteFailure(ffi::Error::new(code), None)
    }

    /// R240.
    #[test]
    fn a_disk_that_refused_a_write_is_probed_once_a_second_until_one_is_written() {
        let (disk, start) = (Disk::default(), Instant::now());
        let known = |millis| disk.known(start + Duration::from_millis(millis));
        assert_eq!(known(0), Known::Takes);
        disk.failed(&error(ffi::SQLITE_FULL));
        assert_eq!([0, 999, 1_000, 1_001].map(known), {
            use Known::{Refuses, Unknown};
            [Unknown, Refuses, Unknown, Refuses]
        });
        disk.takes();
        assert_eq!(known(1_002), Known::Takes);
    }

    /// R240.
    #[test]
    fn a_lock_or_a_conflict_is_no_refusal_of_the_disk() {
        for code in [ffi::SQLITE_BUSY, ffi::SQLITE_LOCKED, ffi::SQLITE_CONSTRAINT_UNIQUE] {
            let disk = Disk::default();
            disk.failed(&error(code));
            assert_eq!(disk.known(Instant::now()), Known::Takes, "{code}");
        }
        for code in [ffi::SQLITE_FULL, ffi::SQLITE_IOERR_WRITE, ffi::SQLITE_READONLY] {
            let disk = Disk::default();
            disk.failed(&error(code));
            assert_eq!(disk.known(Instant::now()), Known::Unknown, "{code}");
        }
    }
}
