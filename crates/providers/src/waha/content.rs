//! The type and content of a message.

use recado_core::gateway::{Button, EventMedia};
use recado_core::messages::{Blocks, MessageType, ProviderMessageId};
use serde_json::Value;

use super::files::{source_of_file, source_of_message};
use super::ids::MessageKey;
use super::proto::{fields, first, proto};
use super::{places, text};
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

/// Reads a message; `None` if it is an internal message of the channel.
pub(super) fn read(payload: &Value) -> Option<MessageContent> {
    let proto = proto(payload);
    let body = text_of(payload, "body").and_then(text::long);
    if let Some(pressed) = proto.and_then(pressed).or_else(|| pressed_in_browser(payload)) {
        let content = pressed.title.clone().or(body);
        return Some(MessageContent {
            button: Some(pressed),
            ..MessageContent::new(MessageType::Interactive, content)
        });
    }
    if let Some(reaction) = proto.and_then(|proto| at(proto, &["reactionMessage"])) {
        let emoji = text_of(reaction, "text").and_then(text::short)?;
        let target = reaction.get("key").and_then(MessageKey::of).map(|key| key.raw);
        return Some(MessageContent {
            target,
            ..MessageContent::new(MessageType::Reaction, Some(emoji))
        });
    }
    if let Some(file) = file(payload, proto, body.as_deref()) {
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
    let is_poll = has(proto, |name| name.starts_with("pollCreationMessage"));
    let said = body.or_else(|| {
        let proto = proto?;
        let said = text_of(proto, "conversation");
        said.or_else(|| text_at(proto, &["extendedTextMessage", "text"])).and_then(text::long)
    });
    match said {
        Some(said) if !is_poll => Some(MessageContent::new(MessageType::Text, Some(said))),
        None if is_bookkeeping(payload, proto) => None,
        said => Some(MessageContent::new(MessageType::Unsupported, said)),
    }
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
    let only_context = |name: &str| name == "messageContextInfo" || BOOKKEEPING.contains(&name);
    match proto {
        Some(proto) => {
            has(Some(proto), |name| BOOKKEEPING.contains(&name))
                && !has(Some(proto), |name| !only_context(name))
        }
        // A change of the group, or a message that could not be read yet.
        None => {
            at(payload, &["_data", "messageStubType"]).is_some_and(|stub| stub.as_i64() != Some(0))
        }
    }
}

fn button(id: Option<&str>, title: Option<&str>) -> Option<Button> {
    let (id, title) = (id.and_then(text::short), title.and_then(text::short));
    (id.is_some() || title.is_some()).then_some(Button { id, payload: None, title })
}

/// A pressed button, or a choice from a list.
fn pressed(proto: &Value) -> Option<Button> {
    if let Some(reply) = at(proto, &["buttonsResponseMessage"]) {
        let title = first(reply, &["selectedDisplayText"])
            .or_else(|| text_at(reply, &["Response", "SelectedDisplayText"]));
        return button(first(reply, &["selectedButtonId", "selectedButtonID"]), title);
    }
    if let Some(reply) = at(proto, &["templateButtonReplyMessage"]) {
        let id = first(reply, &["selectedId", "selectedID"]);
        return button(id, first(reply, &["selectedDisplayText"]));
    }
    if let Some(reply) = at(proto, &["listResponseMessage"]) {
        let chosen = reply.get("singleSelectReply");
        let id = chosen.and_then(|chosen| first(chosen, &["selectedRowId", "selectedRowID"]));
        return button(id, first(reply, &["title"]));
    }
    let reply = at(proto, &["interactiveResponseMessage"])?;
    let parameters = text_at(reply, &["nativeFlowResponseMessage", "paramsJson"])
        .or_else(|| text_at(reply, &["nativeFlowResponseMessage", "paramsJSON"]));
    let parameters = parameters.and_then(|json| serde_json::from_str::<Value>(json).ok());
    let id = parameters.as_ref().and_then(|parameters| first(parameters, &["id"]));
    button(id, text_at(reply, &["body", "text"]))
}

fn pressed_in_browser(payload: &Value) -> Option<Button> {
    let data = payload.get("_data")?;
    let ids: &[&str] = match text_of(data, "type")? {
        "buttons_response" => &["selectedButtonId"],
        "template_button_reply" => &["selectedId", "selectedButtonId"],
        "list_response" => &["selectedRowId"],
        _ => return None,
    };
    let in_list = at(data, &["listResponse", "singleSelectReply"]);
    let id = first(data, ids).or_else(|| first(in_list?, ids));
    button(id, text_of(payload, "body"))
}

/// A file with its caption.
fn file(payload: &Value, proto: Option<&Value>, body: Option<&str>) -> Option<MessageContent> {
    let media = at(payload, &["media"]).filter(|media| media.is_object());
    let reported = FILES.iter().find_map(|(name, kind)| Some((at(proto?, &[name])?, *kind)));
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
    let in_browser = text_at(payload, &["_data", "type"]).and_then(browser_file);
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
    Some(MessageContent { media: Some(media), ..MessageContent::new(message_type, None) })
}

fn browser_file(kind: &str) -> Option<MessageType> {
    Some(match kind {
        "image" => MessageType::Image,
        "audio" | "ptt" => MessageType::Audio,
        "video" | "ptv" => MessageType::Video,
        "document" => MessageType::Document,
        "sticker" => MessageType::Sticker,
        _ => return None,
    })
}

fn by_mimetype(mimetype: Option<&str>) -> MessageType {
    match mimetype.and_then(|mimetype| mimetype.split_once('/')) {
        Some(("image", "webp")) => MessageType::Sticker,
        Some(("image", _)) => MessageType::Image,
        Some(("audio", _)) => MessageType::Audio,
        Some(("video", _)) => MessageType::Video,
        _ => MessageType::Document,
    }
}
