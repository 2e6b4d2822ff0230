//! Calls of Evolution.

use recado_testkit::gateways::{FakeEvolution, SignedWebhook};
use serde_json::{Value, json};

use crate::Recorded;

const START: i64 = 1_790_000_000;

/// A record of the chat with this id, sent so many seconds after the start.
fn record(id: &str, seconds: i64, from_me: bool, message: Value) -> Value {
    let kind = message.as_object().and_then(|parts| parts.keys().next().cloned());
    json!({"key": {"remoteJid": "553491234567@s.whatsapp.net", "fromMe": from_me, "id": id,
            "participant": "", "addressingMode": "pn"},
        "pushName": "Maria", "status": "DELIVERY_ACK", "message": message, "contextInfo": null,
        "messageType": kind, "messageTimestamp": START + seconds, "instanceId": "uuid",
        "source": "android"})
}

fn key(id: &str, from_me: bool) -> Value {
    json!({"remoteJid": "553491234567@s.whatsapp.net", "fromMe": from_me, "id": id})
}

pub(crate) fn recorded() -> Recorded {
    let fake = FakeEvolution::new();
    let call = |event: &str, data: Value| -> SignedWebhook { fake.webhook(event, data) };
    let said =
        |id: &str, n: i64, message: Value| call("messages.upsert", record(id, n, false, message));
    let wrote =
        |id: &str, n: i64, message: Value| call("messages.upsert", record(id, n, true, message));
    let text = |id: &str, n: i64| said(id, n, json!({"conversation": "Oi"}));
    let edit = |id: &str, n: i64, text: &str| {
        said(
            id,
            n,
            json!({"editedMessage": {"message": {"protocolMessage": {"type": 14,
                "key": key("3A01", false), "editedMessage": {"conversation": text}}}}}),
        )
    };
    let reaction = |id: &str, n: i64, emoji: &str| {
        said(id, n, json!({"reactionMessage": {"key": key("3A01", false), "text": emoji}}))
    };
    let vote = |id: &str, n: i64, options: Value| {
        said(
            id,
            n,
            json!({"pollUpdateMessage": {"pollCreationMessageKey": key("3A01", true),
                "vote": {"selectedOptions": options}}}),
        )
    };
    let poll = wrote(
        "3A01",
        1,
        json!({"pollCreationMessageV3": {"name": "Quando?", "selectableOptionsCount": 1,
            "options": [{"optionName": "Hoje"}, {"optionName": "Amanhã"}]}}),
    );
    let reply = said(
        "3A02",
        2,
        json!({"extendedTextMessage": {"text": "Sim", "contextInfo": {"stanzaId": "3A01",
            "quotedMessage": {"conversation": "as the gateway wrote it"}}}}),
    );
    let one = |name, message: Value| (name, vec![said("3A01", 1, message), reply.clone()], 2);
    let status = |status: &str| {
        call(
            "messages.update",
            json!({"keyId": "3A01", "remoteJid": "553491234567@s.whatsapp.net", "fromMe": true,
                "status": status}),
        )
    };
    let waiting = {
        let mut waiting = record("3A01", 1, false, Value::Null);
        waiting["messageStubType"] = json!(2);
        call("messages.upsert", waiting)
    };
    Recorded {
        gateway: "evolution",
        kind: "qr",
        settings: Value::Object(fake.settings()),
        sequences: vec![
            ("edits", vec![text("3A01", 1), edit("3A02", 2, "Olá"), edit("3A03", 3, "Bom dia")], 1),
            (
                "a deletion",
                vec![
                    text("3A01", 1),
                    said(
                        "3A02",
                        2,
                        json!({"protocolMessage": {"type": 0, "key": key("3A01", false)}}),
                    ),
                ],
                1,
            ),
            (
                "reactions",
                vec![text("3A01", 1), reaction("3A02", 2, "👍"), reaction("3A03", 3, "❤️")],
                2,
            ),
            (
                "a withdrawn reaction",
                vec![text("3A01", 1), reaction("3A02", 2, "👍"), reaction("3A03", 3, "")],
                2,
            ),
            (
                "votes",
                vec![poll, vote("3A02", 2, json!(["Hoje"])), vote("3A03", 3, json!(["Amanhã"]))],
                2,
            ),
            (
                "statuses",
                vec![
                    wrote("3A01", 1, json!({"conversation": "Oi"})),
                    status("DELIVERY_ACK"),
                    status("READ"),
                ],
                1,
            ),
            ("late content", vec![waiting, text("3A01", 1)], 1),
            one(
                "a caption",
                json!({"imageMessage": {"mimetype": "image/png", "caption": "Veja",
                    "url": "https://mmg.whatsapp.net/x"}}),
            ),
            one(
                "a place",
                json!({"locationMessage": {"degreesLatitude": -23.5, "degreesLongitude": -46.6,
                    "name": "Loja", "address": "Rua A, 1"}}),
            ),
            one(
                "address cards",
                json!({"contactMessage": {"displayName": "Bia",
                    "vcard": "BEGIN:VCARD\nVERSION:3.0\nFN:Bia\nTEL:+551133334444\nEND:VCARD"}}),
            ),
            one(
                "an answer to a list",
                json!({"listResponseMessage": {"title": "Pizza", "description": "Grande",
                    "singleSelectReply": {"selectedRowId": "1"}}}),
            ),
            one(
                "an order",
                json!({"orderMessage": {"orderId": "1", "itemCount": 2, "message": "Quero",
                    "orderTitle": "Loja"}}),
            ),
        ],
    }
}
