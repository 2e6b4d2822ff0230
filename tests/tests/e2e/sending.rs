//! Sending texts to people: 2.4, 3.2, 4.8, 7.1; D28, D30, D34–D36, D38, D57.

use std::time::{Duration, Instant};

use recado_tests::{
    Request, World, both_stores, digits, eventually, keys, mobile, steered, text, with, with_blocks,
};
use serde_json::{Value, json};

/// The one message of a company that has one.
async fn only(world: &World) -> Value {
    let mut all = world.all_messages().await;
    assert_eq!(all.len(), 1, "{all:?}");
    all.remove(0)
}

#[both_stores]
async fn an_accepted_send_answers_with_its_ids(world: World) {
    for kind in ["qr", "official_cloud"] {
        let connection = world.connection(kind, json!({})).await;
        let data = world.send_through(&connection, &mobile(1)).await.expect(200);
        assert_eq!(keys(&data), ["contact_id", "message_id", "provider", "wamid"]);
        assert_eq!(data["provider"], kind);
        assert!(text(&data["wamid"]).starts_with("sim."), "{data}");
        let shown = world.message(&text(&data["message_id"])).await;
        assert_eq!(shown["contact_id"], data["contact_id"]);
        assert_eq!(shown["wamid"], data["wamid"]);
        assert_eq!(shown["connection_id"], connection.as_str());
    }
}

#[both_stores]
async fn the_message_is_stored_as_it_was_sent(world: World) {
    world.silent("qr").await;
    let message = "  Olá, *Ana*!\n\n<b>& \"você\"</b> 🙂  ";
    let data = world.sent(&mobile(1), message).await;
    let shown = world.message(&text(&data["message_id"])).await;
    assert_eq!(shown["content"], message);
    assert_eq!(shown["direction"], "outbound");
    assert_eq!(shown["type"], "text");
    assert_eq!(shown["sender_type"], "system");
    assert_eq!(shown["status"], "sent");
    assert_eq!(shown["created_at"], world.time());
    for empty in [
        "error_type",
        "error_message",
        "delivery_error",
        "external_id",
        "prosa",
        "media_url",
        "official_template_category",
        "quoted_message_id",
        "edited_at",
    ] {
        assert_eq!(shown[empty], Value::Null, "{empty}");
    }
}

#[both_stores]
async fn a_sent_message_is_reported_delivered_and_read(world: World) {
    world.qr().await;
    let data = world.sent(&mobile(1), "oi").await;
    let id = text(&data["message_id"]);
    let shown = world.reaches(&id, "read").await;
    assert_eq!(shown["delivery_error"], Value::Null);
    assert_eq!(world.announced(&id).await, ["delivered", "read"]);
    let sent = world.events_of("message.sent").await;
    assert_eq!(sent.len(), 1);
    assert_eq!(
        keys(&sent[0]),
        with_blocks(&[
            "connection",
            "contact",
            "content",
            "created_at",
            "delivery_error",
            "direction",
            "error_type",
            "media_caption",
            "media_mimetype",
            "media_url",
            "message_id",
            "participant",
            "sender_type",
            "status",
            "type",
            "wamid",
        ])
    );
    assert_eq!(sent[0]["message_id"], id.as_str());
    assert_eq!(sent[0]["wamid"], data["wamid"]);
    assert_eq!(sent[0]["status"], "sent");
    assert_eq!(sent[0]["sender_type"], "system");
    assert_eq!(sent[0]["content"], "oi");
    assert_eq!(sent[0]["direction"], "outbound");
}

#[both_stores]
async fn an_unknown_phone_becomes_a_contact(world: World) {
    let qr = world.qr().await;
    let data = world.sent("(11) 98000-1001", "oi").await;
    let listed = world.listed(&text(&data["contact_id"])).await;
    assert_eq!(listed["phone"], "+5511980001001");
    assert_eq!(listed["identifier"], "5511980001001");
    assert_eq!(listed["name"], "");
    assert_eq!(listed["last_connection_id"], qr.as_str());
    assert_eq!(listed["last_message_at"], world.time());
    assert_eq!(listed["last_inbound_at"], Value::Null);
    let kinds: Vec<String> =
        world.events().await.into_iter().take(2).map(|one| one.event).collect();
    assert_eq!(kinds, ["contact.created", "message.sent"]);
}

// Special behaviours of the simulated gateway.

#[both_stores]
async fn a_refusal_of_the_provider_is_502_and_a_failed_message(world: World) {
    for kind in ["qr", "official_cloud"] {
        let connection = world.connection(kind, json!({})).await;
        let answer = world.send_through(&connection, &steered(1)).await;
        answer.expect_error(502, "PROVIDER_ERROR");
    }
    for shown in world.all_messages().await {
        assert_eq!(shown["status"], "failed");
        assert_eq!(shown["error_type"], "provider");
        assert_eq!(shown["wamid"], Value::Null);
        assert_eq!(keys(&shown["delivery_error"]), ["code", "description"]);
        assert_ne!(shown["delivery_error"]["code"], "DELIVERY_UNCERTAIN");
        assert!(shown["error_message"].is_string());
        assert_eq!(shown["failure_reason"], shown["error_message"]);
    }
    assert!(world.events_of("message.sent").await.is_empty(), "a failed send emits none");
    let updates = world.events_of("message.status_updated").await;
    assert_eq!(updates.len(), 2);
    for update in updates {
        assert_eq!(update["previous_status"], "pending");
        assert_eq!(update["status"], "failed");
        assert_eq!(update["error_type"], "provider");
        assert!(update["delivery_error"]["code"].is_string());
    }
}

#[both_stores]
async fn an_uncertain_send_has_its_own_code_on_the_official_cloud_only(world: World) {
    for (kind, code) in [("official_cloud", "DELIVERY_UNCERTAIN"), ("qr", "PROVIDER_ERROR")] {
        let connection = world.connection(kind, json!({})).await;
        let answer = world.send_through(&connection, &steered(2)).await;
        answer.expect_error(502, code);
        let shown = world.all_messages().await.remove(0);
        assert_eq!(shown["status"], "failed");
        assert_eq!(shown["error_type"], "delivery_uncertain");
        assert_eq!(shown["delivery_error"]["code"], "DELIVERY_UNCERTAIN");
        assert!(!text(&shown["delivery_error"]["description"]).is_empty());
        world.advance(Duration::from_secs(1));
    }
}

#[both_stores]
async fn a_lost_connection_is_502_and_reported_in_the_message(world: World) {
    world.qr().await;
    world.send_text(&steered(3), "oi").await.expect_error(502, "PROVIDER_ERROR");
    let shown = only(&world).await;
    assert_eq!(shown["status"], "failed");
    assert_eq!(shown["error_type"], "connection_offline");
    assert_eq!(shown["delivery_error"]["code"], "CONNECTION_OFFLINE");
}

#[both_stores]
async fn a_message_that_fails_later_is_accepted_first(world: World) {
    world.cloud().await;
    let data = world.sent(&steered(4), "oi").await;
    let id = text(&data["message_id"]);
    let shown = world.reaches(&id, "failed").await;
    assert!(shown["delivery_error"]["code"].is_string());
    assert_eq!(shown["wamid"], data["wamid"]);
    assert_eq!(world.events_of("message.sent").await.len(), 1);
    assert_eq!(world.announced(&id).await, ["failed"]);
}

#[both_stores]
async fn an_answer_slower_than_the_timeout_is_uncertain(world: World) {
    for (kind, code) in [("official_cloud", "DELIVERY_UNCERTAIN"), ("qr", "PROVIDER_ERROR")] {
        let settings = json!({"settings": {"timeout_ms": 300}});
        let connection = world.connection(kind, settings).await;
        let started = Instant::now();
        world.send_through(&connection, &steered(5)).await.expect_error(502, code);
        assert!(started.elapsed() < Duration::from_secs(8), "{:?}", started.elapsed());
        let shown = world.all_messages().await.remove(0);
        assert_eq!(shown["error_type"], "delivery_uncertain");
        world.advance(Duration::from_secs(1));
    }
}

#[both_stores]
async fn a_slow_provider_is_waited_for(world: World) {
    world.qr().await;
    let to = steered(5);
    let (slow, fast) = tokio::join!(world.send_text(&to, "oi"), async {
        let started = Instant::now();
        let pending = eventually("it is pending", || async {
            let found = world.all_messages().await;
            found.into_iter().find(|one| one["status"] == "pending")
        })
        .await;
        assert_eq!(pending["wamid"], Value::Null);
        world.sent(&mobile(1), "oi").await;
        started.elapsed()
    });
    assert_eq!(slow.expect(200)["provider"], "qr");
    assert!(fast < Duration::from_secs(10), "nobody else waits: {fast:?}");
}

#[both_stores]
async fn a_failed_send_moves_the_last_message_of_the_contact_too(world: World) {
    world.qr().await;
    let contact = world.create_id(json!({"phone": steered(1)})).await;
    world.advance(Duration::from_secs(60));
    world.send_text(&steered(1), "oi").await.expect_error(502, "PROVIDER_ERROR");
    assert_eq!(world.detail(&contact).await["last_message_at"], world.time());
}

// Callers that disconnect.

#[both_stores]
async fn a_caller_that_hangs_up_changes_nothing(world: World) {
    let qr = world.qr().await;
    world.connection("qr", json!({"is_active": false})).await;
    let body = json!({"to": steered(5), "message": "oi", "connection_id": qr});
    let request = Request::new("POST", "/api/v1/send/message").bearer(&world.us.key).json(&body);
    let addr = world.addr;
    let caller = tokio::spawn(async move { request.send(addr).await });
    let pending = eventually("it is pending", || async {
        let found = world.all_messages().await;
        found.into_iter().find(|one| one["status"] == "pending")
    })
    .await;
    caller.abort();
    world.reaches(&text(&pending["id"]), "read").await;
    assert_eq!(world.events_of("message.sent").await.len(), 1);
}

// What other clients see.

#[both_stores]
async fn a_send_is_seen_by_the_contact_and_its_connection(world: World) {
    let qr = world.qr().await;
    let data = world.sent(&mobile(1), "oi").await;
    let detail = world.detail(&text(&data["contact_id"])).await;
    let shown = detail["connections"].as_array().expect("a list");
    assert_eq!(shown.len(), 1);
    assert_eq!(shown[0]["id"], qr.as_str());
    assert_eq!(shown[0]["identifier"], digits(&mobile(1)));
    assert_eq!(shown[0]["unread_count"], 0);
    assert_eq!(shown[0]["last_message_at"], world.time());
}

#[both_stores]
async fn the_event_of_a_send_shows_the_stored_state_of_the_contact(world: World) {
    world.silent("qr").await;
    let id = world.create_id(json!({"phone": mobile(1), "name": "Ana"})).await;
    world.act(&id, "ai-mode", json!({"mode": "external"})).await.expect(200);
    world.sent(&mobile(1), "oi").await;
    let events = world.events_of("message.sent").await;
    assert_eq!(
        events[0]["contact"],
        json!({
            "id": id, "phone": mobile(1), "name": "Ana", "display_name": "Ana",
            "source_platform": "whatsapp", "is_ai_enabled": false, "external_ai_enabled": true,
            "ai_paused_until": null, "opted_out_at": null,
        })
    );
}

#[both_stores]
async fn a_conversation_goes_there_and_back(world: World) {
    let qr = world.qr().await;
    let sent = world.sent(&mobile(1), "oi, tudo bem?").await;
    let contact = text(&sent["contact_id"]);
    world.reaches(&text(&sent["message_id"]), "read").await;
    world.close(&contact).await;
    world.advance(Duration::from_secs(60));
    let answer = with(
        world.inbound(&digits(&mobile(1)), "tudo, e você?"),
        json!({"quoted_provider_message_id": sent["wamid"]}),
    );
    world.stored(&qr, answer).await;
    let messages = world.messages_of(&contact).await;
    assert_eq!(messages.len(), 2);
    assert_eq!(messages[0]["content"], "tudo, e você?");
    assert_eq!(messages[0]["quoted_message_id"], sent["message_id"]);
    assert_eq!(messages[0]["quoted_content"], "oi, tudo bem?");
    assert_eq!(world.detail(&contact).await["inbox_status"], "open");
}
