//! Totals are exact at all times.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use recado_core::contacts::{Contact, ContactFilter, CrmStatus, InboxStatus};
use recado_core::store::{ChangeSet, RecordsExt};

use super::Harness;
use super::contacts_listing::varied;
use super::scene::{Scene, applied, at, first};

fn open() -> ContactFilter {
    ContactFilter { inbox_status: Some(InboxStatus::Open), ..ContactFilter::default() }
}

fn customers() -> ContactFilter {
    ContactFilter { crm_status: Some(CrmStatus::Customer), ..ContactFilter::default() }
}

/// Compares the totals of some filters with all contacts, counted one by one.
async fn check(scene: &Scene) {
    let mut contacts = Vec::new();
    for page in 1.. {
        let slice = scene.page(&ContactFilter::default(), page, 100).await;
        if slice.records.is_empty() {
            break;
        }
        contacts.extend(slice.records.into_iter().map(|record| record.contact.into_value()));
    }
    let telegram = ContactFilter {
        source_platform: recado_core::contacts::Platform::parse("telegram"),
        ..customers()
    };
    for filter in [ContactFilter::default(), open(), customers(), telegram] {
        let counted = contacts.iter().filter(|contact| contact.facets().pass(&filter)).count();
        assert_eq!(scene.total(&filter).await, counted as u64, "{filter:?}");
    }
}

/// A change of a filtered value moves a contact from one count to another.
pub async fn totals_follow_inserts_updates_and_deletes(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let contacts = varied(&scene, 30).await;
    check(&scene).await;
    for (n, contact) in contacts.iter().enumerate() {
        let stored = scene.stored(contact.id).await;
        match n % 4 {
            0 => scene.apply(stored.delete()).await,
            1 => {
                let changed = stored.changed(at(1), |c| c.crm_status = CrmStatus::Customer);
                scene.apply(stored.update(changed)).await;
            }
            2 => {
                let changed = stored.changed(at(1), |c| c.name = "Ana".to_owned());
                scene.apply(stored.update(changed)).await;
            }
            _ => {}
        }
    }
    check(&scene).await;
    assert_eq!(scene.total(&ContactFilter::default()).await, 22);
}

/// Totals are exact after concurrent writes through several handles.
pub async fn totals_stay_exact_under_concurrent_writes(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let shared = varied(&scene, 8).await;
    let second = harness.second().await;
    let mut writers = Vec::new();
    for worker in 0..4_usize {
        let store = match (&second, worker % 2) {
            (Some(second), 1) => second.clone(),
            _ => scene.store.clone(),
        };
        let scene = scene.through(store);
        let shared = shared.clone();
        writers.push(tokio::spawn(async move {
            let mut own: Vec<Contact> = Vec::new();
            for round in 0..12_usize {
                let contact = scene.contact();
                scene.add(contact.clone()).await;
                own.push(contact);
                let target = &shared[(worker + round) % shared.len()];
                let stored =
                    scene.store.get::<Contact>((scene.company, target.id)).await.expect("works");
                if let Some(stored) = stored {
                    let changed = stored.changed(at(1), |c| {
                        c.crm_status = CrmStatus::ALL[(worker + round) % CrmStatus::ALL.len()];
                        c.is_group = !c.is_group;
                    });
                    applied(scene.try_apply(stored.update(changed)).await);
                }
                if round % 3 == 2 {
                    let gone = own.remove(0);
                    scene.apply(first(gone).delete()).await;
                }
            }
        }));
    }
    for writer in writers {
        writer.await.expect("no panic");
    }
    check(&scene).await;
    assert_eq!(scene.total(&ContactFilter::default()).await, 8 + 4 * 8);
}

/// While contacts change their values in pairs, the total of every answer is the number of its
/// contacts.
pub async fn a_total_is_of_the_same_state_as_its_records(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let contacts: Vec<Contact> = (0..6)
        .map(|n| {
            let mut contact = scene.contact();
            if n % 2 == 0 {
                contact.inbox_status = InboxStatus::Resolved;
            }
            contact
        })
        .collect();
    scene.add_all(contacts.clone()).await;
    let done = Arc::new(AtomicBool::new(false));
    let writer = {
        let (scene, done) = (scene.through(scene.store.clone()), done.clone());
        tokio::spawn(async move {
            for round in 0..60 {
                let pair = &contacts[round % 3 * 2..][..2];
                let mut changes = ChangeSet::new();
                for contact in pair {
                    let stored = scene.stored(contact.id).await;
                    let flipped = stored.changed(at(1), |c| {
                        c.inbox_status = match c.inbox_status {
                            InboxStatus::Open => InboxStatus::Resolved,
                            InboxStatus::Resolved => InboxStatus::Open,
                        };
                    });
                    changes = changes.with(stored.update(flipped));
                }
                scene.store.commit(changes).await.expect("nobody else writes");
                // In every third round one more contact is added, so the number of open ones only
                // grows.
                if round % 3 == 0 {
                    scene.add(scene.contact()).await;
                }
            }
            done.store(true, Ordering::SeqCst);
        })
    };
    let mut before = 0;
    while !done.load(Ordering::SeqCst) {
        let slice = scene.page(&open(), 1, 100).await;
        assert_eq!(slice.total, slice.records.len() as u64);
        assert!(slice.total >= before, "{} open, {before} before", slice.total);
        before = slice.total;
        let export = scene.store.contact_export(scene.company, &open(), None, 100, false).await;
        let export = export.expect("the store works");
        assert_eq!(export.total, export.records.len() as u64);
    }
    writer.await.expect("no panic");
    assert_eq!(scene.total(&open()).await, 23);
}

/// Promise 1.
pub async fn a_change_set_that_fails_changes_no_total(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let (there, kept) = (scene.contact_named("taken"), scene.contact());
    scene.add_all([there.clone(), kept.clone()]).await;
    let renamed = first(kept.clone()).changed(at(1), |c| c.name = "Ana".to_owned());
    let changes = ChangeSet::new()
        .insert(scene.contact())
        .with(first(kept.clone()).update(renamed))
        .with(first(there).delete())
        .insert(kept);
    assert!(!applied(scene.store.commit(changes).await));
    assert_eq!(scene.total(&ContactFilter::default()).await, 2);
    check(&scene).await;
}

/// Promise 7.
pub async fn totals_are_seen_through_a_second_handle_at_once(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let Some(second) = harness.second().await else { return };
    let second = scene.through(second);
    for number in 0..20 {
        let (writer, reader) = if number % 2 == 0 { (&scene, &second) } else { (&second, &scene) };
        writer.add(scene.contact()).await;
        assert_eq!(reader.total(&ContactFilter::default()).await, number + 1);
    }
}

/// Housekeeping does not change an answer.
pub async fn upkeep_changes_no_total(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let contacts = varied(&scene, 20).await;
    for contact in &contacts[..10] {
        scene.store.upkeep(at(1)).await.expect("the store works");
        check(&scene).await;
        scene.apply(first(contact.clone()).delete()).await;
    }
    let busy = {
        let store = scene.store.clone();
        tokio::spawn(async move {
            for _ in 0..20 {
                store.upkeep(at(2)).await.expect("the store works");
                tokio::task::yield_now().await;
            }
        })
    };
    for _ in 0..10 {
        scene.add(scene.contact()).await;
    }
    busy.await.expect("no panic");
    check(&scene).await;
    assert_eq!(scene.total(&ContactFilter::default()).await, 20);
}
