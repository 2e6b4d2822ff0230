//! Ids of messages: their stable part, and the form of ids that this adapter assigns.

use recado_core::ids::MessageId;
use recado_core::messages::ProviderMessageId;
use recado_core::{Cell, Timestamp};
use serde_json::Value;
use uuid::Uuid;

use crate::shared::{boolean, text};

/// How much the time in an assigned id may differ from the time of the message.
const APART_MS: i64 = 24 * 60 * 60 * 1000;

/// The id of a message. Engines write it as `{fromMe}_{chat}_{raw}[_{participant}]`, as raw part
/// alone, or as an object. Only the raw part is the same everywhere: the chat may be a phone in one
/// event and a LID in the next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct MessageKey {
    /// The raw part.
    pub(super) raw: ProviderMessageId,
    /// Whether the paired number sent it, if the id has it.
    pub(super) from_me: Option<bool>,
    /// The chat, if the id has it.
    pub(super) chat: Option<String>,
    /// The group's participant who wrote it, if the id has it.
    pub(super) participant: Option<String>,
}

impl MessageKey {
    /// Reads an id from a text; `None` for what cannot be one.
    pub(super) fn parse(written: &str) -> Option<Self> {
        let parts: Vec<&str> = written.split('_').collect();
        let (from_me, rest) = match parts.as_slice() {
            ["true", rest @ ..] => (Some(true), rest),
            ["false", rest @ ..] => (Some(false), rest),
            _ => (None, &[][..]),
        };
        let owned = |part: &&str| (*part).to_owned();
        let (chat, raw, participant) = match (from_me, rest) {
            (Some(_), [chat, raw]) => (Some(owned(chat)), *raw, None),
            (Some(_), [chat, raw, participant]) => {
                (Some(owned(chat)), *raw, Some(owned(participant)))
            }
            _ => (None, written, None),
        };
        let from_me = from_me.filter(|_| chat.is_some());
        Some(Self { raw: ProviderMessageId::parse(raw)?, from_me, chat, participant })
    }

    /// Reads an id in the form of any engine.
    pub(super) fn of(value: &Value) -> Option<Self> {
        if let Some(written) = value.as_str() {
            return Self::parse(written);
        }
        if let Some(written) = text(value, "_serialized") {
            return Self::parse(written);
        }
        let first = |names: &[&str]| names.iter().find_map(|name| text(value, name));
        Some(Self {
            raw: ProviderMessageId::parse(first(&["id", "ID"])?)?,
            from_me: boolean(value, "fromMe"),
            chat: first(&["remoteJid", "remoteJID", "remote"]).map(str::to_owned),
            participant: first(&["participant"]).map(str::to_owned),
        })
    }
}

/// The raw id that is assigned to a message if the engine accepts one (R113).
pub(super) fn raw_of(id: MessageId) -> String {
    format!("{:X}", id.uuid().simple())
}

/// The message id in this raw id, if it has the form of an assigned one. Phones make such ids too,
/// so the core checks whether the message exists.
pub(super) fn reference_of(raw: &ProviderMessageId) -> Option<MessageId> {
    let raw = raw.as_str();
    let upper = raw.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'A'..=b'F'));
    let id = (raw.len() == 32 && upper).then(|| Uuid::try_parse(raw).ok()).flatten()?;
    (!id.is_nil()).then(|| MessageId::new(id))
}

/// Whether an id of this form was surely assigned to a message of this time: it contains the time.
pub(super) fn is_surely_ours(id: MessageId, at: Option<Timestamp>) -> bool {
    let uuid = id.uuid();
    let made = i64::try_from(uuid.as_u128() >> 80).unwrap_or(i64::MAX);
    let near = at.is_some_and(|at| made.abs_diff(at.millis()) <= APART_MS.unsigned_abs());
    Cell::of_uuid(uuid).is_some() && near
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn key(from_me: bool, chat: &str, raw: &str, participant: Option<&str>) -> MessageKey {
        MessageKey {
            raw: ProviderMessageId::from_stored(raw.to_owned()),
            from_me: Some(from_me),
            chat: Some(chat.to_owned()),
            participant: participant.map(str::to_owned),
        }
    }

    #[test]
    fn an_id_is_read_however_an_engine_writes_it() {
        let expected = Some(key(true, "55@c.us", "3EB0", None));
        assert_eq!(MessageKey::of(&json!("true_55@c.us_3EB0")), expected);
        assert_eq!(MessageKey::of(&json!({"_serialized": "true_55@c.us_3EB0"})), expected);
        let raw = json!({"remoteJid": "55@c.us", "fromMe": true, "id": "3EB0"});
        assert_eq!(MessageKey::of(&raw), expected);
        let group = MessageKey::parse("false_1-2@g.us_3EB0_9@lid");
        assert_eq!(group, Some(key(false, "1-2@g.us", "3EB0", Some("9@lid"))));
    }

    #[test]
    fn a_text_of_another_form_is_the_raw_id_itself() {
        for raw in ["3EB0", "true", "true_", "a_b_c", "true_a_b_c_d"] {
            let key = MessageKey::parse(raw).expect("an id");
            assert_eq!((key.raw.as_str(), key.chat, key.from_me), (raw, None, None));
        }
        assert_eq!(MessageKey::parse(""), None);
        assert_eq!(MessageKey::of(&json!(7)), None);
        assert_eq!(MessageKey::parse("true_55@c.us_"), None);
    }

    #[test]
    fn an_id_of_ours_comes_back_from_its_raw_form() {
        let id = MessageId::parse("01987d5c-a400-7abc-8def-0123456789ab").expect("an id");
        let raw = raw_of(id);
        assert_eq!(raw, "01987D5CA4007ABC8DEF0123456789AB");
        let of = |raw: &str| reference_of(&ProviderMessageId::from_stored(raw.to_owned()));
        assert_eq!(of(&raw), Some(id));
        for other in [&raw.to_lowercase(), &raw[1..], "3EB0A1B2C3D4E5F60718", &"0".repeat(32)] {
            assert_eq!(of(other), None, "{other}");
        }
    }

    #[test]
    fn only_an_id_with_the_time_of_its_message_is_surely_ours() {
        let id = MessageId::parse("01987d5c-a400-7abc-8def-0123456789ab").expect("an id");
        let made = Timestamp::from_millis(0x0198_7d5c_a400);
        assert!(is_surely_ours(id, Some(made)));
        let later = Timestamp::from_millis(made.millis() + APART_MS + 1);
        assert!(!is_surely_ours(id, Some(later)) && !is_surely_ours(id, None));
        let other = MessageId::parse("01987d5c-a400-4abc-8def-0123456789ab").expect("an id");
        assert!(!is_surely_ours(other, Some(made)));
    }
}
