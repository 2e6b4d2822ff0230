//! Places and address cards (X2).

use recado_core::messages::{Location, SharedContact, SharedEmail, SharedPhone};
use serde_json::{Number, Value};

use super::content::words;
use crate::shared::{at, few, listed};

/// The place; `None` without coordinates.
pub(super) fn location(body: &Value) -> Option<Location> {
    Some(Location {
        latitude: degrees(body, "latitude")?,
        longitude: degrees(body, "longitude")?,
        name: words(body, "name"),
        address: words(body, "address"),
        url: words(body, "url"),
        is_live: false,
    })
}

/// A number, which may be written as text.
fn degrees(body: &Value, name: &str) -> Option<Number> {
    match body.get(name)? {
        Value::Number(number) => Some(number.clone()),
        Value::String(text) => {
            let text = text.trim();
            let written = serde_json::from_str(text).ok();
            written.or_else(|| Number::from_f64(text.parse().ok()?))
        }
        _ => None,
    }
}

/// The cards; `None` if it is no list.
pub(super) fn cards(body: &Value) -> Option<Vec<SharedContact>> {
    Some(few(body.as_array()?).iter().map(card).collect())
}

fn card(card: &Value) -> SharedContact {
    let empty = Value::Null;
    let (name, org) = (at(card, &["name"]).unwrap_or(&empty), at(card, &["org"]).unwrap_or(&empty));
    let parts = || joined(name, &["prefix", "first_name", "middle_name", "last_name"], " ");
    let phone = |phone: &Value| {
        let number = words(phone, "phone").or_else(|| words(phone, "wa_id"))?;
        Some(SharedPhone { number, kind: words(phone, "type") })
    };
    let email = |email: &Value| {
        Some(SharedEmail { email: words(email, "email")?, kind: words(email, "type") })
    };
    let address = |address: &Value| {
        joined(address, &["street", "city", "state", "zip", "country"], ", ")
            .or_else(|| words(address, "country_code"))
    };
    SharedContact {
        name: words(name, "formatted_name").or_else(parts),
        phones: listed(card, "phones").iter().filter_map(phone).collect(),
        emails: listed(card, "emails").iter().filter_map(email).collect(),
        organization: words(org, "company"),
        title: words(org, "title"),
        urls: listed(card, "urls").iter().filter_map(|url| words(url, "url")).collect(),
        addresses: listed(card, "addresses").iter().filter_map(address).collect(),
        birthday: words(card, "birthday"),
    }
}

/// The fields that hold something, in one text.
fn joined(value: &Value, fields: &[&str], separator: &str) -> Option<String> {
    let parts: Vec<String> = fields.iter().filter_map(|field| words(value, field)).collect();
    (!parts.is_empty()).then(|| parts.join(separator))
}
