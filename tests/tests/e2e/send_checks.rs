//! Every refusal of POST /send/message, and their order: 4.8, 7.1; D6, D8, D9, D33–D35, D38.

use std::time::Duration;

use recado_testkit::store::{StoreFailure, StoreOp};
use recado_tests::{Request, Setup, StoreKind, World, both_stores, mobile, text, unknown_id, with};
use serde_json::{Value, json};

/// Sets the status of a connection.
async fn set_status(world: &World, connection: &str, status: &str) {
    let event = json!({"kind": "connection", "status": status, "timestamp": world.time()});
    assert_eq!(world.gateway_one(connection, event).await["result"], "stored");
}

// Fields.

#[both_stores]
async fn to_and_message_are_needed(world: World) {
    for empty in [Value::Null, json!(""), json!("  \n\t ")] {
        let to = world.post_send(json!({"to": empty, "message": "oi"})).await;
        assert_eq!(to.expect_error(400, "MISSING_FIELD")["fields"], json!(["to"]));
        let message = world.post_send(json!({"to": mobile(1), "message": empty})).await;
        assert_eq!(message.expect_error(400, "MISSING_FIELD")["fields"], json!(["message"]));
    }
    let both = world.post_send(json!({})).await.expect_error(400, "MISSING_FIELD");
    let mut fields: Vec<String> =
        both["fields"].as_array().expect("fields").iter().map(text).collect();
    fields.sort();
    assert_eq!(fields, ["message", "to"]);
}

#[both_stores]
async fn wrong_types_unknown_keys_and_too_long_texts_are_reported_all_at_once(world: World) {
    let body = json!({"to": 5, "message": ["x"], "connection_id": 7, "nope": 1});
    let refused = world.post_send(body).await.expect_invalid();
    assert_eq!(refused, ["connection_id", "message", "nope", "to"]);
    let body = json!({"to": "x", "message": "é".repeat(4_097), "connection_id": "x"});
    let refused = world.post_send(body).await.expect_invalid();
    assert_eq!(refused, ["connection_id", "message"], "before the phone is looked at");
    let body = json!({"to": mobile(1), "message": "nul \u{0}"});
    assert_eq!(world.post_send(body).await.expect_invalid(), ["message"]);
}

#[both_stores]
async fn a_body_that_is_no_object_is_refused(world: World) {
    for body in ["", "[]", "5", "{", "null"] {
        let request = Request::new("POST", "/api/v1/send/message").body(body);
        world.call(request).await.expect_error(400, "INVALID_BODY");
    }
}

#[both_stores]
async fn a_number_that_does_not_normalize_is_invalid_before_its_connection_is_looked_for(
    world: World,
) {
    for to in [
        "abc",
        "123",
        "+5511",
        "+55 11 2345",
        "+0 11 98765-4321",
        "11 98765-4321 ramal 3",
        "x@example.com",
        "+5511987654321@c.us",
    ] {
        let body = json!({"to": to, "message": "oi", "connection_id": unknown_id()});
        world.post_send(body).await.expect_error(400, "INVALID_PHONE");
    }
}

#[both_stores]
async fn a_key_needs_the_scope_to_send(world: World) {
    let key = world
        .key_with(&["contacts:read", "contacts:write", "messages:read", "lead_memory:read"])
        .await;
    let answer = world.post_as(&key, "/api/v1/send/message", json!({})).await;
    let details = answer.expect_error(403, "INSUFFICIENT_SCOPE");
    assert_eq!(details["required_scope"], "messages:send");
    let get = world.get("/api/v1/send/message").await;
    get.expect_error(405, "METHOD_NOT_ALLOWED");
}

// Connection and contact.

#[both_stores]
async fn a_connection_that_is_not_ours_is_404_before_the_contact_is_looked_at(world: World) {
    world.qr().await;
    let other = world.tenant("Other").await;
    let theirs = world.connection_of(&other, "qr", json!({})).await;
    world.import(json!({"phone": mobile(1), "identifier": "a"})).await;
    world.import(json!({"phone": mobile(1), "identifier": "b"})).await;
    for connection in [unknown_id(), theirs] {
        world.send_through(&connection, &mobile(1)).await.expect_error(404, "NOT_FOUND");
        world.send_through(&connection, "1@g.us").await.expect_error(404, "NOT_FOUND");
    }
    world.send_text(&mobile(1), "oi").await.expect_error(409, "AMBIGUOUS_CONTACT");
}

#[both_stores]
async fn opted_out_is_reported_before_blocked_and_blocked_before_the_external_ai(world: World) {
    // No connection is usable, which is checked later.
    let contact = world
        .import(json!({
            "phone": mobile(1), "opted_out_at": world.time(), "is_blocked": true,
            "external_ai_enabled": false,
        }))
        .await;
    let refused = |code: &'static str| {
        let world = &world;
        async move { world.send_text(&mobile(1), "oi").await.expect_error(403, code) }
    };
    refused("CONTACT_OPTED_OUT").await;
    world.act(&contact, "opt-in", Value::Null).await.expect(200);
    refused("CONTACT_BLOCKED").await;
    world.act(&contact, "unblock", Value::Null).await.expect(200);
    refused("EXTERNAL_AI_DISABLED").await;
    world.act(&contact, "enable-external-ai", Value::Null).await.expect(200);
    world.send_text(&mobile(1), "oi").await.expect_error(422, "CONNECTION_REQUIRED");
    assert!(world.all_messages().await.is_empty(), "a refusal leaves nothing");
    assert!(world.events().await.is_empty());
}

#[both_stores]
async fn a_given_connection_that_cannot_be_used_is_422(world: World) {
    world.qr().await;
    let off = world.connection("qr", json!({"is_active": false})).await;
    let gone = world.connection("official_cloud", json!({"status": "disconnected"})).await;
    for connection in [off, gone] {
        let answer = world.send_through(&connection, &mobile(1)).await;
        answer.expect_error(422, "CONNECTION_REQUIRED");
    }
    assert!(world.list_ids("").await.is_empty());
}

#[both_stores]
async fn a_last_connection_that_the_operator_sets_is_used(world: World) {
    let (_, second) = (world.qr().await, world.qr().await);
    let contact = world.create_id(json!({"phone": mobile(1)})).await;
    let body = json!({"last_connection_id": second});
    world.operator("PATCH", &format!("C/contacts/{contact}"), body).await.expect(200);
    let sent = world.sent(&mobile(1), "oi").await;
    let message = world.message(&text(&sent["message_id"])).await;
    assert_eq!(message["connection_id"], second.as_str());
}

// The store.

#[both_stores]
async fn a_contact_whose_state_cannot_be_read_is_503_and_nothing_is_sent(kind: StoreKind) {
    // There are no other reads, so that the n-th read is the send's.
    let world = World::with(kind, Setup { no_background: true, ..Setup::default() }).await;
    let contact = world.contact_by_message(&world.silent("official_cloud").await, &mobile(1)).await;
    // A process writes its lease before its first send only.
    world.sent(&mobile(2), "oi").await;
    let mut reported = Vec::new();
    for n in 0..40 {
        world.server.store.fail_nth(StoreOp::Read, n, StoreFailure::Unavailable);
        let answer = world.send_text(&mobile(1), "oi").await;
        world.server.store.heal();
        if answer.status == 200 || answer.status == 502 {
            // The later reads are made to record the outcome.
            break;
        }
        assert_eq!(answer.status, 503, "read {n}: {}", answer.show());
        let wait: u64 = answer.header("retry-after").parse().expect("seconds to wait");
        let code = text(&answer.json()["code"]);
        if code == "CONTACT_STATE_UNAVAILABLE" {
            assert_eq!(wait, 5);
        } else {
            assert_eq!(code, "UNAVAILABLE");
            assert!(wait >= 1);
        }
        reported.push(code);
        assert_eq!(world.messages_of(&contact).await.len(), 1, "after read {n}: {reported:?}");
    }
    assert!(reported.contains(&"CONTACT_STATE_UNAVAILABLE".to_owned()), "{reported:?}");
    assert_eq!(world.messages_of(&contact).await.len(), 2, "the one that worked: {reported:?}");
}

#[both_stores]
async fn a_send_whose_intent_cannot_be_stored_is_503_and_calls_nobody(world: World) {
    world.qr().await;
    let contact = world.create_id(json!({"phone": mobile(1)})).await;
    world.server.store.fail_nth(StoreOp::Commit, 0, StoreFailure::Unavailable);
    let answer = world.send_text(&mobile(1), "oi").await;
    world.server.store.heal();
    assert_eq!(answer.status, 503, "{}", answer.show());
    assert!(!answer.header("retry-after").is_empty());
    assert!(world.messages_of(&contact).await.is_empty());
    assert!(world.events_of("message.sent").await.is_empty());
}

// Attempts of an unknown caller.

/// D33.
#[both_stores]
async fn refusals_are_reported_in_the_documented_order(world: World) {
    // Each step corrects one error; the next refusal is by the next check.
    let qr = world.connection("qr", json!({"status": "disconnected"})).await;
    let code = |body: Value| {
        let world = &world;
        async move { text(&world.post_send(body).await.json()["code"]) }
    };
    let body = json!({"to": 5, "connection_id": unknown_id(), "nope": 1});
    assert_eq!(code(body.clone()).await, "MISSING_FIELD");
    let body = with(body, json!({"message": "oi"}));
    assert_eq!(code(body.clone()).await, "VALIDATION_ERROR");
    let mut body = with(body, json!({"to": "12"}));
    body.as_object_mut().expect("an object").remove("nope");
    assert_eq!(code(body.clone()).await, "INVALID_PHONE");
    let body = with(body, json!({"to": mobile(1)}));
    assert_eq!(code(body.clone()).await, "NOT_FOUND");
    let body = with(body, json!({"connection_id": qr}));
    world
        .import(json!({"phone": mobile(1), "identifier": "a", "opted_out_at": world.time()}))
        .await;
    let twin = world.import(json!({"phone": mobile(1), "identifier": "b"})).await;
    assert_eq!(code(body.clone()).await, "AMBIGUOUS_CONTACT");
    world.delete(&format!("/api/v1/contacts/{twin}")).await.expect_deleted();
    assert_eq!(code(body.clone()).await, "CONTACT_OPTED_OUT");
    let id = world.list_ids("").await.remove(0);
    world.act(&id, "opt-in", Value::Null).await.expect(200);
    assert_eq!(code(body.clone()).await, "CONNECTION_REQUIRED");
    set_status(&world, &qr, "connected").await;
    assert_eq!(world.post_send(body).await.status, 200);
}

#[both_stores]
async fn a_send_is_counted_by_the_keys_rate(world: World) {
    world.qr().await;
    let key = world.key_rated(2, 2).await;
    let body = json!({"to": mobile(1), "message": "oi"});
    for _ in 0..2 {
        world.post_as(&key, "/api/v1/send/message", body.clone()).await.expect(200);
    }
    let refused = world.post_as(&key, "/api/v1/send/message", body).await;
    refused.expect_error(429, "RATE_LIMITED");
    world.advance(Duration::from_secs(60));
    let empty = world.post_as(&key, "/api/v1/send/message", json!({})).await;
    empty.expect_error(400, "MISSING_FIELD");
}
