//! The type and content of a message.

use recado_core::gateway::{Button, EventMedia};
use recado_core::messages::{
    Blocks, Interactive, MessageType, ProviderMessageId, Reaction, Unsupported,
};
use serde_json::Value;

use super::answers::{self, Answered};
use super::files::{source_of_file, source_of_message};
use super::ids::MessageKey;
use super::proto::{fields, proto};
use super::{context, notices, offers, places, text, trade};
use crate::shared::{at, boolean, text as text_of, text_at};

/// Types of files by the channel's names.
const FILES: [(&str, MessageType); 7] = [
    ("imageMessage", MessageType::Image),
    ("audioMessage", MessageType::Audio),
    ("videoMessage", MessageType::Video),
    ("ptvMessage", MessageType::Video),
    ("documentMessage", MessageType::Document),
    ("stickerMessage", MessageType::Sticker),
    ("lottieStickerMessage", MessageType::Sticker),
];
/// The channel's internal messages, which no person wrote.
const BOOKKEEPING: [&str; 11] = [
    "protocolMessage",
    "senderKeyDistributionMessage",
    "keepInChatMessage",
    "pinInChatMessage",
    "pollUpdateMessage",
    "encReactionMessage",
    "encEventResponseMessage",
    "secretEncryptedMessage",
    "albumMessage",
    "callLogMesssage",
    "call",
];
/// The same, by the names of engines that drive a browser.
const BROWSER_BOOKKEEPING: [&str; 11] = [
    "e2e_notification",
    "notification",
    "notification_template",
    "broadcast_notification",
    "gp2",
    "protocol",
    "revoked",
    "ciphertext",
    "call_log",
    "debug",
    "album",
];

/// The type and content of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct MessageContent {
    /// What it is.
    pub(super) message_type: MessageType,
    /// Its text; `None` for a file.
    pub(super) content: Option<String>,
    /// The file.
    pub(super) media: Option<EventMedia>,
    /// What else it holds.
    pub(super) blocks: Blocks,
    /// The button that was pressed.
    pub(super) button: Option<Button>,
    /// The message that it reacts to.
    pub(super) target: Option<ProviderMessageId>,
}

impl MessageContent {
    pub(super) fn new(message_type: MessageType, content: Option<String>) -> Self {
        Self {
            message_type,
            content,
            media: None,
            blocks: Blocks::default(),
            button: None,
            target: None,
        }
    }

    /// A message of blocks; `body` is its text where they say nothing.
    fn of_blocks(message_type: MessageType, blocks: Blocks, body: Option<String>) -> Self {
        let body = body.filter(|_| blocks.content().is_none());
        Self { blocks, ..Self::new(message_type, body) }
    }
}

/// A reaction with this emoji to this message.
pub(super) fn reaction(emoji: String, target: Option<ProviderMessageId>) -> MessageContent {
    let provider_message_id = target.as_ref().map(|target| target.as_str().to_owned());
    let reaction = Reaction { emoji: Some(emoji), message_id: None, provider_message_id };
    let blocks = Blocks { reaction: Some(reaction), ..Blocks::default() };
    MessageContent { target, ..MessageContent::of_blocks(MessageType::Reaction, blocks, None) }
}

/// Reads a message; `None` if it is an internal message of the channel.
pub(super) fn read(payload: &Value) -> Option<MessageContent> {
    let mut said = kind(payload)?;
    said.blocks.forwarded = context::forwarded(payload);
    Some(said)
}

fn kind(payload: &Value) -> Option<MessageContent> {
    let proto = proto(payload);
    let body = text_of(payload, "body").and_then(text::long);
    if let Some(Answered { button, answer }) = answers::answered(payload, proto) {
        let interactive = Some(Interactive::Answer(answer));
        let blocks = Blocks { interactive, ..Blocks::default() };
        // An id is for programs: where there is no title, the text of the message is better.
        let body = if button.as_ref().is_some_and(|button| button.title.is_none()) {
            body
        } else {
            body.filter(|_| blocks.content().is_none())
        };
        let said = MessageContent::new(MessageType::Interactive, body);
        return Some(MessageContent { button, blocks, ..said });
    }
    if let Some(reported) = proto.and_then(|proto| at(proto, &["reactionMessage"])) {
        let emoji = text_of(reported, "text").and_then(text::short)?;
        let target = reported.get("key").and_then(MessageKey::of).map(|key| key.raw);
        return Some(reaction(emoji, target));
    }
    if let Some(mut file) = file(payload, proto, body.as_deref()) {
        if let Some((_, offer)) = offers::offer(payload, proto) {
            file.blocks.interactive = offer.interactive;
        }
        return Some(file);
    }
    // What such messages have as their text is a small picture, or the card itself.
    if let location @ Some(_) = places::location(payload, proto) {
        let blocks = Blocks { location, ..Blocks::default() };
        return Some(MessageContent::of_blocks(MessageType::Location, blocks, None));
    }
    if let shared_contacts @ Some(_) = places::cards(payload, proto) {
        let blocks = Blocks { shared_contacts, ..Blocks::default() };
        return Some(MessageContent::of_blocks(MessageType::Contacts, blocks, None));
    }
    if let Some((message_type, blocks)) = offers::offer(payload, proto)
        && (body.is_some() || blocks.content().is_some())
    {
        return Some(MessageContent::of_blocks(message_type, blocks, body));
    }
    if let order @ Some(_) = trade::order(payload, proto) {
        let blocks = Blocks { order, ..Blocks::default() };
        return Some(MessageContent::of_blocks(MessageType::Order, blocks, body));
    }
    if let product @ Some(_) = trade::product(payload, proto) {
        let beneath = || text_at(proto?, &["productMessage", "body"]).and_then(text::long);
        let said = MessageContent::new(MessageType::Text, body.or_else(beneath));
        return Some(MessageContent { blocks: Blocks { product, ..Blocks::default() }, ..said });
    }
    if let system @ Some(_) = notices::call(payload, proto) {
        let blocks = Blocks { system, ..Blocks::default() };
        return Some(MessageContent::of_blocks(MessageType::System, blocks, body));
    }
    let said = body.or_else(|| {
        let proto = proto?;
        let said = text_of(proto, "conversation");
        said.or_else(|| text_at(proto, &["extendedTextMessage", "text"])).and_then(text::long)
    });
    match said {
        Some(said) => Some(MessageContent::new(MessageType::Text, Some(said))),
        None if is_bookkeeping(payload, proto) => None,
        None => Some(unsupported(payload, proto)),
    }
}

/// A message that nobody can show, with the channel's name of its type (X9).
fn unsupported(payload: &Value, proto: Option<&Value>) -> MessageContent {
    let of_channel = fields(proto).find(|name| !is_internal(name));
    let in_browser = || text_at(payload, &["_data", "type"]);
    let provider_type = of_channel.or_else(in_browser).and_then(text::short);
    let unsupported = Some(Unsupported { reason: None, provider_type });
    let blocks = Blocks { unsupported, ..Blocks::default() };
    MessageContent { blocks, ..MessageContent::new(MessageType::Unsupported, None) }
}

/// Whether a field of a message is nothing that a person wrote.
fn is_internal(name: &str) -> bool {
    name == "messageContextInfo" || BOOKKEEPING.contains(&name)
}

fn has(proto: Option<&Value>, test: impl Fn(&str) -> bool) -> bool {
    fields(proto).any(test)
}

/// Whether a message without a text is a known internal message.
fn is_bookkeeping(payload: &Value, proto: Option<&Value>) -> bool {
    let in_browser = text_at(payload, &["_data", "type"]);
    if in_browser.is_some_and(|kind| BROWSER_BOOKKEEPING.contains(&kind)) {
        return true;
    }
    match proto {
        Some(proto) => {
            has(Some(proto), |name| BOOKKEEPING.contains(&name))
                && !has(Some(proto), |name| !is_internal(name))
        }
        // A change of the group, or a message that could not be read yet.
        None => {
            at(payload, &["_data", "messageStubType"]).is_some_and(|stub| stub.as_i64() != Some(0))
        }
    }
}

/// A file with its caption.
fn file(payload: &Value, proto: Option<&Value>, body: Option<&str>) -> Option<MessageContent> {
    let media = at(payload, &["media"]).filter(|media| media.is_object());
    let reported = proto.and_then(file_in);
    if boolean(payload, "hasMedia") != Some(true) && media.is_none() && reported.is_none() {
        return None;
    }
    let inner = reported.map(|(inner, _)| inner);
    let field = |name: &str, inner_name: &str| {
        let own = media.and_then(|media| text_of(media, name));
        own.or_else(|| inner.and_then(|inner| text_of(inner, inner_name))).and_then(text::short)
    };
    let mimetype = field("mimetype", "mimetype");
    let filename = field("filename", "fileName");
    let in_browser = text_at(payload, &["_data", "type"]).and_then(file_type_in_browser);
    let message_type = reported
        .map(|(_, kind)| kind)
        .or(in_browser)
        .unwrap_or_else(|| by_mimetype(mimetype.as_deref()));
    let caption = body.or_else(|| inner.and_then(|inner| text_of(inner, "caption")));
    let caption = caption.and_then(text::long);
    // Some engines give the name of a file as its caption.
    let caption = caption.filter(|caption| Some(caption) != filename.as_ref());
    let url = media.and_then(|media| text_of(media, "url")).filter(|url| !url.is_empty());
    let full_id = text_of(payload, "id")
        .filter(|id| MessageKey::parse(id).is_some_and(|key| key.chat.is_some()));
    let url = match url {
        Some(url) => Some(source_of_file(url, full_id)),
        None => full_id.map(source_of_message),
    };
    let media = EventMedia { url, mimetype, filename, caption };
    let is_voice = message_type == MessageType::Audio && is_voice(payload, inner);
    let blocks = Blocks { is_voice, ..Blocks::default() };
    let said = MessageContent::new(message_type, None);
    Some(MessageContent { media: Some(media), blocks, ..said })
}

/// The file in a message of the channel's own form.
pub(super) fn file_in(proto: &Value) -> Option<(&Value, MessageType)> {
    FILES.iter().find_map(|(name, kind)| Some((at(proto, &[name])?, *kind)))
}

/// Whether sound was recorded in the chat, by any engine's mark.
fn is_voice(payload: &Value, file: Option<&Value>) -> bool {
    let marked =
        |file: &Value| ["ptt", "PTT"].into_iter().any(|name| boolean(file, name) == Some(true));
    let kinds = [text_of(payload, "type"), text_at(payload, &["_data", "type"])];
    file.is_some_and(marked) || kinds.into_iter().flatten().any(|it| matches!(it, "ptt" | "voice"))
}

/// The type of a file by the names of engines that drive a browser.
pub(super) fn file_type_in_browser(kind: &str) -> Option<MessageType> {
    Some(match kind {
        "image" => MessageType::Image,
        "audio" | "ptt" | "voice" => MessageType::Audio,
        "video" | "ptv" => MessageType::Video,
        "document" => MessageType::Document,
        "sticker" => MessageType::Sticker,
        _ => return None,
    })
}

/// The type of a file by its kind.
pub(super) fn by_mimetype(mimetype: Option<&str>) -> MessageType {
    match mimetype.and_then(|mimetype| mimetype.split_once('/')) {
        Some(("image", "webp")) => MessageType::Sticker,
        Some(("image", _)) => MessageType::Image,
        Some(("audio", _)) => MessageType::Audio,
        Some(("video", _)) => MessageType::Video,
        _ => MessageType::Document,
    }
}
