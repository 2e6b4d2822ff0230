//! Neutral gateway events, which the webhooks of every gateway are translated to (D67).

use serde_json::Value;

use crate::Timestamp;
use crate::connections::ConnectionStatus;
use crate::groups::GroupList;
use crate::ids::MessageId;
use crate::messages::{
    Answer, AnswerKind, Blocks, Failure, Interactive, MessageStatus, MessageType,
    ProviderMessageId, Reaction,
};
use crate::templates::{TemplateCategory, TemplateStatus};
use crate::words::words;

words! {
    /// Whether a contact accepts marketing messages, as the channel itself reports (D43, D44).
    Preference {
        /// The contact wants no marketing messages.
        Stop = "stop",
        /// The contact wants them again.
        Resume = "resume",
    }
}

/// A file that came with a message, as the gateway reports it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventMedia {
    /// The gateway's address or reference of the file.
    pub url: Option<String>,
    /// Its kind.
    pub mimetype: Option<String>,
    /// Its name.
    pub filename: Option<String>,
    /// Its caption.
    pub caption: Option<String>,
}

/// A pressed button or a choice of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Button {
    /// Its id.
    pub id: Option<String>,
    /// Its payload.
    pub payload: Option<String>,
    /// Its title.
    pub title: Option<String>,
}

/// A message as a gateway reports it: from a contact, or an echo of what the operator wrote on
/// the paired phone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GatewayMessage {
    /// The provider's id.
    pub provider_id: ProviderMessageId,
    /// The contact, in the gateway's form: `from` of a message, `to` of an echo; a phone's digits,
    /// a LID, a business-scoped id, or a group code.
    pub peer: String,
    /// Other names of the same person.
    pub aliases: Vec<String>,
    /// The group's participant who wrote it.
    pub participant: Option<String>,
    /// The name the contact gave itself.
    pub push_name: Option<String>,
    /// What it is.
    pub message_type: MessageType,
    /// Its text; where it is `None`, [`blocks`](Self::blocks) say it.
    pub content: Option<String>,
    /// The file it carries.
    pub media: Option<EventMedia>,
    /// What else it holds (X2). What refers to messages of Recado in it is ignored: Recado finds
    /// them itself.
    pub blocks: Blocks,
    /// The message it answers.
    pub quoted: Option<ProviderMessageId>,
    /// The text of the answered message, if the gateway reports it.
    pub quoted_content: Option<String>,
    /// The type of the answered message, if the gateway reports it.
    pub quoted_type: Option<MessageType>,
    /// The button that was pressed.
    pub button: Option<Button>,
    /// Whether it came from a check of the history (D65).
    pub history: bool,
    /// Whether the channel announces that its content comes later, under the same id (X5). It is
    /// stored as [`Unsupported`](MessageType::Unsupported) until then.
    pub is_late: bool,
    /// The provider's time.
    pub timestamp: Option<Timestamp>,
    /// What the gateway wrote, of a message that is [`Unsupported`](MessageType::Unsupported) or
    /// only partly understood: it is kept for the operator, and read again by
    /// [`Provider::read`](super::Provider::read) after an upgrade (X9).
    pub raw: Option<Value>,
}

impl GatewayMessage {
    /// The button that was pressed, or the row of a list that was chosen: the one that the gateway
    /// names, else the one that its block describes.
    pub(crate) fn pressed(&self) -> Option<Button> {
        self.button.clone().or_else(|| match &self.blocks.interactive {
            Some(Interactive::Answer(answer))
                if matches!(answer.kind, AnswerKind::ButtonReply | AnswerKind::ListReply) =>
            {
                Some(Button {
                    id: answer.id.clone(),
                    payload: answer.payload.clone(),
                    title: answer.title.clone(),
                })
            }
            _ => None,
        })
    }

    /// Whether it has content, and does not stand for some that comes later (X5).
    pub(crate) fn has_content(&self) -> bool {
        !self.blocks.await_content(self.message_type)
    }

    /// Whether it is a vote in a poll.
    pub(crate) fn is_vote(&self) -> bool {
        matches!(&self.blocks.interactive, Some(Interactive::Answer(answer))
            if answer.kind == AnswerKind::PollVote)
    }

    /// The message that it answers, reacts to, or votes in.
    pub(crate) fn target(&self) -> Option<ProviderMessageId> {
        let reaction = self.blocks.reaction.as_ref();
        let reacted_to = || reaction.and_then(|reaction| reaction.provider_message_id.as_deref());
        self.quoted.clone().or_else(|| reacted_to().and_then(ProviderMessageId::parse))
    }

    /// What it holds besides its text and its file. A reaction and a pressed button that are
    /// reported without their blocks get them.
    pub(crate) fn all_blocks(&self) -> Blocks {
        let mut blocks = self.blocks.clone();
        match self.message_type {
            MessageType::Reaction if blocks.reaction.is_none() => {
                blocks.reaction = Some(Reaction {
                    emoji: self.content.clone(),
                    message_id: None,
                    provider_message_id: self.quoted.as_ref().map(|id| id.as_str().to_owned()),
                });
            }
            MessageType::Interactive if blocks.interactive.is_none() => {
                blocks.interactive = self.button.clone().map(|button| {
                    Interactive::Answer(Answer {
                        id: button.id,
                        title: button.title,
                        payload: button.payload,
                        ..Answer::new(AnswerKind::ButtonReply)
                    })
                });
            }
            _ => {}
        }
        blocks
    }

    /// A text message without a time and without any other details.
    pub fn text(
        provider_id: ProviderMessageId,
        peer: impl Into<String>,
        text: impl Into<String>,
    ) -> Self {
        Self {
            provider_id,
            peer: peer.into(),
            aliases: Vec::new(),
            participant: None,
            push_name: None,
            message_type: MessageType::Text,
            content: Some(text.into()),
            media: None,
            blocks: Blocks::default(),
            quoted: None,
            quoted_content: None,
            quoted_type: None,
            button: None,
            history: false,
            is_late: false,
            timestamp: None,
            raw: None,
        }
    }
}

/// The status of a message, as the provider reports it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatusEvent {
    /// The provider's id.
    pub provider_id: ProviderMessageId,
    /// The reference sent with the message, if the gateway returns it.
    pub reference: Option<MessageId>,
    /// What is reported; never pending or received.
    pub status: MessageStatus,
    /// Why, when it is failed.
    pub failure: Option<Failure>,
    /// The provider's time.
    pub timestamp: Option<Timestamp>,
    /// Names of the recipient that hide their phone, in the gateway's form: a LID, a
    /// business-scoped id. A contact learns them by a status of its own message (X8).
    pub names: Vec<String>,
}

impl StatusEvent {
    /// A status report without any other details.
    pub const fn new(provider_id: ProviderMessageId, status: MessageStatus) -> Self {
        Self {
            provider_id,
            reference: None,
            status,
            failure: None,
            timestamp: None,
            names: Vec::new(),
        }
    }
}

/// Whether a contact accepts marketing messages, as the channel reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreferenceReport {
    /// The contact, in the gateway's form.
    pub peer: String,
    /// Other names of the same person.
    pub aliases: Vec<String>,
    /// The preference.
    pub preference: Preference,
    /// The provider's time.
    pub timestamp: Option<Timestamp>,
    /// Whether it is of the past, so that what the contact has said since counts (X9).
    pub history: bool,
}

impl PreferenceReport {
    /// A report without any other details.
    pub fn new(peer: impl Into<String>, preference: Preference) -> Self {
        Self { peer: peer.into(), aliases: Vec::new(), preference, timestamp: None, history: false }
    }
}

/// A message that the gateway sent for a program that called it: this service, or another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnSend {
    /// The provider's id.
    pub provider_id: ProviderMessageId,
    /// The reference sent with the message, if the gateway returns it.
    pub reference: Option<MessageId>,
    /// The recipient, in the gateway's form.
    pub peer: String,
    /// Other names of the same person.
    pub aliases: Vec<String>,
    /// What kind of message it is, if the gateway tells.
    pub message_type: Option<MessageType>,
    /// Its text, or what stands for it; of a file the caption.
    pub content: Option<String>,
    /// The provider's time.
    pub timestamp: Option<Timestamp>,
}

impl OwnSend {
    /// A message to this recipient without any other details.
    pub fn new(provider_id: ProviderMessageId, peer: impl Into<String>) -> Self {
        Self {
            provider_id,
            reference: None,
            peer: peer.into(),
            aliases: Vec::new(),
            message_type: None,
            content: None,
            timestamp: None,
        }
    }
}

/// Several names of one person (D67, D68).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamesReport {
    /// A known name of the person.
    pub peer: String,
    /// The others.
    pub aliases: Vec<String>,
}

impl NamesReport {
    /// These names are the same person's.
    pub fn new(peer: impl Into<String>, aliases: Vec<String>) -> Self {
        Self { peer: peer.into(), aliases }
    }
}

/// A change of a template at the channel (D69). It is named by its name and language, or else by
/// the provider's id.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TemplateReport {
    /// The provider's id of it, if reported.
    pub provider_id: Option<String>,
    /// Its name, if reported.
    pub name: Option<String>,
    /// Its language, if reported.
    pub language: Option<String>,
    /// Whether it may be sent now, if reported.
    pub status: Option<TemplateStatus>,
    /// Its category now, if reported.
    pub category: Option<TemplateCategory>,
}

/// An event that the adapter does not know: its kind and its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownReport {
    /// What the gateway calls it; cut at [`MAX_KIND`](super::MAX_KIND) characters when it is kept.
    pub kind: String,
    /// What the gateway wrote: the part of its call that holds this event and no other, in a form
    /// that [`Provider::read`](super::Provider::read) reads.
    pub body: Value,
    /// The provider's id of the message that it is about, if it is known.
    pub provider_id: Option<ProviderMessageId>,
}

impl UnknownReport {
    /// An event of this kind.
    pub fn new(kind: impl Into<String>, body: Value) -> Self {
        Self { kind: kind.into(), body, provider_id: None }
    }
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
        /// The new text.
        content: String,
        /// When it was changed.
        timestamp: Option<Timestamp>,
    },
    /// The sender of a message deleted it for everybody (X3).
    Deleted {
        /// The message.
        provider_id: ProviderMessageId,
        /// When it was deleted.
        timestamp: Option<Timestamp>,
    },
    /// A message that the operator wrote on the paired phone.
    Echo(GatewayMessage),
    /// The status of a message.
    Status(StatusEvent),
    /// Whether the gateway reaches the channel.
    Connection(ConnectionStatus),
    /// The groups the number is in; merged by code (D64).
    Groups(GroupList),
    /// Whether a contact accepts marketing messages.
    Preference(PreferenceReport),
    /// A message that the gateway sent for a program that called it.
    OwnSend(OwnSend),
    /// Several names of one person.
    Names(NamesReport),
    /// The groups of the number have changed; the gateway has to be asked how (D64).
    GroupsChanged,
    /// The state of the connection may have changed; the gateway has to be asked.
    StateDoubtful,
    /// A change of a template.
    Template(TemplateReport),
    /// An event that the adapter does not know.
    Unknown(UnknownReport),
    /// An event of another session or instance, which is about people of somebody else: it is
    /// refused for this reason, and nothing of it is kept.
    NotOurs(String),
}

/// A received event, or why it cannot be read.
pub type Incoming = Result<GatewayEvent, String>;

/// The state of a connection, as its gateway reports it when it is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GatewayStatus {
    /// Whether it reaches the channel.
    pub status: ConnectionStatus,
    /// More that the gateway reported, for people.
    pub detail: Option<Value>,
}

impl GatewayStatus {
    /// A state about which the gateway reported no more.
    pub const fn new(status: ConnectionStatus) -> Self {
        Self { status, detail: None }
    }
}

/// The connection that an event of a webhook is for. The official API calls one address for all the
/// numbers and accounts of an app (D68).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Addressee {
    /// The one whose address was called.
    Called,
    /// The one with this `phone_number_id`.
    Number(String),
    /// Those with this `business_account_id`.
    Account(String),
}

/// An event of a webhook with the connection it is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Received {
    /// The connection it is for.
    pub to: Addressee,
    /// The event.
    pub event: Incoming,
}

impl Received {
    /// An event for the connection whose address was called.
    pub const fn here(event: Incoming) -> Self {
        Self { to: Addressee::Called, event }
    }
}
