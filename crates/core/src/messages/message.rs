//! A message as it is stored.

use super::{Blocks, Failure, Participant, ProviderMessageId, SystemKind};
use crate::Timestamp;
use crate::ids::{CompanyId, ConnectionId, ContactId, DocumentId, MessageId, WorkerId};
use crate::prosas::Prosa;
use crate::secret::hides;
use crate::templates::TemplateCategory;
use crate::words::words;

words! {
    /// Which way a message goes.
    Direction {
        /// From the contact to the company.
        Inbound = "inbound",
        /// From the company to the contact.
        Outbound = "outbound",
    }
}

words! {
    /// What a message is (D27).
    MessageType {
        /// Text.
        Text = "text",
        /// A picture.
        Image = "image",
        /// Sound.
        Audio = "audio",
        /// A video.
        Video = "video",
        /// A file.
        Document = "document",
        /// A sticker.
        Sticker = "sticker",
        /// A place.
        Location = "location",
        /// Address cards.
        Contacts = "contacts",
        /// What was offered to choose from, or an answer to it.
        Interactive = "interactive",
        /// Made from an approved template.
        Template = "template",
        /// A reaction to another message.
        Reaction = "reaction",
        /// An order, or a cart (X1).
        Order = "order",
        /// A poll (X1).
        Poll = "poll",
        /// What the channel says about the conversation (X1).
        System = "system",
        /// A type that the channel or this service does not support.
        Unsupported = "unsupported",
    }
}

impl MessageType {
    /// Whether it is a text alone.
    pub const fn is_text(self) -> bool {
        matches!(self, Self::Text)
    }

    /// Whether it is a file, whose text is a caption.
    pub const fn is_file(self) -> bool {
        matches!(self, Self::Image | Self::Audio | Self::Video | Self::Document | Self::Sticker)
    }
}

words! {
    /// Who wrote a message (D27).
    SenderType {
        /// The contact.
        Contact = "contact",
        /// The company's software, through the API.
        System = "system",
        /// A person of the company.
        Agent = "agent",
        /// The service's AI.
        Ai = "ai",
        /// A campaign.
        Campaign = "campaign",
    }
}

words! {
    /// The status of a message (D28).
    MessageStatus {
        /// Outbound: stored, the provider's answer is not known yet.
        Pending = "pending",
        /// Outbound: the provider accepted it.
        Sent = "sent",
        /// Outbound: it reached the contact's device.
        Delivered = "delivered",
        /// Outbound: the contact has seen it.
        Read = "read",
        /// Outbound: it will not arrive, or it is not known whether it did.
        Failed = "failed",
        /// Inbound: the only status there is.
        Received = "received",
    }
}

/// A file that came with a message.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Media {
    /// A public address, given by an import.
    pub url: Option<String>,
    /// The gateway's address or reference of the file; none once the file was given up.
    pub source: Option<String>,
    /// The stored copy, once it was fetched (D31a).
    pub document: Option<DocumentId>,
    /// Its kind.
    pub mimetype: Option<String>,
    /// Its name.
    pub filename: Option<String>,
    /// Its caption.
    pub caption: Option<String>,
}

impl Media {
    /// Whether every field is empty.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

hides! {
    Media {
        shows { document }
        hides {
            url, source, mimetype, filename, caption,
        }
    }
}

/// The message that a message quotes (D31a).
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Quoted {
    /// Its id, if it is stored.
    pub message: Option<MessageId>,
    /// What it said.
    pub content: Option<String>,
    /// What it was.
    pub message_type: Option<MessageType>,
}

impl Quoted {
    /// A stored message as another one quotes it: its text, or its caption (D31a).
    pub fn of(message: &Message) -> Self {
        Self {
            message: Some(message.id),
            content: message.content.clone().or_else(|| message.media.caption.clone()),
            message_type: Some(message.message_type),
        }
    }
}

hides! {
    Quoted {
        shows { message }
        hides {
            content, message_type,
        }
    }
}

/// A message (2.4, D27).
#[derive(Clone, PartialEq, Eq)]
pub struct Message {
    /// Its id; also the reference sent to gateways that accept one.
    pub id: MessageId,
    /// Its company.
    pub company: CompanyId,
    /// Its contact.
    pub contact: ContactId,
    /// The connection it came or went through.
    pub connection: ConnectionId,
    /// Which way it goes.
    pub direction: Direction,
    /// What it is.
    pub message_type: MessageType,
    /// Who wrote it.
    pub sender_type: SenderType,
    /// Its status.
    pub status: MessageStatus,
    /// Why it failed; only while `status` is failed.
    pub failure: Option<Failure>,
    /// What it says.
    pub content: Option<String>,
    /// The file it carries.
    pub media: Media,
    /// What else it holds (X2).
    pub blocks: Blocks,
    /// The provider's id, once there is one: `wamid`.
    pub provider_id: Option<ProviderMessageId>,
    /// The id that an import gave it.
    pub external_id: Option<String>,
    /// What it answers.
    pub quoted: Quoted,
    /// The group's participant who wrote it (D72).
    pub participant: Option<Participant>,
    /// The category of the template it was made from.
    pub template_category: Option<TemplateCategory>,
    /// The debit that covers it.
    pub prosa: Option<Prosa>,
    /// Whether it came from a check of the history (D65).
    pub is_history: bool,
    /// When its content was changed, if ever.
    pub edited_at: Option<Timestamp>,
    /// The process that sends it; only while `status` is pending (D36).
    pub sender: Option<WorkerId>,
    /// When it was stored.
    pub created_at: Timestamp,
    /// The provider's time.
    pub timestamp: Timestamp,
}

impl Message {
    /// What a person wrote in it, which an edit changes: the caption of a file, else the text
    /// (D31a).
    pub const fn written(&self) -> &Option<String> {
        if self.message_type.is_file() { &self.media.caption } else { &self.content }
    }

    /// What a person wrote in it, to be changed.
    pub(crate) const fn written_mut(&mut self) -> &mut Option<String> {
        if self.message_type.is_file() { &mut self.media.caption } else { &mut self.content }
    }

    /// Whether it stands for content that may come later under its id (X5).
    pub fn awaits_content(&self) -> bool {
        self.blocks.await_content(self.message_type)
    }

    /// Whether it asks somebody to look: it counts as unread and reopens its conversation (3.1). A
    /// reaction does not (X7). Nor does what the channel says by itself, such as that a number
    /// changed. A missed call, and a file that the gateway could not give, come from the contact.
    pub fn asks_for_attention(&self) -> bool {
        let notice = self.blocks.system.as_ref().map(|notice| &notice.kind);
        match self.message_type {
            MessageType::Reaction => false,
            MessageType::System => {
                matches!(notice, Some(SystemKind::MissedCall { .. } | SystemKind::FileMissing))
            }
            _ => true,
        }
    }

    /// Whether a campaign sent it, so that the status of a campaign's recipient follows it (D58).
    pub fn is_of_campaign(&self) -> bool {
        self.sender_type == SenderType::Campaign && self.direction == Direction::Outbound
    }
}

hides! {
    Message {
        shows { id, status }
        hides {
            company, contact, connection, direction, message_type, sender_type, failure,
            content, media, blocks, provider_id, external_id, quoted, participant, template_category,
            prosa, is_history, edited_at, sender, created_at, timestamp,
        }
    }
}
