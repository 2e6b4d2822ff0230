//! The export: by creation, from position to position, while contacts are created (D25).

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use recado_core::Timestamp;
use recado_core::contacts::{
    Contact, ContactFilter, ContactSlice, DraftQuery, ExportPosition, ExportQuery,
};
use recado_core::ids::ContactId;
use recado_core::store::{ChangeSet, CommitError, Conflict, Precondition};
use serde_json::json;

use super::Harness;
use super::contacts_listing::{ids, varied};
use super::scene::{Scene, at, conflict};
use crate::kit::{Kit, body};
use crate::{SeededIds, TestClock};

async fn part(scene: &Scene, after: Option<ExportPosition>, limit: u32) -> ContactSlice {
    let filter = ContactFilter::default();
    let slice = scene.store.contact_export(scene.company, &filter, after, limit, false).await;
    slice.expect("the store works")
}

fn end_of(slice: &ContactSlice) -> Option<ExportPosition> {
    slice.records.last().map(|record| ExportPosition::of(&record.contact))
}

async fn created_at(scene: &Scene, millis: i64) -> Contact {
    let mut contact = scene.contact();
    contact.created_at = at(millis);
    scene.add(contact.clone()).await;
    contact
}

/// Tries to create a contact with this creation time, under the precondition of all creations.
async fn create_at(scene: &Scene, time: Timestamp) -> Result<(), CommitError> {
    let mut contact = scene.contact();
    contact.created_at = time;
    let precondition = Precondition::NotExported { company: scene.company, created_at: time };
    scene.store.commit(ChangeSet::new().insert(contact).require(precondition)).await
}

async fn frontier(scene: &Scene) -> Option<Timestamp> {
    let facts = scene.store.draft_facts(scene.company, &DraftQuery::default()).await;
    facts.expect("the store works").export_frontier
}

/// By `created_at`, then `id`, both ascending; the order of the listing does not matter.
pub async fn an_export_goes_by_creation_then_id(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let mut contacts = Vec::new();
    for millis in [5, 3, 9, 3, 0, 7, 3] {
        let mut contact = scene.contact();
        contact.created_at = at(millis);
        contact.last_message_at = Some(at(-millis));
        scene.add(contact.clone()).await;
        contacts.push(contact);
    }
    contacts.sort_by_key(|contact| (contact.created_at, contact.id));
    let wanted: Vec<ContactId> = contacts.iter().map(|contact| contact.id).collect();
    for limit in 1..=8 {
        let (mut seen, mut after) = (Vec::new(), None);
        loop {
            let slice = part(&scene, after, limit).await;
            assert_eq!(slice.total, 7);
            assert!(slice.records.len() <= limit as usize);
            seen.extend(ids(&slice));
            assert_eq!(slice.more, seen.len() < 7, "after {} of 7", seen.len());
            if !slice.more {
                break;
            }
            after = end_of(&slice);
        }
        assert_eq!(seen, wanted, "{limit} at a time");
    }
}

/// Many contacts with the same creation time, as a batch makes them.
pub async fn contacts_of_one_moment_are_neither_skipped_nor_repeated(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let contacts: Vec<Contact> = (0..25).map(|_| scene.contact()).collect();
    scene.add_all(contacts.clone()).await;
    let mut wanted: Vec<ContactId> = contacts.iter().map(|contact| contact.id).collect();
    wanted.sort();
    let (mut seen, mut after) = (Vec::new(), None);
    loop {
        let slice = part(&scene, after, 4).await;
        seen.extend(ids(&slice));
        after = end_of(&slice);
        if !slice.more {
            break;
        }
    }
    assert_eq!(seen, wanted);
}

/// `more` is exact, even if the part ends exactly where the listing ends.
pub async fn the_last_part_says_that_nothing_follows(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    assert!(!part(&scene, None, 3).await.more);
    for millis in 0..6 {
        created_at(&scene, millis).await;
    }
    let first = part(&scene, None, 3).await;
    assert!(first.more);
    let second = part(&scene, end_of(&first), 3).await;
    assert_eq!((second.records.len(), second.more), (3, false));
    let beyond = part(&scene, end_of(&second), 3).await;
    assert_eq!((beyond.records.len(), beyond.more, beyond.total), (0, false, 6));
}

/// Filters restrict the export. The total counts all contacts that pass, wherever the position is.
pub async fn an_export_keeps_to_its_filters_with_an_exact_total(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let contacts = varied(&scene, 40).await;
    let filters = [
        ContactFilter { is_ai_enabled: Some(true), ..ContactFilter::default() },
        ContactFilter { is_group: Some(true), ..ContactFilter::default() },
        ContactFilter {
            pipeline_stage_id: contacts[1].pipeline_stage_id,
            is_group: Some(false),
            ..ContactFilter::default()
        },
    ];
    for filter in filters {
        let mut wanted: Vec<ContactId> =
            contacts.iter().filter(|c| c.facets().pass(&filter)).map(|c| c.id).collect();
        wanted.sort();
        let (mut seen, mut after) = (Vec::new(), None);
        loop {
            let slice = scene.store.contact_export(scene.company, &filter, after, 3, false).await;
            let slice = slice.expect("the store works");
            assert_eq!(slice.total, wanted.len() as u64);
            seen.extend(ids(&slice));
            after = end_of(&slice);
            if !slice.more {
                break;
            }
        }
        assert_eq!(seen, wanted, "{filter:?}");
    }
}

/// After `more` was answered, no contact can be created at or before the last position.
pub async fn a_position_that_was_handed_out_closes_the_past(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    for millis in 0..4 {
        created_at(&scene, millis * 10).await;
    }
    assert_eq!(frontier(&scene).await, None);
    create_at(&scene, at(-50)).await.expect("nothing was exported");
    let slice = part(&scene, None, 3).await;
    assert!(slice.more);
    assert_eq!(frontier(&scene).await, Some(at(10)));
    for closed in [at(10), at(9), at(-100)] {
        let stale = Conflict::Exported(scene.company);
        assert_eq!(conflict(create_at(&scene, closed).await), stale);
    }
    create_at(&scene, at(11)).await.expect("the future is open");
    assert_eq!(scene.total(&ContactFilter::default()).await, 6);
    let rest = part(&scene, end_of(&slice), 10).await;
    assert_eq!(rest.records.len(), 3, "the one that was created is met");
}

/// The last part of an export answers no position, so it does not move the frontier.
pub async fn an_export_that_came_to_its_end_closes_nothing(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    created_at(&scene, 10).await;
    assert!(!part(&scene, None, 5).await.more);
    assert_eq!(frontier(&scene).await, None);
    create_at(&scene, at(5)).await.expect("nothing was handed out");
}

/// A second export from the start does not move the frontier back.
pub async fn the_frontier_never_moves_back(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    for millis in 0..6 {
        created_at(&scene, millis).await;
    }
    assert!(part(&scene, None, 5).await.more);
    assert_eq!(frontier(&scene).await, Some(at(4)));
    assert!(part(&scene, None, 2).await.more);
    assert_eq!(frontier(&scene).await, Some(at(4)));
    scene.store.upkeep(at(1_000_000)).await.expect("the store works");
    assert_eq!(frontier(&scene).await, Some(at(4)));
    assert!(create_at(&scene, at(4)).await.is_err());
}

/// Promise 8.
pub async fn the_frontier_is_of_one_company(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let other = scene.another_company().await;
    for millis in 0..3 {
        created_at(&scene, millis).await;
    }
    assert!(part(&scene, None, 2).await.more);
    assert_eq!(frontier(&other).await, None);
    create_at(&other, at(0)).await.expect("the other company was not exported");
}

/// Promise 7: creations and exports may run in different processes.
pub async fn the_frontier_is_seen_through_a_second_handle(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let Some(second) = harness.second().await else { return };
    let second = scene.through(second);
    for millis in 0..3 {
        created_at(&scene, millis).await;
    }
    create_at(&second, at(-1)).await.expect("nothing was exported");
    assert!(part(&scene, None, 3).await.more);
    assert_eq!(frontier(&second).await, Some(at(1)));
    assert!(create_at(&second, at(1)).await.is_err());
    assert!(part(&second, None, 1).await.more);
    assert!(create_at(&scene, at(1)).await.is_err());
}

fn export(cursor: Option<String>, limit: u32) -> ExportQuery {
    ExportQuery { filter: ContactFilter::default(), cursor, limit, clicks: false }
}

/// The id of an item of a listing.
fn id_of(item: &recado_core::contacts::ContactListItem) -> ContactId {
    let item = serde_json::to_value(item).expect("an item is JSON");
    let id = item["id"].as_str().and_then(ContactId::parse);
    id.expect("an item has an id")
}

/// When a creation is answered, every export that has not passed the contact's position shows it.
pub async fn a_created_contact_is_visible_to_the_very_next_export_call(harness: &dyn Harness) {
    let kit = Kit::on(harness.store().await).await;
    let mut cursor = None;
    for n in 0..12 {
        // The clock stands still, advances or is set back.
        match n % 3 {
            0 => kit.clock.advance(Duration::from_secs(1)),
            1 => kit.clock.set(TestClock::START),
            _ => {}
        }
        let new = body(json!({ "phone": format!("+55119876500{n:02}") }));
        let created = kit.app.contacts().create(&kit.caller, &new).await.expect("created");
        if n < 2 {
            continue;
        }
        // There is one more contact than a part holds, so that each part has a cursor.
        let page = kit.app.contacts().export(&kit.caller, &export(cursor.clone(), 1)).await;
        let page = page.expect("the cursor is ours");
        let next = page.next_cursor.expect("more than one contact follows");
        let rest = kit.app.contacts().export(&kit.caller, &export(Some(next.clone()), 100)).await;
        let rest = rest.expect("the cursor is ours");
        let seen: Vec<ContactId> = page.items.iter().chain(&rest.items).map(id_of).collect();
        assert!(seen.contains(&created.contact.id), "the {n}th contact was skipped");
        cursor = Some(next);
    }
    let page = kit.app.contacts().export(&kit.caller, &export(None, 100)).await.expect("works");
    assert_eq!(page.items.len(), 12);
}

/// Processes with different clocks, some far behind, create contacts while one reader exports small
/// parts. Each complete export shows every contact that existed before its last call, exactly once.
pub async fn an_export_under_concurrent_creation_neither_skips_nor_repeats(harness: &dyn Harness) {
    let kit = Kit::on(harness.store().await).await;
    let second = harness.second().await;
    let created = Arc::new(Mutex::new(BTreeSet::new()));
    let done = Arc::new(AtomicBool::new(false));
    let mut writers = Vec::new();
    for writer in 0..4_usize {
        let store = match (&second, writer % 2) {
            (Some(second), 1) => second.clone(),
            _ => harness.store().await,
        };
        let skew = [0, -5, 3, -60_000][writer];
        let clock = TestClock::at(at(skew));
        let ids = SeededIds::new(100 + writer as u64);
        let app = Kit::builder().store(store).clock(clock.clone()).ids(ids).start().await;
        let (caller, created) = (kit.caller.clone(), created.clone());
        writers.push(tokio::spawn(async move {
            for n in 0..25 {
                clock.advance(Duration::from_millis(n % 2));
                let new = body(json!({ "phone": format!("+551198{writer}000{n:03}") }));
                let made = app.contacts().create(&caller, &new).await.expect("created");
                let mut created = created.lock().unwrap_or_else(PoisonError::into_inner);
                created.insert(made.contact.id);
            }
        }));
    }
    let finished = done.clone();
    let writing = tokio::spawn(async move {
        for writer in writers {
            writer.await.expect("no panic");
        }
        finished.store(true, Ordering::SeqCst);
    });
    let known = || created.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let mut last_round = false;
    while !last_round {
        last_round = done.load(Ordering::SeqCst) || writing.is_finished();
        let (mut seen, mut cursor) = (BTreeSet::new(), None);
        loop {
            let before = known();
            let page = kit.app.contacts().export(&kit.caller, &export(cursor, 3)).await;
            let page = page.expect("the cursor is ours");
            for item in &page.items {
                assert!(seen.insert(id_of(item)), "a contact was repeated");
            }
            cursor = page.next_cursor;
            if cursor.is_none() {
                let skipped = before.difference(&seen).count();
                assert_eq!(skipped, 0, "contacts were skipped");
                break;
            }
        }
        tokio::task::yield_now().await;
    }
    writing.await.expect("no panic");
    let filter = ContactFilter::default();
    let all = kit.app.store().contact_export(kit.company.id, &filter, None, 200, false);
    let all = all.await.expect("the store works");
    assert_eq!(all.total, 100);
}
