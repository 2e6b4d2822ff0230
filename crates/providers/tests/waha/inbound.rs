//! Messages to the paired number: their authors and chats.

use recado_core::Timestamp;
use recado_core::gateway::{GatewayEvent, GatewayMessage};
use recado_core::messages::{Blocks, MessageType, ProviderMessageId};
use recado_testkit::gateways::WahaEngine;
use serde_json::{Value, json};

use super::support::{SUFFIX, Scene, inbound};

const GROUP: &str = "12036300@g.us";

fn id(raw: &str) -> ProviderMessageId {
    ProviderMessageId::from_stored(raw.to_owned())
}

fn message(scene: &Scene, fields: Value) -> GatewayMessage {
    scene.message(&inbound(fields))
}

#[test]
fn a_text_is_read_with_everything_that_is_reported_of_it() {
    let scene = Scene::new(WahaEngine::Gows);
    let expected = GatewayMessage {
        provider_id: id("3A0F"),
        peer: "123456@lid".to_owned(),
        aliases: vec!["553491234567".to_owned()],
        participant: None,
        push_name: Some("Maria".to_owned()),
        message_type: MessageType::Text,
        content: Some("Oi".to_owned()),
        media: None,
        blocks: Blocks::default(),
        quoted: Some(id("3EB0A1")),
        quoted_content: Some("Olá".to_owned()),
        quoted_type: None,
        button: None,
        history: false,
        is_late: false,
        timestamp: Some(Timestamp::from_millis(1_760_000_000_000)),
        raw: None,
    };
    let payload = inbound(json!({"id": "false_123456@lid_3A0F", "from": "123456@lid",
        "replyTo": {"id": "3EB0A1", "participant": "551140028922@c.us", "body": "Olá"},
        "_data": {"Info": {"PushName": "Maria", "Chat": "123456@lid", "Sender": "123456:3@lid",
            "SenderAlt": "553491234567@s.whatsapp.net"}}}));
    assert_eq!(scene.message(&payload), expected);
}

#[test]
fn message_and_message_any_say_the_same() {
    let scene = Scene::new(WahaEngine::Gows);
    let payload = inbound(json!({}));
    assert_eq!(scene.events("message", &payload), scene.events("message.any", &payload));
}

#[test]
fn every_engine_reports_the_names_and_the_phone_behind_a_lid() {
    for engine in WahaEngine::ALL {
        let scene = Scene::new(engine);
        scene.waha.set_lid("553491234567", "123@lid");
        let by_lid = scene.message(&scene.waha.receive("123@lid", "Maria", "Oi"));
        assert_eq!((by_lid.peer.as_str(), by_lid.push_name.as_deref()), ("123@lid", Some("Maria")));
        let by_phone = scene.message(&scene.waha.receive("553491234567@c.us", "Maria", "Oi"));
        assert_eq!(by_phone.peer, "553491234567");
        if engine != WahaEngine::Webjs {
            assert_eq!(by_lid.aliases, ["553491234567"], "{engine:?}");
            assert_eq!(by_phone.aliases, ["123@lid"], "{engine:?}");
        }
    }
}

#[test]
fn a_lid_without_a_phone_stands_for_itself() {
    let scene = Scene::new(WahaEngine::Noweb);
    let message = scene.message(&scene.waha.receive("123@lid", "Maria", "Oi"));
    assert_eq!((message.peer.as_str(), message.aliases), ("123@lid", Vec::new()));
}

#[test]
fn the_chat_of_the_id_is_another_name_of_the_writer() {
    let scene = Scene::new(WahaEngine::Gows);
    let message = message(&scene, json!({"id": "false_123@lid_3A0F"}));
    assert_eq!(
        (message.peer.as_str(), message.aliases),
        ("553491234567", vec!["123@lid".to_owned()])
    );
}

#[test]
fn the_own_names_are_never_the_writers() {
    let scene = Scene::new(WahaEngine::Gows);
    let message = message(
        &scene,
        json!({"_data": {"Info": {"SenderAlt": "777@lid",
        "Chat": "551140028922@s.whatsapp.net"}}}),
    );
    assert_eq!((message.peer.as_str(), message.aliases), ("553491234567", Vec::new()));
}

#[test]
fn a_group_is_the_peer_and_its_member_the_participant() {
    for engine in WahaEngine::ALL {
        let scene = Scene::new(engine);
        let payload = scene.waha.receive_in_group(GROUP, "553491234567@c.us", "Maria", "Oi");
        let message = scene.message(&payload);
        assert_eq!(message.peer, format!("12036300@{SUFFIX}"), "{engine:?}");
        assert_eq!(message.aliases, Vec::<String>::new());
        assert_eq!(message.participant.as_deref(), Some("553491234567"));
        assert_eq!(message.push_name.as_deref(), Some("Maria"));
    }
}

#[test]
fn a_member_is_named_by_phone_where_it_is_reported() {
    for (engine, expected) in [
        (WahaEngine::Gows, "553491234567"),
        (WahaEngine::Noweb, "553491234567"),
        (WahaEngine::Webjs, "123@lid"),
    ] {
        let scene = Scene::new(engine);
        scene.waha.set_lid("553491234567", "123@lid");
        let message = scene.message(&scene.waha.receive_in_group(GROUP, "123@lid", "Maria", "Oi"));
        assert_eq!(message.participant.as_deref(), Some(expected), "{engine:?}");
    }
}

#[test]
fn broadcasts_newsletters_and_statuses_are_left_out() {
    let scene = Scene::new(WahaEngine::Gows);
    for chat in ["status@broadcast", "1234@broadcast", "1203@newsletter", "0@c.us"] {
        let payload = inbound(json!({"id": format!("false_{chat}_3A0F_5511@c.us"), "from": chat}));
        assert_eq!(scene.events("message.any", &payload), [], "{chat}");
        let payload = inbound(json!({"id": "3A0F", "from": chat}));
        assert_eq!(scene.events("message.any", &payload), [], "{chat}");
    }
}

#[test]
fn a_message_without_an_id_or_a_writer_is_kept_as_it_is() {
    let scene = Scene::new(WahaEngine::Gows);
    for fields in [
        json!({"id": null}),
        json!({"id": ""}),
        json!({"id": {"x": 1}}),
        json!({"id": "3A0F", "from": null}),
        json!({"id": "3A0F", "from": "maria"}),
        json!({"id": "3A0F", "from": "123@new"}),
    ] {
        let payload = inbound(fields.clone());
        let GatewayEvent::Unknown(kept) = scene.event("message.any", &payload) else {
            panic!("{fields}")
        };
        assert_eq!(kept.body["payload"], payload);
    }
    let event = scene.event("message.any", &Value::Null);
    assert!(matches!(event, GatewayEvent::Unknown(_)), "{event:?}");
}

#[test]
fn times_and_quotes_come_in_several_forms() {
    let scene = Scene::new(WahaEngine::Gows);
    let read = message(
        &scene,
        json!({"timestamp": "1760000000",
        "replyTo": {"id": "true_553491234567@c.us_3EB0A1"}}),
    );
    assert_eq!(read.timestamp, Some(Timestamp::from_millis(1_760_000_000_000)));
    assert_eq!((read.quoted, read.quoted_content), (Some(id("3EB0A1")), None));
    let read = message(&scene, json!({"timestamp": null, "replyTo": {"body": "sem id"}}));
    assert_eq!((read.timestamp, read.quoted), (None, None));
}
