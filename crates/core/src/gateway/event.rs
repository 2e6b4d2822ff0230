//! Neutral gateway events: what every gateway's webhook is translated to (D67).

use serde_json::Value;

use crate::Timestamp;
use crate::connections::ConnectionStatus;
use crate::groups::Group;
use crate::ids::MessageId;
use crate::messages::{Failure, MessageStatus, MessageType, ProviderMessageId};
use crate::words::words;

words! {
    /// What a contact wants of marketing messages, told by the channel itself (D43, D44).
    Preference {
        /// None.
        Stop = "stop",
        /// Again.
        Resume = "resume",
    }
}

/// A file that came with a message, as the gateway tells of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventMedia {
    /// Where the gateway keeps it.
    pub url: Option<String>,
    /// Its kind.
    pub mimetype: Option<String>,
    /// Its name.
    pub filename: Option<String>,
    /// What was written beneath it.
    pub caption: Option<String>,
}

/// A pressed button or a choice of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Button {
    /// Its id.
    pub id: Option<String>,
    /// What was hidden behind it.
    pub payload: Option<String>,
    /// What was written on it.
    pub title: Option<String>,
}

/// A message as a gateway tells of it: from a contact, or an echo of what the operator wrote on
/// the paired phone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GatewayMessage {
    /// The provider's id.
    pub provider_id: ProviderMessageId,
    /// The other side, as the gateway writes it: `from` of a message, `to` of an echo; a phone's
    /// digits, a LID, a business-scoped id, or a group code.
    pub peer: String,
    /// Other names of the same person.
    pub aliases: Vec<String>,
    /// Who of a group wrote it.
    pub participant: Option<String>,
    /// The name the contact gave itself.
    pub push_name: Option<String>,
    /// What it is.
    pub message_type: MessageType,
    /// What it says.
    pub content: Option<String>,
    /// The file it carries.
    pub media: Option<EventMedia>,
    /// The message it answers.
    pub quoted: Option<ProviderMessageId>,
    /// What the answered message said and was, if the gateway tells.
    pub quoted_content: Option<String>,
    /// The type of the answered message, if the gateway tells.
    pub quoted_type: Option<MessageType>,
    /// The button it is the press of.
    pub button: Option<Button>,
    /// Whether it came from a check of the history (D65).
    pub history: bool,
    /// The provider's time.
    pub timestamp: Option<Timestamp>,
}

/// How far a message came, as the provider reports it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatusEvent {
    /// The provider's id.
    pub provider_id: ProviderMessageId,
    /// The reference we sent along, where the gateway returns it.
    pub reference: Option<MessageId>,
    /// What is reported; never pending or received.
    pub status: MessageStatus,
    /// Why, when it is failed.
    pub failure: Option<Failure>,
    /// The provider's time.
    pub timestamp: Option<Timestamp>,
}

/// What a contact wants, as the channel tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreferenceReport {
    /// Who, as the gateway writes it.
    pub peer: String,
    /// Other names of the same person.
    pub aliases: Vec<String>,
    /// What they want.
    pub preference: Preference,
    /// The provider's time.
    pub timestamp: Option<Timestamp>,
}

/// A neutral event.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum GatewayEvent {
    /// A message from a contact.
    Message(GatewayMessage),
    /// The text of a message was changed.
    Edit {
        /// The message.
        provider_id: ProviderMessageId,
        /// What it says now.
        content: String,
        /// When it was changed.
        timestamp: Option<Timestamp>,
    },
    /// A message that the operator wrote on the paired phone.
    Echo(GatewayMessage),
    /// How far a message came.
    Status(StatusEvent),
    /// Whether the gateway reaches the channel.
    Connection(ConnectionStatus),
    /// The groups the number is in; merged by code (D64).
    Groups(Vec<Group>),
    /// What a contact wants of marketing messages.
    Preference(PreferenceReport),
}

/// An event as it came in: readable, or why it is not.
pub type Incoming = Result<GatewayEvent, String>;

/// The state of a connection, as its gateway tells when it is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GatewayStatus {
    /// Whether it reaches the channel.
    pub status: ConnectionStatus,
    /// More that the gateway told, for people.
    pub detail: Option<Value>,
}
