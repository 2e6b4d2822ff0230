//! Outbound webhooks: the addresses that events are sent to, their subscriptions and signing
//! secrets (6, D52a, D54, D56).

mod draft;
mod manage;
mod reads;
mod routes;
mod secrets;
mod topics;
mod url;
mod view;
mod webhook;

pub use draft::{RotateSecret, WebhookDraft, WebhookPatch};
#[cfg(feature = "openapi")]
pub(crate) use manage::TestData;
pub use manage::{WebhookError, WebhookResult, Webhooks};
pub use reads::WebhookReads;
pub use routes::{EventRoute, Routes};
pub use secrets::{ROTATION, RotatedSecret, SigningSecret, SigningSecrets};
pub use topics::{ALL_EVENTS, Topics};
pub use url::{InvalidUrl, WebhookUrl};
pub use view::{SecretView, WebhookView};
pub use webhook::{MAX_WEBHOOKS, Webhook, WebhookState};
