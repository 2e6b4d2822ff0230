//! Texts and times of the gateway, made valid for storing.

use recado_core::Timestamp;
use recado_core::text::{self, SHORT};
use serde_json::Value;

/// How many characters of a message's text are kept.
const LONG: usize = 65_536;
/// From here on a number is taken for milliseconds: as seconds it would be the year 5138.
const MILLIS_FROM: f64 = 1e11;

/// A person's text without control characters, cut to the length that is kept; `None` if nothing is
/// left.
pub(super) fn long(text: &str) -> Option<String> {
    kept(text, LONG)
}

/// A name, in one line.
pub(super) fn short(text: &str) -> Option<String> {
    kept(text.trim(), SHORT).map(|name| name.replace(['\n', '\t'], " "))
}

fn kept(text: &str, most: usize) -> Option<String> {
    let kept = text::kept(text, most);
    (!kept.trim().is_empty()).then_some(kept)
}

/// A time in seconds, with or without a fraction, or in milliseconds; as number or as text.
pub(super) fn time(value: Option<&Value>) -> Option<Timestamp> {
    let number = match value? {
        Value::String(text) => text.trim().parse().ok()?,
        other => other.as_f64()?,
    };
    let millis = if number < MILLIS_FROM { number * 1000.0 } else { number };
    #[expect(clippy::cast_possible_truncation, reason = "it is checked to fit")]
    let whole = millis.round() as i64;
    (millis.is_finite() && (1.0..253_402_300_800_000.0).contains(&millis))
        .then(|| Timestamp::from_millis(whole))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_time_is_read_in_every_form() {
        for written in [
            json!(1_760_000_000),
            json!("1760000000"),
            json!(1_760_000_000.0),
            json!(1_760_000_000_000_i64),
        ] {
            let read = time(Some(&written));
            assert_eq!(read, Some(Timestamp::from_millis(1_760_000_000_000)), "{written}");
        }
        assert_eq!(time(Some(&json!(1.5))), Some(Timestamp::from_millis(1500)));
        for written in [json!(null), json!(0), json!(-5), json!("x"), json!(1e300), json!("NaN")] {
            assert_eq!(time(Some(&written)), None, "{written}");
        }
    }

    #[test]
    fn a_text_loses_its_controls_and_what_is_too_much() {
        assert_eq!(long("a\u{0}b\nc").as_deref(), Some("ab\nc"));
        assert_eq!(long(" \n"), None);
        assert_eq!(short(" Ana\nMaria ").as_deref(), Some("Ana Maria"));
        assert_eq!(short(&"é".repeat(300)).map(|name| name.chars().count()), Some(SHORT));
        assert_eq!(long(&"é".repeat(LONG + 1)).map(|text| text.chars().count()), Some(LONG));
    }
}
