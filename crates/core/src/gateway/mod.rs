//! Gateways: the software through which connections talk to their channel, behind one trait.

mod event;
mod provider;

pub use event::{
    Button, EventMedia, GatewayEvent, GatewayMessage, GatewayStatus, Incoming, Preference,
    PreferenceReport, StatusEvent,
};
pub use provider::{
    Accepted, Content, Handshake, Lookup, Outgoing, PairingCode, Provider, ProviderError,
    ProviderTemplate, Providers, SendFailure, SendResult, Webhook, WebhookRefused,
};
