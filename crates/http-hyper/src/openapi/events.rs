//! What outbound webhooks receive (6.1): the `webhooks` of the document.

use std::collections::BTreeMap;

use recado_core::event_schemas;
use recado_core::events::EventType;
use serde_json::{Map, Value, json};

use super::operation::complete;

/// A POST to the subscriber for each event, whose body is added to `schemas` with all that it
/// refers to (R277, D52).
pub(super) fn webhooks(schemas: &mut BTreeMap<String, Value>) -> Value {
    let hooks = EventType::ALL.iter().map(|event| {
        let mut components = Vec::new();
        let data = event_schemas::data(*event, &mut components);
        for (name, schema) in components {
            let mut schema = serde_json::to_value(schema).expect("a schema is JSON");
            complete(&name, &mut schema);
            schemas.insert(name, schema);
        }
        let name = component(*event);
        schemas.insert(name.clone(), body(*event, data.into_value()));
        (event.as_str().to_owned(), json!({"post": operation(*event, &name)}))
    });
    hooks.collect::<Map<String, Value>>().into()
}

/// The data of all events that the journal lists.
pub(super) fn journal_data() -> Value {
    let of = |event| event_schemas::data(event, &mut Vec::new()).into_value();
    let mut forms: Vec<Value> = EventType::public().map(of).collect();
    forms.push(json!({"type": "null"}));
    forms.into()
}

trait IntoValue {
    fn into_value(self) -> Value;
}

impl IntoValue for recado_core::openapi::Property {
    fn into_value(self) -> Value {
        serde_json::to_value(self).expect("a schema is JSON")
    }
}

/// `MessageReceivedEvent` of `message.received`.
fn component(event: EventType) -> String {
    let words = event.as_str().split(['.', '_']).map(|word| {
        let (first, rest) = word.split_at(1);
        first.to_uppercase() + rest
    });
    words.chain(["Event".to_owned()]).collect()
}

fn body(event: EventType, data: Value) -> Value {
    let mut body = event_schemas::envelope().into_value();
    complete("Envelope", &mut body);
    body["description"] = format!("The body of a delivery of `{}`.", event.as_str()).into();
    let properties = &mut body["properties"];
    let about = properties["event"]["description"].take();
    properties["event"] = json!({"type": "string", "const": event.as_str(), "description": about});
    properties["data"] = data;
    properties["data"]["description"] = "What is reported.".into();
    body
}

fn operation(event: EventType, component: &str) -> Value {
    let text = |name: &str, about: &str| {
        json!({"name": name, "in": "header", "required": true, "description": about,
            "schema": {"type": "string"}})
    };
    let cause = match event.is_public() {
        true => "Posted to every active webhook that has subscribed to the event.",
        false => "Posted to one webhook, because an operator tests it.",
    };
    json!({
        "operationId": format!("on{}", component.trim_end_matches("Event")),
        "summary": format!("The event {}", event.as_str()),
        "description": format!("{cause} The same delivery can come more than once; its body is the \
            same, byte for byte."),
        "tags": ["webhooks"],
        "security": [],
        "parameters": [
            text("X-Service-Event", "The event."),
            text("X-Service-Delivery", "The delivery: the same in every attempt."),
            text(
                "X-Service-Signature",
                "`sha256=` and the HMAC-SHA256 of the raw body with the webhook's secret, in \
                 lower-case hexadecimal.",
            ),
        ],
        "requestBody": {
            "required": true,
            "content": {"application/json": {
                "schema": {"$ref": format!("#/components/schemas/{component}")},
            }},
        },
        "responses": {
            "2XX": {"description": "The event is safe. Any other status is a failure, and the \
                delivery is tried again."},
        },
    })
}
