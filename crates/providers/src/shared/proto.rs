//! Messages in the channel's own form, which gateways of paired phones pass on.
//!
//! Most engines write them as Baileys does. GOWS writes them as whatsmeow does: some names differ
//! in their case, and where a field is one of several, it is beneath a name in upper case.

use recado_core::Timestamp;
use serde_json::Value;

pub(crate) use super::texts::plain;
use super::texts::text_of_unknown;
use super::{at, integer, text as text_of, text_at};

/// Messages that contain another message.
const WRAPPERS: [&str; 12] = [
    "ephemeralMessage",
    "viewOnceMessage",
    "viewOnceMessageV2",
    "viewOnceMessageV2Extension",
    "documentWithCaptionMessage",
    "editedMessage",
    "deviceSentMessage",
    "botInvokeMessage",
    "commentMessage",
    "groupMentionedMessage",
    "lottieStickerMessage",
    "associatedChildMessage",
];
/// How deep messages are unwrapped at most.
const MAX_DEPTH: usize = 8;
/// Messages whose content only the channel's own applications can decrypt, with the kind of event
/// that they are reported as.
const ENCRYPTED: [(&str, &str); 5] = [
    ("pollUpdateMessage", "poll_update_encrypted"),
    ("encReactionMessage", "reaction_encrypted"),
    ("encEventResponseMessage", "event_response_encrypted"),
    ("encCommentMessage", "comment_encrypted"),
    ("secretEncryptedMessage", "edit_encrypted"),
];
/// From here on a number is a time in milliseconds: as seconds it would be the year 5138.
const MILLIS_FROM: i64 = 100_000_000_000;
/// Where a message of a kind that is not known may have another one with its text.
const NOTES: [&str; 2] = ["noteMessage", "message"];

/// The message within others.
pub(crate) fn unwrapped(mut message: &Value) -> &Value {
    for _ in 0..MAX_DEPTH {
        match inner(message).filter(|inner| inner.is_object()) {
            Some(inner) => message = inner,
            None => break,
        }
    }
    message
}

fn inner(message: &Value) -> Option<&Value> {
    let known = WRAPPERS.iter().find_map(|name| at(message, &[name, "message"]));
    known.or_else(|| {
        // Newer versions of polls contain an older one.
        let polls = message.as_object()?.iter().filter(|(name, _)| is_newer_poll(name));
        polls.into_iter().find_map(|(_, poll)| at(poll, &["message"]))
    })
}

fn is_newer_poll(name: &str) -> bool {
    let version = name.strip_prefix("pollCreationMessageV");
    version.is_some_and(|version| super::digits(version).is_some())
}

/// Whether a field of a message is a poll, of any version.
pub(crate) fn is_poll(name: &str) -> bool {
    name == "pollCreationMessage" || is_newer_poll(name)
}

/// The names of the fields that hold something.
#[cfg(feature = "waha")]
pub(crate) fn fields(message: Option<&Value>) -> impl Iterator<Item = &str> {
    let fields = message.and_then(Value::as_object).into_iter().flatten();
    fields.filter(|(_, value)| !value.is_null()).map(|(name, _)| name.as_str())
}

/// The kind of event of a message that only the channel's own applications can decrypt.
pub(crate) fn encrypted(message: &Value) -> Option<&'static str> {
    ENCRYPTED.iter().find_map(|(name, kind)| at(message, &[name]).map(|_| *kind))
}

/// A field that is one of several: itself, or beneath a name in upper case.
pub(crate) fn variant<'a>(value: &'a Value, name: &str) -> Option<&'a Value> {
    at(value, &[name]).or_else(|| {
        let mut letters = name.chars();
        let go_name: String =
            letters.next()?.to_uppercase().chain(letters.as_str().chars()).collect();
        let groups = value.as_object()?.iter();
        let mut groups =
            groups.filter(|(group, _)| group.starts_with(|first: char| first.is_uppercase()));
        groups.find_map(|(_, group)| at(group, &[&go_name]))
    })
}

/// A text in the first of these fields that holds one: engines differ in how they write `Id`.
pub(crate) fn first<'a>(value: &'a Value, names: &[&str]) -> Option<&'a str> {
    names.iter().find_map(|name| text_of(value, name).filter(|text| !text.trim().is_empty()))
}

/// The same, made valid for storing.
pub(crate) fn said(value: &Value, names: &[&str]) -> Option<String> {
    first(value, names).and_then(plain)
}

/// A text at the end of a path of fields, made valid for storing.
pub(crate) fn said_at(value: &Value, path: &[&str]) -> Option<String> {
    text_at(value, path).and_then(plain)
}

/// A whole number: a number, a text, or the two halves in which Baileys keeps large ones.
pub(crate) fn whole(value: &Value, name: &str) -> Option<i64> {
    integer(value, name).or_else(|| {
        let halves = value.get(name)?;
        let low = integer(halves, "low")? & 0xFFFF_FFFF;
        integer(halves, "high").unwrap_or(0).checked_mul(1 << 32)?.checked_add(low)
    })
}

/// A field that is a time, in seconds or milliseconds.
pub(crate) fn time(value: &Value, name: &str) -> Option<Timestamp> {
    let number = whole(value, name)?;
    let millis = if number < MILLIS_FROM { number.checked_mul(1_000)? } else { number };
    (1..=Timestamp::MAX.millis()).contains(&millis).then(|| Timestamp::from_millis(millis))
}

/// The text in a part of a message whose kind is not known: its own, or that of the first note in
/// it which `read` can read.
pub(crate) fn said_in_unknown(
    part: &Value,
    read: impl Fn(&Value) -> Option<String>,
) -> Option<String> {
    let note = || NOTES.iter().find_map(|name| read(unwrapped(at(part, &[name])?)));
    text_of_unknown(part).or_else(note)
}

/// What a message of the protocol itself is.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Protocol {
    /// A message is deleted for everybody.
    Revoked,
    /// A message is changed.
    Edited,
    /// Keys, settings and the history: nothing that a person wrote.
    Internal,
    /// A kind that is not known, by its name.
    Unknown(String),
}

/// Kinds of messages of the protocol that are nothing that a person wrote.
const INTERNAL: [&str; 24] = [
    "EPHEMERAL_SETTING",
    "EPHEMERAL_SYNC_RESPONSE",
    "HISTORY_SYNC_NOTIFICATION",
    "APP_STATE_SYNC_KEY_SHARE",
    "APP_STATE_SYNC_KEY_REQUEST",
    "MSG_FANOUT_BACKFILL_REQUEST",
    "INITIAL_SECURITY_NOTIFICATION_SETTING_SYNC",
    "APP_STATE_FATAL_EXCEPTION_NOTIFICATION",
    "SHARE_PHONE_NUMBER",
    "PEER_DATA_OPERATION_REQUEST_MESSAGE",
    "PEER_DATA_OPERATION_REQUEST_RESPONSE_MESSAGE",
    "REQUEST_WELCOME_MESSAGE",
    "BOT_FEEDBACK_MESSAGE",
    "MEDIA_NOTIFY_MESSAGE",
    "CLOUD_API_THREAD_CONTROL_NOTIFICATION",
    "LID_MIGRATION_MAPPING_SYNC",
    "REMINDER_MESSAGE",
    "BOT_MEMU_ONBOARDING_MESSAGE",
    "STATUS_MENTION_MESSAGE",
    "STOP_GENERATION_MESSAGE",
    "LIMIT_SHARING",
    "AI_PSI_METADATA",
    "AI_QUERY_FANOUT",
    "GROUP_MEMBER_LABEL_CHANGE",
];

/// The kind of a message of the protocol, which is a number or a name.
pub(crate) fn protocol(message: &Value) -> Protocol {
    let is_edit = at(message, &["editedMessage"]).is_some();
    match message.get("type") {
        _ if is_edit => Protocol::Edited,
        None | Some(Value::Null) => Protocol::Internal,
        Some(Value::String(name)) => match name.to_ascii_uppercase().as_str() {
            "REVOKE" => Protocol::Revoked,
            "MESSAGE_EDIT" => Protocol::Edited,
            known if INTERNAL.contains(&known) => Protocol::Internal,
            _ => Protocol::Unknown(format!("protocol_message.{name}")),
        },
        Some(number) => match number.as_i64() {
            Some(0) => Protocol::Revoked,
            Some(14) => Protocol::Edited,
            Some(3..=11 | 16..=30) => Protocol::Internal,
            _ => Protocol::Unknown(format!("protocol_message.{number}")),
        },
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_poll_of_any_version_is_unwrapped() {
        for version in ["V4", "V6", "V12"] {
            let name = format!("pollCreationMessage{version}");
            let message = json!({name: {"message": {"pollCreationMessageV3": {"name": "x"}}}});
            assert!(at(unwrapped(&message), &["pollCreationMessageV3"]).is_some(), "{version}");
        }
        let other = json!({"pollCreationMessageVx": {"message": {"conversation": "x"}}});
        assert_eq!(unwrapped(&other), &other);
        assert!(is_poll("pollCreationMessage") && is_poll("pollCreationMessageV5"));
        assert!(!is_poll("pollCreationMessageV") && !is_poll("pollResultSnapshotMessage"));
    }

    #[test]
    fn the_kind_of_a_protocols_message_is_a_number_or_a_name() {
        for (kind, expected) in [
            (json!(0), Protocol::Revoked),
            (json!("REVOKE"), Protocol::Revoked),
            (json!(14), Protocol::Edited),
            (json!("APP_STATE_SYNC_KEY_SHARE"), Protocol::Internal),
            (json!(5), Protocol::Internal),
            (json!(null), Protocol::Internal),
            (json!(99), Protocol::Unknown("protocol_message.99".to_owned())),
            (json!("NEW"), Protocol::Unknown("protocol_message.NEW".to_owned())),
        ] {
            assert_eq!(protocol(&json!({ "type": kind })), expected, "{kind}");
        }
        assert_eq!(protocol(&json!({"editedMessage": {}})), Protocol::Edited);
    }

    #[test]
    fn a_whole_number_may_come_in_two_halves() {
        for (written, expected) in [
            (json!(7), Some(7)),
            (json!("7"), Some(7)),
            (json!({"low": 7, "high": 1}), Some((1 << 32) + 7)),
            (json!({"low": -1, "high": 0}), Some(0xFFFF_FFFF)),
            (json!({"low": 7}), Some(7)),
            (json!({"high": i64::MAX, "low": 1}), None),
            (json!("x"), None),
        ] {
            assert_eq!(whole(&json!({ "n": written }), "n"), expected, "{written}");
        }
    }
}
