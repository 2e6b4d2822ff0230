//! The type and content of messages.

use recado_core::gateway::{EventMedia, GatewayMessage};
use recado_core::messages::{Forwarded, MessageType, SystemKind};
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
fn a_text_without_a_body_is_found_in_what_the_engine_has() {
    for fields in [
        gows(json!({"conversation": "Oi"})),
        noweb(json!({"extendedTextMessage": {"text": "Oi"}})),
        noweb(json!({"ephemeralMessage": {"message": {"conversation": "Oi"}}})),
    ] {
        assert_eq!(kind_and_content(fields), (MessageType::Text, said("Oi")));
    }
}

/// X9.
#[test]
fn what_is_not_known_is_stored_as_unsupported_with_the_channels_name_of_it() {
    for (fields, name) in [
        (json!({"body": ""}), None),
        (json!({"body": null, "_data": null}), None),
        (
            json!({"body": "", "_data": {"type": "newsletter_admin_invite"}}),
            Some("newsletter_admin_invite"),
        ),
        (
            gows(json!({"messageContextInfo": {}, "somethingNewMessage": {"x": 1}})),
            Some("somethingNewMessage"),
        ),
        (
            gows(json!({"interactiveMessage": {"InteractiveMessage": {"NewMessage": {}}}})),
            Some("interactiveMessage"),
        ),
        (noweb(json!({"pollCreationMessageV3": {}})), Some("pollCreationMessageV3")),
        (
            gows(json!({"protocolMessage": {}, "somethingNewMessage": {}})),
            Some("somethingNewMessage"),
        ),
    ] {
        let message = read(fields.clone());
        assert_eq!(
            (message.message_type, message.content),
            (MessageType::Unsupported, None),
            "{fields}"
        );
        let unsupported = message.blocks.unsupported.expect("why");
        assert_eq!((unsupported.reason, unsupported.provider_type.as_deref()), (None, name));
    }
}

#[test]
fn the_channels_bookkeeping_is_no_message() {
    let scene = Scene::new(WahaEngine::Noweb);
    for fields in [
        noweb(json!({"protocolMessage": {"type": 3}, "messageContextInfo": {}})),
        gows(json!({"senderKeyDistributionMessage": {}})),
        json!({"body": null, "_data": {"key": {}, "messageStubType": 21}}),
        json!({"body": "", "_data": {"type": "e2e_notification"}}),
    ] {
        assert_eq!(scene.events("message.any", &inbound(fields.clone())), [], "{fields}");
    }
}

/// X2, X7.
#[test]
fn a_reaction_in_the_history_points_to_its_message() {
    for key in [json!({"id": "3EB0", "fromMe": true}), json!({"ID": "3EB0", "remoteJID": "x"})] {
        let message = read(noweb(json!({"reactionMessage": {"text": "👍", "key": key}})));
        assert_eq!((message.message_type, message.content), (MessageType::Reaction, None));
        assert_eq!(message.quoted.expect("the target").as_str(), "3EB0");
        let reaction = message.blocks.reaction.expect("a reaction");
        assert_eq!(
            (reaction.emoji.as_deref(), reaction.provider_message_id.as_deref()),
            (Some("👍"), Some("3EB0"))
        );
    }
}

/// X1, X2.
#[test]
fn voice_notes_are_sound_with_a_mark() {
    let file = |fields: Value| {
        let mut all = json!({"body": null, "hasMedia": true, "media": {
            "url": "http://w/api/files/x", "mimetype": "audio/ogg; codecs=opus"}});
        for (name, value) in fields.as_object().expect("an object") {
            all[name] = value.clone();
        }
        read(all)
    };
    for (fields, is_voice) in [
        (json!({}), false),
        (gows(json!({"audioMessage": {"PTT": true}})), true),
        (noweb(json!({"audioMessage": {"ptt": true}})), true),
        (noweb(json!({"audioMessage": {"ptt": false}})), false),
        (json!({"_data": {"type": "ptt"}}), true),
        (json!({"type": "voice"}), true),
    ] {
        let message = file(fields.clone());
        assert_eq!(message.message_type, MessageType::Audio, "{fields}");
        assert_eq!(message.blocks.is_voice, is_voice, "{fields}");
    }
}

/// X3.
#[test]
fn a_message_says_whether_it_was_forwarded() {
    let text =
        |context: Value| json!({"extendedTextMessage": {"text": "Oi", "contextInfo": context}});
    for (fields, expected) in [
        (noweb(json!({"conversation": "Oi"})), None),
        (noweb(text(json!({"isForwarded": false, "forwardingScore": 0}))), None),
        (noweb(text(json!({"isForwarded": true, "forwardingScore": 1}))), Some(Forwarded::Once)),
        (gows(text(json!({"isForwarded": true, "forwardingScore": 5}))), Some(Forwarded::Often)),
        (json!({"_data": {"type": "chat", "isForwarded": true}}), Some(Forwarded::Once)),
        (json!({"_data": {"isForwarded": true, "forwardingScore": 127}}), Some(Forwarded::Often)),
    ] {
        assert_eq!(read(fields.clone()).blocks.forwarded, expected, "{fields}");
    }
}

/// X1, X4.
#[test]
fn a_call_in_the_chat_is_a_notice() {
    for (fields, kind, shown) in [
        (
            gows(json!({"callLogMesssage": {"isVideo": false, "callOutcome": 1}})),
            SystemKind::MissedCall { video: false },
            "Chamada perdida",
        ),
        (
            noweb(json!({"callLogMesssage": {"isVideo": true, "callOutcome": "MISSED"}})),
            SystemKind::MissedCall { video: true },
            "Chamada de vídeo perdida",
        ),
        (
            noweb(json!({"callLogMesssage": {"callOutcome": "CONNECTED", "durationSecs": "65"}})),
            SystemKind::Call { video: false, seconds: Some(65) },
            "Chamada (1:05)",
        ),
        (
            json!({"body": null, "_data": {"key": {}, "messageStubType": 41}}),
            SystemKind::MissedCall { video: true },
            "Chamada de vídeo perdida",
        ),
        (
            json!({"body": "", "_data": {"type": "call_log", "subtype": "miss"}}),
            SystemKind::MissedCall { video: false },
            "Chamada perdida",
        ),
        (
            json!({"body": "", "_data": {"type": "call_log", "isVideoCall": true,
            "callOutcome": "Connected"}}),
            SystemKind::Call { video: true, seconds: None },
            "Chamada de vídeo",
        ),
    ] {
        let message = read(fields.clone());
        assert_eq!((message.message_type, message.content), (MessageType::System, None));
        assert_eq!(message.blocks.content().as_deref(), Some(shown), "{fields}");
        assert_eq!(message.blocks.system.map(|notice| notice.kind), Some(kind), "{fields}");
    }
}

/// X1, D42a.
#[test]
fn an_own_call_is_nothing_that_an_operator_wrote() {
    let mut fields = gows(json!({"callLogMesssage": {"callOutcome": 1}}));
    fields["id"] = "true_553491234567@c.us_3A0F".into();
    fields["fromMe"] = true.into();
    assert_eq!(Scene::new(WahaEngine::Gows).events("message.any", &inbound(fields)), []);
}
