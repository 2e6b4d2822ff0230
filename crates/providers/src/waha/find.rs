//! Searching for a message whose send has an unknown outcome (D28, D36).

use std::time::Duration;

use recado_core::Timestamp;
use recado_core::connections::Connection;
use recado_core::gateway::{Accepted, Content, Lookup, ProviderError};
use recado_core::messages::{MessageStatus, MessageType};
use recado_core::transport::Transport;
use serde_json::Value;

use super::address::{ChatAddress, chat_of, chat_of_group};
use super::answer::{accepted, key_of};
use super::api::{Api, RequestError, ask};
use super::ids::raw_of;
use super::known::{Engine, SessionCache};
use super::numbers::{self, NumberCheck, wants_check};
use super::reports::{self, Ack};
use super::{session, text};
use crate::shared::{boolean, text as text_of};

/// How long after the send the gateway's time of a message may be.
const AFTER: Duration = Duration::from_secs(10 * 60);
/// How far the gateway's clock may be behind this server's: an earlier message is a different one.
const SKEW: Duration = Duration::from_secs(60);
/// How many messages of the chat are searched.
const LOOKED_AT: &str = "50";

/// The message at the gateway. If it is found, it was sent; if not, nothing is proved, as the
/// gateway may not store messages.
pub(super) async fn find(
    transport: &dyn Transport,
    known: &SessionCache,
    connection: &Connection,
    lookup: &Lookup,
) -> Result<Option<Accepted>, ProviderError> {
    let api = Api::of(connection);
    let engine = match known.engine(connection) {
        Some(engine) => Some(engine),
        // If the session cannot be read, the message is searched all the same.
        None => match session::read(transport, known, connection, api.question_time()).await {
            Ok(session) => session.engine,
            Err(_) => None,
        },
    };
    match engine.map(Engine::knows_raw_ids) {
        Some(true) => Ok(by_id(transport, &api, lookup).await?),
        Some(false) => by_content(transport, known, connection, lookup).await,
        None => match by_id(transport, &api, lookup).await {
            Ok(None) | Err(RequestError::Status(400 | 422 | 501, _)) => {
                by_content(transport, known, connection, lookup).await
            }
            found => Ok(found?),
        },
    }
}

/// On engines that accept an id from the caller: by the id.
async fn by_id(
    transport: &dyn Transport,
    api: &Api<'_>,
    lookup: &Lookup,
) -> Result<Option<Accepted>, RequestError> {
    let raw = raw_of(lookup.outgoing.reference);
    let path = [api.session, "chats", "all", "messages", &raw];
    let found = match ask(transport, api.get(&path, &[("downloadMedia", "false")])).await {
        Ok(found) => found,
        Err(RequestError::Status(404, _)) => return Ok(None),
        Err(trouble) => return Err(trouble),
    };
    let is_it = key_of(&found).is_some_and(|key| key.raw.as_str() == raw);
    Ok(if is_it && was_taken(&found) { accepted(&found, None) } else { None })
}

/// On the others: among the newest messages of the chat, by text and time.
async fn by_content(
    transport: &dyn Transport,
    known: &SessionCache,
    connection: &Connection,
    lookup: &Lookup,
) -> Result<Option<Accepted>, ProviderError> {
    let api = Api::of(connection);
    // The text of what is no text does not identify it.
    if lookup.message_type != MessageType::Text {
        return Ok(None);
    }
    let Content::Text(said) = &lookup.outgoing.content else { return Ok(None) };
    let Some(chat) = chat(transport, known, connection, lookup).await? else { return Ok(None) };
    let seconds = |at: Timestamp| at.millis().div_euclid(1000).to_string();
    let (from, to) = (seconds(lookup.sent_at.minus(SKEW)), seconds(lookup.sent_at.plus(AFTER)));
    let parameters = [
        ("limit", LOOKED_AT),
        ("downloadMedia", "false"),
        ("filter.fromMe", "true"),
        ("filter.timestamp.gte", from.as_str()),
        ("filter.timestamp.lte", to.as_str()),
    ];
    let path = [api.session, "chats", &chat, "messages"];
    let found = match ask(transport, api.get(&path, &parameters)).await {
        Ok(found) => found,
        Err(RequestError::Status(404, _)) => return Ok(None),
        Err(trouble) => return Err(trouble.into()),
    };
    let candidates = found.as_array().map_or(&[][..], Vec::as_slice).iter();
    let nearest = candidates
        .filter_map(|message| Some((distance(message, said, lookup.sent_at)?, message)))
        .min_by_key(|(apart, _)| *apart);
    Ok(nearest.and_then(|(_, message)| accepted(message, None)))
}

/// The difference between a message's time and that of the send, if it can be the message.
fn distance(message: &Value, said: &str, sent_at: Timestamp) -> Option<Duration> {
    let typed_on_the_phone = text_of(message, "source") == Some("app");
    let same = text_of(message, "body").is_some_and(|body| body.trim() == said.trim());
    let own = boolean(message, "fromMe") == Some(true);
    let at = text::time(message.get("timestamp"))?;
    let (after, before) = (at.since(sent_at), sent_at.since(at));
    let in_time = after <= AFTER && before <= SKEW;
    let fits = own && same && !typed_on_the_phone && was_taken(message);
    (fits && in_time).then_some(after.max(before))
}

/// Whether the gateway accepted a message that it has, to send it now or soon; the answer to a send
/// means no more. Engines also keep messages that they could not send (R132).
fn was_taken(message: &Value) -> bool {
    !matches!(reports::ack(message), Some(Ack::Reached(MessageStatus::Failed)))
}

/// The chat that the message went to.
async fn chat(
    transport: &dyn Transport,
    known: &SessionCache,
    connection: &Connection,
    lookup: &Lookup,
) -> Result<Option<String>, ProviderError> {
    if let Some(code) = &lookup.outgoing.group {
        return Ok(Some(chat_of_group(code)));
    }
    let Some(person) = ChatAddress::person(&lookup.outgoing.recipient) else { return Ok(None) };
    if !wants_check(&person) {
        return Ok(Some(chat_of(&person)));
    }
    if let Some(name) = known.number(connection, &person) {
        return Ok(Some(chat_of(&name)));
    }
    let time = Api::of(connection).question_time();
    Ok(match numbers::check(transport, known, connection, &person, time).await? {
        NumberCheck::Is(name) => Some(chat_of(&name)),
        NumberCheck::Unknown => Some(chat_of(&person)),
        NumberCheck::Missing => None,
    })
}
