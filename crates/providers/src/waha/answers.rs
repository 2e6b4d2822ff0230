//! Pressed buttons, choices from lists, and filled forms (X2).

use recado_core::gateway::Button;
use recado_core::messages::{Answer, AnswerKind};
use serde_json::Value;

use super::proto::{first, variant};
use super::text;
use crate::shared::{at, parse, text as text_of, text_at};

/// The names of answers that are forms.
const FORMS: [&str; 2] = ["flow", "galaxy_message"];

/// What a person answered to an offer.
pub(super) struct Answered {
    /// The button; a form has none.
    pub(super) button: Option<Button>,
    /// The same, as blocks have it.
    pub(super) answer: Answer,
}

/// The answer in a message.
pub(super) fn answered(payload: &Value, proto: Option<&Value>) -> Option<Answered> {
    proto.and_then(in_proto).or_else(|| in_browser(payload))
}

fn chosen(
    kind: AnswerKind,
    id: Option<&str>,
    title: Option<&str>,
    description: Option<&str>,
) -> Option<Answered> {
    let button =
        Button { id: id.and_then(text::short), payload: None, title: title.and_then(text::short) };
    let full = |text: &str| text::long(text.trim());
    let answer = Answer {
        id: id.and_then(full),
        title: title.and_then(full),
        description: description.and_then(full),
        ..Answer::new(kind)
    };
    let is_any = answer.id.is_some() || answer.title.is_some();
    is_any.then_some(Answered { button: Some(button), answer })
}

fn in_proto(proto: &Value) -> Option<Answered> {
    if let Some(reply) = at(proto, &["buttonsResponseMessage"]) {
        let title = variant(reply, "selectedDisplayText").and_then(Value::as_str);
        let id = first(reply, &["selectedButtonId", "selectedButtonID"]);
        return chosen(AnswerKind::ButtonReply, id, title, None);
    }
    if let Some(reply) = at(proto, &["templateButtonReplyMessage"]) {
        let id = first(reply, &["selectedId", "selectedID"]);
        return chosen(AnswerKind::ButtonReply, id, first(reply, &["selectedDisplayText"]), None);
    }
    if let Some(reply) = at(proto, &["listResponseMessage"]) {
        let id = reply.get("singleSelectReply").and_then(row_id);
        let (title, description) = (first(reply, &["title"]), first(reply, &["description"]));
        return chosen(AnswerKind::ListReply, id, title, description);
    }
    native(at(proto, &["interactiveResponseMessage"])?)
}

fn row_id(chosen: &Value) -> Option<&str> {
    first(chosen, &["selectedRowId", "selectedRowID"])
}

/// An answer to the newer kinds of offers, whose details are JSON in a text.
fn native(reply: &Value) -> Option<Answered> {
    let title = text_at(reply, &["body", "text"]);
    let details = variant(reply, "nativeFlowResponseMessage");
    let name = details.and_then(|details| text_of(details, "name")).unwrap_or_default();
    let written = details.and_then(|details| first(details, &["paramsJson", "paramsJSON"]));
    let read = written.and_then(|json| parse(json.as_bytes()));
    let id = read.as_ref().and_then(|read| first(read, &["id"]));
    let fields = read.as_ref().and_then(Value::as_object);
    let named = || first(read.as_ref()?, &["display_text", "title"]);
    let says_more = fields.is_some_and(|fields| !fields.is_empty()) && named().is_none();
    if FORMS.contains(&name) || (id.is_none() && says_more) {
        let raw = || written.map(|text| Value::String(text.to_owned()));
        let response = read.filter(Value::is_object).or_else(raw);
        let title = title.and_then(|title| text::long(title.trim()));
        let answer = Answer { title, response, ..Answer::new(AnswerKind::FlowReply) };
        return Some(Answered { button: None, answer });
    }
    let title = title.or_else(named);
    let description = read.as_ref().and_then(|read| first(read, &["description"]));
    let kind = match name {
        "single_select" | "menu_options" => AnswerKind::ListReply,
        _ => AnswerKind::ButtonReply,
    };
    chosen(kind, id, title, description)
}

fn in_browser(payload: &Value) -> Option<Answered> {
    let data = payload.get("_data")?;
    let (kind, ids): (_, &[&str]) = match text_of(data, "type")? {
        "buttons_response" => (AnswerKind::ButtonReply, &["selectedButtonId"]),
        "template_button_reply" => (AnswerKind::ButtonReply, &["selectedId", "selectedButtonId"]),
        "list_response" => (AnswerKind::ListReply, &["selectedRowId"]),
        _ => return None,
    };
    let list = at(data, &["listResponse"]);
    let id = first(data, ids).or_else(|| row_id(at(list?, &["singleSelectReply"])?));
    let description = list.and_then(|list| first(list, &["description"]));
    chosen(kind, id, text_of(payload, "body"), description)
}
