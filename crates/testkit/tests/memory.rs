//! The model keeps its own contract.

use std::sync::Arc;

use async_trait::async_trait;
use recado_core::access::{Limiter, MemoryLimiter};
use recado_core::events::Event;
use recado_core::ids::CompanyId;
use recado_core::store::Store;
use recado_testkit::MemoryStore;
use recado_testkit::conformance::{Harness, LimiterHarness};

struct Model(MemoryStore);

#[async_trait]
impl Harness for Model {
    async fn store(&self) -> Arc<dyn Store> {
        Arc::new(self.0.clone())
    }

    async fn second(&self) -> Option<Arc<dyn Store>> {
        Some(Arc::new(self.0.clone()))
    }

    async fn events(&self, company: CompanyId) -> Vec<Event> {
        self.0.events(company)
    }
}

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

async fn model() -> Model {
    Model(MemoryStore::new())
}

async fn in_process() -> InProcess {
    InProcess(Arc::default())
}

recado_testkit::conformance_suite!(model);
recado_testkit::limiter_suite!(in_process);
