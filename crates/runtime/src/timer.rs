//! Waiting and logging for the delivery worker and the runner of campaigns.

use std::time::Duration;

use async_trait::async_trait;
use recado_core::deliveries::Timer;
use recado_core::store::StoreError;

use crate::causes::causes;

/// The timer of the tokio runtime; errors go to the log.
#[derive(Clone, Copy, Debug)]
pub struct TokioTimer {
    task: &'static str,
}

impl TokioTimer {
    /// A timer for the task with this name in logs.
    pub const fn named(task: &'static str) -> Self {
        Self { task }
    }
}

#[async_trait]
impl Timer for TokioTimer {
    async fn sleep(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
    }

    fn troubled(&self, error: &StoreError) {
        tracing::warn!(task = self.task, error = causes(error), "failed, and is tried again");
    }
}
