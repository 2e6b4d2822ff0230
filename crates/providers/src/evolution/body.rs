//! The content of messages, by their kinds in the protocol.

use recado_core::Timestamp;
use recado_core::gateway::{Button, EventMedia};
use recado_core::messages::{
    Blocks, Interactive, MessageType, Product, ProviderMessageId, SystemKind,
};
use serde_json::Value;

use super::names::ChatAddress;
use super::values::{filled, long, message_id, time};
use super::{answers, context, native, offers, orders, parts, polls, unknown};
use crate::shared::offers::{event, list};
use crate::shared::proto::{self, Protocol, encrypted, is_poll, unwrapped};
use crate::shared::stub::{Stub, stub};
use crate::shared::{at, call_log, object, text, vote};

/// Fields that are not messages: keys, metadata of the application, the head of an album (its
/// pictures are separate messages), and additions of the gateway.
const SILENT: &[&str] = &[
    "messageContextInfo",
    "protocolMessage",
    "senderKeyDistributionMessage",
    "fastRatchetKeySenderKeyDistributionMessage",
    "albumMessage",
    "pinInChatMessage",
    "keepInChatMessage",
    "mediaUrl",
    "base64",
    "speechToText",
];

/// The meaning of a message.
#[derive(Debug, PartialEq)]
pub(super) enum Body {
    /// Content that a person wrote, or a notice of the channel.
    Content(Box<MessageContent>),
    /// A change of an earlier text.
    Edit {
        /// The message that is changed.
        of: ProviderMessageId,
        /// The new text.
        content: String,
        /// When it was changed.
        timestamp: Option<Timestamp>,
    },
    /// A message was deleted for everybody.
    Deleted {
        /// The message that was deleted.
        of: ProviderMessageId,
        /// When it was deleted.
        timestamp: Option<Timestamp>,
    },
    /// A member of a group has another name, which these two are.
    NewName(String, String),
    /// What only the channel's own applications can read, or a kind that is not known.
    Unknown(String),
    /// Nothing relevant.
    Nothing,
}

/// The content that a person wrote.
#[derive(Debug, PartialEq)]
pub(super) struct MessageContent {
    pub(super) message_type: MessageType,
    pub(super) content: Option<String>,
    pub(super) media: Option<EventMedia>,
    pub(super) blocks: Blocks,
    pub(super) button: Option<Button>,
    pub(super) quoted: Quote,
    /// Whether its content comes later under the same id.
    pub(super) is_late: bool,
    /// Addresses of the person of the chat, which it tells.
    pub(super) names: Vec<String>,
}

/// The message that another one answers.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Quote {
    pub(super) id: Option<ProviderMessageId>,
    pub(super) content: Option<String>,
    pub(super) message_type: Option<MessageType>,
    /// The product in it.
    pub(super) product: Option<Product>,
}

impl MessageContent {
    pub(super) fn of(message_type: MessageType) -> Self {
        let quoted = Quote::default();
        Self {
            message_type,
            content: None,
            media: None,
            blocks: Blocks::default(),
            button: None,
            quoted,
            is_late: false,
            names: Vec::new(),
        }
    }

    /// A message that is all in its blocks: its text is made from them.
    pub(super) fn with(message_type: MessageType, blocks: Blocks) -> Self {
        Self { blocks, ..Self::of(message_type) }
    }

    /// An answer, or what was offered.
    pub(super) fn interactive(message_type: MessageType, interactive: Interactive) -> Self {
        let interactive = Some(interactive);
        Self::with(message_type, Blocks { interactive, ..Blocks::default() })
    }

    pub(super) fn saying(message_type: MessageType, content: Option<&str>) -> Self {
        let content = content.map(long).filter(|content| !content.is_empty());
        Self { content, ..Self::of(message_type) }
    }
}

/// Reads the message of a record.
pub(super) fn read(record: &Value) -> Body {
    let says_any = |message: &&Value| parts_of(message).next().is_some() || is_silent(message);
    let Some(outer) = at(record, &["message"]).filter(says_any) else {
        // A notice of the channel ("missed a call") has no message, and a message that could not
        // be decrypted has none either.
        return of_notice(record);
    };
    let message = unwrapped(outer);
    let told = at(message, &["protocolMessage"]);
    let told = told.map_or(Body::Nothing, |protocol| self::protocol(protocol, record));
    if told != Body::Nothing {
        return told;
    }
    if let Some(reaction) = at(message, &["reactionMessage"]) {
        return said(parts::reaction(reaction));
    }
    if let Some(vote) =
        at(message, &["pollUpdateMessage"]).and_then(|vote| polls::vote(vote, record))
    {
        return said(vote);
    }
    let mut found = match one(message) {
        Some(found) => found,
        None => match encrypted(message) {
            Some(kind) => return Body::Unknown(kind.to_owned()),
            // Keys for a group come with a message that could not be decrypted.
            None if is_silent(message) => {
                return stub(record).map_or(Body::Nothing, |_| of_notice(record));
            }
            None => unknown::message(message, record),
        },
    };
    if let Some(media) = &mut found.media {
        let id = at(record, &["key", "id"]).and_then(Value::as_str);
        media.url = parts::media_source(&[message, outer, record], id);
    }
    context::add(&mut found, record, message);
    said(found)
}

/// What a record without a message is: a notice of the channel, or a message of a kind that is not
/// known.
fn of_notice(record: &Value) -> Body {
    let key = record.get("key").unwrap_or(&Value::Null);
    match stub(record) {
        Some(Stub::Revoked) => {
            let of = message_id(key, "id");
            of.map_or(Body::Nothing, |of| Body::Deleted { of, timestamp: None })
        }
        Some(Stub::Waiting) => {
            let late = unknown::message(&Value::Null, record);
            said(MessageContent { is_late: true, ..late })
        }
        Some(Stub::Notice(system)) => {
            let blocks = Blocks { system: Some(system), ..Blocks::default() };
            said(MessageContent::with(MessageType::System, blocks))
        }
        Some(Stub::NumberChanged(to)) => {
            let old = filled(key, "participant").or_else(|| filled(key, "remoteJid"));
            let (from, number) = (old.and_then(person), to.as_deref().and_then(person));
            let kind = SystemKind::NumberChanged { from, to: number };
            let names = to.into_iter().collect();
            let blocks = vote::notice(kind, None);
            said(MessageContent { names, ..MessageContent::with(MessageType::System, blocks) })
        }
        Some(Stub::MemberNumberChanged(to)) => {
            let old = filled(key, "participant").or_else(|| filled(record, "participant"));
            let both = old.and_then(person).zip(to.as_deref().and_then(person));
            both.map_or(Body::Nothing, |(from, to)| Body::NewName(from, to))
        }
        Some(Stub::Known) => Body::Nothing,
        Some(Stub::Unknown(kind)) => Body::Unknown(kind),
        Some(Stub::Unreadable) | None => said(unknown::message(&Value::Null, record)),
    }
}

/// The parts of a message that hold something.
fn parts_of(message: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let parts = message.as_object().into_iter().flatten();
    parts.filter(|(_, part)| !part.is_null()).map(|(name, part)| (name.as_str(), part))
}

/// Whether a message has fields that are not messages, and no part with content.
fn is_silent(message: &Value) -> bool {
    let mut names = message.as_object().into_iter().flatten().map(|(name, _)| name.as_str());
    kind_of(message).is_none() && names.any(|name| SILENT.contains(&name))
}

/// The protocol's name of the kind of a message that is not known.
pub(super) fn kind_of(message: &Value) -> Option<&str> {
    parts_of(message).map(|(name, _)| name).find(|name| !SILENT.contains(name))
}

/// A record of the protocol itself: the change of a text or a caption, a deletion, or nothing.
pub(super) fn protocol(message: &Value, record: &Value) -> Body {
    let of = message.get("key").and_then(|key| message_id(key, "id"));
    let time = || time(message, "timestampMs").or_else(|| time(record, "messageTimestamp"));
    match (proto::protocol(message), of) {
        (Protocol::Edited, Some(of)) => {
            let edited = object(message, "editedMessage").and(message.get("editedMessage"));
            match edited.and_then(changed_text) {
                Some(content) => Body::Edit { of, content, timestamp: time() },
                None => Body::Unknown("edit_without_text".to_owned()),
            }
        }
        (Protocol::Revoked, Some(of)) => Body::Deleted { of, timestamp: time() },
        (Protocol::Edited, None) => Body::Unknown("edit_without_key".to_owned()),
        (Protocol::Revoked, None) => Body::Unknown("deletion_without_key".to_owned()),
        (Protocol::Unknown(kind), _) => Body::Unknown(kind),
        _ => Body::Nothing,
    }
}

/// The text, or the caption, of a message that replaces another one.
pub(super) fn changed_text(message: &Value) -> Option<String> {
    let MessageContent { message_type, content, media, .. } = inner(message)?;
    match media {
        Some(media) => media.caption,
        None => content.filter(|_| message_type == MessageType::Text),
    }
}

fn said(said: MessageContent) -> Body {
    Body::Content(Box::new(said))
}

/// The person of an address.
fn person(address: &str) -> Option<String> {
    match ChatAddress::parse(address)? {
        ChatAddress::Person(name) => Some(name),
        ChatAddress::Group(_) | ChatAddress::Nobody => None,
    }
}

/// The content of a message in its envelopes, if its kind is known.
pub(super) fn inner(message: &Value) -> Option<MessageContent> {
    one(unwrapped(message))
}

/// The content of a message without envelopes, if its kind is known; the source of its file is not
/// set.
fn one(message: &Value) -> Option<MessageContent> {
    if let Some(content) = filled(message, "conversation") {
        return Some(MessageContent::saying(MessageType::Text, Some(content)));
    }
    parts_of(message).find_map(|(kind, part)| match kind {
        "extendedTextMessage" => {
            Some(MessageContent::saying(MessageType::Text, text(part, "text")))
        }
        "imageMessage" => Some(parts::file(MessageType::Image, part)),
        "videoMessage" | "ptvMessage" => Some(parts::file(MessageType::Video, part)),
        "audioMessage" => Some(parts::audio(part)),
        "documentMessage" => Some(parts::file(MessageType::Document, part)),
        "stickerMessage" => Some(parts::file(MessageType::Sticker, part)),
        "locationMessage" => Some(parts::location(part, false)),
        "liveLocationMessage" => Some(parts::location(part, true)),
        "contactMessage" | "contactsArrayMessage" => Some(parts::contacts(part)),
        "buttonsResponseMessage" => answers::button(part),
        "listResponseMessage" => answers::list(part),
        "templateButtonReplyMessage" => answers::template(part),
        "interactiveResponseMessage" => answers::interactive(part),
        poll if is_poll(poll) => offers::poll(part),
        "productMessage" => orders::product(part),
        "orderMessage" => Some(orders::order(part)),
        "groupInviteMessage" => offers::invitation(part),
        "eventMessage" => offers::offered_if_any(event(part)),
        "interactiveMessage" => native::interactive(part),
        "callLogMesssage" => {
            let blocks = vote::notice(call_log(part), None);
            Some(MessageContent::with(MessageType::System, blocks))
        }
        "templateMessage" => offers::template(part),
        "buttonsMessage" => offers::buttons(part),
        "listMessage" => offers::offered_if_any(list(part)),
        _ => None,
    })
}
