//! The checks of files, places, address cards and reactions.

use serde_json::{Map, Value};

use super::check::{Media, bounded, only, string};

/// The most characters of a caption.
const CAPTION: usize = 1024;
/// The most cards of a message.
const CARDS: usize = 257;

/// Checks a message with a file; answers its caption and its file.
pub(super) fn media(kind: &str, content: &Value) -> Result<(Option<String>, Media), String> {
    let optional: &[&str] = match kind {
        "image" | "video" => &["caption"],
        "document" => &["caption", "filename"],
        "audio" => &["voice"],
        _ => &[],
    };
    let object = only(content, kind, &["id"], optional)?;
    if object.contains_key("filename") {
        string(object, "filename")?;
    }
    let caption = match object.contains_key("caption") {
        true => Some(bounded(object, "caption", CAPTION)?),
        false => None,
    };
    let is_voice = match object.get("voice") {
        None => false,
        Some(Value::Bool(is_voice)) => *is_voice,
        Some(_) => return Err("voice is neither true nor false".to_owned()),
    };
    let media = Media { kind: kind.to_owned(), id: string(object, "id")?, is_voice };
    Ok((caption, media))
}

/// Checks a place; answers its name.
pub(super) fn location(content: &Value) -> Result<Option<String>, String> {
    let object = only(content, "location", &["latitude", "longitude"], &["name", "address"])?;
    for (name, most) in [("latitude", 90.0), ("longitude", 180.0)] {
        let degrees: f64 =
            string(object, name)?.parse().map_err(|_| format!("{name}: a number"))?;
        if !(-most..=most).contains(&degrees) {
            return Err(format!("{name} is {degrees}"));
        }
    }
    for name in ["name", "address"] {
        if object.contains_key(name) {
            string(object, name)?;
        }
    }
    Ok(object.get("name").and_then(Value::as_str).map(str::to_owned))
}

/// Checks address cards; answers the name on the first.
pub(super) fn contacts(content: &Value) -> Result<String, String> {
    let cards = content.as_array().ok_or("contacts is no list")?;
    if !(1..=CARDS).contains(&cards.len()) {
        return Err(format!("{} cards", cards.len()));
    }
    let names = cards.iter().map(card).collect::<Result<Vec<_>, _>>()?;
    names.into_iter().next().ok_or_else(|| "no card".to_owned())
}

fn card(card: &Value) -> Result<String, String> {
    const MORE: [&str; 6] = ["phones", "emails", "org", "urls", "addresses", "birthday"];
    let card = only(card, "a card", &["name"], &MORE)?;
    let name = only(
        &card["name"],
        "the name of a card",
        &["formatted_name"],
        &["first_name", "last_name", "middle_name", "suffix", "prefix"],
    )?;
    if name.len() < 2 {
        return Err("a formatted name stands alone".to_owned());
    }
    each(card, "phones", "phone", &["type", "wa_id"])?;
    each(card, "emails", "email", &["type"])?;
    each(card, "urls", "url", &["type"])?;
    if let Some(org) = card.get("org") {
        only(org, "org", &["company"], &["department", "title"])?;
    }
    string(name, "formatted_name")
}

/// Checks a list of a card: each entry has this text.
fn each(
    card: &Map<String, Value>,
    list: &str,
    field: &str,
    optional: &[&str],
) -> Result<(), String> {
    let Some(list) = card.get(list) else { return Ok(()) };
    let list = list.as_array().filter(|list| !list.is_empty()).ok_or("a list is empty")?;
    for entry in list {
        let entry = only(entry, field, &[field], optional)?;
        string(entry, field)?;
        if let Some(id) = entry.get("wa_id") {
            let digits = id.as_str().unwrap_or_default();
            if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
                return Err(format!("the wa_id {id}"));
            }
        }
    }
    Ok(())
}

/// Checks a reaction; answers the emoji, which is empty where it is withdrawn.
pub(super) fn reaction(content: &Value) -> Result<String, String> {
    let object = only(content, "reaction", &["message_id", "emoji"], &[])?;
    string(object, "message_id")?;
    let emoji = object["emoji"].as_str().ok_or("emoji is no text")?;
    Ok(emoji.to_owned())
}
