//! The simulated gateway.

use std::sync::Arc;

use recado_providers::simulated::Simulated;
use recado_testkit::provider_conformance::ProviderCase;
use recado_testkit::{ScriptedTransport, SeededIds, TestClock};
use serde_json::json;

fn case() -> ProviderCase {
    let (provider, _reports) =
        Simulated::new(Arc::new(TestClock::default()), Arc::new(SeededIds::new(7)));
    // It calls no server.
    ProviderCase::new(provider, json!({"delay_ms": 5}), ScriptedTransport::new())
}

recado_testkit::provider_conformance_suite!(case);
