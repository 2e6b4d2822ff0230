//! Webhooks: signed, one event each.

use recado_core::connections::{Connection, ConnectionStatus};
use recado_core::gateway::{
    GatewayEvent, Incoming, ProviderWebhook, Received, UnknownReport, WebhookRefused,
};
use serde_json::Value;

use super::known::{Engine, SessionCache};
use super::message::{self, MessageContext};
use super::numbers::wants_check;
use super::own::Own;
use super::session::WORKING;
use super::{reports, text};
use crate::shared::{at, has_hex_digest, parse, sole_header, text as text_of, verify_hex_sha512};

/// The header with the signature.
const SIGNATURE: &str = "x-webhook-hmac";
/// The header with its algorithm.
const ALGORITHM: &str = "x-webhook-hmac-algorithm";
/// Known events of WAHA that are ignored. A message that could not be decrypted yet comes again
/// with the same id.
const IRRELEVANT: [&str; 16] = [
    "chat.archive",
    "engine.event",
    "event.response",
    "event.response.failed",
    "label.upsert",
    "label.deleted",
    "label.chat.added",
    "label.chat.deleted",
    "message.ack.group",
    "message.revoked",
    "message.waiting",
    "poll.vote",
    "poll.vote.failed",
    "presence.update",
    "state.change",
    "webhook.test",
];

/// The signature in the headers of a webhook, if there is one of a valid form.
pub(super) fn admit<'a>(
    connection: &Connection,
    webhook: &'a ProviderWebhook,
) -> Result<&'a str, WebhookRefused> {
    let has_key = connection.settings.text("webhook_hmac_key").is_some_and(|key| !key.is_empty());
    let named = webhook.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case(ALGORITHM));
    let is_sha512 =
        sole_header(webhook, ALGORITHM).is_some_and(|kind| kind.eq_ignore_ascii_case("sha512"));
    sole_header(webhook, SIGNATURE)
        .map(str::trim)
        .filter(|hex| has_key && (is_sha512 || !named) && has_hex_digest(hex, 64))
        .ok_or(WebhookRefused::Unauthorized)
}

/// Verifies a webhook and translates its event.
pub(super) fn receive(
    known: &SessionCache,
    connection: &Connection,
    suffix: &str,
    webhook: &ProviderWebhook,
) -> Result<Vec<Received>, WebhookRefused> {
    let signature = admit(connection, webhook)?;
    let key = connection.settings.text("webhook_hmac_key").unwrap_or_default();
    if !verify_hex_sha512(key, &webhook.body, signature) {
        return Err(WebhookRefused::Unauthorized);
    }
    let envelope = parse(&webhook.body).ok_or(WebhookRefused::Malformed)?;
    if !envelope.is_object() {
        return Ok(vec![Received::here(Err("the event is not an object".to_owned()))]);
    }
    // An event without a session was still signed with this connection's key.
    let session = text_of(&envelope, "session").filter(|session| !session.is_empty());
    let events = if session.is_none() || session == connection.settings.text("session") {
        if let Some(engine) = text_of(&envelope, "engine").and_then(Engine::named) {
            known.learn_engine(connection, engine);
        }
        let events = translate(known, &envelope, connection, suffix);
        events.iter().flatten().for_each(|event| learn_number(known, connection, event));
        events
    } else {
        vec![Err("the event is of another session".to_owned())]
    };
    Ok(events.into_iter().map(Received::here).collect())
}

/// A number in the channel's form, from an event, needs no check before a send.
fn learn_number(known: &SessionCache, connection: &Connection, event: &GatewayEvent) {
    if let GatewayEvent::Message(message) | GatewayEvent::Echo(message) = event
        && wants_check(&message.peer)
    {
        known.learn_number(connection, &message.peer, &message.peer);
    }
}

fn translate(
    known: &SessionCache,
    envelope: &Value,
    connection: &Connection,
    suffix: &str,
) -> Vec<Incoming> {
    let Some(event) = text_of(envelope, "event") else {
        return vec![Err("event is required".to_owned())];
    };
    let payload = envelope.get("payload").unwrap_or(&Value::Null);
    let happened = text::time(envelope.get("timestamp"));
    let own = || Own::of(connection, at(envelope, &["me"]));
    match event {
        "message" | "message.any" => {
            message::events(payload, &MessageContext::reported(&own(), suffix))
        }
        "message.reaction" => reports::reaction(payload, &MessageContext::reported(&own(), suffix)),
        "message.ack" => reports::status(payload, happened, &own()).into_iter().collect(),
        "message.edited" => reports::edit(payload, happened).into_iter().collect(),
        "session.status" => {
            let is_new =
                |state: &str| happened.is_none_or(|at| known.is_new_state(connection, at, state));
            session(payload, is_new).into_iter().collect()
        }
        // The older names of these events are still used.
        "group.join" | "group.leave" => vec![Ok(GatewayEvent::GroupsChanged)],
        _ if event.starts_with("group.v2.") => vec![Ok(GatewayEvent::GroupsChanged)],
        _ if event.starts_with("call.") || IRRELEVANT.contains(&event) => Vec::new(),
        _ => {
            let report = UnknownReport::new(event, envelope.clone());
            vec![Ok(GatewayEvent::Unknown(report))]
        }
    }
}

/// The event of a change of the session; its start makes none. A late or repeated report may be
/// outdated, so the state is requested.
fn session(payload: &Value, is_new: impl FnOnce(&str) -> bool) -> Option<Incoming> {
    let Some(status) = text_of(payload, "status") else {
        return Some(Err("status is required".to_owned()));
    };
    Some(Ok(match status {
        "STARTING" => return None,
        status if !is_new(status) => GatewayEvent::StateDoubtful,
        WORKING => GatewayEvent::Connection(ConnectionStatus::Connected),
        "STOPPED"
        | "FAILED"
        | "SCAN_QR_CODE"
        | "PASSKEY_REQUIRED"
        | "PASSKEY_CONFIRMATION_REQUIRED" => {
            GatewayEvent::Connection(ConnectionStatus::Disconnected)
        }
        _ => GatewayEvent::StateDoubtful,
    }))
}
