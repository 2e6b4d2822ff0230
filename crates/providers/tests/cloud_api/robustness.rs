//! No input makes the adapter panic, and an invalid event does not prevent the others.

use proptest::prelude::*;
use proptest::sample::Index;
use recado_core::gateway::{Addressee, GatewayEvent, Provider};
use recado_providers::cloud_api::CloudApi;
use recado_testkit::ScriptedTransport;
use recado_testkit::gateways::FakeCloud;
use recado_testkit::transport::json_answer;
use serde_json::{Value, json};

use crate::support::*;

/// One recorded event of each kind.
fn recorded() -> Vec<Value> {
    let context = json!({"from": "551140028922", "id": "wamid.Q"});
    let message = |content: Value| {
        let mut message = json!({"from": "553491234567", "from_user_id": "BR.1", "id": "wamid.1",
            "timestamp": "1760000000", "context": context});
        let own = message.as_object_mut().expect("an object");
        own.extend(content.as_object().cloned().expect("an object"));
        change("messages", &of_number(json!({"contacts": [maria()], "messages": [message]})))
    };
    let own = |field: &str, fields: Value| change(field, &of_number(fields));
    let mut all: Vec<Value> = [
        json!({"type": "text", "text": {"body": "Oi"}}),
        json!({"type": "image", "image": {"id": "1", "mime_type": "image/png", "caption": "x"}}),
        json!({"type": "reaction", "reaction": {"message_id": "wamid.T", "emoji": "❤️"}}),
        json!({"type": "location", "location": {"latitude": -1.5, "longitude": 2, "name": "L"}}),
        json!({"type": "contacts", "contacts": [{"name": {"formatted_name": "J"}, "phones": []}]}),
        json!({"type": "button", "button": {"payload": "STOP", "text": "Parar"}}),
        json!({"type": "interactive", "interactive": {"type": "list_reply",
            "list_reply": {"id": "1", "title": "x"}}}),
        json!({"type": "edit", "edit": {"original_message_id": "wamid.X",
            "message": {"type": "text", "text": {"body": "novo"}}}}),
        json!({"type": "system", "system": {"type": "user_changed_number", "wa_id": "2"}}),
        json!({"type": "interactive", "interactive": {"type": "nfm_reply",
            "nfm_reply": {"name": "flow", "body": "Sent", "response_json": "{\"a\": [1]}"}}}),
        json!({"type": "interactive", "interactive": {"type": "list", "body": {"text": "x"},
            "action": {"button": "y", "sections": [{"title": "z", "rows": [{"id": "1"}],
                "product_items": [{"product_retailer_id": "2"}]}]}}}),
        json!({"type": "order", "order": {"text": "x", "catalog_id": "1", "product_items": [
            {"product_retailer_id": "2", "quantity": 1, "item_price": 1e-30, "currency": "BRL"},
            {"quantity": "3", "item_price": "4.50", "currency": "BRL"}]}}),
        json!({"type": "text", "text": {"body": "Oi"}, "group_id": "g"}),
        json!({"type": "voice", "voice": {"id": "1"}, "referral": {"source_type": "ad"},
            "context": {"forwarded": true, "referred_product": {"catalog_id": "1"}}}),
        json!({"type": "unsupported", "errors": [{"code": 131_051, "title": "x"}]}),
        json!({"type": "unsupported", "errors": [{"code": 131_060}]}),
        json!({"type": "revoke", "revoke": {"original_message_id": "wamid.X"}}),
        json!({"type": "reaction", "reaction": {"message_id": "wamid.T", "emoji": ""}}),
        json!({"type": "system", "system": {"type": "user_changed_user_id", "user_id": "BR.2"}}),
        json!({"type": "novelty", "novelty": {"text": "x"}}),
    ]
    .into_iter()
    .map(message)
    .collect();
    all.extend([
        own("messages", json!({"statuses": [{"id": "wamid.O", "status": "failed",
            "timestamp": "1760000005", "recipient_id": "1", "biz_opaque_callback_data": REFERENCE,
            "errors": [{"code": 131_050, "title": "x", "error_data": {"details": "y"}}]}],
            "errors": [{"code": 1}]})),
        own("user_preferences", json!({"user_preferences": [{"wa_id": "1", "value": "stop",
            "category": "marketing_messages", "timestamp": 1_760_000_000}]})),
        own("user_id_update", json!({"user_id_update": [{"wa_id": "1",
            "user_id": {"previous": "BR.1", "current": "BR.2"}}]})),
        own("calls", json!({"calls": [{"id": "wacid.1", "from": "1", "event": "terminate",
            "timestamp": "1760000000", "status": "FAILED"}]})),
        own("messages", json!({"novelties": [{"text": "x"}]})),
        own("smb_message_echoes", json!({"message_echoes": [{"from": "551140028922", "to": "1",
            "id": "wamid.E", "timestamp": "1", "type": "text", "text": {"body": "x"}}]})),
        own("history", json!({"history": [{"metadata": {"phase": 0}, "threads": [{"id": "1",
            "messages": [{"from": "551140028922", "to": "1", "id": "wamid.H", "timestamp": "1",
                "type": "text", "text": {"body": "x"}, "history_context": {"status": "READ"}}]}]}]})),
        change("message_template_status_update", &json!({"event": "PAUSED",
            "message_template_name": "p", "message_template_language": "pt_BR"})),
        change("template_category_update", &json!({"message_template_name": "p",
            "message_template_language": "pt_BR", "previous_category": "A", "new_category": "B"})),
    ]);
    all
}

/// How many places a value has: itself and all within.
fn places(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(places).sum(),
        Value::Object(fields) => fields.values().map(places).sum::<usize>(),
        _ => 0,
    }
}

/// The place with this number, in the order of [`places`].
fn place(value: &mut Value, number: usize) -> Option<&mut Value> {
    if number == 0 {
        return Some(value);
    }
    let mut left = number - 1;
    let inner: Vec<&mut Value> = match value {
        Value::Array(items) => items.iter_mut().collect(),
        Value::Object(fields) => fields.values_mut().collect(),
        _ => Vec::new(),
    };
    for inner in inner {
        let size = places(inner);
        if left < size {
            return place(inner, left);
        }
        left -= size;
    }
    None
}

#[derive(Clone, Debug)]
enum Change {
    Replace(Value),
    Nest,
    Repeat,
    Empty,
}

fn strange() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        Just(json!([])),
        Just(json!({})),
        Just(json!("1".repeat(70_000))),
        Just(json!("99999999999999999999999999")),
        Just(json!([[[[{"id": [{}]}]]]])),
    ]
}

fn changes() -> impl Strategy<Value = Vec<(Index, Change)>> {
    let change = prop_oneof![
        3 => strange().prop_map(Change::Replace),
        1 => Just(Change::Nest),
        1 => Just(Change::Repeat),
        1 => Just(Change::Empty),
    ];
    prop::collection::vec((any::<Index>(), change), 1..5)
}

fn mutate(value: &mut Value, changes: &[(Index, Change)]) {
    for (index, change) in changes {
        let number = index.index(places(value));
        let Some(place) = place(value, number) else { continue };
        match change {
            Change::Replace(new) => *place = new.clone(),
            Change::Nest => *place = json!([{"id": place.take()}]),
            Change::Repeat => *place = json!([place.clone(), place.take()]),
            Change::Empty => match place {
                Value::Array(items) => drop(items.pop()),
                Value::Object(fields) => {
                    let first = fields.keys().next().cloned();
                    first.map(|name| fields.remove(&name));
                }
                other => *other = Value::Null,
            },
        }
    }
}

#[test]
fn every_recorded_event_is_readable_as_it_is() {
    for event in recorded() {
        let received = receive(&event);
        assert!(!received.is_empty(), "{event}");
        assert!(received.iter().all(|received| received.event.is_ok()), "{received:?}");
    }
}

proptest! {
    #[test]
    fn no_change_of_a_recorded_event_makes_it_panic(
        which in any::<Index>(),
        changes in changes(),
    ) {
        let all = recorded();
        let mut body = all[which.index(all.len())].clone();
        mutate(&mut body, &changes);
        for received in receive(&body) {
            // What is told to another number is read again by its connection.
            let is_here = match &received.to {
                Addressee::Number(number) => number == NUMBER,
                _ => true,
            };
            let Some(event) = received.event.ok().filter(|_| is_here) else { continue };
            let kept = match &event {
                GatewayEvent::Unknown(report) => Some(&report.body),
                GatewayEvent::Message(told) | GatewayEvent::Echo(told) => told.raw.as_ref(),
                _ => None,
            };
            let again = kept.map(|kept| CloudApi::new().read(&plain(), kept));
            prop_assert!(again.is_none_or(|again| again.contains(&Ok(event.clone()))), "{:?}", event);
        }
    }

    #[test]
    fn a_broken_change_leaves_the_others(which in any::<Index>(), changes in changes()) {
        let all = recorded();
        let mut broken = all[which.index(all.len())]["entry"][0]["changes"][0].clone();
        mutate(&mut broken, &changes);
        let good = json!({"field": "messages", "value": of_number(json!({"messages": [
            {"from": "1", "id": "wamid.GOOD", "type": "text", "text": {"body": "x"}}]}))});
        let received = receive(&json!({"object": "whatsapp_business_account",
            "entry": [{"id": "1", "changes": [broken, good]}]}));
        let last = format!("{:?}", received.last());
        prop_assert!(last.contains("wamid.GOOD"), "{}", last);
    }

    #[test]
    fn no_bytes_make_it_panic(body in prop::collection::vec(any::<u8>(), 0..200)) {
        let webhook = FakeCloud::new().webhook_body(&json!({})).with_body(body);
        prop_assert!(CloudApi::new().receive(&plain(), &webhook.webhook()).is_err());
    }

    #[test]
    fn no_answer_makes_a_call_panic(status in 100..600_u16, changes in changes()) {
        let mut body = json!({"messages": [{"id": "wamid.1", "message_status": "accepted"}],
            "contacts": [{"wa_id": "1", "user_id": "BR.1"}], "url": "https://a.example/x",
            "file_size": 3, "error": {"code": 100, "message": "x", "error_data": {"details": "y"}},
            "data": [{"id": "1", "name": "t", "language": "pt_BR", "status": "APPROVED",
                "components": [{"type": "BODY", "text": "{{1}}"}]}],
            "paging": {"cursors": {"after": "a"}, "next": "https://a.example"}});
        mutate(&mut body, &changes);
        let transport = ScriptedTransport::new();
        transport.otherwise(json_answer(status, &body));
        let connection = connection(json!({ "business_account_id": ACCOUNT }));
        let adapter = CloudApi::new();
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        runtime.block_on(async {
            let _ = send(&transport, &connection, &text("1")).await;
            let _ = adapter.status(&transport, &connection).await;
            let _ = adapter.templates(&transport, &connection).await;
            let _ = adapter.media(&transport, &connection, "cloud-media:1", 10).await;
        });
    }
}
