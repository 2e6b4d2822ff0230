//! Messages from the time in which the connection was down: WAHA keeps undelivered webhooks in
//! memory only, but its engines store messages.

use recado_core::Timestamp;
use recado_core::connections::Connection;
use recado_core::gateway::{Missed, ProviderError};
use recado_core::transport::Transport;
use serde_json::Value;

use super::api::{Api, RequestError, ask};
use super::known::SessionCache;
use super::message::{self, MessageContext};
use super::{session, text};
use crate::shared::MAX_ANSWER;

/// How many messages one answer holds at most.
const PAGE: usize = 100;
/// How many messages are requested after a larger answer was cut.
const SMALL_PAGE: usize = 20;
/// How many answers one pull reads at most.
const MAX_PAGES: usize = 5;

/// The messages of all chats in a time range, inbound and outbound, oldest first.
pub(super) async fn missed(
    transport: &dyn Transport,
    known: &SessionCache,
    connection: &Connection,
    suffix: &str,
    (from, to): (Timestamp, Timestamp),
) -> Result<Missed, ProviderError> {
    let api = Api::of(connection);
    let own = session::own(transport, known, connection).await?;
    let mut messages: Vec<(Option<Timestamp>, Value)> = Vec::new();
    let mut is_cut = false;
    let mut limit = PAGE;
    for _ in 0..MAX_PAGES {
        let offset = messages.len();
        let mut reported = read_page(transport, &api, (limit, offset), (from, to)).await;
        if limit > SMALL_PAGE && matches!(reported, Err(RequestError::Unreadable)) {
            limit = SMALL_PAGE;
            reported = read_page(transport, &api, (limit, offset), (from, to)).await;
        }
        let reported = reported.map_err(unless_unknown)?;
        is_cut = reported.len() >= limit;
        messages.extend(
            reported.into_iter().map(|reported| (text::time(reported.get("timestamp")), reported)),
        );
        if !is_cut {
            break;
        }
    }
    messages.sort_by_key(|(at, _)| *at);
    let newest = messages.iter().filter_map(|(at, _)| *at).max();
    let scene = MessageContext::asked(&own, suffix, api.session);
    let events =
        messages.iter().flat_map(|(_, message)| message::events(message, &scene)).collect();
    // If one second has more messages than one pull reads, the next pull must go on with the
    // following second.
    let next = newest.unwrap_or(from).max(from.plus(std::time::Duration::from_secs(1)));
    Ok(Missed { events, more_from: is_cut.then_some(next) })
}

async fn read_page(
    transport: &dyn Transport,
    api: &Api<'_>,
    (limit, offset): (usize, usize),
    (from, to): (Timestamp, Timestamp),
) -> Result<Vec<Value>, RequestError> {
    let (limit, offset) = (limit.to_string(), offset.to_string());
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
    // Messages contain further data of the engine: previews of links, keys, and more.
    let request = api.get(&path, &parameters).with_answer_limit(2 * MAX_ANSWER);
    match ask(transport, request).await? {
        Value::Array(messages) => Ok(messages),
        _ => Err(RequestError::Unreadable),
    }
}

/// The failure for an error of a page: only an engine without such a list need not be asked again.
fn unless_unknown(trouble: RequestError) -> ProviderError {
    if trouble.is_not_implemented() { ProviderError::Unsupported } else { trouble.into() }
}
