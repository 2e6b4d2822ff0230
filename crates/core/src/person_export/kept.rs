//! Kept events in an export: what of them is about the contact, and not about others (R411).

use serde_json::{Value, json};

use crate::contacts::{ChannelKey, Contact, Identifier, KeptOfPerson};
use crate::conversations::ChannelQuery;
use crate::gateway::UnknownEvent;
use crate::store::{Reads, StoreError};

/// The most names for which a part of an event is searched. One with more is left out.
const NAMES: usize = 1_000;

/// What is shown of an event's body: all of it, if the event is about the contact. Of one that is
/// about nobody who is known, the parts that name the contact and no other one. `None` if nothing
/// can be shown.
///
/// R411.
pub(super) async fn body_for(
    store: &dyn Reads,
    contact: &Contact,
    kept: &KeptOfPerson<'_>,
    event: &UnknownEvent,
) -> Result<Option<Value>, StoreError> {
    let text = event.body.expose();
    if event.contact == Some(contact.id) {
        return Ok(Some(serde_json::from_str(text).unwrap_or_else(|_| json!(text))));
    }
    let Some(body) = serde_json::from_str(text).ok().filter(|_| event.contact.is_none()) else {
        return Ok(None);
    };
    let mut parts = Vec::new();
    find_parts(&body, &body, &|text| kept.are_in(text), &mut parts);
    for part in &parts {
        if names_another(store, contact, part).await? {
            return Ok(None);
        }
    }
    match parts.as_slice() {
        [] => Ok(None),
        [part] if std::ptr::eq(*part, &raw const body) => Ok(Some(body)),
        parts => Ok(Some(json!(parts))),
    }
}

/// Finds the innermost entries of lists that hold a name, or the whole body where it stands in
/// none: a call may bring entries about many people.
fn find_parts<'a>(
    value: &'a Value,
    within: &'a Value,
    is_name: &impl Fn(&str) -> bool,
    parts: &mut Vec<&'a Value>,
) {
    let mut found = |is_found: bool| {
        if is_found && !parts.iter().any(|part| std::ptr::eq(*part, within)) {
            parts.push(within);
        }
    };
    match value {
        Value::String(text) => found(is_name(text)),
        Value::Number(number) => found(is_name(&number.to_string())),
        Value::Array(items) => {
            for item in items {
                let within = if item.is_object() { item } else { within };
                find_parts(item, within, is_name, parts);
            }
        }
        Value::Object(fields) => {
            found(fields.keys().any(|key| is_name(key)));
            for value in fields.values() {
                find_parts(value, within, is_name, parts);
            }
        }
        Value::Null | Value::Bool(_) => {}
    }
}

/// All texts that could be a name on a channel.
fn texts_of(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::String(text) => texts.push(text.clone()),
        Value::Number(number) => texts.push(number.to_string()),
        Value::Array(items) => items.iter().for_each(|item| texts_of(item, texts)),
        Value::Object(fields) => {
            texts.extend(fields.keys().cloned());
            fields.values().for_each(|value| texts_of(value, texts));
        }
        Value::Null | Value::Bool(_) => {}
    }
}

/// Whether a part of an event has the name of another contact of the company.
async fn names_another(
    store: &dyn Reads,
    contact: &Contact,
    part: &Value,
) -> Result<bool, StoreError> {
    let mut texts = Vec::new();
    texts_of(part, &mut texts);
    texts.sort();
    texts.dedup();
    if texts.len() > NAMES {
        return Ok(true);
    }
    let keys: Vec<ChannelKey> = texts.iter().filter_map(|text| ChannelKey::parse(text)).collect();
    let query = ChannelQuery {
        identifiers: texts.iter().filter_map(|text| Identifier::parse(text)).collect(),
        phones: keys.iter().filter_map(ChannelKey::phone).collect(),
        keys,
        per_phone: Some(2),
        ..ChannelQuery::default()
    };
    let known = store.channel_contacts(contact.company, &query).await?;
    Ok(known.iter().any(|known| known.contact.id != contact.id))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(body: &Value) -> Vec<Value> {
        let mut found = Vec::new();
        find_parts(body, body, &|text| text.contains("ana"), &mut found);
        found.into_iter().cloned().collect()
    }

    /// R411.
    #[test]
    fn the_parts_that_name_somebody_are_the_innermost_entries_of_lists() {
        let whole = json!({"from": {"user": "ana"}, "text": "oi", "ids": ["x"]});
        assert_eq!(parts(&whole), std::slice::from_ref(&whole));
        let (ana, caio) = (json!({"from": "ana", "text": {"body": "a"}}), json!({"from": "caio"}));
        let batch = json!({"entry": [{"messages": [caio, ana], "status": [{"to": "caio"}]}]});
        assert_eq!(parts(&batch), std::slice::from_ref(&ana));
        assert_eq!(parts(&json!([{"ana@c.us": 1}, {"x": null}])), [json!({"ana@c.us": 1})]);
        let both = json!({"from": "x", "aliases": ["ana", "caio"]});
        assert_eq!(parts(&json!([both, ana])), [both, ana]);
        assert_eq!(parts(&json!([caio, true])), [] as [Value; 0]);
    }
}
