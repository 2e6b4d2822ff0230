//! What messages hold besides text and files (X2, X3).

use recado_core::gateway::GatewayMessage;
use recado_core::messages::{Blocks, Forwarded, MessageType, SharedContact, Unsupported};
use serde_json::{Value, json};

use crate::support::*;

/// The blocks as they are shown.
pub fn shown(blocks: &Blocks) -> Value {
    serde_json::to_value(blocks).expect("blocks are JSON")
}

/// A message whose text the core makes of its blocks: the blocks and that text.
pub fn worded(message: GatewayMessage, of_type: MessageType) -> (Blocks, Option<String>) {
    assert_eq!((message.message_type, message.content), (of_type, None));
    let text = message.blocks.clone().tidied().content();
    (message.blocks, text)
}

/// X2, D31a.
#[test]
fn a_place_keeps_its_coordinates_its_name_and_its_address() {
    let place = |fields: Value| {
        worded(message(json!({"type": "location", "location": fields})), MessageType::Location)
    };
    let (blocks, text) = place(json!({"latitude": -18.91, "longitude": -48.27, "name": "Loja",
        "address": "Av. 1", "url": "https://loja.example"}));
    assert_eq!(
        shown(&blocks)["location"],
        json!({"latitude": -18.91, "longitude": -48.27, "name": "Loja", "address": "Av. 1",
            "url": "https://loja.example", "is_live": false})
    );
    assert_eq!(text.as_deref(), Some("-18.91,-48.27 Loja, Av. 1"));
    let (blocks, text) = place(json!({"latitude": -18.91, "longitude": -48, "name": ""}));
    assert_eq!(blocks.location.expect("a place").name, None);
    assert_eq!(text.as_deref(), Some("-18.91,-48"));
}

/// X2.
#[test]
fn coordinates_that_are_written_as_text_are_numbers() {
    for (written, number) in
        [(json!("-18.91"), json!(-18.91)), (json!(" 7 "), json!(7)), (json!("+07.5"), json!(7.5))]
    {
        let reported = message(json!({"type": "location",
            "location": {"latitude": written, "longitude": "0"}}));
        assert_eq!(shown(&reported.blocks)["location"]["latitude"], number, "{written}");
    }
    for none in [json!("north"), json!("NaN"), json!("1e999"), json!(null), json!([1])] {
        let reported = message(json!({"type": "location",
            "location": {"latitude": none, "longitude": 1}}));
        assert_eq!(reported.message_type, MessageType::Unsupported, "{none}");
        assert_eq!(reported.blocks.location, None);
    }
}

/// X2, D31a.
#[test]
fn a_card_keeps_all_that_is_on_it() {
    let cards = json!([
        {"name": {"formatted_name": "João da Silva", "first_name": "João"},
            "phones": [
                {"phone": "+55 34 9123-4567", "wa_id": "553491234567", "type": "CELL"},
                {"wa_id": "551140028922"},
                {"type": "HOME"}],
            "emails": [{"email": "joao@example.com", "type": "WORK"}, {"type": "HOME"}],
            "org": {"company": "Padaria", "department": "Forno", "title": "Padeiro"},
            "urls": [{"url": "https://example.com", "type": "WORK"}],
            "addresses": [{"street": "Rua A, 1", "city": "Uberlândia", "state": "MG",
                "zip": "38400-000", "country": "Brasil", "country_code": "br", "type": "HOME"}],
            "birthday": "1990-12-31"},
        {"name": {"first_name": "Ana", "last_name": "Souza"}},
        {"phones": [{"phone": "+55 11 4002-8922"}]},
    ]);
    let reported = message(json!({"type": "contacts", "contacts": cards}));
    let (blocks, text) = worded(reported, MessageType::Contacts);
    let cards = blocks.shared_contacts.expect("cards");
    assert_eq!(
        serde_json::to_value(&cards[0]).expect("JSON"),
        json!({"name": "João da Silva",
            "phones": [{"number": "+55 34 9123-4567", "type": "CELL"},
                {"number": "551140028922", "type": null}],
            "emails": [{"email": "joao@example.com", "type": "WORK"}],
            "organization": "Padaria", "title": "Padeiro", "urls": ["https://example.com"],
            "addresses": ["Rua A, 1, Uberlândia, MG, 38400-000, Brasil"],
            "birthday": "1990-12-31"})
    );
    assert_eq!(
        cards[1],
        SharedContact { name: Some("Ana Souza".to_owned()), ..SharedContact::default() }
    );
    let text = text.expect("a text");
    assert!(text.starts_with("João da Silva, +55 34 9123-4567"), "{text}");
    assert!(text.ends_with("Ana Souza\n+55 11 4002-8922"), "{text}");
    let reported = message(json!({"type": "contacts", "contacts": {"name": "x"}}));
    assert_eq!(reported.message_type, MessageType::Unsupported);
}

/// X2.
#[test]
fn a_message_about_a_product_names_it() {
    let reported = message(json!({"type": "text", "text": {"body": "Tem?"}, "context": {
        "from": "551140028922", "id": "wamid.Q", "referred_product": {"catalog_id": 194_836,
            "product_retailer_id": "sku-1"}}}));
    assert_eq!(
        (reported.message_type, reported.content.as_deref()),
        (MessageType::Text, Some("Tem?"))
    );
    assert_eq!(reported.quoted.expect("a quote").as_str(), "wamid.Q");
    assert_eq!(
        shown(&reported.blocks)["product"],
        json!({"catalog_id": "194836", "product_id": "sku-1", "name": null, "price": null})
    );
}

/// X2.
#[test]
fn a_message_that_an_advertisement_led_to_names_it() {
    let led = |fields: Value| {
        let mut referral = json!({"source_url": "https://fb.me/x", "source_id": "120",
            "source_type": "ad", "headline": "Promoção", "body": "Saiba mais",
            "media_type": "image", "ctwa_clid": "ARAkL"});
        let own = referral.as_object_mut().expect("an object");
        own.extend(fields.as_object().cloned().expect("an object"));
        let reported = message(json!({"type": "text", "text": {"body": "Oi"},
            "referral": referral}));
        assert_eq!((reported.content.as_deref(), reported.quoted), (Some("Oi"), None));
        shown(&reported.blocks)["referral"].clone()
    };
    let image = "https://scontent.example/i.jpg";
    assert_eq!(
        led(json!({"image_url": image, "thumbnail_url": "https://scontent.example/t.jpg"})),
        json!({"source_type": "ad", "source_id": "120", "source_url": "https://fb.me/x",
            "headline": "Promoção", "body": "Saiba mais", "media_url": image,
            "click_id": "ARAkL"})
    );
    for field in ["video_url", "thumbnail_url"] {
        let mut fields = json!({});
        fields[field] = json!("https://scontent.example/x");
        assert_eq!(led(fields)["media_url"], "https://scontent.example/x", "{field}");
    }
    assert_eq!(led(json!({}))["media_url"], json!(null));
}

/// X3.
#[test]
fn a_forwarded_message_says_how_often() {
    for (context, expected) in [
        (json!({"forwarded": true}), Some(Forwarded::Once)),
        (json!({"frequently_forwarded": true}), Some(Forwarded::Often)),
        (json!({"forwarded": true, "frequently_forwarded": true}), Some(Forwarded::Often)),
        (json!({"forwarded": false}), None),
        (json!({"id": "wamid.Q"}), None),
    ] {
        let reported = message(json!({"type": "text", "text": {"body": "Oi"}, "context": context}));
        assert_eq!(
            (reported.blocks.forwarded, reported.content.as_deref()),
            (expected, Some("Oi"))
        );
    }
}

/// X1.
#[test]
fn a_voice_note_is_audio_whatever_it_is_called() {
    let file = json!({"mime_type": "audio/ogg; codecs=opus", "id": "7"});
    let mut marked = file.clone();
    marked["voice"] = json!(true);
    for (content, is_voice) in [
        (json!({"type": "audio", "audio": marked}), true),
        (json!({"type": "voice", "voice": file}), true),
        (json!({"type": "audio", "audio": file}), false),
        (json!({"type": "audio", "audio": {"id": "7", "voice": false}}), false),
    ] {
        let reported = message(content);
        assert_eq!(
            (reported.message_type, reported.blocks.is_voice),
            (MessageType::Audio, is_voice)
        );
        assert_eq!(reported.media.and_then(|media| media.url).as_deref(), Some("cloud-media:7"));
    }
}

/// X9.
#[test]
fn what_nobody_can_show_says_why_and_keeps_its_text() {
    for (content, reason, provider_type, text) in [
        (
            json!({"type": "unsupported", "errors": [{"code": 131_051,
                "title": "Message type unknown", "error_data": {"details": "not supported"}}]}),
            Some("131051: not supported"),
            Some("unsupported"),
            None,
        ),
        (
            json!({"type": "unsupported", "unsupported": {"type": "poll_creation"},
                "errors": [{"code": 131_051, "title": "Message type unknown"}]}),
            Some("131051: Message type unknown"),
            Some("poll_creation"),
            None,
        ),
        (
            json!({"type": "unsupported", "errors": [{"message": "not available"}],
                "text": {"body": "Olá"}}),
            Some("not available"),
            Some("unsupported"),
            Some("Olá"),
        ),
        (
            json!({"type": "hologram", "hologram": {"body": "Oi"}}),
            None,
            Some("hologram"),
            Some("Oi"),
        ),
        (json!({"type": "hologram", "caption": "Oi"}), None, Some("hologram"), Some("Oi")),
        (json!({"type": "image", "body": "Oi"}), None, Some("image"), Some("Oi")),
        (
            json!({"type": "location", "location": {"name": "Loja"}}),
            None,
            Some("location"),
            Some("Loja"),
        ),
        (json!({"type": "text"}), None, Some("text"), None),
        (json!({}), None, None, None),
    ] {
        let reported = message(content.clone());
        let expected = Unsupported {
            reason: reason.map(str::to_owned),
            provider_type: provider_type.map(str::to_owned),
        };
        assert_eq!(reported.message_type, MessageType::Unsupported, "{content}");
        assert_eq!(reported.content.as_deref(), text, "{content}");
        assert_eq!(reported.blocks.unsupported, Some(expected), "{content}");
    }
}

/// X2, D31a.
#[test]
fn a_reaction_names_its_emoji_and_its_message() {
    let reported = message(json!({"type": "reaction",
        "reaction": {"message_id": "wamid.TARGET", "emoji": "❤️"}}));
    assert_eq!(reported.message_type, MessageType::Reaction);
    assert_eq!(
        shown(&reported.blocks)["reaction"],
        json!({"emoji": "❤️", "message_id": null, "provider_message_id": "wamid.TARGET"})
    );
    assert_eq!(reported.content, reported.blocks.content());
}
