//! What a person may have said is kept, in whatever form it comes (X9).

use recado_core::gateway::{GatewayEvent, GatewayMessage, Provider};
use recado_core::messages::{MessageType, SystemKind};
use recado_testkit::ScriptedTransport;
use recado_testkit::gateways::WahaEngine;
use serde_json::{Value, json};

use super::support::{NOW, SUFFIX, Scene, gows, inbound, noweb, status_of};

fn read(fields: Value) -> GatewayMessage {
    Scene::new(WahaEngine::Noweb).message(&inbound(fields))
}

/// X5, X9: keys for the group come with what could not be decrypted.
#[test]
fn keys_beside_a_message_that_could_not_be_decrypted_do_not_hide_it() {
    let scene = Scene::new(WahaEngine::Noweb);
    let with_stub = |stub: Value| {
        let mut fields = noweb(json!({"senderKeyDistributionMessage": {"groupId": "x"}}));
        fields["_data"]["messageStubType"] = stub;
        fields["_data"]["messageStubParameters"] = json!(["No session found"]);
        inbound(fields)
    };
    assert_eq!(scene.events("message.any", &with_stub(Value::Null)), []);
    let late = scene.message(&with_stub(json!(2)));
    assert!(late.is_late);
    let reason = late.blocks.unsupported.expect("a block").reason;
    assert_eq!(reason.as_deref(), Some("No session found"));
    let told = scene.event("message.any", &with_stub(json!(1)));
    assert!(matches!(told, GatewayEvent::Deleted { .. }), "{told:?}");
    let missed = scene.message(&with_stub(json!(40))).blocks.system.map(|system| system.kind);
    assert_eq!(missed, Some(SystemKind::MissedCall { video: false }));
    let told = scene.event("message.any", &with_stub(json!(900)));
    assert!(matches!(&told, GatewayEvent::Unknown(it) if it.kind == "notice.900"), "{told:?}");
}

/// X9.
#[test]
fn a_kind_that_is_not_known_is_no_plain_text_though_it_has_one() {
    for (fields, kind) in [
        (json!({"body": "Oi", "_data": {"type": "hologram"}}), "hologram"),
        (json!({"body": "Oi", "_data": {"key": {}, "message": {"newMessage": {}}}}), "newMessage"),
    ] {
        let told = read(fields.clone());
        assert_eq!(told.message_type, MessageType::Unsupported, "{fields}");
        assert_eq!(told.content.as_deref(), Some("Oi"));
        assert_eq!(told.raw.expect("the call")["payload"]["body"], "Oi");
        let named = told.blocks.unsupported.expect("a block").provider_type;
        assert_eq!(named.as_deref(), Some(kind));
    }
    for fields in [
        json!({"body": "Oi", "_data": {"type": "chat"}}),
        json!({"body": "Oi", "_data": {"key": {}, "message": {"extendedTextMessage": {},
            "messageContextInfo": {}}}}),
    ] {
        assert_eq!(read(fields.clone()).message_type, MessageType::Text, "{fields}");
    }
}

/// X9.
#[test]
fn the_note_of_a_kind_that_is_not_known_stays() {
    let note = json!({"extendedTextMessage": {"text": "Conta de luz"}});
    for message in [
        json!({"requestPaymentMessage": {"noteMessage": note}}),
        json!({"newMessage": {"title": "Conta", "description": "de luz"}}),
    ] {
        let said = read(noweb(message)).content.expect("a text");
        assert_eq!(said.replace('\n', " "), "Conta de luz");
    }
}

/// X3, X9.
#[test]
fn a_change_that_names_no_message_is_kept() {
    let scene = Scene::new(WahaEngine::Noweb);
    let edit = json!({"type": 14, "editedMessage": {"conversation": "novo"}});
    for (protocol, kind) in
        [(edit, "edit_without_key"), (json!({"type": 0}), "deletion_without_key")]
    {
        let payload = inbound(noweb(json!({ "protocolMessage": protocol })));
        match scene.event("message.any", &payload) {
            GatewayEvent::Unknown(kept) => {
                assert_eq!((kept.kind.as_str(), &kept.body["payload"]), (kind, &payload));
            }
            other => panic!("it is known: {other:?}"),
        }
    }
}

/// X9: an address of a new sort may be a person's.
#[tokio::test]
async fn messages_of_the_history_that_cannot_be_read_are_kept() {
    let scene = Scene::new(WahaEngine::Gows);
    let transport = ScriptedTransport::new();
    let session = json!({"name": "loja1", "status": "WORKING", "engine": {"engine": "GOWS"},
        "me": {"id": "551140028922@c.us", "lid": "777@lid"}});
    transport.then_json(200, &session);
    let nameless = inbound(json!({"id": "3A01", "from": "123@new"}));
    let listed = json!([nameless, inbound(json!({})), {"body": "Oi"}]);
    transport.then_json(200, &listed);
    let missed = scene.adapter.missed(&transport, &scene.connection, NOW, NOW).await;
    let events = missed.expect("a list").events;
    let kept = events.iter().filter_map(|event| match event {
        Ok(GatewayEvent::Unknown(report)) => Some(&report.body["payload"]),
        _ => None,
    });
    let kept: Vec<&Value> = kept.collect();
    assert_eq!(events.len(), 3);
    assert!(kept.len() == 2 && kept.contains(&&nameless) && kept.contains(&&listed[2]), "{kept:?}");
}

/// X1.
#[test]
fn calls_of_the_own_phone_are_told_to_nobody() {
    let scene = Scene::new(WahaEngine::Gows);
    for (field, creator) in [
        ("CallCreator", "551140028922@s.whatsapp.net"),
        ("CallCreator", "777:3@lid"),
        ("CallCreatorAlt", "551140028922@s.whatsapp.net"),
    ] {
        let call = |creator: &str| {
            json!({"id": "C1", "from": "553491234567@c.us", "isVideo": false,
                "timestamp": 1_760_000_000, "_data": {"From": "553491234567@s.whatsapp.net",
                field: creator}})
        };
        for event in ["call.accepted", "call.rejected"] {
            assert_eq!(scene.events(event, &call(creator)), [], "{field} {creator}");
            assert_eq!(scene.events(event, &call("553491234567@s.whatsapp.net")).len(), 1);
        }
    }
}

/// X6: such engines give a vote the id of its poll, which is the own one here.
#[test]
fn a_vote_in_an_own_poll_is_that_of_its_voter() {
    let scene = Scene::new(WahaEngine::Webjs);
    let voted = |id: &str, vote: Value| {
        let mut told = json!({"id": id, "selectedOptions": ["Hoje"], "timestamp": null});
        told.as_object_mut().expect("one").extend(vote.as_object().cloned().expect("one"));
        let payload = json!({"vote": told, "poll": {"id": id, "fromMe": true}});
        scene.event("poll.vote", &payload)
    };
    let group = "true_12036@g.us_3EB0_551140028922@c.us";
    let from = json!({"from": "12036@g.us", "participant": "9@lid", "fromMe": false});
    let GatewayEvent::Message(vote) = voted(group, from) else { panic!("no message") };
    assert_eq!(
        (vote.peer, vote.participant.as_deref()),
        (format!("12036@{SUFFIX}"), Some("9@lid"))
    );
    assert_eq!(vote.provider_id.as_str(), format!("vote/3EB0/9@lid//{}", NOW.millis()));
    // The mark is that of the poll.
    let from = json!({"from": "9@lid", "fromMe": true});
    let GatewayEvent::Message(vote) = voted(group, from) else { panic!("no message") };
    assert_eq!(vote.participant.as_deref(), Some("9@lid"));
    let from = json!({"from": "553491234567@c.us", "to": "551140028922@c.us"});
    let GatewayEvent::Message(vote) = voted("true_553491234567@c.us_3EB0", from) else {
        panic!("no message")
    };
    assert_eq!(vote.peer, "553491234567");
    let own = json!({"from": "551140028922@c.us", "to": "553491234567@c.us", "fromMe": true});
    let told = voted("true_553491234567@c.us_3EB0", own);
    assert!(matches!(&told, GatewayEvent::Echo(it) if it.peer == "553491234567"), "{told:?}");
}

/// X8.
#[test]
fn the_sender_of_an_ack_is_no_name_of_its_recipient() {
    let scene = Scene::new(WahaEngine::Gows);
    let names = |id: &str, from: &str, to: Value| {
        let ack = json!({"id": id, "from": from, "to": to, "fromMe": true, "ack": 3,
            "participant": null, "_data": {}});
        status_of(scene.event("message.ack", &ack)).names
    };
    let none: [&str; 0] = [];
    assert_eq!(names("true_553491234567@c.us_3E", "888@lid", json!("553491234567@c.us")), none);
    assert_eq!(names("true_123@lid_3E", "888@lid", json!(null)), ["123@lid"]);
    assert_eq!(names("3E", "888@lid", json!("123@lid")), ["123@lid"]);
    assert_eq!(names("3E", "123@lid", json!(null)), ["123@lid"]);
}

/// X9: what holds only keys says nothing.
#[test]
fn keys_alone_are_no_message() {
    let scene = Scene::new(WahaEngine::Gows);
    let keys = gows(json!({"senderKeyDistributionMessage": {}}));
    assert_eq!(scene.events("message.any", &inbound(keys)), []);
}
