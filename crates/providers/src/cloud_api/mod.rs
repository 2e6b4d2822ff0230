//! The official cloud API of WhatsApp (Graph API v23.0 and later).
//!
//! Settings: `phone_number_id`, `access_token`, `app_secret`, `verify_token`; optional
//! `business_account_id` (needed to list templates), `api_base` (`https://graph.facebook.com`; it
//! may end with the version), `api_version` (`v23.0`) and `timeout_ms`.
//!
//! The message id is sent as `biz_opaque_callback_data` and returned with every status. This is how
//! the outcome of a send without an answer becomes known, as the API cannot be searched for
//! messages. The API has no access to groups that people have made, so nothing is sent to groups.
//!
//! A file is uploaded first, streamed from where it is kept; the message names the id that it got.

mod account;
mod answer;
mod budget;
mod calls;
mod cards;
mod changes;
mod commerce;
mod content;
mod errors;
mod history;
mod identity;
mod interactive;
mod media;
mod message;
mod offer;
mod outbound;
mod people;
mod preferences;
mod provider;
mod receipts;
mod send;
mod settings;
mod state;
mod status;
mod template_shape;
mod templates;
mod upload;
mod webhook;

use std::sync::Arc;

pub use errors::{ErrorClass, class_of};
use recado_core::connections::{
    Capability, ConnectionKind, GatewayDescription, GatewayName, Setting, SharedWebhook,
};
use recado_core::gateway::MessageKind;
use upload::UploadedFiles;

/// What it carries beside texts and templates. The API has no polls, and can neither change nor
/// take back a message. Its limits of files are those of the contract (X10).
const SENDS: [MessageKind; 15] = [
    MessageKind::Image,
    MessageKind::Video,
    MessageKind::Audio,
    MessageKind::Voice,
    MessageKind::Document,
    MessageKind::Sticker,
    MessageKind::Buttons,
    MessageKind::List,
    MessageKind::CtaUrl,
    MessageKind::LocationRequest,
    MessageKind::Location,
    MessageKind::Contacts,
    MessageKind::Reaction,
    MessageKind::Read,
    MessageKind::Typing,
];

/// The adapter for the official cloud API. Clones share a cache of the ids of uploaded files.
#[derive(Clone, Debug)]
pub struct CloudApi {
    group_suffix: String,
    uploaded: Arc<UploadedFiles>,
}

impl CloudApi {
    /// An adapter that writes group codes with the suffix `g.us`.
    pub fn new() -> Self {
        Self::with_group_suffix("g.us")
    }

    /// An adapter that writes group codes with the installation's suffix (D2).
    pub fn with_group_suffix(suffix: impl Into<String>) -> Self {
        Self { group_suffix: suffix.into(), uploaded: Arc::default() }
    }

    /// The description of the gateway.
    pub fn description() -> GatewayDescription {
        GatewayDescription::new(GatewayName::new("cloud_api"))
            .serving(ConnectionKind::OfficialCloud)
            .setting(Setting::text("phone_number_id").required())
            .setting(Setting::secret("access_token").required())
            .setting(Setting::secret("app_secret").required())
            .setting(Setting::secret("verify_token").required())
            .setting(Setting::text("business_account_id"))
            .setting(Setting::url("api_base"))
            .setting(Setting::text("api_version"))
            .able([Capability::Text, Capability::Template, Capability::TemplateList])
            .able([Capability::State, Capability::Webhook, Capability::OptOuts])
            .sends(SENDS)
            .sharing_webhook(SharedWebhook {
                secret: "app_secret".into(),
                number: "phone_number_id".into(),
                account: "business_account_id".into(),
            })
    }
}

impl Default for CloudApi {
    fn default() -> Self {
        Self::new()
    }
}
