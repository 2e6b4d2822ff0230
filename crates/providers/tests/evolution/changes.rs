//! What becomes of messages: deletions, reactions withdrawn, votes, content that comes later.

use recado_core::Timestamp;
use recado_core::gateway::{GatewayEvent, GatewayMessage, Incoming};
use recado_core::messages::{MessageType, OfferKind};
use serde_json::{Value, json};

use crate::messages::{block, read, record};
use crate::scene::{SUFFIX, Scene, status};

fn deleted(events: &[Incoming]) -> (&str, Option<i64>) {
    match events {
        [Ok(GatewayEvent::Deleted { provider_id, timestamp })] => {
            (provider_id.as_str(), timestamp.map(Timestamp::millis))
        }
        other => panic!("no deletion: {other:?}"),
    }
}

/// X3.
#[test]
fn a_deletion_names_the_message_that_was_deleted() {
    let scene = Scene::new();
    let key = json!({"remoteJid": "553491234567@s.whatsapp.net", "fromMe": false, "id": "3A00"});
    let mut bare = key.clone();
    bare["status"] = "DELETED".into();
    for data in [bare, json!({"id": "cuid", "key": key, "status": "DELETED", "message": null})] {
        assert_eq!(deleted(&scene.reported("messages.delete", data)), ("3A00", None));
    }
    for kind in [json!(0), json!("REVOKE")] {
        let protocol = json!({"key": key, "type": kind});
        let told = scene.reported("messages.edited", protocol.clone());
        assert_eq!(deleted(&told), ("3A00", None));
        let message = json!({"protocolMessage": protocol, "messageContextInfo": {}});
        let mut own = record("protocolMessage", message.clone());
        own["key"]["fromMe"] = true.into();
        for record in [record("protocolMessage", message), own] {
            let told = scene.reported("messages.upsert", record);
            assert_eq!(deleted(&told), ("3A00", Some(1_760_000_000_000)));
        }
    }
    let library = json!({"key": key, "update": {"message": null, "messageStubType": 1}});
    assert_eq!(deleted(&scene.reported("messages.update", library)), ("3A00", None));
    let mut note = record("x", Value::Null);
    note["messageStubType"] = "REVOKE".into();
    assert_eq!(deleted(&scene.reported("messages.set", note)), ("3A0F", None));
    // What is called so may also be an edit.
    let doubtful = json!({"keyId": "3A00", "fromMe": true, "status": "DELETED"});
    assert!(scene.reported("messages.update", doubtful).is_empty());
    let nameless = scene.reported("messages.delete", json!({"remoteJid": "1@lid"}));
    assert!(matches!(nameless.as_slice(), [Ok(GatewayEvent::Unknown(_))]), "{nameless:?}");
}

/// X7.
#[test]
fn a_reaction_that_is_withdrawn_has_no_emoji() {
    for text in [json!(""), json!(null)] {
        let reaction = json!({"reactionMessage": {"key": {"id": "3EB0A1"}, "text": text}});
        let mut own = record("reactionMessage", reaction.clone());
        own["key"]["fromMe"] = true.into();
        let echo = match Scene::new().event("messages.upsert", own) {
            GatewayEvent::Echo(echo) => echo,
            other => panic!("not an echo: {other:?}"),
        };
        for message in [read("reactionMessage", reaction), echo] {
            assert_eq!((message.message_type, &message.content), (MessageType::Reaction, &None));
            let shown = json!({"emoji": null, "message_id": null, "provider_message_id": "3EB0A1"});
            assert_eq!(block(&message, "reaction"), shown);
            assert_eq!(message.quoted.as_ref().map(|id| id.as_str()), Some("3EB0A1"));
        }
    }
}

/// The block of a vote, as it is shown.
fn vote(message: &GatewayMessage) -> (Value, Value) {
    assert_eq!((message.message_type, &message.content), (MessageType::Interactive, &None));
    let shown = block(message, "interactive");
    assert_eq!(shown["kind"], "poll_vote");
    (shown["title"].clone(), shown["response"].clone())
}

/// A vote as the gateway passes it on, decrypted if it has the poll.
fn voted(chosen: Value) -> Value {
    record(
        "pollUpdateMessage",
        json!({"pollUpdateMessage": {"pollCreationMessageKey": {"id": "3EB0"},
            "vote": {"encPayload": "x", "encIv": "y", "selectedOptions": chosen}},
            "messageContextInfo": {}}),
    )
}

/// X6.
#[test]
fn a_vote_is_the_options_that_were_chosen() {
    let message = Scene::new().message(voted(json!(["Hoje", "Amanhã"])));
    let options = json!({"options": ["Hoje", "Amanhã"]});
    assert_eq!(vote(&message), (json!("Hoje, Amanhã"), options));
    assert_eq!(message.provider_id.as_str(), "3A0F");
    assert_eq!(message.quoted.as_ref().map(|id| id.as_str()), Some("3EB0"));
    let none = Scene::new().message(voted(json!([])));
    assert_eq!(vote(&none), (Value::Null, json!({"options": []})));
    let mut beside = voted(Value::Null);
    beside["pollUpdates"] = json!([{"name": "Hoje", "voters": ["1@lid"]}, {"name": "Amanhã",
        "voters": []}]);
    assert_eq!(vote(&Scene::new().message(beside)).0, "Hoje");
    let mut own = voted(json!(["Hoje"]));
    own["key"]["fromMe"] = true.into();
    let told = Scene::new().event("messages.upsert", own);
    assert!(matches!(told, GatewayEvent::Echo(_)), "{told:?}");
    let mut in_group = voted(json!(["Hoje"]));
    in_group["key"] = json!({"remoteJid": "12036@g.us", "participant": "9@lid", "fromMe": false,
        "participantAlt": "553491234567@s.whatsapp.net", "id": "3A0F"});
    let message = Scene::new().message(in_group);
    assert_eq!(message.participant.as_deref(), Some("553491234567"));
}

/// X6: an update names the voters of each option, and gives the vote no id.
#[test]
fn votes_in_an_update_have_an_id_of_poll_voter_and_time() {
    let update = |chat: &str, voter: &str, has_two: bool| {
        let second = if has_two { json!([voter]) } else { json!([]) };
        json!({"keyId": "3EB0", "remoteJid": chat, "fromMe": true, "status": "SERVER_ACK",
            "pollUpdates": [{"name": "Hoje", "voters": [voter]}, {"name": "Amanhã",
                "voters": second}]})
    };
    let scene = Scene::new();
    let told =
        |chat: &str, voter: &str, two| scene.event("messages.update", update(chat, voter, two));
    let person = "553491234567@s.whatsapp.net";
    let GatewayEvent::Message(one) = told(person, person, false) else { panic!("a message") };
    assert_eq!(vote(&one), (json!("Hoje"), json!({"options": ["Hoje"]})));
    assert_eq!(
        (one.peer.as_str(), one.quoted.as_ref().map(|id| id.as_str())),
        ("553491234567", Some("3EB0"))
    );
    let GatewayEvent::Message(again) = told(person, person, false) else { panic!("a message") };
    assert_eq!(again, one, "a repeat is the same");
    assert!(one.provider_id.as_str().starts_with("vote/3EB0/553491234567@s.whatsapp.net/"));
    let own = told(person, "me", false);
    assert!(matches!(&own, GatewayEvent::Echo(echo) if echo.peer == "553491234567"), "{own:?}");
    let GatewayEvent::Message(group) = told("12036@g.us", "9@lid", true) else { panic!("one") };
    assert_eq!(group.peer, format!("12036@{SUFFIX}"));
    assert_eq!(group.participant.as_deref(), Some("9@lid"));
    assert_eq!(vote(&group).0, "Hoje, Amanhã");
    let mut nobody = update(person, person, false);
    nobody["pollUpdates"] = json!([{"name": "Hoje", "voters": []}]);
    let GatewayEvent::Unknown(report) = scene.event("messages.update", nobody) else {
        panic!("it")
    };
    assert_eq!(report.kind, "poll_update_without_voter");
}

/// X6, X9.
#[test]
fn what_nobody_can_read_is_kept() {
    let scene = Scene::new();
    let hashes = json!([{"type": "Buffer", "data": [1, 2]}]);
    for (message, kind) in [
        (voted(Value::Null)["message"].clone(), "poll_update_encrypted"),
        (voted(hashes)["message"].clone(), "poll_update_encrypted"),
        (json!({"encReactionMessage": {"encPayload": ""}}), "reaction_encrypted"),
        (json!({"secretEncryptedMessage": {}}), "edit_encrypted"),
        (json!({"protocolMessage": {"type": 99}}), "protocol_message.99"),
        (
            json!({"protocolMessage": {"key": {"id": "3A00"}, "type": 14,
            "editedMessage": {"imageMessage": {"mimetype": "image/jpeg"}}}}),
            "edit_without_text",
        ),
    ] {
        let told = scene.event("messages.upsert", record("x", message.clone()));
        let GatewayEvent::Unknown(report) = told else { panic!("{message}: {told:?}") };
        assert_eq!(report.kind, kind);
        assert_eq!(report.provider_id.expect("the message").as_str(), "3A0F");
        assert_eq!(report.body["data"]["message"], message);
    }
}

/// X5.
#[test]
fn a_message_that_cannot_be_read_yet_is_announced() {
    for stub in [json!(2), json!("CIPHERTEXT")] {
        let mut waiting = record("x", Value::Null);
        waiting["messageStubType"] = stub;
        let message = Scene::new().message(waiting);
        assert_eq!((message.message_type, message.is_late), (MessageType::Unsupported, true));
        assert_eq!((message.provider_id.as_str(), message.peer.as_str()), ("3A0F", "553491234567"));
        assert!(message.raw.is_some());
    }
    let unknown = Scene::new().message(record("x", Value::Null));
    assert_eq!((unknown.message_type, unknown.is_late), (MessageType::Unsupported, false));
}

/// X8.
#[test]
fn a_status_names_the_recipient_by_what_hides_the_phone() {
    let names = |chat: &str| {
        let update = json!({"keyId": "3EB0", "remoteJid": chat, "fromMe": true, "status": "READ"});
        status(Scene::new().event("messages.update", update)).names
    };
    assert_eq!(names("123456@lid"), ["123456@lid"]);
    assert_eq!(names("553491234567@s.whatsapp.net"), [""; 0]);
    assert_eq!(names("12036@g.us"), [""; 0]);
}

/// X2.
#[test]
fn carousels_bills_and_quoted_products_are_read() {
    let bill = json!({"currency": "BRL", "total_amount": {"value": 2100, "offset": 100}});
    let button = json!({"name": "order_details", "buttonParamsJson": bill.to_string()});
    let message = read(
        "interactiveMessage",
        json!({"interactiveMessage": {
        "body": {"text": "Veja"}, "nativeFlowMessage": {"buttons": [button]}}}),
    );
    assert_eq!(block(&message, "order")["total"], json!({"amount": "21", "currency": "BRL"}));
    let cards =
        json!([{"header": {"title": "A"}, "body": {"text": "barato"}}, {"body": {"text": "B"}}]);
    let message = read(
        "interactiveMessage",
        json!({"interactiveMessage": {
        "body": {"text": "Veja"}, "carouselMessage": {"cards": cards}}}),
    );
    let shown = block(&message, "interactive");
    assert_eq!(shown, json!({"kind": OfferKind::Other, "body": "Veja\nA\nbarato\nB"}));
    let product = json!({"product": {"productId": "7", "title": "Caneca", "currencyCode": "BRL",
        "priceAmount1000": 10_505}});
    let message = read(
        "extendedTextMessage",
        json!({"extendedTextMessage": {"text": "Tem?",
        "contextInfo": {"stanzaId": "3EB0", "quotedMessage": {"productMessage": product}}}}),
    );
    assert_eq!(block(&message, "product")["price"], json!({"amount": "10.51", "currency": "BRL"}));
    assert_eq!(block(&message, "product")["name"], "Caneca");
}

/// R111, R341: what a program sent is known by what its blocks or its caption say.
#[test]
fn what_a_program_sent_says_what_its_blocks_say() {
    let sent = |message: Value| {
        let mut own = record("x", message);
        own["key"]["fromMe"] = true.into();
        match Scene::new().event("send.message", own) {
            GatewayEvent::OwnSend(sent) => sent.content,
            other => panic!("not an own send: {other:?}"),
        }
    };
    let place = json!({"degreesLatitude": -1.5, "degreesLongitude": 2.5, "name": "Loja"});
    assert_eq!(sent(json!({"locationMessage": place})).as_deref(), Some("-1.5,2.5 Loja"));
    assert_eq!(sent(json!({"imageMessage": {"caption": "Veja"}})).as_deref(), Some("Veja"));
    assert_eq!(sent(json!({"imageMessage": {}})), None, "a file is not known by a text");
    let reaction = json!({"reactionMessage": {"key": {"id": "3EB0"}, "text": "👍"}});
    assert_eq!(sent(reaction), None, "a reaction proves no send");
}

/// A program's change comes without a record around it.
#[test]
fn a_programs_change_without_a_record_is_an_edit() {
    let protocol = json!({"key": {"id": "3EB0A1", "fromMe": true}, "type": "MESSAGE_EDIT",
        "editedMessage": {"conversation": "Olá!"}});
    let told = Scene::new().event("send.message.update", protocol);
    assert!(matches!(&told, GatewayEvent::Edit { content, .. } if content == "Olá!"), "{told:?}");
}
