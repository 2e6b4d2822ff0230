//! The text of locations and address cards (D31a).

use serde_json::Value;

use crate::shared::{prose, text, text_at, word};

/// `lat,lng name`.
pub(super) fn location(body: &Value) -> Option<String> {
    let (latitude, longitude) = (word(body, "latitude")?, word(body, "longitude")?);
    let name = text(body, "name").map(prose).unwrap_or_default();
    Some(prose(format!("{latitude},{longitude} {name}").trim_end()))
}

/// The names on the cards; a card without a name is its first phone.
pub(super) fn names(body: &Value) -> Option<String> {
    let name = |card: &Value| {
        let written = text_at(card, &["name", "formatted_name"])
            .or_else(|| text_at(card, &["name", "first_name"]));
        let phone = || card.get("phones")?.get(0)?.get("phone")?.as_str();
        written.or_else(phone).map(prose)
    };
    let names: Vec<String> = body.as_array()?.iter().filter_map(name).collect();
    (!names.is_empty()).then(|| prose(&names.join(", ")))
}
