//! Webhooks: verification and the envelope.

use recado_core::connections::Connection;
use recado_core::gateway::GatewayEvent;
use recado_core::gateway::{
    Addressee, Handshake, Incoming, ProviderWebhook, Received, UnknownReport, WebhookRefused,
};
use serde_json::{Value, json};

use super::CloudApi;
use super::changes;
use crate::shared::{has_hex_digest, parse, same, sole_header, text, verify_hex_sha256, word};

const SIGNATURE: &str = "x-hub-signature-256";
/// The object of calls of this API.
const OURS: &str = "whatsapp_business_account";
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
    Ok(call(adapter, body))
}

/// The events of what was kept because it was not understood: a change alone, or a whole call.
/// Of a call about several numbers or accounts, those of the connection: the others were told to
/// their own connections.
pub(super) fn read(adapter: &CloudApi, connection: &Connection, body: &Value) -> Vec<Incoming> {
    let received = call(adapter, body.clone());
    let is_its = |name: &str, value: &str| connection.settings.text(name) == Some(value);
    let is_here = |received: &Received| match &received.to {
        Addressee::Called => true,
        Addressee::Number(number) => is_its("phone_number_id", number),
        Addressee::Account(account) => {
            connection.settings.text("business_account_id").is_none()
                || is_its("business_account_id", account)
        }
    };
    received.into_iter().filter(is_here).map(|received| received.event).collect()
}

/// The events of a call, or of a change alone.
fn call(adapter: &CloudApi, body: Value) -> Vec<Received> {
    let unknown = |kind: &str, body| {
        let report = UnknownReport::new(kind, body);
        Received::here(Ok(GatewayEvent::Unknown(report)))
    };
    let object = word(&body, "object");
    let entries = body.get("entry").and_then(Value::as_array);
    // What is kept of a change, and what programs forward that take calls apart.
    if let (Some(field), None, None) = (text(&body, "field"), body.get("object"), body.get("entry"))
    {
        let value = body.get("value").unwrap_or(&Value::Null);
        return changes::read(&EntryContext::of(adapter, &Value::Null), field, value);
    }
    // Programs that forward calls may leave `object` out; calls with another object are not read.
    let entries = match (object.as_deref(), entries) {
        (Some(OURS) | None, Some(entries)) => entries,
        (object, _) => return vec![unknown(object.unwrap_or("no object"), body.clone())],
    };
    let mut received = Vec::new();
    for entry in entries {
        let Some(all) = entry.get("changes").and_then(Value::as_array) else {
            received.push(unknown("entry", json!({"object": OURS, "entry": [entry]})));
            continue;
        };
        let envelope = EntryContext::of(adapter, entry);
        for change in all {
            let Some(field) = text(change, "field") else {
                let body = json!({"object": OURS, "entry": [{"changes": [change]}]});
                received.push(unknown("a change names no field", body));
                continue;
            };
            let value = change.get("value").unwrap_or(&Value::Null);
            received.extend(changes::read(&envelope, field, value));
        }
    }
    received
}

/// The fields of an entry that apply to all its changes.
pub(super) struct EntryContext<'a> {
    account: Option<String>,
    pub(super) group_suffix: &'a str,
}

impl<'a> EntryContext<'a> {
    fn of(adapter: &'a CloudApi, entry: &Value) -> Self {
        let account = word(entry, "id");
        Self { account, group_suffix: &adapter.group_suffix }
    }

    /// The connections of the account.
    pub(super) fn of_account(&self) -> Addressee {
        self.account.clone().map_or(Addressee::Called, Addressee::Account)
    }
}
