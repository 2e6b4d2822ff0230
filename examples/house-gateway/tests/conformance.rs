//! The gateway of the house keeps every promise of a provider.

use house_gateway::HouseGateway;
use recado_testkit::ScriptedTransport;
use recado_testkit::provider_conformance::{Expected, ProviderCase};
use recado_testkit::transport::json_answer;
use serde_json::{Value, json};

fn case() -> ProviderCase {
    let gateway = ScriptedTransport::new();
    gateway.otherwise(json_answer(200, &json!({"id": "house-1"})));
    let settings = json!({
        "base_url": "http://house.example",
        "api_key": "key-of-the-house",
        "webhook_token": "token-of-the-house",
    });
    ProviderCase::new(HouseGateway, settings, gateway)
        .answering(400, "no such number", Expected::Refused)
        .answering(401, "", Expected::Connection)
        .answering(500, "", Expected::Uncertain)
        .answering(200, r#"{"queued": true}"#, Expected::Uncertain)
        .limiting(429, "")
        .signing(|settings, webhook| {
            let token = settings.text("webhook_token").unwrap_or_default();
            webhook.headers.push(("x-house-token".to_owned(), token.to_owned()));
        })
        .event(message("m1", "Oi"))
        .event(message("m2", "Tudo bem?"))
        .joining(|bodies| {
            let all = bodies.iter().filter_map(|body| body["messages"].as_array());
            json!({"messages": all.flatten().collect::<Vec<_>>()})
        })
}

fn message(id: &str, text: &str) -> Value {
    json!({"messages": [{"id": id, "from": "5511987654321", "text": text}]})
}

recado_testkit::provider_conformance_suite!(case);
