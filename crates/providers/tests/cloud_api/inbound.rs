//! Messages from contacts, in every recorded shape.

use recado_core::gateway::{Addressee, Button, EventMedia, GatewayEvent, Provider};
use recado_core::messages::MessageType;
use recado_providers::cloud_api::CloudApi;
use recado_testkit::gateways::{FakeCloud, hex_hmac_sha256};
use serde_json::{Value, json};

use crate::support::*;

#[test]
fn a_text_names_its_writer_by_phone_first() {
    let reported = message(json!({"type": "text", "text": {"body": "Oi"},
        "context": {"from": "551140028922", "id": "wamid.QUOTED"}}));
    assert_eq!(reported.provider_id.as_str(), "wamid.IN1");
    assert_eq!(reported.peer, "553491234567");
    assert_eq!(reported.aliases, ["BR.13491208655302741918"]);
    assert_eq!(reported.push_name.as_deref(), Some("Maria Souza"));
    assert_eq!(reported.message_type, MessageType::Text);
    assert_eq!(reported.content.as_deref(), Some("Oi"));
    assert_eq!(reported.quoted.expect("a quote").as_str(), "wamid.QUOTED");
    assert_eq!(reported.timestamp, Some(at(1_760_000_000)));
    assert!(!reported.history && reported.participant.is_none() && reported.button.is_none());
}

#[test]
fn a_file_without_an_id_keeps_its_address() {
    let url = |image: Value| {
        let reported = message(json!({"type": "image", "image": image}));
        reported.media.and_then(|media| media.url)
    };
    let at = "https://lookaside.fbsbx.com/x";
    assert_eq!(url(json!({ "url": at })), Some(format!("cloud-file:{at}")));
    assert_eq!(url(json!({"id": "7", "url": at})).as_deref(), Some("cloud-media:7"));
    assert_eq!(url(json!({"url": "file:///etc/passwd"})), None);
    assert_eq!(url(json!({})), None);
}

#[test]
fn files_keep_their_id_kind_name_and_caption() {
    let id = "1003383421387256";
    for (content, message_type, mimetype, filename, caption) in [
        (
            json!({"type": "image", "image": {"caption": "foto", "mime_type": "image/jpeg",
            "sha256": "b64==", "id": id, "url": "https://lookaside.fbsbx.com/x"}}),
            MessageType::Image,
            "image/jpeg",
            None,
            Some("foto"),
        ),
        (
            json!({"type": "audio", "audio": {"mime_type": "audio/ogg; codecs=opus", "id": id,
            "sha256": "b64==", "voice": true}}),
            MessageType::Audio,
            "audio/ogg; codecs=opus",
            None,
            None,
        ),
        (
            json!({"type": "video", "video": {"mime_type": "video/mp4", "id": id}}),
            MessageType::Video,
            "video/mp4",
            None,
            None,
        ),
        (
            json!({"type": "document", "document": {"filename": "nf.pdf", "caption": "nota",
            "mime_type": "application/pdf", "id": id}}),
            MessageType::Document,
            "application/pdf",
            Some("nf.pdf"),
            Some("nota"),
        ),
        (
            json!({"type": "sticker", "sticker": {"mime_type": "image/webp", "id": id,
            "animated": false}}),
            MessageType::Sticker,
            "image/webp",
            None,
            None,
        ),
    ] {
        let reported = message(content);
        assert_eq!((reported.message_type, reported.content), (message_type, None));
        assert_eq!(
            reported.media,
            Some(EventMedia {
                url: Some(format!("cloud-media:{id}")),
                mimetype: Some(mimetype.to_owned()),
                filename: filename.map(str::to_owned),
                caption: caption.map(str::to_owned),
            })
        );
    }
}

#[test]
fn a_reaction_names_what_it_is_to() {
    let reported = message(json!({"type": "reaction",
        "reaction": {"message_id": "wamid.TARGET", "emoji": "❤️"}}));
    assert_eq!(
        (reported.message_type, reported.content.as_deref()),
        (MessageType::Reaction, Some("❤️"))
    );
    assert_eq!(reported.quoted.expect("a target").as_str(), "wamid.TARGET");
}

#[test]
fn presses_of_every_kind_are_buttons() {
    let button = |id: Option<&str>, payload: Option<&str>, title: Option<&str>| Button {
        id: id.map(str::to_owned),
        payload: payload.map(str::to_owned),
        title: title.map(str::to_owned),
    };
    for (content, expected) in [
        (
            json!({"type": "button", "button": {"payload": "STOP", "text": "Parar promoções"},
            "context": {"from": "551140028922", "id": "wamid.TEMPLATE"}}),
            button(None, Some("STOP"), Some("Parar promoções")),
        ),
        (
            json!({"type": "interactive", "interactive": {"type": "button_reply",
            "button_reply": {"id": "sim", "title": "Sim"}}}),
            button(Some("sim"), None, Some("Sim")),
        ),
        (
            json!({"type": "interactive", "interactive": {"type": "list_reply",
            "list_reply": {"id": "op1", "title": "Boleto", "description": "2ª via"}}}),
            button(Some("op1"), None, Some("Boleto")),
        ),
        (
            json!({"type": "interactive", "interactive": {"type": "nfm_reply", "nfm_reply": {
            "name": "flow", "body": "Sent", "response_json": "{\"a\":1}"}}}),
            button(Some("flow"), Some("{\"a\":1}"), Some("Sent")),
        ),
    ] {
        let reported = message(content);
        assert_eq!(reported.message_type, MessageType::Interactive);
        assert_eq!((reported.content, reported.button), (None, Some(expected)));
    }
}

#[test]
fn what_cannot_be_shown_is_a_message_all_the_same() {
    for content in [
        json!({"type": "unsupported", "errors": [{"code": 131_051,
            "title": "Message type unknown", "error_data": {"details": "not supported"}}]}),
        json!({"type": "hologram", "hologram": {"x": 1}}),
        json!({"type": "interactive", "interactive": {"type": "something_new"}}),
        json!({"type": "text"}),
        json!({"type": "text", "text": {"body": 5}}),
        json!({"type": 7}),
        json!({}),
    ] {
        let reported = message(content.clone());
        assert_eq!(reported.message_type, MessageType::Unsupported, "{content}");
        assert_eq!(reported.peer, "553491234567");
    }
}

#[test]
fn an_edit_changes_a_text_or_a_caption() {
    let edit = |inner: Value| {
        event(
            "messages",
            json!({"messages": [{"from": "553491234567",
        "id": "wamid.E", "timestamp": "1760000000", "type": "edit",
        "edit": {"original_message_id": "wamid.X", "message": inner}}]}),
        )
    };
    for (inner, expected) in [
        (json!({"context": {"id": "M0"}, "type": "text", "text": {"body": "novo"}}), "novo"),
        (json!({"type": "image", "image": {"id": "1", "caption": "legenda"}}), "legenda"),
    ] {
        match edit(inner) {
            GatewayEvent::Edit { provider_id, content, timestamp } => {
                assert_eq!((provider_id.as_str(), content.as_str()), ("wamid.X", expected));
                assert_eq!(timestamp, Some(at(1_760_000_000)));
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn control_characters_are_dropped_from_what_is_said() {
    let reported = message(json!({"type": "text", "text": {"body": "a\u{0}b\nc\u{7f}"}}));
    assert_eq!(reported.content.as_deref(), Some("ab\nc"));
}

#[test]
fn names_of_files_are_cut_and_strange_ids_of_files_are_none() {
    let reported = message(json!({"type": "document", "document": {"id": "a\u{0}b",
        "filename": "x".repeat(500), "caption": "y".repeat(500)}}));
    let media = reported.media.expect("a file");
    assert_eq!(media.url, None);
    assert_eq!(media.filename.map(|name| name.len()), Some(200));
    assert_eq!(media.caption.map(|caption| caption.len()), Some(500));
}

#[test]
fn half_a_character_costs_no_message() {
    let body = br#"{"object":"whatsapp_business_account","entry":[{"changes":[{"field":"messages","value":{"messages":[{"from":"1","id":"wamid.1","type":"text","text":{"body":"cut \ud83d"}},{"from":"1","id":"wamid.2","type":"text","text":{"body":"whole"}}]}}]}]}"#;
    let signature = hex_hmac_sha256(SECRET, body);
    let webhook = FakeCloud::new().webhook_body(&json!({})).with_body(body.to_vec());
    let webhook = webhook.with_header("x-hub-signature-256", &format!("sha256={signature}"));
    let received = CloudApi::new().receive(&plain(), &webhook.webhook()).expect("taken");
    assert_eq!(received.len(), 2);
    assert!(received.iter().all(|received| received.event.is_ok()), "{received:?}");
}

#[test]
fn one_message_that_cannot_be_read_among_fifty_loses_no_other() {
    let messages: Vec<Value> = (0..50)
        .map(|n| match n {
            17 => json!({"type": "text", "text": {"body": "nobody's"}, "id": "wamid.17"}),
            _ => json!({"from": "1", "id": format!("wamid.{n}"), "type": "text",
                "timestamp": "1760000000", "text": {"body": "Oi"}}),
        })
        .collect();
    let reported = events("messages", json!({ "messages": messages }));
    assert_eq!(reported.len(), 50);
    for (n, event) in reported.iter().enumerate() {
        assert_eq!(matches!(event, Ok(GatewayEvent::Unknown(_))), n == 17, "{n}");
    }
}

#[test]
fn what_has_no_id_or_no_writer_is_kept_with_the_reason() {
    for (message, reason) in [
        (json!({"from": "1", "type": "text"}), "id is no id of a message"),
        (json!({"from": "1", "id": "a\nb", "type": "text"}), "id is no id of a message"),
        (json!({"id": "wamid.1", "type": "text"}), "from names nobody"),
        (json!({"id": "wamid.1", "from": " \n", "type": "text"}), "from names nobody"),
        (json!({"id": "wamid.1", "from": "1", "group_id": "a b"}), "group_id is no id of a group"),
        (json!("text"), "id is no id of a message"),
    ] {
        let lists = json!({"messages": [message, {"from": "1", "id": "wamid.2", "type": "text",
            "text": {"body": "Oi"}}]});
        let reported = events("messages", lists);
        let [Ok(GatewayEvent::Unknown(kept)), Ok(GatewayEvent::Message(_))] = reported.as_slice()
        else {
            panic!("{reported:?}")
        };
        let value = of_number(json!({"messages": [message]}));
        assert_eq!(kept.kind, reason);
        assert_eq!(kept.body, json!({"field": "messages", "value": value}));
    }
    match event("messages", json!({"messages": {"id": "1"}})) {
        GatewayEvent::Unknown(kept) => {
            assert_eq!(kept.kind, "messages is no list");
            assert_eq!(kept.body["value"]["messages"], json!({"id": "1"}));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_entry_and_change_goes_to_its_own_number() {
    let value = |number: &str, id: &str| {
        json!({"metadata": {"phone_number_id": number},
        "messages": [{"from": "1", "id": id, "type": "text", "text": {"body": "x"}}]})
    };
    let body = json!({"object": "whatsapp_business_account", "entry": [
        {"id": "a", "changes": [{"field": "messages", "value": value("11", "m1")},
            {"field": "messages", "value": value("22", "m2")}]},
        {"id": "b", "changes": [{"value": {}}, {"field": "messages", "value": value("11", "m3")}]}]});
    let received = receive(&body);
    let to: Vec<_> = received.iter().map(|received| received.to.clone()).collect();
    let number = |number: &str| Addressee::Number(number.to_owned());
    assert_eq!(to, [number("11"), number("22"), Addressee::Called, number("11")]);
    assert!(matches!(&received[2].event, Ok(GatewayEvent::Unknown(_))), "{:?}", received[2]);
}

#[test]
fn errors_of_the_account_make_its_state_doubtful() {
    let reported = event("messages", json!({"errors": [{"code": 131_042, "title": "payment"}]}));
    assert_eq!(reported, GatewayEvent::StateDoubtful);
}
