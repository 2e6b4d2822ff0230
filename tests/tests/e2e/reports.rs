//! Status reports and edits of a gateway: 2.4, 3.2; D28, D30, D31a, D57.

use std::time::Duration;

use recado_tests::{World, both_stores, digits, keys, mobile, text, wamid, with};
use serde_json::{Value, json};

/// A sent message without reports, and its provider id.
async fn sent(world: &World) -> (String, String, String) {
    let connection = world.silent("official_cloud").await;
    let data = world.send_through(&connection, &mobile(1)).await.expect(200);
    (connection, text(&data["message_id"]), text(&data["wamid"]))
}

fn failed(world: &World, provider_id: &str, error: Value) -> Value {
    with(world.report(provider_id, "failed"), json!({"error": error}))
}

#[both_stores]
async fn reports_move_a_message_from_sent_to_delivered_to_read(world: World) {
    let (connection, id, wamid) = sent(&world).await;
    assert_eq!(world.message(&id).await["status"], "sent");
    for status in ["delivered", "read"] {
        let result = world.gateway_one(&connection, world.report(&wamid, status)).await;
        assert_eq!(result["result"], "stored", "{result}");
        assert_eq!(world.message(&id).await["status"], status);
    }
    assert_eq!(world.announced(&id).await, ["delivered", "read"]);
}

#[both_stores]
async fn a_reported_failure_says_why_in_both_languages(world: World) {
    let (connection, id, wamid) = sent(&world).await;
    let error = json!({"code": 131_047, "title": "Re-engagement message", "details": "24 hours"});
    world.gateway_one(&connection, failed(&world, &wamid, error)).await;
    let shown = world.message(&id).await;
    assert_eq!(shown["status"], "failed");
    assert_eq!(shown["error_type"], "provider");
    assert_eq!(shown["delivery_error"]["code"], "OUTSIDE_SERVICE_WINDOW");
    assert_eq!(keys(&shown["delivery_error"]), ["code", "description"]);
    assert!(text(&shown["delivery_error"]["description"]).contains("24 horas"));
    assert!(text(&shown["error_message"]).contains("24 hours"), "{shown}");
    assert_eq!(shown["failure_reason"], shown["error_message"]);
    assert_eq!(world.announced(&id).await, ["failed"]);
}

#[both_stores]
async fn an_uncertain_message_moves_on_when_a_report_proves_it_sent(world: World) {
    let connection = world.silent("official_cloud").await;
    let contact = world.create_id(json!({"phone": mobile(1)})).await;
    for status in ["sent", "delivered", "read"] {
        let provider_id = wamid();
        let id = world
            .import_message(json!({
                "contact_id": contact, "connection_id": connection, "direction": "outbound",
                "type": "text", "content": "oi", "sender_type": "system", "wamid": provider_id,
                "status": "failed", "error_type": "delivery_uncertain", "error_message": "?",
            }))
            .await;
        let before = world.message(&id).await;
        assert_eq!(before["delivery_error"]["code"], "DELIVERY_UNCERTAIN");
        world.gateway_one(&connection, world.report(&provider_id, status)).await;
        let shown = world.message(&id).await;
        assert_eq!(shown["status"], status);
        for cleared in ["error_type", "error_message", "failure_reason", "delivery_error"] {
            assert_eq!(shown[cleared], Value::Null, "{cleared}");
        }
        assert_eq!(world.announced(&id).await, [status]);
    }
}

#[both_stores]
async fn a_report_that_comes_before_its_message_is_applied_to_it(world: World) {
    let connection = world.silent("qr").await;
    world.contact_by_message(&connection, &mobile(1)).await;
    for (early, expected) in [
        (vec!["delivered"], "delivered"),
        (vec!["read", "delivered"], "read"),
        (vec!["sent"], "sent"),
    ] {
        let echo = world.echo(&digits(&mobile(1)), "do telefone");
        let provider_id = text(&echo["provider_message_id"]);
        for (n, status) in early.iter().enumerate() {
            let result = world.gateway_one(&connection, world.report(&provider_id, status)).await;
            if n == 0 {
                assert_eq!(result["result"], "stored", "{result}");
            }
        }
        world.advance(Duration::from_secs(9 * 60));
        let id = world.stored(&connection, echo).await;
        assert_eq!(world.message(&id).await["status"], expected, "{early:?}");
    }
}

#[both_stores]
async fn a_report_counts_only_on_its_own_connection(world: World) {
    let (_, id, wamid) = sent(&world).await;
    let other = world.silent("official_cloud").await;
    world.gateway_one(&other, world.report(&wamid, "read")).await;
    assert_eq!(world.message(&id).await["status"], "sent");
}

#[both_stores]
async fn a_report_about_an_inbound_message_changes_nothing(world: World) {
    let connection = world.silent("qr").await;
    let event = world.inbound(&digits(&mobile(1)), "oi");
    let id = world.stored(&connection, event.clone()).await;
    let events = world.events().await.len();
    for status in ["sent", "delivered", "read", "failed"] {
        let report = world.report(&text(&event["provider_message_id"]), status);
        let result = text(&world.gateway_one(&connection, report).await["result"]);
        assert_ne!(result, "stored", "{status}");
    }
    assert_eq!(world.message(&id).await["status"], "received");
    assert_eq!(world.events().await.len(), events);
}

#[both_stores]
async fn a_status_that_is_no_report_is_refused(world: World) {
    let (connection, id, wamid) = sent(&world).await;
    for status in ["pending", "received", "deleted", ""] {
        let result = world.gateway_one(&connection, world.report(&wamid, status)).await;
        assert_eq!(result["result"], "refused", "{status}: {result}");
    }
    assert_eq!(world.message(&id).await["status"], "sent");
}

#[both_stores]
async fn message_status_updated_carries_what_changed(world: World) {
    let (connection, id, wamid) = sent(&world).await;
    world.advance(Duration::from_secs(7));
    world.gateway_one(&connection, world.report(&wamid, "delivered")).await;
    let events = world.events_of("message.status_updated").await;
    assert_eq!(events.len(), 1);
    let data = &events[0];
    assert_eq!(
        keys(data),
        [
            "connection",
            "contact",
            "delivery_error",
            "error_type",
            "message_id",
            "previous_status",
            "status",
            "updated_at",
            "wamid",
        ]
    );
    assert_eq!(data["message_id"], id.as_str());
    assert_eq!(data["wamid"], wamid.as_str());
    assert_eq!(data["status"], "delivered");
    assert_eq!(data["previous_status"], "sent");
    assert_eq!(data["error_type"], Value::Null);
    assert_eq!(data["delivery_error"], Value::Null);
    assert_eq!(data["updated_at"], world.time());
    assert_eq!(
        keys(&data["contact"]),
        [
            "ai_paused_until",
            "display_name",
            "external_ai_enabled",
            "id",
            "is_ai_enabled",
            "name",
            "opted_out_at",
            "phone",
            "source_platform",
        ]
    );
    assert_eq!(keys(&data["connection"]), ["id", "name", "type"]);
}

// Edits.

#[both_stores]
async fn an_edit_changes_the_content_and_says_when(world: World) {
    let qr = world.qr().await;
    let event = world.inbound(&digits(&mobile(1)), "oii");
    let id = world.stored(&qr, event.clone()).await;
    let events = world.events().await.len();
    world.advance(Duration::from_secs(5));
    let edit = json!({
        "kind": "edit", "provider_message_id": event["provider_message_id"],
        "content": "oi", "timestamp": world.time(),
    });
    assert_eq!(world.gateway_one(&qr, edit).await["result"], "stored");
    let shown = world.message(&id).await;
    assert_eq!(shown["content"], "oi");
    assert_eq!(shown["is_edited"], true);
    assert_eq!(shown["edited_at"], world.time());
    assert_eq!(shown["created_at"], world.time_ago(5_000));
    assert_eq!(world.events().await.len(), events + 1);
    assert_eq!(world.events_of("message.updated").await[0]["changed"], json!(["content"]));
}

#[both_stores]
async fn an_edit_of_an_unknown_message_makes_no_message(world: World) {
    let qr = world.qr().await;
    let edit = json!({
        "kind": "edit", "provider_message_id": wamid(), "content": "oi",
        "timestamp": world.time(),
    });
    assert_eq!(world.gateway_one(&qr, edit).await["result"], "stored", "it waits (X5)");
    assert!(world.all_messages().await.is_empty());
}
