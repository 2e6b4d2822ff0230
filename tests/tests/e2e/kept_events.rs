//! What was not understood: kept as it came, counted, erased with the person (X9, R105).

use recado_core::ids::CompanyId;
use recado_tests::{World, both_stores, digits, mobile, text};
use serde_json::{Value, json};

async fn kept(world: &World, connection: &str) -> Vec<Value> {
    let path = format!("C/connections/{connection}/unknown-events");
    world.operator_get(&path).await.as_array().expect("a list").clone()
}

/// A message that nobody can show, with more than Recado knows.
fn sketch(world: &World, id: &str, from: &str) -> Value {
    json!({
        "kind": "message", "provider_message_id": id, "timestamp": world.time(), "from": from,
        "type": "unsupported", "unsupported": {"reason": "new", "provider_type": "sketch"},
        "drawn": {"by": "hand", "strokes": [1, 2.5, -3]},
    })
}

/// X9.
#[both_stores]
async fn an_unsupported_message_is_kept_as_it_came_until_its_content_comes(world: World) {
    let connection = world.qr().await;
    let view = async || world.operator_get(&format!("C/connections/{connection}")).await;
    let before = view().await;
    assert_eq!((&before["last_heard_at"], &before["not_understood"]), (&json!(null), &json!(0)));
    let from = digits(&mobile(1));
    let event = sketch(&world, "m1", &from);
    for result in ["stored", "duplicate"] {
        assert_eq!(world.gateway_one(&connection, event.clone()).await["result"], result);
    }
    let listed = kept(&world, &connection).await;
    assert_eq!(listed.len(), 1, "{listed:?}");
    let id = text(&listed[0]["id"]);
    assert_eq!(
        listed[0],
        json!({"id": id, "kind": "sketch", "reason": "unsupported", "received_at": world.time(),
            "provider_message_id": "m1", "body": event})
    );
    let after = view().await;
    assert_eq!(after["last_heard_at"], world.time());
    assert_eq!(
        (&after["not_understood"], &after["updated_at"]),
        (&json!(1), &before["updated_at"])
    );
    let content = json!({"kind": "message", "provider_message_id": "m1", "from": from,
        "type": "text", "content": "um gato"});
    world.stored(&connection, content).await;
    assert_eq!(kept(&world, &connection).await, [] as [Value; 0]);
}

/// X9: nobody is merged, and the event is kept for the operator, once.
#[both_stores]
async fn names_of_two_contacts_are_kept(world: World) {
    let connection = world.qr().await;
    let (one, two) = (digits(&mobile(1)), "77712345678901@lid");
    world.receive(&connection, &one, "oi").await;
    world.receive(&connection, two, "oi").await;
    for n in 0..2 {
        let mut torn = world.inbound(two, &format!("segredo {n}"));
        torn["aliases"] = json!(["5511940028922"]);
        world.stored(&connection, torn).await;
    }
    assert_eq!(kept(&world, &connection).await, [] as [Value; 0], "a number that nobody had");
    let mut torn = world.inbound(two, "segredo");
    torn["aliases"] = json!([one]);
    world.stored(&connection, torn.clone()).await;
    let listed = kept(&world, &connection).await;
    assert_eq!(listed.len(), 1, "{listed:?}");
    assert_eq!(listed[0]["reason"], "contradicting_identities");
    assert_eq!(listed[0]["body"]["aliases"], json!([one]));
    assert!(!listed[0].to_string().contains("segredo"), "{listed:?}");
    let contacts = world.list_ids("limit=100").await;
    assert_eq!(contacts.len(), 2);
    let company = CompanyId::parse(&world.us.id).expect("an id");
    let replay = async || json!(world.server.replay(company).await);
    assert_eq!(replay().await, json!({"looked_at": 1, "told": 0, "still_unknown": 1}));
    let merge = format!("C/contacts/{}/merge", contacts[0]);
    world.operator("POST", &merge, json!({"other_contact_id": contacts[1]})).await.expect(200);
    assert_eq!(replay().await, json!({"looked_at": 1, "told": 1, "still_unknown": 0}));
    assert_eq!(kept(&world, &connection).await, [] as [Value; 0]);
}

/// X9, 4.5.
#[both_stores]
async fn kept_events_are_erased_with_the_contact(world: World) {
    let connection = world.qr().await;
    let (gone, stays) = (digits(&mobile(1)), digits(&mobile(2)));
    let events = [("m1", &gone), ("m2", &stays)].map(|(id, from)| sketch(&world, id, from));
    world.gateway(&connection, events.to_vec()).await;
    assert_eq!(kept(&world, &connection).await.len(), 2);
    let messages = world.all_messages().await;
    let of_gone = messages.iter().find(|message| message["wamid"] == "m1").expect("it is there");
    let contact = text(&of_gone["contact_id"]);
    assert!(world.database.everything().await.contains("strokes"));
    world.delete(&format!("/api/v1/contacts/{contact}")).await.expect_deleted();
    let left = kept(&world, &connection).await;
    assert_eq!(left.len(), 1, "{left:?}");
    assert_eq!(left[0]["provider_message_id"], "m2");
}
