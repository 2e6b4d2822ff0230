//! Conversations: the state that messages and operators move a contact through (3.1, 3.4), and what
//! is known of a contact on each connection.

mod actions;
mod body;
pub mod opt_out;
mod replies;
mod state;

use async_trait::async_trait;

pub use actions::{
    Action, ActionName, Conversations, MoveConversation, ReadConversation, Transition,
};
pub use body::{
    AiModeBody, AssignBody, CloseBody, HandoffBody, OptOutBody, PauseAiBody, ReplyDraft,
    ReplyTemplateDraft, TakeOverBody, TurnDraft,
};
pub use opt_out::{StopWords, asks_to_stop};
pub use state::{Act, AiMode, ConversationState, ECHO_AFTER, ECHO_BEFORE, echo_is_reply};

use crate::Timestamp;
use crate::contacts::{ChannelKey, Contact, Identifier, Phone, Platform};
use crate::groups::GroupCode;
use crate::ids::{CompanyId, ConnectionId, ContactId};
use crate::messages::SenderType;
use crate::store::{StoreError, Stored};

/// What a contact and a connection have had to do with each other; one row for the two.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conversation {
    /// The company.
    pub company: CompanyId,
    /// The contact.
    pub contact: ContactId,
    /// The connection.
    pub connection: ConnectionId,
    /// What the channel calls the contact here; messages are addressed with it (D15).
    pub identifier: String,
    /// `created_at` of the newest message that is not from a history.
    pub last_message_at: Option<Timestamp>,
    /// The same of inbound messages.
    pub last_inbound_at: Option<Timestamp>,
    /// Inbound messages since an agent last replied or read (D44a).
    pub unread: u32,
}

/// Which contacts are asked for: any that one of the parts names. Empty parts name nobody.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChannelQuery {
    /// Only contacts of this channel are found by identifier or key; `None` finds those of any.
    /// Ids and phones find contacts of any channel.
    pub platform: Option<Platform>,
    /// By id.
    pub ids: Vec<ContactId>,
    /// By `identifier`, as it is written.
    pub identifiers: Vec<Identifier>,
    /// By alias.
    pub keys: Vec<ChannelKey>,
    /// By phone.
    pub phones: Vec<Phone>,
    /// Groups by `external_chat_id`, on any channel.
    pub chats: Vec<GroupCode>,
}

impl ChannelQuery {
    /// Everybody who has a phone: stored, as identifier in any of its forms, or as alias.
    pub fn of_phone(phone: &Phone) -> Self {
        Self {
            identifiers: phone
                .aliases()
                .iter()
                .filter_map(|alias| Identifier::parse(alias))
                .collect(),
            keys: vec![ChannelKey::of_phone(phone)],
            phones: vec![phone.clone()],
            ..Self::default()
        }
    }
}

/// Of several contacts that share a phone, in the order of their creation, the one that a webhook
/// means: the first on the default channel, else the first of all (D46a).
pub fn meant_by_phone(found: &[ChannelContact]) -> Option<&ChannelContact> {
    let usual = Platform::whatsapp();
    found.iter().find(|found| found.contact.source_platform == usual).or_else(|| found.first())
}

/// A contact with what is known of it on its channel.
#[derive(Clone, Debug, PartialEq)]
pub struct ChannelContact {
    /// The contact.
    pub contact: Stored<Contact>,
    /// Its aliases, by key (bytewise).
    pub aliases: Vec<ChannelKey>,
    /// Its conversations, by connection id.
    pub conversations: Vec<Stored<Conversation>>,
}

/// Reads of conversations.
#[async_trait]
pub trait ConversationReads: Send + Sync {
    /// The contacts that a query names, each once, by `created_at`, then `id`.
    async fn channel_contacts(
        &self,
        company: CompanyId,
        query: &ChannelQuery,
    ) -> Result<Vec<ChannelContact>, StoreError>;

    /// The `timestamp` of the newest inbound message of a contact (by `created_at`, then `id`)
    /// that is not from a history (D42a).
    async fn newest_inbound_at(
        &self,
        company: CompanyId,
        contact: ContactId,
    ) -> Result<Option<Timestamp>, StoreError>;

    /// Who sent the newest outbound message of a contact (by `created_at`, then `id`) that is not
    /// from a history (D43).
    async fn newest_outbound_sender(
        &self,
        company: CompanyId,
        contact: ContactId,
    ) -> Result<Option<SenderType>, StoreError>;
}
