//! What happened while nobody listened: WAHA keeps the calls of its webhooks in memory only, but
//! its engines keep messages.

use recado_core::Timestamp;
use recado_core::connections::Connection;
use recado_core::gateway::{Missed, ProviderError};
use recado_core::transport::Transport;
use serde_json::Value;

use super::api::{Api, Trouble, ask};
use super::known::Known;
use super::message::{self, Scene};
use super::own::Own;
use super::{session, text};
use crate::shared::MAX_ANSWER;

/// How many messages one answer holds at most.
const PAGE: usize = 100;
/// How many answers one pull reads at most.
const MAX_PAGES: usize = 5;

/// The messages from the first of two times to the second, oldest first: both sides' of every chat.
pub(super) async fn missed(
    transport: &dyn Transport,
    known: &Known,
    connection: &Connection,
    suffix: &str,
    (from, to): (Timestamp, Timestamp),
) -> Result<Missed, ProviderError> {
    let api = Api::of(connection);
    let session = session::look(transport, known, connection, api.timeout).await?;
    let own = Own::of(connection, session.me.as_ref());
    let mut messages: Vec<(Option<Timestamp>, Value)> = Vec::new();
    let mut is_cut = false;
    for page in 0..MAX_PAGES {
        let mut told = match read_page(transport, &api, page * PAGE, (from, to)).await {
            Ok(told) => told,
            Err(trouble) => return Err(unless_unknown(trouble, session.engine)),
        };
        let count = told.len();
        messages.extend(told.drain(..).map(|told| (text::time(told.get("timestamp")), told)));
        is_cut = count >= PAGE && page + 1 == MAX_PAGES;
        if count < PAGE {
            break;
        }
    }
    messages.sort_by_key(|(at, _)| *at);
    let newest = messages.iter().filter_map(|(at, _)| *at).max();
    let scene = Scene { own: &own, suffix };
    let events =
        messages.iter().flat_map(|(_, message)| message::events(message, &scene)).collect();
    // A second that holds more than one pull reads must not be asked for for ever.
    let next = newest.unwrap_or(from).max(from.plus(std::time::Duration::from_secs(1)));
    Ok(Missed { events, more_from: is_cut.then_some(next) })
}

async fn read_page(
    transport: &dyn Transport,
    api: &Api<'_>,
    offset: usize,
    (from, to): (Timestamp, Timestamp),
) -> Result<Vec<Value>, Trouble> {
    let (limit, offset) = (PAGE.to_string(), offset.to_string());
    let from = from.millis().div_euclid(1000).to_string();
    let to = to.millis().saturating_add(999).div_euclid(1000).to_string();
    let parameters = [
        ("limit", limit.as_str()),
        ("offset", offset.as_str()),
        ("filter.timestamp.gte", from.as_str()),
        ("filter.timestamp.lte", to.as_str()),
        ("downloadMedia", "false"),
        ("sortBy", "timestamp"),
        ("sortOrder", "asc"),
    ];
    let path = [api.session, "chats", "all", "messages"];
    // Messages come with what their engine knows of them: pictures of links, keys, and more.
    let request = api.get(&path, &parameters).with_answer_limit(2 * MAX_ANSWER);
    match ask(transport, request).await? {
        Value::Array(messages) => Ok(messages),
        _ => Err(Trouble::Unreadable),
    }
}

/// Engines that drive a browser do not read all chats at once, and one that keeps nothing has
/// nothing to tell: asking again would not help.
fn unless_unknown(trouble: Trouble, engine: Option<super::known::Engine>) -> ProviderError {
    let is_refusal = matches!(trouble, Trouble::Status(400 | 404 | 422 | 501, _));
    let has_no_such = engine.is_some_and(|engine| !engine.knows_raw_ids())
        && matches!(trouble, Trouble::Status(500, _));
    if trouble.session_state().is_none() && (is_refusal || has_no_such) {
        return ProviderError::Unsupported;
    }
    trouble.into()
}
