//! The types of messages as gateways name them (X1).

use serde_json::Value;

use crate::input::read_word;
use crate::messages::MessageType;

/// The names that gateways have for voice notes.
const VOICE: [&str; 2] = ["voice", "ptt"];

/// The type of a message, and whether its name is that of a voice note, which is sound (X1).
///
/// # Errors
///
/// When it is no type.
pub(super) fn read_type(value: &Value) -> Result<(MessageType, bool), String> {
    if value.as_str().is_some_and(|word| VOICE.contains(&word)) {
        return Ok((MessageType::Audio, true));
    }
    read_word(MessageType::parse, MessageType::WORDS)(value).map(|known| (known, false))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// X1.
    #[test]
    fn what_is_called_voice_or_ptt_is_sound_that_is_a_voice_note() {
        for (word, is_voice) in [("voice", true), ("ptt", true), ("audio", false)] {
            assert_eq!(read_type(&json!(word)), Ok((MessageType::Audio, is_voice)), "{word}");
        }
        assert!(read_type(&json!("Voice")).is_err());
        assert!(read_type(&json!(null)).is_err());
    }
}
