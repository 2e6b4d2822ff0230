//! The dispatcher: sends what is due, with bounds and in order, on one process or many.

use std::time::Duration;

use async_trait::async_trait;

/// Bounds of the dispatcher of one process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DispatchLimits {
    /// The most attempts in flight to one webhook (D55).
    pub per_webhook: usize,
    /// The most attempts in flight in all.
    pub in_all: usize,
    /// The most deliveries held in memory.
    pub held: usize,
}

impl Default for DispatchLimits {
    fn default() -> Self {
        Self { per_webhook: 16, in_all: 512, held: 4_096 }
    }
}

/// Lets time pass. The core has no runtime of its own.
#[async_trait]
pub trait Timer: Send + Sync {
    /// Waits.
    async fn sleep(&self, duration: Duration);
}
