//! Calls that were taken, and calls that nobody took (X1). How a call ends is told once; that it
//! rings is no news of the chat.

use recado_core::Timestamp;
use recado_core::gateway::{GatewayEvent, GatewayMessage, Incoming};
use recado_core::messages::{MessageType, ProviderMessageId, SystemKind};
use serde_json::Value;

use super::address::{ChatAddress, code_of};
use super::message::MessageContext;
use super::text;
use crate::shared::vote::{derived_id, notice};
use crate::shared::{at, boolean, text as text_of, text_at};

/// The line of a call; `None` for an own one, and for one without another side. NOWEB's own note of
/// a missed call has the id of the call too, so that one call makes one line.
pub(super) fn line(
    payload: &Value,
    was_taken: bool,
    happened: Option<Timestamp>,
    scene: &MessageContext<'_>,
) -> Option<Incoming> {
    let data = at(payload, &["_data"]).unwrap_or(&Value::Null);
    let creators = ["CallCreator", "CallCreatorAlt"].iter();
    let mut creators = creators.filter_map(|name| ChatAddress::person(text_of(data, name)?));
    if creators.any(|name| scene.own.has(&name)) {
        // The own phone called.
        return None;
    }
    let address = |value, name: &str| text_of(value, name).and_then(ChatAddress::parse);
    let groups = ["GroupJID", "groupJid"].iter().filter_map(|name| address(data, name));
    let from = address(payload, "from");
    let mut sides = groups.chain(from.clone());
    let group = sides.find_map(|side| match side {
        ChatAddress::Group(id) => Some(code_of(&id, scene.suffix).as_str().to_owned()),
        _ => None,
    });
    let other = ["From", "from", "CallCreator", "CallCreatorAlt", "callerPn"];
    let others = other.iter().filter_map(|name| text_of(data, name).and_then(ChatAddress::person));
    let first = match from {
        Some(ChatAddress::Person(name)) => Some(name),
        Some(ChatAddress::Nobody) => return None,
        _ => None,
    };
    let mut names: Vec<String> = Vec::new();
    for name in first.into_iter().chain(others) {
        if !names.contains(&name) && !scene.own.has(&name) {
            names.push(name);
        }
    }
    let mut names = names.into_iter();
    let (peer, aliases, participant) = match (group, names.next()) {
        (Some(group), caller) => (group, Vec::new(), caller),
        (None, Some(peer)) => (peer, names.collect(), None),
        (None, None) => return None,
    };
    let timestamp = text::time(payload.get("timestamp")).or(happened);
    let given = text_of(payload, "id").and_then(ProviderMessageId::parse);
    let time = timestamp.map(|at| at.millis().to_string()).unwrap_or_default();
    let Some(provider_id) = given.or_else(|| derived_id("call", &[&peer, &time])) else {
        return Some(Err("id is not one of a call".to_owned()));
    };
    let named = || text_at(data, &["Media"]) == Some("video");
    let video = boolean(payload, "isVideo").unwrap_or_else(named);
    let kind = match was_taken {
        true => SystemKind::Call { video, seconds: None },
        false => SystemKind::MissedCall { video },
    };
    Some(Ok(GatewayEvent::Message(GatewayMessage {
        aliases,
        participant,
        message_type: MessageType::System,
        content: None,
        blocks: notice(kind, None),
        timestamp,
        ..GatewayMessage::text(provider_id, peer, "")
    })))
}
