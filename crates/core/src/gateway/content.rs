//! What a message carries to its gateway.

use std::fmt;

use super::MessageKind;
use crate::documents::StoredFile;
use crate::ids::{MessageId, UploadId};
use crate::messages::{Location, MessageType, Offer, OfferKind, ProviderMessageId, SharedContact};
use crate::secret::masked;
use crate::words::words;

words! {
    /// What a file is at the channel (X10).
    FileKind {
        /// A picture.
        Image = "image",
        /// A video.
        Video = "video",
        /// Sound, a voice note too.
        Audio = "audio",
        /// Any file.
        Document = "document",
        /// A sticker.
        Sticker = "sticker",
    }
}

impl FileKind {
    /// The type of a message that carries such a file.
    pub const fn message_type(self) -> MessageType {
        match self {
            Self::Image => MessageType::Image,
            Self::Video => MessageType::Video,
            Self::Audio => MessageType::Audio,
            Self::Document => MessageType::Document,
            Self::Sticker => MessageType::Sticker,
        }
    }
}

/// A file to be sent.
#[derive(Clone, PartialEq, Eq)]
pub struct OutgoingFile {
    /// The upload that keeps it.
    pub upload: UploadId,
    /// Where its bytes are.
    pub stored: StoredFile,
    /// Its media type.
    pub mimetype: String,
    /// Its name; documents have one.
    pub filename: Option<String>,
}

impl fmt::Debug for OutgoingFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OutgoingFile").field("upload", &self.upload).finish_non_exhaustive()
    }
}

/// A file with what belongs to it (X10).
#[derive(Clone, PartialEq, Eq)]
pub struct MediaContent {
    /// What it is.
    pub kind: FileKind,
    /// The file.
    pub file: OutgoingFile,
    /// Its caption; sound and stickers have none.
    pub caption: Option<String>,
    /// Whether it is a voice note; only of sound.
    pub is_voice: bool,
}

/// A text with something to choose (X12).
#[derive(Clone, PartialEq, Eq)]
pub struct InteractiveContent {
    /// What is offered, as the message shows it afterwards (X2).
    pub offer: Offer,
    /// The file above the text, in place of a text there.
    pub header_file: Option<(FileKind, OutgoingFile)>,
}

/// A message at the channel that another one is about: it is quoted, reacted to, changed, taken
/// back or marked as read.
#[derive(Clone, PartialEq, Eq)]
pub struct MessageName {
    /// The provider's id of it.
    pub provider_id: ProviderMessageId,
    /// The conversation that it is in: the channel's name of the person or group.
    pub chat: String,
    /// Whether we sent it.
    pub is_ours: bool,
    /// In a group: the channel's name of the person who wrote it.
    pub participant: Option<String>,
    /// What it says, for gateways that show a quote from what they are given.
    pub content: Option<String>,
}

impl fmt::Debug for MessageName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { is_ours, .. } = self;
        f.debug_struct("MessageName").field("is_ours", is_ours).finish_non_exhaustive()
    }
}

/// A reaction to a message (X13).
#[derive(Clone, PartialEq, Eq)]
pub struct ReactionContent {
    /// The message.
    pub message: MessageId,
    /// Its name at the channel.
    pub target: MessageName,
    /// The emoji; `None` withdraws the reaction.
    pub emoji: Option<String>,
}

/// The content of a message.
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
    /// A file.
    Media(MediaContent),
    /// A text with something to choose.
    Interactive(Box<InteractiveContent>),
    /// A place.
    Location(Location),
    /// Address cards.
    Contacts(Vec<SharedContact>),
    /// A reaction.
    Reaction(ReactionContent),
}

impl Content {
    /// What it is, which a connection has to be able to carry.
    pub const fn kind(&self) -> MessageKind {
        match self {
            Self::Text(_) => MessageKind::Text,
            Self::Template { .. } => MessageKind::Template,
            Self::Media(MediaContent { is_voice: true, .. }) => MessageKind::Voice,
            Self::Media(MediaContent { kind, .. }) => MessageKind::of_file(*kind),
            Self::Interactive(content) => MessageKind::of_offer(content.offer.kind),
            Self::Location(_) => MessageKind::Location,
            Self::Contacts(_) => MessageKind::Contacts,
            Self::Reaction(_) => MessageKind::Reaction,
        }
    }

    /// The type of its message.
    pub const fn message_type(&self) -> MessageType {
        match self {
            Self::Text(_) => MessageType::Text,
            Self::Template { .. } => MessageType::Template,
            Self::Media(media) => media.kind.message_type(),
            Self::Interactive(content) => match content.offer.kind {
                OfferKind::Poll => MessageType::Poll,
                _ => MessageType::Interactive,
            },
            Self::Location(_) => MessageType::Location,
            Self::Contacts(_) => MessageType::Contacts,
            Self::Reaction(_) => MessageType::Reaction,
        }
    }
}

impl fmt::Debug for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => masked(f, "Text", "***", text),
            Self::Template { name, language, variables, rendered } => {
                masked(f, "Template", "***", &(name, language, variables, rendered))
            }
            other => write!(f, "{}(***)", other.kind().as_str()),
        }
    }
}
