//! The fake takes what the API documents, and nothing else.

use serde_json::{Value, json};

use super::FakeCloud;
use crate::gateways::{FakeRequest, Gateway as _};

/// Posts a body to the number's messages; the status, and the violations that it caused.
fn post(fake: &FakeCloud, body: &Value) -> (u16, Vec<String>) {
    let token = "Bearer EAA-token-of-106540352242922".to_owned();
    let headers = vec![
        ("authorization".to_owned(), token),
        ("content-type".to_owned(), "application/json".to_owned()),
    ];
    let (target, body) = ("/v23.0/106540352242922/messages", body.to_string().into_bytes());
    let reply = fake.answer(&FakeRequest::new("POST", target, headers, body));
    (reply.status, fake.violations())
}

fn message(kind: &str, content: Value) -> Value {
    json!({"messaging_product": "whatsapp", "to": "+5534991234567", "type": kind, kind: content})
}

fn offer(content: Value) -> Value {
    let mut offer = json!({"type": "button", "body": {"text": "Confirma?"}, "action": {
        "buttons": [{"type": "reply", "reply": {"id": "a", "title": "A"}}]}});
    let fields = offer.as_object_mut().expect("an object");
    fields.extend(content.as_object().cloned().expect("an object"));
    message("interactive", offer)
}

fn button(id: &str, title: &str) -> Value {
    json!({"type": "reply", "reply": {"id": id, "title": title}})
}

#[test]
fn what_the_api_documents_is_taken() {
    let row = json!({"id": "a", "title": "A", "description": "b"});
    let list = json!({"button": "Ver", "sections": [{"rows": [row]}]});
    for body in [
        message("text", json!({"body": "Oi"})),
        message("location", json!({"latitude": "-18.9", "longitude": "48"})),
        message("contacts", json!([{"name": {"formatted_name": "Ana", "first_name": "Ana"}}])),
        message("reaction", json!({"message_id": "wamid.1", "emoji": ""})),
        offer(json!({})),
        offer(json!({"header": {"type": "text", "text": "x"}, "footer": {"text": "y"}})),
        offer(json!({"type": "list", "action": list})),
        json!({"messaging_product": "whatsapp", "status": "read", "message_id": "wamid.1",
            "typing_indicator": {"type": "text"}}),
    ] {
        assert_eq!(post(&FakeCloud::new(), &body), (200, Vec::new()), "{body}");
    }
}

#[test]
fn everything_else_is_a_violation() {
    let four: Vec<Value> = (0..4).map(|n| button(&n.to_string(), &n.to_string())).collect();
    let rows: Vec<Value> = (0..11).map(|n| json!({"id": n.to_string(), "title": "t"})).collect();
    let list = |sections: Value| {
        offer(json!({"type": "list", "action": {"button": "Ver", "sections": sections}}))
    };
    let long = "x".repeat(1025);
    for body in [
        json!([]),
        message("text", json!({"body": "x".repeat(4097)})),
        message("text", json!({"body": "Oi", "other": 1})),
        message("poll", json!({})),
        message("image", json!({"id": "1"})),
        message("image", json!({"link": "https://a.example/a.jpg"})),
        message("audio", json!({"id": "1", "caption": "x"})),
        message("location", json!({"latitude": "91", "longitude": "0"})),
        message("location", json!({"latitude": -18.9, "longitude": "0"})),
        message("contacts", json!([])),
        message("contacts", json!([{"name": {"formatted_name": "Ana"}}])),
        message(
            "contacts",
            json!([{"name": {"formatted_name": "A", "first_name": "A"},
            "phones": []}]),
        ),
        message("reaction", json!({"message_id": "wamid.1"})),
        offer(json!({"body": {"text": long}})),
        offer(json!({"footer": {"text": "x".repeat(61)}})),
        offer(json!({"header": {"type": "text", "text": "x".repeat(61)}})),
        offer(json!({"header": {"type": "sticker", "sticker": {"id": "1"}}})),
        offer(json!({"action": {"buttons": four}})),
        offer(json!({"action": {"buttons": [button("a", "A"), button("a", "B")]}})),
        offer(json!({"action": {"buttons": [button("a", "A"), button("b", "A")]}})),
        offer(json!({"action": {"buttons": [button("a", &"x".repeat(21))]}})),
        offer(json!({"action": {"buttons": [button("", "A")]}})),
        offer(json!({"type": "poll"})),
        list(json!([{"rows": rows}])),
        list(json!([{"rows": []}])),
        list(json!([{"rows": [{"id": "a", "title": "A"}]}, {"rows": [{"id": "b", "title": "B"}]}])),
        offer(json!({"type": "cta_url", "action": {"name": "cta_url", "parameters":
            {"display_text": "Ver", "url": "http://a.example"}}})),
        offer(json!({"type": "location_request_message", "footer": {"text": "x"},
            "action": {"name": "send_location"}})),
        json!({"messaging_product": "whatsapp", "status": "delivered", "message_id": "wamid.1"}),
        json!({"messaging_product": "whatsapp", "status": "read", "message_id": "wamid.1",
            "typing_indicator": {"type": "audio"}}),
    ] {
        let (status, violations) = post(&FakeCloud::new(), &body);
        assert!(status >= 400 && violations.len() == 1, "{status} {violations:?} {body}");
    }
    let mut quoting = message("reaction", json!({"message_id": "wamid.1", "emoji": "x"}));
    quoting["context"] = json!({"message_id": "wamid.1"});
    assert_eq!(post(&FakeCloud::new(), &quoting).1, ["a reaction quotes"]);
}
