//! Calls of contacts to the number (X1). How a call ended makes a line of the chat; that it rings
//! makes none, and neither do calls that the business makes.

use recado_core::gateway::{GatewayEvent, GatewayMessage, Incoming};
use recado_core::messages::{MessageType, SystemKind};
use serde_json::Value;

use super::changes::Change;
use super::message::id_of;
use super::people::{NamedPerson, SENDER};
use crate::shared::{array, integer, seconds, text};

/// The events of a change of calls.
pub(super) fn read(change: &Change<'_>) -> Vec<Incoming> {
    let calls = array(change.value, "calls");
    let statuses = array(change.value, "statuses");
    let is_known = !calls.is_empty() || !statuses.is_empty();
    let lines = calls.iter().filter_map(|call| line(change, call));
    lines.chain(change.rest(&["calls", "statuses"], is_known)).collect()
}

fn line(change: &Change<'_>, call: &Value) -> Option<Incoming> {
    if text(call, "direction") == Some("BUSINESS_INITIATED") {
        return None;
    }
    let kind = match text(call, "event") {
        Some("connect") => return None,
        Some("terminate") => {
            let seconds = integer(call, "duration").and_then(|it| u64::try_from(it).ok());
            let was_taken = seconds.is_some_and(|seconds| seconds > 0)
                || text(call, "status").is_some_and(|it| it.eq_ignore_ascii_case("completed"));
            match was_taken {
                true => SystemKind::Call { video: false, seconds },
                false => SystemKind::MissedCall { video: false },
            }
        }
        other => {
            let kind = format!("call.{}", other.unwrap_or("no event"));
            return Some(change.unknown_item(kind, "calls", call, &SENDER));
        }
    };
    let kept = |reason| change.unknown_item(reason, "calls", call, &SENDER);
    Some(message(change, call, kind).or_else(kept))
}

fn message(change: &Change<'_>, call: &Value, kind: SystemKind) -> Incoming {
    let provider_id = id_of(call, "id")?;
    let person = NamedPerson::of(call, &SENDER, &change.contacts);
    let push_name = person.push_name.clone();
    let (peer, aliases) = person.split().ok_or_else(|| "from names nobody".to_owned())?;
    Ok(GatewayEvent::Message(GatewayMessage {
        aliases,
        push_name,
        message_type: MessageType::System,
        content: None,
        blocks: super::content::notice(kind, None),
        timestamp: seconds(call, "timestamp"),
        ..GatewayMessage::text(provider_id, peer, "")
    }))
}
