//! The content of messages, by their kinds in the protocol.

use recado_core::Timestamp;
use recado_core::gateway::{Button, EventMedia};
use recado_core::messages::{Blocks, MessageType, ProviderMessageId};
use serde_json::Value;

use super::parts;
use super::values::{filled, long, message_id, time};
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
        return if is_note {
            Body::Nothing
        } else {
            said(MessageContent::of(MessageType::Unsupported))
        };
    };
    let message = unwrapped(outer);
    if let Some(protocol) = message.get("protocolMessage") {
        return self::protocol(protocol, record);
    }
    if let Some(reaction) = message.get("reactionMessage") {
        return parts::reaction(reaction).map_or(Body::Nothing, said);
    }
    let Some(mut found) = one(message) else {
        let is_silent = |name: &String| SILENT.contains(&name.as_str());
        let silent = message
            .as_object()
            .is_some_and(|fields| !fields.is_empty() && fields.keys().all(is_silent));
        return if silent {
            Body::Nothing
        } else {
            said(MessageContent::of(MessageType::Unsupported))
        };
    };
    if let Some(media) = &mut found.media {
        let id = at(record, &["key", "id"]).and_then(Value::as_str);
        media.url = parts::media_source(&[message, outer, record], id);
    }
    found.quoted = quote(record, message);
    said(found)
}

/// A record of the protocol itself: the change of a text, or nothing.
pub(super) fn protocol(protocol: &Value, record: &Value) -> Body {
    let edited = object(protocol, "editedMessage").and_then(|_| protocol.get("editedMessage"));
    let said = edited.map(unwrapped).and_then(one);
    let of = protocol.get("key").and_then(|key| message_id(key, "id"));
    // The caption of a file is not the text of a message.
    match (said, of) {
        (
            Some(MessageContent {
                message_type: MessageType::Text, content: Some(content), ..
            }),
            Some(of),
        ) => {
            let timestamp =
                time(protocol, "timestampMs").or_else(|| time(record, "messageTimestamp"));
            Body::Edit { of, content, timestamp }
        }
        _ => Body::Nothing,
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
        "audioMessage" => Some(parts::file(MessageType::Audio, part)),
        "documentMessage" => Some(parts::file(MessageType::Document, part)),
        "stickerMessage" => Some(parts::file(MessageType::Sticker, part)),
        "locationMessage" | "liveLocationMessage" => Some(parts::location(part)),
        "contactMessage" | "contactsArrayMessage" => Some(parts::contacts(part)),
        "buttonsResponseMessage" => Some(parts::button_reply(part)),
        "listResponseMessage" => Some(parts::list_reply(part)),
        "templateButtonReplyMessage" => Some(parts::template_reply(part)),
        "interactiveResponseMessage" => Some(parts::interactive_reply(part)),
        _ => None,
    })
}

/// The quoted message: named beside the message, or inside it.
fn quote(record: &Value, message: &Value) -> Quote {
    let inside = message.as_object().and_then(|parts| {
        parts.values().find_map(|part| object(part, "contextInfo").and(part.get("contextInfo")))
    });
    let beside = object(record, "contextInfo").and(record.get("contextInfo"));
    let contexts = [beside, inside];
    let context =
        contexts.into_iter().flatten().find(|context| filled(context, "stanzaId").is_some());
    let Some(context) = context else { return Quote::default() };
    let quoted = object(context, "quotedMessage").and(context.get("quotedMessage"));
    let quoted = quoted.map(unwrapped).and_then(one);
    let caption =
        |said: &MessageContent| said.media.as_ref().and_then(|media| media.caption.clone());
    Quote {
        id: message_id(context, "stanzaId"),
        content: quoted.as_ref().and_then(|said| said.content.clone().or_else(|| caption(said))),
        message_type: quoted.map(|said| said.message_type),
    }
}
