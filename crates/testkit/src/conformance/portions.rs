//! Long merges and deletions go in portions (R441, R442).

use recado_core::campaigns::{RecipientNumber, RecipientStatus};
use recado_core::connections::Connection;
use recado_core::contacts::{Contact, ContactFilter};
use recado_core::ids::ContactId;
use recado_core::prosas::LedgerLine;
use recado_core::store::{
    Change, ChangeSet, Collection, Conflict, ManyRows, RecordsExt, Row, RowKind,
};

use super::Harness;
use super::campaign_scene::counted;
use super::channel_scene::wamid;
use super::scene::{Scene, at, conflict, first};

/// Three messages with references, three ledger lines, and three events.
struct Owned {
    contact: Contact,
    connection: Connection,
    lines: Vec<LedgerLine>,
    names: [String; 3],
}

impl Owned {
    async fn of(scene: &Scene, name: &str) -> Self {
        let (contact, connection) = scene.pair().await;
        let names = [1, 2, 3].map(|n| format!("{name}{n}"));
        let mut rows: Vec<Row> = Vec::new();
        let mut lines = Vec::new();
        let mut changes = ChangeSet::new();
        for (at, name) in (1..).zip(&names) {
            let mut message = scene.outbound(&contact, &connection, at);
            message.provider_id = Some(wamid(name));
            rows.extend([message.clone().into(), scene.reference(&message, name).into()]);
            let described = Some("a person's text".to_owned());
            let line =
                LedgerLine { description: described, ..scene.debit(Some(contact.id), 5, at) };
            rows.push(line.clone().into());
            lines.push(line);
            changes = changes.emit(scene.reported_of(contact.id, at));
        }
        let changes = rows.into_iter().fold(changes, ChangeSet::insert);
        scene.store.commit(changes).await.expect("the store works");
        Self { contact, connection, lines, names }
    }

    /// How many of its lines belong to a contact.
    async fn lines_of(&self, scene: &Scene, contact: Option<ContactId>) -> usize {
        let mut found = 0;
        for line in &self.lines {
            let stored = scene.store.get::<LedgerLine>((scene.company, line.id)).await;
            let stored = stored.expect("the store works").expect("it stays");
            let is_described = stored.description.is_some();
            assert_eq!(is_described, stored.contact.is_some(), "the text goes with the contact");
            found += usize::from(stored.contact == contact);
        }
        found
    }
}

async fn messages(scene: &Scene, contact: ContactId) -> u64 {
    let count = scene.store.count_about(scene.company, RowKind::Message, contact).await;
    count.expect("the store works")
}

/// Which rows are more than a number.
async fn many(scene: &Scene, contact: ContactId, than: u32) -> ManyRows {
    scene.store.has_many(scene.company, contact, than).await.expect("the store works")
}

/// R441: no other contact's rows count.
pub async fn a_contact_has_many_rows_of_a_kind_when_it_has_more_than_that(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let other = scene.another_company().await;
    let (own, few) = (Owned::of(&scene, "a").await, Owned::of(&scene, "b").await);
    Owned::of(&other, "c").await;
    let all = ManyRows { messages: true, ledger_lines: true, events: true };
    assert_eq!(many(&scene, own.contact.id, 2).await, all);
    assert_eq!(many(&scene, own.contact.id, 3).await, ManyRows::default());
    let message = scene.inbound(&few.contact, &few.connection, 9);
    scene.add(message).await;
    let messages = ManyRows { messages: true, ..ManyRows::default() };
    assert_eq!(many(&scene, few.contact.id, 3).await, messages);
    assert_eq!(many(&other, own.contact.id, 0).await, ManyRows::default());
    // Erased events are counted for themselves.
    let about = recado_core::events::EventsAbout::contact(own.contact.id);
    scene.store.erase_events(scene.company, about, 1).await.expect("the store works");
    let events = |events| ManyRows { events, ..all };
    assert_eq!(many(&scene, own.contact.id, 2).await, events(false));
    assert_eq!(many(&scene, own.contact.id, 1).await, events(true));
}

/// R441: after as many portions as it takes, everything has moved.
pub async fn a_part_of_a_merge_moves_so_many_rows_of_each_kind(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let (own, into) = (Owned::of(&scene, "a").await, scene.contact());
    scene.add(into.clone()).await;
    let some = || Change::reassign_some(scene.company, own.contact.id, into.id, 2);
    scene.apply(some()).await;
    assert_eq!(messages(&scene, into.id).await, 2);
    assert_eq!(messages(&scene, own.contact.id).await, 1);
    assert_eq!(own.lines_of(&scene, Some(into.id)).await, 2);
    let moved = ManyRows { messages: true, ledger_lines: true, events: true };
    assert_eq!(many(&scene, into.id, 1).await, moved);
    assert_eq!(many(&scene, into.id, 2).await, ManyRows::default());
    assert_eq!(many(&scene, own.contact.id, 0).await, moved);
    scene.apply(some()).await;
    assert_eq!(many(&scene, own.contact.id, 0).await, ManyRows::default());
    assert_eq!(many(&scene, into.id, 2).await, moved);
    assert_eq!(own.lines_of(&scene, Some(into.id)).await, 3);
}

/// R441: rows can only move to a contact that exists.
pub async fn a_part_of_a_merge_needs_its_contact(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let (own, missing) = (Owned::of(&scene, "a").await, scene.contact());
    let some = |from, into| Change::reassign_some(scene.company, from, into, 2);
    let refused = scene.try_apply(some(own.contact.id, missing.id)).await;
    assert_eq!(conflict(refused), Conflict::Reference);
    assert_eq!(messages(&scene, own.contact.id).await, 3);
    // Also where there are only events.
    let silent = scene.contact();
    scene.add(silent.clone()).await;
    let told = ChangeSet::new().emit(scene.reported_of(silent.id, 5));
    scene.store.commit(told).await.expect("the store works");
    let refused = scene.try_apply(some(silent.id, missing.id)).await;
    assert_eq!(conflict(refused), Conflict::Reference);
    scene.apply(some(missing.id, missing.id)).await;
    scene.apply(some(own.contact.id, own.contact.id)).await;
    assert_eq!(messages(&scene, own.contact.id).await, 3);
}

/// R441: exactly the messages that are removed leave traces (R145), and the ledger lines lose their
/// texts with the contact (R196).
pub async fn a_part_of_a_deletion_removes_so_many_rows_with_traces(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let (own, stays) = (Owned::of(&scene, "a").await, Owned::of(&scene, "b").await);
    let some = || Change::remove_some(scene.company, own.contact.id, at(9), 2);
    for left in [1, 0] {
        scene.apply(some()).await;
        assert_eq!(messages(&scene, own.contact.id).await, left);
        let mut known = 0;
        for name in &own.names {
            let (id, connection) = (wamid(name), own.connection.id);
            let ids = [id.clone(), id.trace(connection)];
            let found = scene.store.referred(scene.company, connection, &ids).await;
            let found = found.expect("the store works");
            let [one] = &found[..] else { panic!("either a message or a trace: {found:?}") };
            known += u64::from(one.message.is_some());
        }
        assert_eq!(known, left);
        let lines = usize::try_from(left).expect("it is small");
        assert_eq!(own.lines_of(&scene, Some(own.contact.id)).await, lines);
        assert_eq!(own.lines_of(&scene, None).await, 3 - lines);
    }
    assert!(scene.has_contact(own.contact.id).await);
    let events = ManyRows { events: true, ..ManyRows::default() };
    assert_eq!(many(&scene, own.contact.id, 0).await, events);
    assert_eq!(messages(&scene, stays.contact.id).await, 3);
    assert_eq!(stays.lines_of(&scene, Some(stays.contact.id)).await, 3);
}

/// R442: no other record's rows go, and the record itself stays.
pub async fn a_part_of_the_deletion_of_a_list_or_a_tag_removes_so_many_of_its_rows(
    harness: &dyn Harness,
) {
    let scene = Scene::of(harness).await;
    let other = scene.another_company().await;
    let (list, contacts) = scene.crowd(3).await;
    let (stays, tag, kept) = (scene.list(), scene.tag(), scene.tag());
    scene.add(stays.clone()).await;
    scene.add_all([tag.clone(), kept.clone()]).await;
    scene.add(scene.joins(&contacts[0], &stays)).await;
    scene.add(scene.tagged(&contacts[0], &kept)).await;
    scene.add_all(contacts.iter().map(|contact| scene.tagged(contact, &tag))).await;
    let in_list = |id| ContactFilter { list: Some(id), ..ContactFilter::default() };
    let with_tag = |id| ContactFilter { tag: Some(id), ..ContactFilter::default() };
    for of in [Collection::List(list.id), Collection::Tag(tag.id)] {
        let (left, others) = match of {
            Collection::List(id) => (in_list(id), in_list(stays.id)),
            _ => (with_tag(tag.id), with_tag(kept.id)),
        };
        scene.apply(Change::remove_rows(other.company, of, 2)).await;
        assert_eq!(scene.total(&left).await, 3, "{of:?}");
        for count in [1, 0, 0] {
            scene.apply(Change::remove_rows(scene.company, of, 2)).await;
            assert_eq!(scene.total(&left).await, count, "{of:?}");
        }
        assert_eq!(scene.total(&others).await, 1, "{of:?}");
    }
    let found = scene.store.list(scene.company, list.id).await.expect("the store works");
    assert_eq!(found.map(|(_, contacts)| contacts), Some(0));
    let found = scene.store.get((scene.company, tag.id)).await.expect("the store works");
    assert_eq!(found, Some(first(tag)));
    assert_eq!(scene.total(&ContactFilter::default()).await, 3);
}

/// R442: a campaign that goes on after all has lost those whose turn would come last.
pub async fn a_part_of_the_deletion_of_a_campaign_removes_its_last_recipients(
    harness: &dyn Harness,
) {
    let scene = Scene::of(harness).await;
    let other = scene.another_company().await;
    let (own, stays) = (scene.enrolled(3).await, scene.enrolled(2).await);
    let waiting = |count| counted(&[(RecipientStatus::Waiting, count)]);
    let of = Collection::Campaign(own.campaign.id);
    scene.apply(Change::remove_rows(other.company, of, 2)).await;
    assert_eq!(scene.counts(own.campaign.id).await, waiting(3));
    scene.apply(Change::remove_rows(scene.company, of, 2)).await;
    assert_eq!(scene.counts(own.campaign.id).await, waiting(1));
    let left = scene.recipients_now(own.campaign.id).await;
    assert_eq!(left.first().map(|one| one.number), Some(RecipientNumber(1)));
    scene.apply(Change::remove_rows(scene.company, of, 2)).await;
    assert_eq!(scene.counts(own.campaign.id).await, counted(&[]));
    assert!(scene.campaign_now(own.campaign.id).await.is_some());
    assert_eq!(scene.counts(stays.campaign.id).await, waiting(2));
}
