//! The lease of this process, as this process last wrote it.

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};

use futures_util::lock::{Mutex, MutexGuard};

use super::worker::WITHOUT_SHARDS;
use crate::Timestamp;
use crate::ids::WorkerId;

/// The lease of this process, as this process last wrote it.
#[derive(Debug)]
pub(crate) struct OwnLease {
    id: WorkerId,
    leased_until: AtomicI64,
    runs_deliveries: AtomicBool,
    /// Held by the task that renews it because it is about to end.
    turn: Mutex<()>,
    /// How many renewals under [`OwnLease::turn`] have failed.
    failed: AtomicU64,
}

impl OwnLease {
    pub(crate) fn new(id: WorkerId) -> Self {
        Self {
            id,
            leased_until: AtomicI64::new(i64::MIN),
            runs_deliveries: AtomicBool::new(false),
            turn: Mutex::new(()),
            failed: AtomicU64::new(0),
        }
    }

    pub(crate) const fn id(&self) -> WorkerId {
        self.id
    }

    /// Until when this process keeps its shards. Whoever has none to keep is told a time long past.
    pub(crate) fn keeps_shards_until(&self) -> Timestamp {
        let leased_until = self.leased_until.load(Ordering::Acquire);
        Timestamp::from_millis(leased_until).minus(WITHOUT_SHARDS)
    }

    /// Whether this process announces that it runs the delivery worker.
    pub(super) fn runs_deliveries(&self) -> bool {
        self.runs_deliveries.load(Ordering::Acquire)
    }

    /// Records that it was renewed until then.
    pub(super) fn renewed(&self, leased_until: Timestamp) {
        self.leased_until.fetch_max(leased_until.millis(), Ordering::AcqRel);
    }

    /// Waits until no other task renews it because it is about to end.
    pub(super) async fn turn(&self) -> MutexGuard<'_, ()> {
        self.turn.lock().await
    }

    /// How many such renewals have failed.
    pub(super) fn failed(&self) -> u64 {
        self.failed.load(Ordering::Acquire)
    }

    /// Records that such a renewal has failed.
    pub(super) fn has_failed(&self) {
        self.failed.fetch_add(1, Ordering::AcqRel);
    }

    /// Records that it was ended.
    pub(super) fn end(&self) {
        self.leased_until.store(i64::MIN, Ordering::Release);
    }

    /// Sets whether this process runs the delivery worker; other processes see it after the next
    /// renewal.
    pub(crate) fn set_runs_deliveries(&self, runs_deliveries: bool) {
        self.runs_deliveries.store(runs_deliveries, Ordering::Release);
    }
}
