//! Notifications between processes on one database.

mod support;

use std::time::Duration;

use recado_core::deliveries::{QueueKey, Signals};
use recado_core::ids::{CompanyId, WebhookId};
use recado_store_postgres::PostgresStore;
use support::Database;
use tokio::time::timeout;
use uuid::Uuid;

/// Long enough for every notification that is sent.
const LONG: Duration = Duration::from_secs(30);

fn key(n: u128) -> QueueKey {
    QueueKey {
        company: CompanyId::new(Uuid::from_u128(n)),
        webhook: WebhookId::new(Uuid::from_u128(n + 1)),
    }
}

/// Waits until this many connections listen or send.
async fn connected(database: &Database, query: &str, count: i64) {
    let client = database.client().await;
    let sql = "SELECT count(*) FROM pg_stat_activity \
               WHERE datname = current_database() AND query LIKE $1";
    let all = async {
        while client.query_one(sql, &[&query]).await.expect("the store works").get::<_, i64>(0)
            < count
        {
            tokio::task::yield_now().await;
        }
    };
    timeout(LONG, all).await.expect("they connect");
}

/// A process that is listening.
async fn listener(database: &Database, others: i64) -> PostgresStore {
    let store = database.another_process().await;
    // A caller that stops waiting does not lose later notifications.
    assert!(timeout(Duration::from_millis(1), store.notified()).await.is_err());
    connected(database, "LISTEN%", others + 1).await;
    store
}

async fn heard(store: &PostgresStore) -> Option<Vec<QueueKey>> {
    timeout(LONG, store.notified()).await.expect("it hears of it")
}

#[tokio::test(flavor = "multi_thread")]
async fn every_other_process_hears_whose_queues_have_something_new() {
    let database = Database::fresh().await;
    let one = listener(&database, 0).await;
    let other = listener(&database, 1).await;
    database.store.notify(&[key(1), key(10)]);
    assert_eq!(heard(&one).await, Some(vec![key(1), key(10)]));
    assert_eq!(heard(&other).await, Some(vec![key(1), key(10)]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_does_not_hear_itself() {
    let database = Database::fresh().await;
    let one = listener(&database, 0).await;
    let other = listener(&database, 1).await;
    one.notify(&[key(1)]);
    assert_eq!(heard(&other).await, Some(vec![key(1)]));
    other.notify(&[key(2)]);
    assert_eq!(heard(&one).await, Some(vec![key(2)]));
}

#[tokio::test(flavor = "multi_thread")]
async fn too_many_queues_and_none_are_all_of_them() {
    let database = Database::fresh().await;
    let one = listener(&database, 0).await;
    let queues: Vec<QueueKey> = (0..500).map(key).collect();
    database.store.notify(&queues);
    assert_eq!(heard(&one).await, None);
    database.store.notify(&[]);
    assert_eq!(heard(&one).await, None);
    database.store.notify(&[key(3)]);
    assert_eq!(heard(&one).await, Some(vec![key(3)]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_was_cut_off_looks_everywhere_and_goes_on() {
    let database = Database::fresh().await;
    let one = listener(&database, 0).await;
    database.store.notify(&[key(1)]);
    assert_eq!(heard(&one).await, Some(vec![key(1)]));
    let client = database.client().await;
    let cut = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity \
               WHERE datname = current_database() AND pid <> pg_backend_pid() \
               AND (query LIKE 'LISTEN %' OR query LIKE '%; NOTIFY %')";
    assert_eq!(client.query_one(cut, &[]).await.expect("the store works").get::<_, i64>(0), 2);
    assert_eq!(heard(&one).await, None);
    database.store.notify(&[key(2)]);
    // A sender that was disconnected does not know which of its notifications arrived.
    while heard(&one).await != Some(vec![key(2)]) {
        database.store.notify(&[key(2)]);
    }
}
