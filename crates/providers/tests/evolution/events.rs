//! The gateway's events, except messages from people.

use recado_core::connections::ConnectionStatus;
use recado_core::gateway::GatewayEvent;
use recado_core::messages::{DeliveryCode, MessageStatus, MessageType};
use serde_json::{Value, json};

use crate::scene::{Scene, only, status};

fn own(id: &str, text: &str) -> Value {
    json!({"key": {"remoteJid": "553491234567@s.whatsapp.net", "fromMe": true, "id": id},
        "pushName": "Você", "status": "PENDING", "message": {"conversation": text},
        "contextInfo": null, "messageType": "conversation", "messageTimestamp": 1_760_000_000,
        "instanceId": "uuid", "source": "unknown"})
}

#[test]
fn what_is_typed_on_the_phone_is_an_echo() {
    let scene = Scene::new();
    match scene.event("messages.upsert", own("3A0F", "Já vai")) {
        GatewayEvent::Echo(echo) => {
            assert_eq!(
                (echo.peer.as_str(), echo.content.as_deref()),
                ("553491234567", Some("Já vai"))
            );
            assert_eq!((echo.push_name, echo.participant, echo.history), (None, None, false));
        }
        other => panic!("not an echo: {other:?}"),
    }
}

#[test]
fn what_a_program_sent_is_reported_as_such() {
    let scene = Scene::new();
    for event in ["send.message", "SEND_MESSAGE"] {
        match scene.event(event, own("3EB0A1", "Olá")) {
            GatewayEvent::OwnSend(sent) => {
                assert_eq!(sent.provider_id.as_str(), "3EB0A1");
                assert_eq!(
                    (sent.peer.as_str(), sent.content.as_deref()),
                    ("553491234567", Some("Olá"))
                );
                assert_eq!(sent.reference, None);
                assert_eq!(sent.timestamp.map(|at| at.millis()), Some(1_760_000_000_000));
            }
            other => panic!("not an own send: {other:?}"),
        }
    }
}

#[test]
fn what_a_program_sent_to_the_own_number_is_reported_too() {
    let mut record = own("3EB0A1", "Teste");
    record["key"]["remoteJid"] = json!("551187654000@s.whatsapp.net");
    let scene = Scene::new();
    assert!(scene.reported("messages.upsert", record.clone()).is_empty(), "a note to oneself");
    match scene.event("send.message", record) {
        GatewayEvent::OwnSend(sent) => assert_eq!(sent.peer, "551187654000"),
        other => panic!("not an own send: {other:?}"),
    }
}

#[test]
fn a_program_that_changes_a_text_makes_an_edit() {
    let protocol = json!({"key": {"id": "3EB0A1", "fromMe": true}, "type": "MESSAGE_EDIT",
        "editedMessage": {"conversation": "Olá!"}});
    let mut record = own("3EB0A2", "");
    record["message"] = json!({"editedMessage": {"message": {"protocolMessage": protocol}}});
    let reported = Scene::new().event("send.message.update", record);
    assert!(
        matches!(&reported, GatewayEvent::Edit { content, .. } if content == "Olá!"),
        "{reported:?}"
    );
}

#[test]
fn statuses_are_translated_by_their_words() {
    let scene = Scene::new();
    for (word, expected) in [
        ("SERVER_ACK", MessageStatus::Sent),
        ("DELIVERY_ACK", MessageStatus::Delivered),
        ("READ", MessageStatus::Read),
        ("PLAYED", MessageStatus::Read),
        ("ERROR", MessageStatus::Failed),
    ] {
        let update = json!({"keyId": "3EB0A1", "remoteJid": "553491234567@s.whatsapp.net",
            "fromMe": true, "participant": null, "status": word, "instanceId": "uuid",
            "messageId": "cuid"});
        let reported = status(scene.event("messages.update", update));
        assert_eq!((reported.provider_id.as_str(), reported.status), ("3EB0A1", expected));
        assert_eq!((reported.reference, reported.timestamp), (None, None));
        let code = reported.failure.map(|failure| failure.code);
        let failed = expected == MessageStatus::Failed;
        assert_eq!(code, failed.then_some(DeliveryCode::Unknown));
    }
}

#[test]
fn what_says_nothing_of_our_messages_is_left_out() {
    let scene = Scene::new();
    let update =
        |from_me: Value, word: Value| json!({"keyId": "3EB0A1", "fromMe": from_me, "status": word});
    for data in [
        update(json!(true), json!("PENDING")),
        update(json!(true), json!("DELETED")),
        update(json!(true), Value::Null),
        update(json!(false), json!("READ")),
        update(Value::Null, json!("READ")),
        update(json!("true"), json!("READ")),
        json!(null),
        json!([]),
    ] {
        assert!(scene.reported("messages.update", data.clone()).is_empty(), "{data}");
    }
}

#[test]
fn statuses_come_in_lists_and_in_the_librarys_own_form_too() {
    let scene = Scene::new();
    let updates = json!([
        {"keyId": "1", "fromMe": true, "status": "READ"},
        {"fromMe": true, "status": "READ"},
        {"key": {"id": "2", "fromMe": true}, "update": {"status": 3}},
        {"keyId": "3", "fromMe": true, "status": "TELEPATHY"},
    ]);
    let reported = scene.reported("messages.update", updates);
    let [
        Ok(first),
        Ok(GatewayEvent::Unknown(nameless)),
        Ok(third),
        Ok(GatewayEvent::Unknown(unknown)),
    ] = reported.as_slice()
    else {
        panic!("{reported:?}")
    };
    assert_eq!(status(first.clone()).status, MessageStatus::Read);
    assert_eq!(status(third.clone()).status, MessageStatus::Delivered);
    assert_eq!(nameless.body["data"], json!({"fromMe": true, "status": "READ"}));
    assert!(unknown.kind.starts_with("messages.update"), "{}", unknown.kind);
}

#[test]
fn one_bad_record_of_fifty_loses_none_of_the_others() {
    let scene = Scene::new();
    let mut records: Vec<Value> = (0..50).map(|n| own(&format!("3A{n:02}"), "x")).collect();
    for (n, record) in records.iter_mut().enumerate() {
        record["key"]["fromMe"] = json!(n % 2 == 0);
    }
    records[17] = json!({"key": "broken"});
    let reported = scene.reported("messages.set", json!(records));
    assert_eq!(reported.len(), 50);
    for (n, event) in reported.into_iter().enumerate() {
        match event {
            Ok(GatewayEvent::Unknown(kept)) => {
                assert_eq!((n, &kept.body["data"]), (17, &json!({"key": "broken"})));
            }
            Ok(GatewayEvent::Message(message)) => assert!(n % 2 == 1 && message.history),
            Ok(GatewayEvent::Echo(echo)) => assert!(n % 2 == 0 && echo.history),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn messages_come_one_by_one_in_lists_and_in_lists_within_an_object() {
    let scene = Scene::new();
    let (one, other) = (own("1", "a"), own("2", "b"));
    assert_eq!(scene.reported("messages.upsert", one.clone()).len(), 1);
    assert_eq!(scene.reported("messages.upsert", json!([one, other])).len(), 2);
    let within = json!({"messages": [one, other], "type": "notify"});
    assert_eq!(scene.reported("messages.upsert", within).len(), 2);
}

#[test]
fn the_connections_state_is_reported() {
    let scene = Scene::new();
    let state = |state: Value| {
        scene.reported(
            "connection.update",
            json!({"instance": "loja1",
        "state": state, "statusReason": 200}),
        )
    };
    let connected = GatewayEvent::Connection(ConnectionStatus::Connected);
    let disconnected = GatewayEvent::Connection(ConnectionStatus::Disconnected);
    assert_eq!(state(json!("open")), [Ok(connected)]);
    for word in ["close", "refused"] {
        assert_eq!(state(json!(word)), [Ok(disconnected.clone())], "{word}");
    }
    assert!(state(json!("connecting")).is_empty());
    assert_eq!(state(json!("asleep")), [Ok(GatewayEvent::StateDoubtful)]);
    for event in ["logout.instance", "remove.instance", "LOGOUT_INSTANCE"] {
        assert_eq!(scene.reported(event, Value::Null), [Ok(disconnected.clone())], "{event}");
    }
    assert_eq!(scene.reported("status.instance", json!({})), [Ok(GatewayEvent::StateDoubtful)]);
}

#[test]
fn a_code_and_the_end_of_codes_say_that_no_phone_may_be_paired() {
    let scene = Scene::new();
    let code = json!({"qrcode": {"instance": "loja1", "pairingCode": null, "code": "2@x",
        "base64": "data:image/png;base64,aGk="}});
    assert_eq!(scene.reported("qrcode.updated", code), [Ok(GatewayEvent::StateDoubtful)]);
    let limit = json!({"message": "QR code limit reached, please login again", "statusCode": 500});
    assert_eq!(scene.reported("qrcode.updated", limit), [Ok(GatewayEvent::StateDoubtful)]);
}

#[test]
fn whatever_changes_groups_asks_for_them_again_once() {
    let scene = Scene::new();
    let strings = json!({"id": "1@g.us", "author": "1@lid", "action": "add",
        "participants": ["5534@s.whatsapp.net", "6@lid"]});
    let objects = json!({"id": "1@g.us", "author": "1@lid", "action": "promote", "participants":
        [{"id": "6@lid", "phoneNumber": "5534@s.whatsapp.net", "admin": null}],
        "participantsData": [{}]});
    for (event, data) in [
        ("groups.upsert", json!([{"subject": "A"}])),
        ("groups.update", json!([{"id": "1@g.us", "announce": true}])),
        ("group.update", json!({})),
        ("GROUP_UPDATE", json!({})),
        ("group-participants.update", strings),
        ("GROUP_PARTICIPANTS_UPDATE", objects),
    ] {
        assert_eq!(scene.reported(event, data), [Ok(GatewayEvent::GroupsChanged)], "{event}");
    }
}

#[test]
fn a_group_that_an_event_reports_is_known_at_once_and_asked_for_too() {
    let member = json!({"id": "5511987654000@s.whatsapp.net", "admin": "admin"});
    let data = json!([{"id": "1@g.us", "subject": "A", "announce": true}, 7,
        {"id": "2@g.us", "subject": "B", "participants": [member]}]);
    let reported = Scene::new().reported("groups.upsert", data);
    let [Ok(GatewayEvent::Groups(list)), Ok(GatewayEvent::GroupsChanged)] = reported.as_slice()
    else {
        panic!("{reported:?}")
    };
    let shown: Vec<_> = list
        .groups
        .iter()
        .map(|group| (group.code.as_str(), group.subject.as_deref(), group.is_admin))
        .collect();
    let (first, second) = ("1@grupos.example", "2@grupos.example");
    assert_eq!(shown, [(first, Some("A"), false), (second, Some("B"), true)]);
    let open: Vec<&str> = list.without_role.iter().map(|code| code.as_str()).collect();
    assert_eq!((open, list.is_whole), (vec![first], false));
}

#[test]
fn names_are_read_in_both_spellings() {
    let scene = Scene::new();
    for event in ["messages.upsert", "MESSAGES_UPSERT", "Messages_Upsert"] {
        let reported = scene.event(event, own("1", "a"));
        assert!(matches!(reported, GatewayEvent::Echo(_)), "{event}");
    }
}

#[test]
fn events_that_mean_nothing_here_are_left_out() {
    let scene = Scene::new();
    for event in [
        "chats.set",
        "chats.upsert",
        "chats.update",
        "chats.delete",
        "contacts.set",
        "contacts.upsert",
        "contacts.update",
        "presence.update",
        "labels.edit",
        "labels.association",
        "application.startup",
        "typebot.start",
        "typebot.change-status",
        "CHATS_UPDATE",
        "PRESENCE_UPDATE",
        "TYPEBOT_CHANGE_STATUS",
    ] {
        assert!(scene.reported(event, json!([{"id": "x"}])).is_empty(), "{event}");
    }
}

#[test]
fn an_event_that_is_not_known_is_kept_as_such() {
    let scene = Scene::new();
    match scene.event("catalog.updated", json!({"a": 1})) {
        GatewayEvent::Unknown(unknown) => {
            let body = json!({"event": "catalog.updated", "instance": "loja1", "data": {"a": 1},
                "date_time": "2026-08-20T09:00:00.000Z"});
            assert_eq!((unknown.kind.as_str(), unknown.body), ("catalog.updated", body));
        }
        other => panic!("not unknown: {other:?}"),
    }
}

#[test]
fn a_message_of_a_kind_that_is_not_known_is_reported_by_own_sends_too() {
    let mut record = own("3EB0A1", "");
    record["message"] = json!({"somethingNewMessage": {"count": 1}});
    let reported = only(Scene::new().reported("send.message", record.clone()));
    assert!(
        matches!(&reported, GatewayEvent::OwnSend(sent) if sent.content.is_none()),
        "{reported:?}"
    );
    match Scene::new().event("messages.upsert", record) {
        GatewayEvent::Echo(echo) => assert_eq!(echo.message_type, MessageType::Unsupported),
        other => panic!("not an echo: {other:?}"),
    }
}
