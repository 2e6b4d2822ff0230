//! A gateway of one's own: texts go out by one call, and what people write comes in by one webhook.
use async_trait::async_trait;
use recado_core::connections::*;
use recado_core::gateway::*;
use recado_core::messages::{DeliveryCode, ProviderMessageId};
use recado_core::transport::{OutboundRequest, Transport};
use serde_json::{Value, json};

/// Talks to the gateway of the house.
#[derive(Debug)]
pub struct HouseGateway;

#[async_trait]
impl Provider for HouseGateway {
    fn describe(&self) -> GatewayDescription {
        GatewayDescription::new(GatewayName::new("house"))
            .serving(ConnectionKind::Qr)
            .setting(Setting::url("base_url").required())
            .setting(Setting::secret("api_key").required())
            .setting(Setting::secret("webhook_token").required())
            .able([Capability::Text, Capability::Webhook])
    }

    async fn send(&self, net: &dyn Transport, by: &Connection, message: &Outgoing) -> SendResult {
        let Content::Text(text) = &message.content else {
            return Err(SendFailure::refused(DeliveryCode::ContentRejected, "texts only"));
        };
        let setting = |name| by.settings.text(name).unwrap_or_default();
        let body = json!({"to": message.recipient, "text": text, "reference": message.reference});
        let request = OutboundRequest::post_json(format!("{}/send", setting("base_url")), &body)
            .header("x-api-key", setting("api_key"))
            .with_timeout(by.settings.timeout())
            .once();
        let answer = net.send(request).await.map_err(|error| SendFailure::of_transport(&error))?;
        match (answer.status, answer.json()["id"].as_str().and_then(ProviderMessageId::parse)) {
            (200..=299, Some(id)) => Ok(Accepted::new(id)),
            _ => Err(SendFailure::of_answer(&answer)),
        }
    }

    fn admit(&self, of: &Connection, call: &ProviderWebhook) -> Result<(), WebhookRefused> {
        match call.header("x-house-token") {
            Some(token) if of.settings.matches("webhook_token", token) => Ok(()),
            _ => Err(WebhookRefused::Unauthorized),
        }
    }

    fn receive(&self, of: &Connection, call: &ProviderWebhook) -> ReceiveResult {
        self.admit(of, call)?;
        let body = call.json()?;
        let messages = body["messages"].as_array().ok_or(WebhookRefused::Malformed)?;
        Ok(messages.iter().map(|message| Received::here(read(message))).collect())
    }
}

fn read(message: &Value) -> Incoming {
    let word = |name| message[name].as_str().ok_or_else(|| format!("{name} is missing"));
    let id = ProviderMessageId::parse(word("id")?).ok_or("id is no id")?;
    Ok(GatewayEvent::Message(GatewayMessage::text(id, word("from")?, word("text")?)))
}
