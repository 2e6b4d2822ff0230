//! The content of messages, by type (D27, D31a).

use recado_core::gateway::{Button, EventMedia};
use recado_core::messages::{Blocks, MessageType};
use recado_core::text::{MESSAGE, SHORT};
use serde_json::Value;

use super::cards;
use super::media;
use super::people::plain_name;
use crate::shared::{at, prose, text, text_at, word};

/// The content of a message.
pub(super) struct MessageContent {
    pub(super) message_type: MessageType,
    pub(super) content: Option<String>,
    pub(super) media: Option<EventMedia>,
    pub(super) blocks: Blocks,
    pub(super) button: Option<Button>,
    /// The message it refers to, if that is not in its context.
    pub(super) answers: Option<String>,
}

impl MessageContent {
    fn new(message_type: MessageType, content: Option<String>) -> Self {
        let content = content.filter(|content| !content.is_empty());
        Self {
            message_type,
            content,
            media: None,
            blocks: Blocks::default(),
            button: None,
            answers: None,
        }
    }

    /// What the blocks hold; the core puts them in words (X4).
    pub(super) fn of(message_type: MessageType, blocks: Blocks) -> Self {
        Self { blocks, ..Self::new(message_type, None) }
    }

    fn pressed(button: Button) -> Self {
        let content = button.title.clone();
        Self { button: Some(button), ..Self::new(MessageType::Interactive, content) }
    }
}

/// Reads a message. A message of an unknown type, or without the form of its type, becomes
/// [`MessageType::Unsupported`], so that no message is lost.
pub(super) fn read(message: &Value) -> MessageContent {
    let kind = text(message, "type").unwrap_or_default();
    let unsupported = || MessageContent::new(MessageType::Unsupported, None);
    let Some(body) = at(message, &[kind]) else { return unsupported() };
    match kind {
        "text" => match text(body, "body") {
            Some(written) => MessageContent::new(MessageType::Text, Some(prose(written))),
            None => unsupported(),
        },
        "image" => file(MessageType::Image, body),
        "audio" => file(MessageType::Audio, body),
        "video" => file(MessageType::Video, body),
        "document" => file(MessageType::Document, body),
        "sticker" => file(MessageType::Sticker, body),
        "location" => match cards::location(body) {
            Some(place) => {
                let blocks = Blocks { location: Some(place), ..Blocks::default() };
                MessageContent::of(MessageType::Location, blocks)
            }
            None => unsupported(),
        },
        "contacts" => match cards::cards(body) {
            Some(cards) => {
                let blocks = Blocks { shared_contacts: Some(cards), ..Blocks::default() };
                MessageContent::of(MessageType::Contacts, blocks)
            }
            None => unsupported(),
        },
        "reaction" => MessageContent {
            answers: text(body, "message_id").map(str::to_owned),
            ..MessageContent::new(MessageType::Reaction, text(body, "emoji").map(prose))
        },
        "button" => MessageContent::pressed(Button {
            id: None,
            payload: text(body, "payload").and_then(pressed),
            title: text(body, "text").and_then(pressed),
        }),
        "interactive" => interactive(body).unwrap_or_else(unsupported),
        // There is no type for orders; the text of the order is kept.
        "order" => MessageContent::new(MessageType::Unsupported, text(body, "text").map(prose)),
        _ => unsupported(),
    }
}

/// A field that holds a text or a number, as a person's text; `None` if nothing is left of it.
pub(super) fn words(value: &Value, name: &str) -> Option<String> {
    let written = word(value, name)?;
    let kept = prose(written.trim());
    (!kept.is_empty()).then_some(kept)
}

/// Whether a reaction was removed, which makes no message.
pub(super) fn is_taken_back(reaction: &Value) -> bool {
    let body = at(reaction, &["reaction"]).filter(|body| body.is_object());
    body.is_some_and(|body| text(body, "emoji").is_none_or(|emoji| prose(emoji).is_empty()))
}

/// The title or payload of a button.
fn pressed(text: &str) -> Option<String> {
    let kept: String = prose(text).chars().take(MESSAGE).collect();
    (!kept.is_empty()).then_some(kept)
}

fn file(message_type: MessageType, body: &Value) -> MessageContent {
    let words = |name| text(body, name).map(prose).filter(|text| !text.is_empty());
    let brief = |name| words(name).map(|text| text.chars().take(SHORT).collect());
    let by_id = word(body, "id").and_then(|id| plain_name(&id)).map(|id| media::source(&id));
    let is_address = |url: &&str| url.starts_with("https://") || url.starts_with("http://");
    let media = EventMedia {
        url: by_id.or_else(|| text(body, "url").filter(is_address).map(media::source_at)),
        mimetype: brief("mime_type"),
        filename: brief("filename"),
        caption: words("caption"),
    };
    MessageContent { media: Some(media), ..MessageContent::new(message_type, None) }
}

/// The reply to an interactive message, or the text of one that the operator sent.
fn interactive(body: &Value) -> Option<MessageContent> {
    let kind = text(body, "type")?;
    let words = |location: &Value, name: &str| pressed(text(location, name)?);
    match kind {
        "button_reply" | "list_reply" => {
            let reply = at(body, &[kind])?;
            Some(MessageContent::pressed(Button {
                id: words(reply, "id"),
                payload: None,
                title: words(reply, "title"),
            }))
        }
        "nfm_reply" => {
            let reply = at(body, &[kind])?;
            Some(MessageContent::pressed(Button {
                id: words(reply, "name"),
                payload: words(reply, "response_json"),
                title: words(reply, "body"),
            }))
        }
        _ => {
            let shown = text_at(body, &["body", "text"])?;
            Some(MessageContent::new(MessageType::Interactive, Some(prose(shown))))
        }
    }
}
