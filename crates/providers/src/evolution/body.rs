//! The content of messages, by their kinds in the protocol.

use recado_core::Timestamp;
use recado_core::gateway::{Button, EventMedia};
use recado_core::messages::{Blocks, Interactive, MessageType, ProviderMessageId};
use serde_json::Value;

use super::values::{filled, long, message_id, time};
use super::{answers, context, events, native, offers, orders, parts, unknown};
use crate::shared::{at, object, text};

/// How deep one message is unwrapped.
const MAX_WRAPPERS: usize = 8;
/// Envelopes around another message.
const WRAPPERS: &[&str] = &[
    "ephemeralMessage",
    "viewOnceMessage",
    "viewOnceMessageV2",
    "viewOnceMessageV2Extension",
    "documentWithCaptionMessage",
    "deviceSentMessage",
    "editedMessage",
    "lottieStickerMessage",
    "associatedChildMessage",
    "groupMentionedMessage",
    "botInvokeMessage",
    "commentMessage",
    "pollCreationMessageV4",
    "pollCreationMessageV6",
];
/// Fields that are not messages: keys, metadata of the application, the head of an album (its
/// pictures are separate messages), encrypted votes in polls, and additions of the gateway.
const SILENT: &[&str] = &[
    "messageContextInfo",
    "senderKeyDistributionMessage",
    "fastRatchetKeySenderKeyDistributionMessage",
    "albumMessage",
    "pinInChatMessage",
    "keepInChatMessage",
    "encReactionMessage",
    "pollUpdateMessage",
    "mediaUrl",
    "base64",
    "speechToText",
];

/// The meaning of a message.
#[derive(Debug, PartialEq)]
pub(super) enum Body {
    /// Content that a person wrote.
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
}

/// The message that another one answers.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Quote {
    pub(super) id: Option<ProviderMessageId>,
    pub(super) content: Option<String>,
    pub(super) message_type: Option<MessageType>,
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
    let Some(outer) = at(record, &["message"]).filter(|message| message.is_object()) else {
        // A notice of the application ("joined", "missed a call") has no message, and a message
        // that could not be decrypted has none either.
        let is_note = record.get("messageStubType").is_some_and(|stub| !stub.is_null());
        return if is_note { Body::Nothing } else { said(unknown::message(&Value::Null, record)) };
    };
    let message = unwrapped(outer);
    if let Some(protocol) = message.get("protocolMessage") {
        return self::protocol(protocol, record);
    }
    if let Some(reaction) = message.get("reactionMessage") {
        return parts::reaction(reaction).map_or(Body::Nothing, said);
    }
    let mut found = match one(message) {
        Some(found) => found,
        None if is_silent(message) => return Body::Nothing,
        None => unknown::message(message, record),
    };
    if let Some(media) = &mut found.media {
        let id = at(record, &["key", "id"]).and_then(Value::as_str);
        media.url = parts::media_source(&[message, outer, record], id);
    }
    context::add(&mut found, record, message);
    said(found)
}

/// Whether a message has fields, and none with content.
fn is_silent(message: &Value) -> bool {
    message.as_object().is_some_and(|fields| {
        !fields.is_empty() && fields.keys().all(|name| SILENT.contains(&name.as_str()))
    })
}

/// The protocol's name of the kind of a message that is not known.
pub(super) fn kind_of(message: &Value) -> Option<&str> {
    let names = message.as_object()?.keys().map(String::as_str);
    names.into_iter().find(|name| !SILENT.contains(name))
}

/// A record of the protocol itself: the change of a text or a caption, or nothing.
pub(super) fn protocol(protocol: &Value, record: &Value) -> Body {
    let edited = object(protocol, "editedMessage").and_then(|_| protocol.get("editedMessage"));
    let of = protocol.get("key").and_then(|key| message_id(key, "id"));
    match (edited.and_then(changed_text), of) {
        (Some(content), Some(of)) => {
            let timestamp =
                time(protocol, "timestampMs").or_else(|| time(record, "messageTimestamp"));
            Body::Edit { of, content, timestamp }
        }
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

/// The message inside its envelopes.
fn unwrapped(message: &Value) -> &Value {
    let mut inner = message;
    for _ in 0..MAX_WRAPPERS {
        let wrapped = WRAPPERS.iter().find_map(|wrapper| at(inner, &[wrapper, "message"]));
        match wrapped.filter(|message| message.is_object()) {
            Some(message) => inner = message,
            None => break,
        }
    }
    inner
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
    message.as_object()?.iter().find_map(|(kind, part)| match kind.as_str() {
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
        "buttonsResponseMessage" => Some(answers::button(part)),
        "listResponseMessage" => Some(answers::list(part)),
        "templateButtonReplyMessage" => Some(answers::template(part)),
        "interactiveResponseMessage" => Some(answers::interactive(part)),
        "pollCreationMessage"
        | "pollCreationMessageV2"
        | "pollCreationMessageV3"
        | "pollCreationMessageV5" => offers::poll(part),
        "productMessage" => orders::product(part),
        "orderMessage" => Some(orders::order(part)),
        "groupInviteMessage" => offers::invitation(part),
        "eventMessage" => events::event(part),
        "interactiveMessage" => native::interactive(part),
        "templateMessage" => offers::template(part),
        "buttonsMessage" => offers::buttons(part),
        "listMessage" => offers::list(part),
        _ => None,
    })
}
