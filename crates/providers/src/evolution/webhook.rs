//! The gateway's webhooks: the token of their address, their envelope, their events.

use recado_core::connections::{Connection, ConnectionStatus};
use recado_core::gateway::{
    GatewayEvent, Incoming, Received, UnknownReport, Webhook, WebhookRefused,
};
use serde_json::Value;

use super::message::{self, Read};
use super::names::Names;
use super::status;
use crate::shared::{array, parse, same, text, text_at};

/// Verifies the token of the address: the gateway signs nothing, so the address has to be secret.
///
/// # Errors
///
/// When the token is missing, wrong, or there is more than one.
pub(super) fn verify(connection: &Connection, webhook: &Webhook) -> Result<(), WebhookRefused> {
    let expected = connection.settings.text("webhook_token").filter(|token| !token.is_empty());
    let mut given = webhook.query.iter().filter(|(name, _)| name == "token");
    let verified = match (given.next(), given.next(), expected) {
        (Some((_, token)), None, Some(expected)) => same(token, expected),
        _ => false,
    };
    if verified { Ok(()) } else { Err(WebhookRefused::Unauthorized) }
}

/// Translates a webhook whose token was verified.
///
/// # Errors
///
/// When the body is not JSON.
pub(super) fn read(
    connection: &Connection,
    names: Names<'_>,
    body: &[u8],
) -> Result<Vec<Received>, WebhookRefused> {
    let envelope = parse(body).ok_or(WebhookRefused::Malformed)?;
    let events = match text(&envelope, "event") {
        Some(event) => events(connection, names, event, &envelope),
        None => vec![Err("the envelope names no event".to_owned())],
    };
    Ok(events.into_iter().map(Received::here).collect())
}

fn events(
    connection: &Connection,
    names: Names<'_>,
    event: &str,
    envelope: &Value,
) -> Vec<Incoming> {
    let kind = canonical(event);
    if means_nothing(&kind) {
        return Vec::new();
    }
    // Its other fields are not to be trusted: the key is left out or somebody's secret, and the
    // date is local time that says it is UTC.
    if text(envelope, "instance") != connection.settings.text("instance") {
        return vec![Err("the event is of another instance".to_owned())];
    }
    let data = envelope.get("data").unwrap_or(&Value::Null);
    let each = |read: &dyn Fn(&Value) -> Read| {
        items(data).iter().filter_map(|item| read(item).transpose()).collect()
    };
    let changed = |event| vec![Ok(event)];
    match kind.as_str() {
        "messages.upsert" => each(&|item| message::read(item, names, false)),
        "messages.set" => each(&|item| message::read(item, names, true)),
        "send.message" | "send.message.update" => each(&|item| message::own_send(item, names)),
        "messages.update" => each(&status::read),
        "messages.edited" => each(&message::edit),
        "connection.update" => connection_update(data).into_iter().map(Ok).collect(),
        "logout.instance" | "remove.instance" => {
            changed(GatewayEvent::Connection(ConnectionStatus::Disconnected))
        }
        "status.instance" => changed(GatewayEvent::StateDoubtful),
        "qrcode.updated" if is_limit(data) => changed(GatewayEvent::StateDoubtful),
        "qrcode.updated" => Vec::new(),
        "groups.upsert" | "groups.update" | "group.update" | "group.participants.update" => {
            changed(GatewayEvent::GroupsChanged)
        }
        _ => changed(GatewayEvent::Unknown(UnknownReport {
            kind: event.to_owned(),
            body: data.clone(),
        })),
    }
}

/// An event's name in the one form that is compared: webhooks say `messages.upsert`, settings and
/// some versions `MESSAGES_UPSERT`.
fn canonical(event: &str) -> String {
    event.to_lowercase().replace(['_', '-'], ".")
}

/// Events that are known and mean nothing here; whatever instance they are of.
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
        Some("connecting") => None,
        _ => Some(GatewayEvent::StateDoubtful),
    }
}

/// Whether the gateway says that it makes no more codes because nobody read any.
fn is_limit(data: &Value) -> bool {
    let message = text(data, "message").or_else(|| text_at(data, &["qrcode", "message"]));
    data.get("statusCode").is_some()
        || message.is_some_and(|message| message.to_lowercase().contains("limit"))
}
