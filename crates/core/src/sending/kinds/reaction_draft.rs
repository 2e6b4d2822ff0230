//! Reading a reaction (X13).

use serde_json::Value;
use unicode_segmentation::UnicodeSegmentation;

use crate::body::{Required, body};
use crate::form::Form;
use crate::ids::MessageId;
use crate::input::Given;

/// The most bytes of an emoji: one grapheme may be made of many characters.
const MAX_BYTES: usize = 64;

/// The ends of a keycap, such as of `1️⃣`.
const KEYCAP: char = '\u{20E3}';

/// Whether a character begins emoji: the blocks of Unicode that hold them, and the few that stand
/// among letters and punctuation.
const fn begins_emoji(c: char) -> bool {
    matches!(
        c,
        '\u{A9}' | '\u{AE}' | '\u{203C}' | '\u{2049}' | '\u{2122}' | '\u{2139}'
            | '\u{2194}'..='\u{21AA}' | '\u{231A}'..='\u{23FF}' | '\u{24C2}'
            | '\u{25AA}'..='\u{27BF}' | '\u{2934}' | '\u{2935}' | '\u{2B05}'..='\u{2B55}'
            | '\u{3030}' | '\u{303D}' | '\u{3297}' | '\u{3299}' | '\u{1F000}'..='\u{1FAFF}'
    )
}

/// One emoji: a grapheme with a symbol in it, which letters, digits, punctuation and what is not
/// seen are not (R360). Null has a meaning of its own and has to be written.
pub(crate) struct Emoji;

impl Form for Emoji {
    type Value = String;

    fn read(value: &Value) -> Result<String, String> {
        let text = value.as_str().ok_or("must be a string, or null")?;
        let is_one = text.graphemes(true).count() == 1 && text.len() <= MAX_BYTES;
        let has_symbol = text.chars().any(|c| begins_emoji(c) || c == KEYCAP);
        let is_odd = text.chars().any(|c| c.is_control() || c.is_whitespace());
        match is_one && has_symbol && !is_odd {
            true => Ok(text.to_owned()),
            false => Err("must be one emoji, or null".to_owned()),
        }
    }

    #[cfg(feature = "openapi")]
    fn schema() -> crate::openapi::Property {
        crate::openapi::text(|text| crate::openapi::example(text, "👍"))
    }
}

/// A field that has to be there; null is a value of it.
pub(crate) struct Withdrawable;

impl crate::body::BodyField for Withdrawable {
    type Value = Given<String>;
    const REQUIRED: bool = true;
    const NULLABLE: bool = true;

    fn read(input: &mut crate::input::Input<'_>, name: &'static str) -> Option<Given<String>> {
        match input.field::<Emoji>(name)? {
            Given::Absent => input.refuse(name, "is required; null withdraws the reaction"),
            given => Some(given),
        }
    }

    crate::body::as_form!(Emoji);
}

body! {
    /// A reaction to a message.
    #[derive(Clone, PartialEq, Eq)]
    pub struct SendReaction as "SendReaction" {
        /// The message.
        message as "message_id": MessageId = Required<MessageId>,
        /// One emoji; null withdraws the reaction.
        emoji: Given<String> = Withdrawable,
    }
}

body! {
    /// A reaction to the message that the path names.
    #[derive(Clone, PartialEq, Eq)]
    pub struct ReactDraft as "React" {
        /// One emoji; null withdraws the reaction.
        emoji: Given<String> = Withdrawable,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// X13, R360.
    #[test]
    fn an_emoji_is_one_grapheme() {
        for emoji in [
            "👍",
            "❤️",
            "👨‍👩‍👧‍👦",
            "🇧🇷",
            "👍🏽",
            "1️⃣",
            "#️⃣",
            "☺",
            "©️",
            "‼️",
            "ℹ️",
            "↔️",
            "⏰",
            "Ⓜ️",
            "✅",
            "⭐",
            "〰️",
            "㊗️",
            "🀄",
            "🫶🏿",
            "🏴󠁧󠁢󠁥󠁮󠁧󠁿",
        ] {
            assert_eq!(Emoji::read(&json!(emoji)), Ok(emoji.to_owned()));
        }
        for wrong in [
            "", " ", "a", "1", "#", "é", "👍👍", "ok", "\u{7}", "👍 ", "日", "—", "…", "¿", "€",
            "→", "\u{200d}", "\u{200b}", "\u{fe0f}", "\u{301}", "\u{202e}", "\u{0}",
        ] {
            assert!(Emoji::read(&json!(wrong)).is_err(), "{wrong:?}");
        }
        assert!(Emoji::read(&json!(5)).is_err());
        assert!(Emoji::read(&json!(format!("👍{}", "\u{200d}👍".repeat(20)))).is_err());
    }

    /// X13.
    #[test]
    fn the_emoji_has_to_be_written_and_null_withdraws() {
        let parse = |body: Value| ReactDraft::parse(body.as_object().expect("an object"));
        assert!(parse(json!({})).is_err());
        assert_eq!(parse(json!({"emoji": null})).expect("read").emoji, Given::Cleared);
        let given = parse(json!({"emoji": "👍"})).expect("read").emoji;
        assert_eq!(given, Given::Value("👍".to_owned()));
    }
}
