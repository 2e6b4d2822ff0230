//! Alerts about the database.

use std::time::Duration;

use recado_core::halts::Whereabouts;
use recado_core::ids::CompanyId;
use recado_testkit::StoreFailure;
use recado_tests::backend::Database;
use recado_tests::{
    Request, Setup, StoreKind, World, both_stores, eventually, join_all, on_postgres, phone,
};
use serde_json::json;

use crate::prometheus::Scrape;
use crate::watched::{Scrapes, alone};

async fn quiet(kind: StoreKind) -> World {
    World::with(kind, Setup { no_background: true, ..Setup::default() }).await
}

/// R282: the database cannot be reached.
#[both_stores]
async fn a_database_that_is_gone_is_reported(kind: StoreKind) {
    let _alone = alone().await;
    let world = quiet(kind).await;
    let mut scrapes = Scrapes::of(&world.server).await;
    world.server.store.fail_all(StoreFailure::Unavailable);
    for _ in 0..3 {
        for _ in 0..5 {
            world.get("/api/v1/contacts").await.expect_error(503, "UNAVAILABLE");
        }
        scrapes.read(&world.server).await;
    }
    scrapes.fires("RecadoNotReady");
    scrapes.fires("RecadoServerErrors");
    scrapes.fires("RecadoStoreErrors");
}

/// D76: `recado_ready` says what `/readyz` says.
#[both_stores]
async fn an_installation_that_is_closed_is_not_ready(kind: StoreKind) {
    let _alone = alone().await;
    let world = quiet(kind).await;
    let mut scrapes = Scrapes::of(&world.server).await;
    let ready = async |scrapes: &mut Scrapes| {
        let scrape = scrapes.read(&world.server).await;
        let status = world.send(Request::new("GET", "/readyz")).await.status;
        (scrape.value("recado_ready", &[]), status)
    };
    assert_eq!(ready(&mut scrapes).await, (1.0, 200));
    let halts = world.server.recado().halts();
    let company = CompanyId::parse(&world.us.id).expect("an id");
    halts.close(Some(company), None, Whereabouts::Here).await.expect("it is closed");
    assert_eq!(ready(&mut scrapes).await, (1.0, 200), "one company is moved alone");
    halts.open(Some(company)).await.expect("it is open");
    halts.close(None, Some("a test"), Whereabouts::Here).await.expect("it is closed");
    for _ in 0..3 {
        assert_eq!(ready(&mut scrapes).await, (0.0, 503));
    }
    scrapes.fires("RecadoNotReady");
    halts.open(None).await.expect("it is open");
    assert_eq!(ready(&mut scrapes).await, (1.0, 200));
}

/// R282: one read fails, and what was read before gets old.
#[both_stores]
async fn figures_that_cannot_be_read_are_reported(kind: StoreKind) {
    let _alone = alone().await;
    let world = quiet(kind).await;
    let mut scrapes = Scrapes::of(&world.server).await;
    world.server.store.fail_read("figures");
    world.advance(Duration::from_secs(180));
    let scrape = scrapes.read(&world.server).await;
    assert_eq!(scrape.value("recado_figures_age_seconds", &[]), 180.0);
    assert_eq!(scrape.value("recado_ready", &[]), 1.0);
    scrapes.fires("RecadoFiguresStale");
}

/// R282: each call of the database takes more than a second.
#[both_stores]
async fn a_database_that_is_slow_is_reported(kind: StoreKind) {
    let _alone = alone().await;
    let world = quiet(kind).await;
    let mut scrapes = Scrapes::of(&world.server).await;
    world.server.store.delay(Duration::from_millis(1_100));
    for n in 0..2 {
        world.post_contact(json!({"phone": phone(n)})).await.expect(201);
        world.get("/api/v1/contacts").await.expect(200);
        scrapes.scrape(world.addr).await;
    }
    scrapes.fires("RecadoStoreSlow");
    scrapes.fires("RecadoRequestsSlow");
}

/// R282: something holds a table, so that all connections of the pool wait.
#[on_postgres]
async fn a_pool_that_is_used_up_is_reported(kind: StoreKind) {
    let _alone = alone().await;
    let world = quiet(kind).await;
    let mut scrapes = Scrapes::of(&world.server).await;
    let Database::Postgres(database) = &world.database else { panic!("not on Postgres") };
    let (client, connection) =
        tokio_postgres::connect(database.url(), tokio_postgres::NoTls).await.expect("connects");
    tokio::spawn(connection);
    client.batch_execute("BEGIN; LOCK TABLE contacts").await.expect("locked");
    let calls = (0..30).map(|_| world.get("/api/v1/contacts"));
    let calls = join_all(calls.collect());
    let watching = async {
        let waiting = eventually("calls wait", || async {
            let scrape = Scrape::of(world.addr).await;
            let most = scrape.value("recado_postgres_pool_max_connections", &[]);
            let in_use = scrape.value("recado_postgres_pool_connections", &["in_use"]);
            let waiting = scrape.value("recado_postgres_pool_waiting", &[]);
            (in_use == most && waiting > 0.0).then_some(scrape)
        });
        let scrape = waiting.await;
        client.batch_execute("ROLLBACK").await.expect("released");
        scrape
    };
    let (answers, scrape) = futures_util::future::join(calls, watching).await;
    assert!(answers.iter().all(|answer| answer.status == 200));
    scrapes.add(scrape);
    scrapes.fires("RecadoPoolExhausted");
    // The next test finds it at rest.
    let after = Scrape::of(world.addr).await;
    assert_eq!(after.value("recado_postgres_pool_waiting", &[]), 0.0);
}

/// R281: writes at the same time share transactions, which the counters show.
#[both_stores]
async fn what_only_one_store_has_is_counted(kind: StoreKind) {
    let _alone = alone().await;
    let world = quiet(kind).await;
    let mut scrapes = Scrapes::of(&world.server).await;
    for n in 0..3 {
        world.post_contact(json!({"phone": phone(n)})).await.expect(201);
    }
    let scrape = scrapes.read(&world.server).await;
    assert!(scrape.value("recado_database_bytes", &[]) > 100_000.0);
    assert!(scrape.value("recado_journal_position", &[]) >= 3.0);
    match kind {
        StoreKind::Sqlite => {
            let transactions = scrape.value("recado_sqlite_transactions_total", &[]);
            let writes = scrape.value("recado_sqlite_writes_total", &[]);
            assert!(transactions >= 3.0 && writes >= transactions, "{transactions} {writes}");
            let free = scrape.value("recado_disk_free_bytes", &["database"]);
            assert!(free < scrape.value("recado_disk_size_bytes", &["database"]));
        }
        StoreKind::Postgres => {
            assert!(scrape.value("recado_postgres_pool_connections", &["idle"]) >= 1.0);
        }
    }
}
