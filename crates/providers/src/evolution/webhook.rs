//! The gateway's webhooks: the token of their address, their envelope, their events.

use recado_core::connections::{Connection, ConnectionStatus};
use recado_core::gateway::{
    GatewayEvent, Incoming, ProviderWebhook, Received, UnknownReport, WebhookRefused,
};
use serde_json::Value;

use super::files::FileCache;
use super::groups;
use super::media;
use super::message::{self, ParsedEvent};
use super::names::InstanceNames;
use super::status;
use crate::shared::{array, parse, same, text};

/// The most characters of an event's name behind a token.
const MAX_EVENT: usize = 64;

/// Verifies the token of the address: the gateway does not sign webhooks, so the address has to be
/// secret.
///
/// # Errors
///
/// When the token is missing, wrong, or there is more than one.
pub(super) fn verify(
    connection: &Connection,
    webhook: &ProviderWebhook,
) -> Result<(), WebhookRefused> {
    let expected = connection.settings.text("webhook_token").filter(|token| !token.is_empty());
    let mut given = webhook.query.iter().filter(|(name, _)| name == "token");
    let verified = match (given.next(), given.next(), expected) {
        (Some((_, token)), None, Some(expected)) => {
            // Gateways call the address as it was entered, where a `+` may mean a plus sign.
            let as_typed = expected.replace('+', " ");
            let bare = without_event(token);
            same(token, expected)
                | same(bare, expected)
                | same(token, &as_typed)
                | same(bare, &as_typed)
        }
        _ => false,
    };
    if verified { Ok(()) } else { Err(WebhookRefused::Unauthorized) }
}

/// A token without the name of an event. The gateway can be configured to append the event to the
/// address, after its query: `SECRET/messages-upsert`.
fn without_event(token: &str) -> &str {
    let is_name = |name: &str| {
        let letters = name.bytes().all(|b| b.is_ascii_lowercase() || b == b'-');
        (1..=MAX_EVENT).contains(&name.len()) && letters
    };
    token.rsplit_once('/').filter(|(_, name)| is_name(name)).map_or(token, |(bare, _)| bare)
}

/// Translates a webhook whose token was verified.
///
/// # Errors
///
/// When the body is not JSON.
pub(super) fn read(
    connection: &Connection,
    names: InstanceNames<'_>,
    files: &FileCache,
    body: &[u8],
) -> Result<Vec<Received>, WebhookRefused> {
    let envelope = parse(body).ok_or(WebhookRefused::Malformed)?;
    let events = match text(&envelope, "event") {
        Some(event) => events(connection, names, files, event, &envelope),
        None => vec![Err("the envelope names no event".to_owned())],
    };
    Ok(events.into_iter().map(Received::here).collect())
}

fn events(
    connection: &Connection,
    names: InstanceNames<'_>,
    files: &FileCache,
    event: &str,
    envelope: &Value,
) -> Vec<Incoming> {
    let kind = canonical(event);
    if means_nothing(&kind) {
        return Vec::new();
    }
    // The other fields are not used: the key is missing or a secret, and the date is a local time
    // marked as UTC.
    if text(envelope, "instance") != connection.settings.text("instance") {
        return vec![Err("the event is of another instance".to_owned())];
    }
    let data = envelope.get("data").unwrap_or(&Value::Null);
    let each = |read: &dyn Fn(&Value) -> ParsedEvent| {
        items(data).iter().filter_map(|item| read(item).transpose()).collect()
    };
    let changed = |event| vec![Ok(event)];
    match kind.as_str() {
        "messages.upsert" => each(&|item| {
            let read = message::read(item, names, false);
            keep_file(connection, files, item, &read);
            read
        }),
        "messages.set" => each(&|item| message::read(item, names, true)),
        "send.message" | "send.message.update" => each(&|item| message::own_send(item, names)),
        "messages.update" => each(&status::read),
        "messages.edited" => each(&message::edit),
        "connection.update" => connection_update(data).into_iter().map(Ok).collect(),
        "logout.instance" | "remove.instance" => {
            changed(GatewayEvent::Connection(ConnectionStatus::Disconnected))
        }
        "status.instance" => changed(GatewayEvent::StateDoubtful),
        // There are codes only while no phone is paired, whatever other events reported.
        "qrcode.updated" => changed(GatewayEvent::StateDoubtful),
        "groups.upsert" => {
            let reported = groups::reported(names, items(data));
            let reported =
                (!reported.groups.is_empty()).then_some(Ok(GatewayEvent::Groups(reported)));
            // Missing details and other changes are requested from the gateway.
            reported.into_iter().chain([Ok(GatewayEvent::GroupsChanged)]).collect()
        }
        "groups.update" | "group.update" | "group.participants.update" => {
            changed(GatewayEvent::GroupsChanged)
        }
        _ => changed(GatewayEvent::Unknown(UnknownReport::new(event, data.clone()))),
    }
}

/// Keeps a file that came with its message until it is fetched.
fn keep_file(connection: &Connection, files: &FileCache, record: &Value, read: &ParsedEvent) {
    let Ok(Some(GatewayEvent::Message(message) | GatewayEvent::Echo(message))) = read else {
        return;
    };
    let source = message.media.as_ref().and_then(|media| media.url.as_deref());
    let Some(source) = source.filter(|source| source.starts_with(media::SOURCE)) else { return };
    if let Some(bytes) = media::enclosed(record) {
        files.keep(connection.id, source, bytes);
    }
}

/// An event's name in one form for comparisons: webhooks use `messages.upsert`, settings and some
/// versions `MESSAGES_UPSERT`.
fn canonical(event: &str) -> String {
    event.to_lowercase().replace(['_', '-'], ".")
}

/// Known events that are ignored, for any instance.
fn means_nothing(kind: &str) -> bool {
    let areas = ["chats.", "contacts.", "presence.", "labels.", "typebot.", "application."];
    areas.iter().any(|area| kind.starts_with(area))
        || matches!(kind, "call" | "messages.delete" | "instance.create" | "instance.delete")
        || kind == "messaging.history.set"
}

/// The items of an event that may come one by one, as a list, or as a list in an object.
fn items(data: &Value) -> &[Value] {
    match data {
        Value::Array(items) => items,
        Value::Object(_) if data.get("key").is_none() && !array(data, "messages").is_empty() => {
            array(data, "messages")
        }
        Value::Null => &[],
        one => std::slice::from_ref(one),
    }
}

fn connection_update(data: &Value) -> Option<GatewayEvent> {
    match text(data, "state") {
        Some("open") => Some(GatewayEvent::Connection(ConnectionStatus::Connected)),
        Some("close" | "refused") => Some(GatewayEvent::Connection(ConnectionStatus::Disconnected)),
        // It reconnects automatically, and reports the result.
        Some("connecting") => None,
        _ => Some(GatewayEvent::StateDoubtful),
    }
}
