//! Contacts that are one person by the rules of today: they share a number, in whichever form. Such
//! contacts are left by imports, and by what was stored while a form was not known yet (D15, D62).

use std::collections::BTreeMap;

use serde::Serialize;

use super::list::ExportQuery;
use super::{ChannelKey, ContactFilter, Contacts, Platform};
use crate::Timestamp;
use crate::conversations::{ChannelContact, ChannelQuery};
use crate::error::Error;
use crate::ids::{CompanyId, ContactId};
use crate::query::InvalidParameter;

/// How many contacts one call examines.
const EXAMINED: u32 = 200;
/// How many contacts of a group are shown at most.
const SHOWN: usize = 20;
/// How many contacts of a group are counted at most: an import may make any number of them.
const COUNTED: u32 = 1_000;

/// Contacts of one channel that have one number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct DuplicateGroup {
    /// The number that they share, as its numbering plan has it.
    pub phone: String,
    /// Their channel.
    pub source_platform: String,
    /// How many they are; at most 1,000 are counted.
    pub contacts_count: usize,
    /// The oldest of them, at most 20.
    pub contacts: Vec<DuplicateContact>,
}

/// One of several contacts of a person, in brief.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct DuplicateContact {
    /// Its id.
    pub id: ContactId,
    /// What the channel calls it.
    pub identifier: String,
    /// The phone, or what is shown in its place (D16).
    pub phone: String,
    /// Its name.
    pub name: String,
    /// What it is shown as.
    pub display_name: String,
    /// When it asked not to receive messages. While one of them has, none is written to (D15).
    pub opted_out_at: Option<Timestamp>,
    /// The time of its last message.
    pub last_message_at: Option<Timestamp>,
    /// When it was made.
    pub created_at: Timestamp,
}

/// What one call finds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DuplicatesPage {
    /// The groups whose first contact, by id, was examined.
    pub groups: Vec<DuplicateGroup>,
    /// How many contacts were examined.
    pub examined: usize,
    /// Where to go on; `None` at the end.
    pub next_cursor: Option<String>,
}

impl DuplicateContact {
    fn of(found: &ChannelContact) -> Self {
        let contact = found.contact.value();
        Self {
            id: contact.id,
            identifier: contact.identifier.as_str().to_owned(),
            phone: contact.shown_phone().to_owned(),
            name: contact.name.clone(),
            display_name: contact.display_name.clone(),
            opted_out_at: contact.opted_out_at,
            last_message_at: contact.last_message_at,
            created_at: contact.created_at,
        }
    }
}

/// The groups among `found` whose first contact by id is one of `examined`: so each group is
/// reported once, in whichever pieces the contacts of a company are examined. A contact that has
/// two numbers may be in two groups (R161).
pub fn duplicate_groups(examined: &[ContactId], found: &[ChannelContact]) -> Vec<DuplicateGroup> {
    let mut holders: BTreeMap<(Platform, ChannelKey), Vec<&ChannelContact>> = BTreeMap::new();
    for contact in found {
        for number in contact.numbers() {
            let platform = contact.contact.source_platform.clone();
            holders.entry((platform, number)).or_default().push(contact);
        }
    }
    let mut groups: Vec<(ContactId, DuplicateGroup)> = Vec::new();
    for ((platform, number), several) in holders {
        let first = several.iter().map(|holder| holder.contact.id).min();
        let Some(first) = first.filter(|first| several.len() > 1 && examined.contains(first))
        else {
            continue;
        };
        let group = DuplicateGroup {
            phone: format!("+{}", number.as_str()),
            source_platform: platform.as_str().to_owned(),
            contacts_count: several.len().min(COUNTED as usize),
            contacts: several.into_iter().take(SHOWN).map(DuplicateContact::of).collect(),
        };
        groups.push((first, group));
    }
    groups.sort_by_key(|(first, _)| *first);
    groups.into_iter().map(|(_, group)| group).collect()
}

impl Contacts<'_> {
    /// Groups of contacts that are one person, for merging. Examines the next 200 contacts of the
    /// company in the order of creation: a page may show no group though more contacts follow.
    ///
    /// # Errors
    ///
    /// [`InvalidParameter`] naming `cursor` when it is not of an answer before.
    pub async fn duplicates(
        &self,
        company: CompanyId,
        cursor: Option<String>,
    ) -> Result<DuplicatesPage, Error<InvalidParameter>> {
        let store = self.app.store();
        let filter = ContactFilter::default();
        let query = ExportQuery { filter, cursor, limit: EXAMINED, clicks: false };
        let (slice, next_cursor) = self.export_of(company, &query).await?;
        let ids: Vec<ContactId> =
            slice.records.iter().map(|record| record.contact.value().id).collect();
        let query = ChannelQuery { ids: ids.clone(), ..ChannelQuery::default() };
        if query.is_empty() {
            return Ok(DuplicatesPage::default());
        }
        let examined = store.channel_contacts(company, &query).await?;
        let numbers: Vec<ChannelKey> = examined.iter().flat_map(ChannelContact::numbers).collect();
        let query = ChannelQuery::of_numbers(&numbers, &ChannelQuery::default(), COUNTED);
        let found = match query.is_empty() {
            true => Vec::new(),
            false => store.channel_contacts(company, &query).await?,
        };
        Ok(DuplicatesPage {
            groups: duplicate_groups(&ids, &found),
            examined: ids.len(),
            next_cursor,
        })
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::contacts::{Contact, Identifier, Phone};
    use crate::store::{Stored, Version};

    fn id(n: u128) -> ContactId {
        ContactId::new(Uuid::from_u128(n))
    }

    fn contact(n: u128, identifier: &str, phone: Option<&str>) -> ChannelContact {
        let phone = phone.map(|phone| Phone::from_stored(phone.to_owned()).expect("a phone"));
        let contact = Contact::new(
            id(n),
            CompanyId::new(Uuid::from_u128(9)),
            Platform::whatsapp(),
            Identifier::parse(identifier).expect("an identifier"),
            phone,
            Timestamp::from_millis(0),
        );
        let contact = Stored::new(contact, Version::FIRST);
        ChannelContact { contact, aliases: Vec::new(), conversations: Vec::new() }
    }

    fn found_groups(examined: &[u128], found: &[ChannelContact]) -> Vec<(String, Vec<ContactId>)> {
        let examined: Vec<ContactId> = examined.iter().copied().map(id).collect();
        let groups = duplicate_groups(&examined, found).into_iter();
        groups
            .map(|group| (group.phone, group.contacts.iter().map(|one| one.id).collect()))
            .collect()
    }

    /// D15.
    #[test]
    fn contacts_that_share_a_number_in_any_form_are_one_group() {
        let mut by_alias = contact(5, "77@lid", None);
        by_alias.aliases = vec![ChannelKey::from_stored("5215512345678".to_owned())];
        let found = [
            contact(1, "5215512345678", None),
            contact(2, "525512345678", Some("+525512345678")),
            contact(3, "a-lid", Some("+5215512345678")),
            contact(4, "541123456789", None),
            by_alias,
            contact(6, "b-lid", Some("+5491123456789")),
            contact(7, "5534991234567", None),
            contact(8, "x", None),
        ];
        let all: Vec<u128> = (1..=8).collect();
        let mexican = ("+525512345678".to_owned(), [1, 2, 3, 5].map(id).to_vec());
        let argentine = ("+5491123456789".to_owned(), [4, 6].map(id).to_vec());
        assert_eq!(found_groups(&all, &found), [mexican.clone(), argentine.clone()]);
        // In whichever pieces they are examined, each is reported with its first.
        assert_eq!(found_groups(&[1], &found), [mexican]);
        assert_eq!(found_groups(&[2, 3], &found), []);
        assert_eq!(found_groups(&[4, 5, 6], &found), [argentine]);
    }

    /// D17.
    #[test]
    fn contacts_of_two_channels_and_groups_are_no_doubles() {
        let mut elsewhere = contact(2, "525512345678", None);
        let mut other = elsewhere.contact.value().clone();
        other.source_platform = Platform::parse("telegram").expect("a channel");
        elsewhere.contact = Stored::new(other, Version::FIRST);
        let mut group = contact(3, "525512345678", None);
        let mut of_many = group.contact.value().clone();
        of_many.is_group = true;
        group.contact = Stored::new(of_many, Version::FIRST);
        let found = [contact(1, "5215512345678", None), elsewhere, group];
        assert_eq!(found_groups(&[1, 2, 3], &found), []);
    }

    #[test]
    fn of_many_contacts_the_oldest_are_shown() {
        let found: Vec<ChannelContact> =
            (1..=30).map(|n| contact(n, &format!("lid-{n}"), Some("+525512345678"))).collect();
        let groups = duplicate_groups(&[id(1)], &found);
        assert_eq!((groups.len(), groups[0].contacts_count), (1, 30));
        assert_eq!(groups[0].contacts.len(), SHOWN);
        let found: Vec<ChannelContact> =
            (1..=1_001).map(|n| contact(n, &format!("lid-{n}"), Some("+525512345678"))).collect();
        assert_eq!(duplicate_groups(&[id(1)], &found)[0].contacts_count, 1_000);
    }
}
