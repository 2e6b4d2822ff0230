//! What gateways report, played forwards, backwards and twice: the end is the same (X5–X7).

use serde_json::{Value, json};

use super::blocks::{PEER, qr_scene};

/// The messages without what depends on when they came and on random ids: each id of a message is
/// the provider's.
async fn end(events: &[&Value]) -> Vec<Value> {
    let scene = qr_scene().await;
    for event in events {
        scene.messaging.tell((*event).clone()).await;
    }
    let messages = scene.messaging.messages().await;
    let mut text = serde_json::to_string(&messages).unwrap();
    for message in &messages {
        let (id, named) = (message["id"].as_str().unwrap(), message["wamid"].as_str().unwrap());
        text = text.replace(id, named);
    }
    let mut messages: Vec<Value> = serde_json::from_str(&text).unwrap();
    for message in &mut messages {
        let fields = message.as_object_mut().unwrap();
        for key in ["created_at", "contact_id", "contacts", "connection_id"] {
            fields.remove(key);
        }
    }
    messages.sort_by_key(|message| message["wamid"].to_string());
    messages
}

async fn same_in_any_order(name: &str, mut events: Vec<Value>) {
    for (n, event) in events.iter_mut().enumerate() {
        if event.get("timestamp").is_none() {
            event["timestamp"] = json!(format!("2025-11-13T12:00:{n:02}.000Z"));
        }
        let side = if event["kind"] == "echo" { "to" } else { "from" };
        event[side] = json!(PEER);
    }
    let forwards: Vec<&Value> = events.iter().collect();
    let backwards: Vec<&Value> = events.iter().rev().collect();
    let twice: Vec<&Value> = events.iter().chain(&events).collect();
    let there_and_back: Vec<&Value> = events.iter().chain(events.iter().rev()).collect();
    let expected = end(&forwards).await;
    for (order, events) in
        [("backwards", backwards), ("twice", twice), ("there and back", there_and_back)]
    {
        assert_eq!(end(&events).await, expected, "{name}, {order}");
    }
}

fn message(id: &str, fields: Value) -> Value {
    let mut event = json!({"kind": "message", "provider_message_id": id});
    event.as_object_mut().unwrap().extend(recado_testkit::kit::body(fields));
    event
}

fn echo(id: &str, fields: Value) -> Value {
    let mut event = message(id, fields);
    event["kind"] = json!("echo");
    event
}

/// X5, X6, X7, D28, D31a.
#[tokio::test]
async fn what_gateways_report_ends_the_same_in_any_order() {
    let text = |id: &str| message(id, json!({"type": "text", "content": "Oi"}));
    let edit =
        |content: &str| json!({"kind": "edit", "provider_message_id": "m1", "content": content});
    let deletion = json!({"kind": "deleted", "provider_message_id": "m1"});
    let reaction = |id: &str, emoji: Value| {
        message(
            id,
            json!({"type": "reaction", "reaction":
            {"emoji": emoji, "provider_message_id": "m1"}}),
        )
    };
    let vote = |id: &str, options: Value| {
        message(
            id,
            json!({"type": "interactive", "quoted_provider_message_id": "m1",
            "interactive": {"kind": "poll_vote", "response": {"options": options}}}),
        )
    };
    let poll = echo(
        "m1",
        json!({"type": "poll", "interactive": {"kind": "poll", "body": "?",
        "options": [{"option": "a", "votes": 0}, {"option": "b", "votes": 0}]}}),
    );
    let status =
        |status: &str| json!({"kind": "status", "provider_message_id": "m1", "status": status});
    let reply = message(
        "m2",
        json!({"type": "text", "content": "Sim",
        "quoted_provider_message_id": "m1", "quoted_content": "as the gateway wrote it"}),
    );
    let image = message(
        "m1",
        json!({"type": "image", "media": {"caption": "Veja",
        "mimetype": "image/png"}}),
    );
    // A message keeps its time when it comes again.
    let late = |fields: Value| {
        let mut event = message("m1", fields);
        event["timestamp"] = json!("2025-11-13T12:00:00.000Z");
        event
    };
    let oi = json!({"type": "text", "content": "Oi"});
    for (name, events) in [
        ("edits", vec![text("m1"), edit("Olá"), edit("Bom dia")]),
        ("an edited caption", vec![image, edit("Veja isto")]),
        ("a deletion", vec![text("m1"), edit("Olá"), deletion]),
        ("a reply", vec![text("m1"), reply.clone()]),
        ("reactions", vec![text("m1"), reaction("r1", json!("👍")), reaction("r2", json!("❤️"))]),
        (
            "a withdrawn reaction",
            vec![text("m1"), reaction("r1", json!("👍")), reaction("r2", Value::Null)],
        ),
        ("votes", vec![poll.clone(), vote("v1", json!(["a"])), vote("v2", json!(["a", "b"]))]),
        (
            "statuses",
            vec![
                echo("m1", json!({"type": "text", "content": "Oi"})),
                status("delivered"),
                status("read"),
            ],
        ),
        ("late content", vec![late(json!({"type": "unsupported"})), late(oi.clone())]),
        (
            "late and edited content",
            vec![late(json!({"type": "unsupported", "is_late": true})), late(oi), edit("Olá")],
        ),
        ("everything", vec![poll, reply, reaction("r1", json!("👍")), vote("v1", json!(["b"]))]),
    ] {
        same_in_any_order(name, events).await;
    }
}
