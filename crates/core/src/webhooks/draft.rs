//! The bodies that make and change webhooks.

use serde_json::{Map, Value};

use super::{SigningSecret, SigningSecrets, Topics, Webhook, WebhookState, WebhookUrl};
use crate::Timestamp;
use crate::ids::{CompanyId, WebhookId};
use crate::input::{Input, read_bool};
use crate::problems::Problems;

/// A body that makes a webhook.
#[derive(Clone, Debug)]
pub struct WebhookDraft {
    pub(crate) url: WebhookUrl,
    pub(crate) topics: Topics,
    pub(crate) secret: Option<SigningSecret>,
    pub(crate) is_active: bool,
    pub(crate) standard_headers: bool,
}

/// A body that changes a webhook. Its secret changes by rotation only (D56).
#[derive(Clone, Debug)]
pub struct WebhookPatch {
    pub(crate) url: Option<WebhookUrl>,
    topics: Option<Topics>,
    is_active: Option<bool>,
    standard_headers: Option<bool>,
}

fn read_url(value: &Value) -> Result<WebhookUrl, String> {
    let text = value.as_str().ok_or("must be a string")?;
    WebhookUrl::parse(text).map_err(|error| error.to_string())
}

pub(super) fn read_secret(value: &Value) -> Result<SigningSecret, String> {
    SigningSecret::parse(value.as_str().ok_or("must be a string")?)
}

const fn state(is_active: bool) -> WebhookState {
    if is_active { WebhookState::Active } else { WebhookState::Inactive }
}

impl WebhookDraft {
    /// Reads `url`, `events`, `secret?`, `is_active?`, `standard_headers?`.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with the body.
    pub fn parse(body: &Map<String, Value>) -> Result<Self, Problems> {
        let mut input = Input::new(body);
        let url = input.required("url", read_url);
        let topics = input.required("events", Topics::read);
        let secret = input.given("secret", read_secret).value();
        let is_active = input.given("is_active", read_bool).value().unwrap_or(true);
        let standard_headers = input.given("standard_headers", read_bool).value().unwrap_or(false);
        input.finish().into_result()?;
        let (Some(url), Some(topics)) = (url, topics) else {
            return Err(Problems::of("url", "is required"));
        };
        Ok(Self { url, topics, secret, is_active, standard_headers })
    }

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
            state: state(self.is_active),
            standard_headers: self.standard_headers,
            secrets: SigningSecrets::new(secret),
            created_at: now,
            updated_at: now,
        }
    }
}

impl WebhookPatch {
    /// Reads any of `url`, `events`, `is_active`, `standard_headers`.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with the body.
    pub fn parse(body: &Map<String, Value>) -> Result<Self, Problems> {
        let mut input = Input::new(body);
        if input.has("secret") {
            input.raw("secret");
            input.problem("secret", "changes by rotation only");
        }
        let url = input.given("url", read_url);
        let topics = input.given("events", Topics::read);
        let is_active = input.given("is_active", read_bool);
        let standard_headers = input.given("standard_headers", read_bool);
        let patch = Self {
            url: input.kept("url", url),
            topics: input.kept("events", topics),
            is_active: input.kept("is_active", is_active),
            standard_headers: input.kept("standard_headers", standard_headers),
        };
        input.finish().into_result()?;
        Ok(patch)
    }

    /// The webhook with what was sent written over it.
    pub(super) fn apply(&self, webhook: &Webhook, now: Timestamp) -> Webhook {
        let mut changed = Webhook {
            url: self.url.clone().unwrap_or_else(|| webhook.url.clone()),
            topics: self.topics.clone().unwrap_or_else(|| webhook.topics.clone()),
            state: self.is_active.map_or(webhook.state, state),
            standard_headers: self.standard_headers.unwrap_or(webhook.standard_headers),
            ..webhook.clone()
        };
        if changed != *webhook {
            changed.updated_at = now;
        }
        changed
    }
}
