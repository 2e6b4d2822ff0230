//! The bodies that make and change webhooks.

use serde_json::Value;

use super::{SigningSecret, SigningSecrets, Topics, Webhook, WebhookState, WebhookUrl};
use crate::Timestamp;
use crate::body::{Kept, Optional, OrDefault, Required, body};
use crate::form::{Form, read_bool};
use crate::ids::{CompanyId, WebhookId};

/// Whether a webhook is active, as a state.
pub(crate) struct IsActive;

impl Form for IsActive {
    type Value = WebhookState;

    fn read(value: &Value) -> Result<WebhookState, String> {
        let is_active = read_bool(value)?;
        Ok(if is_active { WebhookState::Active } else { WebhookState::Inactive })
    }

    #[cfg(feature = "openapi")]
    fn schema() -> crate::openapi::Property {
        bool::schema()
    }
}

body! {
    /// A new outbound webhook.
    #[derive(Clone, Debug)]
    pub struct WebhookDraft as "CreateWebhook" {
        /// http or https, without a user and a fragment.
        url: Required<WebhookUrl>,
        /// `*` for all events, those of later versions included, or their names.
        topics as "events": Required<Topics>,
        /// What deliveries are signed with: printable ASCII. One is made by default.
        secret: Optional<SigningSecret>,
        /// True by default.
        state as "is_active": Optional<IsActive>,
        /// Whether deliveries carry the headers of Standard Webhooks too; false by default.
        standard_headers: OrDefault<bool>,
    }
}

body! {
    /// What changes of an outbound webhook. Its secret changes by rotation.
    #[derive(Clone, Debug)]
    pub struct WebhookPatch as "UpdateWebhook" of Webhook {
        url: Kept<WebhookUrl>,
        /// The whole set.
        topics as "events": Kept<Topics>,
        state as "is_active": Kept<IsActive>,
        standard_headers: Kept<bool>,
    }
    before |input| input.reject("secret", "changes by rotation only");
}

body! {
    /// A new signing secret.
    #[derive(Clone, Debug)]
    pub struct RotateSecret as "RotateSecret" {
        /// Printable ASCII. One is made by default.
        secret: Optional<SigningSecret>,
    }
}

impl WebhookDraft {
    pub(super) fn into_webhook(
        self,
        company: CompanyId,
        id: WebhookId,
        random: [u8; 32],
        now: Timestamp,
    ) -> Webhook {
        let secret = self.secret.unwrap_or_else(|| SigningSecret::from_random(random));
        Webhook {
            id,
            company,
            url: self.url,
            topics: self.topics,
            state: self.state.unwrap_or(WebhookState::Active),
            standard_headers: self.standard_headers,
            secrets: SigningSecrets::new(secret),
            created_at: now,
            updated_at: now,
        }
    }
}

impl WebhookPatch {
    /// The webhook with what was sent written over it.
    pub(super) fn apply(&self, webhook: &Webhook, now: Timestamp) -> Webhook {
        let mut changed = self.over(webhook);
        if changed != *webhook {
            changed.updated_at = now;
        }
        changed
    }
}
