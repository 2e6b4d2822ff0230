//! Connections in the operator API, and in the detail form of a contact: 2.2, docs/operator-api.md;
//! D35, D44a, D61.

use std::time::Duration;

use recado_tests::{
    World, both_stores, digits, eight_digits, keys, mobile, text, unknown_id, with,
};
use serde_json::{Value, json};

fn simulated(kind: &str) -> Value {
    json!({"kind": kind, "name": "Vendas", "identifier": "+551140000000", "gateway": "simulated"})
}

/// A connection to a gateway that has secret settings.
fn waha() -> Value {
    json!({
        "kind": "qr", "name": "Loja", "identifier": "+551140000001", "gateway": "waha",
        "settings": {
            "base_url": "https://waha.example", "session": "default",
            "api_key": "the-secret-api-key", "webhook_hmac_key": "the-secret-hmac-key",
        },
    })
}

async fn on(world: &World, contact: &str) -> Vec<Value> {
    world.detail(contact).await["connections"].as_array().expect("a list").clone()
}

async fn unread(world: &World, contact: &str) -> Value {
    on(world, contact).await[0]["unread_count"].clone()
}

#[both_stores]
async fn a_new_simulated_connection_is_active_and_connected(world: World) {
    for kind in ["qr", "official_cloud"] {
        let made = world.make("C/connections", simulated(kind)).await;
        assert_eq!(made["kind"], kind);
        assert_eq!(made["name"], "Vendas");
        assert_eq!(made["gateway"], "simulated");
        assert_eq!(made["is_active"], true);
        assert_eq!(made["status"], "connected");
        let one = format!("C/connections/{}", text(&made["id"]));
        assert_eq!(world.operator_get(&one).await, made);
    }
    let listed = world.operator_get("C/connections").await;
    assert_eq!(listed.as_array().expect("a list").len(), 2);
}

#[both_stores]
async fn a_connection_needs_kind_name_identifier_and_gateway(world: World) {
    let answer = world.operator("POST", "C/connections", json!({})).await;
    assert_eq!(answer.expect_invalid(), ["gateway", "identifier", "kind", "name"]);
    let body = with(simulated("fax"), json!({"nope": 1}));
    let refused = world.operator("POST", "C/connections", body).await.expect_invalid();
    assert!(refused.contains(&"kind".to_owned()), "{refused:?}");
    assert!(refused.contains(&"nope".to_owned()), "{refused:?}");
}

#[both_stores]
async fn settings_that_are_missing_unknown_or_of_the_wrong_type_are_refused(world: World) {
    for settings in [
        json!({"nope": 1}),
        json!({"delay_ms": "5"}),
        json!({"delay_ms": -1}),
        json!({"reports": "yes"}),
        json!({"timeout_ms": 0}),
        json!({"timeout_ms": 50_001}),
        json!({"base_url": "https://example.com"}),
        json!("x"),
    ] {
        let body = with(simulated("qr"), json!({"settings": settings}));
        let answer = world.operator("POST", "C/connections", body).await;
        assert!(!answer.expect_invalid().is_empty(), "{settings}");
    }
    let body = with(waha(), json!({"settings": {"base_url": "https://waha.example"}}));
    let answer = world.operator("POST", "C/connections", body).await;
    assert!(answer.expect_invalid().len() >= 3, "{}", answer.show());
}

#[both_stores]
async fn secrets_in_settings_are_never_returned(world: World) {
    let made = world.operator("POST", "C/connections", waha()).await;
    let id = text(&made.expect(201)["id"]);
    let one = format!("C/connections/{id}");
    let answers = [
        made,
        world.operator("GET", &one, Value::Null).await,
        world.operator("GET", "C/connections", Value::Null).await,
        world.operator("PATCH", &one, json!({"name": "Outra"})).await,
    ];
    for answer in answers {
        let shown = String::from_utf8_lossy(&answer.body).into_owned();
        assert!(shown.contains("https://waha.example"), "{shown}");
        assert!(!shown.contains("the-secret"), "{shown}");
    }
}

#[both_stores]
async fn a_connection_is_renamed_and_switched_off(world: World) {
    let id = world.qr().await;
    let one = format!("C/connections/{id}");
    let changed = world.operator("PATCH", &one, json!({"name": "Nova", "is_active": false})).await;
    assert_eq!(changed.expect(200)["name"], "Nova");
    let read = world.operator_get(&one).await;
    assert_eq!(read["name"], "Nova");
    assert_eq!(read["is_active"], false);
    let refused = world.operator("PATCH", &one, json!({"nope": 1})).await;
    assert_eq!(refused.expect_invalid(), ["nope"]);
    world
        .operator("PATCH", &format!("C/connections/{}", unknown_id()), json!({"name": "x"}))
        .await
        .expect_error(404, "NOT_FOUND");
}

#[both_stores]
async fn a_connection_without_messages_is_removed_by_delete(world: World) {
    let one = format!("C/connections/{}", world.qr().await);
    assert_eq!(world.operator("DELETE", &one, Value::Null).await.status, 200);
    world.operator("GET", &one, Value::Null).await.expect_error(404, "NOT_FOUND");
}

/// R54.
#[both_stores]
async fn a_connection_with_messages_is_switched_off_by_delete_and_keeps_them(world: World) {
    let id = world.qr().await;
    let message = world.receive(&id, &digits(&mobile(1)), "oi").await;
    let one = format!("C/connections/{id}");
    assert_eq!(world.operator("DELETE", &one, Value::Null).await.status, 200);
    assert_eq!(world.operator_get(&one).await["is_active"], false);
    assert_eq!(world.message(&message).await["connection_id"], id.as_str());
    let refused = world.send_through(&id, &mobile(1)).await;
    refused.expect_error(422, "CONNECTION_REQUIRED");
}

#[both_stores]
async fn a_connection_event_says_whether_it_is_connected(world: World) {
    let id = world.qr().await;
    let one = format!("C/connections/{id}");
    for status in ["disconnected", "connected"] {
        let event = json!({"kind": "connection", "status": status, "timestamp": world.time()});
        let result = world.gateway_one(&id, event).await;
        assert_eq!(result["result"], "stored", "{result}");
        assert_eq!(world.operator_get(&one).await["status"], status);
    }
    let event = json!({"kind": "connection", "status": "dancing", "timestamp": world.time()});
    assert_eq!(world.gateway_one(&id, event).await["result"], "refused");
    assert_eq!(world.operator_get(&one).await["status"], "connected");
}

// In the detail form of a contact.

#[both_stores]
async fn a_contact_that_never_wrote_has_no_connections(world: World) {
    world.qr().await;
    let id = world.create_id(json!({"phone": mobile(1)})).await;
    assert_eq!(world.detail(&id).await["connections"], json!([]));
}

/// D61.
#[both_stores]
async fn a_contact_shows_each_connection_it_has_written_on(world: World) {
    let (qr, cloud) = (world.qr().await, world.cloud().await);
    world.qr().await;
    let channel_id = eight_digits(&mobile(1));
    let contact = world.contact_by_message(&cloud, &mobile(1)).await;
    world.advance(Duration::from_secs(1));
    world.receive(&qr, &channel_id, "oi").await;
    let shown = on(&world, &contact).await;
    assert_eq!(shown.len(), 2, "{shown:?}");
    let one = |id: &str| {
        let found = shown.iter().find(|one| one["id"] == id);
        found.unwrap_or_else(|| panic!("{id} is not in {shown:?}")).clone()
    };
    for (id, provider, name, identifier) in [
        (&cloud, "official_cloud", "the official_cloud", digits(&mobile(1))),
        (&qr, "qr", "the qr", channel_id),
    ] {
        let shown = one(id);
        assert_eq!(
            keys(&shown),
            [
                "id",
                "identifier",
                "inbox_status",
                "last_message_at",
                "name",
                "provider",
                "type",
                "unread_count",
            ]
        );
        assert_eq!(shown["type"], "whatsapp");
        assert_eq!(shown["provider"], provider);
        assert_eq!(shown["name"], name);
        assert_eq!(shown["identifier"], identifier.as_str());
        assert_eq!(shown["unread_count"], 1);
        assert_eq!(shown["inbox_status"], "open");
    }
    assert_eq!(one(&qr)["last_message_at"], world.time());
    assert_eq!(one(&cloud)["last_message_at"], world.time_ago(1_000));
}

#[both_stores]
async fn unread_counts_inbound_messages_until_an_agent_replies(world: World) {
    let qr = world.qr().await;
    let contact = world.contact_by_message(&qr, &mobile(1)).await;
    world.receive(&qr, &digits(&mobile(1)), "alô").await;
    assert_eq!(unread(&world, &contact).await, 2);
    world.sent(&mobile(1), "automatic").await;
    assert_eq!(unread(&world, &contact).await, 2, "software has not read anything");
    world.act(&contact, "reply", json!({"message": "pois não"})).await.expect(200);
    assert_eq!(unread(&world, &contact).await, 0);
    assert_eq!(world.detail(&contact).await["last_read_at"], Value::Null);
}

#[both_stores]
async fn unread_counts_begin_again_after_the_operator_has_read(world: World) {
    let qr = world.qr().await;
    let contact = world.contact_by_message(&qr, &mobile(1)).await;
    world.advance(Duration::from_secs(3));
    world.act(&contact, "read", Value::Null).await.expect(200);
    assert_eq!(unread(&world, &contact).await, 0);
    assert_eq!(world.detail(&contact).await["last_read_at"], world.time());
    world.receive(&qr, &digits(&mobile(1)), "alô").await;
    assert_eq!(unread(&world, &contact).await, 1);
}

/// R21.
#[both_stores]
async fn connections_of_a_contact_follow_a_closing(world: World) {
    let qr = world.qr().await;
    let contact = world.contact_by_message(&qr, &mobile(1)).await;
    world.close(&contact).await;
    assert_eq!(on(&world, &contact).await[0]["inbox_status"], "resolved");
}
