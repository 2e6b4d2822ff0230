//! The contacts that events are about (D15, D62, D67).

use super::person::Person;
use super::person::Tracked;
use super::workspace::Workspace;
use super::{Batch, EventIds, EventOutcome, EventResult};
use crate::contacts::{
    ChannelKey, Contact, Identifier, Phone, Platform, contact_created, creation_stamp,
};
use crate::conversations::{ChannelQuery, Conversation};
use crate::gateway::NamesReport;
use crate::groups::GroupCode;
use crate::ids::ContactId;
use crate::sending::keeps_number;

/// One name of a person in an event.
#[derive(Clone, Debug)]
struct ChannelName {
    key: ChannelKey,
    /// The phone that it is, as it is written.
    phone: Option<Phone>,
    /// Every form in which a row may have it (D15). Made once, since every row that was read is
    /// compared with every name.
    forms: Vec<String>,
}

impl ChannelName {
    fn parse(written: &str) -> Option<Self> {
        let key = ChannelKey::parse(written)?;
        let phone = Phone::on_channel(written);
        let forms = match &phone {
            Some(phone) => phone.aliases(),
            None => vec![key.as_str().to_owned()],
        };
        Some(Self { key, phone, forms })
    }

    fn is(&self, stored: &str) -> bool {
        self.forms.iter().any(|form| form == stored)
    }

    fn is_alias_of(&self, person: &Person) -> bool {
        person.aliases.iter().any(|(alias, _)| self.is(alias.as_str()))
    }

    fn is_phone_of(&self, contact: &Contact) -> bool {
        self.phone.is_some() && contact.phone.as_ref().is_some_and(|own| self.is(own.digits()))
    }
}

/// The names of one person or group in an event.
#[derive(Clone, Debug)]
pub(super) struct Names {
    /// As the gateway writes it.
    pub(super) peer: String,
    /// The group it is, if it is one.
    pub(super) group: Option<GroupCode>,
    /// That of `peer` first, then those of the aliases.
    names: Vec<ChannelName>,
}

impl Names {
    /// The names of `peer`; `None` when it is not one.
    pub(super) fn new(peer: &str, aliases: &[String], group_suffix: &str) -> Option<Self> {
        let group = GroupCode::parse(peer, group_suffix);
        let mut names: Vec<ChannelName> = Vec::new();
        if group.is_none() {
            let written = std::iter::once(peer).chain(aliases.iter().map(String::as_str));
            for name in written.filter_map(ChannelName::parse) {
                if names.iter().all(|known| known.key != name.key) {
                    names.push(name);
                }
            }
        }
        (group.is_some() || !names.is_empty()).then(|| Self { peer: peer.to_owned(), group, names })
    }

    /// The first phone that is named.
    fn phone(&self) -> Option<&Phone> {
        self.names.iter().find_map(|name| name.phone.as_ref())
    }

    /// Adds the keys by which the contact is searched.
    pub(super) fn ask(&self, query: &mut ChannelQuery) {
        query.identifiers.extend(Identifier::parse(&self.peer));
        for name in &self.names {
            query.add_forms(&name.forms, name.phone.is_some());
        }
    }

    /// Whether this contact may be the one that is named.
    pub(super) fn fits(&self, person: &Person) -> bool {
        self.rank(person, &person.contact.now.source_platform).is_some()
    }

    /// Who is known by each of the names that anybody is known by. Forms of one number are one
    /// name (D15).
    pub(super) fn known_by(&self, people: &[Person], platform: &Platform) -> Vec<Vec<usize>> {
        if self.names.len() < 2 {
            return Vec::new();
        }
        let is_first = |(at, name): &(usize, &ChannelName)| {
            !self.names[..*at].iter().any(|before| before.forms.contains(&name.forms[0]))
        };
        let holders = |name: &ChannelName| -> Vec<usize> {
            let is_its = |person: &Person| {
                let contact = &person.contact.now;
                contact.source_platform == *platform
                    && (name.is(contact.identifier.as_str())
                        || name.is_alias_of(person)
                        || name.is_phone_of(contact))
            };
            people.iter().enumerate().filter(|(_, p)| is_its(p)).map(|(index, _)| index).collect()
        };
        let names = self.names.iter().enumerate().filter(is_first);
        names.map(|(_, name)| holders(name)).filter(|known| !known.is_empty()).collect()
    }

    /// How well the names match this contact; a lower rank is a better match. The gateway's name
    /// for it comes before aliases, and the contact's phone comes last.
    fn rank(&self, person: &Person, platform: &Platform) -> Option<usize> {
        let contact = &person.contact.now;
        if contact.source_platform != *platform {
            return None;
        }
        if contact.identifier.as_str() == self.peer {
            return Some(0);
        }
        let is_known_by =
            |name: &ChannelName| name.is(contact.identifier.as_str()) || name.is_alias_of(person);
        if let Some(position) = self.names.iter().position(is_known_by) {
            return Some(position);
        }
        self.names.iter().any(|name| name.is_phone_of(contact)).then_some(usize::MAX)
    }
}

/// Whether a contact had to be made for an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Matched {
    /// It existed.
    Known(usize),
    /// It was made.
    New(usize),
}

impl Matched {
    pub(super) const fn index(self) -> usize {
        match self {
            Self::Known(index) | Self::New(index) => index,
        }
    }
}

impl Workspace<'_> {
    /// The contact that is named, if it is known: by identifier, then by its aliases in the order
    /// of the event, then by phone; of several the oldest (R37).
    pub(super) fn find(&self, names: &Names) -> Option<usize> {
        let people = self.people.as_ref()?;
        let ranked = people.iter().enumerate().filter_map(|(index, person)| {
            names.rank(person, &self.connection.platform).map(|rank| (rank, index))
        });
        ranked.min().map(|(_, index)| index)
    }

    /// The contact that is named, made if it is not known, with all names of the event. One that is
    /// made is a new contact, also in an event of the history (D65). `None` when contacts could not
    /// be read.
    pub(super) fn match_or_create(&mut self, names: &Names, ids: &EventIds) -> Option<Matched> {
        let found = self.find(names);
        self.people.as_ref()?;
        let matched = match found {
            Some(index) => Matched::Known(index),
            None => Matched::New(self.make(names, ids)?),
        };
        self.learn(names, matched.index());
        if let Matched::New(index) = matched {
            let person = &self.people.as_ref()?[index];
            let event = contact_created(ids.events[0], &person.contact.now);
            self.emit(event);
        }
        Some(matched)
    }

    fn make(&mut self, names: &Names, ids: &EventIds) -> Option<usize> {
        let identifier = Identifier::parse(&names.peer)?;
        let now = creation_stamp(self.now, self.export_frontier);
        let phone = names.names.first().and_then(|name| name.phone.clone());
        let mut contact = Contact::new(
            ids.contact,
            self.connection.company,
            self.connection.platform.clone(),
            identifier,
            phone,
            now,
        );
        if let Some(group) = &names.group {
            contact.is_group = true;
            contact.external_chat_id = Some(group.as_str().to_owned());
        }
        contact.derive();
        let person = Person {
            contact: Tracked::new(contact),
            aliases: Vec::new(),
            conversations: Vec::new(),
            newest_inbound: None,
            newest_outbound: None,
        };
        let people = self.people.as_mut()?;
        people.push(person);
        Some(people.len() - 1)
    }

    /// Names of one person: a contact that has one of them gets the others.
    pub(super) fn take_names(&mut self, batch: &Batch, report: &NamesReport) -> EventResult {
        let Some(names) = Names::new(&report.peer, &report.aliases, &batch.group_suffix) else {
            return EventResult::refused("no name is one of a contact");
        };
        match self.find(&names) {
            None => EventResult::ignored("nobody is known by these names"),
            Some(index) if self.learn(&names, index) => EventResult::of(EventOutcome::Stored),
            Some(_) => EventResult::of(EventOutcome::Duplicate),
        }
    }

    /// New names that no other contact has are added; those of another contact stay with it (D67).
    /// A new phone becomes the phone of every named contact that has none. If another contact has
    /// this phone, both stay, and a send by phone is ambiguous until the operator merges them.
    /// Returns whether anything is new.
    pub(super) fn learn(&mut self, names: &Names, index: usize) -> bool {
        let (now, platform) = (self.now, self.connection.platform.clone());
        let Some(people) = self.people.as_mut() else { return false };
        let mut is_news = false;
        for name in &names.names {
            let taken = people.iter().enumerate().any(|(other, person)| {
                let contact = &person.contact.now;
                let same_channel = contact.source_platform == platform;
                let is_its = || name.is_alias_of(person) || name.is_phone_of(contact);
                other != index && same_channel && is_its()
            });
            let person = &mut people[index];
            if taken || name.is_alias_of(person) {
                continue;
            }
            person.aliases.push((name.key.clone(), true));
            is_news = true;
        }
        let Some(phone) = names.phone() else { return is_news };
        for person in people {
            let contact = &person.contact.now;
            let learns = contact.phone.is_none() && !contact.is_group;
            if learns && names.rank(person, &platform).is_some() {
                person.contact.now = contact.changed(now, |c| c.phone = Some(phone.clone()));
                is_news = true;
            }
        }
        is_news
    }

    /// The conversation of a contact on this connection, made if it is missing. Messages are
    /// addressed to `peer` from now on, unless that is a LID or business-scoped id and the number
    /// is known there.
    pub(super) fn conversation(&mut self, index: usize, peer: &str) -> Option<&mut Conversation> {
        let connection = self.connection.id;
        let company = self.connection.company;
        let person = self.people.as_mut()?.get_mut(index)?;
        let contact: ContactId = person.contact.now.id;
        let position = person.conversations.iter().position(|c| c.now.connection == connection);
        let position = position.unwrap_or_else(|| {
            person.conversations.push(Tracked::new(Conversation {
                company,
                contact,
                connection,
                identifier: peer.to_owned(),
                last_message_at: None,
                last_inbound_at: None,
                unread: 0,
            }));
            person.conversations.len() - 1
        });
        let (contact, aliases) = (&person.contact.now, &person.aliases);
        let is_its = |key: &ChannelKey| {
            let is_phone =
                contact.phone.as_ref().is_some_and(|phone| ChannelKey::of_phone(phone) == *key);
            is_phone || aliases.iter().any(|(alias, _)| key.is(alias))
        };
        let conversation = &mut person.conversations[position].now;
        if !keeps_number(&conversation.identifier, peer, is_its) {
            conversation.identifier = peer.to_owned();
        }
        Some(conversation)
    }
}
