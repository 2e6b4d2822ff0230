//! The effects of messages on the contacts API, and of two server options on messages: 4.1, 4.4;
//! D2, D35, D43.

use std::time::Duration;

use recado_tests::backend::Database;
use recado_tests::binary::Process;
use recado_tests::world::{operator_at, tenant_at};
use recado_tests::{
    Request, StoreKind, World, both_stores, digits, eight_digits, join_all, mobile, text, with,
};
use serde_json::{Value, json};

#[both_stores]
async fn each_new_message_moves_its_contact_to_the_top_of_the_list(world: World) {
    let qr = world.silent("qr").await;
    let mut ids = Vec::new();
    for n in 0..4 {
        ids.push(world.create_id(json!({"phone": mobile(n)})).await);
    }
    for n in [2, 0, 3, 0] {
        world.advance(Duration::from_secs(1));
        world.receive(&qr, &digits(&mobile(n)), "oi").await;
    }
    world.advance(Duration::from_secs(1));
    world.sent(&mobile(2), "oi").await;
    let order = [&ids[2], &ids[0], &ids[3], &ids[1]];
    assert_eq!(world.list_ids("").await.iter().collect::<Vec<_>>(), order);
    assert_eq!(world.export(2).await.len(), 4);
}

#[both_stores]
async fn messages_arriving_at_once_keep_lists_and_totals_right(world: World) {
    let qr = world.silent("qr").await;
    let calls = (0..60)
        .map(|n| world.gateway_one(&qr, world.inbound(&digits(&mobile(n % 20)), &format!("{n}"))));
    for result in join_all(calls.collect()).await {
        assert_eq!(result["result"], "stored", "{result}");
    }
    let listing = world.get("/api/v1/contacts?limit=100").await;
    assert_eq!(listing.items().len(), 20);
    assert_eq!(listing.json()["pagination"]["total"], 20);
    assert_eq!(world.export(7).await.len(), 20);
    let messages = world.get("/api/v1/messages?limit=1").await;
    assert_eq!(messages.json()["pagination"]["total"], 60);
    let inbound = world.get("/api/v1/messages?limit=1&direction=inbound&status=received").await;
    assert_eq!(inbound.json()["pagination"]["total"], 60);
}

#[both_stores]
async fn the_status_of_a_conversation_filters_the_list(world: World) {
    let qr = world.qr().await;
    let open = world.contact_by_message(&qr, &mobile(1)).await;
    let closed = world.contact_by_message(&qr, &mobile(2)).await;
    world.close(&closed).await;
    assert_eq!(world.list_ids("inbox_status=open").await, [open.clone()]);
    assert_eq!(world.list_ids("inbox_status=resolved").await, [closed.clone()]);
    world.receive(&qr, &digits(&mobile(2)), "voltei").await;
    assert_eq!(world.list_ids("inbox_status=resolved").await, Vec::<String>::new());
    assert_eq!(world.list_ids("is_ai_enabled=false").await, [closed]);
}

#[both_stores]
async fn the_detail_of_a_contact_that_wrote_goes_back_unchanged_in_a_patch(world: World) {
    let qr = world.qr().await;
    let id = world.contact_by_message(&qr, &mobile(1)).await;
    world.close(&id).await;
    let before = world.detail(&id).await;
    world.advance(Duration::from_secs(60));
    world.patch_contact(&id, before.clone()).await.expect(200);
    assert_eq!(world.detail(&id).await, before);
}

#[both_stores]
async fn a_contact_made_by_the_channel_is_found_by_its_phone_in_any_form(world: World) {
    let qr = world.qr().await;
    let message = world.receive(&qr, &eight_digits(&mobile(1)), "oi").await;
    let id = text(&world.message(&message).await["contact_id"]);
    for search in [digits(&mobile(1)), eight_digits(&mobile(1)), digits(&mobile(1))[4..].to_owned()]
    {
        assert_eq!(world.list_ids(&format!("search={search}")).await, [id.clone()], "{search}");
    }
    world.patch_contact(&id, json!({"phone": mobile(1)})).await.expect(200);
}

#[both_stores]
async fn an_agent_replies_to_a_group_as_to_a_person(world: World) {
    let qr = world.qr().await;
    let event = with(world.inbound("9@g.us", "oi"), json!({"participant": digits(&mobile(1))}));
    world.stored(&qr, event).await;
    let contact = text(&world.group_contact("9@g.us").await["id"]);
    let full = world.act(&contact, "reply", json!({"message": "oi, grupo"})).await.expect(200);
    let message = text(&full["messages"][0]["id"]);
    assert_eq!(world.reaches(&message, "read").await["contact_id"], contact.as_str());
}

#[both_stores]
async fn stop_words_and_the_group_suffix_are_the_operators_choice(kind: StoreKind) {
    let database = Database::migrated(kind);
    let args = ["--stop-words", "basta,chega de mensagens", "--group-suffix", "grupo.example"];
    let process = Process::serve(&database, &args).await;
    let addr = process.addr;
    let us = tenant_at(addr, "Acme", "enterprise").await;
    let body = json!({
        "kind": "qr", "name": "c", "identifier": "1", "gateway": "simulated",
    });
    let qr =
        text(&operator_at(addr, &us.id, "POST", "C/connections", body).await.expect(201)["id"]);
    let groups = json!([{"code": "1@grupo.example", "subject": "um"}]);
    let path = format!("C/connections/{qr}/groups");
    operator_at(addr, &us.id, "PUT", &path, groups).await.expect(200);
    let send = |to: &str| {
        let body = json!({"to": to, "message": "oi"});
        Request::new("POST", "/api/v1/send/message").bearer(&us.key).json(&body).send(addr)
    };
    send("1@grupo.example").await.expect(200);
    send("1@g.us").await.expect_error(400, "INVALID_PHONE");
    let events = ["sair", "Chega de mensagens!"].map(|content| {
        json!({
            "kind": "message", "provider_message_id": content, "type": "text",
            "timestamp": "2026-11-20T12:00:00.000Z", "from": digits(&mobile(1)),
            "content": content,
        })
    });
    for (event, blocked) in events.into_iter().zip([false, true]) {
        let path = format!("C/connections/{qr}/events");
        let answer = operator_at(addr, &us.id, "POST", &path, json!({"events": [event]})).await;
        let message = text(&answer.expect(200)["results"][0]["message_id"]);
        let all = Request::new("GET", "/api/v1/messages").bearer(&us.key).send(addr).await;
        let found = all.items().into_iter().find(|one| one["id"] == message.as_str());
        let contact = text(&found.expect("the message")["contact_id"]);
        let path = format!("C/contacts/{contact}");
        let full = operator_at(addr, &us.id, "GET", &path, Value::Null).await.expect(200);
        assert_eq!(full["opted_out_at"].is_string(), blocked, "{full}");
    }
}
