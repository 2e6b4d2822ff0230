//! Answers to what was offered: pressed buttons, choices of lists, filled forms.

use recado_core::gateway::Button;
use recado_core::messages::{Answer, AnswerKind, Interactive, MessageType};
use serde_json::Value;

use super::body::MessageContent;
use super::values::{filled, long, text_in};
use crate::shared::{at, parse, text, text_at};

/// Names of choices of lists among the answers of the newer kind.
const CHOICES: &[&str] = &["menu_options", "single_select", "list_reply"];
/// Names of forms among them; they may have a field `id`.
const FORMS: &[&str] = &["flow", "galaxy_message", "address_message"];
/// Names of the answer whether the company may call.
const CALLS: &[&str] = &["call_permission_request", "call_permission_reply"];

/// The press of a button beneath a message.
pub(super) fn button(part: &Value) -> MessageContent {
    pressed(text(part, "selectedButtonId"), text(part, "selectedDisplayText"))
}

/// The press of a button of a template.
pub(super) fn template(part: &Value) -> MessageContent {
    pressed(text(part, "selectedId"), text(part, "selectedDisplayText"))
}

fn pressed(id: Option<&str>, title: Option<&str>) -> MessageContent {
    let (id, title) = (kept(id), kept(title));
    let button = Button { id: id.clone(), payload: None, title: title.clone() };
    answer(button, Answer { id, title, ..Answer::new(AnswerKind::ButtonReply) })
}

/// A choice of a list.
pub(super) fn list(part: &Value) -> MessageContent {
    let id = kept(text_at(part, &["singleSelectReply", "selectedRowId"]));
    let (title, description) = (text_in(part, &["title"]), text_in(part, &["description"]));
    let called = title.clone().or_else(|| description.clone());
    let button = Button { id: id.clone(), payload: None, title: called };
    answer(button, Answer { id, title, description, ..Answer::new(AnswerKind::ListReply) })
}

/// An answer of the newer kind, with parameters as JSON in a text: buttons, lists, forms.
pub(super) fn interactive(part: &Value) -> MessageContent {
    let flow = at(part, &["nativeFlowResponseMessage"]).unwrap_or(&Value::Null);
    let name = filled(flow, "name");
    let written = filled(flow, "paramsJson");
    let parameters = written.and_then(|json| parse(json.as_bytes())).unwrap_or_default();
    let id = text_in(&parameters, &["id"]);
    let body = text_in(part, &["body", "text"]);
    let named = || ["title", "display_text"].iter().find_map(|name| text_in(&parameters, &[name]));
    let button = Button {
        id: id.clone().or_else(|| name.map(long)),
        payload: written.map(long),
        title: body.clone().or_else(named),
    };
    let says_more = match (&parameters, written) {
        (Value::Object(fields), _) => !fields.is_empty() && named().is_none(),
        (_, written) => written.is_some(),
    };
    let is = |names: &[&str]| name.is_some_and(|name| names.contains(&name));
    let response = || match (&parameters, written) {
        (Value::Object(_), _) => Some(parameters.clone()),
        (_, written) => written.map(|raw| Value::String(long(raw))),
    };
    let told = if is(CALLS) {
        let response = response();
        Answer { id, title: body, response, ..Answer::new(AnswerKind::CallPermissionReply) }
    } else if is(FORMS) || (id.is_none() && says_more) {
        Answer { title: body, response: response(), ..Answer::new(AnswerKind::FlowReply) }
    } else {
        let kind = if is(CHOICES) { AnswerKind::ListReply } else { AnswerKind::ButtonReply };
        let description = text_in(&parameters, &["description"]).filter(|_| is(CHOICES));
        let (id, title) = (id.or_else(|| name.map(long)), body.or_else(named));
        Answer { id, title, description, ..Answer::new(kind) }
    };
    answer(button, told)
}

fn kept(text: Option<&str>) -> Option<String> {
    text.map(long).filter(|text| !text.is_empty())
}

fn answer(button: Button, answer: Answer) -> MessageContent {
    let answer = Interactive::Answer(answer);
    MessageContent {
        button: Some(button),
        ..MessageContent::interactive(MessageType::Interactive, answer)
    }
}
