//! Contacts' preferences for marketing messages, set in the channel's own app (D43, D44).

use recado_core::gateway::{GatewayEvent, Incoming, Preference, PreferenceReport};
use serde_json::Value;

use super::changes::unknown;
use super::people::{Contacts, NamedPerson};
use crate::shared::{array, seconds, text};

/// The only known category; others are ignored.
const MARKETING: &str = "marketing_messages";

/// The events of a change of preferences.
pub(super) fn read(value: &Value) -> Vec<Incoming> {
    if !value.get("user_preferences").is_some_and(Value::is_array) {
        return vec![unknown("user_preferences".to_owned(), value)];
    }
    array(value, "user_preferences")
        .iter()
        .filter(|wish| text(wish, "category").is_none_or(|category| category == MARKETING))
        .map(|wish| one(value, wish))
        .collect()
}

fn one(value: &Value, wish: &Value) -> Incoming {
    let preference = match text(wish, "value") {
        Some("stop") => Preference::Stop,
        // A contact who signs up after a stop wants the messages again.
        Some("resume" | "signup") => Preference::Resume,
        Some(other) => return unknown(format!("user_preferences.{other}"), wish),
        None => return Err("a preference says nothing".to_owned()),
    };
    let person =
        NamedPerson::of(wish, &["wa_id", "user_id", "parent_user_id"], Contacts::of(value));
    let (peer, aliases) = person.split().ok_or_else(|| "a preference names nobody".to_owned())?;
    let timestamp = seconds(wish, "timestamp");
    Ok(GatewayEvent::Preference(PreferenceReport {
        aliases,
        timestamp,
        ..PreferenceReport::new(peer, preference)
    }))
}
