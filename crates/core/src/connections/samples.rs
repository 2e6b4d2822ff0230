//! Gateways for the core's own tests: descriptions, with an adapter that is never called.

use std::sync::Arc;

use async_trait::async_trait;

use super::description::SharedWebhook;
use super::{Capability, Connection, ConnectionKind, GatewayDescription, GatewayName, Setting};
use crate::gateway::{
    Outgoing, Provider, ProviderWebhook, Providers, SendFailure, SendResult, WebhookRefused,
};
use crate::transport::Transport;

/// A gateway without required settings, for connections of both kinds.
pub(crate) fn simulated() -> GatewayDescription {
    GatewayDescription::new(GatewayName::new("simulated"))
        .setting(Setting::integer("delay_ms", 0, 3_600_000))
        .setting(Setting::boolean("reports"))
        .able([Capability::Text, Capability::Template])
}

/// A QR gateway.
pub(crate) fn waha() -> GatewayDescription {
    GatewayDescription::new(GatewayName::new("waha"))
        .serving(ConnectionKind::Qr)
        .setting(Setting::url("base_url").required())
        .setting(Setting::text("session").required())
        .setting(Setting::secret("api_key").required())
        .setting(Setting::secret("webhook_hmac_key").required())
        .able([Capability::Text, Capability::Groups, Capability::History, Capability::State])
        .able([Capability::Webhook, Capability::FindSent, Capability::Names, Capability::Qr])
}

/// A gateway that calls one address for all numbers of an account.
pub(crate) fn cloud_api() -> GatewayDescription {
    GatewayDescription::new(GatewayName::new("cloud_api"))
        .serving(ConnectionKind::OfficialCloud)
        .setting(Setting::text("phone_number_id").required())
        .setting(Setting::secret("access_token").required())
        .setting(Setting::secret("app_secret").required())
        .setting(Setting::secret("verify_token").required())
        .setting(Setting::text("business_account_id"))
        .able([Capability::Text, Capability::Template, Capability::TemplateList])
        .able([Capability::State, Capability::Webhook, Capability::OptOuts])
        .sharing_webhook(SharedWebhook {
            secret: "app_secret".into(),
            number: "phone_number_id".into(),
            account: "business_account_id".into(),
        })
}

/// All of them.
pub(crate) fn providers() -> Providers {
    [simulated(), cloud_api(), waha()]
        .into_iter()
        .fold(Providers::none(), |all, described| all.with(Arc::new(Described(described))))
}

struct Described(GatewayDescription);

#[async_trait]
impl Provider for Described {
    fn describe(&self) -> GatewayDescription {
        self.0.clone()
    }

    async fn send(&self, _: &dyn Transport, _: &Connection, _: &Outgoing) -> SendResult {
        Err(SendFailure::uncertain("nothing is sent here"))
    }

    fn admit(&self, _: &Connection, _: &ProviderWebhook) -> Result<(), WebhookRefused> {
        Err(WebhookRefused::Unsupported)
    }
}
