//! Synchronized groups: 2.1, 4.1, docs/operator-api.md; D16, D64.

use recado_tests::{World, both_stores, digits, mobile, text, with};
use serde_json::{Value, json};

fn group(code: &str) -> Value {
    json!({"code": format!("{code}@g.us"), "subject": format!("Grupo {code}")})
}

async fn put(world: &World, connection: &str, groups: Value) {
    let answer = world.put_groups(connection, groups).await;
    assert_eq!(answer.status, 200, "{}", answer.show());
}

async fn group_count(world: &World) -> usize {
    world.get("/api/v1/contacts?is_group=true&limit=100").await.items().len()
}

#[both_stores]
async fn each_group_becomes_a_contact_named_by_its_subject(world: World) {
    let qr = world.qr().await;
    put(&world, &qr, json!([group("1"), group("2")])).await;
    let shown = world.group_contact("1@g.us").await;
    assert_eq!(shown["name"], "Grupo 1");
    assert_eq!(shown["display_name"], "Grupo 1");
    assert_eq!(shown["is_group"], true);
    assert_eq!(shown["external_chat_id"], "1@g.us");
    assert_eq!(shown["identifier"], "1@g.us");
    assert_eq!(shown["phone"], "1@g.us", "the channel identifier stands in for a phone");
    assert_eq!(shown["source_platform"], "whatsapp");
    assert_eq!(group_count(&world).await, 2);
}

#[both_stores]
async fn a_community_becomes_no_contact(world: World) {
    let qr = world.qr().await;
    let community = with(group("c"), json!({"is_community": true}));
    let announcement =
        with(group("a"), json!({"community_code": "c@g.us", "is_announcement": true}));
    put(&world, &qr, json!([community, announcement])).await;
    assert_eq!(group_count(&world).await, 1);
    world.group_contact("a@g.us").await;
}

#[both_stores]
async fn is_group_separates_groups_from_people(world: World) {
    let qr = world.qr().await;
    put(&world, &qr, json!([group("1")])).await;
    let person = world.create_id(json!({"phone": mobile(1)})).await;
    assert_eq!(world.list_ids("is_group=false").await, [person.clone()]);
    let group = text(&world.group_contact("1@g.us").await["id"]);
    assert_eq!(world.list_ids("is_group=true").await, [group]);
    assert_eq!(world.listed(&person).await["external_chat_id"], Value::Null);
}

#[both_stores]
async fn a_groups_event_merges_by_code(world: World) {
    let qr = world.qr().await;
    put(&world, &qr, json!([group("1"), group("2")])).await;
    let groups = json!([group("3"), with(group("2"), json!({"participates": false}))]);
    let event = json!({"kind": "groups", "groups": groups, "timestamp": world.time()});
    assert_eq!(world.gateway_one(&qr, event).await["result"], "stored");
    world.sent("1@g.us", "oi").await;
    world.sent("3@g.us", "oi").await;
    world.send_text("2@g.us", "oi").await.expect_error(422, "CONNECTION_REQUIRED");
}

#[both_stores]
async fn malformed_groups_are_refused_whole(world: World) {
    let qr = world.qr().await;
    put(&world, &qr, json!([group("1")])).await;
    for bad in [
        json!([group("2"), {"subject": "without a code"}]),
        json!([group("2"), {"code": "5511987654321", "subject": "a phone"}]),
        json!([group("2"), {"code": "@g.us", "subject": "nothing"}]),
        json!([group("2"), with(group("3"), json!({"nope": 1}))]),
        json!([group("2"), with(group("3"), json!({"is_admin": "yes"}))]),
        json!([group("2"), 5]),
    ] {
        let answer = world.put_groups(&qr, bad).await;
        answer.expect_invalid();
    }
    assert_eq!(group_count(&world).await, 1, "nothing of a refused set was stored");
    world.sent("1@g.us", "oi").await;
}

#[both_stores]
async fn a_message_in_a_group_belongs_to_the_contact_of_the_group(world: World) {
    let qr = world.qr().await;
    put(&world, &qr, json!([group("1")])).await;
    let event = with(
        world.inbound("1@g.us", "bom dia"),
        json!({"participant": digits(&mobile(1)), "push_name": "Rita"}),
    );
    let message = world.stored(&qr, event).await;
    let shown = world.message(&message).await;
    let contact = world.group_contact("1@g.us").await;
    assert_eq!(shown["contact_id"], contact["id"]);
    assert_eq!(contact["last_message_at"], world.time());
    assert_eq!(contact["name"], "Grupo 1", "a member's name is not the group's");
    assert_eq!(world.list_ids("is_group=false").await.len(), 0, "its writer is no contact");
}

#[both_stores]
async fn a_message_in_an_unknown_group_makes_the_contact_of_the_group(world: World) {
    let qr = world.qr().await;
    let event = with(world.inbound("77@g.us", "oi"), json!({"participant": digits(&mobile(1))}));
    world.stored(&qr, event).await;
    let shown = world.group_contact("77@g.us").await;
    assert_eq!(shown["is_group"], true);
    assert_eq!(world.events_of("contact.created").await.len(), 1);
    let sent = world.sent("77@g.us", "oi").await;
    assert_eq!(sent["contact_id"], shown["id"], "the number that heard it is in the group");
}
