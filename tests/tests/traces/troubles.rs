//! A collector that is away, slow or back, and the end of the process: R314.

use std::time::{Duration, Instant};

use recado_tests::backend::Database;
use recado_tests::world::tenant_at;
use recado_tests::{Receiver, Reply, Request, StoreKind, both_stores, eventually};

use crate::collector::{AT_ONCE, PATH, TIMEOUT, serve, spans};

/// A queue that is soon full.
const SMALL: &[&str] = &[
    "OTEL_BSP_SCHEDULE_DELAY=10",
    "OTEL_BSP_MAX_QUEUE_SIZE=32",
    "OTEL_BSP_MAX_EXPORT_BATCH_SIZE=16",
];

/// R314.
#[both_stores]
async fn a_collector_that_never_answers_costs_no_request_and_no_stop(kind: StoreKind) {
    let database = Database::migrated(kind);
    let collector = Receiver::start().await;
    collector.answers(PATH, Reply::Never);
    let process = serve(&database, &collector.url(""), SMALL, &[]).await;
    let us = tenant_at(process.addr, "Acme", "enterprise").await;
    collector.reaches(PATH, 1).await;
    let began = Instant::now();
    for _ in 0..60 {
        let list = Request::new("GET", "/api/v1/lists").bearer(&us.key);
        list.send(process.addr).await.expect(200);
    }
    // One that waited for the collector would have waited as long as the exporter does.
    assert!(began.elapsed() < TIMEOUT, "{:?}", began.elapsed());
    assert_eq!(collector.in_flight(PATH), 1, "the first batch is still under way");
    let began = Instant::now();
    process.signal("TERM").await;
    let (status, output) = process.ended().await;
    assert_eq!(status.code(), Some(0), "{output}");
    assert!(began.elapsed() < Duration::from_secs(8), "{:?}", began.elapsed());
}

/// R314.
#[both_stores]
async fn a_collector_that_is_away_is_told_of_once_and_so_is_its_return(kind: StoreKind) {
    let database = Database::migrated(kind);
    let collector = Receiver::start().await;
    collector.answers(PATH, Reply::status(400));
    let process = serve(&database, &collector.url(""), AT_ONCE, &[]).await;
    let ready = || Request::new("GET", "/readyz").send(process.addr);
    for batch in 1..=3 {
        assert_eq!(ready().await.status, 200);
        collector.reaches(PATH, batch).await;
    }
    let told = |line: &str| process.output().lines().filter(|one| one.contains(line)).count();
    eventually("it is told", || async { (told("traces cannot be exported") == 1).then_some(()) })
        .await;
    collector.answers(PATH, Reply::status(200));
    eventually("it is back", || async {
        ready().await;
        (told("traces are exported again") == 1).then_some(())
    })
    .await;
    assert_eq!(told("traces cannot be exported"), 1, "{}", process.output());
}

/// R314.
#[both_stores]
async fn the_last_spans_are_exported_at_the_end(kind: StoreKind) {
    let database = Database::migrated(kind);
    let collector = Receiver::start().await;
    let never = ["OTEL_BSP_SCHEDULE_DELAY=3600000"];
    // The end waits a second for the collector, which may be too little on a busy machine.
    for _ in 0..5 {
        let process = serve(&database, &collector.url(""), &never, &[]).await;
        Request::new("GET", "/healthz").send(process.addr).await.expect(200);
        assert_eq!(collector.count(PATH), 0, "no batch is due yet");
        process.signal("TERM").await;
        assert_eq!(process.ended().await.0.code(), Some(0));
        for _ in 0..50 {
            if spans(&collector).iter().any(|(span, _)| span.name == "GET /healthz") {
                return;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
    panic!("no last span is exported");
}
