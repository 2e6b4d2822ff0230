//! Emptying the log after an erasure: until then it has the pages as they were before (R197).

use std::path::Path;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use recado_core::store::StoreError;

use crate::database;
use crate::error::store_error;
use crate::writer::WriteCounts;

/// How long emptying the log first waits for reads under way, and writes wait for it. The wait
/// doubles with each attempt that was in vain, because a single long read may outlast it.
const FIRST_WAIT: Duration = Duration::from_millis(250);
/// The longest wait: less than a write waits for the lock.
const LONGEST_WAIT: Duration = Duration::from_secs(4);

/// What is known of the log's content.
#[derive(Debug)]
pub(crate) struct Log {
    /// How many erasures were made when the log was last emptied. It begins with a number that is
    /// never reached: what an earlier process has erased may be in the log.
    emptied_after: AtomicU64,
    /// The attempts in vain since then.
    failures: AtomicU32,
}

impl Default for Log {
    fn default() -> Self {
        Self { emptied_after: AtomicU64::new(u64::MAX), failures: AtomicU32::new(0) }
    }
}

impl Log {
    /// Whether the log may have what was erased.
    pub(crate) fn is_due(&self, written: &WriteCounts) -> bool {
        self.emptied_after.load(Ordering::Relaxed) != written.erasures.load(Ordering::Relaxed)
    }

    /// Copies all pages of the log to the database and empties the log, if all reads of it end
    /// soon enough. Otherwise it stays due.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`] when the database cannot be reached.
    pub(crate) async fn truncate(
        &self,
        path: &Path,
        written: &WriteCounts,
    ) -> Result<(), StoreError> {
        let erasures = written.erasures.load(Ordering::Relaxed);
        let failures = self.failures.load(Ordering::Relaxed);
        let wait = FIRST_WAIT.saturating_mul(2_u32.saturating_pow(failures)).min(LONGEST_WAIT);
        let path = path.to_path_buf();
        let truncated = tokio::task::spawn_blocking(move || -> rusqlite::Result<bool> {
            // Not one of the connections that read: those may all be busy.
            let conn = database::checkpointer(&path, wait)?;
            let pragma = "PRAGMA wal_checkpoint(TRUNCATE)";
            let is_busy = conn.query_row(pragma, [], |row| row.get::<_, bool>(0))?;
            Ok(!is_busy)
        });
        let truncated = truncated.await.map_err(StoreError::unavailable)?;
        if truncated.map_err(store_error)? {
            self.emptied_after.store(erasures, Ordering::Relaxed);
            self.failures.store(0, Ordering::Relaxed);
        } else {
            self.failures.store(failures.saturating_add(1), Ordering::Relaxed);
        }
        Ok(())
    }
}
