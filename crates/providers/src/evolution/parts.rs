//! The kinds of messages that are more than text: files, places, cards, reactions, answers.

use recado_core::gateway::{Button, EventMedia};
use recado_core::messages::MessageType;
use serde_json::Value;

use super::body::{MessageContent, Quote};
use super::media::SOURCE;
use super::values::{filled, long, message_id, short};
use crate::shared::{array, at, text, text_at};

/// The most bytes of a file's address.
const MAX_URL: usize = 4_096;

/// A file with its caption.
pub(super) fn file(message_type: MessageType, part: &Value) -> MessageContent {
    let name = filled(part, "fileName").or_else(|| filled(part, "title")).and_then(short);
    let media = EventMedia {
        url: None,
        mimetype: filled(part, "mimetype").and_then(short),
        filename: name.filter(|_| message_type == MessageType::Document),
        caption: filled(part, "caption").map(long),
    };
    MessageContent { media: Some(media), ..MessageContent::of(message_type) }
}

/// The source of a file: the address where the gateway stored it, or the message's id.
pub(super) fn media_source(locations: &[&Value], id: Option<&str>) -> Option<String> {
    let is_address = |url: &&str| {
        let web = url.starts_with("https://") || url.starts_with("http://");
        web && url.len() <= MAX_URL && !url.chars().any(char::is_control)
    };
    let stored =
        locations.iter().find_map(|location| text(location, "mediaUrl")).filter(is_address);
    stored.map(str::to_owned).or_else(|| id.map(|id| format!("{SOURCE}{id}")))
}

/// A place: `lat,lng name` (D31a).
pub(super) fn location(part: &Value) -> MessageContent {
    let number = |name| part.get(name).filter(|value| value.is_number()).map(Value::to_string);
    let point = number("degreesLatitude").zip(number("degreesLongitude"));
    let name = filled(part, "name").or_else(|| filled(part, "address"));
    let name = name.or_else(|| filled(part, "caption"));
    let content = match (point, name) {
        (Some((lat, lng)), Some(name)) => Some(format!("{lat},{lng} {name}")),
        (Some((lat, lng)), None) => Some(format!("{lat},{lng}")),
        (None, name) => name.map(str::to_owned),
    };
    MessageContent::saying(MessageType::Location, content.as_deref())
}

/// Address cards: their names.
pub(super) fn contacts(part: &Value) -> MessageContent {
    let cards = array(part, "contacts");
    let names: Vec<&str> = if cards.is_empty() {
        filled(part, "displayName").into_iter().collect()
    } else {
        cards.iter().filter_map(|card| filled(card, "displayName")).collect()
    };
    MessageContent::saying(MessageType::Contacts, Some(&names.join(", ")))
}

/// A reaction: its emoji, quoting the message that it is about; `None` for a removed one.
pub(super) fn reaction(part: &Value) -> Option<MessageContent> {
    let emoji = filled(part, "text")?;
    let quoted =
        Quote { id: part.get("key").and_then(|key| message_id(key, "id")), ..Quote::default() };
    Some(MessageContent { quoted, ..MessageContent::saying(MessageType::Reaction, Some(emoji)) })
}

/// The press of a button beneath a message.
pub(super) fn button_reply(part: &Value) -> MessageContent {
    pressed(text(part, "selectedButtonId"), text(part, "selectedDisplayText"), None)
}

/// The press of a button of a template.
pub(super) fn template_reply(part: &Value) -> MessageContent {
    pressed(text(part, "selectedId"), text(part, "selectedDisplayText"), None)
}

/// A choice of a list.
pub(super) fn list_reply(part: &Value) -> MessageContent {
    let title = filled(part, "title").or_else(|| filled(part, "description"));
    pressed(text_at(part, &["singleSelectReply", "selectedRowId"]), title, None)
}

/// An answer to a message with forms or buttons of the newer kind.
pub(super) fn interactive_reply(part: &Value) -> MessageContent {
    let flow = at(part, &["nativeFlowResponseMessage"]);
    let written = flow.and_then(|flow| filled(flow, "paramsJson"));
    let parameters: Option<Value> = written.and_then(|json| serde_json::from_str(json).ok());
    let id = parameters.as_ref().and_then(|parameters| filled(parameters, "id"));
    let id = id.or_else(|| flow.and_then(|flow| filled(flow, "name")));
    pressed(id, text_at(part, &["body", "text"]), written)
}

fn pressed(id: Option<&str>, title: Option<&str>, payload: Option<&str>) -> MessageContent {
    let kept = |text: Option<&str>| text.map(long).filter(|text| !text.is_empty());
    let button = Button { id: kept(id), payload: kept(payload), title: kept(title) };
    MessageContent {
        button: Some(button),
        ..MessageContent::saying(MessageType::Interactive, title)
    }
}
