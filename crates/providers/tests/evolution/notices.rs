//! What the channel says about a conversation: calls, new numbers, new keys.

use recado_core::gateway::{GatewayEvent, GatewayMessage, NamesReport};
use recado_core::messages::{MessageType, SystemKind};
use serde_json::{Value, json};

use crate::messages::{read, record};
use crate::scene::{SUFFIX, Scene};

fn line(event: &GatewayEvent) -> (&GatewayMessage, SystemKind) {
    match event {
        GatewayEvent::Message(message) => {
            assert_eq!((message.message_type, &message.content), (MessageType::System, &None));
            (message, message.blocks.system.clone().expect("a notice").kind)
        }
        other => panic!("no line: {other:?}"),
    }
}

fn noted(stub: Value, parameters: Value, from_me: bool) -> Value {
    let mut note = record("x", Value::Null);
    note["messageStubType"] = stub;
    note["messageStubParameters"] = parameters;
    note["key"]["fromMe"] = from_me.into();
    note
}

/// X1, X2.
#[test]
fn a_missed_call_is_a_line_of_the_chat() {
    let scene = Scene::new();
    for (stub, video) in [
        (json!(40), false),
        (json!("CALL_MISSED_VIDEO"), true),
        (json!(45), false),
        (json!("CALL_MISSED_GROUP_VIDEO"), true),
    ] {
        let told = scene.event("messages.upsert", noted(stub.clone(), json!([]), false));
        let (message, kind) = line(&told);
        assert_eq!(kind, SystemKind::MissedCall { video });
        assert_eq!(message.provider_id.as_str(), "3A0F");
        let own = scene.reported("messages.upsert", noted(stub, json!([]), true));
        assert!(own.is_empty(), "the own call: {own:?}");
    }
    let log = json!({"callLogMesssage": {"isVideo": true, "callOutcome": "MISSED"}});
    let message = read("callLogMesssage", log);
    let kind = message.blocks.system.expect("a notice").kind;
    assert_eq!(kind, SystemKind::MissedCall { video: true });
}

/// X1, X2.
#[test]
fn a_call_is_told_once_it_has_ended() {
    let scene = Scene::new();
    let call = |fields: Value| {
        let mut call = json!({"id": "CALL1", "from": "553491234567@s.whatsapp.net",
            "chatId": "553491234567@s.whatsapp.net", "isVideo": true, "isGroup": false,
            "date": "2025-10-09T08:53:20.000Z", "offline": false});
        call.as_object_mut().expect("an object").extend(fields.as_object().cloned().expect("one"));
        call
    };
    for (word, kind) in [
        ("timeout", SystemKind::MissedCall { video: true }),
        ("reject", SystemKind::MissedCall { video: true }),
        ("accept", SystemKind::Call { video: true, seconds: None }),
        ("terminate", SystemKind::Call { video: true, seconds: None }),
    ] {
        let told = scene.event("call", call(json!({"status": word})));
        let (message, told) = line(&told);
        assert_eq!(told, kind, "{word}");
        assert_eq!(
            (message.provider_id.as_str(), message.peer.as_str()),
            ("CALL1", "553491234567")
        );
        assert_eq!(message.timestamp.map(|at| at.millis()), Some(1_760_000_000_000));
    }
    for word in ["offer", "ringing"] {
        assert!(scene.reported("CALL", call(json!({"status": word}))).is_empty(), "{word}");
    }
    let group = call(json!({"status": "timeout", "groupJid": "12036@g.us", "isGroup": true}));
    let told = scene.event("call", group);
    assert_eq!(line(&told).0.peer, format!("12036@{SUFFIX}"));
    assert_eq!(line(&told).0.participant.as_deref(), Some("553491234567"));
    let own = call(json!({"status": "timeout", "from": "5511987654000@s.whatsapp.net",
        "chatId": null}));
    assert!(scene.reported("call", own).is_empty(), "the own call");
    let nameless = call(json!({"status": "timeout", "id": null}));
    let id = line(&scene.event("call", nameless)).0.provider_id.clone();
    assert_eq!(id.as_str(), "call/553491234567/2025-10-09T08:53:20.000Z");
    let new = scene.event("call", call(json!({"status": "hologram"})));
    assert!(matches!(new, GatewayEvent::Unknown(report) if report.kind == "call.hologram"));
}

/// X2, D62.
#[test]
fn a_new_number_is_a_line_of_the_chat_and_another_name() {
    let new = json!(["5534999990000@s.whatsapp.net"]);
    let told = Scene::new().reported("messages.upsert", noted(json!(42), new.clone(), true));
    let [Ok(first), Ok(GatewayEvent::Names(NamesReport { peer, aliases }))] = told.as_slice()
    else {
        panic!("{told:?}")
    };
    let (message, kind) = line(first);
    let (from, to) = (Some("553491234567".to_owned()), Some("5534999990000".to_owned()));
    assert_eq!(kind, SystemKind::NumberChanged { from, to });
    assert_eq!((&message.peer, &message.aliases), (peer, aliases));
    assert_eq!((peer.as_str(), aliases.len()), ("553491234567", 2));
    assert_eq!(aliases[1], "5534999990000");
    let mut member = noted(json!("GROUP_PARTICIPANT_CHANGE_NUMBER"), new, false);
    member["key"] = json!({"remoteJid": "12036@g.us", "id": "3A0F", "fromMe": false,
        "participant": "553491234567@s.whatsapp.net"});
    let expected = NamesReport::new("553491234567", vec!["5534999990000".to_owned()]);
    assert_eq!(Scene::new().event("messages.upsert", member), GatewayEvent::Names(expected));
}

/// X2.
#[test]
fn new_keys_are_a_line_of_the_chat() {
    for from_me in [true, false] {
        let note = noted(json!("E2E_IDENTITY_CHANGED"), json!([]), from_me);
        let told = Scene::new().event("messages.upsert", note);
        assert_eq!(line(&told).1, SystemKind::IdentityChanged);
    }
}
