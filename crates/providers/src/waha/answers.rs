//! Pressed buttons, choices from lists, and filled forms (X2).

use recado_core::gateway::Button;
use recado_core::messages::{Answer, AnswerKind};
use serde_json::Value;

use super::proto::{first, variant};
use super::text;
use crate::shared::{at, native, text as text_of};

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

/// An answer to the newer kinds of offers. A form, and a permission to call, are no buttons.
fn native(reply: &Value) -> Option<Answered> {
    let answer = native::reply(reply).answer;
    let button = match answer.kind {
        AnswerKind::ButtonReply | AnswerKind::ListReply => Some(Button {
            id: answer.id.as_deref().and_then(text::short),
            payload: None,
            title: answer.title.as_deref().and_then(text::short),
        }),
        _ => None,
    };
    let says_any = answer.id.is_some() || answer.title.is_some() || answer.response.is_some();
    says_any.then_some(Answered { button, answer })
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
