//! The type and content of messages.

use recado_core::gateway::{Button, EventMedia, GatewayMessage};
use recado_core::messages::MessageType;
use recado_testkit::gateways::WahaEngine;
use serde_json::{Value, json};

use super::support::{Scene, gows, inbound, noweb};

fn read(fields: Value) -> GatewayMessage {
    Scene::new(WahaEngine::Gows).message(&inbound(fields))
}

fn kind_and_content(fields: Value) -> (MessageType, Option<String>) {
    let message = read(fields);
    (message.message_type, message.content)
}

fn said(text: &str) -> Option<String> {
    Some(text.to_owned())
}

#[test]
fn the_caption_of_a_file_is_beneath_it_and_no_content() {
    let message = read(json!({"body": "sair", "hasMedia": true, "media": {
        "url": "http://waha:3000/api/files/x.jpg", "mimetype": "image/jpeg",
        "filename": null, "error": null}}));
    assert_eq!((message.message_type, message.content), (MessageType::Image, None));
    let media = EventMedia {
        url: said("waha-file:false_553491234567@c.us_3A0F http://waha:3000/api/files/x.jpg"),
        mimetype: said("image/jpeg"),
        filename: None,
        caption: said("sair"),
    };
    assert_eq!(message.media, Some(media));
}

#[test]
fn files_are_distinguished_by_mimetype_where_nothing_else_does() {
    for (mimetype, expected) in [
        (json!("image/png"), MessageType::Image),
        (json!("image/webp"), MessageType::Sticker),
        (json!("audio/ogg; codecs=opus"), MessageType::Audio),
        (json!("video/mp4"), MessageType::Video),
        (json!("application/pdf"), MessageType::Document),
        (json!(null), MessageType::Document),
    ] {
        let media = json!({"url": "http://w/api/files/x", "mimetype": mimetype});
        let message = read(json!({"body": "", "hasMedia": true, "media": media}));
        assert_eq!(message.message_type, expected, "{mimetype}");
    }
}

#[test]
fn the_channels_own_word_for_a_file_comes_first() {
    let media = json!({"url": "http://w/api/files/x", "mimetype": "image/webp"});
    for (data, expected) in [
        (json!({"Message": {"imageMessage": {"mimetype": "image/webp"}}}), MessageType::Image),
        (
            json!({"message": {"documentWithCaptionMessage": {"message": {"documentMessage": {}}}}}),
            MessageType::Document,
        ),
        (
            json!({"message": {"viewOnceMessageV2": {"message": {"videoMessage": {}}}}}),
            MessageType::Video,
        ),
        (json!({"Message": {"ptvMessage": {}}}), MessageType::Video),
        (json!({"Message": {"stickerMessage": {}}}), MessageType::Sticker),
        (json!({"type": "ptt"}), MessageType::Audio),
        (json!({"type": "document"}), MessageType::Document),
        (json!({"type": "sticker"}), MessageType::Sticker),
    ] {
        let fields = json!({"hasMedia": true, "media": media, "_data": data});
        assert_eq!(read(fields).message_type, expected, "{data}");
    }
}

#[test]
fn a_file_that_was_not_fetched_yet_is_asked_for_by_its_message() {
    let document = json!({"documentMessage": {"mimetype": "application/pdf",
        "fileName": "nf.pdf", "caption": "nota"}});
    let message = read(json!({"body": null, "hasMedia": true, "media": null,
        "_data": {"Message": document}}));
    let media = EventMedia {
        url: said("waha-message:false_553491234567@c.us_3A0F"),
        mimetype: said("application/pdf"),
        filename: said("nf.pdf"),
        caption: said("nota"),
    };
    assert_eq!(message.media, Some(media));
    let named = read(json!({"body": "nf.pdf", "hasMedia": true,
        "media": {"url": "u", "mimetype": "application/pdf", "filename": "nf.pdf"}}));
    assert_eq!(named.media.expect("a file").caption, None);
}

#[test]
fn presses_of_buttons_and_choices_of_lists_are_read_on_every_engine() {
    let button = |id: &str, title: &str| Button { id: said(id), payload: None, title: said(title) };
    for (fields, expected) in [
        (
            noweb(json!({"buttonsResponseMessage": {"selectedButtonId": "sim",
            "selectedDisplayText": "Sim"}})),
            button("sim", "Sim"),
        ),
        (
            gows(json!({"buttonsResponseMessage": {"selectedButtonID": "sim",
            "Response": {"SelectedDisplayText": "Sim"}}})),
            button("sim", "Sim"),
        ),
        (
            noweb(json!({"templateButtonReplyMessage": {"selectedId": "stop",
            "selectedDisplayText": "Parar promoções"}})),
            button("stop", "Parar promoções"),
        ),
        (
            gows(json!({"listResponseMessage": {"title": "Boleto",
            "singleSelectReply": {"selectedRowID": "op1"}}})),
            button("op1", "Boleto"),
        ),
        (
            noweb(json!({"interactiveResponseMessage": {"body": {"text": "Sim"},
            "nativeFlowResponseMessage": {"paramsJson": "{\"id\":\"sim\"}"}}})),
            button("sim", "Sim"),
        ),
        (
            json!({"body": "Sim", "_data": {"type": "buttons_response", "selectedButtonId": "sim"}}),
            button("sim", "Sim"),
        ),
        (
            json!({"body": "Boleto", "_data": {"type": "list_response",
            "listResponse": {"singleSelectReply": {"selectedRowId": "op1"}}}}),
            button("op1", "Boleto"),
        ),
    ] {
        let message = read(fields.clone());
        assert_eq!(message.message_type, MessageType::Interactive, "{fields}");
        assert_eq!(message.content, expected.title, "{fields}");
        assert_eq!(message.button, Some(expected), "{fields}");
    }
}

#[test]
fn a_text_without_a_body_is_found_in_what_the_engine_has() {
    for fields in [
        gows(json!({"conversation": "Oi"})),
        noweb(json!({"extendedTextMessage": {"text": "Oi"}})),
        noweb(json!({"ephemeralMessage": {"message": {"conversation": "Oi"}}})),
    ] {
        assert_eq!(kind_and_content(fields), (MessageType::Text, said("Oi")));
    }
}

#[test]
fn what_is_not_known_is_stored_as_unsupported() {
    for (fields, content) in [
        (json!({"body": ""}), None),
        (json!({"body": null, "_data": null}), None),
        (gows(json!({"somethingNewMessage": {"x": 1}})), None),
        (
            json!({"body": "Onde?", "_data": {"Message": {"pollCreationMessageV3": {}}}}),
            said("Onde?"),
        ),
        (gows(json!({"protocolMessage": {}, "somethingNewMessage": {}})), None),
    ] {
        assert_eq!(
            kind_and_content(fields.clone()),
            (MessageType::Unsupported, content),
            "{fields}"
        );
    }
}

#[test]
fn the_channels_bookkeeping_is_no_message() {
    let scene = Scene::new(WahaEngine::Noweb);
    for fields in [
        noweb(json!({"protocolMessage": {"type": 0}, "messageContextInfo": {}})),
        gows(json!({"senderKeyDistributionMessage": {}})),
        gows(json!({"pollUpdateMessage": {}})),
        json!({"body": null, "_data": {"key": {}, "messageStubType": 2}}),
        json!({"body": "", "_data": {"type": "e2e_notification"}}),
        json!({"body": "", "_data": {"type": "ciphertext"}}),
        noweb(json!({"reactionMessage": {"text": "", "key": {"id": "3EB0"}}})),
    ] {
        assert_eq!(scene.events("message.any", &inbound(fields.clone())), [], "{fields}");
    }
}

#[test]
fn a_reaction_in_the_history_points_to_its_message() {
    for key in [json!({"id": "3EB0", "fromMe": true}), json!({"ID": "3EB0", "remoteJID": "x"})] {
        let message = read(noweb(json!({"reactionMessage": {"text": "👍", "key": key}})));
        assert_eq!(message.message_type, MessageType::Reaction);
        assert_eq!(message.content.as_deref(), Some("👍"));
        assert_eq!(message.quoted.expect("the target").as_str(), "3EB0");
    }
}
