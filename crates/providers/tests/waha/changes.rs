//! What becomes of messages: deletions, reactions withdrawn, votes, content that comes later.

use recado_core::Timestamp;
use recado_core::gateway::{GatewayEvent, GatewayMessage, Incoming};
use recado_core::messages::{AnswerKind, Interactive, MessageType};
use recado_testkit::gateways::WahaEngine;
use serde_json::{Value, json};

use super::support::{NOW, SUFFIX, Scene, gows, inbound, noweb, status_of};

fn deleted(events: &[Incoming]) -> (&str, Option<Timestamp>) {
    match events {
        [Ok(GatewayEvent::Deleted { provider_id, timestamp })] => {
            (provider_id.as_str(), *timestamp)
        }
        other => panic!("no deletion: {other:?}"),
    }
}

/// X3: engines differ in where they name the message.
#[test]
fn a_deletion_names_the_message_that_was_deleted_on_every_engine() {
    let scene = Scene::new(WahaEngine::Gows);
    let key = json!({"remoteJID": "553491234567@s.whatsapp.net", "fromMe": false, "ID": "3A0F"});
    let after = |data: Value| json!({"id": "false_553491234567@c.us_3AFF", "_data": data});
    let protocol =
        |name: &str, key: &Value| json!({name: {"protocolMessage": {"type": 0, "key": key}}});
    for payload in [
        json!({"after": after(json!(null)), "before": null, "revokedMessageId": "3A0F"}),
        json!({"after": null, "before": null, "revokedMessageId": "true_5534@c.us_3A0F"}),
        json!({"after": null, "before": {"id": "false_553491234567@c.us_3A0F", "body": "Oi"}}),
        json!({"after": after(protocol("Message", &key)), "before": null}),
        json!({"after": null, "before": null, "_data": protocol("message", &json!({"id": "3A0F"}))}),
        json!({"after": after(json!({"protocolMessageKey": {"id": "3A0F"}})), "before": null}),
        json!({"after": {"id": "false_553491234567@c.us_3A0F", "_data": {"type": "revoked"}}}),
    ] {
        let told = scene.events("message.revoked", &payload);
        assert_eq!(deleted(&told), ("3A0F", Some(NOW)), "{payload}");
    }
    let GatewayEvent::Unknown(_) = scene.event("message.revoked", &json!({"after": null})) else {
        panic!("it is not known")
    };
    let story =
        json!({"after": {"id": "false_status@broadcast_3A_1@c.us"}, "revokedMessageId": "3A"});
    assert_eq!(scene.events("message.revoked", &story), []);
}

/// X3: a message that is only the mark of a deletion is no line of its own.
#[test]
fn the_mark_of_a_deletion_is_a_deletion() {
    let scene = Scene::new(WahaEngine::Gows);
    let key = json!({"id": "3A00"});
    let revoke =
        json!({"protocolMessage": {"type": "REVOKE", "key": key}, "messageContextInfo": {}});
    let own = |mut fields: Value| {
        fields["id"] = "true_553491234567@c.us_3B".into();
        fields["fromMe"] = true.into();
        inbound(fields)
    };
    for payload in [inbound(noweb(revoke.clone())), own(gows(revoke))] {
        let told = scene.events("message.any", &payload);
        assert_eq!(deleted(&told), ("3A00", Some(Timestamp::from_millis(1_760_000_000_000))));
    }
    for fields in [
        json!({"body": "", "_data": {"type": "revoked"}}),
        json!({"body": "apagada", "_data": {"type": "revoked"}, "hasMedia": true}),
        json!({"body": null, "_data": {"key": {}, "messageStubType": 1}}),
    ] {
        let told = scene.events("message.any", &inbound(fields.clone()));
        assert_eq!(deleted(&told), ("3A0F", None), "{fields}");
    }
    let elsewhere = json!({"body": "", "_data": {"type": "revoked",
        "protocolMessageKey": {"_serialized": "false_553491234567@c.us_3A00"}}});
    assert_eq!(deleted(&scene.events("message.any", &inbound(elsewhere))), ("3A00", None));
}

#[test]
fn a_change_of_a_text_in_the_channels_own_form_is_an_edit() {
    let scene = Scene::new(WahaEngine::Noweb);
    let edit = json!({"editedMessage": {"message": {"protocolMessage": {"type": 14,
        "key": {"id": "3A00"}, "editedMessage": {"imageMessage": {"caption": "novo"}}}}}});
    let GatewayEvent::Edit { provider_id, content, .. } =
        scene.event("message.any", &inbound(noweb(edit)))
    else {
        panic!("no edit")
    };
    assert_eq!((provider_id.as_str(), content.as_str()), ("3A00", "novo"));
}

/// X7.
#[test]
fn a_reaction_that_is_withdrawn_has_no_emoji() {
    let scene = Scene::new(WahaEngine::Gows);
    let withdrawn = |fields: Value| {
        let mut payload = inbound(fields);
        payload["reaction"] = json!({"text": "", "messageId": "true_12036@g.us_3EB0_9@lid"});
        payload
    };
    let in_group = withdrawn(json!({"id": "false_12036@g.us_3A_9@lid", "from": "12036@g.us",
        "participant": "9@lid"}));
    let own = withdrawn(json!({"id": "true_553491234567@c.us_3A", "fromMe": true}));
    let check = |message: &GatewayMessage| {
        assert_eq!((message.message_type, &message.content), (MessageType::Reaction, &None));
        let reaction = message.blocks.reaction.as_ref().expect("a reaction");
        assert_eq!(reaction.emoji, None);
        assert_eq!(reaction.provider_message_id.as_deref(), Some("3EB0"));
        assert_eq!(message.quoted.as_ref().map(|id| id.as_str()), Some("3EB0"));
    };
    match scene.event("message.reaction", &in_group) {
        GatewayEvent::Message(message) => {
            check(&message);
            assert_eq!(message.participant.as_deref(), Some("9@lid"));
        }
        other => panic!("{other:?}"),
    }
    match scene.event("message.reaction", &own) {
        GatewayEvent::Echo(message) => check(&message),
        other => panic!("{other:?}"),
    }
    let mut listed = noweb(json!({"reactionMessage": {"text": "", "key": {"id": "3EB0"}}}));
    check(&scene.message(&inbound(listed.clone())));
    listed["_data"]["message"]["reactionMessage"]["text"] = Value::Null;
    check(&scene.message(&inbound(listed)));
}

fn vote(message: &GatewayMessage) -> (Option<String>, Value) {
    assert_eq!((message.message_type, &message.content), (MessageType::Interactive, &None));
    match message.blocks.interactive.clone() {
        Some(Interactive::Answer(answer)) => {
            assert_eq!(answer.kind, AnswerKind::PollVote);
            (answer.title, answer.response.expect("the options"))
        }
        other => panic!("no vote: {other:?}"),
    }
}

fn voted(fields: Value) -> Value {
    let mut vote = json!({"id": "false_553491234567@c.us_3A11", "from": "553491234567@c.us",
        "to": "me", "fromMe": false, "selectedOptions": ["Hoje", "Amanhã"],
        "timestamp": 1_760_000_000});
    vote.as_object_mut().expect("an object").extend(fields.as_object().cloned().expect("one"));
    json!({"vote": vote, "poll": {"id": "true_553491234567@c.us_3EB0", "from": "me",
        "to": "553491234567@c.us", "fromMe": true}})
}

/// X6.
#[test]
fn a_vote_is_the_options_that_were_chosen() {
    let scene = Scene::new(WahaEngine::Gows);
    let GatewayEvent::Message(message) = scene.event("poll.vote", &voted(json!({}))) else {
        panic!("a message")
    };
    let options = json!({"options": ["Hoje", "Amanhã"]});
    assert_eq!(vote(&message), (Some("Hoje, Amanhã".to_owned()), options));
    assert_eq!((message.provider_id.as_str(), message.peer.as_str()), ("3A11", "553491234567"));
    assert_eq!(message.quoted.as_ref().expect("the poll").as_str(), "3EB0");
    assert_eq!(message.timestamp, Some(Timestamp::from_millis(1_760_000_000_000)));
    let none = voted(json!({"selectedOptions": []}));
    let GatewayEvent::Message(message) = scene.event("poll.vote", &none) else { panic!("one") };
    assert_eq!(vote(&message), (None, json!({"options": []})));
    assert_eq!(message.blocks.content(), None);
}

/// X6: in groups `participant` says who, and the own phone's votes are echoes.
#[test]
fn votes_in_groups_and_own_votes_say_who_voted() {
    let scene = Scene::new(WahaEngine::Gows);
    let mut in_group = voted(json!({"id": "false_12036@g.us_3A11_9@lid", "from": "12036@g.us",
        "participant": "9@lid", "timestamp": 1_760_000_000_250_i64}));
    in_group["_data"] = json!({"Info": {"Chat": "12036@g.us", "Sender": "9@lid",
        "SenderAlt": "553491234567@s.whatsapp.net", "PushName": "Maria", "IsGroup": true}});
    let GatewayEvent::Message(message) = scene.event("poll.vote", &in_group) else {
        panic!("a message")
    };
    assert_eq!(message.peer, format!("12036@{SUFFIX}"));
    assert_eq!(message.participant.as_deref(), Some("553491234567"));
    assert_eq!(message.push_name.as_deref(), Some("Maria"));
    assert_eq!(message.timestamp, Some(Timestamp::from_millis(1_760_000_000_250)));
    // Such an id could be one of this service's messages, which no vote is.
    let id = "true_553491234567@c.us_3EB0A1B2C3D4E5F60718293A4B5C6D7E";
    let own = voted(json!({"id": id, "from": "me", "to": "553491234567@c.us", "fromMe": true}));
    let events = scene.events("poll.vote", &own);
    assert!(matches!(events.as_slice(), [Ok(GatewayEvent::Echo(_))]), "{events:?}");
}

/// X6: engines that drive a browser give a vote the id of its poll.
#[test]
fn a_vote_without_an_id_of_its_own_has_one_of_poll_voter_and_time() {
    let scene = Scene::new(WahaEngine::Webjs);
    let vote = |fields: Value| {
        let mut payload = voted(json!({"id": "false_12036@g.us_3EB0_9@lid", "from": "12036@g.us",
            "participant": "9@lid", "timestamp": 1_760_000_000_250_i64}));
        payload["vote"]
            .as_object_mut()
            .expect("one")
            .extend(fields.as_object().cloned().expect("one"));
        match scene.event("poll.vote", &payload) {
            GatewayEvent::Message(message) => message,
            other => panic!("{other:?}"),
        }
    };
    let first = vote(json!({}));
    assert_eq!(first.provider_id.as_str(), "vote/3EB0/9@lid//1760000000250");
    assert_eq!(first.participant.as_deref(), Some("9@lid"));
    assert_eq!(vote(json!({})), first, "a repeat is the same");
    assert_ne!(vote(json!({"timestamp": 1_760_000_000_251_i64})).provider_id, first.provider_id);
    let timeless = vote(json!({"timestamp": null})).provider_id;
    let call = format!("vote/3EB0/9@lid//{}", NOW.millis());
    assert_eq!(timeless.as_str(), call, "the time of the call is that of the vote");
}

/// X6, X9.
#[test]
fn a_vote_that_nobody_can_read_is_kept() {
    let scene = Scene::new(WahaEngine::Noweb);
    let failed = voted(json!({"selectedOptions": []}));
    let GatewayEvent::Unknown(report) = scene.event("poll.vote.failed", &failed) else {
        panic!("it is not known")
    };
    assert_eq!(report.kind, "poll.vote.failed");
    assert_eq!(report.provider_id.expect("the vote").as_str(), "3A11");
    assert_eq!(report.body["payload"], failed);
    for (message, kind) in [
        (json!({"pollUpdateMessage": {"vote": {}}}), "poll_update_encrypted"),
        (json!({"encReactionMessage": {"encPayload": ""}}), "reaction_encrypted"),
        (json!({"encEventResponseMessage": {}}), "event_response_encrypted"),
        (json!({"secretEncryptedMessage": {}, "messageContextInfo": {}}), "edit_encrypted"),
        (json!({"protocolMessage": {"type": 99}}), "protocol_message.99"),
    ] {
        let GatewayEvent::Unknown(report) =
            scene.event("message.any", &inbound(noweb(message.clone())))
        else {
            panic!("{message}")
        };
        assert_eq!((report.kind.as_str(), report.provider_id.is_some()), (kind, true));
    }
}

/// X5.
#[test]
fn a_message_that_cannot_be_read_yet_is_announced() {
    let scene = Scene::new(WahaEngine::Webjs);
    let data = json!({"type": "ciphertext"});
    for (event, fields) in [
        ("message.waiting", json!({"body": "", "_data": data})),
        ("message.waiting", json!({"body": null, "_data": null})),
        ("message.any", json!({"body": "", "_data": data})),
        ("message.any", json!({"body": null, "_data": {"key": {}, "messageStubType": 2}})),
    ] {
        let GatewayEvent::Message(message) = scene.event(event, &inbound(fields.clone())) else {
            panic!("{event} {fields}")
        };
        assert_eq!((message.message_type, message.is_late), (MessageType::Unsupported, true));
        assert_eq!((message.provider_id.as_str(), message.peer.as_str()), ("3A0F", "553491234567"));
        assert!(message.content.is_none() && message.raw.is_some());
    }
    let readable = scene.message(&inbound(json!({"body": "Oi"})));
    assert!(!readable.is_late && readable.raw.is_none());
}

/// X8.
#[test]
fn an_ack_names_the_recipient_by_what_hides_the_phone() {
    let scene = Scene::new(WahaEngine::Gows);
    let names = |fields: Value| {
        let mut ack = json!({"id": "true_553491234567@c.us_3EB0", "fromMe": true, "ack": 3,
            "from": "551140028922@c.us", "to": "553491234567@c.us"});
        ack.as_object_mut().expect("an object").extend(fields.as_object().cloned().expect("one"));
        status_of(scene.event("message.ack", &ack)).names
    };
    assert_eq!(names(json!({})), [""; 0]);
    assert_eq!(names(json!({"id": "true_123@lid_3EB0", "to": "123@lid"})), ["123@lid"]);
    assert_eq!(names(json!({"to": "123@lid", "from": "777@lid"})), ["123@lid"], "not the own one");
    assert_eq!(names(json!({"id": "true_12036@g.us_3EB0", "to": "12036@g.us"})), [""; 0]);
}
