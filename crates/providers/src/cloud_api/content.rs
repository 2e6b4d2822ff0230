//! The content of messages, by type (D27, D31a).

use recado_core::gateway::{Button, EventMedia};
use recado_core::messages::{Blocks, MessageType};
use recado_core::text::SHORT;
use serde_json::Value;

use super::people::plain_name;
use super::{cards, commerce, interactive, media};
use crate::shared::{at, prose, text, word};

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
}

/// Reads a message. A message of an unknown type, or without the form of its type, becomes
/// [`MessageType::Unsupported`], so that no message is lost.
pub(super) fn read(message: &Value) -> MessageContent {
    let kind = text(message, "type").unwrap_or_default();
    let known = at(message, &[kind]).and_then(|body| known(kind, body));
    known.unwrap_or_else(|| MessageContent::new(MessageType::Unsupported, None))
}

fn known(kind: &str, body: &Value) -> Option<MessageContent> {
    let blocks = Blocks::default;
    let content = match kind {
        "text" => MessageContent::new(MessageType::Text, Some(prose(text(body, "body")?))),
        "image" => file(MessageType::Image, body),
        "audio" => file(MessageType::Audio, body),
        "video" => file(MessageType::Video, body),
        "document" => file(MessageType::Document, body),
        "sticker" => file(MessageType::Sticker, body),
        "location" => {
            let location = Some(cards::location(body)?);
            MessageContent::of(MessageType::Location, Blocks { location, ..blocks() })
        }
        "contacts" => {
            let shared_contacts = Some(cards::cards(body)?);
            MessageContent::of(MessageType::Contacts, Blocks { shared_contacts, ..blocks() })
        }
        "order" => {
            let order = Some(commerce::order(body)?);
            MessageContent::of(MessageType::Order, Blocks { order, ..blocks() })
        }
        "reaction" => MessageContent {
            answers: text(body, "message_id").map(str::to_owned),
            ..MessageContent::new(MessageType::Reaction, text(body, "emoji").map(prose))
        },
        "button" => interactive::quick_reply(body),
        "interactive" => interactive::read(body)?,
        _ => return None,
    };
    Some(content)
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
