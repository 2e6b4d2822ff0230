//! Webhooks: signed, one event each.

use recado_core::connections::{Connection, ConnectionStatus};
use recado_core::gateway::{
    GatewayEvent, Incoming, ProviderWebhook, Received, UnknownReport, WebhookRefused,
};
use serde_json::Value;

use super::ids::MessageKey;
use super::known::{Engine, SessionCache};
use super::message::{self, MessageContext};
use super::numbers::wants_check;
use super::own::Own;
use super::session::WORKING;
use super::{calls, content, reports, text};
use crate::shared::{at, has_hex_digest, parse, sole_header, text as text_of, verify_hex_sha512};

/// The header with the signature.
const SIGNATURE: &str = "x-webhook-hmac";
/// The header with its algorithm.
const ALGORITHM: &str = "x-webhook-hmac-algorithm";
/// Known events of WAHA that are ignored: nobody says anything in them. A call that rings is told
/// once it ends.
const IRRELEVANT: [&str; 11] = [
    "call.received",
    "chat.archive",
    "engine.event",
    "label.upsert",
    "label.deleted",
    "label.chat.added",
    "label.chat.deleted",
    "message.ack.group",
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
    let events = read(known, connection, suffix, &envelope);
    if is_of_session(&envelope, connection) {
        if let Some(engine) = text_of(&envelope, "engine").and_then(Engine::named) {
            known.learn_engine(connection, engine);
        }
        events.iter().flatten().for_each(|event| learn_number(known, connection, event));
    }
    Ok(events.into_iter().map(Received::here).collect())
}

/// The events of a call that was verified, or of one that was kept because it was not understood.
pub(super) fn read(
    known: &SessionCache,
    connection: &Connection,
    suffix: &str,
    envelope: &Value,
) -> Vec<Incoming> {
    if !envelope.is_object() {
        return vec![Err("the event is not an object".to_owned())];
    }
    if !is_of_session(envelope, connection) {
        let reason = "the event is of another session".to_owned();
        return vec![Ok(GatewayEvent::NotOurs(reason))];
    }
    translate(known, envelope, connection, suffix)
}

/// Whether an event is of the connection's session. One without a session was still signed with
/// this connection's key.
fn is_of_session(envelope: &Value, connection: &Connection) -> bool {
    let session = text_of(envelope, "session").filter(|session| !session.is_empty());
    session.is_none() || session == connection.settings.text("session")
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
    let own = Own::of(connection, at(envelope, &["me"]));
    let scene = MessageContext::reported(&own, suffix, envelope);
    let events = match event {
        "message" | "message.any" => message::events(payload, &scene),
        "message.waiting" => message::events_of(payload, content::late(payload), &scene),
        "message.reaction" => reports::reaction(payload, &scene),
        "message.ack" => reports::status(payload, happened, &own).into_iter().collect(),
        "message.edited" => reports::edit(payload, happened).into_iter().collect(),
        "message.revoked" => reports::revoked(payload, happened).into_iter().collect(),
        "poll.vote" | "poll.vote.failed" => reports::vote(event, payload, &scene),
        "call.accepted" => calls::line(payload, true, happened, &scene).into_iter().collect(),
        "call.rejected" => calls::line(payload, false, happened, &scene).into_iter().collect(),
        "session.status" => {
            let is_new =
                |state: &str| happened.is_none_or(|at| known.is_new_state(connection, at, state));
            session(payload, is_new).into_iter().collect()
        }
        // The older names of these events are still used.
        "group.join" | "group.leave" => vec![Ok(GatewayEvent::GroupsChanged)],
        _ if event.starts_with("group.v2.") => vec![Ok(GatewayEvent::GroupsChanged)],
        _ if IRRELEVANT.contains(&event) => Vec::new(),
        _ => vec![Ok(unknown(event, payload, envelope))],
    };
    // What cannot be read is kept, as a person may have said it.
    let kept = |event: Incoming| event.or_else(|reason| Ok(scene.unknown(reason, payload)));
    events.into_iter().map(kept).collect()
}

/// An event that is not known. Only ids with a chat in them are surely those of messages.
fn unknown(event: &str, payload: &Value, envelope: &Value) -> GatewayEvent {
    let key = payload.get("id").and_then(MessageKey::of);
    let key = key.filter(|key| key.chat.is_some() || event.starts_with("message"));
    let provider_id = key.map(|key| key.raw);
    GatewayEvent::Unknown(UnknownReport {
        provider_id,
        ..UnknownReport::new(event, envelope.clone())
    })
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
