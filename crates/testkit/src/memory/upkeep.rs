//! Housekeeping: what is not needed any more.

use std::time::Duration;

use async_trait::async_trait;
use recado_core::Timestamp;
use recado_core::messages::RefTarget;
use recado_core::store::{Row, RowKey, StoreError, Upkeep};

use super::MemoryStore;

/// How long a worker is remembered after its lease lapsed.
const WORKER_KEPT: Duration = Duration::from_secs(3600);

/// How long a kind of event that nobody knows is remembered after it came last.
const UNKNOWN_KEPT: Duration = Duration::from_secs(30 * 24 * 3600);

/// Whether a row has served its time.
fn is_spent(row: &Row, now: Timestamp) -> bool {
    match row {
        Row::MessageRef(reference) => match &reference.target {
            RefTarget::Message(_) => false,
            RefTarget::Report { expires_at, .. } | RefTarget::Forgotten { expires_at } => {
                *expires_at <= now
            }
        },
        Row::RememberedCall(call) => call.expires_at <= now,
        Row::DispatchWindow(window) => window.ends_at <= now,
        Row::UnknownKind(kind) => kind.last_at.plus(UNKNOWN_KEPT) <= now,
        Row::Worker(worker) => worker.leased_until.plus(WORKER_KEPT) <= now,
        _ => false,
    }
}

#[async_trait]
impl Upkeep for MemoryStore {
    async fn ready(&self) -> Result<(), StoreError> {
        Ok(())
    }

    async fn upkeep(&self, now: Timestamp) -> Result<(), StoreError> {
        let mut state = self.state();
        let spent: Vec<RowKey> = state
            .rows
            .every_entry()
            .filter(|entry| is_spent(&entry.row, now))
            .map(|entry| entry.row.key())
            .collect();
        for key in spent {
            state.rows.set(key, None);
        }
        state.rows.keep();
        Ok(())
    }
}
