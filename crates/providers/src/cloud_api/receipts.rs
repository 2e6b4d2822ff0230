//! Marking as read, and showing that somebody types (X14).

use recado_core::gateway::{MessageName, ProviderError, Typing, TypingIn};
use recado_core::transport::Transport;
use serde_json::{Value, json};

use super::answer::GraphError;
use super::settings::ApiSettings;
use crate::shared::{parse, transport_text};

/// Marks a message, and those before it, as read.
pub(super) async fn mark_read(
    transport: &dyn Transport,
    access: &ApiSettings<'_>,
    target: &MessageName,
) -> Result<(), ProviderError> {
    say(transport, access, &read(target)).await
}

/// Shows that a text is being written, as an answer to the newest message, which is marked as read
/// by it. The API shows it for 25 seconds or until the next message, has no word for recordings,
/// and cannot take it back (R333).
pub(super) async fn typing(
    transport: &dyn Transport,
    access: &ApiSettings<'_>,
    whose: &TypingIn,
    state: Typing,
) -> Result<(), ProviderError> {
    let newest = whose.last_inbound.as_ref().filter(|_| whose.group.is_none());
    let (Some(newest), Typing::Text | Typing::Recording) = (newest, state) else {
        return Err(ProviderError::Unsupported);
    };
    let mut body = read(newest);
    body["typing_indicator"] = json!({"type": "text"});
    say(transport, access, &body).await
}

fn read(target: &MessageName) -> Value {
    json!({"messaging_product": "whatsapp", "status": "read",
        "message_id": target.provider_id.as_str()})
}

async fn say(
    transport: &dyn Transport,
    access: &ApiSettings<'_>,
    body: &Value,
) -> Result<(), ProviderError> {
    let failed = |text: String| ProviderError::Failed(text);
    let mut request = access.post(&[access.number, "messages"], body);
    // What is read already may be marked again.
    request.repeatable = true;
    let answer = transport.send(request).await.map_err(|error| failed(transport_text(&error)))?;
    if (200..300).contains(&answer.status) {
        return Ok(());
    }
    let error = parse(&answer.body).and_then(|body| GraphError::of(access, &body));
    Err(failed(match error {
        Some(error) => format!("{}: {}", error.code, error.text),
        None => format!("HTTP {}", answer.status),
    }))
}
