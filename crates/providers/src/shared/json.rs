//! Reading JSON of unknown shape: nothing here fails, what is not there is `None`.

use recado_core::Timestamp;
use serde_json::{Map, Value};

/// Reads a body; `None` if it is not JSON.
pub(crate) fn parse(body: &[u8]) -> Option<Value> {
    serde_json::from_slice(body).ok()
}

/// What lies at the end of a path of fields.
pub(crate) fn at<'a>(value: &'a Value, path: &[&str]) -> Option<&'a Value> {
    path.iter().try_fold(value, |value, name| value.get(name)).filter(|value| !value.is_null())
}

/// A field that is an object.
pub(crate) fn object<'a>(value: &'a Value, name: &str) -> Option<&'a Map<String, Value>> {
    value.get(name)?.as_object()
}

/// The items of a field; none if it is no array.
pub(crate) fn array<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// A field that is a text.
pub(crate) fn text<'a>(value: &'a Value, name: &str) -> Option<&'a str> {
    value.get(name)?.as_str()
}

/// A text at the end of a path of fields.
pub(crate) fn text_at<'a>(value: &'a Value, path: &[&str]) -> Option<&'a str> {
    at(value, path)?.as_str()
}

/// A field that is a text with something in it, or a number, as text.
pub(crate) fn word(value: &Value, name: &str) -> Option<String> {
    match value.get(name)? {
        Value::String(text) if !text.is_empty() => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// A field that is a whole number, written as number or as text.
pub(crate) fn integer(value: &Value, name: &str) -> Option<i64> {
    whole(value.get(name)?)
}

/// A field that is `true` or `false`.
pub(crate) fn boolean(value: &Value, name: &str) -> Option<bool> {
    value.get(name)?.as_bool()
}

/// A field that is a time in seconds since 1970, written as number or as text; `None` for what no
/// message can have as its time.
pub(crate) fn seconds(value: &Value, name: &str) -> Option<Timestamp> {
    /// The year 9999: later ones cannot be written.
    const MAX: i64 = 253_402_300_799;
    let seconds = whole(value.get(name)?)?;
    (1..=MAX).contains(&seconds).then(|| Timestamp::from_millis(seconds * 1_000))
}

/// The text, if it has digits only, and some.
pub(crate) fn digits(text: &str) -> Option<&str> {
    (!text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())).then_some(text)
}

/// What somebody wrote, as it can be kept: without control characters save line breaks and tabs,
/// and cut far above what any channel carries.
pub(crate) fn prose(text: &str) -> String {
    const MAX: usize = 65_536;
    text.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')).take(MAX).collect()
}

fn whole(value: &Value) -> Option<i64> {
    match value {
        Value::String(text) => text.trim().parse().ok(),
        other => other.as_i64(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_and_times_come_as_numbers_and_as_texts() {
        let value = json!({"a": 7, "b": "7", "c": "x", "d": 1_760_000_000, "e": "1760000000",
            "f": i64::MAX, "g": -1, "h": 1.5});
        assert_eq!((integer(&value, "a"), integer(&value, "b")), (Some(7), Some(7)));
        assert_eq!((integer(&value, "c"), integer(&value, "h")), (None, None));
        let time = Some(Timestamp::from_millis(1_760_000_000_000));
        assert_eq!((seconds(&value, "d"), seconds(&value, "e")), (time, time));
        assert_eq!((seconds(&value, "f"), seconds(&value, "g")), (None, None));
    }

    #[test]
    fn what_has_another_shape_is_not_there() {
        let value = json!({"a": {"b": null}, "c": [1], "d": ""});
        assert_eq!(at(&value, &["a", "b"]), None);
        assert_eq!(text_at(&value, &["a", "b", "c"]), None);
        assert!(array(&value, "a").is_empty() && array(&json!(7), "a").is_empty());
        assert_eq!(word(&value, "d"), None);
        assert!(object(&value, "c").is_none() && object(&value, "a").is_some());
    }
}
