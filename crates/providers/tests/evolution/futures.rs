//! Kinds that do not exist yet: none is dropped, and what is kept of them can be read again (X9).

use recado_core::Timestamp;
use recado_core::gateway::{GatewayEvent, Incoming, Provider};
use recado_core::messages::MessageType;
use recado_testkit::ScriptedTransport;
use serde_json::{Value, json};

use crate::messages::record;
use crate::scene::Scene;

/// Asserts that an event was kept, and that it is read again as it was.
fn is_kept(scene: &Scene, event: &Incoming) {
    let event = event.as_ref().expect("readable");
    let body = match event {
        GatewayEvent::Unknown(report) => &report.body,
        GatewayEvent::Message(message) | GatewayEvent::Echo(message) => {
            assert_eq!(message.message_type, MessageType::Unsupported);
            message.raw.as_ref().expect("it is kept")
        }
        other => panic!("nothing is kept of {other:?}"),
    };
    assert!(body.get("apikey").is_none(), "a secret");
    let again = scene.provider.read(&scene.connection, body);
    assert_eq!(again, [Ok(event.clone())], "it is read again as it was");
}

/// A record of invented kind number `n`.
fn invented(n: usize) -> Value {
    let part = json!({"text": format!("Olá {n}"), "nested": {"list": [n, {"words": "Oi"}]}});
    let kind = format!("novelty{n}Message");
    let name = kind.clone();
    let mut record = match n % 5 {
        0 => record(&kind, json!({ name: part, "messageContextInfo": {} })),
        1 => record(&kind, json!({"ephemeralMessage": {"message": { name: part }}})),
        2 => record(&kind, json!({"protocolMessage": {"type": kind, "x": part}})),
        3 => record(&kind, Value::Null),
        _ => record(&kind, json!({})),
    };
    if n % 5 == 3 {
        record["messageStubType"] =
            if n.is_multiple_of(2) { json!(1_000 + n) } else { json!(kind) };
    }
    record["key"]["fromMe"] = json!(n.is_multiple_of(3));
    record["key"]["id"] = json!(format!("3A{n}"));
    record
}

/// X9.
#[test]
fn two_hundred_kinds_of_the_future_are_kept_and_read_again() {
    let scene = Scene::new();
    for n in 0..200 {
        let event = if n % 7 == 0 { "messages.set" } else { "messages.upsert" };
        let told = scene.reported(event, json!([invented(n), invented(n + 200)]));
        assert_eq!(told.len(), 2, "{n}: {told:?}");
        told.iter().for_each(|event| is_kept(&scene, event));
        let areas = ["messages", "chats", "contacts", "presence", "labels", "typebot", "novelty"];
        let event = format!("{}.novelty{n}", areas[n % areas.len()]);
        let told = scene.reported(&event, json!({"key": {"id": "3A0F"}, "text": "Oi", "n": n}));
        assert_eq!(told.len(), 1, "{event}: {told:?}");
        let Ok(GatewayEvent::Unknown(report)) = &told[0] else { panic!("{event}: {told:?}") };
        assert_eq!(report.kind, event);
        assert_eq!(report.provider_id.as_ref().map(|id| id.as_str()), Some("3A0F"));
        is_kept(&scene, &told[0]);
        for update in [
            json!({"keyId": "3EB0", "fromMe": true, "status": format!("NOVELTY{n}")}),
            json!({"keyId": "3EB0", "fromMe": false, (format!("novelty{n}")): "Oi"}),
        ] {
            let told = scene.reported("messages.update", update);
            assert_eq!(told.len(), 1, "{n}: {told:?}");
            is_kept(&scene, &told[0]);
        }
    }
}

/// X9: a list has no call around its rows, so one is made.
#[tokio::test]
async fn what_a_list_holds_is_kept_as_a_call() {
    let scene = Scene::new();
    let transport = ScriptedTransport::new();
    let rows = json!([invented(2), invented(1), invented(4)]);
    let answer = json!({"messages": {"total": 3, "pages": 1, "records": rows}});
    transport.then_json(200, &answer);
    let (from, to) = (Timestamp::from_millis(0), Timestamp::MAX);
    let missed = scene.provider.missed(&transport, &scene.connection, from, to).await;
    let events = missed.expect("a list").events;
    assert_eq!(events.len(), 3, "{events:?}");
    events.iter().for_each(|event| is_kept(&scene, event));
}

/// X3: a row that the gateway marks as deleted was deleted.
#[tokio::test]
async fn a_row_that_is_marked_as_deleted_was_deleted() {
    let scene = Scene::new();
    let transport = ScriptedTransport::new();
    let mut row = record("conversation", json!({"conversation": "Oi"}));
    row["key"]["deleted"] = true.into();
    transport.then_json(200, &json!({"messages": {"total": 1, "pages": 1, "records": [row]}}));
    let (from, to) = (Timestamp::from_millis(0), Timestamp::MAX);
    let missed = scene.provider.missed(&transport, &scene.connection, from, to).await;
    let events = missed.expect("a list").events;
    assert!(
        matches!(events.as_slice(), [Ok(GatewayEvent::Message(_)),
            Ok(GatewayEvent::Deleted { provider_id, .. })] if provider_id.as_str() == "3A0F"),
        "{events:?}"
    );
}

#[test]
fn what_is_of_another_instance_is_not_read_again() {
    let scene = Scene::new();
    let body = json!({"event": "novelty", "instance": "another", "data": {}});
    let read = scene.provider.read(&scene.connection, &body);
    assert!(matches!(read.as_slice(), [Ok(GatewayEvent::NotOurs(_))]), "{read:?}");
    assert!(scene.provider.read(&scene.connection, &json!(7))[0].is_err());
}

/// X9: a call that is kept whole is kept without the gateway's own key.
#[test]
fn the_key_of_the_gateway_is_taken_out_of_a_call_that_is_kept() {
    let scene = Scene::new();
    let mut call = json!({"event": "novelty", "apikey": "T-1", "data": {"apikey": "a text"}});
    scene.provider.remove_secrets(&mut call);
    assert_eq!(call, json!({"event": "novelty", "data": {"apikey": "a text"}}));
}
