//! The bodies that make and change webhooks.

use super::{SigningSecret, SigningSecrets, Topics, Webhook, WebhookState, WebhookUrl};
use crate::Timestamp;
use crate::body::{Kept, Optional, OrDefault, Required, WriteOver, body};
use crate::ids::{CompanyId, WebhookId};

impl WriteOver<WebhookState> for Option<bool> {
    fn write_over(&self, state: &mut WebhookState) {
        self.map(WebhookState::of).write_over(state);
    }
}

body! {
    /// A new outbound webhook.
    #[derive(Clone, Debug)]
    pub struct WebhookDraft as "CreateWebhook" {
        /// http or https, without a user and a fragment.
        url: WebhookUrl = Required<WebhookUrl>,
        /// `*` for all events, those of later versions included, or their names.
        topics as "events": Topics = Required<Topics>,
        /// What deliveries are signed with: printable ASCII. One is made by default.
        secret: Option<SigningSecret> = Optional<SigningSecret>,
        /// True by default.
        is_active: Option<bool> = Optional<bool>,
        /// Whether deliveries carry the headers of Standard Webhooks too; false by default.
        standard_headers: bool = OrDefault<bool>,
    }
}

body! {
    /// What changes of an outbound webhook. Its secret changes by rotation.
    #[derive(Clone, Debug)]
    pub struct WebhookPatch as "UpdateWebhook" of Webhook, updated_at {
        url: Option<WebhookUrl> = Kept<WebhookUrl>,
        /// The whole set.
        topics as "events": Option<Topics> = Kept<Topics>,
        state as "is_active": Option<bool> = Kept<bool>,
        standard_headers: Option<bool> = Kept<bool>,
    }
    before |input| input.reject("secret", "changes by rotation only");
}

body! {
    /// A new signing secret.
    #[derive(Clone, Debug)]
    pub struct RotateSecret as "RotateSecret" {
        /// Printable ASCII. One is made by default.
        secret: Option<SigningSecret> = Optional<SigningSecret>,
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
            state: WebhookState::of(self.is_active.unwrap_or(true)),
            standard_headers: self.standard_headers,
            secrets: SigningSecrets::new(secret),
            created_at: now,
            updated_at: now,
        }
    }
}
