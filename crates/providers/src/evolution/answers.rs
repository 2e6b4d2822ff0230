//! Answers to what was offered: pressed buttons, choices of lists, filled forms.

use recado_core::gateway::Button;
use recado_core::messages::{Answer, AnswerKind, Interactive, MessageType};
use serde_json::Value;

use super::body::MessageContent;
use super::values::{long, text_in};
use crate::shared::{native, text, text_at};

/// The press of a button beneath a message.
pub(super) fn button(part: &Value) -> Option<MessageContent> {
    pressed(text(part, "selectedButtonId"), text(part, "selectedDisplayText"))
}

/// The press of a button of a template.
pub(super) fn template(part: &Value) -> Option<MessageContent> {
    pressed(text(part, "selectedId"), text(part, "selectedDisplayText"))
}

fn pressed(id: Option<&str>, title: Option<&str>) -> Option<MessageContent> {
    let (id, title) = (kept(id), kept(title));
    let button = Button { id: id.clone(), payload: None, title: title.clone() };
    answer(button, Answer { id, title, ..Answer::new(AnswerKind::ButtonReply) })
}

/// A choice of a list.
pub(super) fn list(part: &Value) -> Option<MessageContent> {
    let id = kept(text_at(part, &["singleSelectReply", "selectedRowId"]));
    let (title, description) = (text_in(part, &["title"]), text_in(part, &["description"]));
    let called = title.clone().or_else(|| description.clone());
    let button = Button { id: id.clone(), payload: None, title: called };
    answer(button, Answer { id, title, description, ..Answer::new(AnswerKind::ListReply) })
}

/// An answer of the newer kind: buttons, lists, forms. Its button has the parameters as they are
/// written.
pub(super) fn interactive(part: &Value) -> Option<MessageContent> {
    let native::NativeReply { answer: told, name, written } = native::reply(part);
    let button = Button {
        id: told.id.clone().or_else(|| name.map(long)),
        payload: written.map(long),
        title: told.title.clone(),
    };
    answer(button, told)
}

fn kept(text: Option<&str>) -> Option<String> {
    text.map(long).filter(|text| !text.is_empty())
}

/// The answer; `None` if nothing of it can be read.
fn answer(button: Button, answer: Answer) -> Option<MessageContent> {
    let says_any =
        [&answer.id, &answer.title, &answer.description].into_iter().any(Option::is_some);
    if !says_any && answer.response.is_none() {
        return None;
    }
    let answer = Interactive::Answer(answer);
    Some(MessageContent {
        button: Some(button),
        ..MessageContent::interactive(MessageType::Interactive, answer)
    })
}
