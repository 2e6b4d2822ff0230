//! A webhook as the operator sees it.

use std::fmt;

use serde::Serialize;

use super::{Webhook, WebhookState};
use crate::Timestamp;
use crate::ids::WebhookId;

/// A webhook without its secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct WebhookView {
    /// Its id.
    pub id: WebhookId,
    /// Where deliveries are posted to.
    pub url: String,
    /// What it is subscribed to: `*` or names of events.
    pub events: Vec<&'static str>,
    /// Whether it gets deliveries.
    pub is_active: bool,
    /// Whether deliveries carry the headers of Standard Webhooks too.
    pub standard_headers: bool,
    /// Until when the secret before the current one signs too; null when it does not.
    pub previous_secret_until: Option<Timestamp>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
}

impl WebhookView {
    /// The webhook at `now`.
    pub fn new(webhook: &Webhook, now: Timestamp) -> Self {
        let previous = webhook.secrets.previous.as_ref().filter(|previous| now < previous.until);
        Self {
            id: webhook.id,
            url: webhook.url.as_str().to_owned(),
            events: webhook.topics.names(),
            is_active: webhook.state == WebhookState::Active,
            standard_headers: webhook.standard_headers,
            previous_secret_until: previous.map(|previous| previous.until),
            created_at: webhook.created_at,
            updated_at: webhook.updated_at,
        }
    }
}

/// A webhook with its new secret, which is shown this once.
#[derive(Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct SecretView {
    /// The webhook.
    #[serde(flatten)]
    pub webhook: WebhookView,
    /// The signing secret.
    pub secret: String,
}

impl fmt::Debug for SecretView {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SecretView").field("webhook", &self.webhook).finish_non_exhaustive()
    }
}

impl SecretView {
    /// The webhook at `now`, with its secret.
    pub fn new(webhook: &Webhook, now: Timestamp) -> Self {
        let secret = webhook.secrets.current.expose().to_owned();
        Self { webhook: WebhookView::new(webhook, now), secret }
    }
}
