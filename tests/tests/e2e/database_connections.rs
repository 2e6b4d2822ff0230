//! How many connections a process keeps to its Postgres (R465).

use recado_tests::backend::Database;
use recado_tests::binary::Process;
use recado_tests::world::tenant_at;
use recado_tests::{Request, StoreKind, join_all, on_postgres, phone};
use serde_json::json;

/// R465.
#[on_postgres]
async fn four_connections_carry_many_calls_at_once(kind: StoreKind) {
    let database = Database::migrated(kind);
    let process = Process::serve(&database, &["--database-connections", "4"]).await;
    let us = tenant_at(process.addr, "Acme", "enterprise").await;
    let calls = (0..60).map(|n| {
        let request = Request::new("POST", "/api/v1/contacts").bearer(&us.key);
        request.json(&json!({"phone": phone(n)})).send(process.addr)
    });
    for answer in join_all(calls.collect()).await {
        answer.expect(201);
    }
    let metrics = Request::new("GET", "/metrics").send(process.addr).await;
    let metrics = String::from_utf8_lossy(&metrics.body).into_owned();
    let most =
        metrics.lines().find(|line| line.starts_with("recado_postgres_pool_max_connections "));
    assert_eq!(most, Some("recado_postgres_pool_max_connections 4"));
}
