//! The content of messages, for each kind that the gateway passes on.

use recado_core::Timestamp;
use recado_core::gateway::{EventMedia, GatewayEvent, GatewayMessage};
use recado_core::messages::{Blocks, MessageType};
use serde_json::{Value, json};

use crate::scene::Scene;

/// A record of a message from a person, of this kind.
pub(crate) fn record(kind: &str, message: Value) -> Value {
    json!({"key": {"remoteJid": "553491234567@s.whatsapp.net", "remoteJidAlt": "123456@lid",
            "fromMe": false, "id": "3A0F", "participant": "", "addressingMode": "pn"},
        "pushName": "Maria", "status": "DELIVERY_ACK", "message": message, "contextInfo": null,
        "messageType": kind, "messageTimestamp": 1_760_000_000, "instanceId": "uuid",
        "source": "android"})
}

pub(crate) fn read(kind: &str, message: Value) -> GatewayMessage {
    Scene::new().message(record(kind, message))
}

/// A block of a message, as it is shown.
pub(crate) fn block(message: &GatewayMessage, name: &str) -> Value {
    serde_json::to_value(&message.blocks).expect("JSON")[name].take()
}

fn said(kind: &str, message: Value) -> (MessageType, Option<String>) {
    let message = read(kind, message);
    (message.message_type, message.content)
}

pub(crate) fn says(text: &str) -> Option<String> {
    Some(text.to_owned())
}

#[test]
fn a_text_is_read_whole() {
    let mut text = record("conversation", json!({"conversation": "Oi", "messageContextInfo": {}}));
    text["contextInfo"] = json!({"stanzaId": "3EB0A1",
        "participant": "551140028922@s.whatsapp.net", "quotedMessage": {"conversation": "Olá"}});
    let message = Scene::new().message(text);
    let expected = GatewayMessage {
        provider_id: message.provider_id.clone(),
        peer: "553491234567".to_owned(),
        aliases: vec!["123456@lid".to_owned()],
        participant: None,
        push_name: says("Maria"),
        message_type: MessageType::Text,
        content: says("Oi"),
        media: None,
        blocks: Blocks::default(),
        quoted: message.quoted.clone(),
        quoted_content: says("Olá"),
        quoted_type: Some(MessageType::Text),
        button: None,
        history: false,
        is_late: false,
        timestamp: Some(Timestamp::from_millis(1_760_000_000_000)),
        raw: None,
    };
    assert_eq!(message, expected);
    assert_eq!(message.provider_id.as_str(), "3A0F");
    assert_eq!(message.quoted.as_ref().map(|id| id.as_str()), Some("3EB0A1"));
}

#[test]
fn a_text_of_the_longer_kind_quotes_from_within() {
    let message = read(
        "extendedTextMessage",
        json!({"extendedTextMessage": {"text": "Sim", "contextInfo": {"stanzaId": "3EB0A1",
            "quotedMessage": {"imageMessage": {"caption": "Veja", "mimetype": "image/jpeg"}}}}}),
    );
    assert_eq!(
        (message.message_type, message.content.as_deref()),
        (MessageType::Text, Some("Sim"))
    );
    assert_eq!(message.quoted.as_ref().map(|id| id.as_str()), Some("3EB0A1"));
    assert_eq!(message.quoted_content.as_deref(), Some("Veja"));
    assert_eq!(message.quoted_type, Some(MessageType::Image));
}

#[test]
fn times_come_as_numbers_texts_and_halves() {
    for written in
        [json!(1_760_000_000), json!("1760000000"), json!({"low": 1_760_000_000, "high": 0})]
    {
        let mut text = record("conversation", json!({"conversation": "Oi"}));
        text["messageTimestamp"] = written;
        let at = Scene::new().message(text).timestamp;
        assert_eq!(at, Some(Timestamp::from_millis(1_760_000_000_000)));
    }
}

#[test]
fn files_keep_their_caption_apart_and_are_fetched_by_id() {
    let part = json!({"url": "https://mmg.whatsapp.net/encrypted", "mimetype": "image/jpeg",
        "caption": "Veja", "fileLength": "1234", "mediaKey": "abc", "fileName": "nota.pdf"});
    for (kind, expected, name) in [
        ("imageMessage", MessageType::Image, None),
        ("videoMessage", MessageType::Video, None),
        ("ptvMessage", MessageType::Video, None),
        ("audioMessage", MessageType::Audio, None),
        ("stickerMessage", MessageType::Sticker, None),
        ("documentMessage", MessageType::Document, says("nota.pdf")),
    ] {
        let message = read(kind, json!({kind: part, "base64": "aGk="}));
        assert_eq!((message.message_type, message.content), (expected, None), "{kind}");
        let media = EventMedia {
            url: says("evolution-media:3A0F"),
            mimetype: says("image/jpeg"),
            filename: name,
            caption: says("Veja"),
        };
        assert_eq!(message.media, Some(media), "{kind}");
    }
}

#[test]
fn a_file_that_the_gateway_put_somewhere_is_fetched_there() {
    let message = |url: Value| {
        let message = json!({"audioMessage": {"ptt": true, "mimetype": "audio/ogg; codecs=opus"},
            "mediaUrl": url});
        read("audioMessage", message).media.expect("a file").url.expect("an address")
    };
    let stored = "https://s3.example/evo/3A0F.oga?X-Amz-Signature=1";
    assert_eq!(message(json!(stored)), stored);
    for other in [json!("file:///etc/passwd"), json!(7), json!("javascript:x"), Value::Null] {
        assert_eq!(message(other), "evolution-media:3A0F");
    }
}

#[test]
fn envelopes_are_opened() {
    for wrapper in
        ["ephemeralMessage", "viewOnceMessage", "viewOnceMessageV2", "viewOnceMessageV2Extension"]
    {
        let image = json!({"imageMessage": {"caption": "Veja"}});
        let message = read(wrapper, json!({wrapper: {"message": image}}));
        assert_eq!(message.message_type, MessageType::Image, "{wrapper}");
    }
    let document = json!({"documentWithCaptionMessage": {"message": {"documentMessage":
        {"caption": "A nota", "fileName": "nota.pdf", "mimetype": "application/pdf"}}}});
    let nested = json!({"ephemeralMessage": {"message": document}});
    let media = read("documentWithCaptionMessage", nested).media.expect("a file");
    assert_eq!((media.caption, media.filename), (says("A nota"), says("nota.pdf")));
    let quoting = json!({"ephemeralMessage": {"message": {"extendedTextMessage":
        {"text": "Oi", "contextInfo": {"stanzaId": "3EB0A1"}}}}});
    let message = read("ephemeralMessage", quoting);
    assert_eq!(message.content.as_deref(), Some("Oi"));
    assert_eq!(message.quoted.as_ref().map(|id| id.as_str()), Some("3EB0A1"));
}

/// X2, X4, D31a.
#[test]
fn places_keep_their_coordinates_their_names_and_their_pages() {
    let place = json!({"degreesLatitude": -18.9186, "degreesLongitude": -48.2772,
        "name": "Loja", "address": "Rua das Flores, 10", "url": "https://loja.example"});
    let message = read("locationMessage", json!({"locationMessage": place}));
    assert_eq!((message.message_type, &message.content), (MessageType::Location, &None));
    let shown = json!({"latitude": -18.9186, "longitude": -48.2772, "name": "Loja",
        "address": "Rua das Flores, 10", "url": "https://loja.example", "is_live": false});
    assert_eq!(block(&message, "location"), shown);
    let text = message.blocks.content();
    assert_eq!(text, says("-18.9186,-48.2772 Loja, Rua das Flores, 10"));
    let live = json!({"degreesLatitude": -18.5, "degreesLongitude": -48, "name": "",
        "caption": "Aqui", "sequenceNumber": "1"});
    let message = read("liveLocationMessage", json!({"liveLocationMessage": live}));
    let shown = json!({"latitude": -18.5, "longitude": -48, "name": "Aqui", "address": null,
        "url": null, "is_live": true});
    assert_eq!((block(&message, "location"), message.content), (shown, None));
    // Without coordinates, as "NaN" is written, there is only its name.
    let nowhere = json!({"degreesLatitude": "NaN", "degreesLongitude": -48.5, "name": "Loja"});
    let message = read("locationMessage", json!({"locationMessage": nowhere}));
    assert_eq!((message.message_type, message.content), (MessageType::Location, says("Loja")));
    assert_eq!(message.blocks, Blocks::default());
}

/// X2, X4, D31a.
#[test]
fn cards_are_read_and_called_as_the_channel_calls_them() {
    let vcard = "BEGIN:VCARD\nVERSION:3.0\nN:;João;;;\nFN:João da Silva\n\
        item1.TEL;waid=5534991234567:+55 34 99123-4567\nitem1.X-ABLabel:Celular\nEND:VCARD";
    let card = json!({"displayName": "João", "vcard": vcard});
    let message = read("contactMessage", json!({"contactMessage": card}));
    assert_eq!((message.message_type, &message.content), (MessageType::Contacts, &None));
    let cards = block(&message, "shared_contacts");
    assert_eq!(cards[0]["name"], "João");
    assert_eq!(cards[0]["phones"][0]["number"], "+55 34 99123-4567");
    assert_eq!(message.blocks.content(), says("João, +55 34 99123-4567"));
    let cards = json!({"displayName": "2 contatos", "contacts": [card, {"displayName": "Ana"},
        {"vcard": "BEGIN:VCARD\nFN:Rui\nEND:VCARD"}]});
    let message = read("contactsArrayMessage", json!({"contactsArrayMessage": cards}));
    assert_eq!(message.message_type, MessageType::Contacts);
    let text = message.blocks.content();
    assert_eq!(text, says("João, +55 34 99123-4567\nAna\nRui"));
}

/// X3.
#[test]
fn a_voice_note_is_no_other_recording() {
    for (ptt, is_voice) in [(json!(true), true), (json!(false), false), (Value::Null, false)] {
        let audio = json!({"audioMessage": {"ptt": ptt, "mimetype": "audio/ogg; codecs=opus"}});
        let message = read("audioMessage", audio);
        assert_eq!((message.message_type, message.blocks.is_voice), (MessageType::Audio, is_voice));
    }
}

/// X2, X7.
#[test]
fn a_reaction_answers_the_message_it_is_of() {
    let reaction = |text: &str| {
        json!({"reactionMessage": {"key": {"remoteJid": "553491234567@s.whatsapp.net",
            "fromMe": true, "id": "3EB0A1"}, "text": text, "senderTimestampMs": "1760000000000"}})
    };
    let message = read("reactionMessage", reaction("👍"));
    assert_eq!((message.message_type, &message.content), (MessageType::Reaction, &None));
    let shown = json!({"emoji": "👍", "message_id": null, "provider_message_id": "3EB0A1"});
    assert_eq!(block(&message, "reaction"), shown);
    assert_eq!(message.blocks.content(), says("👍"));
    assert_eq!(message.quoted.as_ref().map(|id| id.as_str()), Some("3EB0A1"));
}

#[test]
fn a_changed_text_is_an_edit_of_the_first_message() {
    let protocol = json!({"key": {"remoteJid": "553491234567@s.whatsapp.net", "fromMe": false,
        "id": "3A00"}, "type": "MESSAGE_EDIT", "timestampMs": "1760000005123",
        "editedMessage": {"conversation": "Oi!"}});
    let expected = |at: i64| (says("3A00"), says("Oi!"), Some(Timestamp::from_millis(at)));
    let edit = |event: &str, data: Value| match Scene::new().event(event, data) {
        GatewayEvent::Edit { provider_id, content, timestamp } => {
            (Some(provider_id.as_str().to_owned()), Some(content), timestamp)
        }
        other => panic!("not an edit: {other:?}"),
    };
    let plain = record("protocolMessage", json!({ "protocolMessage": protocol }));
    assert_eq!(edit("messages.upsert", plain), expected(1_760_000_005_123));
    let wrapped = json!({"editedMessage": {"message": {"protocolMessage": protocol}}});
    let wrapped = record("editedMessage", wrapped);
    assert_eq!(edit("messages.upsert", wrapped), expected(1_760_000_005_123));
    assert_eq!(edit("messages.edited", protocol.clone()), expected(1_760_000_005_123));
    let mut timeless = protocol.clone();
    timeless["timestampMs"] = Value::Null;
    timeless["editedMessage"] = json!({"extendedTextMessage": {"text": "Oi!"}});
    let timeless = record("protocolMessage", json!({ "protocolMessage": timeless }));
    assert_eq!(edit("messages.upsert", timeless), expected(1_760_000_000_000));
    let update = json!({"keyId": "3A00", "fromMe": false,
        "update": {"message": {"editedMessage": {"message": {"protocolMessage": protocol}}}}});
    assert_eq!(edit("messages.update", update), expected(1_760_000_005_123));
}

/// What 2.3.7 reports for an edit, whether or not it is asked for `MESSAGES_EDITED`.
#[test]
fn an_update_that_replaces_the_message_is_an_edit_whatever_it_calls_itself() {
    let update = |from_me: bool, edited: Value| {
        json!({"keyId": "3A00", "remoteJid": "553491234567@s.whatsapp.net", "fromMe": from_me,
            "participant": null, "status": "SERVER_ACK", "instanceId": "uuid", "messageId": "cuid",
            "message": {"editedMessage": edited}})
    };
    let photo = json!({"imageMessage": {"caption": "Oi!", "mimetype": "image/jpeg"}});
    let paper = json!({"documentWithCaptionMessage": {"message": {"documentMessage":
        {"caption": "Oi!", "fileName": "nota.pdf"}}}});
    for message in [
        json!({"conversation": "Oi!"}),
        json!({"extendedTextMessage": {"text": "Oi!"}}),
        photo.clone(),
        paper,
    ] {
        for from_me in [true, false] {
            match Scene::new()
                .event("messages.update", update(from_me, json!({"message": message})))
            {
                GatewayEvent::Edit { provider_id, content, timestamp } => {
                    assert_eq!((provider_id.as_str(), content.as_str()), ("3A00", "Oi!"));
                    assert_eq!(timestamp, None);
                }
                other => panic!("not an edit: {other:?}"),
            }
        }
    }
    let scene = Scene::new();
    let poll = json!({"message": {"pollCreationMessage": {"name": "Quando?"}}});
    let mut nameless = update(true, json!({"message": photo}));
    nameless["keyId"] = Value::Null;
    for change in [update(true, poll), nameless] {
        let reported = scene.event("messages.update", change);
        assert!(matches!(&reported, GatewayEvent::Unknown(it) if it.kind == "edit_without_text"));
    }
}

/// D31a.
#[test]
fn the_changed_caption_of_a_file_is_an_edit() {
    let protocol = json!({"key": {"id": "3A00"}, "type": "MESSAGE_EDIT",
        "timestampMs": "1760000005123",
        "editedMessage": {"imageMessage": {"caption": "Veja bem"}}});
    let record = record("protocolMessage", json!({ "protocolMessage": protocol }));
    for (event, data) in [("messages.upsert", record), ("messages.edited", protocol)] {
        let edit = Scene::new().event(event, data);
        assert!(
            matches!(&edit, GatewayEvent::Edit { provider_id, content, .. }
            if provider_id.as_str() == "3A00" && content == "Veja bem"),
            "{edit:?}"
        );
    }
}

#[test]
fn the_protocols_other_records_are_left_out() {
    let scene = Scene::new();
    for message in [
        json!({"protocolMessage": {"type": "EPHEMERAL_SETTING", "ephemeralExpiration": 86400}}),
        json!({"protocolMessage": null}),
        json!({"senderKeyDistributionMessage": {"groupId": "1@g.us"}, "messageContextInfo": {}}),
        json!({"pinInChatMessage": {"type": 1}}),
        json!({"albumMessage": {"expectedImageCount": 3}}),
    ] {
        assert!(
            scene.reported("messages.upsert", record("x", message.clone())).is_empty(),
            "{message}"
        );
    }
    let mut note = record("x", Value::Null);
    note["messageStubType"] = json!("GROUP_PARTICIPANT_ADD");
    assert!(scene.reported("messages.upsert", note).is_empty());
}

#[test]
fn keys_that_travel_with_a_text_do_not_hide_it() {
    let message = json!({"senderKeyDistributionMessage": {"groupId": "1@g.us"},
        "messageContextInfo": {}, "conversation": "Oi"});
    assert_eq!(said("conversation", message), (MessageType::Text, says("Oi")));
}

#[test]
fn texts_lose_what_cannot_be_stored() {
    let mut text = record("conversation", json!({"conversation": "O\u{0}i\n!"}));
    text["pushName"] = json!(" M\u{0}aria ");
    let message = Scene::new().message(text);
    assert_eq!((message.content, message.push_name), (says("Oi\n!"), says("Maria")));
}
