//! Events about known messages: statuses, reactions, changes.

use recado_core::Timestamp;
use recado_core::gateway::{GatewayEvent, Incoming, StatusEvent};
use recado_core::messages::{DeliveryCode, Failure, MessageStatus};
use serde_json::Value;

use super::address::ChatAddress;
use super::content;
use super::ids::{MessageKey, reference_of};
use super::message::{self, MessageContext};
use super::own::Own;
use super::text;
use crate::shared::{at, boolean, integer, text as text_of};

/// The meaning of an ack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ack {
    /// Not sent yet.
    Pending,
    /// This status.
    Reached(MessageStatus),
}

/// The ack of a message, as number or as word; `None` if there is none that is known.
pub(super) fn ack(payload: &Value) -> Option<Ack> {
    let by_name = || {
        Some(match text_of(payload, "ackName")? {
            "ERROR" => -1,
            "PENDING" => 0,
            "SERVER" => 1,
            "DEVICE" => 2,
            "READ" => 3,
            "PLAYED" => 4,
            _ => return None,
        })
    };
    Some(match integer(payload, "ack").or_else(by_name)? {
        -1 => Ack::Reached(MessageStatus::Failed),
        0 => Ack::Pending,
        1 => Ack::Reached(MessageStatus::Sent),
        2 => Ack::Reached(MessageStatus::Delivered),
        3 | 4 => Ack::Reached(MessageStatus::Read),
        _ => return None,
    })
}

/// The failure for this status, if it is failed: the gateway gives no reason.
pub(super) fn failure_of(status: MessageStatus) -> Option<Failure> {
    let text = "the gateway reports an error without a reason".to_owned();
    (status == MessageStatus::Failed).then(|| Failure::new(DeliveryCode::Unknown, text))
}

/// The report of an ack; none for messages of others, and for acks of single members of a group,
/// whatever the event's name (R122).
pub(super) fn status(payload: &Value, happened: Option<Timestamp>, own: &Own) -> Option<Incoming> {
    let Some(key) = payload.get("id").and_then(MessageKey::of) else {
        return Some(Err("id is not one of a message".to_owned()));
    };
    if boolean(payload, "fromMe").or(key.from_me) == Some(false) {
        return None;
    }
    let sides = [key.chat.as_deref(), text_of(payload, "from"), text_of(payload, "to")];
    let chats = || sides.into_iter().flatten().filter_map(ChatAddress::parse);
    let in_group = chats().any(|chat| matches!(chat, ChatAddress::Group(_)));
    let members = [text_of(payload, "participant"), key.participant.as_deref()];
    let of_member =
        members.into_iter().flatten().filter_map(ChatAddress::person).any(|name| !own.has(&name));
    if (in_group && of_member) || chats().any(|chat| chat == ChatAddress::Nobody) {
        return None;
    }
    let reached = match ack(payload) {
        Some(Ack::Reached(reached)) => reached,
        Some(Ack::Pending) => return None,
        None => return Some(Err("ack is not one of -1, 0, 1, 2, 3, 4".to_owned())),
    };
    Some(Ok(GatewayEvent::Status(StatusEvent {
        reference: reference_of(&key.raw),
        provider_id: key.raw,
        status: reached,
        failure: failure_of(reached),
        timestamp: happened,
        names: Vec::new(),
    })))
}

/// A reaction to a message. A removed reaction makes no event.
pub(super) fn reaction(payload: &Value, scene: &MessageContext<'_>) -> Vec<Incoming> {
    let Some(reaction) = at(payload, &["reaction"]).filter(|reaction| reaction.is_object()) else {
        return vec![Err("reaction is required".to_owned())];
    };
    let Some(emoji) = text_of(reaction, "text").and_then(text::short) else { return Vec::new() };
    let target = reaction.get("messageId").and_then(MessageKey::of).map(|key| key.raw);
    message::events_of(payload, content::reaction(emoji, target), scene)
}

/// A change of a message's text.
pub(super) fn edit(payload: &Value, happened: Option<Timestamp>) -> Option<Incoming> {
    let Some(edited) = payload.get("editedMessageId").and_then(MessageKey::of) else {
        return Some(Err("editedMessageId is not one of a message".to_owned()));
    };
    let key = payload.get("id").and_then(MessageKey::of);
    let chat = key.and_then(|key| key.chat);
    let sides = [chat.as_deref(), text_of(payload, "from"), text_of(payload, "to")];
    if sides.into_iter().flatten().any(|side| ChatAddress::parse(side) == Some(ChatAddress::Nobody))
    {
        return None;
    }
    let Some(content) = text_of(payload, "body").and_then(text::long) else {
        return Some(Err("body is required".to_owned()));
    };
    let timestamp = happened.or_else(|| text::time(payload.get("timestamp")));
    Some(Ok(GatewayEvent::Edit { provider_id: edited.raw, content, timestamp }))
}
