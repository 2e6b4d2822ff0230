//! What stands around messages: forwarding, advertisements, quoted messages.

use recado_core::messages::{Forwarded, MessageType};
use serde_json::{Value, json};

use crate::messages::{block, read, record};
use crate::scene::Scene;

/// A message whose context is beside it.
fn beside(context: Value) -> recado_core::gateway::GatewayMessage {
    let mut text = record("conversation", json!({"conversation": "Oi"}));
    text["contextInfo"] = context;
    Scene::new().message(text)
}

/// X3.
#[test]
fn forwarding_is_told_once_or_often() {
    for (context, expected) in [
        (json!({"isForwarded": true}), Some(Forwarded::Once)),
        (json!({"isForwarded": true, "forwardingScore": 1}), Some(Forwarded::Once)),
        (json!({"isForwarded": true, "forwardingScore": 4}), Some(Forwarded::Once)),
        (json!({"isForwarded": true, "forwardingScore": 5}), Some(Forwarded::Often)),
        (json!({"isForwarded": true, "forwardingScore": 127}), Some(Forwarded::Often)),
        (json!({"isForwarded": false, "forwardingScore": 0}), None),
        (json!({"stanzaId": "3EB0A1"}), None),
        (Value::Null, None),
    ] {
        assert_eq!(beside(context.clone()).blocks.forwarded, expected, "{context}");
        let image = json!({"imageMessage": {"caption": "Veja", "contextInfo": context}});
        assert_eq!(read("imageMessage", image).blocks.forwarded, expected, "{context}");
    }
}

/// X2.
#[test]
fn the_advertisement_that_led_here_is_told() {
    let ad = json!({"title": "Promoção", "body": "Só hoje", "mediaType": "VIDEO",
        "thumbnailUrl": "https://cdn.example/t.jpg", "mediaUrl": "https://fb.example/v",
        "thumbnail": "/9j/", "sourceType": "ad", "sourceId": "120210000000000000",
        "sourceUrl": "https://fb.me/abc", "containsAutoReply": false, "ctwaClid": "ARA-1"});
    let shown = json!({"source_type": "ad", "source_id": "120210000000000000",
        "source_url": "https://fb.me/abc", "headline": "Promoção", "body": "Só hoje",
        "media_url": "https://fb.example/v", "click_id": "ARA-1"});
    assert_eq!(block(&beside(json!({ "externalAdReply": ad })), "referral"), shown);
    let mut pictured = ad;
    pictured["mediaUrl"] = json!("");
    let inside = json!({"extendedTextMessage": {"text": "Oi",
        "contextInfo": {"externalAdReply": pictured}}});
    let referral = block(&read("extendedTextMessage", inside), "referral");
    assert_eq!(referral["media_url"], "https://cdn.example/t.jpg");
    // A preview that a program made.
    let preview = json!({"title": "Site", "sourceUrl": "https://example.com", "sourceType": ""});
    assert_eq!(block(&beside(json!({ "externalAdReply": preview })), "referral"), Value::Null);
}

/// X4.
#[test]
fn what_is_quoted_is_known_by_the_text_of_its_blocks() {
    let quoted = |message: Value| {
        let message = beside(json!({"stanzaId": "3EB0A1", "quotedMessage": message}));
        (message.quoted_type, message.quoted_content)
    };
    let place = json!({"locationMessage": {"degreesLatitude": -18.5, "degreesLongitude": -48.5,
        "name": "Loja"}});
    let expected = (Some(MessageType::Location), Some("-18.5,-48.5 Loja".to_owned()));
    assert_eq!(quoted(place), expected);
    let poll = json!({"pollCreationMessageV3": {"name": "Quando?",
        "options": [{"optionName": "Hoje"}]}});
    let expected = (Some(MessageType::Poll), Some("Enquete: Quando?\n- Hoje".to_owned()));
    assert_eq!(quoted(poll), expected);
}
