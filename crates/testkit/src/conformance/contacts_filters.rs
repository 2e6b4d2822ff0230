//! The filters by list, tag, member, connection, unread messages and times (D77): in both orders,
//! together with each other and all others, and after every change that moves a contact in or out.

use std::collections::{BTreeMap, BTreeSet};

use recado_core::access::Member;
use recado_core::contacts::{
    AssigneeFilter, Contact, ContactFilter, ContactSet, CrmStatus, ExportPosition, InboxStatus,
};
use recado_core::ids::{ConnectionId, ContactId};
use recado_core::lists::{List, ListMember};
use recado_core::store::{Change, ChangeSet, RecordsExt};
use recado_core::tags::Tag;
use uuid::Uuid;

use super::Harness;
use super::contacts_listing::{ids, in_order, varied};
use super::scene::{Scene, applied, at, first, search};

/// Contacts in lists, with tags and members, and who is in which set.
struct Filed {
    scene: Scene,
    lists: [List; 2],
    tag: Tag,
    members: [Member; 2],
    connections: [ConnectionId; 2],
    sets: BTreeMap<Uuid, BTreeSet<ContactId>>,
    contacts: BTreeSet<ContactId>,
}

impl Filed {
    async fn of(harness: &dyn Harness) -> Self {
        let scene = Scene::of(harness).await;
        let lists = [scene.list(), scene.list()];
        let (tag, members) = (scene.tag(), [scene.member(), scene.member()]);
        scene.add_all(lists.clone()).await;
        scene.add_all(members.clone()).await;
        scene.add(tag.clone()).await;
        let connections = [scene.connection(), scene.connection()];
        scene.add_all(connections.clone()).await;
        let connections = connections.map(|connection| connection.id);
        let contacts = varied(&scene, 40).await;
        let mut filed = Self {
            scene,
            lists,
            tag,
            members,
            connections,
            sets: BTreeMap::new(),
            contacts: contacts.iter().map(|contact| contact.id).collect(),
        };
        for (n, contact) in contacts.iter().enumerate() {
            let mut changes = ChangeSet::new();
            if n % 2 == 0 {
                changes = changes.insert(filed.scene.joins(contact, &filed.lists[0]));
                filed.enter(ContactSet::List(filed.lists[0].id), contact.id);
            }
            if n % 9 == 0 {
                changes = changes.insert(filed.scene.joins(contact, &filed.lists[1]));
                filed.enter(ContactSet::List(filed.lists[1].id), contact.id);
            }
            if n % 3 == 0 {
                changes = changes.insert(filed.scene.tagged(contact, &filed.tag));
                filed.enter(ContactSet::Tag(filed.tag.id), contact.id);
            }
            let changed = first(contact.clone()).changed(at((n % 8) as i64), |contact| {
                contact.assigned_to_member_id = filed.members.get(n % 4).map(|member| member.id);
                contact.has_unread = n % 5 == 0;
                contact.opted_out_at = (n % 7 == 0).then(|| at(1));
                contact.last_connection_id = filed.connections.get(n % 3).copied();
                contact.name = format!("Ana {n}");
            });
            changes = changes.with(first(contact.clone()).update(changed));
            filed.scene.store.commit(changes).await.expect("rows that can be stored");
        }
        filed
    }

    fn enter(&mut self, set: ContactSet, contact: ContactId) {
        self.sets.entry(set.id()).or_default().insert(contact);
    }

    fn leave_set(&mut self, set: ContactSet, contact: ContactId) {
        self.sets.entry(set.id()).or_default().remove(&contact);
    }

    fn leave(&mut self, contact: ContactId) {
        self.contacts.remove(&contact);
        self.sets.values_mut().for_each(|set| {
            set.remove(&contact);
        });
    }

    /// Filters of each kind, alone and together.
    fn filters(&self) -> Vec<ContactFilter> {
        let all = ContactFilter::default();
        let list = ContactFilter { list: Some(self.lists[0].id), ..all.clone() };
        let short = ContactFilter { list: Some(self.lists[1].id), ..all.clone() };
        let tag = ContactFilter { tag: Some(self.tag.id), ..all.clone() };
        let to = |to| ContactFilter { assigned_to: Some(to), ..ContactFilter::default() };
        let member = to(AssigneeFilter::Member(self.members[0].id));
        let open = Some(InboxStatus::Open);
        vec![
            list.clone(),
            short.clone(),
            tag.clone(),
            member.clone(),
            to(AssigneeFilter::Nobody),
            ContactFilter { unread: Some(true), ..all.clone() },
            ContactFilter { unread: Some(false), ..list.clone() },
            ContactFilter { updated_since: Some(at(6)), ..all.clone() },
            ContactFilter { active_since: Some(at(7)), ..all.clone() },
            ContactFilter { updated_since: Some(at(3)), active_since: Some(at(4)), ..all },
            ContactFilter { inbox_status: open, ..list.clone() },
            ContactFilter {
                crm_status: Some(CrmStatus::Lead),
                is_group: Some(false),
                ..tag.clone()
            },
            ContactFilter { is_ai_enabled: Some(true), unread: Some(true), ..member.clone() },
            ContactFilter { tag: tag.tag, ..list.clone() },
            ContactFilter { tag: tag.tag, assigned_to: member.assigned_to, ..list.clone() },
            ContactFilter { list: short.list, inbox_status: open, ..tag.clone() },
            ContactFilter { list: list.list, ..search("ana 1") },
            ContactFilter { assigned_to: Some(AssigneeFilter::Nobody), ..search("ana") },
            ContactFilter { tag: tag.tag, active_since: Some(at(2)), ..search("a") },
            ContactFilter { updated_since: Some(at(2)), ..member },
            ContactFilter { active_since: Some(at(9)), inbox_status: open, ..list },
            ContactFilter { updated_since: Some(at(7)), unread: Some(true), ..short },
            ContactFilter { opted_out_of: Some(self.scene.company), ..ContactFilter::default() },
            ContactFilter { opted_out_of: Some(self.scene.company), ..tag.clone() },
            ContactFilter { connection: Some(self.connections[0]), ..ContactFilter::default() },
            ContactFilter {
                connection: Some(self.connections[1]),
                inbox_status: open,
                unread: Some(false),
                ..tag
            },
            ContactFilter { connection: Some(self.connections[1]), ..search("ana") },
        ]
    }

    /// Compares both listings with the contacts, one by one.
    async fn check(&self) {
        let mut contacts: Vec<Contact> = Vec::new();
        for id in &self.contacts {
            contacts.push(self.scene.stored(*id).await.into_value());
        }
        for filter in self.filters() {
            let found = |contact: &&Contact| {
                let is_in = |set: ContactSet| match set {
                    ContactSet::Member(id) => contact.assigned_to_member_id == Some(id),
                    ContactSet::OptedOut(_) => contact.opted_out_at.is_some(),
                    ContactSet::Connection(id) => contact.last_connection_id == Some(id),
                    set => self.sets.get(&set.id()).is_some_and(|set| set.contains(&contact.id)),
                };
                contact.facets().pass(&filter)
                    && filter.since(contact.updated_at, contact.last_message_at)
                    && filter.sets().into_iter().all(is_in)
                    && filter.search.as_ref().is_none_or(|s| s.matches(&contact.search_text()))
            };
            let wanted: Vec<&Contact> = contacts.iter().filter(found).collect();
            let total = wanted.len() as u64;
            let mut seen = Vec::new();
            for page in 1..=4 {
                let slice = self.scene.page(&filter, page, 13).await;
                assert_eq!(slice.total, total, "{filter:?}");
                seen.extend(ids(&slice));
            }
            assert_eq!(seen, in_order(wanted.iter().copied()), "{filter:?}");

            let mut wanted: Vec<_> = wanted.into_iter().map(ExportPosition::of).collect();
            wanted.sort_unstable();
            let (mut after, mut seen) = (None, Vec::new());
            loop {
                let (store, company) = (&self.scene.store, self.scene.company);
                let part = store.contact_export(company, &filter, after, 7, false).await;
                let part = part.expect("the store works");
                assert_eq!(part.total, total, "{filter:?}");
                seen.extend(part.records.iter().map(|found| ExportPosition::of(&found.contact)));
                after = seen.last().copied();
                if !part.more {
                    break;
                }
            }
            assert_eq!(seen, wanted, "{filter:?}");
        }
    }
}

/// D77.
pub async fn each_filter_finds_its_contacts_in_both_orders(harness: &dyn Harness) {
    Filed::of(harness).await.check().await;
}

/// D77: a contact is listed by what it is and where it is now.
pub async fn sets_follow_every_change(harness: &dyn Harness) {
    let mut filed = Filed::of(harness).await;
    let all: Vec<ContactId> = filed.contacts.iter().copied().collect();
    for (n, id) in all.iter().copied().enumerate() {
        let scene = &filed.scene;
        let stored = scene.stored(id).await;
        let (list, set) = (&filed.lists[1], ContactSet::List(filed.lists[1].id));
        let is_in = filed.sets[&set.id()].contains(&id);
        let joins = scene.joins(&stored, list);
        match n % 8 {
            0 => {
                let changed = stored.changed(at(20), |contact| {
                    contact.last_message_at = Some(at(20 + n as i64));
                    contact.inbox_status = InboxStatus::Open;
                    contact.has_unread = true;
                    contact.last_connection_id = Some(filed.connections[n % 2]);
                });
                scene.apply(stored.update(changed)).await;
            }
            1 => {
                let member = filed.members[1].id;
                let change =
                    stored.changed(at(1), |contact| contact.assigned_to_member_id = Some(member));
                scene.apply(stored.update(change)).await;
            }
            2 => {
                let change = stored.changed(at(1), |contact| contact.assigned_to_member_id = None);
                scene.apply(stored.update(change)).await;
            }
            3 if is_in => {
                scene.apply(first(joins).delete()).await;
                filed.leave_set(set, id);
            }
            3 | 4 if !is_in => {
                // Its facets change in the commit that puts it into the list, and after that.
                let change = stored.changed(at(2), |c| c.crm_status = CrmStatus::Lost);
                let changes = match n % 3 {
                    0 => ChangeSet::new().insert(joins).with(stored.update(change)),
                    _ => ChangeSet::new().with(stored.update(change)).insert(joins),
                };
                scene.store.commit(changes).await.expect("rows that can be stored");
                filed.enter(set, id);
            }
            5 => {
                scene.apply(stored.delete()).await;
                filed.leave(id);
            }
            6 => {
                // It asks not to be written to, or asked to be written to again.
                let is_out = stored.opted_out_at.is_some();
                let change = stored.changed(at(2), |contact| {
                    contact.opted_out_at = (!is_out).then(|| at(2));
                    contact.crm_status = CrmStatus::Inactive;
                });
                scene.apply(stored.update(change)).await;
            }
            7 => {
                let change = stored.changed(at(2), |contact| {
                    contact.opted_out_at = None;
                    contact.last_connection_id = None;
                });
                scene.apply(stored.update(change)).await;
            }
            _ => {}
        }
    }
    filed.check().await;
    filed.scene.store.upkeep(at(30)).await.expect("the store works");
    filed.check().await;

    // What a contact is merged into takes over its sets.
    let left: Vec<ContactId> = filed.contacts.iter().copied().collect();
    for pair in left.chunks_exact(2).take(6) {
        let (from, into) = (pair[0], pair[1]);
        let gone = filed.scene.stored(from).await;
        let changes = ChangeSet::new()
            .with(Change::reassign(filed.scene.company, from, into))
            .with(gone.delete());
        filed.scene.store.commit(changes).await.expect("the contact is unchanged");
        for set in filed.sets.values_mut().filter(|set| set.contains(&from)) {
            set.insert(into);
        }
        filed.leave(from);
    }
    filed.check().await;

    let (list, tag) = (filed.lists[1].clone(), filed.tag.clone());
    filed.scene.apply(first(list.clone()).delete()).await;
    filed.scene.apply(first(tag.clone()).delete()).await;
    filed.sets.remove(&list.id.uuid());
    filed.sets.remove(&tag.id.uuid());
    filed.check().await;
}

/// D77: a set of another company is empty, also where both have one of the same id.
pub async fn a_set_of_another_company_matches_nothing(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let other = scene.another_company().await;
    let (contact, list, tag) = (other.contact(), other.list(), other.tag());
    let member = other.member();
    let mut assigned = contact.clone();
    assigned.assigned_to_member_id = Some(member.id);
    other.add(member.clone()).await;
    other.add_all([assigned.clone()]).await;
    other.add(list.clone()).await;
    other.add(tag.clone()).await;
    other.add(other.joins(&contact, &list)).await;
    other.add(other.tagged(&contact, &tag)).await;
    let mine = scene.contact();
    scene.add(mine.clone()).await;
    let all = ContactFilter::default();
    let filters = [
        ContactFilter { list: Some(list.id), ..all.clone() },
        ContactFilter { tag: Some(tag.id), ..all.clone() },
        ContactFilter { assigned_to: Some(AssigneeFilter::Member(member.id)), ..all.clone() },
        ContactFilter { list: Some(list.id), tag: Some(tag.id), ..all },
    ];
    for filter in &filters {
        assert_eq!(scene.total(filter).await, 0, "{filter:?}");
        let page = other.page(filter, 1, 10).await;
        assert_eq!((ids(&page), page.total), (vec![contact.id], 1), "{filter:?}");
    }
    // A list of this company that has the id of the other one's.
    let twin = List { company: scene.company, ..list.clone() };
    scene.add(twin.clone()).await;
    scene.add(scene.joins(&mine, &twin)).await;
    for (scene, contact) in [(&scene, mine.id), (&other, contact.id)] {
        let page = scene.page(&filters[0], 1, 10).await;
        assert_eq!((ids(&page), page.total), (vec![contact], 1));
    }
}

/// Totals of sets are exact after contacts and memberships were written at the same time through
/// several handles.
pub async fn sets_stay_exact_under_concurrent_writes(harness: &dyn Harness) {
    let mut filed = Filed::of(harness).await;
    let shared: Vec<ContactId> = filed.contacts.iter().copied().take(4).collect();
    let second = harness.second().await;
    let mut writers = Vec::new();
    for worker in 0..4_usize {
        let store = match (&second, worker % 2) {
            (Some(second), 1) => second.clone(),
            _ => filed.scene.store.clone(),
        };
        let (scene, shared) = (filed.scene.through(store), shared.clone());
        let (list, members) = (filed.lists[1].clone(), filed.members.clone());
        writers.push(tokio::spawn(async move {
            for round in 0..15_usize {
                let stored = scene.stored(shared[(worker + round) % shared.len()]).await;
                let joins = scene.joins(&stored, &list);
                let changed = stored.changed(at(round as i64), |contact| {
                    contact.has_unread = !contact.has_unread;
                    contact.last_message_at = Some(at(round as i64));
                    contact.assigned_to_member_id = members.get(round % 3).map(|member| member.id);
                });
                let change = match worker {
                    0 => Change::insert(joins),
                    1 => first(joins).delete(),
                    _ => stored.update(changed),
                };
                applied(scene.try_apply(change).await);
            }
        }));
    }
    for writer in writers {
        writer.await.expect("no panic");
    }
    let set = ContactSet::List(filed.lists[1].id);
    for id in shared {
        let key = (filed.scene.company, filed.lists[1].id, id);
        let is_in = filed.scene.store.get::<ListMember>(key).await;
        match is_in.expect("the store works") {
            Some(_) => filed.enter(set, id),
            None => filed.leave_set(set, id),
        }
    }
    filed.check().await;
}
