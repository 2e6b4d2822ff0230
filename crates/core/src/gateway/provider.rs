//! [`Provider`]: pure translation between one gateway's protocol and the neutral types, on top of a
//! transport.

use std::fmt;

use async_trait::async_trait;

use super::content::{Content, MessageName};
use super::message_kind::MessageKind;
use super::outcome::{Accepted, SendFailure, SendResult};
use super::webhook::{Handshake, ProviderWebhook, ReceiveResult, WebhookRefused};
use super::{GatewayStatus, Incoming};
use crate::Timestamp;
use crate::connections::{Connection, GatewayDescription};
use crate::groups::{GroupCode, GroupList};
use crate::ids::MessageId;
use crate::messages::{DeliveryCode, MessageType};
use crate::secret::hides;
use crate::templates::{TemplateCategory, TemplateNeeds, TemplateStatus};
use crate::transport::Transport;
use crate::words::words;

/// An outbound message.
#[derive(Clone, PartialEq, Eq)]
pub struct Outgoing {
    /// Its id, sent as reference or as the message's own id if the gateway accepts one (R29).
    pub reference: MessageId,
    /// The recipient's name at the channel: digits, a LID, a business-scoped id, or a group code.
    pub recipient: String,
    /// Whether the recipient is a group.
    pub group: Option<GroupCode>,
    /// Its content.
    pub content: Content,
    /// The message that it answers.
    pub quoted: Option<MessageName>,
}

impl Outgoing {
    /// A message to a person, which answers none.
    pub fn new(reference: MessageId, recipient: impl Into<String>, content: Content) -> Self {
        Self { reference, recipient: recipient.into(), group: None, content, quoted: None }
    }
}

hides! {
    Outgoing {
        shows { reference }
        hides {
            recipient, group, content, quoted,
        }
    }
}

/// A send with an unknown outcome, to search for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lookup {
    /// The message that was sent. Its content is its text, or the caption of its file.
    pub outgoing: Outgoing,
    /// What it was: its text alone proves nothing of a message that is no text.
    pub message_type: MessageType,
    /// When it was sent.
    pub sent_at: Timestamp,
}

impl Lookup {
    /// A send of such a message at this time.
    pub const fn new(outgoing: Outgoing, message_type: MessageType, sent_at: Timestamp) -> Self {
        Self { outgoing, message_type, sent_at }
    }
}

/// The code that pairs a phone with a connection.
#[derive(Clone, PartialEq, Eq)]
pub struct PairingCode {
    /// The text of the QR code.
    pub text: String,
    /// Its picture as PNG, if the gateway makes one.
    pub png: Option<Vec<u8>>,
}

impl PairingCode {
    /// A code without a picture.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), png: None }
    }
}

impl fmt::Debug for PairingCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PairingCode(***)")
    }
}

/// The state of pairing a phone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pairing {
    /// It waits for a phone to read this code, which is replaced every few seconds.
    Code(PairingCode),
    /// The gateway is preparing a code; ask again in a moment.
    Preparing,
    /// A phone is paired.
    Paired,
}

/// A gateway's answer about past events.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Missed {
    /// The events, oldest first.
    pub events: Vec<Incoming>,
    /// The time from which on there are more, if one answer did not hold everything.
    pub more_from: Option<Timestamp>,
}

/// The file of a received message, as the gateway returns it.
#[derive(Clone, PartialEq, Eq)]
pub enum MediaFile {
    /// Its bytes.
    Bytes(Vec<u8>),
    /// It is at an address outside of the gateway, and is fetched like any external address.
    At(String),
    /// The gateway does not have it any more, or it is larger than the limit.
    Gone,
}

impl fmt::Debug for MediaFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Bytes(_) => "Bytes(***)",
            Self::At(_) => "At(***)",
            Self::Gone => "Gone",
        })
    }
}

/// A template as the gateway lists it (D69).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderTemplate {
    /// The provider's id of it.
    pub provider_id: Option<String>,
    /// Its name.
    pub name: String,
    /// Its language.
    pub language: String,
    /// What it is for.
    pub category: TemplateCategory,
    /// Whether it may be sent.
    pub status: TemplateStatus,
    /// Its text.
    pub body: String,
    /// What it needs beside the text's variables.
    pub needs: TemplateNeeds,
}

impl ProviderTemplate {
    /// A template that needs nothing beside the text's variables, without the provider's id.
    pub fn new(
        name: impl Into<String>,
        language: impl Into<String>,
        category: TemplateCategory,
        status: TemplateStatus,
        body: impl Into<String>,
    ) -> Self {
        Self {
            provider_id: None,
            name: name.into(),
            language: language.into(),
            category,
            status,
            body: body.into(),
            needs: TemplateNeeds::default(),
        }
    }
}

words! {
    /// What a person is shown of us while we write (X14).
    Typing {
        /// That a text is being written.
        Text = "typing",
        /// That sound is being recorded.
        Recording = "recording",
        /// That nothing is being written any more.
        Paused = "paused",
    }
}

/// Whose conversation somebody types in.
#[derive(Clone, PartialEq, Eq)]
pub struct TypingIn {
    /// The channel's name of the person or group.
    pub recipient: String,
    /// The group, if it is one.
    pub group: Option<GroupCode>,
    /// The newest message that came from there: some gateways can show it as its answer only.
    pub last_inbound: Option<MessageName>,
}

impl fmt::Debug for TypingIn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TypingIn(***)")
    }
}

/// A new text of a message that was sent (X14).
#[derive(Clone, PartialEq, Eq)]
pub struct Edit {
    /// The text, or the caption of a file.
    pub text: String,
    /// Whether the message carries a file.
    pub is_caption: bool,
}

hides! {
    Edit {
        shows { is_caption }
        hides {
            text,
        }
    }
}

/// Why a request for information to a gateway failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProviderError {
    /// It has no such operation.
    #[error("the gateway cannot do this")]
    Unsupported,
    /// It failed or could not be reached; try again later.
    #[error("the gateway failed: {0}")]
    Failed(String),
}

/// A gateway.
///
/// # Contract
///
/// - One call of `send` makes at most one request that sends; nothing is repeated once it may have
///   arrived.
/// - `send` ends within the connection's `timeout_ms`; an unanswered request is
///   [`SendFailure::Uncertain`] once it was written.
/// - `receive` verifies the signature or token before it reads anything of the body; an event that
///   cannot be read does not prevent the others.
/// - Every network access goes through the given transport.
#[async_trait]
pub trait Provider: Send + Sync {
    /// The description of the gateway. It is read once, when the program registers its gateways;
    /// jobs are made only for the capabilities in it.
    fn describe(&self) -> GatewayDescription;

    /// Sends one message.
    async fn send(
        &self,
        transport: &dyn Transport,
        connection: &Connection,
        outgoing: &Outgoing,
    ) -> SendResult;

    /// What this connection carries and does: as [described](GatewayDescription::kinds), or less
    /// where it depends on the connection. No network is used. The core asks for nothing else
    /// (`NOT_SUPPORTED_BY_CONNECTION`).
    fn kinds(&self, _connection: &Connection) -> Vec<MessageKind> {
        self.describe().kinds()
    }

    /// Changes the text of a message that we sent (X14). Repeating it is harmless.
    async fn edit(
        &self,
        _transport: &dyn Transport,
        _connection: &Connection,
        _target: &MessageName,
        _edit: &Edit,
    ) -> Result<(), SendFailure> {
        Err(SendFailure::refused(DeliveryCode::ContentRejected, "the gateway cannot change it"))
    }

    /// Takes back a message that we sent (X14). Repeating it is harmless.
    async fn revoke(
        &self,
        _transport: &dyn Transport,
        _connection: &Connection,
        _target: &MessageName,
    ) -> Result<(), SendFailure> {
        Err(SendFailure::refused(DeliveryCode::ContentRejected, "the gateway cannot take it back"))
    }

    /// Marks a received message, and what came before it, as read at the channel (X14).
    async fn mark_read(
        &self,
        _transport: &dyn Transport,
        _connection: &Connection,
        _target: &MessageName,
    ) -> Result<(), ProviderError> {
        Err(ProviderError::Unsupported)
    }

    /// Shows a person or group that we write, or do not any more (X14).
    async fn typing(
        &self,
        _transport: &dyn Transport,
        _connection: &Connection,
        _whose: &TypingIn,
        _state: Typing,
    ) -> Result<(), ProviderError> {
        Err(ProviderError::Unsupported)
    }

    /// Searches for a message whose send has an unknown outcome. `Some` proves that it was sent;
    /// `None` proves nothing.
    async fn find_sent(
        &self,
        _transport: &dyn Transport,
        _connection: &Connection,
        _lookup: &Lookup,
    ) -> Result<Option<Accepted>, ProviderError> {
        Err(ProviderError::Unsupported)
    }

    /// Asks whether the connection reaches its channel.
    async fn status(
        &self,
        _transport: &dyn Transport,
        _connection: &Connection,
    ) -> Result<GatewayStatus, ProviderError> {
        Err(ProviderError::Unsupported)
    }

    /// All groups and communities that the connection's number is in (D64); the list also names
    /// what the gateway cannot report.
    async fn groups(
        &self,
        _transport: &dyn Transport,
        _connection: &Connection,
    ) -> Result<GroupList, ProviderError> {
        Err(ProviderError::Unsupported)
    }

    /// The code to pair a phone with. Starts the gateway's session if necessary.
    async fn pairing(
        &self,
        _transport: &dyn Transport,
        _connection: &Connection,
    ) -> Result<Pairing, ProviderError> {
        Err(ProviderError::Unsupported)
    }

    /// All templates of the connection (D69).
    async fn templates(
        &self,
        _transport: &dyn Transport,
        _connection: &Connection,
    ) -> Result<Vec<ProviderTemplate>, ProviderError> {
        Err(ProviderError::Unsupported)
    }

    /// The events from `from` to `to`, both inclusive, that the gateway can list: all of them, or
    /// the oldest part. Most of them were reported before by webhook.
    async fn missed(
        &self,
        _transport: &dyn Transport,
        _connection: &Connection,
        _from: Timestamp,
        _to: Timestamp,
    ) -> Result<Missed, ProviderError> {
        Err(ProviderError::Unsupported)
    }

    /// The other names that the gateway has for the person with the name `name`; empty if it has
    /// none. It is called for persons whose name hides their phone.
    async fn names(
        &self,
        _transport: &dyn Transport,
        _connection: &Connection,
        _name: &str,
    ) -> Result<Vec<String>, ProviderError> {
        Err(ProviderError::Unsupported)
    }

    /// The file of a received message: `source` is the [`url`](super::EventMedia::url) of the
    /// message's event, whose form the adapter chooses. At most `limit` bytes are read. The
    /// transport reaches what only gateways may reach at the addresses in the connection's
    /// [settings of that form](crate::connections::SettingForm::Url) alone (R231).
    async fn media(
        &self,
        _transport: &dyn Transport,
        _connection: &Connection,
        source: &str,
        _limit: usize,
    ) -> Result<MediaFile, ProviderError> {
        Ok(MediaFile::At(source.to_owned()))
    }

    /// Answers a gateway that verifies the address of its webhook.
    fn handshake(&self, _connection: &Connection, _webhook: &ProviderWebhook) -> Handshake {
        Err(WebhookRefused::Unsupported)
    }

    /// Refuses a call whose headers or query are wrong, before its body is read: `webhook` has none
    /// yet. A call that it accepts is not verified by that. There is no default, as an adapter
    /// without this check would let unknown callers send whole bodies.
    fn admit(
        &self,
        connection: &Connection,
        webhook: &ProviderWebhook,
    ) -> Result<(), WebhookRefused>;

    /// Verifies a webhook of the gateway and translates it. Known events without a meaning here are
    /// left out; unknown ones are [`GatewayEvent::Unknown`](super::GatewayEvent::Unknown).
    fn receive(&self, _connection: &Connection, _webhook: &ProviderWebhook) -> ReceiveResult {
        Err(WebhookRefused::Unsupported)
    }

    /// Removes the gateway's own keys from the body of a call before it is kept for the operator
    /// (X9). The secrets of the connection's settings are removed in any case.
    fn remove_secrets(&self, _body: &mut serde_json::Value) {}

    /// Reads again what was kept because it was not understood (X9): the
    /// [`body`](super::UnknownReport::body) of an unknown event, or what a message has as
    /// [`raw`](super::GatewayMessage::raw), or the whole body of a call that was malformed or of
    /// which an event was refused. The events are those of `receive` for a call that holds just
    /// this. What is not understood still is unknown, or unsupported, or an error, again; no event
    /// at all says that it means nothing, so that it is kept no longer.
    fn read(&self, _connection: &Connection, _body: &serde_json::Value) -> Vec<Incoming> {
        vec![Err("this adapter reads nothing again".to_owned())]
    }
}
