//! The journal of events: promise 10, and a reader that reads every event exactly once.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use recado_core::events::{Event, EventRecord, EventType, JournalPosition};
use recado_core::ids::EventId;
use recado_core::store::{Change, ChangeSet, Store};

use super::Harness;
use super::outbound_scene::{ALL, record};
use super::scene::{Scene, at, conflict, first};

const TYPES: &[EventType] = EventType::ALL;

fn ids<'a>(events: impl IntoIterator<Item = &'a Event>) -> Vec<EventId> {
    events.into_iter().map(|event| event.id).collect()
}

/// Promise 10 within one change set: the order is that of the set, not that of ids, types or times.
pub async fn events_come_in_the_order_of_their_sets(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    assert_eq!(scene.journal_ids().await, []);
    let mut events: Vec<Event> =
        (0..40).map(|n| scene.reported(TYPES[n % TYPES.len()], n as i64)).collect();
    events.sort_by_key(|event| (event.at.millis() * 7) % 40);
    for part in events.chunks(15) {
        scene.tell(part, &[]).await;
    }
    let journal = scene.journal(JournalPosition::default(), ALL).await;
    let reported: Vec<EventRecord> = journal.iter().map(|(_, event)| event.clone()).collect();
    assert_eq!(reported, events.iter().map(record).collect::<Vec<_>>());
    assert!(journal.windows(2).all(|pair| pair[0].0 < pair[1].0));
    assert!(journal[0].0 > JournalPosition(0), "0 is the beginning");
    // Read in parts, each after the previous one.
    for limit in [1, 7, 40] {
        let (mut seen, mut after) = (Vec::new(), JournalPosition::default());
        loop {
            let part = scene.journal(after, limit).await;
            assert!(part.len() <= limit as usize);
            let Some((last, _)) = part.last() else { break };
            after = *last;
            seen.extend(part.into_iter().map(|(_, event)| event.id));
        }
        assert_eq!(seen, ids(&events), "parts of {limit}");
    }
}

/// Only events of the wanted types, in order.
pub async fn the_journal_can_be_read_by_type(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let events: Vec<Event> =
        (0..48).map(|n| scene.reported(TYPES[(n * 5 + n / 7) % TYPES.len()], n as i64)).collect();
    scene.tell(&events, &[]).await;
    let wanted: Vec<Vec<EventType>> = vec![
        vec![],
        vec![EventType::MessageSent],
        vec![EventType::WebhookTest],
        vec![EventType::ContactOptedOut, EventType::ContactCreated],
        EventType::public().collect(),
        TYPES.to_vec(),
    ];
    for types in wanted {
        let expected: Vec<Event> =
            events.iter().filter(|event| types.contains(&event.event_type)).cloned().collect();
        for limit in [1, 5, ALL] {
            let (mut seen, mut after) = (Vec::new(), JournalPosition::default());
            loop {
                let part = scene.store.events_after(scene.company, &types, after, limit).await;
                let part = part.expect("the store works");
                assert!(part.len() <= limit as usize);
                let Some((last, _)) = part.last() else { break };
                after = *last;
                seen.extend(part.into_iter().map(|(_, event)| event.id));
            }
            assert_eq!(seen, ids(&expected), "{types:?} in parts of {limit}");
        }
    }
}

/// The newest first, each page before the one that was read, only of the wanted types.
pub async fn the_newest_events_come_first_in_pages(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let events: Vec<Event> =
        (0..30).map(|n| scene.reported(TYPES[(n * 5 + n / 7) % TYPES.len()], n as i64)).collect();
    scene.tell(&events, &[]).await;
    let two = vec![EventType::ContactOptedOut, EventType::MessageSent];
    for types in [vec![], two, TYPES.to_vec()] {
        let wanted = events.iter().rev().filter(|event| types.contains(&event.event_type));
        let wanted: Vec<EventId> = wanted.map(|event| event.id).collect();
        for limit in [1, 4, ALL] {
            let (mut seen, mut before) = (Vec::new(), None);
            loop {
                let part = scene.store.newest_events(scene.company, &types, before, limit).await;
                let part = part.expect("the store works");
                assert!(part.len() <= limit as usize);
                let Some((last, _)) = part.last() else { break };
                before = Some(*last);
                seen.extend(part.into_iter().map(|(_, event)| event.id));
            }
            assert_eq!(seen, wanted, "{types:?} in parts of {limit}");
        }
    }
    let other = scene.another_company().await;
    let theirs = other.store.newest_events(other.company, TYPES, None, ALL).await;
    assert_eq!(theirs.expect("the store works"), []);
}

/// A position stays valid. After the newest event there is nothing until the next event.
pub async fn a_position_at_the_end_goes_on_with_what_is_new(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let events =
        [scene.reported(EventType::MessageSent, 0), scene.reported(EventType::MessageSent, 0)];
    scene.tell(&events[..1], &[]).await;
    let (end, _) = scene.journal(JournalPosition::default(), ALL).await.pop().expect("one");
    assert_eq!(scene.journal(end, ALL).await, []);
    scene.tell(&events[1..], &[]).await;
    let next = scene.journal(end, ALL).await;
    assert_eq!(next.iter().map(|(_, event)| event.id).collect::<Vec<_>>(), ids(&events[1..]));
    assert_eq!(scene.journal(JournalPosition(u64::MAX >> 1), ALL).await, []);
}

/// An event of a change set that was refused is never read.
pub async fn what_was_not_committed_is_not_in_the_journal(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let list = scene.list();
    scene.add(list.clone()).await;
    let refused = scene.reported(EventType::MessageSent, 0);
    let changes = ChangeSet::new().emit(refused).insert(list);
    conflict(scene.store.commit(changes).await);
    assert_eq!(scene.journal_ids().await, []);
    let event = scene.reported(EventType::MessageSent, 0);
    scene.tell(std::slice::from_ref(&event), &[]).await;
    assert_eq!(scene.journal_ids().await, [event.id]);
}

/// The events of a contact keep their data when the contact is deleted, until the data is erased.
pub async fn the_journal_outlives_its_contacts(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let contact = scene.contact();
    let event = scene.reported_of(contact.id, 0);
    let delivery = scene.fresh(scene.queue(), &event);
    let changes =
        ChangeSet::new().insert(contact.clone()).emit(event.clone()).insert(delivery.clone());
    scene.store.commit(changes).await.expect("all can be stored");
    let there = EventRecord { is_orphaned: false, ..record(&event) };
    assert_eq!(scene.event_now(event.id).await, Some(there));
    scene.apply(first(contact).delete()).await;
    assert_eq!(scene.event_now(event.id).await, Some(record(&event)));
    assert_eq!(scene.delivery_now(delivery.id).await, Some(first(delivery)));
}

/// D74: from the commit of the deletion on, of each event by itself and in the journal; an event
/// that became another contact's is not one of them.
pub async fn an_event_reports_whether_its_contact_is_gone(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let contacts = [scene.contact(), scene.contact(), scene.contact()];
    let mut changes = ChangeSet::new();
    let mut events = vec![scene.reported(EventType::MessageSent, 0)];
    for contact in &contacts {
        events.push(scene.reported_of(contact.id, 1));
        changes = changes.insert(contact.clone());
    }
    for event in &events {
        changes = changes.emit(event.clone());
    }
    scene.store.commit(changes).await.expect("all can be stored");
    let orphaned = async || {
        let journal = scene.journal(JournalPosition::default(), ALL).await;
        for (_, event) in &journal {
            assert_eq!(scene.event_now(event.id).await.as_ref(), Some(event));
        }
        journal.iter().map(|(_, event)| event.is_orphaned).collect::<Vec<_>>()
    };
    assert_eq!(orphaned().await, [false; 4]);
    let [gone, merged, kept] = contacts;
    scene.apply(first(gone).delete()).await;
    assert_eq!(orphaned().await, [false, true, false, false]);
    let moves = ChangeSet::new()
        .with(Change::reassign(scene.company, merged.id, kept.id))
        .with(first(merged).delete());
    scene.store.commit(moves).await.expect("they can become one");
    assert_eq!(orphaned().await, [false, true, false, false]);
}

/// Reads a journal to its end, and continues until `done`.
async fn follow(
    scene: &Scene,
    store: &Arc<dyn Store>,
    types: &[EventType],
    limit: u32,
    done: impl Fn() -> bool,
) -> Vec<(JournalPosition, EventId)> {
    let (mut seen, mut after) = (Vec::new(), JournalPosition::default());
    loop {
        let last_round = done();
        loop {
            let part = store.events_after(scene.company, types, after, limit).await;
            let part = part.expect("the store works");
            let Some((last, _)) = part.last() else { break };
            after = *last;
            seen.extend(part.into_iter().map(|(position, event)| (position, event.id)));
        }
        if last_round {
            return seen;
        }
        tokio::task::yield_now().await;
    }
}

/// Eight writers in two processes, and readers with small parts: each reader reads every event
/// once, and all read them in the same order (R63).
pub async fn a_reader_reads_every_event_once_while_others_write(harness: &dyn Harness) {
    const WRITERS: usize = 8;
    let scene = Scene::of(harness).await;
    let second = harness.second().await;
    // Some writers wait for each other's rows, so that their positions are assigned long before
    // their commits are visible.
    let contact = scene.contact();
    scene.add(contact.clone()).await;
    let running = Arc::new(AtomicUsize::new(WRITERS));
    let mut writers = Vec::new();
    for writer in 0..WRITERS {
        let store = match (&second, writer % 2) {
            (Some(second), 1) => second.clone(),
            _ => scene.store.clone(),
        };
        let (scene, running, id) = (scene.through(store), running.clone(), contact.id);
        writers.push(tokio::spawn(async move {
            let mut written = Vec::new();
            while written.len() < 60 {
                let n = written.len() + writer;
                let mut changes = ChangeSet::new();
                let events: Vec<Event> = (0..1 + n % 3)
                    .map(|m| scene.reported(TYPES[(n + m) % 3], (writer * 100 + n) as i64))
                    .collect();
                for event in &events {
                    changes = changes.emit(event.clone());
                }
                if writer % 4 < 2 {
                    let stored = scene.stored(id).await;
                    changes = changes.with(stored.update(stored.value().clone()));
                }
                if scene.store.commit(changes).await.is_ok() {
                    written.extend(ids(&events));
                }
            }
            running.fetch_sub(1, Ordering::SeqCst);
            written
        }));
    }
    let over = {
        let running = running.clone();
        move || running.load(Ordering::SeqCst) == 0
    };
    let mut readers = Vec::new();
    for limit in [1, 3, 50] {
        let store = match (&second, limit) {
            (Some(second), 3) => second.clone(),
            _ => scene.store.clone(),
        };
        let (scene, over) = (scene.through(scene.store.clone()), over.clone());
        readers.push(tokio::spawn(async move { follow(&scene, &store, TYPES, limit, over).await }));
    }
    let mut written = BTreeSet::new();
    for writer in writers {
        written.extend(writer.await.expect("no writer fails"));
    }
    let stable = follow(&scene, &scene.store, TYPES, ALL, || true).await;
    let all: BTreeSet<EventId> = stable.iter().map(|(_, id)| *id).collect();
    assert_eq!(all.len(), stable.len());
    assert_eq!(all, written);
    for reader in readers {
        let seen = reader.await.expect("no reader fails");
        assert!(seen == stable, "a reader skipped, repeated or saw another order");
    }
}

/// An event is only in the journal of its own company, and positions are comparable.
pub async fn journals_of_companies_are_apart(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let other = scene.another_company().await;
    let (ours, theirs) =
        (scene.reported(EventType::MessageSent, 0), other.reported(EventType::MessageSent, 0));
    for (company, event) in [(&scene, &ours), (&other, &theirs)] {
        company.tell(std::slice::from_ref(event), &[]).await;
    }
    assert_eq!(scene.journal_ids().await, [ours.id]);
    assert_eq!(other.journal_ids().await, [theirs.id]);
    assert_eq!(scene.event_now(theirs.id).await, None);
    let at_time = scene.event_now(ours.id).await.map(|event| event.at);
    assert_eq!(at_time, Some(at(0)));
}
