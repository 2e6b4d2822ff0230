//! Reading JSON of unknown shape: nothing here fails, and a missing value is `None`.

#[cfg(feature = "cloud-api")]
use recado_core::Timestamp;
use recado_core::json;
use serde_json::Value;

/// Reads a body; `None` if it is not JSON. Unpaired surrogates, which gateways leave when they cut
/// a text, are replaced: they would make the whole body unreadable.
pub(crate) fn parse(body: &[u8]) -> Option<Value> {
    let mend = |_| json::read(mended(&String::from_utf8_lossy(body)).as_bytes());
    json::read(body).or_else(mend).ok().map(Value::from)
}

/// The text with every escaped half of a surrogate pair replaced.
fn mended(json: &str) -> String {
    let unit = |at: &str| {
        let digits = at.strip_prefix("\\u").and_then(|rest| rest.get(..4));
        digits.and_then(|digits| u16::from_str_radix(digits, 16).ok())
    };
    let (mut mended, mut rest) = (String::with_capacity(json.len()), json);
    while let Some(start) = rest.find('\\') {
        let (before, escape) = rest.split_at(start);
        mended.push_str(before);
        let second = escape.get(6..).and_then(unit);
        let (kept, length) = match (unit(escape), second) {
            (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => (None, 12),
            (Some(0xD800..=0xDFFF), _) => (Some("\\ufffd"), 6),
            (Some(_), _) => (None, 6),
            // Any other escape is two characters long.
            (None, _) => (None, 1 + escape[1..].chars().next().map_or(0, char::len_utf8)),
        };
        let (whole, after) = escape.split_at(length);
        mended.push_str(kept.unwrap_or(whole));
        rest = after;
    }
    mended.push_str(rest);
    mended
}

/// The value at the end of a path of fields.
pub(crate) fn at<'a>(value: &'a Value, path: &[&str]) -> Option<&'a Value> {
    path.iter().try_fold(value, |value, name| value.get(name)).filter(|value| !value.is_null())
}

/// A field that is an object.
#[cfg(feature = "evolution")]
pub(crate) fn object<'a>(
    value: &'a Value,
    name: &str,
) -> Option<&'a serde_json::Map<String, Value>> {
    value.get(name)?.as_object()
}

/// The most entries that are read of a list in a message; the core keeps fewer.
#[cfg(any(feature = "cloud-api", feature = "evolution"))]
const MOST_LISTED: usize = 1_000;

/// The first entries of a list.
#[cfg(any(feature = "cloud-api", feature = "evolution"))]
pub(crate) fn few(all: &[Value]) -> &[Value] {
    &all[..all.len().min(MOST_LISTED)]
}

/// The first entries of a list in a message.
#[cfg(any(feature = "cloud-api", feature = "evolution"))]
pub(crate) fn listed<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    few(array(value, name))
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

/// A field that is a text and not empty, or a number, as text.
#[cfg(feature = "cloud-api")]
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
#[cfg(any(feature = "waha", feature = "evolution"))]
pub(crate) fn boolean(value: &Value, name: &str) -> Option<bool> {
    value.get(name)?.as_bool()
}

/// A field that is a time in seconds since 1970, written as number or as text; `None` for a time
/// that no message can have.
#[cfg(feature = "cloud-api")]
pub(crate) fn seconds(value: &Value, name: &str) -> Option<Timestamp> {
    /// The year 9999: later ones cannot be written.
    const MAX: i64 = 253_402_300_799;
    let seconds = whole(value.get(name)?)?;
    (1..=MAX).contains(&seconds).then(|| Timestamp::from_millis(seconds * 1_000))
}

/// The text, if it has only digits and is not empty.
pub(crate) fn digits(text: &str) -> Option<&str> {
    (!text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())).then_some(text)
}

/// A person's text made valid for storing: without control characters other than line breaks and
/// tabs, and cut at a length far above the limit of any channel.
#[cfg(feature = "cloud-api")]
pub(crate) fn prose(text: &str) -> String {
    const MAX: usize = 65_536;
    recado_core::text::kept(text, MAX)
}

fn whole(value: &Value) -> Option<i64> {
    match value {
        Value::String(text) => text.trim().parse().ok(),
        other => other.as_i64(),
    }
}

#[cfg(all(test, feature = "cloud-api", feature = "waha", feature = "evolution"))]
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
    fn halves_of_characters_cost_no_more_than_themselves() {
        let read = |body: &[u8]| parse(body).map(|value| value["a"].clone());
        for (body, expected) in [
            (&br#"{"a": "x\ud83d"}"#[..], json!("x\u{fffd}")),
            (br#"{"a": "\ud83d\ud83d\ude00"}"#, json!("\u{fffd}\u{1f600}")),
            (br#"{"a": "\ude00\\ud83d\n"}"#, json!("\u{fffd}\\ud83d\n")),
            (b"{\"a\": \"\xff\"}", json!("\u{fffd}")),
        ] {
            assert_eq!(read(body), Some(expected));
        }
        for broken in [&br#"{"a": "\u12"}"#[..], br#"{"a": "\"#, br#"{"a": "\ud83d"#, b""] {
            assert_eq!(read(broken), None);
        }
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
