//! Sending to groups and communities: 4.1.3, 4.8, 7.1; D33, D34, D64.

use recado_tests::{World, both_stores, keys, text, with};
use serde_json::{Value, json};

fn group(code: &str) -> Value {
    json!({"code": format!("{code}@g.us"), "subject": code})
}

fn announce_only(code: &str, is_admin: bool) -> Value {
    with(group(code), json!({"announce_only": true, "is_admin": is_admin}))
}

async fn put(world: &World, connection: &str, groups: Value) {
    let answer = world.put_groups(connection, groups).await;
    assert_eq!(answer.status, 200, "{}", answer.show());
}

async fn connection_of(world: &World, sent: &Value) -> Value {
    world.message(&text(&sent["message_id"])).await["connection_id"].clone()
}

#[both_stores]
async fn a_group_is_sent_to_by_its_code(world: World) {
    let qr = world.qr().await;
    put(&world, &qr, json!([group("1"), group("2")])).await;
    let contact = world.group_contact("1@g.us").await;
    let data = world.sent("1@g.us", "bom dia").await;
    assert_eq!(keys(&data), ["contact_id", "group_jid", "message_id", "provider", "wamid"]);
    assert_eq!(data["group_jid"], "1@g.us");
    assert_eq!(data["contact_id"], contact["id"]);
    assert_eq!(data["provider"], "qr");
    world.reaches(&text(&data["message_id"]), "read").await;
    assert_eq!(world.sent(" 1@g.us ", "oi").await["group_jid"], "1@g.us");
}

/// 4.1.3.
#[both_stores]
async fn the_external_chat_id_of_a_listed_group_is_the_code_to_send_to(world: World) {
    let qr = world.qr().await;
    put(&world, &qr, json!([group("1")])).await;
    let listed = world.get("/api/v1/contacts?is_group=true").await.items();
    world.sent(&text(&listed[0]["external_chat_id"]), "oi").await;
}

/// 4.8.1.
#[both_stores]
async fn the_official_cloud_never_sends_to_groups(world: World) {
    let (qr, cloud) = (world.qr().await, world.cloud().await);
    for connection in [&qr, &cloud] {
        put(&world, connection, json!([group("1")])).await;
    }
    let answer = world.send_through(&cloud, "1@g.us").await;
    answer.expect_error(422, "CONNECTION_REQUIRED");
    let sent = world.sent("1@g.us", "oi").await;
    assert_eq!(connection_of(&world, &sent).await, qr.as_str());
}

#[both_stores]
async fn an_unknown_code_is_404(world: World) {
    let qr = world.qr().await;
    put(&world, &qr, json!([group("1")])).await;
    for to in ["2@g.us", "11@g.us", "5511987654321@g.us"] {
        world.send_text(to, "oi").await.expect_error(404, "GROUP_NOT_FOUND");
        world.send_through(&qr, to).await.expect_error(404, "GROUP_NOT_FOUND");
    }
}

#[both_stores]
async fn a_malformed_code_reaches_nobody(world: World) {
    let qr = world.qr().await;
    put(&world, &qr, json!([group("1")])).await;
    for to in ["@g.us", "a b@g.us", "1@1@g.us", &format!("{}@g.us", "1".repeat(150))] {
        let answer = world.send_text(to, "oi").await;
        let refused = (answer.status, text(&answer.json()["code"]));
        let codes = [(400, "INVALID_PHONE".to_owned()), (404, "GROUP_NOT_FOUND".to_owned())];
        assert!(codes.contains(&refused), "{}", answer.show());
    }
    assert!(world.all_messages().await.is_empty());
}

#[both_stores]
async fn a_group_of_another_company_is_404(world: World) {
    world.qr().await;
    let other = world.tenant("Other").await;
    let theirs = world.connection_of(&other, "qr", json!({})).await;
    let path = format!("C/connections/{theirs}/groups");
    world.operator_for(&other, "PUT", &path, json!([group("1")])).await;
    world.send_text("1@g.us", "oi").await.expect_error(404, "GROUP_NOT_FOUND");
}

#[both_stores]
async fn of_several_in_which_the_group_never_wrote_one_must_be_chosen(world: World) {
    let (first, second) = (world.qr().await, world.qr().await);
    for connection in [&first, &second] {
        put(&world, connection, json!([group("1")])).await;
    }
    world.send_text("1@g.us", "oi").await.expect_error(422, "CONNECTION_REQUIRED");
    for connection in [&first, &second] {
        let sent = world.send_through(connection, "1@g.us").await.expect(200);
        assert_eq!(connection_of(&world, &sent).await, connection.as_str());
    }
}

// Announce-only groups.

#[both_stores]
async fn an_announce_only_group_without_an_admin_is_403(world: World) {
    let qr = world.qr().await;
    put(&world, &qr, json!([announce_only("1", false)])).await;
    world.send_text("1@g.us", "oi").await.expect_error(403, "GROUP_ANNOUNCE_ONLY");
    assert!(world.all_messages().await.is_empty());
}

// Communities.

#[both_stores]
async fn a_community_is_reached_through_its_announcement_group(world: World) {
    let qr = world.qr().await;
    let community = with(group("c"), json!({"is_community": true}));
    let announcement = with(
        announce_only("a", true),
        json!({"community_code": "c@g.us", "is_announcement": true}),
    );
    let member = with(group("m"), json!({"community_code": "c@g.us"}));
    put(&world, &qr, json!([community, announcement, member])).await;
    let data = world.sent("c@g.us", "oi").await;
    assert_eq!(data["group_jid"], "a@g.us");
    assert_eq!(data["contact_id"], world.group_contact("a@g.us").await["id"]);
    assert_eq!(world.sent("m@g.us", "oi").await["group_jid"], "m@g.us");
}

// The contact.

/// R46.
#[both_stores]
async fn the_state_of_the_groups_contact_is_checked_as_a_persons(world: World) {
    let qr = world.qr().await;
    put(&world, &qr, json!([announce_only("1", false)])).await;
    let contact = text(&world.group_contact("1@g.us").await["id"]);
    let event = json!({"kind": "connection", "status": "disconnected", "timestamp": world.time()});
    world.gateway_one(&qr, event).await;
    world.act(&contact, "ai-mode", json!({"mode": "off"})).await.expect(200);
    world.send_text("1@g.us", "oi").await.expect_error(403, "EXTERNAL_AI_DISABLED");
    world.act(&contact, "block", Value::Null).await.expect(200);
    world.send_text("1@g.us", "oi").await.expect_error(403, "CONTACT_BLOCKED");
    world.act(&contact, "unblock", Value::Null).await.expect(200);
    world.act(&contact, "enable-external-ai", Value::Null).await.expect(200);
    // Then the connection is checked, then who may send to the group.
    world.send_text("1@g.us", "oi").await.expect_error(422, "CONNECTION_REQUIRED");
    let event = json!({"kind": "connection", "status": "connected", "timestamp": world.time()});
    world.gateway_one(&qr, event).await;
    world.send_text("1@g.us", "oi").await.expect_error(403, "GROUP_ANNOUNCE_ONLY");
}

#[both_stores]
async fn a_code_that_matches_more_than_one_contact_is_ambiguous(world: World) {
    let qr = world.qr().await;
    put(&world, &qr, json!([group("1")])).await;
    world
        .import(json!({
            "identifier": "another", "external_chat_id": "1@g.us", "is_group": true,
        }))
        .await;
    world.send_text("1@g.us", "oi").await.expect_error(409, "AMBIGUOUS_CONTACT");
}

#[both_stores]
async fn a_group_that_was_imported_and_never_synchronized_needs_a_connection(world: World) {
    world.qr().await;
    world
        .import(json!({
            "identifier": "9@g.us", "external_chat_id": "9@g.us", "is_group": true,
        }))
        .await;
    world.send_text("9@g.us", "oi").await.expect_error(422, "CONNECTION_REQUIRED");
}
