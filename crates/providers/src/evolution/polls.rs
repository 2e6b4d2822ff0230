//! Votes in polls, which the gateway decrypts if it has the poll (X6).

use std::collections::HashMap;

use recado_core::gateway::{GatewayEvent, GatewayMessage};
use recado_core::messages::MessageType;
use serde_json::{Value, json};

use super::body::{MessageContent, Quote};
use super::names::{ChatAddress, InstanceNames};
use super::values::{filled, message_id};
use super::webhook::Envelope;
use crate::shared::vote::{derived_id, digest, names_of, option_name, options, vote as blocks_of};
use crate::shared::{array, at};

/// The most voters of one event.
const MAX_VOTERS: usize = 1_000;

/// The vote in a message; `None` if the gateway does not tell the choice. It writes no choice
/// both for a vote that was withdrawn and for one that it could not decrypt.
pub(super) fn vote(part: &Value, record: &Value) -> Option<MessageContent> {
    let poll = at(part, &["pollCreationMessageKey"]).and_then(|key| message_id(key, "id"))?;
    let chosen = options(at(part, &["vote", "selectedOptions"]));
    // The gateway lists the poll's options beside the message if it has the poll.
    let listed = || {
        let updates = record.get("pollUpdates")?.as_array()?.iter();
        let chosen = updates.filter(|option| !array(option, "voters").is_empty());
        options(Some(&chosen.cloned().collect()))
    };
    let blocks = blocks_of(&chosen.or_else(listed)?);
    let quoted = Quote { id: Some(poll), ..Quote::default() };
    Some(MessageContent { quoted, ..MessageContent::with(MessageType::Interactive, blocks) })
}

/// The votes in an update of a poll: its options with who has chosen them. A vote has no id there,
/// so one is made of the poll, the voter, and the time of the call or else the choice.
pub(super) fn votes(
    update: &Value,
    names: InstanceNames<'_>,
    envelope: &Envelope<'_>,
) -> Result<Vec<GatewayEvent>, String> {
    let key = at(update, &["key"]).unwrap_or(update);
    let change = at(update, &["update"]).unwrap_or(update);
    let poll = message_id(update, "keyId").or_else(|| message_id(key, "id"));
    let poll = poll.ok_or("it names no poll")?;
    let listed = array(change, "pollUpdates");
    // The voters as they are listed, each with the options that it chose.
    let mut voters: Vec<(&str, Vec<Option<&str>>)> = Vec::new();
    let mut known: HashMap<&str, usize> = HashMap::new();
    for option in listed {
        let name = option_name(option);
        for voter in array(option, "voters").iter().filter_map(Value::as_str) {
            let index = *known.entry(voter).or_insert(voters.len());
            match voters.get_mut(index) {
                Some((_, chosen)) => chosen.push(name),
                None if index < MAX_VOTERS => voters.push((voter, vec![name])),
                None => {}
            }
        }
    }
    if voters.is_empty() {
        let id = Some(poll);
        return Ok(vec![envelope.unknown("poll_update_without_voter".to_owned(), update, id)]);
    }
    let mut events = Vec::new();
    for (voter, chosen) in voters {
        let chosen = names_of(chosen.into_iter()).unwrap_or_default();
        let person = match ChatAddress::parse(voter) {
            Some(ChatAddress::Person(name)) => Some(name),
            _ => None,
        };
        let is_own = voter == "me" || person.as_deref().is_some_and(|name| names.is_own(name));
        let record = json!({"key": {"remoteJid": filled(key, "remoteJid"), "fromMe": is_own,
            "participant": person}});
        let Some(chat) = names.chat(&record)? else { continue };
        let time = envelope.time.map_or_else(|| digest(&chosen), str::to_owned);
        let id = derived_id("vote", &[poll.as_str(), voter, &time]).ok_or("it names no poll")?;
        let message = GatewayMessage {
            aliases: chat.aliases,
            participant: chat.participant,
            message_type: MessageType::Interactive,
            content: None,
            blocks: blocks_of(&chosen),
            quoted: Some(poll.clone()),
            ..GatewayMessage::text(id, chat.peer, "")
        };
        events.push(if is_own {
            GatewayEvent::Echo(message)
        } else {
            GatewayEvent::Message(message)
        });
    }
    Ok(events)
}
