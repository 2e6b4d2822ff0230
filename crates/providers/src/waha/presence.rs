//! Marking messages as read, and showing that somebody types (X14).

use recado_core::connections::Connection;
use recado_core::gateway::{MessageName, ProviderError, Typing, TypingIn};
use recado_core::transport::{OutboundRequest, Transport};
use serde_json::{Value, json};

use super::address::{ChatAddress, chat_of, chat_of_group};
use super::answer::key_of;
use super::api::{Api, RequestError};
use super::known::{Engine, SessionCache};
use super::{kinds, naming, text};
use crate::shared::{integer, parse, text as text_of};

/// How many messages before one are marked with it.
const LOOKED_AT: &str = "50";
/// The ack of a message that is marked already.
const READ: i64 = 3;

/// Sends a request whose answer says nothing.
async fn act(transport: &dyn Transport, request: OutboundRequest) -> Result<(), ProviderError> {
    let answer = match transport.send(request).await {
        Ok(answer) => answer,
        Err(error) => return Err(RequestError::Transport(error).into()),
    };
    match answer.status {
        200..=299 => Ok(()),
        status => match RequestError::Status(status, parse(&answer.body)) {
            trouble if trouble.is_not_implemented() => Err(ProviderError::Unsupported),
            trouble => Err(trouble.into()),
        },
    }
}

/// Marks a message as read, and what came before it. Engines that drive a browser mark the chat;
/// the others mark what is named, so that the earlier messages are asked for and named too.
pub(super) async fn mark_read(
    transport: &dyn Transport,
    known: &SessionCache,
    connection: &Connection,
    name: &MessageName,
) -> Result<(), ProviderError> {
    let api = Api::of(connection);
    let chat = naming::chat_of_message(name);
    let mut ids = vec![naming::built(name)];
    if kinds::engine(known, connection) != Some(Engine::Other) {
        let listing =
            naming::listed(transport, &api, &chat, ("false", LOOKED_AT), api.question_time());
        // Without a store of messages there is nothing to name but the message itself.
        ids.extend(listing.await.map(|found| earlier(&found, name)).unwrap_or_default());
    }
    let body = json!({"session": api.session, "chatId": chat, "messageIds": ids});
    act(transport, api.post(&["sendSeen"], &body)).await
}

/// The ids of the messages that came no later than this one and are not marked.
fn earlier(found: &[Value], name: &MessageName) -> Vec<String> {
    let at = |message: &Value| text::time(message.get("timestamp"));
    let is_it = |message: &Value| key_of(message).is_some_and(|key| key.raw == name.provider_id);
    let Some(marked) = found.iter().find(|message| is_it(message)).and_then(at) else {
        return Vec::new();
    };
    let before = found.iter().filter(|message| {
        let unread = integer(message, "ack").is_none_or(|ack| ack < READ);
        unread && !is_it(message) && at(message).is_some_and(|time| time <= marked)
    });
    before.filter_map(|message| text_of(message, "id").map(str::to_owned)).collect()
}

/// Shows that a text is being written, that sound is being recorded, or neither.
pub(super) async fn typing(
    transport: &dyn Transport,
    connection: &Connection,
    whose: &TypingIn,
    state: Typing,
) -> Result<(), ProviderError> {
    let api = Api::of(connection);
    let chat = match (&whose.group, ChatAddress::person(&whose.recipient)) {
        (Some(code), _) => chat_of_group(code),
        (None, Some(person)) => chat_of(&person),
        (None, None) => return Err(ProviderError::Unsupported),
    };
    let in_chat = json!({"session": api.session, "chatId": chat});
    let request = match state {
        Typing::Text => api.post(&["startTyping"], &in_chat),
        Typing::Paused => api.post(&["stopTyping"], &in_chat),
        Typing::Recording => {
            let body = json!({"chatId": chat, "presence": "recording"});
            api.post(&[api.session, "presence"], &body)
        }
    };
    act(transport, request).await
}
