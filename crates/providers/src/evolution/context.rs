//! What stands around a message: the message that it quotes, whether it was forwarded, and the
//! advertisement that led to it.

use recado_core::messages::Forwarded;
use serde_json::Value;

use super::body::{self, MessageContent, Quote};
use super::values::{filled, message_id, whole};
use crate::shared::referral::referral;
use crate::shared::{boolean, object};

/// From here on the channel calls a message forwarded many times.
const MANY: i64 = 5;

/// Adds it to a message. The contexts are beside the message and inside it, by the version of the
/// gateway.
pub(super) fn add(found: &mut MessageContent, record: &Value, message: &Value) {
    let inside = message.as_object().and_then(|parts| parts.values().find_map(context_of));
    let contexts: Vec<&Value> = [context_of(record), inside].into_iter().flatten().collect();
    found.quoted = quote(&contexts);
    found.blocks.forwarded = contexts.iter().find_map(|context| forwarded(context));
    found.blocks.referral = contexts.iter().find_map(|context| referral(context));
    let asked = &mut found.quoted.product;
    found.blocks.product = found.blocks.product.take().or(asked.take());
}

fn context_of(value: &Value) -> Option<&Value> {
    object(value, "contextInfo").and(value.get("contextInfo"))
}

/// The quoted message.
fn quote(contexts: &[&Value]) -> Quote {
    let mut named = contexts.iter().filter(|context| filled(context, "stanzaId").is_some());
    let Some(context) = named.next() else { return Quote::default() };
    let quoted = object(context, "quotedMessage").and(context.get("quotedMessage"));
    let quoted = quoted.and_then(body::inner);
    Quote {
        id: message_id(context, "stanzaId"),
        message_type: quoted.as_ref().map(|said| said.message_type),
        product: quoted.as_ref().and_then(|said| said.blocks.product.clone()),
        content: quoted.and_then(text_of),
    }
}

/// The text by which a quoted message is known: its own, its caption, or that of its blocks.
fn text_of(said: MessageContent) -> Option<String> {
    let caption = said.media.and_then(|media| media.caption);
    said.content.or(caption).or_else(|| said.blocks.tidied().content())
}

fn forwarded(context: &Value) -> Option<Forwarded> {
    let score = whole(context, "forwardingScore").unwrap_or(0);
    let is_forwarded = boolean(context, "isForwarded") == Some(true);
    match score {
        MANY.. => Some(Forwarded::Often),
        1.. => Some(Forwarded::Once),
        _ => is_forwarded.then_some(Forwarded::Once),
    }
}
