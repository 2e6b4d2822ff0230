//! Echoes: messages that the operator writes on the paired phone: 3.4, 8; D42, D42a.

use std::time::Duration;

use recado_tests::{World, both_stores, digits, keys, mobile, text, with, with_blocks};
use serde_json::{Value, json};

/// Whether the external AI is on.
async fn external(world: &World, contact: &str) -> Value {
    world.full(contact).await["external_ai_enabled"].clone()
}

#[both_stores]
async fn an_echo_is_stored_as_an_agents_message_that_was_sent(world: World) {
    let qr = world.qr().await;
    let contact = world.contact_by_message(&qr, &mobile(1)).await;
    let echo = world.echo(&digits(&mobile(1)), "pois não");
    let id = world.stored(&qr, echo.clone()).await;
    let shown = world.message(&id).await;
    assert_eq!(shown["contact_id"], contact.as_str());
    assert_eq!(shown["direction"], "outbound");
    assert_eq!(shown["sender_type"], "agent");
    assert_eq!(shown["status"], "sent");
    assert_eq!(shown["content"], "pois não");
    assert_eq!(shown["wamid"], echo["provider_message_id"]);
    let events = world.events_of("message.sent").await;
    assert_eq!(events.len(), 1);
    assert_eq!(
        keys(&events[0]),
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
    assert_eq!(events[0]["message_id"], id.as_str());
    assert_eq!(events[0]["sender_type"], "agent");
    assert_eq!(events[0]["status"], "sent");
    assert_eq!(world.gateway_one(&qr, echo).await["result"], "duplicate");
    assert_eq!(world.events_of("message.sent").await.len(), 1);
}

#[both_stores]
async fn an_echo_counts_as_a_reply_only_between_5_seconds_and_10_minutes(world: World) {
    let qr = world.qr().await;
    for (n, millis, is_reply) in [
        (1, 0, false),
        (2, 4_999, false),
        (3, 5_000, false),
        (4, 5_001, true),
        (5, 599_999, true),
        (6, 600_000, false),
        (7, 600_001, false),
    ] {
        let contact = world.contact_by_message(&qr, &mobile(n)).await;
        let later = json!({"timestamp": world.time_in(millis)});
        world.stored(&qr, with(world.echo(&digits(&mobile(n)), "oi"), later)).await;
        assert_eq!(external(&world, &contact).await, !is_reply, "{millis} ms");
    }
}

#[both_stores]
async fn an_echo_is_measured_by_the_providers_time_and_not_by_ours(world: World) {
    let qr = world.qr().await;
    let contact = world.contact_by_message(&qr, &mobile(1)).await;
    let at = json!({"timestamp": world.time_in(60_000)});
    // The echo arrives an hour late.
    world.advance(Duration::from_secs(3_600));
    world.stored(&qr, with(world.echo(&digits(&mobile(1)), "oi"), at)).await;
    assert_eq!(external(&world, &contact).await, false);
}

#[both_stores]
async fn an_echo_is_measured_against_the_newest_message_that_is_no_history(world: World) {
    let qr = world.qr().await;
    let contact = world.contact_by_message(&qr, &mobile(1)).await;
    world.advance(Duration::from_secs(3_600));
    let history = with(world.inbound(&digits(&mobile(1)), "velha"), json!({"history": true}));
    world.stored(&qr, history).await;
    let at = json!({"timestamp": world.time_in(60_000)});
    world.stored(&qr, with(world.echo(&digits(&mobile(1)), "oi"), at)).await;
    assert_eq!(external(&world, &contact).await, true, "an hour after the last message");
    world.receive(&qr, &digits(&mobile(1)), "nova").await;
    let at = json!({"timestamp": world.time_in(60_000)});
    world.stored(&qr, with(world.echo(&digits(&mobile(1)), "oi"), at)).await;
    assert_eq!(external(&world, &contact).await, false);
}

#[both_stores]
async fn an_echo_to_someone_who_never_wrote_is_no_reply(world: World) {
    let qr = world.qr().await;
    let id = world.stored(&qr, world.echo(&digits(&mobile(1)), "oi")).await;
    let contact = text(&world.message(&id).await["contact_id"]);
    assert_eq!(external(&world, &contact).await, true);
    assert_eq!(world.detail(&contact).await["phone"], mobile(1));
}

#[both_stores]
async fn an_echo_that_is_a_reply_switches_the_services_ai_as_an_agents_reply_does(world: World) {
    let qr = world.qr().await;
    let contact = world.contact_by_message(&qr, &mobile(1)).await;
    world.advance(Duration::from_secs(60));
    world.stored(&qr, world.echo(&digits(&mobile(1)), "oi")).await;
    assert_eq!(world.detail(&contact).await["is_ai_enabled"], false);
}

#[both_stores]
async fn an_echo_reopens_the_conversation_and_keeps_its_assignee(world: World) {
    let qr = world.qr().await;
    let contact = world.contact_by_message(&qr, &mobile(1)).await;
    let member = world.member("Bia").await;
    world.act(&contact, "close", json!({"member_id": member})).await.expect(200);
    world.stored(&qr, world.echo(&digits(&mobile(1)), "oi")).await;
    let detail = world.detail(&contact).await;
    assert_eq!(detail["inbox_status"], "open");
    assert_eq!(detail["assigned_to_member_id"], member.as_str());
}

#[both_stores]
async fn an_echo_moves_the_last_message_and_the_last_connection(world: World) {
    let (qr, other) = (world.qr().await, world.qr().await);
    let contact = world.contact_by_message(&qr, &mobile(1)).await;
    let first = world.time();
    world.advance(Duration::from_secs(60));
    world.stored(&other, world.echo(&digits(&mobile(1)), "oi")).await;
    let detail = world.detail(&contact).await;
    assert_eq!(detail["last_connection_id"], other.as_str());
    assert_eq!(detail["last_message_at"], world.time());
    assert_eq!(detail["last_inbound_at"], first);
}

#[both_stores]
async fn an_echo_of_a_message_that_we_sent_is_neither_stored_nor_a_reply(world: World) {
    let qr = world.silent("qr").await;
    let contact = world.contact_by_message(&qr, &mobile(1)).await;
    let sent = world.sent(&mobile(1), "oi").await;
    world.advance(Duration::from_secs(60));
    let echo =
        with(world.echo(&digits(&mobile(1)), "oi"), json!({"provider_message_id": sent["wamid"]}));
    let result = world.gateway_one(&qr, echo).await;
    assert_ne!(result["result"], "stored", "{result}");
    assert_eq!(world.messages_of(&contact).await.len(), 2);
    assert_eq!(external(&world, &contact).await, true);
    assert_eq!(world.events_of("message.sent").await.len(), 1);
    let message = world.message(&text(&sent["message_id"])).await;
    assert_eq!(message["sender_type"], "system");
}

#[both_stores]
async fn an_echo_in_a_group_belongs_to_the_group(world: World) {
    let qr = world.qr().await;
    let id = world.stored(&qr, world.echo("5@g.us", "bom dia")).await;
    let contact = world.group_contact("5@g.us").await;
    assert_eq!(world.message(&id).await["contact_id"], contact["id"]);
}

#[both_stores]
async fn an_echo_of_the_history_changes_nothing_of_the_contact(world: World) {
    let qr = world.qr().await;
    let contact = world.contact_by_message(&qr, &mobile(1)).await;
    world.close(&contact).await;
    world.advance(Duration::from_secs(60));
    let (before, events) = (world.full(&contact).await, world.events().await.len());
    let echo = with(world.echo(&digits(&mobile(1)), "velha"), json!({"history": true}));
    world.stored(&qr, echo).await;
    assert_eq!(world.full(&contact).await, before);
    assert_eq!(world.events().await.len(), events);
}
