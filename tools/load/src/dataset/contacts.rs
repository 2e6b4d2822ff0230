//! The contacts of a dataset. They are the same in every run, except for their ids.

use recado_core::Timestamp;
use recado_core::contacts::{
    Alias, ChannelKey, Contact, ContactTag, CrmStatus, Email, Identifier, InboxStatus, Phone,
    Platform, Priority,
};
use recado_core::deals::{Deal, DealStatus};
use recado_core::ids::{CompanyId, ContactId, DealId};
use recado_core::lists::ListMember;
use recado_core::store::ChangeSet;

use super::company::{Ids, uuid};
use super::messages::Partner;
use crate::people;

/// The span of the contacts' creation times, which ends now.
const SPAN_MILLIS: i64 = 2 * 365 * 24 * 3600 * 1000;
const SEED: u64 = 20_261_121;

/// Makes contacts in order.
#[derive(Debug)]
pub(crate) struct Maker {
    ids: Ids,
    now: Timestamp,
    random: fastrand::Rng,
    /// Contacts that can have conversations, up to a limit.
    partners: Vec<Partner>,
    max_partners: usize,
}

impl Maker {
    pub(crate) fn new(ids: Ids, now: Timestamp, max_partners: usize) -> Self {
        let random = fastrand::Rng::with_seed(SEED);
        Self { ids, now, random, partners: Vec::new(), max_partners }
    }

    /// The contacts of the first channel, among those that were made.
    pub(crate) fn into_partners(self) -> Vec<Partner> {
        self.partners
    }

    pub(crate) const fn company(&self) -> CompanyId {
        self.ids.company
    }

    /// Adds the contact with this index, of `of` contacts, with its tags, list and deal.
    pub(crate) fn contact(&mut self, index: u64, of: u64, changes: ChangeSet) -> ChangeSet {
        let mut contact = self.base(index, of);
        if !contact.is_group {
            self.sales(&mut contact);
        }
        self.messages(&mut contact);
        contact.derive();
        let (company, id) = (contact.company, contact.id);
        let deal = contact.pipeline_stage_id.map(|stage| Deal {
            id: DealId::new(uuid(contact.created_at, &mut self.random)),
            company,
            contact_id: id,
            title: "Negócio".to_owned(),
            stage_id: Some(stage),
            stage_entered_at: Some(contact.created_at),
            status: DealStatus::Open,
            created_at: contact.created_at,
            updated_at: contact.created_at,
        });
        if contact.source_platform == Platform::whatsapp()
            && contact.phone.is_some()
            && self.partners.len() < self.max_partners
        {
            let identifier = contact.identifier.as_str().to_owned();
            self.partners.push(Partner { contact: id, identifier });
        }
        let platform = contact.source_platform.clone();
        let alias = contact.phone.as_ref().map(ChannelKey::of_phone);
        let alias = alias.map(|key| Alias { company, platform, key, contact: id });
        let mut changes = changes.insert(contact);
        if let Some(alias) = alias {
            changes = changes.insert(alias);
        }
        if let Some(deal) = deal {
            changes = changes.insert(deal);
        }
        if self.one_in(5) {
            let mut tags = self.ids.tags.clone();
            self.random.shuffle(&mut tags);
            for tag in tags.into_iter().take(self.random.usize(1..=2)) {
                changes = changes.insert(ContactTag { company, contact: id, tag });
            }
        }
        if self.one_in(5) {
            let list = self.ids.lists[self.random.usize(..self.ids.lists.len())];
            changes = changes.insert(ListMember { company, list, contact: id });
        }
        changes
    }

    fn base(&mut self, index: u64, of: u64) -> Contact {
        let person = people::person(index, &mut self.random);
        let age = SPAN_MILLIS * i64::try_from(of - index).unwrap_or(i64::MAX)
            / i64::try_from(of).unwrap_or(i64::MAX);
        let created_at = Timestamp::from_millis(self.now.millis() - age);
        let id = ContactId::new(uuid(created_at, &mut self.random));
        let mut contact = if self.one_in(25) {
            self.group(id, index, created_at)
        } else {
            let phone = Phone::from_stored(person.phone).expect("made as it is stored");
            let platform = match self.one_in(33) {
                true => Platform::parse("instagram").expect("a platform's name"),
                false => Platform::whatsapp(),
            };
            let identifier = Identifier::of_phone(&phone);
            Contact::new(id, self.ids.company, platform, identifier, Some(phone), created_at)
        };
        contact.name = person.name;
        contact.address.city = Some(person.city.to_owned());
        contact.address.state = Some(person.state.to_owned());
        if !contact.is_group {
            contact.email = person.email.map(|email| Email::parse(&email).expect("an address"));
        }
        contact.inbox_status = match self.random.u8(..100) {
            ..35 => InboxStatus::Open,
            _ => InboxStatus::Resolved,
        };
        contact.is_ai_enabled = self.random.u8(..100) < 70;
        contact
    }

    fn group(&mut self, id: ContactId, index: u64, created_at: Timestamp) -> Contact {
        let code = format!("{}@g.us", 120_363_000_000_000_000 + index);
        let identifier = Identifier::parse(&code).expect("a group code is an identifier");
        let company = self.ids.company;
        let mut contact =
            Contact::new(id, company, Platform::whatsapp(), identifier, None, created_at);
        contact.is_group = true;
        contact.external_chat_id = Some(code);
        contact
    }

    fn sales(&mut self, contact: &mut Contact) {
        contact.crm_status = match self.random.u8(..100) {
            ..55 => CrmStatus::Lead,
            55..80 => CrmStatus::Prospect,
            80..90 => CrmStatus::Customer,
            90..96 => CrmStatus::Inactive,
            _ => CrmStatus::Lost,
        };
        if self.random.u8(..100) < 40 {
            let stages = &self.ids.stages;
            contact.pipeline_stage_id = Some(stages[self.random.usize(..stages.len())]);
        }
        if self.one_in(3) {
            let field = self.ids.fields[self.random.usize(..self.ids.fields.len())];
            let value = format!("valor {}", self.random.u16(..500));
            contact.custom_fields.insert(field, value);
        }
        contact.priority = match self.random.u8(..100) {
            ..80 => Priority::Normal,
            80..90 => Priority::Low,
            90..98 => Priority::High,
            _ => Priority::Urgent,
        };
    }

    fn messages(&mut self, contact: &mut Contact) {
        if self.random.u8(..100) >= 80 {
            return;
        }
        let age = self.now.millis() - contact.created_at.millis();
        let first = contact.created_at.millis() + self.random.i64(0..=age / 4 + 1);
        let last = self.random.i64(first..=self.now.millis().max(first));
        contact.first_message_at = Some(Timestamp::from_millis(first));
        contact.last_message_at = Some(Timestamp::from_millis(last));
        contact.last_inbound_at = Some(Timestamp::from_millis(last));
        contact.updated_at = Timestamp::from_millis(last);
        if self.one_in(3) {
            let members = &self.ids.members;
            contact.assigned_to_member_id = Some(members[self.random.usize(..members.len())]);
        }
        if contact.inbox_status == InboxStatus::Resolved {
            let reasons = &self.ids.close_reasons;
            contact.last_closed_at = contact.last_message_at;
            contact.last_close_reason_id = Some(reasons[self.random.usize(..reasons.len())]);
        }
    }

    fn one_in(&mut self, n: u32) -> bool {
        self.random.u32(..n) == 0
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use recado_core::store::{ChangeKind, Row};

    use super::super::company;
    use super::*;

    fn made(count: u64) -> Vec<Contact> {
        let now = Timestamp::from_millis(1_795_000_000_000);
        let mut maker = Maker::new(company::make("Load", now).company, now, 100);
        let mut changes = ChangeSet::new();
        for index in 0..count {
            changes = maker.contact(index, count, changes);
        }
        let contacts = changes.changes.into_iter().filter_map(|change| match change.into_kind() {
            ChangeKind::Insert(Row::Contact(contact)) => Some(contact),
            _ => None,
        });
        contacts.collect()
    }

    #[test]
    fn contacts_are_spread_over_the_filters_and_differ_in_what_identifies_them() {
        let contacts = made(5_000);
        let share = |pick: fn(&Contact) -> bool| contacts.iter().filter(|c| pick(c)).count();
        assert_eq!(contacts.len(), 5_000);
        assert!((3_800..4_200).contains(&share(|c| c.last_message_at.is_some())));
        assert!((100..320).contains(&share(|c| c.is_group)));
        assert!((80..250).contains(&share(|c| c.source_platform.as_str() == "instagram")));
        let identifiers: HashSet<_> = contacts.iter().map(|c| c.identifier.clone()).collect();
        assert_eq!(identifiers.len(), 5_000);
        let emails: Vec<_> = contacts.iter().filter_map(|c| c.email.clone()).collect();
        assert_eq!(emails.iter().collect::<HashSet<_>>().len(), emails.len());
        let combinations: HashSet<_> = contacts.iter().map(Contact::facet_key).collect();
        assert!(combinations.len() > 100, "{}", combinations.len());
    }

    #[test]
    fn contacts_are_made_in_the_order_of_creation_and_never_in_the_future() {
        let contacts = made(1_000);
        assert!(contacts.windows(2).all(|pair| pair[0].created_at < pair[1].created_at));
        let latest = contacts.iter().filter_map(|c| c.last_message_at).max();
        assert!(latest.is_some_and(|at| at.millis() <= 1_795_000_000_000));
    }
}
