//! Statuses of messages, from the acknowledgements that the gateway passes on.

use recado_core::gateway::{GatewayEvent, Incoming, StatusEvent};
use recado_core::messages::{DeliveryCode, Failure, MessageStatus, ProviderMessageId};
use serde_json::Value;

use super::body::{self, Body};
use super::message::{self, ParsedEvents};
use super::names::{ChatAddress, InstanceNames};
use super::polls;
use super::values::{filled, message_id, time};
use super::webhook::Envelope;
use crate::shared::stub::{Stub, stub};
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
fn report(
    provider_id: ProviderMessageId,
    status: MessageStatus,
    names: Vec<String>,
) -> GatewayEvent {
    let failed = status == MessageStatus::Failed;
    let failure = failed.then(|| Failure::new(DeliveryCode::Unknown, None));
    GatewayEvent::Status(StatusEvent {
        provider_id,
        reference: None,
        status,
        failure,
        timestamp: None,
        names,
    })
}

/// An item of `messages.update`: edits, deletions, votes in polls, statuses of own messages.
/// The gateway calls an edit and a vote `SERVER_ACK` too.
pub(super) fn read(
    update: &Value,
    names: InstanceNames<'_>,
    envelope: &Envelope<'_>,
) -> ParsedEvents {
    let key = at(update, &["key"]).unwrap_or(update);
    let change = at(update, &["update"]).unwrap_or(update);
    let id = message_id(update, "keyId").or_else(|| message_id(key, "id"));
    if let Some(edited) = edited(id.as_ref(), change) {
        return Ok(message::other(edited, update, envelope));
    }
    if let (Some(Stub::Revoked), Some(of)) = (stub(change), &id) {
        let timestamp = time(change, "messageTimestamp");
        return Ok(vec![GatewayEvent::Deleted { provider_id: of.clone(), timestamp }]);
    }
    if at(change, &["pollUpdates"]).is_some_and(Value::is_array) {
        return polls::votes(update, names, envelope);
    }
    let has_message = at(change, &["message"]).is_some();
    let status = at(change, &["status"]).unwrap_or(&Value::Null);
    let is_own = boolean(key, "fromMe") == Some(true);
    match ack(status) {
        Ack::Unknown => Ok(vec![envelope.unknown("messages.update status".to_owned(), update, id)]),
        Ack::Status(status) if is_own => {
            let id = id.ok_or("it names no message")?;
            Ok(vec![report(id, status, hidden_names(key, names))])
        }
        // A message that comes here was not told before.
        _ if has_message => {
            Ok(vec![envelope.unknown("messages.update message".to_owned(), update, id)])
        }
        Ack::Nothing if status.is_null() && !is_known(change) => {
            Ok(vec![envelope.unknown("messages.update".to_owned(), update, id)])
        }
        Ack::Nothing | Ack::Status(_) => Ok(Vec::new()),
    }
}

/// Whether an update without a status has only fields in which nobody says anything.
fn is_known(change: &Value) -> bool {
    const KNOWN: [&str; 20] = [
        "key",
        "keyId",
        "update",
        "id",
        "remoteJid",
        "remoteJidAlt",
        "fromMe",
        "participant",
        "participantAlt",
        "addressingMode",
        "instanceId",
        "messageId",
        "messageTimestamp",
        "messageStubType",
        "messageStubParameters",
        "status",
        "userReceipt",
        "starred",
        "keepInChat",
        "pinInChat",
    ];
    let mut fields = change.as_object().into_iter().flatten();
    fields.all(|(name, value)| value.is_null() || KNOWN.contains(&name.as_str()))
}

/// The names of the recipient that hide the phone (X8).
fn hidden_names(key: &Value, names: InstanceNames<'_>) -> Vec<String> {
    let mut hidden: Vec<String> = Vec::new();
    for field in ["remoteJid", "remoteJidAlt"] {
        if let Some(ChatAddress::Person(name)) = filled(key, field).and_then(ChatAddress::parse)
            && name.contains('@')
            && !names.is_own(&name)
            && !hidden.contains(&name)
        {
            hidden.push(name);
        }
    }
    hidden
}

/// The changed text or caption in an update, or a deletion, if there is one: as the protocol's
/// record, or, since 2.3.7, as what replaces the message that the update names. The time of such
/// a change is not reported.
fn edited(id: Option<&ProviderMessageId>, change: &Value) -> Option<Body> {
    let message = at(change, &["message"])?;
    let replaced = at(message, &["editedMessage"]);
    let inner = replaced.map(|edited| at(edited, &["message"]).unwrap_or(edited));
    let protocol = at(inner.unwrap_or(message), &["protocolMessage"]);
    match (protocol, inner) {
        (Some(protocol), _) => Some(body::protocol(protocol, change)),
        (None, Some(inner)) => {
            let timestamp = time(change, "messageTimestamp");
            let edit = id.cloned().zip(body::changed_text(inner));
            Some(match edit {
                Some((of, content)) => Body::Edit { of, content, timestamp },
                None => Body::Unknown("edit_without_text".to_owned()),
            })
        }
        (None, None) => None,
    }
}

/// The message of `messages.delete`: the key of it, or a record with one.
pub(super) fn deleted(item: &Value) -> ParsedEvents {
    let key = at(item, &["key"]).unwrap_or(item);
    let id = message_id(key, "id").or_else(|| message_id(item, "keyId"));
    let provider_id = id.ok_or("it names no message")?;
    Ok(vec![GatewayEvent::Deleted { provider_id, timestamp: None }])
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
    Some(Ok(report(provider_id.clone(), status, Vec::new())))
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
