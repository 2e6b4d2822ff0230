//! Webhooks are verified over their raw bytes before anything of them is read.

use recado_core::gateway::{GatewayEvent, Provider, ProviderWebhook, WebhookRefused};
use recado_testkit::gateways::{FakeWaha, SignedWebhook, WahaEngine, hex_hmac_sha512};
use serde_json::json;

use super::support::{Scene, connection, inbound};

const SIGNATURE: &str = "x-webhook-hmac";
const ALGORITHM: &str = "x-webhook-hmac-algorithm";

/// The result of a call, and whether it is refused by its headers alone.
fn outcome(scene: &Scene, webhook: &ProviderWebhook) -> (Result<usize, WebhookRefused>, bool) {
    let head = ProviderWebhook { body: Vec::new(), ..webhook.clone() };
    let admitted = scene.adapter.admit(&scene.connection, &head);
    let received = scene.adapter.receive(&scene.connection, webhook);
    (received.map(|events| events.len()), admitted.is_err())
}

const UNAUTHORIZED: Result<usize, WebhookRefused> = Err(WebhookRefused::Unauthorized);

fn scene() -> (Scene, SignedWebhook) {
    let scene = Scene::new(WahaEngine::Gows);
    let webhook = scene.waha.webhook("message.any", &inbound(json!({})));
    (scene, webhook)
}

#[test]
fn the_published_example_is_taken() {
    let mut settings = FakeWaha::default().settings();
    settings["webhook_hmac_key"] = "my-secret-key".into();
    settings["session"] = "default".into();
    let scene = Scene { connection: connection(&settings), ..Scene::new(WahaEngine::Webjs) };
    let example = "208f8a55dde9e05519e898b10b89bf0d0b3b0fdf11fdbf09b6b90476301b98d8097c462b2b17a6ce93b6b47a136cf2e78a33a63f6752c2c1631777076153fa89";
    let webhook = ProviderWebhook {
        headers: vec![(SIGNATURE.to_owned(), example.to_owned())],
        query: Vec::new(),
        body: br#"{"event":"message","session":"default","engine":"WEBJS"}"#.to_vec(),
    };
    assert_eq!(outcome(&scene, &webhook), (Ok(1), false));
}

#[test]
fn a_signature_counts_in_either_case_and_with_or_without_its_algorithm() {
    let (scene, webhook) = scene();
    assert_eq!(outcome(&scene, &webhook.webhook()), (Ok(1), false));
    let hex = hex_hmac_sha512("waha-hmac-key", &webhook.body).to_uppercase();
    let upper = webhook.clone().with_header(SIGNATURE, &hex).with_header(ALGORITHM, "SHA512");
    assert_eq!(outcome(&scene, &upper.webhook()), (Ok(1), false));
    let bare = webhook.without_header(ALGORITHM);
    assert_eq!(outcome(&scene, &bare.webhook()), (Ok(1), false));
}

#[test]
fn heads_that_cannot_be_right_are_refused_before_a_body_is_read() {
    let (scene, webhook) = scene();
    let hex = hex_hmac_sha512("waha-hmac-key", &webhook.body);
    let mut twice = webhook.webhook();
    twice.headers.push(("X-Webhook-Hmac".to_owned(), hex.clone()));
    let mut two_kinds = webhook.webhook();
    two_kinds.headers.push((ALGORITHM.to_owned(), "sha512".to_owned()));
    let with = |hex: &str| webhook.clone().with_header(SIGNATURE, hex).webhook();
    for wrong in [
        webhook.clone().without_header(SIGNATURE).webhook(),
        twice,
        two_kinds,
        with(""),
        with(&hex[..64]),
        with(&format!("sha512={hex}")),
        with(&hex.replace(['a', 'b'], "g")),
        webhook.clone().with_header(ALGORITHM, "sha256").webhook(),
        webhook.clone().with_header(ALGORITHM, "").webhook(),
    ] {
        assert_eq!(outcome(&scene, &wrong), (UNAUTHORIZED, true), "{:?}", wrong.headers);
    }
}

#[test]
fn a_signature_of_another_key_or_another_body_is_refused() {
    let (scene, webhook) = scene();
    let other_key = hex_hmac_sha512("another", &webhook.body);
    let changed = String::from_utf8_lossy(&webhook.body).replace("Oi", "Ai");
    let same_meaning = format!(" {}", String::from_utf8_lossy(&webhook.body));
    for wrong in [
        webhook.clone().with_header(SIGNATURE, &other_key),
        webhook.clone().with_body(changed),
        webhook.clone().with_body(same_meaning),
        webhook.clone().with_body(Vec::new()),
    ] {
        assert_eq!(outcome(&scene, &wrong.webhook()), (UNAUTHORIZED, false));
    }
}

#[test]
fn what_is_signed_and_cannot_be_read_is_malformed() {
    let (scene, webhook) = scene();
    for body in ["", "{", "[1", "\u{feff}{}"] {
        let hex = hex_hmac_sha512("waha-hmac-key", body.as_bytes());
        let wrong = webhook.clone().with_body(body).with_header(SIGNATURE, &hex);
        assert_eq!(
            outcome(&scene, &wrong.webhook()),
            (Err(WebhookRefused::Malformed), false),
            "{body}"
        );
    }
}

#[test]
fn what_is_signed_and_is_no_event_is_refused_by_itself() {
    let (scene, webhook) = scene();
    for body in ["[]", "null", "7", "\"x\""] {
        let hex = hex_hmac_sha512("waha-hmac-key", body.as_bytes());
        let odd = webhook.clone().with_body(body).with_header(SIGNATURE, &hex);
        let received = scene.take(&odd).expect("signed, and JSON");
        assert_eq!(received.len(), 1, "{body}");
        assert!(received[0].event.is_err(), "{body}");
    }
}

#[test]
fn the_event_of_another_session_is_refused_by_itself() {
    let scene = Scene::new(WahaEngine::Gows);
    let webhook = scene.waha.webhook_of_session("loja2", "message.any", &inbound(json!({})));
    let received = scene.take(&webhook).expect("signed");
    assert_eq!(received.len(), 1);
    let reason = "the event is of another session".to_owned();
    assert_eq!(received[0].event, Ok(GatewayEvent::NotOurs(reason)));
}

#[test]
fn an_event_that_names_no_session_is_of_the_one_whose_key_signed_it() {
    let scene = Scene::new(WahaEngine::Gows);
    for session in [json!(null), json!("")] {
        let body = json!({"event": "message.any", "session": session,
            "payload": inbound(json!({}))});
        let body = body.to_string();
        let hex = hex_hmac_sha512("waha-hmac-key", body.as_bytes());
        let webhook = scene.waha.webhook("message.any", &json!({}));
        let webhook = webhook.with_body(body).with_header(SIGNATURE, &hex);
        let received = scene.take(&webhook).expect("signed");
        assert!(received.len() == 1 && received[0].event.is_ok(), "{session}: {received:?}");
    }
}

#[test]
fn a_call_that_comes_again_says_the_same_again() {
    let (scene, webhook) = scene();
    let first = scene.take(&webhook).expect("signed");
    assert_eq!(scene.take(&webhook).expect("signed"), first);
    assert_eq!(first.len(), 1);
}

#[test]
fn nobody_verifies_the_address() {
    let (scene, webhook) = scene();
    let answer = scene.adapter.handshake(&scene.connection, &webhook.webhook());
    assert_eq!(answer, Err(WebhookRefused::Unsupported));
}
