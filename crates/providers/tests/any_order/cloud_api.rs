//! Calls of the official cloud API.

use recado_core::Timestamp;
use recado_testkit::gateways::{FakeCloud, SignedWebhook};
use serde_json::{Value, json};

use crate::Recorded;

const START: i64 = 1_790_000_000;
const MARIA: &str = "553491234567";

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_millis((START + seconds) * 1_000)
}

pub(crate) fn recorded() -> Recorded {
    let fake = FakeCloud::new();
    let said = |id: &str, n: i64, content: Value| -> SignedWebhook {
        fake.webhook_changes(&[("messages", fake.message(MARIA, id, &content, at(n)))])
    };
    let text = |id: &str, n: i64| said(id, n, json!({"type": "text", "text": {"body": "Oi"}}));
    let edit = |id: &str, n: i64, text: &str| {
        said(
            id,
            n,
            json!({"type": "edit", "edit": {"original_message_id": "wamid.1",
                "message": {"type": "text", "text": {"body": text}}}}),
        )
    };
    let reaction = |id: &str, n: i64, emoji: &str| {
        said(
            id,
            n,
            json!({"type": "reaction", "reaction": {"message_id": "wamid.1", "emoji": emoji}}),
        )
    };
    let reply = said(
        "wamid.2",
        2,
        json!({"type": "text", "text": {"body": "Sim"}, "context": {"id": "wamid.1"}}),
    );
    let one = |name, content: Value| (name, vec![said("wamid.1", 1, content), reply.clone()], 2);
    let status = |n: i64, status: &str| {
        let status = json!({"id": "wamid.1", "status": status, "recipient_id": MARIA,
            "timestamp": (START + n).to_string()});
        fake.webhook_statuses(&[status])
    };
    let unsupported = json!({"type": "unsupported",
        "errors": [{"code": 131_060, "title": "This message is currently unavailable."}]});
    Recorded {
        gateway: "cloud_api",
        kind: "official_cloud",
        settings: Value::Object(fake.settings("https://graph.example")),
        sequences: vec![
            (
                "edits",
                vec![text("wamid.1", 1), edit("wamid.2", 2, "Olá"), edit("wamid.3", 3, "Bom dia")],
                1,
            ),
            (
                "a deletion",
                vec![
                    text("wamid.1", 1),
                    said(
                        "wamid.2",
                        2,
                        json!({"type": "revoke", "revoke": {"original_message_id": "wamid.1"}}),
                    ),
                ],
                1,
            ),
            (
                "reactions",
                vec![
                    text("wamid.1", 1),
                    reaction("wamid.2", 2, "👍"),
                    reaction("wamid.3", 3, "❤️"),
                ],
                2,
            ),
            (
                "a withdrawn reaction",
                vec![text("wamid.1", 1), reaction("wamid.2", 2, "👍"), reaction("wamid.3", 3, "")],
                2,
            ),
            (
                "statuses",
                vec![
                    fake.webhook_echo(MARIA, "wamid.1", "Oi", at(1)),
                    status(2, "delivered"),
                    status(3, "read"),
                ],
                1,
            ),
            ("late content", vec![said("wamid.1", 1, unsupported), text("wamid.1", 1)], 1),
            one(
                "a caption",
                json!({"type": "image", "image": {"id": "1", "mime_type": "image/png",
                    "caption": "Veja"}}),
            ),
            one(
                "a place",
                json!({"type": "location", "location": {"latitude": -23.5, "longitude": -46.6,
                    "name": "Loja", "address": "Rua A, 1"}}),
            ),
            one(
                "address cards",
                json!({"type": "contacts", "contacts": [{"name": {"formatted_name": "Bia"},
                    "phones": [{"phone": "+551133334444", "type": "CELL"}]}]}),
            ),
            one(
                "an answer to a list",
                json!({"type": "interactive", "interactive": {"type": "list_reply",
                    "list_reply": {"id": "1", "title": "Pizza", "description": "Grande"}}}),
            ),
            one(
                "the answer of a flow",
                json!({"type": "interactive", "interactive": {"type": "nfm_reply", "nfm_reply": {
                    "name": "flow", "body": "Sent", "response_json": "{\"Dia\":\"segunda\"}"}}}),
            ),
            one(
                "an order",
                json!({"type": "order", "order": {"catalog_id": "c", "text": "Quero",
                    "product_items": [{"product_retailer_id": "p", "quantity": 2,
                        "item_price": 10.5, "currency": "BRL"}]}}),
            ),
            one(
                "what nobody can show",
                json!({"type": "unsupported", "errors": [{"code": 131_051, "title": "unknown"}]}),
            ),
        ],
    }
}
