//! Names of the recipient in a gateway's answer to a send (D15, D62, D67, R138).

use super::keeps_number;
use crate::Timestamp;
use crate::contacts::{Alias, ChannelKey, Contact, Phone};
use crate::conversations::{ChannelContact, Conversation};
use crate::gateway::Accepted;
use crate::store::Change;

/// How many last digits all forms of one number have in common: the digits by which forms differ
/// stand before these. It counts only where no numbering plan tells.
const TAIL: usize = 8;

/// Every name in an answer, accepted or not.
pub(super) fn reported_names(accepted: &Accepted) -> Vec<ChannelKey> {
    let names = accepted.recipient.iter().chain(&accepted.aliases);
    names.filter_map(|name| ChannelKey::parse(name)).collect()
}

/// The names of the recipient in an answer.
#[derive(Debug)]
pub(super) struct LearntNames<'a> {
    keys: Vec<ChannelKey>,
    /// The recipient's name in the answer, if it is one of `keys`.
    name: Option<&'a str>,
}

impl<'a> LearntNames<'a> {
    /// The names used from an answer to a message to `own`. A number is used if it is a form of one
    /// of the contact's numbers, or if the contact has none; a different number is ignored. No
    /// names are used for groups.
    pub(super) fn of(accepted: &'a Accepted, own: &ChannelContact) -> Self {
        let numbers = numbers(own);
        let is_its = |key: &ChannelKey| {
            let number = number(key);
            !own.contact.is_group
                && (numbers.is_empty()
                    || number.is_none_or(|reported| {
                        numbers.iter().any(|known| is_same(known, reported))
                    }))
        };
        let mut keys: Vec<ChannelKey> = Vec::new();
        for key in reported_names(accepted).into_iter().filter(is_its) {
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
        let name = accepted.recipient.as_deref();
        let name =
            name.filter(|name| ChannelKey::parse(name).is_some_and(|key| keys.contains(&key)));
        Self { keys, name }
    }

    /// Whether anything is reported that the contact is not known by.
    pub(super) fn is_news(&self, own: &ChannelContact) -> bool {
        self.keys.iter().any(|key| !is_alias(own, key))
    }

    fn phone(&self) -> Option<Phone> {
        self.keys.iter().find_map(ChannelKey::phone)
    }

    /// The recipient, with the reported phone if it had none.
    pub(super) fn learnt_by(&self, contact: &Contact, now: Timestamp) -> Contact {
        match self.phone() {
            Some(phone) if contact.phone.is_none() && !contact.is_group => {
                contact.changed(now, |contact| contact.phone = Some(phone))
            }
            _ => contact.clone(),
        }
    }

    /// The recipient's name in `conversation` from now on: the reported one, unless another contact
    /// has it, or it is a LID or business-scoped id and the contact's number is known.
    pub(super) fn address(
        &self,
        own: &ChannelContact,
        conversation: &Conversation,
        everybody: &[ChannelContact],
    ) -> Option<String> {
        let name = self.name?;
        let key = ChannelKey::parse(name)?;
        let is_its = |key: &ChannelKey| is_alias(own, key) || has_phone(&own.contact, key);
        let is_same = ChannelKey::parse(&conversation.identifier).as_ref() == Some(&key);
        let is_taken = !is_same && taken(own, &key, everybody);
        let keeps = keeps_number(&conversation.identifier, name, is_its);
        (!is_taken && !keeps).then(|| name.to_owned())
    }

    /// Aliases for the names that are new and that no other contact has (D67).
    pub(super) fn aliases(
        &self,
        own: &ChannelContact,
        everybody: &[ChannelContact],
    ) -> Vec<Change> {
        let free = |key: &&ChannelKey| !is_alias(own, key) && !taken(own, key, everybody);
        let contact = own.contact.value();
        let alias = |key: &ChannelKey| {
            Change::insert(Alias {
                company: contact.company,
                platform: contact.source_platform.clone(),
                key: key.clone(),
                contact: contact.id,
            })
        };
        self.keys.iter().filter(free).map(alias).collect()
    }

    /// Other contacts with one of the names are the same person: they get the phone, if they have
    /// none. Sends by this phone are then ambiguous until an operator merges the contacts (R115).
    pub(super) fn others(
        &self,
        own: &ChannelContact,
        everybody: &[ChannelContact],
        now: Timestamp,
    ) -> Vec<Change> {
        let Some(phone) = own.contact.phone.clone().or_else(|| self.phone()) else {
            return Vec::new();
        };
        let is_named = |other: &&ChannelContact| {
            other.contact.phone.is_none()
                && !other.contact.is_group
                && self.keys.iter().any(|key| holds(other, key))
        };
        let learns = |other: &ChannelContact| {
            let after = other.contact.changed(now, |contact| contact.phone = Some(phone.clone()));
            other.contact.update(after)
        };
        neighbours(own, everybody).filter(is_named).map(learns).collect()
    }
}

/// The other contacts of the same channel.
fn neighbours<'a>(
    own: &'a ChannelContact,
    everybody: &'a [ChannelContact],
) -> impl Iterator<Item = &'a ChannelContact> {
    everybody.iter().filter(|other| {
        other.contact.id != own.contact.id
            && other.contact.source_platform == own.contact.source_platform
    })
}

fn is_alias(contact: &ChannelContact, key: &ChannelKey) -> bool {
    contact.aliases.iter().any(|alias| key.is(alias))
}

/// Whether a contact is known by this name.
fn holds(contact: &ChannelContact, key: &ChannelKey) -> bool {
    is_alias(contact, key)
        || ChannelKey::parse(contact.contact.identifier.as_str()).as_ref() == Some(key)
}

fn has_phone(contact: &Contact, key: &ChannelKey) -> bool {
    contact.phone.as_ref().is_some_and(|phone| ChannelKey::of_phone(phone) == *key)
}

fn taken(own: &ChannelContact, key: &ChannelKey, everybody: &[ChannelContact]) -> bool {
    neighbours(own, everybody).any(|other| holds(other, key) || has_phone(&other.contact, key))
}

/// The digits of a name that is a number.
fn number(key: &ChannelKey) -> Option<&str> {
    key.as_str().bytes().all(|b| b.is_ascii_digit()).then(|| key.as_str())
}

/// Every number that a contact is known by.
fn numbers(contact: &ChannelContact) -> Vec<String> {
    let phone = contact.contact.phone.iter().map(ChannelKey::of_phone);
    let called = std::iter::once(contact.contact.identifier.as_str())
        .chain(contact.conversations.iter().map(|known| known.identifier.as_str()))
        .filter_map(ChannelKey::parse);
    let keys = phone.chain(called).chain(contact.aliases.iter().cloned());
    keys.filter_map(|key| number(&key).map(str::to_owned)).collect()
}

/// Whether two numbers are forms of one: by their keys where both are numbers of a plan, else by
/// their last digits (D15, R138).
fn is_same(known: &str, reported: &str) -> bool {
    let planned = |number: &str| Phone::on_channel(number).map(|it| ChannelKey::of_phone(&it));
    if let (Some(known), Some(reported)) = (planned(known), planned(reported)) {
        return known == reported;
    }
    let tail = |number: &str| number.len().checked_sub(TAIL).map(|at| number[at..].to_owned());
    known == reported || tail(known).is_some_and(|known| tail(reported) == Some(known))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_one_in_whatever_form_a_country_writes_them() {
        for (known, reported, same) in [
            ("5534991234567", "553491234567", true),
            ("525512345678", "5215512345678", true),
            ("541112345678", "5491112345678", true),
            ("5534991234567", "5511987654321", false),
            // The same last digits in another area are another number.
            ("5511987654321", "5521987654321", false),
            ("12125551234", "13125551234", false),
            // Numbers of no plan.
            ("999112345678", "99912345678", true),
            ("123", "123", true),
            ("123", "1123", false),
            ("1234567", "551234567", false),
        ] {
            assert_eq!(is_same(known, reported), same, "{known} {reported}");
            assert_eq!(is_same(reported, known), same, "{reported} {known}");
        }
    }
}
