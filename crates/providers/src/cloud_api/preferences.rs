//! Contacts' preferences for marketing messages, set in the channel's own app (D43, D44).

use recado_core::gateway::{GatewayEvent, Incoming, Preference, PreferenceReport};
use serde_json::Value;

use super::changes::Change;
use super::people::NamedPerson;
use crate::shared::{array, seconds, text};

/// The only known category; others are events that are not known.
const MARKETING: &str = "marketing_messages";
/// The fields that name the person.
const PERSON: [&str; 3] = ["wa_id", "user_id", "parent_user_id"];

/// The events of a change of preferences.
pub(super) fn read(change: &Change<'_>) -> Vec<Incoming> {
    let is_known = change.value.get("user_preferences").is_some_and(Value::is_array);
    let wishes = array(change.value, "user_preferences").iter();
    let wishes = wishes.map(|wish| {
        let kept = |reason| change.unknown_item(reason, "user_preferences", wish, &PERSON);
        one(change, wish).or_else(kept)
    });
    wishes.chain(change.rest(&["user_preferences"], is_known)).collect()
}

fn one(change: &Change<'_>, wish: &Value) -> Incoming {
    let not_known = |word: &str| {
        let kind = format!("user_preferences.{word}");
        change.unknown_item(kind, "user_preferences", wish, &PERSON)
    };
    if let Some(category) = text(wish, "category").filter(|category| *category != MARKETING) {
        return not_known(category);
    }
    let preference = match text(wish, "value") {
        Some("stop") => Preference::Stop,
        // A contact who signs up after a stop wants the messages again.
        Some("resume" | "signup") => Preference::Resume,
        Some(other) => return not_known(other),
        None => return Err("a preference says nothing".to_owned()),
    };
    let person = NamedPerson::of(wish, &PERSON, &change.contacts);
    let (peer, aliases) = person.split().ok_or_else(|| "a preference names nobody".to_owned())?;
    let timestamp = seconds(wish, "timestamp");
    Ok(GatewayEvent::Preference(PreferenceReport {
        aliases,
        timestamp,
        history: false,
        ..PreferenceReport::new(peer, preference)
    }))
}
