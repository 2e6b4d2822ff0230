//! Kinds that do not exist yet: none is dropped, and what is kept of them can be read again (X9).

use recado_core::gateway::{GatewayEvent, Incoming, Provider};
use recado_core::messages::MessageType;
use recado_providers::cloud_api::CloudApi;
use serde_json::{Value, json};

use crate::support::*;

/// What is kept of an event that was not understood; nothing of another.
fn kept(event: &GatewayEvent) -> Option<&Value> {
    match event {
        GatewayEvent::Unknown(report) => Some(&report.body),
        GatewayEvent::Message(message) | GatewayEvent::Echo(message) => {
            assert_eq!(message.message_type, MessageType::Unsupported);
            message.raw.as_ref()
        }
        _ => None,
    }
}

fn is_kept(event: &Incoming) {
    let event = event.as_ref().expect("readable");
    let body = kept(event).unwrap_or_else(|| panic!("nothing is kept of {event:?}"));
    let again = CloudApi::new().read(&plain(), body);
    assert_eq!(again, [Ok(event.clone())], "it is read again as it was");
}

/// An invented body with words in it.
fn body(n: usize) -> Value {
    json!({"text": {"body": format!("Olá {n}")}, "list": [n, {"deep": {"words": "Oi"}}]})
}

/// The changes of invented kind number `n`: of a message, of a list, of a field.
fn invented(n: usize) -> (&'static str, Value) {
    let kind = format!("novelty_{n}");
    let mut message = json!({"from": "553491234567", "id": format!("wamid.{n}"), "type": kind,
        "timestamp": "1760000000", (kind.clone()): body(n)});
    let contacts = json!([maria(), {"wa_id": "1", "user_id": "BR.9"}]);
    match n % 9 {
        0 | 1 => ("messages", json!({"messages": [message], "contacts": contacts})),
        2 => ("messages", json!({"messages": [message], "contacts": [maria()]})),
        3 => {
            message["to"] = "553491234567".into();
            ("smb_message_echoes", json!({"message_echoes": [message], "contacts": contacts}))
        }
        4 => {
            let thread = json!({"id": "553491234567", "messages": [message]});
            ("history", json!({"history": [{"threads": [thread]}], "contacts": contacts}))
        }
        5 => {
            message["type"] = "system".into();
            message["system"] = json!({"type": kind, "body": "Oi"});
            ("messages", json!({"messages": [message]}))
        }
        6 => ("messages", json!({ kind: [body(n)] })),
        7 => {
            let status = json!({"id": "wamid.O", "status": kind, "recipient_id": "553491234567"});
            ("messages", json!({"statuses": [status], "contacts": contacts}))
        }
        _ => (
            "user_preferences",
            json!({"user_preferences": [{"wa_id": "1", "category": kind,
            "value": "stop"}], "contacts": contacts}),
        ),
    }
}

/// X9.
#[test]
fn two_hundred_kinds_of_the_future_are_kept_and_read_again() {
    for n in 0..200 {
        let (field, value) = invented(n);
        let told = events(field, value);
        assert_eq!(told.len(), 1, "{n}: {told:?}");
        is_kept(&told[0]);
        let other = receive(&change(&format!("novelty_{n}"), &body(n)));
        assert_eq!(other.len(), 1, "{n}");
        is_kept(&other[0].event);
    }
    let object = receive(&json!({"object": "novelty", "entry": [body(1)]}));
    is_kept(&object[0].event);
    let entry = receive(&json!({"object": "whatsapp_business_account", "entry": [body(1)]}));
    is_kept(&entry[0].event);
}

/// X9: the others of a call are not kept with it.
#[test]
fn what_is_kept_of_a_message_is_its_own() {
    let known = json!({"from": "1", "id": "wamid.K", "type": "text", "text": {"body": "Segredo"}});
    let new = json!({"from": "553491234567", "id": "wamid.N", "type": "novelty", "novelty": {}});
    let others = json!([{"wa_id": "1", "profile": {"name": "Outro"}}, maria()]);
    let told = events("messages", json!({"messages": [known, new], "contacts": others}));
    let raw = match &told[1] {
        Ok(GatewayEvent::Message(message)) => message.raw.clone().expect("it is kept"),
        other => panic!("{other:?}"),
    };
    assert_eq!((&raw["field"], &raw["value"]["messages"]), (&json!("messages"), &json!([new])));
    assert_eq!(raw["value"]["contacts"], json!([maria()]));
    assert_eq!(raw["value"]["metadata"]["phone_number_id"], NUMBER);
    assert!(!raw.to_string().contains("Segredo") && !raw.to_string().contains("Outro"));
}

/// X9: nothing that was understood is kept twice.
#[test]
fn what_is_understood_has_nothing_kept() {
    assert_eq!(message(json!({"type": "text", "text": {"body": "Oi"}})).raw, None);
}

/// X9, D68: a kept call may be about several numbers; each connection is told its own part.
#[test]
fn what_is_read_again_is_that_of_the_connections_own_number() {
    let said = |number: &str, id: &str| {
        json!({"field": "messages", "value": {"messaging_product": "whatsapp",
            "metadata": {"display_phone_number": "551140028922", "phone_number_id": number},
            "messages": [{"from": "553491234567", "id": id, "timestamp": "1760000000",
                "type": "text", "text": {"body": "Oi"}}]}})
    };
    let changes = [said(NUMBER, "wamid.OURS"), said("999", "wamid.THEIRS")];
    let call = json!({"object": "whatsapp_business_account",
        "entry": [{"id": ACCOUNT, "time": 1_760_000_000, "changes": changes}]});
    assert_eq!(receive(&call).len(), 2);
    let told = CloudApi::new().read(&plain(), &call);
    match told.as_slice() {
        [Ok(GatewayEvent::Message(message))] => {
            assert_eq!(message.provider_id.as_str(), "wamid.OURS");
        }
        other => panic!("{other:?}"),
    }
}

/// X9: a change alone is what is kept of one; a call of that form is read the same each time.
#[test]
fn a_change_alone_is_told_as_it_is_read_again() {
    let value = json!({"metadata": {"phone_number_id": NUMBER}, "messages": [
        {"from": "553491234567", "id": "wamid.1", "type": "text", "text": {"body": "Oi"}}]});
    let known = json!({"field": "messages", "value": value});
    for change in [json!({"field": "of_the_future"}), known] {
        let told: Vec<_> = receive(&change).into_iter().map(|received| received.event).collect();
        assert_eq!(told.len(), 1, "{told:?}");
        assert_eq!(CloudApi::new().read(&plain(), &change), told, "{change}");
    }
    let foreign = json!({"object": "instagram", "field": "messages"});
    let told: Vec<_> = receive(&foreign).into_iter().map(|received| received.event).collect();
    assert_eq!(CloudApi::new().read(&plain(), &foreign), told);
}
