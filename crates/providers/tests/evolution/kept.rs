//! What a person may have said is kept, in whatever form it comes (X9).

use recado_core::gateway::{GatewayEvent, Incoming, Provider, UnknownReport};
use recado_core::messages::{MessageType, SystemKind};
use serde_json::{Value, json};

use crate::messages::{block, read, record, says};
use crate::scene::Scene;

fn unknown(event: GatewayEvent) -> UnknownReport {
    match event {
        GatewayEvent::Unknown(unknown) => unknown,
        other => panic!("it is known: {other:?}"),
    }
}

/// X5, X9: keys for the group come with what could not be decrypted.
#[test]
fn keys_beside_a_message_that_could_not_be_decrypted_do_not_hide_it() {
    let scene = Scene::new();
    let keys = json!({"senderKeyDistributionMessage": {"groupId": "12036@g.us"}});
    let mut waiting = record("senderKeyDistributionMessage", keys.clone());
    assert!(scene.reported("messages.upsert", waiting.clone()).is_empty());
    waiting["messageStubType"] = json!(2);
    waiting["messageStubParameters"] = json!(["No session found"]);
    let late = scene.message(waiting.clone());
    assert!(late.is_late);
    assert_eq!(block(&late, "unsupported")["reason"], "No session found");
    waiting["messageStubType"] = json!("REVOKE");
    let told = scene.event("messages.upsert", waiting.clone());
    assert!(matches!(told, GatewayEvent::Deleted { .. }), "{told:?}");
    waiting["messageStubType"] = json!(40);
    let missed = scene.message(waiting.clone());
    let kind = missed.blocks.system.map(|system| system.kind);
    assert_eq!(kind, Some(SystemKind::MissedCall { video: false }));
    waiting["messageStubType"] = json!(900);
    assert_eq!(unknown(scene.event("messages.upsert", waiting)).kind, "notice.900");
}

/// X9.
#[test]
fn a_message_in_an_update_is_kept() {
    let scene = Scene::new();
    let key = json!({"remoteJid": "553491234567@s.whatsapp.net", "fromMe": false, "id": "3A0F"});
    for update in [
        json!({"message": {"conversation": "Oi"}, "messageStubType": null}),
        json!({"message": {"conversation": "Oi"}, "status": "SERVER_ACK"}),
    ] {
        let item = json!({"key": key, "update": update});
        let kept = unknown(scene.event("messages.update", item.clone()));
        assert_eq!((kept.kind.as_str(), &kept.body["data"]), ("messages.update message", &item));
        assert_eq!(kept.provider_id.expect("the message").as_str(), "3A0F");
    }
    let reacted = json!({"key": key, "update": {"reactions": [{"text": "👍"}]}});
    assert_eq!(unknown(scene.event("messages.update", reacted)).kind, "messages.update");
    let none = json!({"key": key, "update": {"message": null, "reactions": null, "starred": true}});
    assert!(scene.reported("messages.update", none).is_empty());
}

/// X9.
#[test]
fn parts_that_hold_nothing_hide_no_other() {
    for message in [
        json!({"audioMessage": null, "extendedTextMessage": {"text": "Oi"}}),
        json!({"reactionMessage": null, "pollUpdateMessage": null, "conversation": "Oi"}),
        json!({"conversation": null, "imageMessage": null, "extendedTextMessage": {"text": "Oi"}}),
    ] {
        let read = read("x", message.clone());
        assert_eq!((read.message_type, read.content), (MessageType::Text, says("Oi")), "{message}");
    }
    let nothing = read("x", json!({"audioMessage": null}));
    assert_eq!(nothing.message_type, MessageType::Unsupported);
    let new = read("x", json!({"audioMessage": null, "newMessage": {"text": "Oi"}}));
    assert_eq!(block(&new, "unsupported")["provider_type"], "newMessage");
}

/// X2, X9.
#[test]
fn an_answer_in_which_nothing_can_be_read_is_kept_whole() {
    for message in [
        json!({"buttonsResponseMessage": {"new": "x"}}),
        json!({"templateButtonReplyMessage": {}}),
        json!({"listResponseMessage": {"singleSelectReply": {}}}),
        json!({"interactiveResponseMessage": {"nativeFlowResponseMessage": {}}}),
    ] {
        let told = read("x", message.clone());
        assert_eq!(told.message_type, MessageType::Unsupported, "{message}");
        assert_eq!(told.raw.expect("the record")["data"]["message"], message);
    }
}

/// X3, X9.
#[test]
fn a_change_that_names_no_message_is_kept() {
    let scene = Scene::new();
    let edit = json!({"type": 14, "editedMessage": {"conversation": "novo"}});
    for (event, item, kind) in [
        ("messages.edited", edit.clone(), "edit_without_key"),
        ("messages.edited", json!({"text": "novo"}), "messages.edited"),
        ("messages.upsert", record("x", json!({ "protocolMessage": edit })), "edit_without_key"),
        (
            "messages.upsert",
            record("x", json!({"protocolMessage": {"type": 0}})),
            "deletion_without_key",
        ),
    ] {
        let kept = unknown(scene.event(event, item.clone()));
        assert_eq!((kept.kind.as_str(), &kept.body["data"]), (kind, &item));
    }
}

/// X1.
#[test]
fn calls_of_the_own_phone_are_told_to_nobody() {
    let scene = Scene::new();
    for status in ["timeout", "reject", "accept", "terminate"] {
        let call = |from: &str| {
            json!({"id": "C1", "status": status, "isVideo": false, "from": from,
                "chatId": "553491234567@s.whatsapp.net", "date": "2026-08-20T09:00:00.000Z"})
        };
        assert!(scene.reported("call", call("5511987654000@s.whatsapp.net")).is_empty());
        assert_eq!(scene.reported("call", call("553491234567@s.whatsapp.net")).len(), 1);
    }
    let nameless = json!({"status": "timeout", "from": "553491234567@s.whatsapp.net", "id": 7});
    assert_eq!(scene.reported("call", nameless).len(), 1);
}

/// X6, X9: a vote that is read again has the id that it had.
#[test]
fn what_is_kept_has_the_time_of_its_call_and_no_bytes() {
    let scene = Scene::new();
    let kept = unknown(scene.event("messages.edited", json!({"text": "x"})));
    assert_eq!(kept.body["date_time"], "2026-08-20T09:00:00.000Z");
    let mut unread = record("x", json!({"newMessage": {"jpegThumbnail": "AAAA", "text": "Oi"}}));
    unread["message"]["base64"] = json!("QUFB");
    let told = scene.message(unread);
    let raw = told.raw.as_ref().expect("the record");
    let text = raw.to_string();
    assert!(!text.contains("base64") && !text.contains("jpegThumbnail"), "{text}");
    assert!(text.contains("Oi"), "{text}");
    let again = scene.provider.read(&scene.connection, raw);
    assert_eq!(again, [Ok(GatewayEvent::Message(told.clone()))] as [Incoming; 1]);
}

/// X6.
#[test]
fn each_voter_has_the_options_that_it_chose() {
    let scene = Scene::new();
    let voters: Vec<Value> =
        (0..900).map(|n| json!(format!("5534912{n:05}@s.whatsapp.net"))).collect();
    let options = json!([{"name": "Hoje", "voters": voters}, {"name": "Amanhã",
        "voters": ["553491200001@s.whatsapp.net"]}, {"name": "Nunca", "voters": []}]);
    let update = json!({"keyId": "3EB0", "key": {"remoteJid": "12036@g.us", "fromMe": true,
        "id": "3EB0"}, "pollUpdates": options});
    let events = scene.reported("messages.update", update);
    assert_eq!(events.len(), 900);
    let title = |n: usize| match &events[n] {
        Ok(GatewayEvent::Message(vote)) => block(vote, "interactive")["title"].clone(),
        other => panic!("no vote: {other:?}"),
    };
    assert_eq!((title(0), title(1)), (json!("Hoje"), json!("Hoje, Amanhã")));
}
