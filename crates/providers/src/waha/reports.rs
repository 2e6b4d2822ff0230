//! Events about known messages: statuses, reactions, votes, changes, deletions.

use recado_core::Timestamp;
use recado_core::gateway::{GatewayEvent, Incoming, StatusEvent};
use recado_core::messages::{DeliveryCode, Failure, MessageStatus, MessageType};
use serde_json::{Value, json};

use super::address::ChatAddress;
use super::content::{self, MessageContent};
use super::ids::{MessageKey, reference_of};
use super::message::{self, MessageContext, is_of_nobody};
use super::own::Own;
use super::proto::unwrapped;
use super::text;
use crate::shared::vote::{derived_id, digest, options, vote as shared_vote};
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
    // The sender of an ack may be either side: it is asked only where nothing else names a person.
    let [chat, from, to] = sides;
    let names = |side: Option<&str>| side.is_some_and(|it| ChatAddress::person(it).is_some());
    let recipients = if names(chat) || names(to) { [chat, to] } else { [from, None] };
    let names = hidden_names(recipients.into_iter().flatten(), own);
    Some(Ok(GatewayEvent::Status(StatusEvent {
        reference: reference_of(&key.raw),
        provider_id: key.raw,
        status: reached,
        failure: failure_of(reached),
        timestamp: happened,
        names,
    })))
}

/// The names of the recipient that hide the phone (X8).
fn hidden_names<'a>(sides: impl Iterator<Item = &'a str>, own: &Own) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for name in sides.filter_map(ChatAddress::person) {
        if name.contains('@') && !own.has(&name) && !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// A reaction to a message; one without an emoji was withdrawn (X7).
pub(super) fn reaction(payload: &Value, scene: &MessageContext<'_>) -> Vec<Incoming> {
    let Some(reaction) = at(payload, &["reaction"]).filter(|reaction| reaction.is_object()) else {
        return vec![Err("reaction is required".to_owned())];
    };
    let emoji = text_of(reaction, "text").and_then(text::short);
    let target = reaction.get("messageId").and_then(MessageKey::of).map(|key| key.raw);
    message::events_of(payload, content::reaction(emoji, target), scene)
}

/// A message that was deleted for everybody (X3). Engines differ in where they name it.
pub(super) fn revoked(payload: &Value, happened: Option<Timestamp>) -> Option<Incoming> {
    let sides = ["after", "before"].iter().filter_map(|name| at(payload, &[name]));
    if sides.into_iter().any(is_of_nobody) {
        return None;
    }
    let after = at(payload, &["after"]);
    let data = [after.and_then(|after| at(after, &["_data"])), at(payload, &["_data"])];
    let in_protocol = |data: &Value| {
        let names = ["Message", "message"].iter();
        let protocol = names.filter_map(|name| at(data, &[name])).map(unwrapped);
        let mut keys = protocol.filter_map(|message| at(message, &["protocolMessage", "key"]));
        keys.find_map(MessageKey::of)
    };
    let named = [payload.get("revokedMessageId"), at(payload, &["before", "id"])];
    let of = named.into_iter().flatten().find_map(MessageKey::of).or_else(|| {
        let mut data = data.into_iter().flatten();
        data.find_map(|data| {
            let in_browser = || data.get("protocolMessageKey").and_then(MessageKey::of);
            in_protocol(data).or_else(in_browser)
        })
    });
    // Engines that drive a browser keep the id of the message.
    let of = of.or_else(|| MessageKey::of(after?.get("id")?));
    let of = of.ok_or_else(|| "revokedMessageId is not one of a message".to_owned());
    Some(of.map(|key| GatewayEvent::Deleted { provider_id: key.raw, timestamp: happened }))
}

/// A vote in a poll (X6); an unknown event if the gateway does not tell the choice.
pub(super) fn vote(event: &str, payload: &Value, scene: &MessageContext<'_>) -> Vec<Incoming> {
    let vote = at(payload, &["vote"]).unwrap_or(&Value::Null);
    let key = vote.get("id").and_then(MessageKey::of);
    let poll = at(payload, &["poll", "id"]).and_then(MessageKey::of).map(|key| key.raw);
    let chosen = options(vote.get("selectedOptions")).filter(|_| event == "poll.vote");
    let (Some(chosen), Some(poll)) = (chosen, poll) else {
        return vec![Ok(scene.unknown(event.to_owned(), vote))];
    };
    let mut told = vote.clone();
    let Some(fields) = told.as_object_mut() else {
        return vec![Err("vote is required".to_owned())];
    };
    // The engine's own data is beside the vote.
    fields.insert("_data".to_owned(), payload.get("_data").cloned().unwrap_or_default());
    if key.as_ref().is_none_or(|key| key.raw == poll) {
        // Engines that drive a browser give a vote the id of its poll, whose writer need not be the
        // voter.
        let voter = ["participant", "from"].iter().find_map(|name| person(vote, name));
        let is_own = match &voter {
            Some(voter) if key.as_ref().is_some_and(|key| key.from_me == Some(true)) => {
                scene.own.has(voter)
            }
            _ => boolean(vote, "fromMe") == Some(true),
        };
        let time = text::time(vote.get("timestamp")).or_else(|| scene.happened());
        let time = time.map(|at| at.millis().to_string());
        let parts = [
            poll.as_str(),
            voter.as_deref().unwrap_or_default(),
            if is_own { "own" } else { "" },
            &time.unwrap_or_else(|| digest(&chosen)),
        ];
        let Some(id) = derived_id("vote", &parts) else {
            return vec![Err("vote has no usable id".to_owned())];
        };
        let chat = key.as_ref().and_then(|key| key.chat.clone());
        let id = json!({"id": id.as_str(), "remoteJid": chat, "fromMe": is_own,
            "participant": voter});
        fields.insert("id".to_owned(), id);
        fields.insert("fromMe".to_owned(), is_own.into());
    }
    let blocks = shared_vote(&chosen);
    let said = MessageContent::of_blocks(MessageType::Interactive, blocks, None);
    message::events_of(&told, MessageContent { target: Some(poll), ..said }, scene)
}

fn person(value: &Value, name: &str) -> Option<String> {
    text_of(value, name).and_then(ChatAddress::person)
}

/// A change of a message's text.
pub(super) fn edit(payload: &Value, happened: Option<Timestamp>) -> Option<Incoming> {
    let Some(edited) = payload.get("editedMessageId").and_then(MessageKey::of) else {
        return Some(Err("editedMessageId is not one of a message".to_owned()));
    };
    if is_of_nobody(payload) {
        return None;
    }
    let Some(content) = text_of(payload, "body").and_then(text::long) else {
        return Some(Err("body is required".to_owned()));
    };
    let timestamp = happened.or_else(|| text::time(payload.get("timestamp")));
    Some(Ok(GatewayEvent::Edit { provider_id: edited.raw, content, timestamp }))
}
