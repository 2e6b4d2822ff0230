//! The store keeps the promises of its topics, and names the methods that it does not have yet.

use std::sync::Arc;

use async_trait::async_trait;
use house_store::HouseStore;
use recado_core::events::Event;
use recado_core::ids::CompanyId;
use recado_core::store::{Store, Upkeep};
use recado_testkit::conformance::Harness;

struct House(HouseStore);

#[async_trait]
impl Harness for House {
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

async fn fresh() -> House {
    House(HouseStore::default())
}

recado_testkit::conformance_suite!(fresh, topics: [
    commits, unique_keys, preconditions, references,
]);

#[tokio::test]
async fn what_is_not_written_yet_answers_with_its_name() {
    let error = HouseStore::default().ready().await.expect_err("nobody wrote it");
    assert!(error.to_string().ends_with("`ready` of `Upkeep` is not written yet"), "{error}");
}

/// The guide states that this many lines are enough to begin with.
#[test]
fn the_store_has_150_lines_at_most() {
    let source = include_str!("../src/lib.rs");
    let code = source.lines().filter(|line| !line.trim().is_empty() && !line.starts_with("//!"));
    let count = code.count();
    assert!(count <= 150, "{count} lines");
}
