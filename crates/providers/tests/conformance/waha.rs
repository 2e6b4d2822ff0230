//! WAHA.

use recado_providers::waha::Waha;
use recado_testkit::gateways::{FakeWaha, InProcess, SignedWebhook, WahaEngine, hex_hmac_sha512};
use recado_testkit::provider_conformance::{Expected, ProviderCase};
use serde_json::Value;

fn body(webhook: &SignedWebhook) -> Value {
    serde_json::from_slice(&webhook.body).expect("JSON")
}

fn case() -> ProviderCase {
    let fake = FakeWaha::new(WahaEngine::Gows);
    let message = fake.receive("351912345678@c.us", "Maria", "Oi");
    let event = body(&fake.webhook_message(&message));
    let offline = r#"{"status": "SCAN_QR_CODE", "expected": ["WORKING"]}"#;
    ProviderCase::new(Waha::new("g.us"), fake.settings(), InProcess(fake))
        .sending(|request| {
            let sends = request.url.contains("/api/send") && !request.url.ends_with("sendSeen");
            sends || request.url.ends_with("/api/reaction")
        })
        // A number that needs no check for the ninth digit.
        .to("351912345678")
        .answering(400, "{}", Expected::Refused)
        .answering(401, "{}", Expected::Connection)
        .answering(422, offline, Expected::Connection)
        .answering(429, "{}", Expected::TryLater)
        .answering(500, "{}", Expected::Uncertain)
        .answering(201, "{}", Expected::Uncertain)
        .limiting(429, "{}")
        .signing(|settings, webhook| {
            let key = settings.text("webhook_hmac_key").unwrap_or_default();
            let signature = hex_hmac_sha512(key, &webhook.body);
            webhook.headers.push(("x-webhook-hmac".to_owned(), signature));
            webhook.headers.push(("x-webhook-hmac-algorithm".to_owned(), "sha512".to_owned()));
        })
        .event(event)
}

recado_testkit::provider_conformance_suite!(case);
