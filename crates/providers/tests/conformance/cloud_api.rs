//! The official cloud API.

use recado_core::Timestamp;
use recado_providers::cloud_api::CloudApi;
use recado_testkit::gateways::{FakeCloud, InProcess, graph_error, hex_hmac_sha256};
use recado_testkit::provider_conformance::{Expected, ProviderCase};
use serde_json::{Value, json};

fn error(code: u32) -> String {
    graph_error(code, "details").1.to_string()
}

fn case() -> ProviderCase {
    let fake = FakeCloud::new();
    let at = Timestamp::from_millis(1_795_000_000_000);
    let event = |id: &str, text: &str| -> Value {
        let webhook = fake.webhook_text("5511987654321", id, text, at);
        serde_json::from_slice(&webhook.body).expect("JSON")
    };
    let (first, second) = (event("wamid.A", "Oi"), event("wamid.B", "Tudo bem?"));
    let settings = Value::Object(fake.settings(&FakeCloud::base()));
    ProviderCase::new(CloudApi::new(), settings, InProcess(fake))
        .sending(|request| request.url.ends_with("/messages"))
        .answering(400, error(131_026), Expected::Refused)
        .answering(400, error(131_056), Expected::RecipientLimited)
        .answering(400, error(130_429), Expected::TryLater)
        .answering(401, error(190), Expected::Connection)
        .answering(500, error(131_000), Expected::Uncertain)
        .answering(500, "<html>", Expected::Uncertain)
        .answering(200, "{}", Expected::Uncertain)
        .limiting(400, error(130_429))
        .signing(|settings, webhook| {
            let secret = settings.text("app_secret").unwrap_or_default();
            let signature = format!("sha256={}", hex_hmac_sha256(secret, &webhook.body));
            webhook.headers.push(("x-hub-signature-256".to_owned(), signature));
        })
        .event(first)
        .event(second)
        .joining(|bodies| {
            let entries = bodies.iter().filter_map(|body| body["entry"].as_array());
            json!({"object": "whatsapp_business_account",
                "entry": entries.flatten().collect::<Vec<_>>()})
        })
}

recado_testkit::provider_conformance_suite!(case);
