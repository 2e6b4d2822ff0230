//! Statuses of messages, from the acknowledgements that the gateway passes on.

use recado_core::gateway::{GatewayEvent, Incoming, StatusEvent, UnknownReport};
use recado_core::messages::{DeliveryCode, Failure, MessageStatus, ProviderMessageId};
use serde_json::Value;

use super::body::{self, Body};
use super::message::ParsedEvent;
use super::values::{message_id, time};
use crate::shared::{array, at, boolean};

/// The meaning of an acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ack {
    /// The status of the message.
    Status(MessageStatus),
    /// Ignored: the message is waiting, or deleted (edits are reported as deleted too).
    Nothing,
    /// An unknown word.
    Unknown,
}

/// Reads an acknowledgement's word or number.
fn ack(value: &Value) -> Ack {
    let word = match value {
        Value::String(word) => word.to_ascii_uppercase(),
        Value::Number(number) => number.to_string(),
        _ => return Ack::Nothing,
    };
    match word.as_str() {
        "ERROR" | "0" => Ack::Status(MessageStatus::Failed),
        "SERVER_ACK" | "2" => Ack::Status(MessageStatus::Sent),
        "DELIVERY_ACK" | "3" => Ack::Status(MessageStatus::Delivered),
        "READ" | "4" | "PLAYED" | "5" => Ack::Status(MessageStatus::Read),
        "" | "PENDING" | "1" | "DELETED" => Ack::Nothing,
        _ => Ack::Unknown,
    }
}

/// The report of a message's status; the gateway reports no reason of a failure and no time.
fn report(provider_id: ProviderMessageId, status: MessageStatus) -> GatewayEvent {
    let failed = status == MessageStatus::Failed;
    let failure = failed.then(|| Failure::new(DeliveryCode::Unknown, None));
    GatewayEvent::Status(StatusEvent {
        provider_id,
        reference: None,
        status,
        failure,
        timestamp: None,
        names: Vec::new(),
    })
}

/// An item of `messages.update`: edits, and the statuses of own messages. The gateway calls an edit
/// `SERVER_ACK` too.
pub(super) fn read(update: &Value) -> ParsedEvent {
    let key = at(update, &["key"]).unwrap_or(update);
    let change = at(update, &["update"]).unwrap_or(update);
    if let Some(edited) = edited(update, key, change) {
        return Ok(edited);
    }
    if boolean(key, "fromMe") != Some(true) {
        return Ok(None);
    }
    let status = at(change, &["status"]).unwrap_or(&Value::Null);
    match ack(status) {
        Ack::Nothing => Ok(None),
        Ack::Unknown => {
            let kind = "messages.update status".to_owned();
            Ok(Some(GatewayEvent::Unknown(UnknownReport::new(kind, update.clone()))))
        }
        Ack::Status(status) => {
            let id = message_id(update, "keyId").or_else(|| message_id(key, "id"));
            let id = id.ok_or("it names no message")?;
            Ok(Some(report(id, status)))
        }
    }
}

/// The changed text or caption in an update, if there is one: as the protocol's record of the
/// change, or, since 2.3.7, as what replaces the message that the update names.
fn edited(update: &Value, key: &Value, change: &Value) -> Option<Option<GatewayEvent>> {
    let message = at(change, &["message"])?;
    let replaced = at(message, &["editedMessage"]);
    let inner = replaced.map(|edited| at(edited, &["message"]).unwrap_or(edited));
    let protocol = at(inner.unwrap_or(message), &["protocolMessage"]);
    let edit = match (protocol, inner) {
        (Some(protocol), _) => body::protocol(protocol, change),
        (None, Some(inner)) => {
            let of = message_id(update, "keyId").or_else(|| message_id(key, "id"));
            let timestamp = time(change, "messageTimestamp");
            let edit = of.zip(body::changed_text(inner));
            edit.map_or(Body::Nothing, |(of, content)| Body::Edit { of, content, timestamp })
        }
        (None, None) => return None,
    };
    Some(match edit {
        Body::Edit { of, content, timestamp } => {
            Some(GatewayEvent::Edit { provider_id: of, content, timestamp })
        }
        Body::Content(_) | Body::Nothing => None,
    })
}

/// The status of a row of the history after `sent`, by the updates that are listed with it.
pub(super) fn of_row(row: &Value, provider_id: &ProviderMessageId) -> Option<Incoming> {
    let updates = array(row, "MessageUpdate");
    let mut furthest = None;
    for update in updates {
        let Ack::Status(status) = update.get("status").map_or(Ack::Nothing, ack) else { continue };
        let rank = rank(status);
        if furthest.is_none_or(|(known, _)| rank > known) {
            furthest = Some((rank, status));
        }
    }
    let (_, status) = furthest.filter(|(_, status)| *status != MessageStatus::Sent)?;
    Some(Ok(report(provider_id.clone(), status)))
}

/// A message that was delivered has not failed, whatever else was reported.
const fn rank(status: MessageStatus) -> u8 {
    match status {
        MessageStatus::Failed => 2,
        MessageStatus::Delivered => 3,
        MessageStatus::Read => 4,
        MessageStatus::Pending | MessageStatus::Sent | MessageStatus::Received => 1,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn acknowledgements_come_as_words_and_as_numbers() {
        for (written, expected) in [
            (json!("ERROR"), Ack::Status(MessageStatus::Failed)),
            (json!(0), Ack::Status(MessageStatus::Failed)),
            (json!("PENDING"), Ack::Nothing),
            (json!("SERVER_ACK"), Ack::Status(MessageStatus::Sent)),
            (json!(3), Ack::Status(MessageStatus::Delivered)),
            (json!("read"), Ack::Status(MessageStatus::Read)),
            (json!("PLAYED"), Ack::Status(MessageStatus::Read)),
            (json!("DELETED"), Ack::Nothing),
            (json!(null), Ack::Nothing),
            (json!("TELEPATHY"), Ack::Unknown),
        ] {
            assert_eq!(ack(&written), expected, "{written}");
        }
    }

    #[test]
    fn a_row_came_as_far_as_its_furthest_update() {
        let id = ProviderMessageId::parse("3EB0").expect("an id");
        let of = |words: &[&str]| {
            let updates: Vec<Value> = words.iter().map(|word| json!({"status": word})).collect();
            of_row(&json!({"MessageUpdate": updates}), &id)
        };
        let status = |incoming: Option<Incoming>| match incoming {
            Some(Ok(GatewayEvent::Status(status))) => Some(status.status),
            _ => None,
        };
        assert_eq!(status(of(&["READ", "SERVER_ACK", "DELETED"])), Some(MessageStatus::Read));
        assert_eq!(status(of(&["ERROR", "DELIVERY_ACK"])), Some(MessageStatus::Delivered));
        assert_eq!(status(of(&["SERVER_ACK", "ERROR"])), Some(MessageStatus::Failed));
        assert_eq!(status(of(&["SERVER_ACK"])), None);
        assert_eq!(status(of(&[])), None);
    }
}
