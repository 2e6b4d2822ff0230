//! Promises 1, 3, 7 and 9: change sets are applied as a whole or not at all, on the version that
//! was read, and are visible at once.

use recado_core::store::{ChangeSet, Conflict, Version};

use super::Harness;
use super::scene::{Scene, assert_stale, assert_taken, at, conflict, first};
use recado_core::store::UniqueKey;

/// Promise 9.
pub async fn an_insert_starts_at_version_one_and_each_update_adds_one(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let contact = scene.contact();
    scene.add(contact.clone()).await;
    for number in 1..=3 {
        let stored = scene.stored(contact.id).await;
        assert_eq!(stored.version(), Version::new(number));
        let renamed = stored.changed(at(1), |c| c.name = format!("Ana {number}"));
        scene.apply(stored.update(renamed)).await;
    }
    assert_eq!(scene.stored(contact.id).await.name, "Ana 3");
}

/// A change set without changes is no error.
pub async fn an_empty_change_set_is_fine(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    scene.store.commit(ChangeSet::new()).await.expect("nothing can be in the way");
}

/// Promise 3, updates.
pub async fn a_stale_update_changes_nothing(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let contact = scene.contact();
    scene.add(contact.clone()).await;
    let read = scene.stored(contact.id).await;
    scene.apply(read.update(read.changed(at(1), |c| c.name = "Ana".to_owned()))).await;

    let late = read.update(read.changed(at(2), |c| c.name = "Bia".to_owned()));
    let found = conflict(scene.try_apply(late).await);
    let key = recado_core::store::Row::from(contact.clone()).key();
    assert_eq!(found, Conflict::Stale(key));
    let now = scene.stored(contact.id).await;
    assert_eq!((now.name.as_str(), now.version()), ("Ana", Version::new(2)));
}

/// Promise 3, deletes.
pub async fn a_stale_delete_deletes_nothing(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let contact = scene.contact();
    scene.add(contact.clone()).await;
    let read = scene.stored(contact.id).await;
    scene.apply(read.update(read.changed(at(1), |c| c.is_pinned = true))).await;
    assert_stale(scene.try_apply(read.delete()).await);
    assert!(scene.has_contact(contact.id).await);
}

/// Promise 3, deleted rows.
pub async fn writing_a_row_that_is_gone_is_stale(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let (contact, list) = (scene.contact(), scene.list());
    scene.add(contact.clone()).await;
    scene.add(list.clone()).await;
    let membership = scene.joins(&contact, &list);
    scene.add(membership).await;

    scene.apply(first(membership).delete()).await;
    assert_stale(scene.try_apply(first(membership).delete()).await);
    let read = scene.stored(contact.id).await;
    scene.apply(read.delete()).await;
    assert_stale(scene.try_apply(read.delete()).await);
    assert_stale(scene.try_apply(read.update(contact)).await);
    assert_stale(scene.try_apply(first(scene.job()).delete()).await);
}

/// Promise 8, writes.
pub async fn writing_a_row_of_another_company_is_stale(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let other = scene.another_company().await;
    let contact = scene.contact();
    scene.add(contact.clone()).await;

    let mut stolen = contact.clone();
    stolen.company = other.company;
    assert_stale(other.try_apply(first(stolen.clone()).update(stolen.clone())).await);
    assert_stale(other.try_apply(first(stolen.clone()).delete()).await);
    let untouched = scene.stored(contact.id).await;
    assert_eq!((untouched.value(), untouched.version()), (&contact, Version::FIRST));
}

/// A later change of a set sees the earlier ones.
pub async fn changes_are_applied_in_order(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let (mut ana, bia) = (scene.contact(), scene.contact());
    ana.email = recado_core::contacts::Email::parse("a@example.com").ok();
    scene.add_all([ana.clone(), bia.clone()]).await;

    let without = first(ana.clone()).changed(at(1), |c| c.email = None);
    let with = first(bia.clone()).changed(at(1), |c| c.email.clone_from(&ana.email));
    let handed_over = ChangeSet::new()
        .with(first(ana.clone()).update(without))
        .with(first(bia.clone()).update(with.clone()));
    scene.store.commit(handed_over).await.expect("the e-mail is free when it is taken");
    assert_eq!(scene.stored(bia.id).await.value(), &with);
}

/// A unique value can be used again within the set that deletes its row.
pub async fn a_row_may_be_deleted_and_made_again_in_one_change_set(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let contact = scene.contact_named("5511987654321");
    scene.add(contact.clone()).await;
    let again = scene.contact_named("5511987654321");
    let changes = ChangeSet::new().with(first(contact.clone()).delete()).insert(again.clone());
    scene.store.commit(changes).await.expect("the identifier is free when it is taken");
    assert!(!scene.has_contact(contact.id).await);
    assert!(scene.has_contact(again.id).await);
}

/// Promise 1.
pub async fn a_failed_change_set_applies_nothing(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let (there, kept) = (scene.contact_named("taken"), scene.contact());
    scene.add_all([there.clone(), kept.clone()]).await;

    let renamed = first(kept.clone()).changed(at(1), |c| c.name = "Ana".to_owned());
    let (new, list) = (scene.contact(), scene.list());
    let changes = ChangeSet::new()
        .insert(list.clone())
        .insert(new.clone())
        .insert(scene.joins(&new, &list))
        .with(first(kept.clone()).update(renamed))
        .with(first(there.clone()).delete())
        .insert(scene.contact_named("free now"))
        .insert(scene.joins(&new, &list));
    assert_taken(scene.store.commit(changes).await, UniqueKey::ListMember);

    assert!(!scene.has_contact(new.id).await);
    assert!(scene.has_contact(there.id).await);
    assert_eq!(scene.stored(kept.id).await, first(kept));
    assert_eq!(scene.store.lists(scene.company).await.expect("the store works"), []);
}

/// Promise 1, events.
pub async fn a_failed_change_leaves_no_event_behind(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let contact = scene.contact();
    let changes = ChangeSet::new()
        .insert(contact.clone())
        .emit(scene.event(&contact, "{}"))
        .require(first(scene.list()).unchanged());
    assert_stale(scene.store.commit(changes).await);
    let twice = ChangeSet::new()
        .insert(contact.clone())
        .insert(contact.clone())
        .emit(scene.event(&contact, "{}"));
    assert_taken(scene.store.commit(twice).await, UniqueKey::Id);
    assert_eq!(harness.events(scene.company).await, []);
}

/// Promise 1, events.
pub async fn events_come_with_their_commit_in_order(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let other = scene.another_company().await;
    let mut written = Vec::new();
    for number in 0..4 {
        let contact = scene.contact();
        let data = format!(r#"{{"name":"João \"{number}\" ☕\n"}}"#);
        let event = scene.event(&contact, &data);
        written.push(event.clone());
        scene.store.commit(ChangeSet::new().insert(contact).emit(event)).await.expect("applied");
    }
    assert_eq!(harness.events(scene.company).await, written);
    assert_eq!(harness.events(other.company).await, []);
}

/// Promise 7.
pub async fn a_commit_is_seen_through_a_second_handle_at_once(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let Some(second) = harness.second().await else { return };
    let second = scene.through(second);
    for number in 0..20 {
        let (writer, reader) = if number % 2 == 0 { (&scene, &second) } else { (&second, &scene) };
        let contact = scene.contact();
        writer.add(contact.clone()).await;
        assert_eq!(reader.stored(contact.id).await.value(), &contact);
        let stored = reader.stored(contact.id).await;
        reader.apply(stored.update(stored.changed(at(1), |c| c.is_muted = true))).await;
        assert!(writer.stored(contact.id).await.is_muted);
    }
}

/// A commit may hold thousands of rows (an import, ten thousand contacts for a list).
pub async fn a_change_set_may_be_large(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let contacts: Vec<_> = (0..1_000).map(|_| scene.contact()).collect();
    scene.add_all(contacts.clone()).await;
    let lists: Vec<_> = (0..8).map(|_| scene.list()).collect();
    scene.add_all(lists.clone()).await;
    let memberships =
        lists.iter().flat_map(|list| contacts.iter().map(|contact| scene.joins(contact, list)));
    scene.add_all(memberships.collect::<Vec<_>>()).await;
    let counted = scene.store.lists(scene.company).await.expect("the store works");
    assert_eq!(counted.len(), lists.len());
    assert!(counted.iter().all(|(_, count)| *count == contacts.len() as u64));
}
