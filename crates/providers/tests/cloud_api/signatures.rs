//! Verification of calls.

use recado_core::gateway::{GatewayEvent, Provider, ProviderWebhook, Received, WebhookRefused};
use recado_providers::cloud_api::CloudApi;
use recado_testkit::gateways::{FakeCloud, SignedWebhook, hex_hmac_sha256};
use serde_json::json;

use crate::support::*;

const HEADER: &str = "x-hub-signature-256";

fn call() -> SignedWebhook {
    FakeCloud::new().webhook_text("553491234567", "wamid.1", "Oi", at(1_760_000_000))
}

fn refused(webhook: &ProviderWebhook) -> WebhookRefused {
    CloudApi::new().receive(&plain(), webhook).expect_err("refused")
}

#[test]
fn a_right_signature_is_taken_in_either_case() {
    let webhook = call().webhook();
    assert_eq!(CloudApi::new().admit(&plain(), &webhook), Ok(()));
    assert_eq!(CloudApi::new().receive(&plain(), &webhook).expect("taken").len(), 1);
    let (_, value) = webhook.headers.iter().find(|(name, _)| name == HEADER).expect("signed");
    let upper = format!("sha256={}", value["sha256=".len()..].to_uppercase());
    let webhook = call().with_header(HEADER, &upper).webhook();
    assert_eq!(CloudApi::new().receive(&plain(), &webhook).expect("taken").len(), 1);
}

#[test]
fn a_missing_or_malformed_signature_is_refused_before_the_body() {
    let mut twice = call().webhook();
    let again = twice.headers.iter().find(|(name, _)| name == HEADER).expect("signed").clone();
    twice.headers.push(again);
    let digest = hex_hmac_sha256(SECRET, &call().body);
    let mut wrong = vec![call().without_header(HEADER).webhook(), twice];
    for value in [
        "",
        "sha256=",
        &digest,
        &format!("sha1={digest}"),
        &format!("sha256={digest}0"),
        &format!("sha256={digest} "),
        &format!("sha256={}", &digest[..62]),
        &format!("sha256=g{}", &digest[1..]),
        &format!("sha256={digest},sha256={digest}"),
    ] {
        wrong.push(call().with_header(HEADER, value).webhook());
    }
    for webhook in wrong {
        let head = ProviderWebhook { body: Vec::new(), ..webhook.clone() };
        let admitted = CloudApi::new().admit(&plain(), &head);
        assert_eq!(admitted, Err(WebhookRefused::Unauthorized), "{:?}", webhook.headers);
        assert_eq!(refused(&webhook), WebhookRefused::Unauthorized);
    }
}

#[test]
fn another_secret_and_a_changed_body_are_refused() {
    let webhook = call();
    let value = format!("sha256={}", hex_hmac_sha256("another", &webhook.body));
    let other = webhook.clone().with_header(HEADER, &value).webhook();
    assert_eq!(refused(&other), WebhookRefused::Unauthorized);
    let mut body = webhook.body.clone();
    body.push(b' ');
    assert_eq!(refused(&webhook.clone().with_body(body).webhook()), WebhookRefused::Unauthorized);
    let changed = String::from_utf8(webhook.body.clone()).expect("text").replace("Oi", "Ui");
    assert_eq!(
        refused(&webhook.clone().with_body(changed).webhook()),
        WebhookRefused::Unauthorized
    );
    assert_eq!(refused(&webhook.with_body("").webhook()), WebhookRefused::Unauthorized);
}

#[test]
fn the_bytes_are_signed_not_what_they_mean() {
    // The API escapes characters that are not ASCII; serializing the body again would lose the
    // escapes.
    let body = br#"{"object":"whatsapp_business_account","entry":[{"id":"1","changes":[{"field":"messages","value":{"messages":[{"from":"1","id":"wamid.1","type":"text","text":{"body":"Ol\u00e1 \ud83d\ude00"}}]}}]}]}"#;
    let signature = format!("sha256={}", hex_hmac_sha256(SECRET, body));
    let webhook = call().with_body(body.to_vec()).with_header(HEADER, &signature).webhook();
    let received = CloudApi::new().receive(&plain(), &webhook).expect("taken");
    assert!(format!("{received:?}").contains("Olá 😀"));
}

#[test]
fn what_is_no_json_is_malformed_only_once_it_is_verified() {
    for body in ["", "x", "{", "\u{feff}{}", "[1"] {
        let signature = format!("sha256={}", hex_hmac_sha256(SECRET, body.as_bytes()));
        let signed = call().with_body(body).with_header(HEADER, &signature);
        assert_eq!(refused(&signed.webhook()), WebhookRefused::Malformed, "{body:?}");
        let unsigned = call().with_body(body).webhook();
        assert_eq!(refused(&unsigned), WebhookRefused::Unauthorized, "{body:?}");
    }
}

#[test]
fn the_address_is_verified_with_the_token_only() {
    let fake = FakeCloud::new();
    let handshake = |webhook: &ProviderWebhook| CloudApi::new().handshake(&plain(), webhook);
    assert_eq!(handshake(&fake.handshake("1158201444").webhook()), Ok("1158201444".to_owned()));
    let with = |name: &str, value: Option<&str>| {
        let mut webhook = fake.handshake("1").webhook();
        webhook.query.retain(|(known, _)| known != name);
        webhook.query.extend(value.map(|value| (name.to_owned(), value.to_owned())));
        handshake(&webhook)
    };
    for wrong in [None, Some(""), Some("verify-toke"), Some("verify-token2"), Some("VERIFY-TOKEN")]
    {
        assert_eq!(with("hub.verify_token", wrong), Err(WebhookRefused::Unauthorized), "{wrong:?}");
    }
    for (name, value) in
        [("hub.challenge", None), ("hub.mode", None), ("hub.mode", Some("unsubscribe"))]
    {
        assert_eq!(with(name, value), Err(WebhookRefused::Malformed), "{name}");
    }
    let mut twice = fake.handshake("1").webhook();
    twice.query.push(("hub.verify_token".to_owned(), "verify-token".to_owned()));
    assert_eq!(handshake(&twice), Err(WebhookRefused::Unauthorized));
}

#[test]
fn a_signed_body_of_another_object_is_unknown() {
    let received = receive(&json!({"object": "instagram", "entry": []}));
    assert!(format!("{received:?}").contains("kind: \"instagram\""), "{received:?}");
    assert_eq!(receive(&json!([])).len(), 1);
    let ours = json!({"object": "whatsapp_business_account"});
    assert!(format!("{:?}", receive(&ours)).contains("kind: \"whatsapp_business_account\""));
    let received = receive(&json!({"x": 1}));
    assert!(format!("{received:?}").contains("kind: \"no object\""), "{received:?}");
}

#[test]
fn a_body_that_names_no_object_is_read() {
    let value = of_number(json!({"messages": [
        {"from": "1", "id": "wamid.1", "type": "text", "text": {"body": "Oi"}}]}));
    let mut body = change("messages", &value);
    body.as_object_mut().expect("an object").remove("object");
    let received = receive(&body);
    assert!(
        matches!(received.as_slice(), [Received { event: Ok(GatewayEvent::Message(_)), .. }]),
        "{received:?}"
    );
}
