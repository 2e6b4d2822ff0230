//! The errors that callers get when the database is slow, busy or not reachable.

mod support;

use std::time::Duration;

use recado_core::Timestamp;
use recado_core::access::{Company, Secret};
use recado_core::ids::CompanyId;
use recado_core::store::{ChangeSet, Commit, CommitError, Conflict, RecordsExt, StoreError};
use recado_store_postgres::{Options, PostgresStore};
use support::Database;
use uuid::Uuid;

fn company(id: u128) -> Company {
    support::company(CompanyId::new(Uuid::from_u128(id)), Timestamp::from_millis(0))
}

async fn with_options(database: &Database, options: Options) -> PostgresStore {
    PostgresStore::connect(database.url(), options).await.expect("it is there")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_not_there_is_unavailable() {
    let options = Options { connect_timeout: Duration::from_secs(1), ..Options::default() };
    // Port 1 is reserved; nothing listens there.
    let connected = PostgresStore::connect("postgres://nobody@127.0.0.1:1/none", options).await;
    assert!(matches!(connected, Err(StoreError::Unavailable(_))));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_without_encryption_is_unavailable_where_it_is_required() {
    let database = Database::fresh().await;
    let url = format!("{}?sslmode=require", database.url());
    let connected = PostgresStore::connect(&url, support::options()).await;
    assert!(matches!(connected, Err(StoreError::Unavailable(_))));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_url_that_cannot_be_read_is_not_repeated() {
    let connected =
        PostgresStore::connect("postgres://u:geheim@h:port/d", Options::default()).await;
    let error = connected.unwrap_err();
    assert!(!format!("{error} {error:?}").contains("geheim"));
}

#[tokio::test(flavor = "multi_thread")]
async fn waiting_for_a_connection_is_bounded() {
    let database = Database::fresh().await;
    let options =
        Options { pool_size: 1, wait_timeout: Duration::from_millis(50), ..Options::default() };
    let store = with_options(&database, options).await;
    let client = database.client().await;
    client.batch_execute("BEGIN; LOCK TABLE companies").await.unwrap();
    let blocked = store.clone();
    let blocked = tokio::spawn(async move { blocked.all::<Company>(()).await });
    // At some time the second call finds that the only connection is in use.
    while store.get::<Secret>(recado_core::access::SecretName::CursorKey).await.is_ok() {
        tokio::task::yield_now().await;
    }
    let waited = store.all::<Company>(()).await;
    assert!(matches!(waited, Err(StoreError::Unavailable(_))));
    client.batch_execute("COMMIT").await.unwrap();
    assert_eq!(blocked.await.unwrap().unwrap(), []);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_statement_that_takes_too_long_is_unavailable_and_a_lock_is_contended() {
    let database = Database::fresh().await;
    let options = Options { statement_timeout: Duration::from_millis(200), ..support::options() };
    let store = with_options(&database, options).await;
    store.commit(ChangeSet::new().insert(company(1))).await.unwrap();
    let client = database.client().await;
    client.batch_execute("BEGIN; LOCK TABLE companies").await.unwrap();
    assert!(matches!(store.all::<Company>(()).await, Err(StoreError::Unavailable(_))));
    let committed = store.commit(ChangeSet::new().insert(company(2))).await;
    assert!(matches!(committed, Err(CommitError::Conflict(Conflict::Contended))), "{committed:?}");
    client.batch_execute("COMMIT").await.unwrap();
    assert_eq!(store.all::<Company>(()).await.unwrap(), [company(1)]);
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_that_were_cut_are_replaced() {
    let database = Database::fresh().await;
    let store = &database.store;
    store.commit(ChangeSet::new().insert(company(1))).await.unwrap();
    let cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
               WHERE datname = current_database() AND pid <> pg_backend_pid()";
    database.client().await.batch_execute(cut).await.unwrap();
    // Calls may fail until the pool has noticed; none may hang or give a wrong answer.
    let mut answers = 0;
    for _ in 0..100 {
        match store.all::<Company>(()).await {
            Ok(companies) => {
                assert_eq!(companies, [company(1)]);
                answers += 1;
            }
            Err(error) => assert!(matches!(error, StoreError::Unavailable(_)), "{error:?}"),
        }
    }
    assert!(answers > 50);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_commit_that_is_cut_off_before_its_end_applies_nothing() {
    let database = Database::fresh().await;
    let store = database.store.clone();
    let client = database.client().await;
    client.batch_execute("BEGIN; LOCK TABLE companies").await.unwrap();
    let committing = tokio::spawn(async move {
        store.commit(ChangeSet::new().insert(company(1)).insert(company(2))).await
    });
    let waiting = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
                   WHERE datname = current_database() AND wait_event_type = 'Lock'";
    while client.query(waiting, &[]).await.unwrap().is_empty() {
        tokio::task::yield_now().await;
    }
    let failed = committing.await.unwrap().unwrap_err();
    assert!(matches!(failed, CommitError::Store(StoreError::Unavailable(_))), "{failed:?}");
    client.batch_execute("COMMIT").await.unwrap();
    assert_eq!(database.store.all::<Company>(()).await.unwrap_or_default(), []);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_caller_that_goes_away_leaves_no_transaction_open() {
    let database = Database::fresh().await;
    let options = Options { pool_size: 1, ..support::options() };
    let store = with_options(&database, options).await;
    // Prepares the statement, because preparing it would wait for the lock, too.
    store.commit(ChangeSet::new().insert(company(0))).await.unwrap();
    let client = database.client().await;
    client.batch_execute("BEGIN; LOCK TABLE companies").await.unwrap();
    let changes = ChangeSet::new().insert(company(1)).insert(company(2));
    let left = tokio::time::timeout(Duration::from_millis(100), store.commit(changes)).await;
    assert!(left.is_err(), "the lock holds it");
    client.batch_execute("COMMIT").await.unwrap();
    // The only connection still works, and the commit that was under way was applied as a whole.
    assert_eq!(store.all::<Company>(()).await.unwrap(), [company(0), company(1), company(2)]);
    let open = "SELECT FROM pg_stat_activity WHERE datname = current_database() \
                AND state LIKE 'idle in transaction%'";
    assert!(client.query(open, &[]).await.unwrap().is_empty());
}
