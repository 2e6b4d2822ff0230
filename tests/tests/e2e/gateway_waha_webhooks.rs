//! Calls to the webhook address of a WAHA connection, valid and invalid, and secrets:
//! docs/gateways/waha.md; D67, D68, D70.

use std::time::Duration;

use recado_core::Clock;
use recado_runtime::SystemClock;
use recado_testkit::gateways::{FakeWaha, SignedWebhook, WahaEngine, hex_hmac_sha512};
use recado_tests::backend::Database;
use recado_tests::binary::Process;
use recado_tests::world::{operator_at, tenant_at};
use recado_tests::{
    GatewayServer, Request, StoreKind, World, both_stores, digits, eventually, mobile, text,
    webhook_request,
};
use serde_json::{Value, json};

use crate::gateway_waha::{Waha, chat, settings};

const SIGNATURE: &str = "x-webhook-hmac";
const ALGORITHM: &str = "x-webhook-hmac-algorithm";

fn hello(waha: &Waha) -> SignedWebhook {
    waha.fake.webhook_message(&waha.fake.receive(&chat(&mobile(1)), "Maria", "oi"))
}

fn signature(webhook: &SignedWebhook) -> String {
    let found = webhook.headers.iter().find(|(name, _)| name == SIGNATURE);
    found.expect("it is signed").1.clone()
}

async fn nothing_was_kept(world: &World) {
    assert!(world.all_messages().await.is_empty());
    assert!(world.list_ids("limit=10").await.is_empty());
    assert!(world.events().await.is_empty());
}

#[both_stores]
async fn a_call_without_the_right_signature_is_401(waha: Waha) {
    let good = hello(&waha);
    let right = signature(&good);
    let mut changed = good.body.clone();
    changed.push(b' ');
    let sign = |key: &str| hex_hmac_sha512(key, &good.body);
    for bad in [
        good.clone().without_header(SIGNATURE),
        good.clone().with_header(SIGNATURE, ""),
        good.clone().with_header(SIGNATURE, &right[..right.len() - 1]),
        good.clone().with_header(SIGNATURE, &format!("{right}0")),
        good.clone().with_header(SIGNATURE, &"0".repeat(128)),
        good.clone().with_header(SIGNATURE, &"é".repeat(64)),
        good.clone().with_header(SIGNATURE, &format!("sha512={right}")),
        good.clone().with_header(SIGNATURE, &sign("another")),
        good.clone().with_header(SIGNATURE, &sign("")),
        good.clone().with_header(ALGORITHM, "sha1"),
        good.clone().with_body(changed),
        good.clone().with_body(""),
    ] {
        let answer = waha.webhook(&waha.connection, &bad).await;
        answer.expect_hook_error(401, "UNAUTHORIZED");
    }
    for second in [right.clone(), "0".repeat(128)] {
        let twice = webhook_request(&waha.connection, "", &good).header(SIGNATURE, second);
        waha.send(twice).await.expect_hook_error(401, "UNAUTHORIZED");
    }
    nothing_was_kept(&waha).await;
    // The signature alone is enough, in upper or lower case.
    let shouted = good.without_header(ALGORITHM).with_header(SIGNATURE, &right.to_uppercase());
    waha.takes(&shouted).await;
    assert_eq!(waha.all_messages().await.len(), 1);
}

#[both_stores]
async fn another_connections_signature_does_not_open_this_one(waha: Waha) {
    let mut other = settings(&waha.fake, &waha.gateway);
    other.insert("webhook_hmac_key".to_owned(), json!("theirs"));
    other.insert("session".to_owned(), json!("loja2"));
    let theirs = waha.gateway_connection("qr", "waha", other, json!({})).await;
    waha.webhook(&theirs, &hello(&waha)).await.expect_hook_error(401, "UNAUTHORIZED");
    nothing_was_kept(&waha).await;
}

#[both_stores]
async fn what_is_signed_but_no_event_changes_nothing(waha: Waha) {
    let signed = |body: &str| {
        let hex = hex_hmac_sha512("waha-hmac-key", body.as_bytes());
        hello(&waha).with_header(SIGNATURE, &hex).with_body(body)
    };
    for body in ["", "oi", "{", "\u{0}"] {
        let answer = waha.webhook(&waha.connection, &signed(body)).await;
        answer.expect_hook_error(400, "INVALID_PAYLOAD");
    }
    for body in [
        "[]",
        "3",
        "{}",
        r#"{"event":"message.any","session":"loja1"}"#,
        r#"{"event":"message.any","session":"loja1","payload":[]}"#,
        r#"{"event":"message.any","session":"loja1","payload":{"id":7}}"#,
        r#"{"event":"message.ack","session":"loja1","payload":{"id":"true_x_Y","ack":"far"}}"#,
        r#"{"event":"session.status","session":"loja1","payload":{}}"#,
        r#"{"event":7,"session":"loja1","payload":{}}"#,
    ] {
        waha.takes(&signed(body)).await;
    }
    nothing_was_kept(&waha).await;
    assert_eq!(waha.status().await, "connected");
}

#[both_stores]
async fn an_event_of_another_session_changes_nothing(waha: Waha) {
    let message = waha.fake.receive(&chat(&mobile(1)), "Maria", "oi");
    let status = json!({"status": "FAILED", "statuses": []});
    for (event, payload) in [("message.any", message), ("session.status", status)] {
        let foreign = waha.fake.webhook_of_session("loja2", event, &payload);
        waha.takes(&foreign).await;
    }
    nothing_was_kept(&waha).await;
    assert_eq!(waha.status().await, "connected");
}

#[both_stores]
async fn anything_may_follow_the_connection_in_the_address(waha: Waha) {
    let answer = waha.webhook_at(&waha.connection, "/waha/message.any", &hello(&waha)).await;
    assert_eq!(answer.status, 200, "{}", answer.show());
    assert_eq!(waha.all_messages().await.len(), 1);
}

#[both_stores]
async fn unknown_events_are_kept_as_they_came(waha: Waha) {
    let payload = json!({"from": chat(&mobile(1)), "segredo": "senha 123", "pinned": true});
    for _ in 0..3 {
        waha.takes(&waha.fake.webhook("message.pinned", &payload)).await;
    }
    let kept = waha.about("unknown-events").await;
    let kept = kept.as_array().expect("a list");
    assert_eq!(kept.len(), 3, "each call has an id of its own: {kept:?}");
    for event in kept {
        assert_eq!(
            (&event["kind"], &event["reason"]),
            (&json!("message.pinned"), &json!("unknown_kind"))
        );
        assert_eq!(event["body"]["payload"], payload);
    }
    nothing_was_kept(&waha).await;
}

#[both_stores]
async fn no_answer_and_no_log_line_shows_a_secret(kind: StoreKind) {
    let database = Database::migrated(kind);
    let process = Process::serve(&database, &["--log", "trace"]).await;
    let addr = process.addr;
    let us = tenant_at(addr, "Acme", "enterprise").await;
    let fake = FakeWaha::new(WahaEngine::Gows);
    fake.set_now(SystemClock.now());
    let gateway = GatewayServer::start(fake.clone()).await;
    let body = json!({"kind": "qr", "name": "w", "identifier": "+551140028922",
        "gateway": "waha", "settings": settings(&fake, &gateway)});
    let mut shown = String::new();
    let made = operator_at(addr, &us.id, "POST", "C/connections", body).await;
    shown.push_str(&made.show());
    let connection = text(&made.expect(201)["id"]);
    let path = format!("C/connections/{connection}");
    eventually("it is connected", || async {
        let view = operator_at(addr, &us.id, "GET", &path, Value::Null).await;
        (view.data()["status"] == "connected").then_some(())
    })
    .await;
    let url = fake.add_file("x.jpg", b"segredo-da-foto");
    let reported = recado_tests::with(
        fake.receive(&chat(&mobile(1)), "Fulana Sigilosa", "segredo-recebido"),
        json!({"hasMedia": true, "media": {"url": url, "mimetype": "image/jpeg"}}),
    );
    let good = fake.webhook_message(&reported);
    let bad = good.clone().with_header(SIGNATURE, &"0".repeat(128));
    for webhook in [&good, &bad] {
        shown.push_str(&webhook_request(&connection, "", webhook).send(addr).await.show());
    }
    let send = |words: &'static str| {
        let body = json!({"to": mobile(1), "message": words});
        Request::new("POST", "/api/v1/send/message").bearer(&us.key).json(&body).send(addr)
    };
    shown.push_str(&send("segredo-enviado").await.show());
    // The gateway's answer to an error contains the whole request.
    let asked = json!({"body": {"text": "segredo-no-erro"},
        "headers": {"x-api-key": "waha-api-key"}});
    let failure = json!({"statusCode": 500, "request": asked,
        "exception": {"message": "Evaluation failed", "name": "Error", "stack": "x"}});
    fake.script([recado_testkit::gateways::SendBehaviour::Error(500, failure)]);
    shown.push_str(&send("segredo-perdido").await.show());
    fake.set_status("SCAN_QR_CODE");
    let code = operator_at(addr, &us.id, "GET", &format!("{path}/qr"), Value::Null).await;
    assert_eq!(code.expect(200)["text"], "2@pairing,code");
    let wrong = json!({"settings": {"api_key": "waha-api-key-2"}});
    shown.push_str(&operator_at(addr, &us.id, "PATCH", &path, wrong).await.show());
    let check = format!("{path}/check");
    shown.push_str(&operator_at(addr, &us.id, "POST", &check, json!({})).await.show());
    shown.push_str(&send("segredo-final").await.show());
    gateway.stop().await;
    shown.push_str(&operator_at(addr, &us.id, "POST", &check, json!({})).await.show());
    let log = process.kill_and_read().await;
    assert!(log.contains("/api/webhooks/provider/"), "there is a log: {log}");
    for secret in [
        "waha-api-key",
        "waha-hmac-key",
        "segredo",
        "Sigilosa",
        "pairing,code",
        &digits(&mobile(1)),
        &signature(&good),
    ] {
        let line = log.lines().find(|line| line.contains(secret));
        assert_eq!(line, None, "{secret}");
    }
    for secret in ["waha-api-key", "waha-hmac-key", "segredo-no-erro"] {
        assert!(!shown.contains(secret), "{secret} in {shown}");
    }
}

#[both_stores]
async fn a_message_that_stays_at_sent_is_counted_after_ten_minutes(kind: StoreKind) {
    let database = Database::migrated(kind);
    let process = Process::serve(&database, &[]).await;
    let us = tenant_at(process.addr, "Acme", "enterprise").await;
    let connection = |name: &'static str, status: &'static str| {
        let settings = json!({"base_url": "http://127.0.0.1:9", "session": name,
            "api_key": "k", "webhook_hmac_key": "h"});
        let body = json!({"kind": "qr", "name": name, "identifier": "+551140028922",
            "gateway": "waha", "settings": settings, "status": status});
        operator_at(process.addr, &us.id, "POST", "C/connections", body)
    };
    let on = text(&connection("on", "connected").await.expect(201)["id"]);
    let off = text(&connection("off", "disconnected").await.expect(201)["id"]);
    let contact =
        operator_at(process.addr, &us.id, "POST", "C/contacts", json!({"phone": mobile(1)})).await;
    let contact = text(&contact.expect(201)["id"]);
    for (n, (connection, minutes, status)) in [
        (&on, 11, "sent"),
        (&on, 60, "sent"),
        (&on, 5, "sent"),
        (&on, 11, "delivered"),
        (&off, 11, "sent"),
        (&on, 60 * 25, "sent"),
    ]
    .into_iter()
    .enumerate()
    {
        let at = SystemClock.now().minus(Duration::from_secs(minutes * 60));
        let message = json!({"contact_id": contact, "connection_id": connection,
            "direction": "outbound", "type": "text", "content": "oi", "status": status,
            "sender_type": "system", "wamid": format!("w{n}"), "created_at": at.to_string(),
            "timestamp": at.to_string()});
        operator_at(process.addr, &us.id, "POST", "C/messages", message).await.expect(201);
    }
    process.kill().await;
    // The messages are counted at the start, and every minute.
    let process = Process::serve(&database, &[]).await;
    let counted = eventually("it is counted", || async {
        let metrics = Request::new("GET", "/metrics").send(process.addr).await;
        let metrics = String::from_utf8_lossy(&metrics.body).into_owned();
        let line = metrics.lines().find(|line| line.starts_with("recado_messages_left_sent "));
        line.map(str::to_owned)
    })
    .await;
    assert_eq!(counted, "recado_messages_left_sent 2");
    process.kill().await;
}
