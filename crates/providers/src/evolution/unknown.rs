//! Messages of kinds that nobody can show: whatever text they have stays (X9).

use recado_core::messages::{Blocks, MessageType, Unsupported};
use serde_json::Value;

use super::body::{self, MessageContent};
use super::values::short;
use crate::shared::proto::text_of_unknown;
use crate::shared::{at, text};

/// What the channel shows in place of a message for the phone only; its type is the reason.
const HIDDEN: &str = "placeholderMessage";
/// Where it has a message with a text.
const NOTES: &[&[&str]] = &[&["noteMessage"], &["message"]];

/// The message of a kind that is not known, by the record around it.
pub(super) fn message(message: &Value, record: &Value) -> MessageContent {
    let kind = body::kind_of(message);
    let part = kind.and_then(|kind| message.get(kind)).unwrap_or(&Value::Null);
    let unsupported = Unsupported {
        reason: text(part, "type").filter(|_| kind == Some(HIDDEN)).and_then(short),
        provider_type: kind.or_else(|| text(record, "messageType")).and_then(short),
    };
    let note = || {
        let mut notes = NOTES.iter().filter_map(|path| at(part, path));
        notes.find_map(|note| body::inner(note)?.content)
    };
    let said = text_of_unknown(part).or_else(note);
    let blocks = Blocks { unsupported: Some(unsupported), ..Blocks::default() };
    MessageContent { content: said, ..MessageContent::with(MessageType::Unsupported, blocks) }
}
