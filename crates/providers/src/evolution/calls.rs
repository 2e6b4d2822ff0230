//! Calls, of which the gateway tells each step (X1). How a call ended makes a line of the chat.

use recado_core::Timestamp;
use recado_core::gateway::{GatewayEvent, GatewayMessage, Incoming};
use recado_core::messages::{MessageType, SystemKind};
use serde_json::Value;

use super::names::{ChatAddress, InstanceNames};
use super::values::{filled, message_id, time};
use super::webhook::Envelope;
use crate::shared::boolean;
use crate::shared::vote::{derived_id, notice};

/// The events of a step of a call: none while it rings.
pub(super) fn step(
    call: &Value,
    names: InstanceNames<'_>,
    envelope: &Envelope<'_>,
) -> Vec<Incoming> {
    let video = boolean(call, "isVideo") == Some(true);
    let kind = match filled(call, "status") {
        Some("timeout" | "reject" | "missed") => SystemKind::MissedCall { video },
        // A call that ends is not told to have been taken or not.
        Some("accept" | "terminate") => SystemKind::Call { video, seconds: None },
        Some("offer" | "ringing" | "preaccept" | "transport" | "relaylatency") => {
            return Vec::new();
        }
        status => {
            let kind = format!("call.{}", status.unwrap_or("no status"));
            return vec![Ok(envelope.unknown(kind, call, None))];
        }
    };
    let address = |name: &&str| filled(call, name).and_then(ChatAddress::parse);
    let is_own = |address| matches!(address, ChatAddress::Person(name) if names.is_own(&name));
    if ["callerPn", "from"].iter().filter_map(address).any(is_own) {
        // The own phone called.
        return Vec::new();
    }
    let mut addresses = ["groupJid", "chatId", "from"].iter().filter_map(address);
    let group = addresses.find_map(|address| match address {
        ChatAddress::Group(id) => names.group(&id),
        _ => None,
    });
    let mut people: Vec<String> = Vec::new();
    for address in ["callerPn", "from", "chatId"].iter().filter_map(address) {
        if let ChatAddress::Person(name) = address
            && !names.is_own(&name)
            && !people.contains(&name)
        {
            people.push(name);
        }
    }
    let mut people = people.into_iter();
    let (peer, aliases, participant) = match (group, people.next()) {
        (Some(group), caller) => (group.as_str().to_owned(), Vec::new(), caller),
        (None, Some(peer)) => (peer, people.collect(), None),
        // The own call.
        (None, None) => return Vec::new(),
    };
    let date = filled(call, "date");
    let timestamp = date.and_then(Timestamp::parse).or_else(|| time(call, "date"));
    let id = message_id(call, "id");
    let id = id.or_else(|| derived_id("call", &[&peer, date.unwrap_or_default()]));
    let Some(provider_id) = id else {
        return vec![Ok(envelope.unreadable("it names no call".to_owned(), call))];
    };
    vec![Ok(GatewayEvent::Message(GatewayMessage {
        aliases,
        participant,
        message_type: MessageType::System,
        content: None,
        blocks: notice(kind, None),
        timestamp,
        ..GatewayMessage::text(provider_id, peer, "")
    }))]
}
