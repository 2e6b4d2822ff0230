//! The lease of a process, renewed by work that finds it about to end: R28.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::FutureExt;
use futures_util::future::join_all;
use recado_core::store::RecordsExt;
use recado_core::workers::Worker;
use recado_testkit::{FaultyStore, Kit, MemoryStore, StoreFailure, StoreOp};

/// How many tasks find at once that the lease is about to end.
const TASKS: usize = 64;

/// A process that has no lease yet, and its store.
async fn process() -> (Kit, FaultyStore) {
    let store = FaultyStore::new(Arc::new(MemoryStore::new()));
    let kit = Kit::builder().store(Arc::new(store.clone())).build().await;
    (kit, store)
}

/// Counts the writes of leases, and lets them fail as `failure` says.
fn counted(store: &FaultyStore, failure: Option<StoreFailure>) -> Arc<AtomicUsize> {
    let writes = Arc::new(AtomicUsize::new(0));
    let counter = writes.clone();
    store.plan(move |op| {
        let is_write = op == StoreOp::Presence;
        counter.fetch_add(usize::from(is_write), Ordering::SeqCst);
        failure.filter(|_| is_write)
    });
    writes
}

/// R28.
#[tokio::test]
async fn of_all_who_find_the_lease_about_to_end_one_renews_it() {
    let (kit, store) = process().await;
    let writes = counted(&store, None);
    let workers = kit.app.workers();
    let asked = (0..TASKS).map(|_| workers.ensure_alive());
    assert!(join_all(asked).await.iter().all(Result::is_ok));
    assert_eq!(writes.load(Ordering::SeqCst), 1);
    let known = kit.app.store().all::<Worker>(()).await.unwrap();
    assert!(known.len() == 1 && known[0].keeps_shards(kit.app.now()), "{known:?}");
}

/// R28.
#[tokio::test]
async fn a_renewal_that_fails_is_not_tried_by_all_who_waited_for_it() {
    let (kit, store) = process().await;
    let writes = counted(&store, Some(StoreFailure::Unavailable));
    let workers = kit.app.workers();
    let asked = (0..TASKS).map(|_| workers.ensure_alive());
    assert!(join_all(asked).await.iter().all(Result::is_err));
    assert_eq!(writes.load(Ordering::SeqCst), 1);
    store.heal();
    workers.ensure_alive().await.unwrap();
}

/// R28.
#[tokio::test]
async fn a_task_that_goes_away_while_it_renews_leaves_it_to_the_next() {
    let (kit, _store) = process().await;
    let workers = kit.app.workers();
    assert!(workers.ensure_alive().now_or_never().is_none(), "it goes away in the middle");
    workers.ensure_alive().await.unwrap();
}
