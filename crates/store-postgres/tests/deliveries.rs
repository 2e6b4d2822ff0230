//! Many deliveries, and commits that run at the same time as they do.

mod support;

use recado_core::Timestamp;
use recado_core::deliveries::{
    Delivery, DeliveryReads, DeliverySeq, DueReads, PendingDeliveries, QueueKey, QueueRead,
    cancelled,
};
use recado_core::events::{Event, EventReads, EventType, JournalPosition};
use recado_core::ids::{CompanyId, DeliveryId, EventId, WebhookId};
use recado_core::store::{
    ChangeSet, Commit, CommitError, Conflict, RecordsExt, RowKey, Stored, Version,
};
use recado_store_postgres::PostgresStore;
use support::{Database, until_waiting};
use tokio_postgres::Client;
use uuid::Uuid;

fn company() -> CompanyId {
    CompanyId::new(Uuid::from_u128(1))
}

fn event(n: u128) -> Event {
    Event {
        id: EventId::new(Uuid::from_u128(n)),
        company: company(),
        event_type: EventType::MessageSent,
        contact: None,
        at: Timestamp::from_millis(7),
        data: format!("{{\"n\":{n}}}"),
    }
}

fn delivery(n: u128, webhook: u128, event: &Event) -> Delivery {
    let webhook = WebhookId::new(Uuid::from_u128(webhook));
    let id = DeliveryId::new(Uuid::from_u128(n));
    Delivery::new(id, company(), webhook, event.id, event.event_type, event.at)
}

fn key(delivery: &Delivery) -> RowKey {
    RowKey::Delivery { company: delivery.company, id: delivery.id }
}

async fn pending(store: &PostgresStore, webhook: u128) -> Vec<Stored<Delivery>> {
    let webhook = WebhookId::new(Uuid::from_u128(webhook));
    store
        .pending_deliveries(company(), PendingDeliveries::Of(webhook), 10_000)
        .await
        .expect("the store works")
}

/// A store with this many deliveries in one queue.
async fn with_deliveries(count: u128) -> (Database, Vec<Stored<Delivery>>) {
    let database = Database::fresh().await;
    let made = event(1);
    let changes = (1..=count)
        .fold(ChangeSet::new(), |changes, n| changes.insert(delivery(n, 1, &made)))
        .emit(made.clone());
    database.store.commit(changes).await.expect("the store works");
    let all = pending(&database.store, 1).await;
    assert_eq!(all.len() as u128, count);
    (database, all)
}

fn finish(all: &[Stored<Delivery>]) -> ChangeSet {
    all.iter().fold(ChangeSet::new(), |changes, one| changes.with(one.update(cancelled(one))))
}

#[tokio::test(flavor = "multi_thread")]
async fn many_outcomes_are_written_together_or_not_at_all() {
    let (database, all) = with_deliveries(256).await;
    let (gone, store) = (&all[200], &database.store);
    store.commit(ChangeSet::new().with(gone.delete())).await.expect("the store works");
    let refused = store.commit(finish(&all)).await;
    let stale = Conflict::Stale(key(gone));
    assert!(matches!(refused, Err(CommitError::Conflict(found)) if found == stale));
    assert_eq!(pending(store, 1).await.len(), 255);
    let left: Vec<_> = all.iter().filter(|one| one.id != gone.id).cloned().collect();
    store.commit(finish(&left)).await.expect("the store works");
    assert_eq!(pending(store, 1).await, []);
    let finished =
        store.get::<Delivery>((company(), left[0].id)).await.expect("the store works").unwrap();
    assert_eq!(finished, Stored::new(cancelled(&left[0]), Version::FIRST.next()));
}

#[tokio::test(flavor = "multi_thread")]
async fn batches_of_the_same_deliveries_in_any_order_never_deadlock() {
    let (database, all) = with_deliveries(100).await;
    let mut backwards = all.clone();
    backwards.reverse();
    for round in 0..20 {
        let fresh = pending(&database.store, 1).await;
        let again = |all: &[Stored<Delivery>]| {
            all.iter().fold(ChangeSet::new(), |changes, one| {
                let due_at = Some(Timestamp::from_millis(100 + round));
                changes.with(one.update(Delivery { due_at, ..one.value().clone() }))
            })
        };
        let mut reversed = fresh.clone();
        reversed.sort_by_key(|one| std::cmp::Reverse(one.id));
        let (one, other) = tokio::join!(
            database.store.commit(again(&fresh)),
            database.store.commit(again(&reversed))
        );
        let lost = if one.is_ok() { other } else { one };
        assert!(matches!(lost, Err(CommitError::Conflict(Conflict::Stale(_)))), "{lost:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn places_follow_the_order_of_the_set_across_many_events() {
    let database = Database::fresh().await;
    // The ids descend, so that only the order of the set gives these positions.
    let events: Vec<Event> = (1..=50).rev().map(event).collect();
    let made: Vec<Delivery> =
        (1..=50).rev().zip(&events).map(|(n, event)| delivery(n, 1, event)).collect();
    let mut changes = ChangeSet::new();
    for delivery in &made {
        changes = changes.insert(delivery.clone());
    }
    for event in &events {
        changes = changes.emit(event.clone());
    }
    database.store.commit(changes).await.expect("the store works");
    let queue = QueueKey { company: company(), webhook: made[0].webhook };
    let due = Timestamp::from_millis(0);
    let read = QueueRead { key: queue, after: DeliverySeq(0), fresh: 100, due, again: 0 };
    let page = database.store.read_queue(read).await.expect("the store works");
    let placed: Vec<DeliveryId> = page.fresh.iter().map(|due| due.delivery.id).collect();
    assert_eq!(placed, made.iter().map(|made| made.id).collect::<Vec<_>>());
    let reported = database
        .store
        .events_after(company(), &[EventType::MessageSent], JournalPosition(0), 100)
        .await
        .unwrap();
    let reported: Vec<EventId> = reported.into_iter().map(|(_, event)| event.id).collect();
    assert_eq!(reported, events.iter().map(|event| event.id).collect::<Vec<_>>());
}

/// How many connections of the database wait for an advisory lock.
async fn waiting_readers(client: &Client) -> i64 {
    let sql = "SELECT count(*) FROM pg_locks JOIN pg_stat_activity USING (pid) \
               WHERE NOT granted AND locktype = 'advisory' AND datname = current_database()";
    client.query_one(sql, &[]).await.expect("the store works").get(0)
}

async fn journal(store: &PostgresStore) -> Vec<EventId> {
    let types = [EventType::MessageSent];
    let reported = store
        .events_after(company(), &types, JournalPosition(0), 100)
        .await
        .expect("the store works");
    reported.into_iter().map(|(_, event)| event.id).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_journal_waits_for_a_place_that_was_given_and_is_not_visible_yet() {
    let database = Database::fresh().await;
    // Blocks a commit after its event got a position: it waits at the unique index of event ids.
    let client = database.client().await;
    client.batch_execute("BEGIN").await.expect("the store works");
    let taken = "INSERT INTO events (company_id, id, event_type, at) VALUES ($1, $2, 'x', 0)";
    client
        .execute(taken, &[&company().uuid(), &event(1).id.uuid()])
        .await
        .expect("the store works");
    let store = database.store.clone();
    let held = async move { store.commit(ChangeSet::new().emit(event(1))).await };
    let held = tokio::spawn(held);
    until_waiting(&database.client().await, 1).await;
    database.store.commit(ChangeSet::new().emit(event(2))).await.expect("the store works");
    let store = database.store.clone();
    let reader = tokio::spawn(async move { journal(&store).await });
    let watcher = database.client().await;
    while !reader.is_finished() && waiting_readers(&watcher).await == 0 {
        tokio::task::yield_now().await;
    }
    client.batch_execute("ROLLBACK").await.expect("the store works");
    held.await.expect("the store works").unwrap();
    assert_eq!(reader.await.expect("the store works"), [event(1).id, event(2).id]);
}
