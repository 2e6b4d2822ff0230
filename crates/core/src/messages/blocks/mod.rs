//! What a message holds besides its text and its file: one vocabulary over all gateways (X2, X3).

mod card;
mod content;
mod degrees;
mod interactive;
mod order;
mod system;
mod tidy;

use serde::{Deserialize, Serialize};
use serde_json::Number;

pub use card::{SharedContact, SharedEmail, SharedPhone};
pub(crate) use degrees::rounded;
pub use interactive::{
    Answer, AnswerKind, Choice, Interactive, ListRow, ListSection, Offer, OfferHeader, OfferKind,
    PollOption,
};
pub use order::{Money, Order, OrderItem, Product};
pub use system::{SystemKind, SystemNotice};

use super::{MessageType, ProviderMessageId};
use crate::Timestamp;
use crate::ids::MessageId;

/// How a message was forwarded (X3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Forwarded {
    /// It was forwarded.
    Once,
    /// It was forwarded many times.
    Often,
}

/// A place (X2).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Location {
    /// Degrees north of the equator, as the gateway writes them.
    #[cfg_attr(feature = "openapi", schema(value_type = f64))]
    pub latitude: Number,
    /// Degrees east of Greenwich, as the gateway writes them.
    #[cfg_attr(feature = "openapi", schema(value_type = f64))]
    pub longitude: Number,
    /// The place's name.
    #[serde(default)]
    pub name: Option<String>,
    /// Its address.
    #[serde(default)]
    pub address: Option<String>,
    /// A page about it.
    #[serde(default)]
    pub url: Option<String>,
    /// Whether the sender's position is followed for some time.
    #[serde(default)]
    pub is_live: bool,
}

/// The advertisement or post that led here (X2).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default)]
pub struct Referral {
    /// What it is, in the gateway's words: `ad` or `post`.
    pub source_type: Option<String>,
    /// The channel's id of it.
    pub source_id: Option<String>,
    /// Its address.
    pub source_url: Option<String>,
    /// Its headline.
    pub headline: Option<String>,
    /// Its text.
    pub body: Option<String>,
    /// The address of its picture or video.
    pub media_url: Option<String>,
    /// The id of the click.
    pub click_id: Option<String>,
}

/// A reaction to another message (X2, X7).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default)]
pub struct Reaction {
    /// The emoji; null once it was withdrawn.
    pub emoji: Option<String>,
    /// The message, if it is stored.
    pub message_id: Option<MessageId>,
    /// The provider's id of the message.
    pub provider_message_id: Option<String>,
}

/// Why nobody can show a message (X9).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default)]
pub struct Unsupported {
    /// The gateway's reason, if it reports one.
    pub reason: Option<String>,
    /// The gateway's name of its type.
    pub provider_type: Option<String>,
}

/// What a message holds besides its text and its file (X2, X3). A key that does not apply is null,
/// a flag false. It is kept as one JSON value, so that a new key needs no migration.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = MessageBlocks))]
#[serde(default)]
pub struct Blocks {
    /// A place.
    pub location: Option<Location>,
    /// Address cards.
    pub shared_contacts: Option<Vec<SharedContact>>,
    /// An answer to what was offered, or what was offered: buttons, a list, a poll.
    pub interactive: Option<Interactive>,
    /// An order, or a cart.
    pub order: Option<Order>,
    /// The product that was asked about.
    pub product: Option<Product>,
    /// The advertisement or post that led here.
    pub referral: Option<Referral>,
    /// A reaction.
    pub reaction: Option<Reaction>,
    /// What the channel says about the conversation.
    pub system: Option<SystemNotice>,
    /// Why nobody can show it.
    pub unsupported: Option<Unsupported>,
    /// Whether it was forwarded; null if it was not.
    pub forwarded: Option<Forwarded>,
    /// Whether it is a voice note.
    pub is_voice: bool,
    /// When the sender deleted it; null if they did not.
    pub deleted_by_sender_at: Option<Timestamp>,
}

impl Blocks {
    /// Whether no key applies.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether a message of this type with these blocks stands for content that may come later
    /// under its id (X5): nobody can show it, or the gateway does not have its file.
    pub(crate) fn await_content(&self, message_type: MessageType) -> bool {
        let notice = self.system.as_ref().map(|notice| &notice.kind);
        message_type == MessageType::Unsupported || notice == Some(&SystemKind::FileMissing)
    }

    /// The blocks of a message whose targets are these stored messages: the one that it answers,
    /// and the one that its reaction is about. What a gateway writes there is not ours.
    pub(crate) fn resolved(
        mut self,
        answered: Option<MessageId>,
        message_of: impl FnOnce(&ProviderMessageId) -> Option<MessageId>,
    ) -> Self {
        if let Some(Interactive::Answer(answer)) = &mut self.interactive {
            answer.in_reply_to = answered;
        }
        if let Some(reaction) = &mut self.reaction {
            let target = reaction.provider_message_id.as_deref();
            reaction.message_id =
                target.and_then(ProviderMessageId::parse).and_then(|id| message_of(&id));
        }
        self
    }
}
