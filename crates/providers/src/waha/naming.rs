//! The ids of messages as requests name them: `true_CHAT_RAW`, in groups with the writer behind.

use std::time::Duration;

use recado_core::gateway::MessageName;
use recado_core::messages::ProviderMessageId;
use recado_core::transport::Transport;
use serde_json::Value;

use super::address::{ChatAddress, GROUPS, chat_of};
use super::answer::key_of;
use super::api::{Api, RequestError, ask};
use super::known::Engine;
use super::target::TimeBudget;
use crate::shared::text;

/// How many of a chat's messages are looked through.
const LOOKED_AT: &str = "100";

/// The chat that a message is in.
pub(super) fn chat_of_message(name: &MessageName) -> String {
    match ChatAddress::person(&name.chat) {
        Some(person) => chat_of(&person),
        None => {
            let id = name.chat.rsplit_once('@').map_or(&*name.chat, |(id, _)| id);
            format!("{id}@{GROUPS}")
        }
    }
}

/// The id of a message, as far as it can be told from its name. The engines without a browser find
/// it by its raw part.
pub(super) fn built(name: &MessageName) -> String {
    let chat = chat_of_message(name);
    let id = format!("{}_{chat}_{}", name.is_ours, name.provider_id.as_str());
    let writer = name.participant.as_deref().and_then(ChatAddress::person);
    match writer.filter(|_| chat.ends_with(GROUPS)) {
        Some(writer) => format!("{id}_{}", chat_of(&writer)),
        None => id,
    }
}

/// The id under which the engine has a message. Engines that drive a browser know a message by its
/// whole id, which may name the person by a LID, so they are asked (R336); `None` if such an engine
/// surely does not have it.
pub(super) async fn exact(
    transport: &dyn Transport,
    api: &Api<'_>,
    engine: Option<Engine>,
    name: &MessageName,
    budget: &mut TimeBudget<'_>,
) -> Option<String> {
    let built = built(name);
    if engine.is_some_and(Engine::knows_raw_ids) {
        return Some(built);
    }
    let chat = chat_of_message(name);
    if let Some(found) = in_chat(transport, api, &chat, name, budget.ask()).await {
        return Some(found);
    }
    let path = [api.session, "chats", &chat, "messages", &built];
    let request = api.get(&path, &[("downloadMedia", "false")]);
    match ask(transport, request.with_timeout(budget.ask())).await {
        Ok(found) => (key_of(&found)?.raw == name.provider_id).then_some(built),
        // An empty answer is how it says that it has no such message.
        Err(RequestError::Status(404, _) | RequestError::Unreadable) => None,
        Err(_) => Some(built),
    }
}

/// The id of a message among the newest of its chat.
async fn in_chat(
    transport: &dyn Transport,
    api: &Api<'_>,
    chat: &str,
    name: &MessageName,
    time: Duration,
) -> Option<String> {
    let own = if name.is_ours { "true" } else { "false" };
    let found = listed(transport, api, chat, (own, LOOKED_AT), time).await.ok()?;
    found.iter().find_map(|message| of_raw(message, &name.provider_id))
}

/// A message's id, if this is its raw part.
fn of_raw(message: &Value, raw: &ProviderMessageId) -> Option<String> {
    let is_it = key_of(message)?.raw == *raw;
    let full = || text(message, "id").or_else(|| text(message.get("id")?, "_serialized"));
    full().filter(|_| is_it).map(str::to_owned)
}

/// The newest messages of a chat, ours or those of others.
pub(super) async fn listed(
    transport: &dyn Transport,
    api: &Api<'_>,
    chat: &str,
    (from_me, most): (&str, &str),
    time: Duration,
) -> Result<Vec<Value>, RequestError> {
    let parameters = [("limit", most), ("downloadMedia", "false"), ("filter.fromMe", from_me)];
    let path = [api.session, "chats", chat, "messages"];
    let found = ask(transport, api.get(&path, &parameters).with_timeout(time)).await?;
    match found {
        Value::Array(messages) => Ok(messages),
        _ => Err(RequestError::Unreadable),
    }
}
