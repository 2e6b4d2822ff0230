//! Notifications between processes by others than the store (R463).

use std::sync::Arc;

use recado_core::Recado;
use recado_testkit::kit::body;
use recado_testkit::{FaultyStore, Kit, MemoryStore, SeededIds};
use serde_json::json;

use super::delivery_worker_order::quiet;
use super::outbound::{Outbound, URL};

/// A process on the same data, with the signals of another model.
async fn process(
    outbound: &Outbound,
    store: &FaultyStore,
    signals: MemoryStore,
    seed: u64,
) -> Recado {
    Kit::builder()
        .store(Arc::new(store.clone()))
        .signals(Arc::new(signals))
        .ids(SeededIds::new(seed))
        .clock(outbound.kit.clock.clone())
        .transport(outbound.kit.transport.clone())
        .start()
        .await
}

/// R463.
#[tokio::test]
async fn signals_that_are_given_are_used_and_those_of_the_store_never() {
    let outbound = Outbound::new().await;
    outbound.webhook(URL, &["*"]).await;
    let ours = MemoryStore::new();
    let stores = [(); 2].map(|()| FaultyStore::new(Arc::new(outbound.model.clone())));
    let worker = process(&outbound, &stores[0], ours.another_process(), 5).await;
    let clock = outbound.kit.clock.clone();
    let running = tokio::spawn(async move {
        worker.deliveries().run(&clock, std::future::pending::<()>()).await;
    });
    quiet().await;
    let writer = process(&outbound, &stores[1], ours, 6).await;
    let new = body(json!({ "phone": "+5534991230001" }));
    writer.contacts().create(&outbound.kit.caller, &new).await.unwrap();
    // No time passes.
    outbound.receiver(URL).has_got(1).await;
    running.abort();
    for store in stores {
        let asked = store.asked();
        assert!(asked.contains("commit"), "{asked:?}");
        assert!(!asked.contains("notify") && !asked.contains("notified"), "{asked:?}");
    }
}
