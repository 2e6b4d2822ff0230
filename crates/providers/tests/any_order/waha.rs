//! Calls of WAHA, as the engine GOWS makes them.

use recado_core::Timestamp;
use recado_testkit::gateways::{FakeWaha, SignedWebhook, WahaEngine};
use serde_json::{Value, json};

use crate::Recorded;

const START: i64 = 1_790_000_000;

/// A message of the chat with this id, sent so many seconds after the start.
fn message(id: &str, seconds: i64, from_me: bool, fields: Value) -> Value {
    let mut payload = json!({"id": format!("{from_me}_553491234567@c.us_{id}"),
        "timestamp": START + seconds, "from": "553491234567@c.us", "to": "551140028922@c.us",
        "fromMe": from_me, "source": "app", "participant": null, "body": null, "hasMedia": false,
        "media": null, "ack": 2, "ackName": "DEVICE", "replyTo": null, "vCards": [],
        "_data": {"Info": {"PushName": "Maria"}}});
    if from_me {
        payload["from"] = json!("551140028922@c.us");
        payload["to"] = json!("553491234567@c.us");
    }
    payload
        .as_object_mut()
        .expect("an object")
        .extend(fields.as_object().expect("an object").clone());
    payload
}

/// The fields of a message in the channel's own form.
fn proto(message: Value) -> Value {
    json!({"_data": {"Info": {"PushName": "Maria"}, "Message": message}})
}

pub(crate) fn recorded() -> Recorded {
    let fake = FakeWaha::new(WahaEngine::Gows);
    let call = |event: &str, seconds: i64, payload: Value| -> SignedWebhook {
        fake.set_now(Timestamp::from_millis((START + seconds) * 1_000));
        fake.webhook(event, &payload)
    };
    let said =
        |id: &str, n: i64, fields: Value| call("message.any", n, message(id, n, false, fields));
    let text = |id: &str, n: i64| said(id, n, json!({"body": "Oi"}));
    let edit = |n: i64, body: &str| {
        let fields = json!({"body": body, "editedMessageId": "3A01"});
        call("message.edited", n, message("3AFF", n, false, fields))
    };
    let deletion = |n: i64| {
        let gone = json!({"after": null, "before": null, "revokedMessageId": "3A01"});
        call("message.revoked", n, gone)
    };
    let reaction = |id: &str, n: i64, emoji: &str| {
        let fields = json!({"reaction": {"text": emoji,
            "messageId": "false_553491234567@c.us_3A01"}});
        call("message.reaction", n, message(id, n, false, fields))
    };
    let poll = call(
        "message.any",
        1,
        message(
            "3A01",
            1,
            true,
            proto(json!({"pollCreationMessageV3": {"name": "Quando?", "selectableOptionsCount": 1,
                "options": [{"optionName": "Hoje"}, {"optionName": "Amanhã"}]}})),
        ),
    );
    let vote = |id: &str, n: i64, options: Value| {
        let vote = json!({"id": format!("false_553491234567@c.us_{id}"),
            "from": "553491234567@c.us", "to": "551140028922@c.us", "fromMe": false,
            "selectedOptions": options, "timestamp": START + n});
        let poll = json!({"id": "true_553491234567@c.us_3A01", "from": "551140028922@c.us",
            "to": "553491234567@c.us", "fromMe": true});
        call("poll.vote", n, json!({"vote": vote, "poll": poll}))
    };
    let reply = said(
        "3A02",
        2,
        json!({"body": "Sim", "replyTo": {"id": "3A01", "body": "as the gateway wrote it"}}),
    );
    let one = |name, fields: Value| (name, vec![said("3A01", 1, fields), reply.clone()], 2);
    let ack = |n: i64, ack: i64, name: &str| {
        let fields = json!({"ack": ack, "ackName": name});
        call("message.ack", n, message("3A01", 1, true, fields))
    };
    let image = json!({"imageMessage": {"mimetype": "image/png", "caption": "Veja"}});
    Recorded {
        gateway: "waha",
        kind: "qr",
        settings: fake.settings(),
        sequences: vec![
            ("edits", vec![text("3A01", 1), edit(2, "Olá"), edit(3, "Bom dia")], 1),
            ("a deletion", vec![text("3A01", 1), deletion(2)], 1),
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
                    call("message.any", 1, message("3A01", 1, true, json!({"body": "Oi"}))),
                    ack(2, 2, "DEVICE"),
                    ack(3, 3, "READ"),
                ],
                1,
            ),
            (
                "late content",
                vec![
                    call("message.waiting", 1, message("3A01", 1, false, json!({"body": null}))),
                    text("3A01", 1),
                ],
                1,
            ),
            one("a caption", {
                let mut fields = proto(image);
                fields["body"] = json!("Veja");
                fields["hasMedia"] = json!(true);
                fields["media"] = json!({"url": "http://waha/f", "mimetype": "image/png"});
                fields
            }),
            one(
                "a place",
                json!({"location": {"latitude": "-23.5", "longitude": "-46.6",
                    "description": "Loja"}}),
            ),
            one(
                "address cards",
                json!({"vCards": ["BEGIN:VCARD\nVERSION:3.0\nFN:Bia\nTEL:+551133334444\nEND:VCARD"]}),
            ),
            one(
                "an answer to a list",
                proto(json!({"listResponseMessage": {"title": "Pizza", "description": "Grande",
                    "singleSelectReply": {"selectedRowId": "1"}}})),
            ),
            one(
                "an order",
                proto(json!({"orderMessage": {"orderId": "1", "itemCount": 2, "message": "Quero",
                    "orderTitle": "Loja"}})),
            ),
            (
                "a call",
                vec![call(
                    "call.rejected",
                    1,
                    json!({"id": "CALL1", "from": "553491234567@c.us",
                        "timestamp": START + 1, "isVideo": false, "isGroup": false}),
                )],
                1,
            ),
        ],
    }
}
