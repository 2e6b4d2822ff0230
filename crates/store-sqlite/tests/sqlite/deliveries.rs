//! So many deliveries and events that ranges are read in several parts, and the changes that single
//! steps make to them.

use recado_core::Timestamp;
use recado_core::deliveries::{
    Attempt, Delivery, DeliveryFilter, DeliveryReads, DeliverySeq, DeliveryStatus, DueDelivery,
    DueReads, QueueKey, QueuePage, QueueRead, Shards,
};
use recado_core::events::{
    Event, EventReads, EventType, EventsAbout, JournalPosition, Outbox, Swept,
};
use recado_core::ids::{CompanyId, ContactId, DeliveryId, EventId, WebhookId};
use recado_core::page::PageRequest;
use recado_core::store::{
    ChangeSet, Commit, CommitError, Conflict, RecordsExt, Store, Stored, Version,
};
use recado_core::webhooks::Webhook;
use recado_testkit::MemoryStore;
use uuid::Uuid;

use crate::support::{Scene, company};

const DELIVERIES: u32 = 1300;

fn at(millis: u32) -> Timestamp {
    Timestamp::from_millis(millis.into())
}

fn webhook(n: u32) -> WebhookId {
    WebhookId::new(Uuid::from_u128(u128::from(n) + 1))
}

fn event_id(n: u32) -> EventId {
    EventId::new(Uuid::from_u128(u128::from(n) + 1))
}

/// An event of one of three contacts. Five events share a time.
fn event(of: CompanyId, n: u32) -> Event {
    Event {
        id: event_id(n),
        company: of,
        event_type: EventType::ALL[n as usize % EventType::ALL.len()],
        contact: Some(ContactId::new(Uuid::from_u128(u128::from(n % 3)))),
        at: at(n / 5),
        data: format!("{{\"n\":{n}}}"),
    }
}

/// A delivery without attempts, to one of four webhooks.
fn fresh(of: CompanyId, n: u32) -> Delivery {
    let Event { id, event_type, at, .. } = event(of, n);
    let own = DeliveryId::new(Uuid::from_u128(u128::from(n * 7919 % 1301)));
    Delivery::new(own, of, webhook(n % 4), id, event_type, at)
}

/// A delivery of any status.
fn delivery(of: CompanyId, n: u32) -> Delivery {
    let fresh = fresh(of, n);
    match n % 7 {
        0 | 1 => fresh,
        2 => Delivery { attempts: 1, tries: 1, due_at: Some(at(n * 37 % 101)), ..fresh },
        3 => Delivery { status: DeliveryStatus::Failed, attempts: 5, due_at: None, ..fresh },
        _ => delivered(&fresh),
    }
}

fn delivered(delivery: &Delivery) -> Delivery {
    let attempt = Attempt {
        attempt: 1,
        started_at: 7,
        duration_ms: 12,
        status_code: Some(200),
        error: None,
        response: Some("está bem".to_owned()),
    };
    Delivery {
        status: DeliveryStatus::Delivered,
        attempts: 1,
        tries: 1,
        due_at: None,
        delivered_at: Some(at(9)),
        log: vec![attempt],
        ..delivery.clone()
    }
}

fn traffic(of: CompanyId) -> ChangeSet {
    (0..DELIVERIES)
        .fold(ChangeSet::new(), |changes, n| changes.insert(delivery(of, n)).emit(event(of, n)))
}

async fn scene() -> (Scene, MemoryStore) {
    let (scene, model) = (Scene::new().await, MemoryStore::new());
    model.commit(ChangeSet::new().insert(company(1))).await.expect("new rows");
    for store in [&*scene.store as &dyn Store, &model] {
        // Nothing of another company may appear.
        store.commit(ChangeSet::new().insert(company(2))).await.expect("new rows");
        store.commit(traffic(company(2).id)).await.expect("new rows");
        store.commit(traffic(scene.company)).await.expect("new rows");
    }
    (scene, model)
}

fn filters() -> Vec<DeliveryFilter> {
    let mut filters = Vec::new();
    for status in [None, Some(DeliveryStatus::Pending), Some(DeliveryStatus::Failed)] {
        for webhook in [None, Some(webhook(1)), Some(webhook(77))] {
            for event in [None, Some(EventType::MessageSent)] {
                filters.push(DeliveryFilter { status, webhook, event });
            }
        }
    }
    filters
}

#[tokio::test]
async fn every_page_of_deliveries_is_that_of_the_model() {
    let (scene, model) = scene().await;
    for filter in filters() {
        for (page, limit) in [(1, 1), (1, 50), (3, 50), (13, 100), (99, 13), (900, 100)] {
            let request = PageRequest { page, limit };
            let ours = scene.store.deliveries(scene.company, &filter, request).await.unwrap();
            let models = model.deliveries(scene.company, &filter, request).await.unwrap();
            assert!(ours == models, "{request:?} {filter:?}");
        }
    }
}

type Reported = (Stored<Delivery>, Option<ContactId>, Option<String>);

/// The content of a part of a queue, without the positions.
fn reported(page: &QueuePage) -> (Option<Stored<Webhook>>, [Vec<Reported>; 2]) {
    let parts = [&page.fresh, &page.again].map(|part| {
        let reported = |due: &DueDelivery| (due.delivery.clone(), due.contact, due.data.clone());
        part.iter().map(reported).collect()
    });
    (page.webhook.clone(), parts)
}

#[tokio::test]
async fn every_queue_is_that_of_the_model() {
    let (scene, model) = scene().await;
    let shards = Shards::USUAL.all().collect();
    for limit in [1, 3, 100] {
        let mut after = None;
        loop {
            let ours = scene.store.pending_queues(&shards, after, limit).await.unwrap();
            assert_eq!(ours, model.pending_queues(&shards, after, limit).await.unwrap());
            let Some(last) = ours.last() else { break };
            after = Some(last.key);
        }
        assert!(after.is_some());
    }
    for number in [0, 3, 77] {
        let key = QueueKey { company: scene.company, webhook: webhook(number) };
        for (fresh, due, again) in [(1000, 1000, 1000), (7, 50, 5), (1, 0, 1)] {
            // Each store assigns positions of its own.
            let mut after = [DeliverySeq::default(); 2];
            for _ in 0..30 {
                let read = |after| QueueRead { key, after, fresh, due: at(due), again };
                let ours = scene.store.read_queue(read(after[0])).await.unwrap();
                let models = model.read_queue(read(after[1])).await.unwrap();
                assert_eq!(reported(&ours), reported(&models), "{number} {fresh} {due} {again}");
                let (Some(last), Some(models_last)) = (ours.fresh.last(), models.fresh.last())
                else {
                    break;
                };
                after = [last.seq, models_last.seq];
            }
        }
    }
}

#[tokio::test]
async fn every_part_of_the_journal_is_that_of_the_model() {
    let (scene, model) = scene().await;
    let some = [EventType::ContactCreated, EventType::MessageSent];
    for types in [EventType::ALL, &some, &some[1..], &[]] {
        for limit in [1, 100, 5000] {
            let mut after = JournalPosition::default();
            for _ in 0..30 {
                let ours = scene.store.events_after(scene.company, types, after, limit).await;
                let models = model.events_after(scene.company, types, after, limit).await;
                let ours = ours.unwrap();
                assert_eq!(ours, models.unwrap());
                let Some((last, _)) = ours.last() else { break };
                after = *last;
            }
        }
    }
}

async fn read(scene: &Scene, n: u32) -> Stored<Delivery> {
    let id = fresh(scene.company, n).id;
    scene
        .store
        .get::<Delivery>((scene.company, id))
        .await
        .expect("the store works")
        .expect("it is there")
}

#[tokio::test]
async fn an_update_replaces_all_of_a_delivery_at_the_version_that_was_read() {
    let scene = Scene::new().await;
    let first = fresh(scene.company, 1);
    scene.store.commit(ChangeSet::new().insert(first.clone())).await.unwrap();
    let known = read(&scene, 1).await;
    let finished = delivered(&first);
    scene.store.commit(ChangeSet::new().with(known.update(finished.clone()))).await.unwrap();
    let outcome = read(&scene, 1).await;
    assert_eq!((outcome.value(), outcome.version()), (&finished, Version::new(2)));
    let again = scene.store.commit(ChangeSet::new().with(known.update(finished.clone()))).await;
    assert!(matches!(again, Err(CommitError::Conflict(Conflict::Stale(_)))));
    // Columns that no use case changes.
    let other = Delivery { webhook: webhook(9), event: event_id(9), created_at: at(9), ..finished };
    scene.store.commit(ChangeSet::new().with(outcome.update(other.clone()))).await.unwrap();
    assert_eq!(read(&scene, 1).await.value(), &other);
}

#[tokio::test]
async fn the_sweep_goes_around_what_is_pending_and_never_gives_a_place_twice() {
    let scene = Scene::new().await;
    let of = scene.company;
    // Among the events that are old enough, the oldest and the newest have pending deliveries.
    let waits = |n: u32| n < 20 || (80..90).contains(&n);
    let changes = (0..100).fold(ChangeSet::new(), |changes, n| {
        let fresh = fresh(of, n);
        let delivery = if waits(n) { fresh } else { delivered(&fresh) };
        changes.insert(delivery).emit(event(of, n))
    });
    scene.store.commit(changes).await.unwrap();
    let before = event(of, 90).at;
    let mut steps = Vec::new();
    loop {
        let gone = scene.store.sweep_outbox(Swept::Before(before), 25).await.unwrap();
        if gone == 0 {
            break;
        }
        steps.push(gone);
    }
    assert_eq!(steps, [50, 50, 20]);
    let kept: Vec<EventId> =
        scene.store.events(of).await.unwrap().into_iter().map(|event| event.id).collect();
    let expected: Vec<EventId> = (0..100).filter(|n| waits(*n) || *n >= 90).map(event_id).collect();
    assert_eq!(kept, expected);
    // All events are deleted, and still the next event gets a position after the last one that was
    // read.
    for n in (0..100).filter(|n| waits(*n)) {
        let pending = read(&scene, n).await;
        let finished = pending.update(delivered(pending.value()));
        scene.store.commit(ChangeSet::new().with(finished)).await.unwrap();
    }
    while scene.store.sweep_outbox(Swept::Before(at(5000)), 500).await.unwrap() > 0 {}
    assert!(scene.store.events(of).await.unwrap().is_empty());
    let later = ChangeSet::new().insert(fresh(of, 200)).emit(event(of, 200));
    scene.store.commit(later).await.unwrap();
    let all = EventType::ALL;
    let last = JournalPosition(100);
    let journal = scene.store.events_after(of, all, last, 10).await.unwrap();
    assert_eq!(journal.len(), 1, "after the position that had been reached");
    let key = QueueKey { company: of, webhook: fresh(of, 200).webhook };
    let head = QueueRead { key, after: DeliverySeq(100), fresh: 10, due: at(0), again: 0 };
    assert_eq!(scene.store.read_queue(head).await.unwrap().fresh.len(), 1);
}

#[tokio::test]
async fn a_delivery_that_is_started_anew_is_not_swept() {
    let scene = Scene::new().await;
    let of = scene.company;
    let finished = delivered(&fresh(of, 1));
    scene.store.commit(ChangeSet::new().insert(finished).emit(event(of, 1))).await.unwrap();
    let known = read(&scene, 1).await;
    let again =
        Delivery { status: DeliveryStatus::Pending, due_at: Some(at(1)), ..known.value().clone() };
    scene.store.commit(ChangeSet::new().with(known.update(again))).await.unwrap();
    assert_eq!(scene.store.sweep_outbox(Swept::Before(at(5000)), 500).await.unwrap(), 0);
    assert_eq!(scene.store.events(of).await.unwrap().len(), 1);
}

#[tokio::test]
async fn nothing_is_written_where_nothing_is_to_be_swept_or_erased() {
    let scene = Scene::new().await;
    let of = scene.company;
    scene.store.commit(ChangeSet::new().insert(fresh(of, 1)).emit(event(of, 1))).await.unwrap();
    let before = scene.store.stats();
    assert_eq!(scene.store.sweep_outbox(Swept::Before(at(5000)), 500).await.unwrap(), 0);
    let stranger = ContactId::new(Uuid::from_u128(99));
    assert!(!scene.store.erase_events(of, EventsAbout::contact(stranger), 500).await.unwrap().left);
    assert_eq!(scene.store.stats(), before);
}
