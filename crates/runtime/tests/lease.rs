//! The lease of a process is renewed whatever else hangs.

use std::sync::Arc;
use std::time::Duration;

use recado_core::store::RecordsExt;
use recado_core::workers::{LEASE, Worker};
use recado_runtime::{Background, TokioSpawner};
use recado_testkit::{FaultyStore, Kit, MemoryStore};

#[tokio::test(start_paused = true)]
async fn a_sweep_and_an_upkeep_that_hang_leave_the_lease_alive() {
    let store = FaultyStore::new(Arc::new(MemoryStore::new()));
    let builder = Kit::builder().store(Arc::new(store.clone())).spawner(TokioSpawner);
    let kit = builder.build().await;
    store.hang_upkeep();
    let background = Background::spawn(&kit.app);
    let second = Duration::from_secs(1);
    for _ in 0..3 * LEASE.as_secs() {
        tokio::time::sleep(second).await;
        kit.clock.advance(second);
    }
    for hanging in ["sweep_outbox", "upkeep"] {
        assert!(store.asked().contains(hanging), "{hanging} was not called");
    }
    let workers = kit.store.all::<Worker>(()).await.expect("read");
    assert_eq!(workers.len(), 1);
    assert!(workers[0].is_alive(kit.app.now()), "{workers:?}");
    drop(background);
}
