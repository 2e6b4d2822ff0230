//! Messages from contacts, as gateways report them: 2.4, 6.1, docs/operator-api.md; D27, D31,
//! D31a, D42a, D65, D67.

use std::time::Duration;

use recado_tests::{
    World, both_stores, digits, join_all, keys, mobile, text, unknown_id, wamid, with, with_blocks,
};
use serde_json::{Value, json};

#[both_stores]
async fn a_text_is_stored_as_the_gateway_reported_it(world: World) {
    let qr = world.qr().await;
    let event = with(
        world.inbound(&digits(&mobile(1)), "Olá, tudo bem?"),
        json!({"timestamp": world.time_ago(90_000)}),
    );
    let id = world.stored(&qr, event.clone()).await;
    let shown = world.message(&id).await;
    assert_eq!(shown["direction"], "inbound");
    assert_eq!(shown["type"], "text");
    assert_eq!(shown["content"], "Olá, tudo bem?");
    assert_eq!(shown["status"], "received");
    assert_eq!(shown["sender_type"], "contact");
    assert_eq!(shown["wamid"], event["provider_message_id"]);
    assert_eq!(shown["connection_id"], qr.as_str());
    assert_eq!(shown["is_edited"], false);
    assert_eq!(shown["created_at"], world.time(), "when we stored it");
    assert_eq!(shown["timestamp"], world.time_ago(90_000), "the provider's time");
    for empty in [
        "media_url",
        "media_mimetype",
        "media_filename",
        "media_caption",
        "error_type",
        "error_message",
        "failure_reason",
        "delivery_error",
        "external_id",
        "quoted_message_id",
        "quoted_content",
        "quoted_type",
        "edited_at",
        "official_template_category",
        "prosa",
    ] {
        assert_eq!(shown[empty], Value::Null, "{empty}");
    }
}

#[both_stores]
async fn somebody_new_becomes_a_contact(world: World) {
    let qr = world.qr().await;
    let from = digits(&mobile(1));
    let event = with(world.inbound(&from, "oi"), json!({"push_name": "Rita"}));
    let message = world.stored(&qr, event).await;
    let id = text(&world.message(&message).await["contact_id"]);
    let listed = world.listed(&id).await;
    assert_eq!(listed["identifier"], from.as_str());
    assert_eq!(listed["phone"], mobile(1));
    assert_eq!(listed["name"], "");
    assert_eq!(listed["wa_push_name"], "Rita");
    assert_eq!(listed["display_name"], "Rita");
    assert_eq!(listed["source_platform"], "whatsapp");
    assert_eq!(listed["inbox_status"], "open");
    assert_eq!(listed["last_connection_id"], qr.as_str());
    for time in ["first_message_at", "last_message_at", "last_inbound_at"] {
        assert_eq!(listed[time], world.time(), "{time}");
    }
    let kinds: Vec<String> = world.events().await.into_iter().map(|one| one.event).collect();
    assert_eq!(kinds, ["contact.created", "message.received"]);
}

#[both_stores]
async fn contact_created_carries_the_contact_as_post_shows_it(world: World) {
    let created = world.create(json!({"phone": mobile(1), "name": "Ana"})).await;
    assert_eq!(world.events_of("contact.created").await, [created.clone()]);
    let qr = world.qr().await;
    world.contact_by_message(&qr, &mobile(2)).await;
    let events = world.events_of("contact.created").await;
    assert_eq!(keys(&events[1]), keys(&created));
    assert_eq!(events[1]["phone"], mobile(2));
}

#[both_stores]
async fn a_known_contact_is_not_made_twice(world: World) {
    let qr = world.qr().await;
    let id = world.create_id(json!({"phone": mobile(1), "name": "Ana"})).await;
    assert_eq!(world.contact_by_message(&qr, &mobile(1)).await, id);
    assert_eq!(world.list_ids("").await, [id.clone()]);
    assert_eq!(world.detail(&id).await["name"], "Ana");
    assert_eq!(world.events_of("contact.created").await.len(), 1);
}

#[both_stores]
async fn the_times_of_a_contact_follow_its_messages(world: World) {
    let qr = world.qr().await;
    let id = world.contact_by_message(&qr, &mobile(1)).await;
    let first = world.time();
    world.advance(Duration::from_secs(60));
    world.receive(&qr, &digits(&mobile(1)), "alô").await;
    let second = world.time();
    world.advance(Duration::from_secs(60));
    world.sent(&mobile(1), "oi").await;
    let detail = world.detail(&id).await;
    assert_eq!(detail["first_message_at"], first);
    assert_eq!(detail["last_inbound_at"], second);
    assert_eq!(detail["last_message_at"], world.time());
    assert_eq!(detail["updated_at"], first, "messages are no change of the contact");
}

#[both_stores]
async fn the_last_connection_follows_every_inbound_message(world: World) {
    let (qr, cloud) = (world.qr().await, world.cloud().await);
    let id = world.contact_by_message(&qr, &mobile(1)).await;
    for connection in [&cloud, &qr, &cloud] {
        world.receive(connection, &digits(&mobile(1)), "oi").await;
        assert_eq!(world.detail(&id).await["last_connection_id"], connection.as_str());
    }
}

// Repetitions.

#[both_stores]
async fn a_repeated_message_is_a_duplicate_and_changes_nothing(world: World) {
    let qr = world.qr().await;
    let event = world.inbound(&digits(&mobile(1)), "oi");
    let id = world.stored(&qr, event.clone()).await;
    let contact = text(&world.message(&id).await["contact_id"]);
    let (detail, events) = (world.detail(&contact).await, world.events().await.len());
    world.advance(Duration::from_secs(60));
    let again = world.gateway_one(&qr, with(event, json!({"content": "outra"}))).await;
    assert_eq!(again["result"], "duplicate", "{again}");
    assert_eq!(world.detail(&contact).await, detail);
    assert_eq!(world.events().await.len(), events);
    assert_eq!(world.messages_of(&contact).await.len(), 1);
    assert_eq!(world.message(&id).await["content"], "oi");
}

#[both_stores]
async fn a_message_repeated_100_times_at_once_is_one_message_one_reopening_one_event(world: World) {
    let qr = world.qr().await;
    let contact = world.contact_by_message(&qr, &mobile(1)).await;
    let member = world.member("Bia").await;
    world.act(&contact, "close", json!({"member_id": member})).await.expect(200);
    let event = world.inbound(&digits(&mobile(1)), "voltei");
    let calls = (0..100).map(|_| world.gateway_one(&qr, event.clone())).collect();
    let results = join_all(calls).await;
    let stored = results.iter().filter(|one| one["result"] == "stored").count();
    assert_eq!(stored, 1, "{results:?}");
    assert!(
        results.iter().all(|one| ["stored", "duplicate"].contains(&text(&one["result"]).as_str()))
    );
    assert_eq!(world.messages_of(&contact).await.len(), 2);
    assert_eq!(world.events_of("message.received").await.len(), 2);
    let detail = world.detail(&contact).await;
    assert_eq!(detail["inbox_status"], "open");
    assert_eq!(detail["assigned_to_member_id"], Value::Null);
    assert_eq!(detail["is_ai_enabled"], false);
    assert_eq!(detail["connections"][0]["unread_count"], 2);
    // A late repetition does not reopen the conversation.
    world.act(&contact, "close", json!({"member_id": member})).await.expect(200);
    assert_eq!(world.gateway_one(&qr, event).await["result"], "duplicate");
    assert_eq!(world.detail(&contact).await["inbox_status"], "resolved");
}

// Batches.

#[both_stores]
async fn a_call_takes_at_most_1000_events(world: World) {
    let qr = world.qr().await;
    let events =
        |n: usize| (0..n).map(|_| world.inbound(&digits(&mobile(1)), "oi")).collect::<Vec<_>>();
    world.post_events(&qr, events(1_001)).await.expect_error(422, "VALIDATION_ERROR");
    assert_eq!(world.all_messages().await.len(), 0);
    let results = world.gateway(&qr, events(1_000)).await;
    assert_eq!(results.len(), 1_000);
    assert!(results.iter().all(|one| one["result"] == "stored"));
    let listing = world.get("/api/v1/messages?limit=1").await;
    assert_eq!(listing.json()["pagination"]["total"], 1_000);
    assert_eq!(world.gateway(&qr, Vec::new()).await.len(), 0);
}

#[both_stores]
async fn events_of_one_call_are_taken_in_order(world: World) {
    let qr = world.qr().await;
    let from = digits(&mobile(1));
    let (message, echo) = (world.inbound(&from, "1"), world.echo(&from, "pois não"));
    let edit = |content: &str| {
        json!({
            "kind": "edit", "provider_message_id": message["provider_message_id"],
            "content": content, "timestamp": world.time(),
        })
    };
    let report = |status| world.report(&text(&echo["provider_message_id"]), status);
    let events = vec![
        message.clone(),
        edit("2"),
        echo.clone(),
        report("delivered"),
        edit("3"),
        report("read"),
    ];
    let results = world.gateway(&qr, events).await;
    assert!(results.iter().all(|one| one["result"] == "stored"), "{results:?}");
    assert_eq!(world.message(&text(&results[0]["message_id"])).await["content"], "3");
    let echoed = text(&results[2]["message_id"]);
    assert_eq!(world.message(&echoed).await["status"], "read");
    assert_eq!(world.announced(&echoed).await, ["delivered", "read"]);
}

#[both_stores]
async fn a_call_for_no_connection_or_without_events_is_refused(world: World) {
    let qr = world.qr().await;
    let event = world.inbound(&digits(&mobile(1)), "oi");
    for id in [unknown_id(), "x".to_owned()] {
        world.post_events(&id, vec![event.clone()]).await.expect_error(404, "NOT_FOUND");
    }
    let path = format!("C/connections/{qr}/events");
    for body in [json!({}), json!({"events": {}}), json!({"events": null})] {
        let answer = world.operator("POST", &path, body).await;
        assert_eq!(answer.expect_invalid(), ["events"]);
    }
    let more = json!({"events": [event], "nope": 1});
    assert_eq!(world.operator("POST", &path, more).await.expect_invalid(), ["nope"]);
    assert_eq!(world.all_messages().await.len(), 0);
}

// What a message can be.

/// D27.
#[both_stores]
async fn every_type_of_message_is_kept(world: World) {
    let qr = world.qr().await;
    for kind in [
        "text",
        "image",
        "audio",
        "video",
        "document",
        "sticker",
        "location",
        "contacts",
        "interactive",
        "template",
        "reaction",
        "unsupported",
    ] {
        let event = with(world.inbound(&digits(&mobile(1)), "algo"), json!({"type": kind}));
        let id = world.stored(&qr, event).await;
        assert_eq!(world.message(&id).await["type"], kind);
    }
}

#[both_stores]
async fn the_content_of_a_pressed_button_is_its_title(world: World) {
    let qr = world.qr().await;
    let event = json!({
        "kind": "message", "provider_message_id": wamid(), "timestamp": world.time(),
        "from": digits(&mobile(1)), "type": "interactive",
        "button": {"id": "b1", "payload": "PAY", "title": "Quero saber mais"},
    });
    let id = world.stored(&qr, event).await;
    assert_eq!(world.message(&id).await["content"], "Quero saber mais");
}

#[both_stores]
async fn a_quoted_message_of_ours_is_named_and_shown(world: World) {
    let qr = world.qr().await;
    let first = with(world.inbound(&digits(&mobile(1)), "a pergunta"), json!({"type": "text"}));
    let quoted = world.stored(&qr, first.clone()).await;
    let answer = with(
        world.inbound(&digits(&mobile(1)), "a resposta"),
        json!({"quoted_provider_message_id": first["provider_message_id"]}),
    );
    let shown = world.message(&world.stored(&qr, answer).await).await;
    assert_eq!(shown["quoted_message_id"], quoted.as_str());
    assert_eq!(shown["quoted_content"], "a pergunta");
    assert_eq!(shown["quoted_type"], "text");
}

#[both_stores]
async fn a_quoted_message_that_is_unknown_to_us_has_no_id(world: World) {
    let qr = world.qr().await;
    let answer = with(
        world.inbound(&digits(&mobile(1)), "a resposta"),
        json!({"quoted_provider_message_id": wamid()}),
    );
    let shown = world.message(&world.stored(&qr, answer).await).await;
    assert_eq!(shown["quoted_message_id"], Value::Null);
}

// The event.

#[both_stores]
async fn message_received_carries_the_message_the_contact_and_the_connection(world: World) {
    let cloud = world.cloud().await;
    let contact = world.create_id(json!({"phone": mobile(1), "name": "Ana"})).await;
    let pause = world.time_in(60_000);
    world.act(&contact, "pause-ai", json!({"until": pause})).await.expect(200);
    let id = world.receive(&cloud, &digits(&mobile(1)), "bom dia").await;
    let events = world.events_of("message.received").await;
    let data = &events[0];
    assert_eq!(
        keys(data),
        with_blocks(&[
            "connection",
            "contact",
            "content",
            "created_at",
            "direction",
            "media_caption",
            "media_mimetype",
            "media_url",
            "message_id",
            "participant",
            "sender_type",
            "status",
            "type",
        ])
    );
    assert_eq!(data["message_id"], id.as_str());
    assert_eq!(data["type"], "text");
    assert_eq!(data["content"], "bom dia");
    assert_eq!(data["direction"], "inbound");
    assert_eq!(data["sender_type"], "contact");
    assert_eq!(data["status"], "received");
    assert_eq!(data["created_at"], world.time());
    assert_eq!(
        data["contact"],
        json!({
            "id": contact, "phone": mobile(1), "name": "Ana", "display_name": "Ana",
            "source_platform": "whatsapp", "is_ai_enabled": true, "external_ai_enabled": false,
            "ai_paused_until": pause, "opted_out_at": null,
        })
    );
    assert_eq!(
        data["connection"],
        json!({"id": cloud, "type": "whatsapp", "name": "the official_cloud"})
    );
}

#[both_stores]
async fn message_received_shows_the_state_after_the_change_that_it_made(world: World) {
    let cloud = world.cloud().await;
    let contact = world.contact_by_message(&cloud, &mobile(1)).await;
    world.close(&contact).await;
    world.receive(&cloud, &digits(&mobile(1)), "voltei").await;
    world.receive(&cloud, &digits(&mobile(1)), "sair").await;
    let events = world.events_of("message.received").await;
    assert_eq!(events[0]["contact"]["is_ai_enabled"], true);
    assert_eq!(events[1]["contact"]["is_ai_enabled"], false, "it reopened the conversation");
    assert_eq!(events[1]["contact"]["external_ai_enabled"], true);
    assert_eq!(events[2]["contact"]["external_ai_enabled"], false, "it asked to stop");
    assert_eq!(events[2]["contact"]["opted_out_at"], world.time());
}

// History.

#[both_stores]
async fn history_of_somebody_new_makes_a_contact_and_reports_nothing_else(world: World) {
    let qr = world.qr().await;
    let event = with(world.inbound(&digits(&mobile(1)), "velha"), json!({"history": true}));
    let id = world.stored(&qr, event.clone()).await;
    let contact = world.listed(&text(&world.message(&id).await["contact_id"])).await;
    for time in ["first_message_at", "last_message_at", "last_inbound_at"] {
        assert_eq!(contact[time], Value::Null, "{time}");
    }
    // D65.
    let told: Vec<String> = world.events().await.into_iter().map(|one| one.event).collect();
    assert_eq!(told, ["contact.created"]);
    assert_eq!(world.gateway_one(&qr, event).await["result"], "duplicate");
}
