//! Events of gateways that their adapters do not know. Their kind and shape are kept, without any
//! text that a person wrote, so that an operator can see what is ignored.

use serde_json::{Map, Value};

use crate::Timestamp;
use crate::ids::{CompanyId, ConnectionId};

/// The longest name of a kind, in characters.
pub const MAX_KIND: usize = 100;
/// How many kinds the listing of a connection holds at most (R105).
pub const MAX_UNKNOWN_KINDS: usize = 200;
/// The greatest depth of a shape.
const MAX_DEPTH: usize = 12;
/// How many fields, or items, of one value a shape shows.
const MAX_FIELDS: usize = 50;
/// How many values a shape shows in all.
const MAX_VALUES: usize = 500;
/// How long a shown text is at most.
const MAX_TEXT: usize = 40;

/// A kind of event that the adapter of a connection does not know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownKind {
    /// The company.
    pub company: CompanyId,
    /// The connection.
    pub connection: ConnectionId,
    /// What the gateway calls it.
    pub kind: String,
    /// The [`shape`] of the newest one.
    pub shape: Value,
    /// How many came.
    pub seen: u64,
    /// When the first one came.
    pub first_at: Timestamp,
    /// When the newest one came.
    pub last_at: Timestamp,
}

/// The structure of an event without its content: names of fields stay, every letter is an `x` and
/// every digit a `0`, and what is long, deep or repeated is cut (R105).
pub fn shape(value: &Value) -> Value {
    shaped(value, MAX_DEPTH, &mut { MAX_VALUES })
}

fn shaped(value: &Value, depth: usize, left: &mut usize) -> Value {
    *left = left.saturating_sub(1);
    match value {
        _ if *left == 0 => Value::from("…"),
        Value::Null | Value::Bool(_) => value.clone(),
        Value::Number(_) => Value::from(0),
        Value::String(text) => Value::from(masked(text)),
        Value::Array(_) | Value::Object(_) if depth == 0 => Value::from("…"),
        Value::Array(items) => {
            items.iter().take(1).map(|item| shaped(item, depth - 1, left)).collect()
        }
        Value::Object(fields) => {
            let shown = fields.iter().take(MAX_FIELDS);
            let shown =
                shown.map(|(name, value)| (field_name(name), shaped(value, depth - 1, left)));
            Value::Object(shown.collect::<Map<_, _>>())
        }
    }
}

/// A field's name as it is, unless it may identify a person: gateways key objects by phones.
fn field_name(name: &str) -> String {
    let plain = name.len() <= MAX_TEXT
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'-' | b'.'));
    if plain { name.to_owned() } else { masked(name) }
}

fn masked(text: &str) -> String {
    let shown = text.chars().take(MAX_TEXT).map(|c| match c {
        c if c.is_numeric() => '0',
        c if c.is_alphabetic() => 'x',
        c if c.is_ascii_punctuation() || c == ' ' => c,
        _ => '?',
    });
    shown.collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    /// R105.
    #[test]
    fn a_shape_shows_fields_and_hides_what_they_hold() {
        let event = json!({"event": "call", "from": "5511987654321@c.us", "at": 1_760_000_000,
            "ok": true, "people": [{"name": "Ana"}, {"name": "Bia"}], "5511": null});
        let shown = json!({"event": "xxxx", "from": "0000000000000@x.xx", "at": 0, "ok": true,
            "people": [{"name": "xxx"}], "0000": null});
        assert_eq!(shape(&event), shown);
    }

    #[test]
    fn a_deep_value_is_cut() {
        let deep = (0..100).fold(json!("end"), |inner, _| json!([inner]));
        assert!(shape(&deep).to_string().len() < 100);
    }

    /// R105.
    #[test]
    fn a_shape_is_small_however_wide_the_event_is() {
        let wide = |inner: Value| -> Value {
            (0..60)
                .map(|n| (format!("f{}", "x".repeat(n % 7)) + &"y".repeat(n), inner.clone()))
                .collect()
        };
        let event = wide(wide(wide(json!("text"))));
        assert!(shape(&event).to_string().len() < 40_000);
    }

    proptest! {
        /// R105.
        #[test]
        fn no_digit_and_no_word_of_a_text_is_shown(text in ".{0,80}") {
            let shown = shape(&json!(text));
            let shown = shown.as_str().expect("a text stays a text");
            prop_assert!(shown.chars().all(|c| !c.is_alphanumeric() || c == 'x' || c == '0'));
        }

        #[test]
        fn a_shape_is_its_own_shape(text in ".{0,60}", number in any::<i64>()) {
            let once = shape(&json!({"a": text, "b": [number, text]}));
            prop_assert_eq!(shape(&once), once);
        }
    }
}
