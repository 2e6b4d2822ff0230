//! [`Provider`]: pure translation between one gateway's protocol and ours, on top of a transport.

use std::fmt;

use async_trait::async_trait;

use super::outcome::{Accepted, SendResult};
use super::webhook::{Handshake, ProviderWebhook, ReceiveResult, WebhookRefused};
use super::{GatewayStatus, Incoming};
use crate::Timestamp;
use crate::connections::{Connection, GatewayDescription};
use crate::groups::{GroupCode, GroupList};
use crate::ids::MessageId;
use crate::secret::{hides, masked};
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
        match self {
            Self::Text(text) => masked(f, "Text", "***", text),
            Self::Template { name, language, variables, rendered } => {
                masked(f, "Template", "***", &(name, language, variables, rendered))
            }
        }
    }
}

/// A message on its way out.
#[derive(Clone, PartialEq, Eq)]
pub struct Outgoing {
    /// Our id of it: sent along as reference, or as the message's own id, where the gateway takes
    /// one (R29).
    pub reference: MessageId,
    /// Whom it is for, as the channel knows them: digits, a LID, a business-scoped id, a group code.
    pub recipient: String,
    /// Whether the recipient is a group.
    pub group: Option<GroupCode>,
    /// What it says.
    pub content: Content,
}

hides! {
    Outgoing {
        shows { reference }
        hides {
            recipient, group, content,
        }
    }
}

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

/// How far the pairing of a phone is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pairing {
    /// It waits for a phone to read this code, which is replaced every few seconds.
    Code(PairingCode),
    /// The gateway is getting a code ready; ask again in a moment.
    Preparing,
    /// A phone is paired.
    Paired,
}

/// What a gateway answers when it is asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Missed {
    /// What happened, oldest first.
    pub events: Vec<Incoming>,
    /// From when on there is more, when one answer did not hold everything.
    pub more_from: Option<Timestamp>,
}

/// The file of a received message, as the gateway has it.
#[derive(Clone, PartialEq, Eq)]
pub enum MediaFile {
    /// Its bytes.
    Bytes(Vec<u8>),
    /// It lies at an address that is no gateway's: to be fetched like any address from outside.
    At(String),
    /// The gateway has it no more, or it is larger than is taken.
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
    /// Whether it needs more than the text's variables.
    pub is_complex: bool,
}

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
///   [`SendFailure::Uncertain`](super::SendFailure::Uncertain) once it was written.
/// - `receive` verifies the signature or token before it reads anything of the body; one event that
///   cannot be read never loses the others.
/// - Every network access goes through the transport that is handed in.
#[async_trait]
pub trait Provider: Send + Sync {
    /// What the gateway says of itself. Asked once, when the program names its gateways; work is
    /// kept only for what it can do by this.
    fn describe(&self) -> GatewayDescription;

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

    /// All groups and communities that the connection's number is in (D64); what of them cannot be
    /// told is said in the list.
    async fn groups(
        &self,
        _transport: &dyn Transport,
        _connection: &Connection,
    ) -> Result<GroupList, ProviderError> {
        Err(ProviderError::Unsupported)
    }

    /// The code to pair a phone with. Starts the gateway's session if it has to be.
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

    /// What happened from `from` to `to`, both inclusive, as far as the gateway can tell by being
    /// asked: all of it, or the oldest part. Most of it was reported before by webhook.
    async fn missed(
        &self,
        _transport: &dyn Transport,
        _connection: &Connection,
        _from: Timestamp,
        _to: Timestamp,
    ) -> Result<Missed, ProviderError> {
        Err(ProviderError::Unsupported)
    }

    /// The other names of the person whom the channel calls `name`, as far as the gateway knows
    /// them; none where it knows none. It is asked for those who wrote under a name that hides
    /// their phone.
    async fn names(
        &self,
        _transport: &dyn Transport,
        _connection: &Connection,
        _name: &str,
    ) -> Result<Vec<String>, ProviderError> {
        Err(ProviderError::Unsupported)
    }

    /// The file of a received message: `source` is the [`url`](super::EventMedia::url) that the
    /// message's event had, which is the adapter's to choose. At most `limit` bytes are taken.
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

    /// Refuses what is wrong already before a body is read: `webhook` has none yet. What passes is
    /// not verified by that. There is no default: an adapter that forgot this would have every
    /// body of an unknown caller read.
    fn admit(
        &self,
        connection: &Connection,
        webhook: &ProviderWebhook,
    ) -> Result<(), WebhookRefused>;

    /// Verifies a webhook of the gateway and translates it. Events that the gateway is known to
    /// send and that mean nothing here are left out; unknown ones are
    /// [`GatewayEvent::Unknown`](super::GatewayEvent::Unknown).
    fn receive(&self, _connection: &Connection, _webhook: &ProviderWebhook) -> ReceiveResult {
        Err(WebhookRefused::Unsupported)
    }
}
