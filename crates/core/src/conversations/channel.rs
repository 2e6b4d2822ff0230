//! The names of contacts on a channel, and the search for contacts by them (D15, D62).

use super::Conversation;
use crate::contacts::{ChannelKey, Contact, Identifier, Phone, Platform};
use crate::groups::GroupCode;
use crate::ids::ContactId;
use crate::store::Stored;

/// Which contacts are requested: all that one of the fields names. Empty fields name none.
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
    /// All contacts with this phone: as stored phone, as identifier in any of its forms, or as
    /// alias.
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

/// A contact with its aliases and conversations.
#[derive(Clone, Debug, PartialEq)]
pub struct ChannelContact {
    /// The contact.
    pub contact: Stored<Contact>,
    /// Its aliases, by key (bytewise).
    pub aliases: Vec<ChannelKey>,
    /// Its conversations, by connection id.
    pub conversations: Vec<Stored<Conversation>>,
}
