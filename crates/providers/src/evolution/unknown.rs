//! Messages of kinds that nobody can show: whatever text they have stays (X9).

use recado_core::messages::{Blocks, MessageType, Unsupported};
use serde_json::Value;

use super::body::{self, MessageContent};
use super::values::short;
use crate::shared::proto::said_in_unknown;
use crate::shared::{stub, text};

/// What the channel shows in place of a message for the phone only; its type is the reason.
const HIDDEN: &str = "placeholderMessage";

/// The message of a kind that is not known, by the record around it.
pub(super) fn message(message: &Value, record: &Value) -> MessageContent {
    let kind = body::kind_of(message);
    let part = kind.and_then(|kind| message.get(kind)).unwrap_or(&Value::Null);
    let reason = text(part, "type").filter(|_| kind == Some(HIDDEN));
    let unsupported = Unsupported {
        reason: reason.or_else(|| stub::reason(record)).and_then(short),
        provider_type: kind.or_else(|| text(record, "messageType")).and_then(short),
    };
    let said = said_in_unknown(part, |note| body::inner(note)?.content);
    let blocks = Blocks { unsupported: Some(unsupported), ..Blocks::default() };
    MessageContent { content: said, ..MessageContent::with(MessageType::Unsupported, blocks) }
}
