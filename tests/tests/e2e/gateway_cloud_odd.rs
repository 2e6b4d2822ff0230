//! Unusual, huge and hostile webhook calls of the official cloud API: 7; D31, D67, D68.

use recado_testkit::gateways::{FakeCloud, SignedWebhook, hex_hmac_sha256};
use recado_tests::{Clouded, both_stores, digits, join_all, mobile, raw, text};
use serde_json::{Value, json};

const SIGNATURE: &str = "x-hub-signature-256";

fn signed(body: impl Into<Vec<u8>>) -> SignedWebhook {
    let body = body.into();
    let hex = hex_hmac_sha256("app-secret", &body);
    SignedWebhook {
        headers: vec![(SIGNATURE.to_owned(), format!("sha256={hex}"))],
        query: Vec::new(),
        body,
    }
}

/// A call with two messages. `written` is inserted as the text of the first one without escaping.
fn escaped(world: &Clouded, written: &str) -> SignedWebhook {
    let one = |n: u32, words: &str| {
        let content = json!({"type": "text", "text": {"body": words}});
        let id = format!("wamid.odd.{n}");
        world.fake.message(&digits(&mobile(n)), &id, &content, world.now())
    };
    let call = world
        .fake
        .webhook_changes(&[("messages", one(1, "HERE")), ("messages", one(2, "o outro"))]);
    let body = String::from_utf8(call.body).expect("JSON");
    signed(body.replace("HERE", written))
}

#[both_stores]
async fn escaped_text_is_signed_as_it_is_written(world: Clouded) {
    world.takes(&escaped(&world, "Ol\\u00e1 \\ud83d\\ude42 \\/ \\\"x\\\"")).await;
    assert_eq!(world.message_with("wamid.odd.1").await["content"], "Olá 🙂 / \"x\"");
}

#[both_stores]
async fn characters_that_cannot_be_kept_lose_no_message(world: Clouded) {
    world.takes(&escaped(&world, "a\\u0000b\\u0007c")).await;
    let kept = text(&world.message_with("wamid.odd.1").await["content"]);
    assert!(kept.starts_with('a') && kept.ends_with('c') && !kept.contains('\0'), "{kept:?}");
    assert_eq!(world.message_with("wamid.odd.2").await["content"], "o outro");
}

#[both_stores]
async fn a_name_or_id_with_such_characters_loses_no_other_message(world: Clouded) {
    let content = json!({"type": "text", "text": {"body": "oi"}});
    let mut named = world.fake.message(&digits(&mobile(1)), "wamid.a", &content, world.now());
    named["contacts"][0]["profile"]["name"] = json!("Ma\u{0}ria\n\u{202e}");
    let mut odd = world.fake.message(&digits(&mobile(2)), "wamid.\u{0}b", &content, world.now());
    odd["contacts"][0]["profile"]["name"] = json!("x".repeat(100_000));
    let from = world.fake.message("55\u{0}11", "wamid.c", &content, world.now());
    let last = world.fake.message(&digits(&mobile(3)), "wamid.d", &content, world.now());
    let changes = [named, odd, from, last];
    let changes: Vec<(&str, Value)> =
        changes.into_iter().map(|change| ("messages", change)).collect();
    world.changes(&changes).await;
    world.message_with("wamid.a").await;
    world.message_with("wamid.d").await;
}

#[both_stores]
async fn json_of_any_depth_is_answered(world: Clouded) {
    for depth in [200, 100_000] {
        let deep = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        let answer = world.webhook(&world.connection, &signed(deep)).await;
        assert!([200, 400].contains(&answer.status), "{}", answer.show());
        let opened = "{\"a\":".repeat(depth);
        let answer = world.webhook(&world.connection, &signed(opened)).await;
        answer.expect_hook_error(400, "INVALID_PAYLOAD");
    }
    let buried = format!("{}1{}", "[".repeat(100), "]".repeat(100));
    let buried: Value = serde_json::from_str(&buried).expect("JSON");
    world.changes(&[("new_field", world.fake.value(json!({"x": buried})))]).await;
    world.says(&digits(&mobile(1)), "ainda aqui").await;
}

#[both_stores]
async fn a_very_long_text_is_kept_or_refused_alone(world: Clouded) {
    let content = json!({"type": "text", "text": {"body": "é".repeat(70_000)}});
    let long = world.fake.message(&digits(&mobile(1)), "wamid.long", &content, world.now());
    let content = json!({"type": "text", "text": {"body": "oi"}});
    let short = world.fake.message(&digits(&mobile(2)), "wamid.short", &content, world.now());
    world.changes(&[("messages", long), ("messages", short)]).await;
    world.message_with("wamid.short").await;
    let shown = world.message_with("wamid.long").await;
    assert!(text(&shown["content"]).starts_with("ééé"), "no message is lost for its length");
}

#[both_stores]
async fn the_same_id_on_two_connections_is_two_messages(world: Clouded) {
    let second = FakeCloud::numbered("222222222222", "551140020000");
    let reported = json!({"status": "connected"});
    let settings = second.settings(&world.gateway.url());
    let other = world.gateway_connection("official_cloud", "cloud_api", settings, reported).await;
    let from = digits(&mobile(1));
    world.takes(&world.fake.webhook_text(&from, "wamid.same", "um", world.now())).await;
    world.hooked(&other, &second.webhook_text(&from, "wamid.same", "dois", world.now())).await;
    assert_eq!(world.all_messages().await.len(), 2);
    assert_eq!(world.list_ids("limit=100").await.len(), 1);
}

#[both_stores]
async fn thousands_of_messages_of_the_past_come_in_one_call(world: Clouded) {
    let threads: Vec<Value> = (0..50)
        .map(|person| {
            let other = digits(&mobile(person));
            let messages: Vec<Value> = (0..50)
                .map(|n| {
                    json!({"from": other, "to": "551140028922", "type": "text",
                        "id": format!("wamid.H{person}.{n}"), "text": {"body": "oi"},
                        "timestamp": (1_750_000_000 + n).to_string(),
                        "history_context": {"status": "READ"}})
                })
                .collect();
            json!({"id": other, "messages": messages})
        })
        .collect();
    let history = json!({"history": [{
        "metadata": {"phase": 1, "chunk_order": 1, "progress": 55}, "threads": threads,
    }]});
    world.changes(&[("history", world.fake.value(history))]).await;
    let answer = world.get("/api/v1/messages?limit=1").await;
    assert_eq!(answer.json()["pagination"]["total"], 2_500, "{}", answer.show());
    // D65: of a history, only who is met in it is told.
    let told: Vec<String> = world.events().await.into_iter().map(|one| one.event).collect();
    assert_eq!(told, vec!["contact.created"; 50]);
}

#[both_stores]
async fn a_signature_of_other_bytes_than_text_is_401(world: Clouded) {
    let mut head = format!(
        "POST /api/webhooks/provider/{} HTTP/1.1\r\nhost: x\r\n{SIGNATURE}: sha256=",
        world.connection
    )
    .into_bytes();
    head.extend_from_slice(&[0xff; 64]);
    head.extend_from_slice(b"\r\ncontent-length: 2\r\n\r\n{}");
    let answer = raw(world.addr, &head).await.expect("an answer");
    answer.expect_hook_error(401, "UNAUTHORIZED");
}

#[both_stores]
async fn a_gateway_that_was_restarted_costs_no_message(world: Clouded) {
    for n in 0..5 {
        world.sent(&mobile(n), "antes").await;
        world.gateway.stop().await;
        world.gateway.resume().await;
        world.sent(&mobile(n), "depois").await;
    }
    assert_eq!(world.fake.accepted().len(), 10);
    world.well_behaved();
}

#[both_stores]
async fn sends_and_their_reports_cross_without_loss(world: Clouded) {
    let sends: Vec<_> = (0..20)
        .map(|n| {
            let world = &world;
            async move {
                let data = world.sent(&mobile(n), "oi").await;
                let accepted = world.fake.accepted();
                let own = accepted.iter().find(|sent| data["wamid"] == sent.id.as_str());
                let own = own.expect("it was taken").clone();
                let reports: Vec<_> = ["read", "sent", "delivered"]
                    .into_iter()
                    .map(|status| world.fake.webhook_status(&own, status, world.now()))
                    .collect();
                let calls = reports.iter().map(|report| world.takes(report)).collect();
                join_all(calls).await;
                text(&data["message_id"])
            }
        })
        .collect();
    for id in join_all(sends).await {
        assert_eq!(world.message(&id).await["status"], "read");
        assert_eq!(world.announced(&id).await.last().map(String::as_str), Some("read"));
    }
    assert_eq!(world.fake.accepted().len(), 20);
}

#[both_stores]
async fn half_a_surrogate_pair_loses_no_other_message(world: Clouded) {
    world.takes(&escaped(&world, "cortado \\ud83d")).await;
    assert_eq!(world.message_with("wamid.odd.2").await["content"], "o outro");
    let kept = text(&world.message_with("wamid.odd.1").await["content"]);
    assert!(kept.starts_with("cortado"), "{kept:?}");
}
