//! Places and address cards.

use recado_core::gateway::GatewayMessage;
use recado_core::messages::{Location, MessageType, SharedPhone};
use recado_testkit::gateways::WahaEngine;
use serde_json::{Value, json};

use super::support::{Scene, gows, inbound, noweb};

fn read(fields: Value) -> GatewayMessage {
    Scene::new(WahaEngine::Gows).message(&inbound(fields))
}

fn location(fields: Value) -> Location {
    let message = read(fields);
    assert_eq!((message.message_type, message.content), (MessageType::Location, None));
    message.blocks.location.expect("a place")
}

/// X2, D31a.
#[test]
fn a_place_is_its_numbers_and_its_name() {
    for fields in [
        json!({"body": "", "location": {"latitude": -18.91, "longitude": -48.27, "name": "Loja"}}),
        json!({"body": "/9j/4AAQ", "location": {"latitude": "-18.91", "longitude": "-48.27",
            "description": "Loja"}}),
        gows(json!({"locationMessage": {"degreesLatitude": -18.91, "degreesLongitude": -48.27,
            "name": "Loja"}})),
        noweb(json!({"liveLocationMessage": {"degreesLatitude": -18.91,
            "degreesLongitude": -48.27, "name": "Loja"}})),
    ] {
        let message = read(fields.clone());
        assert_eq!((message.message_type, message.content), (MessageType::Location, None));
        let shown = message.blocks.content();
        assert_eq!(shown.as_deref(), Some("-18.91,-48.27 Loja"), "{fields}");
    }
}

/// X2.
#[test]
fn a_place_has_its_address_its_page_and_whether_it_moves() {
    let full = location(gows(json!({"locationMessage": {"degreesLatitude": -18.91,
        "degreesLongitude": -48.27, "name": "Loja", "address": "Rua A, 1", "URL": "https://l.example"}})));
    assert_eq!(
        serde_json::to_value(&full).expect("JSON"),
        json!({"latitude": -18.91,
        "longitude": -48.27, "name": "Loja", "address": "Rua A, 1", "url": "https://l.example",
        "is_live": false})
    );
    let lines = location(json!({"location": {"latitude": "-18.91", "longitude": "-48.27",
        "description": "Loja\nRua A, 1\nCentro", "live": false}}));
    assert_eq!(
        (lines.name.as_deref(), lines.address.as_deref()),
        (Some("Loja"), Some("Rua A, 1\nCentro"))
    );
    for live in [
        noweb(json!({"liveLocationMessage": {"degreesLatitude": 1, "degreesLongitude": 2}})),
        json!({"location": {"live": true, "latitude": "1", "longitude": "2"}}),
    ] {
        assert!(location(live.clone()).is_live, "{live}");
    }
    let nowhere = read(json!({"body": "Oi", "location": {"latitude": "x", "longitude": "2"}}));
    assert_eq!((nowhere.message_type, nowhere.blocks.location), (MessageType::Text, None));
}

/// X2, D31a.
#[test]
fn address_cards_are_what_is_on_them() {
    let card = |name: &str| format!("BEGIN:VCARD\nVERSION:3.0\n{name}\nEND:VCARD");
    for (fields, names) in [
        (
            json!({"body": card("FN:João"), "vCards": [card("FN:João"),
                card("item1.FN;CHARSET=UTF-8: Ana Lima\r")]}),
            Some("João\nAna Lima"),
        ),
        (gows(json!({"contactMessage": {"displayName": "João", "vcard": "x"}})), Some("João")),
        (
            noweb(json!({"contactsArrayMessage": {"contacts": [{"displayName": "João"},
                {"displayName": "Ana", "vcard": card("FN:Ana Lima")}]}})),
            Some("João\nAna Lima"),
        ),
        (json!({"body": null, "vCards": ["BEGIN:VCARD\nEND:VCARD"]}), None),
    ] {
        let message = read(fields.clone());
        assert_eq!((message.message_type, message.content), (MessageType::Contacts, None));
        assert_eq!(message.blocks.content().as_deref(), names, "{fields}");
    }
}

/// X2.
#[test]
fn a_card_has_its_phones() {
    let vcard =
        "BEGIN:VCARD\nFN:Ana\nTEL;type=CELL;waid=5511987654321:+55 11 98765-4321\nEND:VCARD";
    let message = read(noweb(json!({"contactMessage": {"displayName": "Ana", "vcard": vcard}})));
    let cards = message.blocks.shared_contacts.expect("cards");
    let phone =
        SharedPhone { number: "+55 11 98765-4321".to_owned(), kind: Some("CELL".to_owned()) };
    assert_eq!(cards[0].phones, [phone]);
}
