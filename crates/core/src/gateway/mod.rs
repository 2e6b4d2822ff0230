//! Gateways: the services through which connections reach their channel, behind one trait.

mod event;
mod outcome;
mod provider;
mod providers;
mod unknown;
mod webhook;

pub use event::{
    Addressee, Button, EventMedia, GatewayEvent, GatewayMessage, GatewayStatus, Incoming,
    NamesReport, OwnSend, Preference, PreferenceReport, Received, StatusEvent, TemplateReport,
    UnknownReport,
};
pub use outcome::{Accepted, Fault, SendFailure, SendResult};
pub use provider::{
    Content, Lookup, MediaFile, Missed, Outgoing, Pairing, PairingCode, Provider, ProviderError,
    ProviderTemplate,
};
pub use providers::Providers;
pub use unknown::{MAX_KIND, MAX_UNKNOWN_KINDS, UnknownKind, shape};
pub use webhook::{Handshake, ProviderWebhook, ReceiveResult, WebhookRefused};
