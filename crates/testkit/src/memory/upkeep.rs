//! Housekeeping: deletes rows that are not needed any more.

use async_trait::async_trait;
use recado_core::Timestamp;
use recado_core::messages::RefTarget;
use recado_core::store::{Cutoffs, Row, RowKey, StoreError, Upkeep};

use super::MemoryStore;

/// Whether a row is not needed any more.
fn is_spent(row: &Row, cutoffs: &Cutoffs) -> bool {
    match row {
        Row::MessageRef(reference) => match &reference.target {
            RefTarget::Message(_) => false,
            RefTarget::Early { expires_at, .. } | RefTarget::Forgotten { expires_at } => {
                *expires_at <= cutoffs.ended
            }
        },
        Row::RememberedCall(call) => call.expires_at <= cutoffs.ended,
        Row::DispatchWindow(window) => window.ends_at <= cutoffs.ended,
        Row::UnknownEvent(event) => event.received_at <= cutoffs.unknown_events,
        Row::Worker(worker) => worker.leased_until <= cutoffs.workers,
        _ => false,
    }
}

#[async_trait]
impl Upkeep for MemoryStore {
    async fn ready(&self) -> Result<(), StoreError> {
        Ok(())
    }

    async fn upkeep(&self, now: Timestamp) -> Result<(), StoreError> {
        let cutoffs = Cutoffs::at(now);
        let mut state = self.state();
        let spent: Vec<RowKey> = state
            .rows
            .every_entry()
            .filter(|entry| is_spent(&entry.row, &cutoffs))
            .map(|entry| entry.row.key())
            .collect();
        for key in spent {
            state.rows.set(key, None);
        }
        state.rows.keep();
        Ok(())
    }
}
