//! Webhooks: verification and the envelope.

use recado_core::connections::Connection;
use recado_core::gateway::GatewayEvent;
use recado_core::gateway::{
    Addressee, Handshake, ProviderWebhook, Received, UnknownReport, WebhookRefused,
};
use serde_json::Value;

use super::CloudApi;
use super::changes;
use crate::shared::{
    array, has_hex_digest, integer, parse, same, sole_header, text, verify_hex_sha256, word,
};

const SIGNATURE: &str = "x-hub-signature-256";
/// The longest challenge that is written back.
const MAX_CHALLENGE: usize = 1024;

/// Answers the request with which the API verifies an address.
pub(super) fn handshake(connection: &Connection, webhook: &ProviderWebhook) -> Handshake {
    let parameter = |name: &str| {
        let mut values = webhook.query.iter().filter(|(known, _)| known == name);
        let value = values.next().map(|(_, value)| value.as_str());
        value.filter(|_| values.next().is_none())
    };
    let expected = connection.settings.text("verify_token").unwrap_or_default();
    let given = parameter("hub.verify_token").unwrap_or_default();
    if expected.is_empty() || !same(given, expected) {
        return Err(WebhookRefused::Unauthorized);
    }
    let challenge = parameter("hub.challenge").filter(|text| text.len() <= MAX_CHALLENGE);
    match (parameter("hub.mode"), challenge) {
        (Some("subscribe"), Some(challenge)) => Ok(challenge.to_owned()),
        _ => Err(WebhookRefused::Malformed),
    }
}

/// The signature of a call, in hexadecimal.
fn signature(webhook: &ProviderWebhook) -> Result<&str, WebhookRefused> {
    sole_header(webhook, SIGNATURE)
        .and_then(|value| value.strip_prefix("sha256="))
        .filter(|hex| has_hex_digest(hex, 32))
        .ok_or(WebhookRefused::Unauthorized)
}

/// Refuses a call whose signature cannot be right.
pub(super) fn admit(webhook: &ProviderWebhook) -> Result<(), WebhookRefused> {
    signature(webhook).map(|_| ())
}

/// Verifies a call and translates its events.
pub(super) fn receive(
    adapter: &CloudApi,
    connection: &Connection,
    webhook: &ProviderWebhook,
) -> Result<Vec<Received>, WebhookRefused> {
    let hex = signature(webhook)?;
    let secret = connection.settings.text("app_secret").unwrap_or_default();
    if secret.is_empty() || !verify_hex_sha256(secret, &webhook.body, hex) {
        return Err(WebhookRefused::Unauthorized);
    }
    let body = parse(&webhook.body).ok_or(WebhookRefused::Malformed)?;
    let object = word(&body, "object");
    // Programs that forward calls may leave `object` out; calls with another object are not read.
    let is_ours = match object.as_deref() {
        Some(object) => object == "whatsapp_business_account",
        None => body.get("entry").is_some_and(Value::is_array),
    };
    if !is_ours {
        let kind = object.unwrap_or_else(|| "no object".to_owned());
        let report = UnknownReport::new(kind, body);
        return Ok(vec![Received::here(Ok(GatewayEvent::Unknown(report)))]);
    }
    let mut received = Vec::new();
    for entry in array(&body, "entry") {
        let envelope = EntryContext {
            account: word(entry, "id"),
            time: integer(entry, "time"),
            group_suffix: &adapter.group_suffix,
        };
        for change in array(entry, "changes") {
            let Some(field) = text(change, "field") else {
                received.push(Received::here(Err("a change names no field".to_owned())));
                continue;
            };
            let value = change.get("value").unwrap_or(&Value::Null);
            received.extend(changes::read(&envelope, field, value));
        }
    }
    Ok(received)
}

/// The fields of an entry that apply to all its changes.
pub(super) struct EntryContext<'a> {
    account: Option<String>,
    /// When it was made, in seconds; mostly absent.
    pub(super) time: Option<i64>,
    pub(super) group_suffix: &'a str,
}

impl EntryContext<'_> {
    /// The connections of the account.
    pub(super) fn of_account(&self) -> Addressee {
        self.account.clone().map_or(Addressee::Called, Addressee::Account)
    }
}
