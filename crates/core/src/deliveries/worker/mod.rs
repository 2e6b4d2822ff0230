//! The worker: sends what is due, with bounds and in order, on one process or many.
//!
//! [`queue`] and [`state`] decide, over plain data: what is read, what is tried next, what is
//! recorded. [`assignment`] decides which shards this process claims and releases. [`run`] executes
//! these decisions and reports the results.

mod assignment;
mod queue;
mod run;
mod state;
mod tasks;
#[cfg(test)]
mod tests;

use std::time::Duration;

use async_trait::async_trait;

use crate::store::StoreError;

/// Bounds of the worker of one process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeliveryLimits {
    /// The most attempts in flight to one webhook (D55).
    pub per_webhook: usize,
    /// The most attempts in flight in all.
    pub in_all: usize,
    /// About how many deliveries are held in memory at most.
    pub held: usize,
    /// About how many bytes of events are held in memory at most.
    pub held_bytes: usize,
}

impl Default for DeliveryLimits {
    fn default() -> Self {
        Self { per_webhook: 16, in_all: 512, held: 4_096, held_bytes: 32 * 1024 * 1024 }
    }
}

/// Waits, and receives errors. The core has no runtime and no log of its own.
#[async_trait]
pub trait Timer: Send + Sync {
    /// Waits.
    async fn sleep(&self, duration: Duration);

    /// The store failed at something that the worker tries again.
    fn troubled(&self, error: &StoreError) {
        let _ = error;
    }
}
