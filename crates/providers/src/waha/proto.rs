//! A message in the channel's own form, which engines without a browser report in `_data`.
//!
//! NOWEB writes it as Baileys does, GOWS as whatsmeow does: some names differ in their case, and
//! where a field is one of several, GOWS puts it beneath a name in upper case.

use serde_json::Value;

use crate::shared::{at, integer, text as text_of};

/// Messages that contain another message.
const WRAPPERS: [&str; 13] = [
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
    "pollCreationMessageV4",
    "associatedChildMessage",
];
/// How deep messages are unwrapped at most.
const MAX_DEPTH: usize = 4;

/// The message in the channel's own form, on engines that report it.
pub(super) fn proto(payload: &Value) -> Option<&Value> {
    let data = payload.get("_data")?;
    let message = ["message", "Message"]
        .into_iter()
        .find_map(|name| data.get(name).filter(|message| message.is_object()))?;
    Some(unwrapped(message))
}

/// The message within others.
pub(super) fn unwrapped(mut message: &Value) -> &Value {
    for _ in 0..MAX_DEPTH {
        let inner = WRAPPERS.iter().find_map(|name| at(message, &[name, "message"]));
        match inner.filter(|inner| inner.is_object()) {
            Some(inner) => message = inner,
            None => break,
        }
    }
    message
}

/// The names of the fields that hold something.
pub(super) fn fields(proto: Option<&Value>) -> impl Iterator<Item = &str> {
    let fields = proto.and_then(Value::as_object).into_iter().flatten();
    fields.filter(|(_, value)| !value.is_null()).map(|(name, _)| name.as_str())
}

/// A field that is one of several: itself, or beneath a name in upper case.
pub(super) fn variant<'a>(value: &'a Value, name: &str) -> Option<&'a Value> {
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
pub(super) fn first<'a>(value: &'a Value, names: &[&str]) -> Option<&'a str> {
    names.iter().find_map(|name| text_of(value, name).filter(|text| !text.trim().is_empty()))
}

/// A whole number, also in the two halves in which Baileys keeps large ones.
pub(super) fn whole(value: &Value, name: &str) -> Option<i64> {
    integer(value, name).or_else(|| {
        let halves = value.get(name)?;
        let (high, low) = (integer(halves, "high")?, integer(halves, "low")?);
        high.checked_mul(1 << 32)?.checked_add(low & 0xFFFF_FFFF)
    })
}

/// What a message refers to: the context of the first field that has one.
pub(super) fn context(proto: &Value) -> Option<&Value> {
    let mut fields = proto.as_object()?.values();
    fields.find_map(|field| at(field, &["contextInfo"]))
}
