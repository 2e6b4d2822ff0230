//! Writing the groups of a connection, and the contacts that represent them (D64).

use std::collections::{HashMap, HashSet};

use super::{ConnectionGroup, Group, GroupCode};
use crate::Timestamp;
use crate::connections::Connection;
use crate::contacts::{Contact, Identifier, Platform, contact_created, creation_stamp};
use crate::ids::{CompanyId, ContactId, EventId};
use crate::store::{ChangeSet, Precondition, Stored};

/// What happens to stored groups that are not named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupsMode {
    /// They are deleted: the named ones are all.
    Replace,
    /// They stay.
    Merge,
}

/// The stored state of groups before they are written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GroupFacts {
    /// The connection's groups: all of them to replace the set, at least those that are named to
    /// merge.
    pub groups: Vec<Stored<ConnectionGroup>>,
    /// The contacts of the connection's channel whose identifier is one of the named codes.
    pub contacts: Vec<Stored<Contact>>,
    /// The latest position that exports of the company have read.
    pub export_frontier: Option<Timestamp>,
}

/// The ids that one named group may need, made before deciding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupContactIds {
    /// Of the contact that represents it.
    pub contact: ContactId,
    /// Of the event about the contact.
    pub event: EventId,
}

/// The contact that represents a group: its identifier is the code, its name the subject, and it
/// has no phone.
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

/// Writes `incoming`, with one entry of `ids` for each, over the rows in `facts`. A group that is
/// no community gets its contact, with the event `contact.created`, unless there is one; a new
/// subject renames the contact. An unchanged subject does not, so that a name which people gave it
/// stays. If no subject is reported, the stored one stays (R46).
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

/// Renames the contact to a subject that is new to the connection. If the group was not stored for
/// the connection, only a contact without a name is renamed: another connection, or a person, may
/// have named it.
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;
    use uuid::Uuid;

    use super::*;
    use crate::connections::{ConnectionKind, ConnectionSettings, ConnectionStatus, GatewayName};
    use crate::events::EventType;
    use crate::ids::ConnectionId;
    use crate::store::{ChangeKind, Row, RowKey, Version};

    const NOW: Timestamp = Timestamp::from_millis(1_763_000_000_000);
    const LATER: Timestamp = Timestamp::from_millis(1_763_000_060_000);

    fn connection() -> Connection {
        Connection {
            id: ConnectionId::new(Uuid::from_u128(1)),
            company: CompanyId::new(Uuid::from_u128(2)),
            kind: ConnectionKind::Qr,
            platform: Platform::whatsapp(),
            name: "Loja".to_owned(),
            identifier: "5511900000000".to_owned(),
            gateway: GatewayName::new("waha"),
            settings: ConnectionSettings::default(),
            is_active: true,
            status: ConnectionStatus::Connected,
            created_at: NOW,
            updated_at: NOW,
            last_heard_at: None,
        }
    }

    fn code(n: u32) -> GroupCode {
        GroupCode::parse(&format!("{n}@g.us"), "g.us").expect("a code")
    }

    fn group(n: u32, subject: &str) -> Group {
        Group { subject: Some(subject.to_owned()), ..Group::seen(code(n)) }
    }

    /// The state of a store after the applied changes.
    #[derive(Clone, Debug, Default)]
    struct StoreModel {
        groups: BTreeMap<GroupCode, Stored<ConnectionGroup>>,
        contacts: BTreeMap<String, Stored<Contact>>,
        frontier: Option<Timestamp>,
        made: u128,
        /// What was written last.
        last: ChangeSet,
    }

    impl StoreModel {
        fn facts(&self) -> GroupFacts {
            GroupFacts {
                groups: self.groups.values().cloned().collect(),
                contacts: self.contacts.values().cloned().collect(),
                export_frontier: self.frontier,
            }
        }

        fn write(&mut self, incoming: &[Group], mode: GroupsMode, now: Timestamp) {
            let mut id = || {
                self.made += 1;
                Uuid::from_u128(self.made)
            };
            let ids: Vec<_> = incoming
                .iter()
                .map(|_| GroupContactIds {
                    contact: ContactId::new(id()),
                    event: EventId::new(id()),
                })
                .collect();
            let changes = apply_groups(&connection(), &self.facts(), incoming, mode, &ids, now);
            for change in &changes.changes {
                self.apply(change.kind());
            }
            self.last = changes;
        }

        fn apply(&mut self, change: &ChangeKind) {
            let (row, version) = match change {
                ChangeKind::Insert(row) => (row, Version::FIRST),
                ChangeKind::Update { row, read_at, .. } => (row, read_at.next()),
                ChangeKind::Delete { key: RowKey::Group { code, .. }, .. } => {
                    self.groups.remove(code).expect("only a known group is deleted");
                    return;
                }
                ChangeKind::Delete { key, .. } => panic!("{key:?} must stay"),
                other => panic!("{other:?} is not about groups"),
            };
            let is_new = matches!(change, ChangeKind::Insert(_));
            let replaced = match row {
                Row::Group(row) => {
                    let stored = Stored::new(row.clone(), version);
                    self.groups.insert(row.group.code.clone(), stored).is_some()
                }
                Row::Contact(contact) => {
                    let stored = Stored::new(contact.clone(), version);
                    let identifier = contact.identifier.as_str().to_owned();
                    self.contacts.insert(identifier, stored).is_some()
                }
                other => panic!("{other:?} has nothing to do with groups"),
            };
            assert_ne!(is_new, replaced, "a row is inserted once and updated afterwards");
        }

        fn contact(&self, n: u32) -> &Contact {
            self.contacts.get(code(n).as_str()).expect("the group has a contact")
        }

        fn people_rename(&mut self, n: u32, name: &str) {
            let stored = self.contacts.get_mut(code(n).as_str()).expect("the group has a contact");
            let renamed = stored.changed(NOW, |contact| contact.name = name.to_owned());
            *stored = Stored::new(renamed, stored.version().next());
        }
    }

    #[test]
    fn a_new_group_becomes_a_contact_named_by_its_subject() {
        let mut world = StoreModel::default();
        world.write(&[group(1, "Obra")], GroupsMode::Replace, NOW);
        let contact = world.contact(1);
        assert!(contact.is_group);
        assert_eq!(contact.name, "Obra");
        assert_eq!(contact.display_name, "Obra");
        assert_eq!(contact.external_chat_id.as_deref(), Some("1@g.us"));
        assert_eq!(contact.identifier.as_str(), "1@g.us");
        assert_eq!(contact.phone, None);
        let [event] = world.last.events.as_slice() else { panic!("{:?}", world.last) };
        assert_eq!(event.event_type, EventType::ContactCreated);
        assert_eq!(event.contact, Some(contact.id));
    }

    #[test]
    fn a_community_becomes_no_contact() {
        let mut world = StoreModel::default();
        let community = Group { is_community: true, ..group(1, "Bairro") };
        world.write(&[community], GroupsMode::Replace, NOW);
        assert_eq!(world.groups.len(), 1);
        assert!(world.contacts.is_empty());
        assert!(world.last.events.is_empty());
    }

    #[test]
    fn a_new_contact_lies_after_what_exports_have_read() {
        let mut world = StoreModel { frontier: Some(LATER), ..StoreModel::default() };
        world.write(&[group(1, "Obra")], GroupsMode::Merge, NOW);
        let created_at = world.contact(1).created_at;
        assert_eq!(created_at.millis(), LATER.millis() + 1);
        let company = connection().company;
        assert_eq!(world.last.requires, [Precondition::NotExported { company, created_at }]);
    }

    #[test]
    fn a_new_subject_renames_the_contact_without_an_event() {
        let mut world = StoreModel::default();
        world.write(&[group(1, "Obra")], GroupsMode::Replace, NOW);
        world.write(&[group(1, "Obra 2")], GroupsMode::Replace, LATER);
        assert_eq!(world.contact(1).name, "Obra 2");
        assert_eq!(world.contact(1).updated_at, LATER);
        assert!(world.last.events.is_empty());
    }

    #[test]
    fn a_name_that_people_gave_holds_while_the_subject_stays() {
        let mut world = StoreModel::default();
        world.write(&[group(1, "Obra")], GroupsMode::Replace, NOW);
        world.people_rename(1, "Casa da Ana");
        let still = Group { announce_only: true, ..group(1, "Obra") };
        world.write(&[still], GroupsMode::Replace, LATER);
        assert_eq!(world.contact(1).name, "Casa da Ana");
    }

    #[test]
    fn a_contact_that_was_there_before_the_group_keeps_its_name_and_gets_one_if_it_has_none() {
        for (before, after) in [("Casa da Ana", "Casa da Ana"), ("", "Obra")] {
            let mut world = StoreModel::default();
            world.write(&[group(1, "any")], GroupsMode::Replace, NOW);
            world.people_rename(1, before);
            world.groups.clear();
            world.write(&[group(1, "Obra")], GroupsMode::Merge, LATER);
            assert_eq!(world.contact(1).name, after);
            assert!(world.last.events.is_empty());
        }
    }

    #[test]
    fn the_first_subject_names_a_group_that_only_a_message_named() {
        let mut world = StoreModel::default();
        world.write(&[Group::seen(code(1))], GroupsMode::Merge, NOW);
        assert_eq!(world.contact(1).display_name, "1@g.us");
        world.write(&[group(1, "Obra")], GroupsMode::Merge, LATER);
        assert_eq!(world.contact(1).display_name, "Obra");
    }

    #[test]
    fn a_subject_that_is_not_reported_stays() {
        let mut world = StoreModel::default();
        world.write(&[group(1, "Obra")], GroupsMode::Merge, NOW);
        world.write(&[Group::seen(code(1))], GroupsMode::Replace, LATER);
        assert!(world.last.is_empty(), "{:?}", world.last);
        assert_eq!(world.contact(1).name, "Obra");
    }

    fn some_groups() -> impl Strategy<Value = Vec<Group>> {
        let flags = (any::<bool>(), any::<bool>(), any::<bool>());
        let one = (0_u32..6, "[ab]", flags);
        proptest::collection::vec(one, 0..6).prop_map(|parts| {
            let mut codes = HashSet::new();
            let made = parts.into_iter().map(|(n, subject, (community, inside, admin))| Group {
                is_community: community,
                participates: inside,
                is_admin: admin,
                ..group(n, &subject)
            });
            made.filter(|group| codes.insert(group.code.clone())).collect()
        })
    }

    proptest! {
        #[test]
        fn replacing_leaves_just_the_named_and_merging_the_others_too(
            first in some_groups(), second in some_groups(), replace: bool,
        ) {
            let mut world = StoreModel::default();
            world.write(&first, GroupsMode::Replace, NOW);
            let mode = if replace { GroupsMode::Replace } else { GroupsMode::Merge };
            world.write(&second, mode, LATER);
            let kept = first.iter().filter(|group| {
                !replace && !second.iter().any(|named| named.code == group.code)
            });
            let expected: BTreeMap<GroupCode, Group> =
                kept.chain(&second).map(|group| (group.code.clone(), group.clone())).collect();
            let known: BTreeMap<GroupCode, Group> =
                world.groups.iter().map(|(code, row)| (code.clone(), row.group.clone())).collect();
            prop_assert_eq!(known, expected);
            for group in first.iter().chain(&second).filter(|group| !group.is_community) {
                prop_assert!(world.contacts.contains_key(group.code.as_str()));
            }
        }

        #[test]
        fn writing_the_same_again_writes_nothing(groups in some_groups(), replace: bool) {
            let mut world = StoreModel::default();
            let mode = if replace { GroupsMode::Replace } else { GroupsMode::Merge };
            world.write(&groups, mode, NOW);
            world.write(&groups, mode, LATER);
            prop_assert!(world.last.is_empty(), "{:?}", world.last);
        }
    }
}
