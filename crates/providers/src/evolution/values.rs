//! Texts and times of the gateway, made valid for storing.

use recado_core::messages::ProviderMessageId;
use recado_core::text;
use serde_json::Value;

use crate::shared;
pub(super) use crate::shared::proto::{time, whole};

/// How many characters of what a person wrote are kept.
const MAX_LONG: usize = 65_536;
/// How many characters of a name are kept.
const MAX_SHORT: usize = 200;

/// A person's text, without characters that cannot be stored.
pub(super) fn long(text: &str) -> String {
    text::kept(text, MAX_LONG)
}

/// A name; `None` for an empty one.
pub(super) fn short(text: &str) -> Option<String> {
    let kept: String = text.trim().chars().filter(|c| !c.is_control()).take(MAX_SHORT).collect();
    (!kept.is_empty()).then_some(kept)
}

/// A field that is a text and not empty.
pub(super) fn filled<'a>(value: &'a Value, name: &str) -> Option<&'a str> {
    shared::text(value, name).filter(|text| !text.is_empty())
}

/// A field that is the id of a message.
pub(super) fn message_id(value: &Value, name: &str) -> Option<ProviderMessageId> {
    ProviderMessageId::parse(shared::text(value, name)?)
}

/// A text at the end of a path of fields, made valid for storing; `None` for an empty one.
pub(super) fn text_in(value: &Value, path: &[&str]) -> Option<String> {
    shared::text_at(value, path).map(long).filter(|text| !text.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use recado_core::Timestamp;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_time_is_read_in_each_of_its_forms() {
        let at = Some(Timestamp::from_millis(1_760_000_000_000));
        for written in [
            json!(1_760_000_000),
            json!("1760000000"),
            json!({"low": 1_760_000_000, "high": 0, "unsigned": true}),
            json!({"low": 1_760_000_000, "high": 0}),
            json!(1_760_000_000_000_u64),
            json!({"low": -936_591_360, "high": 409}),
        ] {
            assert_eq!(time(&json!({"t": written}), "t"), at, "{written}");
        }
    }

    #[test]
    fn what_is_no_time_is_none() {
        for written in [
            json!(null),
            json!(0),
            json!(-5),
            json!("soon"),
            json!(i64::MAX),
            json!(u64::MAX),
            json!({"low": "x"}),
            json!({"high": i64::MAX, "low": 1}),
            json!([1]),
        ] {
            assert_eq!(time(&json!({"t": written}), "t"), None, "{written}");
        }
    }

    #[test]
    fn texts_lose_what_cannot_be_stored_and_end_at_their_limit() {
        assert_eq!(long("a\u{0}b\nc"), "ab\nc");
        assert_eq!(long(&"é".repeat(70_000)).chars().count(), MAX_LONG);
        assert_eq!(short(" A\u{1b}na "), Some("Ana".to_owned()));
        assert_eq!(short(" \u{0} "), None);
    }
}
