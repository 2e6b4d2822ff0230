//! Gateways: the software through which connections talk to their channel, behind one trait.

mod event;
mod provider;
mod unknown;

pub use event::{
    Addressee, Button, EventMedia, GatewayEvent, GatewayMessage, GatewayStatus, Incoming,
    NamesReport, OwnSend, Preference, PreferenceReport, Received, StatusEvent, TemplateReport,
    UnknownReport,
};
pub use provider::{
    Accepted, Content, Fault, Handshake, Lookup, MediaFile, Missed, Outgoing, Pairing, PairingCode,
    Provider, ProviderError, ProviderTemplate, ProviderWebhook, Providers, SendFailure, SendResult,
    WebhookRefused,
};
pub use unknown::{MAX_KIND, MAX_UNKNOWN_KINDS, UnknownKind, shape};
