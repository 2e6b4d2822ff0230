//! Kinds that do not exist yet: none is dropped, and what is kept of them can be read again (X9).

use recado_core::gateway::{GatewayEvent, Incoming, Provider};
use recado_core::messages::MessageType;
use recado_testkit::ScriptedTransport;
use recado_testkit::gateways::WahaEngine;
use serde_json::{Value, json};

use super::support::{NOW, Scene, gows, inbound, noweb};

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
    let again = scene.adapter.read(&scene.connection, body);
    assert_eq!(again, [Ok(event.clone())], "it is read again as it was");
}

/// A message of invented kind number `n`, as one of the engines reports it.
fn invented(n: usize) -> Value {
    let part = json!({"text": format!("Olá {n}"), "nested": {"list": [n, {"words": "Oi"}]}});
    let kind = format!("novelty{n}Message");
    let mut fields = match n % 6 {
        0 => gows(json!({ kind: part, "messageContextInfo": {} })),
        1 => noweb(json!({ kind: part })),
        2 => noweb(json!({"ephemeralMessage": {"message": { kind: part }}})),
        3 => json!({"body": null, "_data": {"type": kind, "words": part}}),
        4 => json!({"body": null, "_data": {"key": {}, "messageStubType": 1_000 + n}}),
        _ => noweb(json!({"protocolMessage": {"type": kind, "key": {"id": "3A"}, "x": part}})),
    };
    if n.is_multiple_of(2) && n % 6 != 4 {
        fields["id"] = format!("true_553491234567@c.us_3B{n}").into();
        fields["fromMe"] = true.into();
    }
    inbound(fields)
}

/// X9.
#[test]
fn two_hundred_kinds_of_the_future_are_kept_and_read_again() {
    for n in 0..200 {
        let scene = Scene::new(WahaEngine::Gows);
        let told = scene.events("message.any", &invented(n));
        assert_eq!(told.len(), 1, "{n}: {told:?}");
        is_kept(&scene, &told[0]);
        let areas = ["message", "poll", "call", "chat", "label", "event", "presence", "novelty"];
        let event = format!("{}.novelty{n}", areas[n % areas.len()]);
        let payload = json!({"id": "false_553491234567@c.us_3A0F", "text": "Oi", "n": n});
        let told = scene.events(&event, &payload);
        assert_eq!(told.len(), 1, "{event}: {told:?}");
        let Ok(GatewayEvent::Unknown(report)) = &told[0] else { panic!("{event}: {told:?}") };
        assert_eq!(report.kind, event);
        assert_eq!(report.provider_id.as_ref().map(|id| id.as_str()), Some("3A0F"));
        is_kept(&scene, &told[0]);
    }
}

/// X9: what a person wrote stays, also of a kind that is not known.
#[test]
fn the_words_of_a_new_kind_stay() {
    let scene = Scene::new(WahaEngine::Gows);
    let message = scene.message(&inbound(gows(json!({"newMessage": {"caption": "Veja"}}))));
    assert_eq!(message.content.as_deref(), Some("Veja"));
    assert_eq!(message.message_type, MessageType::Unsupported);
}

/// X9: a person's answer to an event is not understood yet.
#[test]
fn answers_to_events_are_kept() {
    let scene = Scene::new(WahaEngine::Gows);
    for event in ["event.response", "event.response.failed"] {
        let payload = inbound(json!({"eventResponse": {"response": "GOING"}}));
        let told = scene.events(event, &payload);
        is_kept(&scene, &told[0]);
    }
}

/// X9: a list has no call around its messages, so one is made.
#[tokio::test]
async fn what_a_list_holds_is_kept_as_a_call() {
    let scene = Scene::new(WahaEngine::Gows);
    let transport = ScriptedTransport::new();
    let session = json!({"name": "loja1", "status": "WORKING", "engine": {"engine": "GOWS"},
        "me": {"id": "551140028922@c.us", "lid": "777@lid"}});
    transport.then_json(200, &session);
    transport.then_json(200, &json!([invented(1), invented(3), invented(5)]));
    let missed = scene.adapter.missed(&transport, &scene.connection, NOW, NOW).await;
    let events = missed.expect("a list").events;
    assert_eq!(events.len(), 3, "{events:?}");
    events.iter().for_each(|event| is_kept(&scene, event));
}

#[test]
fn what_is_of_another_session_is_not_read_again() {
    let scene = Scene::new(WahaEngine::Gows);
    let body = json!({"event": "novelty", "session": "another", "payload": {}});
    let read = scene.adapter.read(&scene.connection, &body);
    assert!(matches!(read.as_slice(), [Ok(GatewayEvent::NotOurs(_))]), "{read:?}");
    assert!(scene.adapter.read(&scene.connection, &json!(7))[0].is_err());
}
