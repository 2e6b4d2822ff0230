//! Which person a row is about (R426).

use serde_json::{Map, Value};

use crate::contacts::{Phone, Region};

/// What identifies the contact of a row once it is stored.
pub(super) fn identity(body: &Map<String, Value>, region: &Region) -> Option<String> {
    let text = |name: &str| body.get(name).and_then(Value::as_str).map(str::trim);
    let of_phone = |phone| Phone::parse(phone, region).ok();
    let platform = text("source_platform").unwrap_or("whatsapp");
    let digits = |phone: Phone| phone.as_str().trim_start_matches('+').to_owned();
    let identifier = text("identifier").map(|identifier| {
        Phone::on_channel(identifier).map_or_else(|| identifier.to_owned(), digits)
    });
    let identifier = identifier.or_else(|| text("phone").and_then(of_phone).map(digits));
    identifier.map(|identifier| format!("{platform} {identifier}"))
}

/// What two rows must not share to be imported at the same time, as it is written.
pub fn person_keys(body: &Map<String, Value>) -> Vec<String> {
    let texts = ["identifier", "email"].into_iter().filter_map(|name| {
        let text = body.get(name)?.as_str()?.trim().to_lowercase();
        Some(format!("{name} {text}"))
    });
    let phone = body.get("phone").and_then(Value::as_str);
    texts.chain(phone.map(|phone| format!("phone {}", last_digits(phone)))).collect()
}

/// The last digits of a phone: it can be written in several ways, but these are always the same.
pub fn last_digits(phone: &str) -> String {
    const DIGITS: usize = 8;
    let digits: Vec<char> = phone.chars().filter(char::is_ascii_digit).collect();
    digits[digits.len().saturating_sub(DIGITS)..].iter().collect()
}
