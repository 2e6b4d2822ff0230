//! A record of a message, from a webhook or from the gateway's history, as a neutral event.

use recado_core::gateway::{GatewayEvent, GatewayMessage, OwnSend};
use serde_json::Value;

use super::body::{self, Body, MessageContent};
use super::names::{Chat, InstanceNames, is_incoming};
use super::values::{filled, message_id, short, time};
use crate::shared::at;

/// The event of a record; `None` if it has nothing relevant.
pub(super) type ParsedEvent = Result<Option<GatewayEvent>, String>;

/// A message of a conversation: from a contact, or written by the operator on a device.
pub(super) fn read(record: &Value, names: InstanceNames<'_>, history: bool) -> ParsedEvent {
    let Some(chat) = names.chat(record)? else { return Ok(None) };
    let Some((message, incoming)) = message(record, chat, history)? else { return Ok(None) };
    Ok(match message {
        ParsedRecord::Edit(edit) => Some(*edit),
        ParsedRecord::Message(message) if incoming => Some(GatewayEvent::Message(*message)),
        ParsedRecord::Message(message) => Some(GatewayEvent::Echo(*message)),
    })
}

/// A message that the gateway sent for a program.
pub(super) fn own_send(record: &Value, names: InstanceNames<'_>) -> ParsedEvent {
    let Some(chat) = names.any_chat(record)? else { return Ok(None) };
    Ok(match message(record, chat, false)? {
        None => None,
        Some((ParsedRecord::Edit(edit), _)) => Some(*edit),
        Some((ParsedRecord::Message(message), _)) => Some(GatewayEvent::OwnSend(OwnSend {
            aliases: message.aliases,
            content: message.content,
            timestamp: message.timestamp,
            ..OwnSend::new(message.provider_id, message.peer)
        })),
    })
}

/// A changed text, from the protocol's record of the change.
pub(super) fn edit(protocol: &Value) -> ParsedEvent {
    let record = Value::Null;
    Ok(match body::protocol(protocol, &record) {
        Body::Edit { of, content, timestamp } => {
            Some(GatewayEvent::Edit { provider_id: of, content, timestamp })
        }
        Body::Content(_) | Body::Nothing => None,
    })
}

enum ParsedRecord {
    Message(Box<GatewayMessage>),
    Edit(Box<GatewayEvent>),
}

fn message(
    record: &Value,
    chat: Chat,
    history: bool,
) -> Result<Option<(ParsedRecord, bool)>, String> {
    let key = at(record, &["key"]).ok_or("it has no key")?;
    let provider_id = message_id(key, "id").ok_or("its key has no usable id")?;
    let incoming = is_incoming(key);
    let MessageContent { message_type, content, media, blocks, button, quoted } =
        match body::read(record) {
            Body::Nothing => return Ok(None),
            Body::Edit { of, content, timestamp } => {
                let edit = GatewayEvent::Edit { provider_id: of, content, timestamp };
                return Ok(Some((ParsedRecord::Edit(Box::new(edit)), incoming)));
            }
            Body::Content(said) => *said,
        };
    let push_name = filled(record, "pushName").filter(|_| incoming).and_then(short);
    let message = GatewayMessage {
        provider_id,
        peer: chat.peer,
        aliases: chat.aliases,
        participant: chat.participant,
        push_name,
        message_type,
        content,
        media,
        blocks,
        quoted: quoted.id,
        quoted_content: quoted.content,
        quoted_type: quoted.message_type,
        button,
        history,
        is_late: false,
        timestamp: time(record, "messageTimestamp"),
        raw: None,
    };
    Ok(Some((ParsedRecord::Message(Box::new(message)), incoming)))
}
