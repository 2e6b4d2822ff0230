//! The type and content of a message.

use recado_core::gateway::{Button, EventMedia};
use recado_core::messages::{
    Blocks, Interactive, MessageType, ProviderMessageId, Reaction, SystemKind, SystemNotice,
    Unsupported,
};
use serde_json::Value;

use super::answers::{self, Answered};
use super::files::{source_of_file, source_of_message};
use super::ids::MessageKey;
use super::proto::{fields, proto, unwrapped};
use super::{context, notices, offers, places, text, trade};
use crate::shared::proto::{Protocol, encrypted, protocol, said_in_unknown};
use crate::shared::stub::{self, Stub, stub};
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
/// The channel's internal messages, which no person wrote: keys, metadata of the application, the
/// head of an album (its pictures are messages of their own), and what was pinned or kept.
const BOOKKEEPING: [&str; 9] = [
    "messageContextInfo",
    "protocolMessage",
    "senderKeyDistributionMessage",
    "fastRatchetKeySenderKeyDistributionMessage",
    "keepInChatMessage",
    "pinInChatMessage",
    "albumMessage",
    "callLogMesssage",
    "call",
];
/// The same, by the names of engines that drive a browser.
const BROWSER_BOOKKEEPING: [&str; 9] = [
    "e2e_notification",
    "notification",
    "notification_template",
    "broadcast_notification",
    "gp2",
    "protocol",
    "call_log",
    "debug",
    "album",
];

/// What a message is.
#[derive(Debug)]
pub(super) enum Said {
    /// Something that a person wrote, or a notice of the channel.
    Content(Box<MessageContent>),
    /// A person has another name, which these two are.
    NewName(String, String),
    /// A change of an earlier text.
    Edit {
        /// The message that is changed.
        of: ProviderMessageId,
        /// The new text.
        content: String,
    },
    /// An earlier message, or this one, was deleted for everybody.
    Deleted {
        /// The message that was deleted.
        of: ProviderMessageId,
        /// Whether the time of this message is when it was deleted.
        is_now: bool,
    },
    /// What only the channel's own applications can read, or a kind that is not known.
    Unknown(String),
    /// An internal message of the channel.
    Nothing,
}

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
    /// The message that it is about: of a reaction, of a vote.
    pub(super) target: Option<ProviderMessageId>,
    /// Whether its content comes later under the same id.
    pub(super) is_late: bool,
    /// Names of the person of the chat, which it tells.
    pub(super) names: Vec<String>,
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
            is_late: false,
            names: Vec::new(),
        }
    }

    /// A message of blocks; `body` is its text where they say nothing.
    pub(super) fn of_blocks(
        message_type: MessageType,
        blocks: Blocks,
        body: Option<String>,
    ) -> Self {
        let body = body.filter(|_| blocks.content().is_none());
        Self { blocks, ..Self::new(message_type, body) }
    }

    /// A notice of the channel.
    pub(super) fn notice(system: SystemNotice) -> Self {
        let blocks = Blocks { system: Some(system), ..Blocks::default() };
        Self::of_blocks(MessageType::System, blocks, None)
    }

    /// Whether the channel itself says it about the person of the chat, whoever its id names.
    pub(super) fn is_of_channel(&self) -> bool {
        let kind = self.blocks.system.as_ref().map(|system| &system.kind);
        matches!(kind, Some(SystemKind::IdentityChanged | SystemKind::NumberChanged { .. }))
    }
}

/// A reaction to this message; without an emoji one that was withdrawn.
pub(super) fn reaction(emoji: Option<String>, target: Option<ProviderMessageId>) -> MessageContent {
    let provider_message_id = target.as_ref().map(|target| target.as_str().to_owned());
    let reaction = Reaction { emoji, message_id: None, provider_message_id };
    let blocks = Blocks { reaction: Some(reaction), ..Blocks::default() };
    MessageContent { target, ..MessageContent::of_blocks(MessageType::Reaction, blocks, None) }
}

/// A message that cannot be decrypted yet: its content comes under the same id (X5).
pub(super) fn late(payload: &Value) -> MessageContent {
    let said = unsupported(payload, proto(payload));
    MessageContent { content: None, is_late: true, ..said }
}

/// Reads a message.
pub(super) fn read(payload: &Value) -> Said {
    let data = payload.get("_data").unwrap_or(&Value::Null);
    if text_of(data, "type") == Some("revoked") {
        let of = at(data, &["protocolMessageKey"]).and_then(MessageKey::of);
        let of = of.or_else(|| MessageKey::of(payload.get("id")?)).map(|key| key.raw);
        return of.map_or(Said::Nothing, |of| Said::Deleted { of, is_now: false });
    }
    let proto = proto(payload);
    let body = text_of(payload, "body").and_then(text::long);
    if let Some(mut said) = kind(payload, proto, body) {
        said.blocks.forwarded = context::forwarded(payload);
        said.blocks.referral = context::referral(payload);
        return Said::Content(Box::new(said));
    }
    if let Some(message) = proto.filter(|message| fields(Some(message)).next().is_some()) {
        return internal(payload, message);
    }
    in_place(payload).unwrap_or_else(|| Said::Content(Box::new(unsupported(payload, None))))
}

/// What the channel notes in place of a message; `None` if it notes nothing that is known.
fn in_place(payload: &Value) -> Option<Said> {
    let data = payload.get("_data").unwrap_or(&Value::Null);
    if let Some(said) = notices::of(data) {
        return Some(said);
    }
    let own_id = || payload.get("id").and_then(MessageKey::of).map(|key| key.raw);
    let kind_in_browser = text_of(data, "type");
    match stub(data) {
        _ if kind_in_browser == Some("ciphertext") => Some(Said::Content(Box::new(late(payload)))),
        _ if kind_in_browser.is_some_and(|it| BROWSER_BOOKKEEPING.contains(&it)) => {
            Some(Said::Nothing)
        }
        Some(Stub::Revoked) => {
            Some(own_id().map_or(Said::Nothing, |of| Said::Deleted { of, is_now: false }))
        }
        Some(Stub::Waiting) => Some(Said::Content(Box::new(late(payload)))),
        Some(Stub::Known) => Some(Said::Nothing),
        Some(Stub::Unknown(kind)) => Some(Said::Unknown(kind)),
        _ => None,
    }
}

/// What a message is that holds nothing to show, in the channel's own form.
fn internal(payload: &Value, message: &Value) -> Said {
    let told = at(message, &["protocolMessage"]).map_or(Said::Nothing, of_protocol);
    if !matches!(told, Said::Nothing) {
        return told;
    }
    if let Some(kind) = encrypted(message) {
        return Said::Unknown(kind.to_owned());
    }
    if fields(Some(message)).all(|name| BOOKKEEPING.contains(&name)) {
        // Keys for a group come with a message that could not be decrypted.
        return in_place(payload).unwrap_or(Said::Nothing);
    }
    Said::Content(Box::new(unsupported(payload, Some(message))))
}

/// What a message of the protocol itself is.
fn of_protocol(message: &Value) -> Said {
    let of = message.get("key").and_then(MessageKey::of).map(|key| key.raw);
    match (protocol(message), of) {
        (Protocol::Revoked, Some(of)) => Said::Deleted { of, is_now: true },
        (Protocol::Edited, Some(of)) => {
            let edited = at(message, &["editedMessage"]).map(unwrapped);
            let content = edited.and_then(context::text_in);
            content.map_or_else(
                || Said::Unknown("edit_without_text".to_owned()),
                |content| Said::Edit { of, content },
            )
        }
        (Protocol::Edited, None) => Said::Unknown("edit_without_key".to_owned()),
        (Protocol::Revoked, None) => Said::Unknown("deletion_without_key".to_owned()),
        (Protocol::Unknown(kind), _) => Said::Unknown(kind),
        _ => Said::Nothing,
    }
}

/// What a person wrote; `None` if nothing of it can be shown.
fn kind(payload: &Value, proto: Option<&Value>, body: Option<String>) -> Option<MessageContent> {
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
        let emoji = text_of(reported, "text").and_then(text::short);
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
        && (body.is_some() || offers::says_any(&blocks))
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
    if !is_plain(payload, proto) {
        return None;
    }
    let said = body.or_else(|| {
        let proto = proto?;
        let said = text_of(proto, "conversation");
        said.or_else(|| text_at(proto, &["extendedTextMessage", "text"])).and_then(text::long)
    });
    said.map(|said| MessageContent::new(MessageType::Text, Some(said)))
}

/// Whether a message is surely nothing but its text.
fn is_plain(payload: &Value, proto: Option<&Value>) -> bool {
    let is_text = |name: &str| matches!(name, "conversation" | "extendedTextMessage");
    let in_browser = text_at(payload, &["_data", "type"]);
    in_browser.is_none_or(|kind| kind == "chat")
        && fields(proto).all(|name| is_text(name) || BOOKKEEPING.contains(&name))
}

/// A message that nobody can show, with the channel's name of its type and whatever text it has
/// (X9).
fn unsupported(payload: &Value, proto: Option<&Value>) -> MessageContent {
    let of_channel = fields(proto).find(|name| !BOOKKEEPING.contains(name));
    let part = of_channel.and_then(|name| at(proto?, &[name]));
    let in_browser = || text_at(payload, &["_data", "type"]);
    let provider_type = of_channel.or_else(in_browser).and_then(text::short);
    let reason = payload.get("_data").and_then(stub::reason).and_then(text::short);
    let unsupported = Some(Unsupported { reason, provider_type });
    let blocks = Blocks { unsupported, ..Blocks::default() };
    let note = |part: &Value| said_in_unknown(part, context::text_in);
    let body = text_of(payload, "body").and_then(text::long);
    let content = body.or_else(|| part.and_then(note));
    MessageContent { blocks, ..MessageContent::new(MessageType::Unsupported, content) }
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
