//! A record of a message, from a webhook or from the gateway's history, as neutral events.

use recado_core::gateway::{GatewayEvent, GatewayMessage, NamesReport, OwnSend};
use recado_core::messages::{MessageType, SystemKind};
use serde_json::Value;

use super::body::{self, Body, MessageContent};
use super::names::{Chat, ChatAddress, InstanceNames, is_incoming};
use super::values::{filled, message_id, short, time};
use super::webhook::Envelope;
use crate::shared::{at, own_content};

/// The events of an item; none if it has nothing relevant.
pub(super) type ParsedEvents = Result<Vec<GatewayEvent>, String>;

/// A message of a conversation: from a contact, or written by the operator on a device.
pub(super) fn read(
    record: &Value,
    names: InstanceNames<'_>,
    history: bool,
    envelope: &Envelope<'_>,
) -> ParsedEvents {
    let Some(chat) = names.chat(record)? else { return Ok(Vec::new()) };
    let (message, learnt) = match message(record, chat, names, history, envelope)? {
        ParsedRecord::Message(message, learnt) => (*message, learnt),
        ParsedRecord::Other(events) => return Ok(events),
    };
    let is_own = !is_incoming(&record["key"]);
    let event = match message.blocks.system.as_ref().map(|system| &system.kind) {
        // The own call is noted too: it is nothing that an operator wrote.
        Some(SystemKind::MissedCall { .. } | SystemKind::Call { .. }) if is_own => {
            return Ok(Vec::new());
        }
        // The channel says it, whoever the key names.
        Some(_) => GatewayEvent::Message(message),
        None if is_own => GatewayEvent::Echo(message),
        None => GatewayEvent::Message(message),
    };
    Ok([event].into_iter().chain(learnt.map(GatewayEvent::Names)).collect())
}

/// A message that the gateway sent for a program.
pub(super) fn own_send(
    record: &Value,
    names: InstanceNames<'_>,
    envelope: &Envelope<'_>,
) -> ParsedEvents {
    // What was changed is told without a record around it.
    if record.get("key").is_some() && record.get("message").is_none() {
        let events = protocol(record, envelope);
        if !events.is_empty() {
            return Ok(events);
        }
    }
    let Some(chat) = names.any_chat(record)? else { return Ok(Vec::new()) };
    Ok(match message(record, chat, names, false, envelope)? {
        ParsedRecord::Other(events) => events,
        ParsedRecord::Message(message, _) => vec![GatewayEvent::OwnSend(sent(*message))],
    })
}

/// A message as a send of a program.
pub(super) fn sent(message: GatewayMessage) -> OwnSend {
    OwnSend {
        message_type: Some(message.message_type),
        content: own_content(&message),
        aliases: message.aliases,
        timestamp: message.timestamp,
        ..OwnSend::new(message.provider_id, message.peer)
    }
}

/// A changed text or a deletion, from the protocol's record of it.
fn protocol(protocol: &Value, envelope: &Envelope<'_>) -> Vec<GatewayEvent> {
    other(body::protocol(protocol, &Value::Null), protocol, envelope)
}

/// The same where nothing else is told: a record that is neither is kept.
pub(super) fn edited(record: &Value, envelope: &Envelope<'_>) -> Vec<GatewayEvent> {
    let events = protocol(record, envelope);
    if events.is_empty() {
        return vec![envelope.unreadable("messages.edited".to_owned(), record)];
    }
    events
}

/// The events of what is no message of its own.
pub(super) fn other(body: Body, record: &Value, envelope: &Envelope<'_>) -> Vec<GatewayEvent> {
    match body {
        Body::Edit { of, content, timestamp } => {
            vec![GatewayEvent::Edit { provider_id: of, content, timestamp }]
        }
        Body::Deleted { of, timestamp } => {
            vec![GatewayEvent::Deleted { provider_id: of, timestamp }]
        }
        Body::NewName(known, new) => {
            vec![GatewayEvent::Names(NamesReport::new(known, vec![new]))]
        }
        Body::Unknown(kind) => {
            let id = at(record, &["key"]).and_then(|key| message_id(key, "id"));
            vec![envelope.unknown(kind, record, id)]
        }
        Body::Content(_) | Body::Nothing => Vec::new(),
    }
}

enum ParsedRecord {
    /// A message, and what it tells of its person's names.
    Message(Box<GatewayMessage>, Option<NamesReport>),
    Other(Vec<GatewayEvent>),
}

fn message(
    record: &Value,
    mut chat: Chat,
    names: InstanceNames<'_>,
    history: bool,
    envelope: &Envelope<'_>,
) -> Result<ParsedRecord, String> {
    let key = at(record, &["key"]).ok_or("it has no key")?;
    let provider_id = message_id(key, "id").ok_or("its key has no usable id")?;
    let said = match body::read(record) {
        Body::Content(said) => *said,
        body => return Ok(ParsedRecord::Other(other(body, record, envelope))),
    };
    let MessageContent { message_type, content, media, blocks, button, quoted, is_late, .. } = said;
    let told = said.names.iter().filter_map(|name| match ChatAddress::parse(name)? {
        ChatAddress::Person(name) => Some(name),
        _ => None,
    });
    let told: Vec<String> = told.filter(|name| !names.is_own(name)).collect();
    let mut learnt = None;
    if !told.is_empty() && !names.is_group(&chat.peer) {
        let known = [chat.peer.clone()].into_iter().chain(chat.aliases.iter().cloned());
        let known: Vec<String> = known.collect();
        chat.aliases.extend(told.into_iter().filter(|name| !known.contains(name)));
        if !chat.aliases.is_empty() {
            learnt = Some(NamesReport::new(chat.peer.clone(), chat.aliases.clone()));
        }
    }
    let incoming = is_incoming(key);
    let push_name = filled(record, "pushName").filter(|_| incoming).and_then(short);
    let raw = (message_type == MessageType::Unsupported).then(|| envelope.around(record));
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
        is_late,
        timestamp: time(record, "messageTimestamp"),
        raw,
    };
    Ok(ParsedRecord::Message(Box::new(message), learnt))
}
