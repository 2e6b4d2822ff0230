//! What the channel says about a person: a new number, a new id, new keys (X1, X8).

use recado_core::gateway::{GatewayEvent, GatewayMessage, Incoming, NamesReport};
use recado_core::messages::{MessageType, SystemKind};
use serde_json::Value;

use super::changes::{Change, unknown};
use super::content::{notice, words};
use super::message::id_of;
use super::people::{NamedPerson, plain_name};
use crate::shared::{array, at, digits, seconds, text_at, word};

/// The fields that name a person before the change.
const BEFORE: [&str; 3] = ["from", "from_user_id", "from_parent_user_id"];
/// The fields of a notice that name the same person, before and after the change.
const NAMED: [&str; 9] = [
    "customer",
    "previous_user_id",
    "previous_parent_user_id",
    "wa_id",
    "new_wa_id",
    "user_id",
    "new_user_id",
    "parent_user_id",
    "new_parent_user_id",
];

/// The names in these fields, each once.
fn names<'a>(fields: impl Iterator<Item = (&'a Value, &'a str)>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for (location, field) in fields {
        let name = word(location, field).and_then(|name| plain_name(&name));
        names.extend(name.filter(|name| !names.contains(name)));
    }
    names
}

/// What several names teach; `None` for fewer than two.
fn learnt(names: &[String]) -> Option<Incoming> {
    let (peer, aliases) = names.split_first().filter(|(_, aliases)| !aliases.is_empty())?;
    Some(Ok(GatewayEvent::Names(NamesReport::new(peer, aliases.to_vec()))))
}

/// The events of a notice about a person. A notice that names no chat makes no line, and so no
/// contact.
pub(super) fn system(message: &Value, history: bool, raw: &dyn Fn() -> Value) -> Vec<Incoming> {
    let system = at(message, &["system"]).unwrap_or(&Value::Null);
    let kind = text_at(system, &["type"]);
    let id = || id_of(message, "id").ok();
    let not_known = || vec![unknown(format!("system.{}", kind.unwrap_or("no type")), raw(), id())];
    let before = BEFORE.iter().map(|field| (message, *field));
    let all = names(before.chain(NAMED.iter().map(|field| (system, *field))));
    let has_chat = BEFORE.iter().any(|field| word(message, field).is_some());
    let line = |kind| {
        let (peer, aliases) = all.split_first()?;
        let is_of_group = word(message, "group_id").is_some();
        (has_chat && !is_of_group).then(|| {
            let provider_id = id_of(message, "id")?;
            Ok(GatewayEvent::Message(GatewayMessage {
                aliases: aliases.to_vec(),
                message_type: MessageType::System,
                content: None,
                blocks: notice(kind, words(system, "body")),
                history,
                timestamp: seconds(message, "timestamp"),
                ..GatewayMessage::text(provider_id, peer, "")
            }))
        })
    };
    let events: Vec<Incoming> = match kind {
        Some("user_changed_number" | "customer_changed_number") => {
            let phone = |location, field| {
                let name = word(location, field).and_then(|name| plain_name(&name));
                name.filter(|name| digits(name).is_some())
            };
            let from = phone(message, "from").or_else(|| phone(system, "customer"));
            let to = phone(system, "new_wa_id").or_else(|| phone(system, "wa_id"));
            let to = to.filter(|to| Some(to) != from.as_ref());
            line(SystemKind::NumberChanged { from, to }).into_iter().chain(learnt(&all)).collect()
        }
        Some("user_changed_user_id") => learnt(&all).into_iter().collect(),
        Some("customer_identity_changed") => {
            line(SystemKind::IdentityChanged).into_iter().collect()
        }
        _ => Vec::new(),
    };
    if events.is_empty() { not_known() } else { events }
}

/// The events of changed user ids, which some accounts report apart from messages.
pub(super) fn updates(change: &Change<'_>) -> Vec<Incoming> {
    let updates = array(change.value, "user_id_update");
    let is_only = updates.len() == 1;
    let events = updates.iter().map(|update| update_of(change, update, is_only));
    events.chain(change.rest(&["user_id_update"], !updates.is_empty())).collect()
}

fn update_of(change: &Change<'_>, update: &Value, is_only: bool) -> Incoming {
    let nested = ["user_id", "parent_user_id"].into_iter();
    let nested = nested.filter_map(|name| at(update, &[name]));
    let nested = nested.flat_map(|ids| [(ids, "previous"), (ids, "current")]);
    let plain = ["wa_id", "previous_user_id", "user_id", "parent_user_id"];
    let plain = plain.into_iter().map(|field| (update, field));
    let mut all = names(plain.chain(nested));
    if is_only || word(update, "wa_id").is_some() {
        let person = NamedPerson::of(update, &["wa_id"], &change.contacts);
        for name in person.split().into_iter().flat_map(|(name, more)| [vec![name], more].concat())
        {
            if !all.contains(&name) {
                all.push(name);
            }
        }
    }
    let kind = "user_id_update".to_owned();
    learnt(&all).unwrap_or_else(|| change.unknown_item(kind, "user_id_update", update, &["wa_id"]))
}
