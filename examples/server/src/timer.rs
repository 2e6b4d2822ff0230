//! What the dispatcher of deliveries needs of its surroundings: waiting, and a log.

use std::time::Duration;

use async_trait::async_trait;
use recado_core::deliveries::Timer;
use recado_core::store::StoreError;

use crate::causes::causes;

/// The timer of the tokio runtime; trouble goes to the log.
#[derive(Clone, Copy, Debug, Default)]
pub struct TokioTimer;

#[async_trait]
impl Timer for TokioTimer {
    async fn sleep(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
    }

    fn troubled(&self, error: &StoreError) {
        tracing::warn!(task = "dispatcher", error = causes(error), "failed, and is tried again");
    }
}
