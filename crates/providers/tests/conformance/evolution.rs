//! Evolution API.

use recado_providers::evolution::Evolution;
use recado_testkit::gateways::{FakeEvolution, InProcess};
use recado_testkit::provider_conformance::{Expected, ProviderCase};
use serde_json::{Value, json};

fn case() -> ProviderCase {
    let fake = FakeEvolution::new();
    let record = fake.incoming("5511987654321", "Oi");
    let event = fake.webhook_message(&record).body;
    let event: Value = serde_json::from_slice(&event).expect("JSON");
    let settings = Value::Object(fake.settings());
    let error = |status: u16, message: &Value| FakeEvolution::error(status, message).to_string();
    ProviderCase::new(Evolution::new("g.us"), settings, InProcess(fake))
        .sending(|request| request.url.contains("/message/send"))
        .answering(400, error(400, &json!([["text is required"]])), Expected::Refused)
        .answering(400, error(400, &json!(["Error: Connection Closed"])), Expected::Uncertain)
        .answering(401, error(401, &json!("Unauthorized")), Expected::Connection)
        .answering(404, error(404, &json!(["not found"])), Expected::Connection)
        .answering(500, "", Expected::Uncertain)
        .answering(201, "{}", Expected::Uncertain)
        .limiting(429, "{}")
        .signing(|settings, webhook| {
            let token = settings.text("webhook_token").unwrap_or_default();
            webhook.query.push(("token".to_owned(), token.to_owned()));
        })
        .event(event)
}

recado_testkit::provider_conformance_suite!(case);
