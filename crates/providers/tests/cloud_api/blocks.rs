//! What messages hold besides text and files (X2, X3).

use recado_core::gateway::GatewayMessage;
use recado_core::messages::{Blocks, MessageType, SharedContact};
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
