//! Gateways: the services through which connections reach their channel, behind one trait.

mod content;
mod destinations;
mod event;
mod kept;
mod message_kind;
mod outcome;
mod provider;
mod providers;
mod webhook;

pub use content::{
    Content, FileKind, InteractiveContent, MediaContent, MessageName, OutgoingFile, ReactionContent,
};
pub use destinations::{GatewayDestinations, InvalidDestination};
pub use event::{
    Addressee, Button, EventMedia, GatewayEvent, GatewayMessage, GatewayStatus, Incoming,
    NamesReport, OwnSend, Preference, PreferenceReport, Received, StatusEvent, TemplateReport,
    UnknownReport,
};
pub(crate) use kept::{Identity, Keep, kept_kind};
pub use kept::{
    KEPT_OF_CONNECTION, KEPT_OF_KIND, KeptBody, KeptEvents, KeptOrder, KeptQuery, LISTED_EVENTS,
    MAX_KEPT_BODY, MAX_KIND, UnknownEvent, UnknownForm, UnknownReason,
};
pub use message_kind::MessageKind;
pub use outcome::{Accepted, Fault, SendFailure, SendResult};
pub use provider::{
    Edit, Lookup, MediaFile, Missed, Outgoing, Pairing, PairingCode, Provider, ProviderError,
    ProviderTemplate, Typing, TypingIn,
};
pub use providers::Providers;
pub use webhook::{Handshake, ProviderWebhook, ReceiveResult, WebhookRefused};
