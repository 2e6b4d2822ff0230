//! The number of shards that a new Postgres is given (R464).

use std::collections::BTreeSet;

use recado_tests::backend::Database;
use recado_tests::binary::{Ended, Process, run_recado};
use recado_tests::world::tenant_at;
use recado_tests::{Received, Receiver, StoreKind, both_stores, eventually, on_postgres};

use crate::deliveries_two_processes::{create, divided_into, hooks_at, total};

async fn migrate(database: &Database, shards: &str) -> Ended {
    run_recado(["migrate", "--database", &database.url(), "--shards", shards], &[]).await
}

/// R464, R67.
#[on_postgres]
async fn processes_share_out_as_many_shards_as_were_chosen(_: StoreKind) {
    let database = Database::fresh(StoreKind::Postgres);
    for _ in 0..2 {
        let made = migrate(&database, "256").await;
        assert_eq!(made.code, Some(0), "{}", made.stderr);
        assert!(made.stdout.contains("256 shards"), "{}", made.stdout);
    }
    let serve = || Process::serve(&database, &["--allow-private-destinations"]);
    let (one, two) = (serve().await, serve().await);
    divided_into(&database, 256).await;
    let receiver = Receiver::start().await;
    let us = tenant_at(one.addr, "Acme", "enterprise").await;
    let paths = || (0..24).map(|n| format!("/{n}"));
    hooks_at(one.addr, &us, &receiver, paths()).await;
    create(two.addr, &us, 1).await;
    eventually("every webhook is told", || async {
        let told = |path: String| {
            let received = receiver.to(&path);
            received.iter().map(Received::delivery).collect::<BTreeSet<String>>().len() == 1
        };
        paths().all(told).then_some(())
    })
    .await;
    // A listing of what waits looks in all shards, too.
    eventually("nothing waits", || async {
        (total(one.addr, &us, "status=pending").await == 0).then_some(())
    })
    .await;
    assert_eq!(total(one.addr, &us, "status=delivered").await, 24);

    let refused = migrate(&database, "128").await;
    assert_eq!(refused.code, Some(1), "{}", refused.stdout);
    assert!(refused.stderr.contains("has 256 shards and is in use"), "{}", refused.stderr);
}

/// R464, D76: a move takes an installation to another number.
#[on_postgres]
async fn an_installation_moves_to_a_database_with_more_shards(_: StoreKind) {
    let databases = [(); 2].map(|()| Database::fresh(StoreKind::Postgres));
    let [source, target] = databases.each_ref().map(Database::url);
    let process = Process::serve(&databases[0], &[]).await;
    let us = tenant_at(process.addr, "Acme", "enterprise").await;
    create(process.addr, &us, 1).await;
    process.kill().await;
    assert_eq!(migrate(&databases[1], "128").await.code, Some(0));
    let moved = run_recado(["move", "--from", &source, "--to", &target], &[]).await;
    assert_eq!(moved.code, Some(0), "{}", moved.stderr);
    let serve = || Process::serve(&databases[1], &["--allow-private-destinations"]);
    let (one, two) = (serve().await, serve().await);
    divided_into(&databases[1], 128).await;
    create(one.addr, &us, 2).await;
    create(two.addr, &us, 3).await;
}

/// R464.
#[both_stores]
async fn a_number_of_shards_that_cannot_be_is_refused(kind: StoreKind) {
    let database = Database::fresh(kind);
    for wrong in ["0", "63", "100", "2048", "many"] {
        let refused = migrate(&database, wrong).await;
        assert_eq!(refused.code, Some(2), "{wrong}: {}", refused.stdout);
        assert!(refused.stderr.contains("64, 128, 256, 512 or 1024"), "{}", refused.stderr);
    }
    let many = migrate(&database, "512").await;
    assert_eq!(many.code, Some(if kind == StoreKind::Sqlite { 2 } else { 0 }), "{}", many.stderr);
}
