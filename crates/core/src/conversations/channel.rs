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
    /// How many contacts of one channel are found by one of `phones` at most: those that asked to
    /// stop first, then by `created_at`, then `id`. `None` finds all. An operator may import any
    /// number of contacts with one phone (D17), while other names belong to one contact of a
    /// channel.
    pub per_phone: Option<u32>,
}

impl ChannelQuery {
    /// All contacts that have a phone: stored, as identifier or as alias, each in any of its forms
    /// (D15).
    pub fn of_phone(phone: &Phone) -> Self {
        let mut query = Self::default();
        query.add_phone(phone);
        query
    }

    /// Adds those that have a phone.
    pub fn add_phone(&mut self, phone: &Phone) {
        self.add_forms(&phone.aliases(), true);
    }

    /// Those that are known by one of these numbers, less what `asked` has asked for already; by
    /// one form of a phone at most `per_phone` of each channel.
    pub(crate) fn of_numbers(numbers: &[ChannelKey], asked: &Self, per_phone: u32) -> Self {
        let mut query = Self { per_phone: Some(per_phone), ..Self::default() };
        for number in numbers.iter().filter(|number| !asked.keys.contains(number)) {
            query.add_forms(&number.forms(), true);
        }
        query
    }

    /// Whether nobody is named.
    pub(crate) const fn is_empty(&self) -> bool {
        self.ids.is_empty()
            && self.identifiers.is_empty()
            && self.keys.is_empty()
            && self.phones.is_empty()
            && self.chats.is_empty()
    }

    /// Adds those that have a name in one of its forms, of a phone also as their phone.
    pub(crate) fn add_forms(&mut self, forms: &[String], is_phone: bool) {
        for form in forms {
            self.identifiers.extend(Identifier::parse(form));
            self.keys.push(ChannelKey::from_stored(form.clone()));
            if is_phone {
                self.phones.extend(Phone::from_stored(format!("+{form}")));
            }
        }
    }
}

/// Of several contacts that share a phone, in the order of their creation, the one that a webhook
/// means: the first on the default channel, else the first of all (D46a).
pub fn meant_by_phone(found: &[ChannelContact]) -> Option<&ChannelContact> {
    let usual = Platform::whatsapp();
    found.iter().find(|found| found.contact.source_platform == usual).or_else(|| found.first())
}

/// The contacts among `others` that are the same person as one of the same channel: they are known
/// by one of its numbers, in whichever form (D15, D62). An operator may merge them.
pub fn twins<'a>(
    contact: &'a ChannelContact,
    others: &'a [ChannelContact],
) -> impl Iterator<Item = &'a ChannelContact> {
    let numbers = contact.numbers();
    others.iter().filter(move |other| {
        other.contact.id != contact.contact.id
            && other.contact.source_platform == contact.contact.source_platform
            && other.numbers().iter().any(|number| numbers.contains(number))
    })
}

/// The numbers that a person is known by, each once, in the form in which they are compared: phone,
/// identifier and aliases. Groups have none.
pub(crate) fn numbers<'a>(
    contact: &Contact,
    aliases: impl IntoIterator<Item = &'a ChannelKey>,
) -> Vec<ChannelKey> {
    let own = contact.numbers().into_iter();
    let aliases = aliases.into_iter().filter(|_| !contact.is_group);
    let all = own.chain(aliases.filter_map(ChannelKey::phone));
    let mut numbers = Vec::new();
    for key in all.map(|phone| ChannelKey::of_phone(&phone)) {
        if !numbers.contains(&key) {
            numbers.push(key);
        }
    }
    numbers
}

impl ChannelContact {
    /// The numbers that a person is known by, each once, in the form in which they are compared:
    /// phone, identifier and aliases. Groups have none.
    pub fn numbers(&self) -> Vec<ChannelKey> {
        numbers(&self.contact, &self.aliases)
    }
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
