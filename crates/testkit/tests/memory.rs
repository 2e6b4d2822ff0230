//! The conformance suite on the model.

use std::sync::Arc;

use async_trait::async_trait;
use recado_core::access::{Limiter, MemoryLimiter};
use recado_testkit::MemoryStore;
use recado_testkit::conformance::LimiterHarness;
use recado_testkit::phone_forms;

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

/// D15, D16, R161.
#[tokio::test]
async fn old_rows_are_their_person() {
    phone_forms::old_rows_are_their_person(&MemoryStore::new()).await;
}

/// D15. The model looks at every row for every question, so it gets few numbers at a time.
#[tokio::test]
async fn every_form_of_a_number_is_one_contact() {
    for some in phone_forms::written_forms().chunks(phone_forms::SOME) {
        phone_forms::every_form_is_one_contact(&MemoryStore::new(), some).await;
    }
}
