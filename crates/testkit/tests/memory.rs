//! The conformance suite on the model.

use std::sync::Arc;

use async_trait::async_trait;
use recado_core::access::{Limiter, MemoryLimiter};
use recado_testkit::MemoryStore;
use recado_testkit::conformance::LimiterHarness;

struct InProcess(Arc<MemoryLimiter>);

#[async_trait]
impl LimiterHarness for InProcess {
    async fn limiter(&self) -> Arc<dyn Limiter> {
        self.0.clone()
    }

    async fn second(&self) -> Option<Arc<dyn Limiter>> {
        Some(self.0.clone())
    }
}

async fn model() -> MemoryStore {
    MemoryStore::new()
}

async fn in_process() -> InProcess {
    InProcess(Arc::default())
}

recado_testkit::conformance_suite!(model);
recado_testkit::limiter_suite!(in_process);
recado_testkit::differential_suite!(model);
