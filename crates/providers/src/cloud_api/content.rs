//! The content of messages, by type (D27, D31a).

use recado_core::gateway::{Button, EventMedia};
use recado_core::messages::{
    Blocks, Forwarded, MessageType, Reaction, SystemKind, SystemNotice, Unsupported,
};
use recado_core::text::SHORT;
use serde_json::Value;

use super::message::Author;
use super::people::plain_name;
use super::{cards, commerce, interactive, media, status};
use crate::shared::texts::text_of_unknown;
use crate::shared::{array, at, prose, text, word};

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
pub(super) fn read(message: &Value, side: Author) -> MessageContent {
    let kind = text(message, "type").unwrap_or_default();
    let known = match kind {
        // A file of the history, which has no body.
        "media_placeholder" => {
            Some(MessageContent::of(MessageType::System, notice(SystemKind::FileMissing, None)))
        }
        _ => at(message, &[kind]).and_then(|body| known(kind, body)),
    };
    // Only the operator's offers need no answer to be understood.
    let known = known.filter(|it| side == Author::Phone || !interactive::is_other(&it.blocks));
    let mut content = known.unwrap_or_else(|| unsupported(message, kind));
    let context = at(message, &["context"]).unwrap_or(&Value::Null);
    let product = at(context, &["referred_product"]).and_then(commerce::product);
    content.blocks.product = content.blocks.product.or(product);
    content.blocks.referral = at(message, &["referral"]).and_then(commerce::referral);
    content.blocks.forwarded = forwarded(context);
    content
}

fn forwarded(context: &Value) -> Option<Forwarded> {
    let is = |name: &str| context.get(name).and_then(Value::as_bool) == Some(true);
    match (is("frequently_forwarded"), is("forwarded")) {
        (true, _) => Some(Forwarded::Often),
        (false, true) => Some(Forwarded::Once),
        (false, false) => None,
    }
}

/// What nobody can show, with the text that it has (X9).
fn unsupported(message: &Value, kind: &str) -> MessageContent {
    let within = |path: &[&str]| {
        let (field, path) = path.split_last()?;
        words(at(message, path)?, field)
    };
    let texts =
        || [&["text", "body"][..], &["body"], &["caption"]].iter().find_map(|it| within(it));
    let content = at(message, &[kind]).and_then(text_of_unknown).or_else(texts);
    let named = within(&["unsupported", "type"]).filter(|_| kind == "unsupported");
    let unsupported = Unsupported {
        reason: array(message, "errors").first().and_then(status::reported),
        provider_type: named.or_else(|| words(message, "type")),
    };
    let blocks = Blocks { unsupported: Some(unsupported), ..Blocks::default() };
    MessageContent { blocks, ..MessageContent::new(MessageType::Unsupported, content) }
}

fn known(kind: &str, body: &Value) -> Option<MessageContent> {
    let blocks = Blocks::default;
    let content = match kind {
        "text" => MessageContent::new(MessageType::Text, Some(prose(text(body, "body")?))),
        "image" => file(MessageType::Image, body),
        "audio" => {
            let is_voice = body.get("voice").and_then(Value::as_bool) == Some(true);
            voiced(file(MessageType::Audio, body), is_voice)
        }
        // What older versions of the API call a voice note.
        "voice" => voiced(file(MessageType::Audio, body), true),
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
        // Without an emoji it was withdrawn (X7).
        "reaction" if body.is_object() => {
            let (emoji, target) = (words(body, "emoji"), words(body, "message_id"));
            let reaction = Reaction { emoji, provider_message_id: target, message_id: None };
            MessageContent {
                content: reaction.emoji.clone(),
                answers: reaction.provider_message_id.clone(),
                ..MessageContent::of(
                    MessageType::Reaction,
                    Blocks { reaction: Some(reaction), ..blocks() },
                )
            }
        }
        "button" => interactive::quick_reply(body)?,
        "interactive" => interactive::read(body)?,
        _ => return None,
    };
    Some(content)
}

fn voiced(content: MessageContent, is_voice: bool) -> MessageContent {
    MessageContent { blocks: Blocks { is_voice, ..content.blocks }, ..content }
}

/// A field that holds a text or a number, as a person's text; `None` if nothing is left of it.
pub(super) fn words(value: &Value, name: &str) -> Option<String> {
    let written = word(value, name)?;
    let kept = prose(written.trim());
    (!kept.is_empty()).then_some(kept)
}

/// The blocks of a notice.
pub(super) fn notice(kind: SystemKind, text: Option<String>) -> Blocks {
    Blocks { system: Some(SystemNotice { kind, text }), ..Blocks::default() }
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
