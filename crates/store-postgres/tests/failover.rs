//! A database that moves to another server, or whose standby is away (R457, R458).

mod support;

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use recado_core::Timestamp;
use recado_core::access::Company;
use recado_core::ids::CompanyId;
use recado_core::store::{ChangeSet, Commit, CommitError, RecordsExt, StoreError};
use recado_store_postgres::{Options, PostgresStore};
use recado_testkit::postgres::{Cluster, OwnPostgres};
use support::company;
use uuid::Uuid;

/// Much longer than anything here takes, and shorter than any time limit of the server.
const LONG: Duration = Duration::from_secs(25);

/// The servers of tests are not durable unless a connection wants it.
const SYNCHRONOUS: &str = "options='-c synchronous_commit=on'";

/// Inserts a company of its own.
async fn write(store: &PostgresStore) -> Result<(), CommitError> {
    static COUNT: AtomicU64 = AtomicU64::new(1);
    let id = Uuid::from_u128(COUNT.fetch_add(1, Ordering::Relaxed).into());
    let new = company(CompanyId::new(id), Timestamp::from_millis(1_795_000_000_000));
    store.commit(ChangeSet::new().insert(new)).await.map(drop)
}

/// A server that lets its processes go on when it is dropped.
struct Frozen<'a>(&'a OwnPostgres);

impl Drop for Frozen<'_> {
    fn drop(&mut self) {
        self.0.freeze(false);
    }
}

/// R457: a frozen primary answers nothing and closes nothing.
#[tokio::test(flavor = "multi_thread")]
async fn a_store_leaves_a_primary_that_is_frozen_for_its_successor() {
    let primary = Cluster::fresh("recado-primary");
    let primary = primary.with_setting("synchronous_standby_names", "*").start();
    let standby = Cluster::standby_of(&primary).start();
    let url = format!(
        "host=127.0.0.1,127.0.0.1 port={},{} user=postgres dbname=postgres \
         target_session_attrs=read-write {SYNCHRONOUS}",
        primary.port(),
        standby.port()
    );
    let options = Options { pool_size: 3, ..Options::default() };
    let store = PostgresStore::connect(&url, options).await.expect("the primary is there");
    store.migrate().await.expect("it can be written");
    write(&store).await.expect("it can be written");

    primary.freeze(true);
    let frozen = Frozen(&primary);
    // More calls than there are connections wait for the frozen server.
    let waiting: Vec<_> = (0..8)
        .map(|_| {
            let store = store.clone();
            tokio::spawn(async move { write(&store).await })
        })
        .collect();
    standby.execute("ALTER SYSTEM SET synchronous_standby_names = ''");
    standby.execute("SELECT pg_reload_conf()");
    standby.execute("SELECT pg_promote()");
    for call in waiting {
        let done = tokio::time::timeout(LONG, call).await.expect("it ends");
        // Those that waited for a connection may have been carried out by the successor.
        let done = done.expect("it does not panic");
        let is_honest = matches!(
            done,
            Ok(())
                | Err(CommitError::Store(
                    StoreError::OutcomeUnknown(_) | StoreError::Unavailable(_)
                ))
        );
        assert!(is_honest, "{done:?}");
    }
    tokio::time::timeout(LONG, write(&store)).await.expect("in time").expect("by the successor");

    // Nothing goes to the old primary any more, when it is there again.
    drop(frozen);
    for _ in 0..8 {
        write(&store).await.expect("by the successor");
    }
    let read = store.all::<Company>(()).await.expect("they are read").len();
    assert!((10..=18).contains(&read), "what was acknowledged is there: {read}");
}

/// A server of its own whose commits wait for a standby that is away.
async fn without_its_standby(statement_timeout: Duration) -> (OwnPostgres, PostgresStore) {
    let server = Cluster::fresh("recado-alone").start();
    let port = server.port();
    let url = format!("host=127.0.0.1 port={port} user=postgres dbname=postgres {SYNCHRONOUS}");
    let options = Options { statement_timeout, ..Options::default() };
    let store = PostgresStore::connect(&url, options).await.expect("it is there");
    store.migrate().await.expect("it can be written");
    server.execute("ALTER SYSTEM SET synchronous_standby_names = 'away'");
    server.execute("SELECT pg_reload_conf()");
    (server, store)
}

/// The first write that the server does not answer as usual. It hears of its setting a bit later.
async fn unlike_others(store: &PostgresStore) -> Result<(), CommitError> {
    for _ in 0..1000 {
        tokio::time::timeout(LONG, write(store)).await.expect("it ends")?;
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    Ok(())
}

fn is_unknown(written: &Result<(), CommitError>) -> bool {
    matches!(written, Err(CommitError::Store(StoreError::OutcomeUnknown(_))))
}

/// R458.
#[tokio::test(flavor = "multi_thread")]
async fn a_commit_that_waits_too_long_for_a_standby_has_an_unknown_outcome() {
    let (_server, store) = without_its_standby(Duration::from_secs(1)).await;
    let written = unlike_others(&store).await;
    assert!(is_unknown(&written), "{written:?}");
    store.all::<Company>(()).await.expect("reads need no standby");
}

/// R458: Postgres answers as if a commit was replicated when its wait is cancelled.
#[tokio::test(flavor = "multi_thread")]
async fn a_commit_whose_wait_for_a_standby_is_cancelled_is_not_acknowledged() {
    let (server, store) = without_its_standby(Duration::from_secs(600)).await;
    let cancelling = async {
        loop {
            server.execute(
                "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'",
            );
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    let written = tokio::select! {
        written = unlike_others(&store) => written,
        () = cancelling => Ok(()),
    };
    assert!(is_unknown(&written), "{written:?}");
}
