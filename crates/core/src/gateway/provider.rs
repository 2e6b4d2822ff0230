//! [`Provider`]: pure translation between one gateway's protocol and ours, on top of a transport.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;

use super::{GatewayStatus, Incoming};
use crate::Timestamp;
use crate::connections::{Connection, Gateway};
use crate::groups::{Group, GroupCode};
use crate::ids::MessageId;
use crate::messages::{DeliveryCode, Failure, ProviderMessageId};
use crate::templates::{TemplateCategory, TemplateStatus};
use crate::transport::Transport;

/// What a message says.
#[derive(Clone, PartialEq, Eq)]
pub enum Content {
    /// Free text.
    Text(String),
    /// An approved template.
    Template {
        /// Its name.
        name: String,
        /// Its language.
        language: String,
        /// Its variables by position, from 1.
        variables: Vec<String>,
        /// Its text with the variables filled in.
        rendered: String,
    },
}

impl fmt::Debug for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Text(_) => "Text(***)",
            Self::Template { .. } => "Template(***)",
        })
    }
}

/// A message on its way out.
#[derive(Clone, PartialEq, Eq)]
pub struct Outgoing {
    /// Our id of it: sent along as reference, or as the message's own id, where the gateway takes
    /// one.
    pub reference: MessageId,
    /// Whom it is for, as the channel knows them: digits, a LID, a business-scoped id, a group code.
    pub recipient: String,
    /// Whether the recipient is a group.
    pub group: Option<GroupCode>,
    /// What it says.
    pub content: Content,
}

impl fmt::Debug for Outgoing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outgoing").field("reference", &self.reference).finish_non_exhaustive()
    }
}

/// A provider's word that it took a message.
#[derive(Clone, PartialEq, Eq)]
pub struct Accepted {
    /// The provider's id of it.
    pub provider_id: ProviderMessageId,
    /// What the channel calls the recipient, if it told (D15).
    pub recipient: Option<String>,
    /// Other names of the recipient, if it told.
    pub aliases: Vec<String>,
}

impl fmt::Debug for Accepted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Accepted").field("provider_id", &self.provider_id).finish_non_exhaustive()
    }
}

/// Why a provider did not take a message, by what it means for the message and the connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SendFailure {
    /// Surely not sent, and never will be in this form.
    Refused(Failure),
    /// Surely not sent; the same message may pass later.
    TryLater(Failure),
    /// Surely not sent; the connection's credentials, settings or state are at fault.
    Connection(Failure),
    /// The gateway could not be reached; surely not sent.
    Unreachable(Failure),
    /// It may have arrived: never sent again by itself.
    Uncertain(Failure),
}

impl SendFailure {
    /// A refusal with a code of the catalogue.
    pub fn refused(code: DeliveryCode, message: impl Into<String>) -> Self {
        Self::Refused(Failure::new(code, message.into()))
    }

    /// It may have arrived.
    pub fn uncertain(message: impl Into<String>) -> Self {
        Self::Uncertain(Failure::uncertain(message.into()))
    }

    /// What the message records.
    pub const fn failure(&self) -> &Failure {
        match self {
            Self::Refused(failure)
            | Self::TryLater(failure)
            | Self::Connection(failure)
            | Self::Unreachable(failure)
            | Self::Uncertain(failure) => failure,
        }
    }
}

/// How a send ended.
pub type SendResult = Result<Accepted, SendFailure>;

/// What is known of a send whose outcome is not, to look it up with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lookup {
    /// The message that was sent.
    pub outgoing: Outgoing,
    /// When it was handed over.
    pub sent_at: Timestamp,
}

/// What pairs a phone with a connection.
#[derive(Clone, PartialEq, Eq)]
pub struct PairingCode {
    /// The text of the QR code.
    pub text: String,
    /// Its picture as PNG, if the gateway makes one.
    pub png: Option<Vec<u8>>,
}

impl fmt::Debug for PairingCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PairingCode(***)")
    }
}

/// A template as the gateway lists it (D69).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderTemplate {
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
    /// Whether it needs more than the text's variables.
    pub is_complex: bool,
}

/// A request that a gateway made to its connection's address.
#[derive(Clone)]
pub struct Webhook {
    /// Header names in lower case with their values.
    pub headers: Vec<(String, String)>,
    /// Decoded query parameters.
    pub query: Vec<(String, String)>,
    /// The raw body.
    pub body: Vec<u8>,
}

impl fmt::Debug for Webhook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Webhook({} bytes)", self.body.len())
    }
}

/// Why a gateway's request is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WebhookRefused {
    /// The signature or token is missing or wrong; nothing was read.
    #[error("the signature or token is missing or wrong")]
    Unauthorized,
    /// The body is not what the gateway sends.
    #[error("the body cannot be read")]
    Malformed,
    /// This gateway has no webhook.
    #[error("this gateway sends no webhooks")]
    Unsupported,
}

/// The answer to a gateway that verifies the address: written back as it is.
pub type Handshake = Result<String, WebhookRefused>;

/// Why a gateway did not answer a question.
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
/// - `receive` verifies the signature or token before it reads anything of the body; one event that
///   cannot be read never loses the others.
/// - Every network access goes through the transport that is handed in.
#[async_trait]
pub trait Provider: Send + Sync {
    /// Sends one message.
    async fn send(
        &self,
        transport: &dyn Transport,
        connection: &Connection,
        outgoing: &Outgoing,
    ) -> SendResult;

    /// Looks for a message whose send ended uncertainly. `Some` proves that it was sent; `None`
    /// proves nothing.
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

    /// All groups and communities that the connection's number is in (D64).
    async fn groups(
        &self,
        _transport: &dyn Transport,
        _connection: &Connection,
    ) -> Result<Vec<Group>, ProviderError> {
        Err(ProviderError::Unsupported)
    }

    /// The code to pair a phone with; `None` when it is paired already.
    async fn pairing_code(
        &self,
        _transport: &dyn Transport,
        _connection: &Connection,
    ) -> Result<Option<PairingCode>, ProviderError> {
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

    /// What happened since `since`, oldest first, as far as the gateway can tell by being asked.
    async fn missed(
        &self,
        _transport: &dyn Transport,
        _connection: &Connection,
        _since: Timestamp,
    ) -> Result<Vec<Incoming>, ProviderError> {
        Err(ProviderError::Unsupported)
    }

    /// Answers a gateway that verifies the address of its webhook.
    fn handshake(&self, _connection: &Connection, _webhook: &Webhook) -> Handshake {
        Err(WebhookRefused::Unsupported)
    }

    /// Verifies a webhook of the gateway and translates it.
    fn receive(
        &self,
        _connection: &Connection,
        _webhook: &Webhook,
    ) -> Result<Vec<Incoming>, WebhookRefused> {
        Err(WebhookRefused::Unsupported)
    }
}

/// The gateways that a program talks to.
#[derive(Clone, Default)]
pub struct Providers(BTreeMap<&'static str, Arc<dyn Provider>>);

impl Providers {
    /// No gateway at all.
    pub fn none() -> Self {
        Self::default()
    }

    /// The same with one more gateway.
    #[must_use]
    pub fn with(mut self, gateway: Gateway, provider: Arc<dyn Provider>) -> Self {
        self.0.insert(gateway.as_str(), provider);
        self
    }

    /// The provider for a gateway, if there is one.
    pub fn get(&self, gateway: Gateway) -> Option<Arc<dyn Provider>> {
        self.0.get(gateway.as_str()).cloned()
    }
}

impl fmt::Debug for Providers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}
