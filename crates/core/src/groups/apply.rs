//! Writing what a connection sees of its groups, and the contacts that stand for them (D64).

use std::collections::{HashMap, HashSet};

use super::{ConnectionGroup, Group, GroupCode};
use crate::Timestamp;
use crate::connections::Connection;
use crate::contacts::{Contact, Identifier, Platform, contact_created, creation_stamp};
use crate::ids::{CompanyId, ContactId, EventId};
use crate::store::{ChangeSet, Precondition, Stored};

/// What becomes of groups that are known and not named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupsMode {
    /// They go: the named ones are all there are.
    Replace,
    /// They stay.
    Merge,
}

/// What is known of groups before they are written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GroupFacts {
    /// The connection's groups: all of them to replace the set, at least those that are named to
    /// merge.
    pub groups: Vec<Stored<ConnectionGroup>>,
    /// The contacts of the connection's channel whose identifier is one of the named codes.
    pub contacts: Vec<Stored<Contact>>,
    /// How far exports of the company have read.
    pub export_frontier: Option<Timestamp>,
}

/// The ids that one named group may need, made before deciding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupContactIds {
    /// Of the contact that stands for it.
    pub contact: ContactId,
    /// Of the event that tells of the contact.
    pub event: EventId,
}

/// The contact that stands for a group: known by its code, named by its subject, without a phone.
pub fn group_contact(
    id: ContactId,
    company: CompanyId,
    platform: Platform,
    code: &GroupCode,
    subject: Option<&str>,
    now: Timestamp,
) -> Option<Contact> {
    let identifier = Identifier::parse(code.as_str())?;
    let mut contact = Contact::new(id, company, platform, identifier, None, now);
    contact.is_group = true;
    contact.external_chat_id = Some(code.as_str().to_owned());
    contact.name = subject.unwrap_or_default().to_owned();
    contact.derive();
    Some(contact)
}

/// Writes `incoming`, with one entry of `ids` for each, over what `facts` tell. A group that is no
/// community gets its contact, with the event `contact.created`, unless there is one; a new subject
/// renames the contact, a subject that stays does not, so that a name which people gave it holds. A
/// subject that is not told leaves the known one.
pub fn apply_groups(
    connection: &Connection,
    facts: &GroupFacts,
    incoming: &[Group],
    mode: GroupsMode,
    ids: &[GroupContactIds],
    now: Timestamp,
) -> ChangeSet {
    let known: HashMap<&GroupCode, &Stored<ConnectionGroup>> =
        facts.groups.iter().map(|row| (&row.group.code, row)).collect();
    let contacts: HashMap<&str, &Stored<Contact>> =
        facts.contacts.iter().map(|contact| (contact.identifier.as_str(), contact)).collect();
    let created_at = creation_stamp(now, facts.export_frontier);
    let mut changes = ChangeSet::new();
    let mut makes_contacts = false;
    for (group, ids) in incoming.iter().zip(ids) {
        let row = known.get(&group.code).copied();
        changes = write_row(connection, row, group, changes);
        if group.is_community {
            continue;
        }
        match contacts.get(group.code.as_str()) {
            Some(contact) => changes = rename(contact, row, group, now, changes),
            None => {
                let (company, platform) = (connection.company, connection.platform.clone());
                let subject = group.subject.as_deref();
                let made =
                    group_contact(ids.contact, company, platform, &group.code, subject, created_at);
                if let Some(contact) = made {
                    makes_contacts = true;
                    let event = contact_created(ids.event, &contact);
                    changes = changes.insert(contact).emit(event);
                }
            }
        }
    }
    if makes_contacts {
        let company = connection.company;
        changes = changes.require(Precondition::NotExported { company, created_at });
    }
    match mode {
        GroupsMode::Merge => changes,
        GroupsMode::Replace => {
            let named: HashSet<&GroupCode> = incoming.iter().map(|group| &group.code).collect();
            let gone = facts.groups.iter().filter(|row| !named.contains(&row.group.code));
            gone.fold(changes, |changes, row| changes.with(row.delete()))
        }
    }
}

fn write_row(
    connection: &Connection,
    row: Option<&Stored<ConnectionGroup>>,
    group: &Group,
    changes: ChangeSet,
) -> ChangeSet {
    let subject = group.subject.clone().or_else(|| row.and_then(|row| row.group.subject.clone()));
    let after = ConnectionGroup {
        company: connection.company,
        connection: connection.id,
        group: Group { subject, ..group.clone() },
    };
    match row {
        None => changes.insert(after),
        Some(row) if *row.value() == after => changes,
        Some(row) => changes.with(row.update(after)),
    }
}

/// Names the contact by a subject that is new to the connection. Where the connection did not know
/// the group, only a contact without a name is named: another connection, or people, named it.
fn rename(
    contact: &Stored<Contact>,
    row: Option<&Stored<ConnectionGroup>>,
    group: &Group,
    now: Timestamp,
    changes: ChangeSet,
) -> ChangeSet {
    let Some(subject) = &group.subject else { return changes };
    let is_new = match row {
        Some(row) => row.group.subject.as_ref() != Some(subject),
        None => contact.name.is_empty(),
    };
    if !is_new || contact.name == *subject {
        return changes;
    }
    let renamed = contact.changed(now, |contact| contact.name.clone_from(subject));
    changes.with(contact.update(renamed))
}
