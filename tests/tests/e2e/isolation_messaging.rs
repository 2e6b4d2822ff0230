//! Another company's connections, conversations, messages and debits behave as if they did not
//! exist (1), in the ways that [the matrix](crate::matrix) of all routes and ids does not have.

use recado_tests::{
    ScriptedAnswer, Tenant, World, both_stores, digits, mobile, text, unknown_id, wamid, with,
};
use serde_json::{Value, json};

/// The visible parts of an answer, with the requested id removed.
fn seen(answer: &ScriptedAnswer, id: &str) -> (u16, String) {
    (answer.status, String::from_utf8_lossy(&answer.body).replace(id, "<id>"))
}

struct Theirs {
    tenant: Tenant,
    connection: String,
    contact: String,
    message: String,
    provider_id: String,
}

async fn theirs(world: &World) -> Theirs {
    let tenant = world.tenant("Other").await;
    let connection = world.connection_of(&tenant, "qr", json!({})).await;
    let provider_id = wamid();
    let event = with(
        world.inbound(&digits(&mobile(1)), "deles"),
        json!({"provider_message_id": provider_id}),
    );
    let path = format!("C/connections/{connection}/events");
    let body = json!({"events": [event]});
    world.operator_for(&tenant, "POST", &path, body).await.expect(200);
    let received = world.get_as(&tenant.key, "/api/v1/messages").await.items().remove(0);
    let path = format!("C/connections/{connection}/groups");
    let groups = json!([{"code": "7@g.us", "subject": "deles"}]);
    world.operator_for(&tenant, "PUT", &path, groups).await;
    let send = json!({"to": mobile(1), "message": "deles"});
    let sent = world.post_as(&tenant.key, "/api/v1/send/message", send).await.expect(200);
    let (contact, message) = (text(&received["contact_id"]), text(&sent["message_id"]));
    Theirs { tenant, connection, contact, message, provider_id }
}

#[both_stores]
async fn their_connections_lead_to_no_groups(world: World) {
    let theirs = theirs(&world).await;
    world.qr().await;
    for to in [mobile(1), "7@g.us".to_owned()] {
        let send = async |id: &str| {
            let body = json!({"to": to, "message": "oi", "connection_id": id});
            seen(&world.post_send(body).await, id)
        };
        assert_eq!(send(&theirs.connection).await, send(&unknown_id()).await, "{to}");
    }
    assert!(world.all_messages().await.is_empty());
    assert!(world.get("/api/v1/prosas/consumption").await.items().is_empty());
    world.send_text("7@g.us", "oi").await.expect_error(404, "GROUP_NOT_FOUND");
}

#[both_stores]
async fn their_provider_ids_and_phones_are_not_ours(world: World) {
    let theirs = theirs(&world).await;
    let qr = world.qr().await;
    let report = world.gateway_one(&qr, world.report(&theirs.provider_id, "read")).await;
    assert_ne!(report["message_id"], theirs.message.as_str());
    let event = with(
        world.inbound(&digits(&mobile(1)), "nossa"),
        json!({"provider_message_id": theirs.provider_id}),
    );
    let message = world.stored(&qr, event).await;
    assert_ne!(world.message(&message).await["contact_id"], theirs.contact.as_str());
    let quoting = with(
        world.inbound(&digits(&mobile(1)), "citando"),
        json!({"quoted_provider_message_id": theirs.message}),
    );
    let shown = world.message(&world.stored(&qr, quoting).await).await;
    assert_eq!(shown["quoted_message_id"], Value::Null);
    assert_eq!(shown["quoted_content"], Value::Null);
}

#[both_stores]
async fn events_belong_to_the_company_they_happened_in(world: World) {
    let theirs = theirs(&world).await;
    assert!(world.events().await.is_empty());
    assert!(!world.database.events(&theirs.tenant.id).await.is_empty());
}
