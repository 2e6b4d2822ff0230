//! Alerts about who calls.

use recado_tests::backend::Database;
use recado_tests::binary::Process;
use recado_tests::{Intake, Request, Setup, StoreKind, both_stores, phone};
use serde_json::json;
use tokio::net::TcpStream;

use crate::watched::{Scrapes, alone};

/// R282: all callers seem to be one, as behind a proxy that is not trusted.
#[both_stores]
async fn webhooks_that_are_refused_for_their_rate_are_reported(kind: StoreKind) {
    let _alone = alone().await;
    let world = Intake::with(kind, Setup { no_background: true, ..Setup::default() }).await;
    let endpoint = world.public("form").await;
    let mut scrapes = Scrapes::of(&world.server).await;
    for round in 0..3 {
        let mut refused = 0;
        for n in 0..400 {
            let body = json!({"phone": phone(round * 1_000 + n)});
            let answer = world.send(endpoint.request().json(&body)).await;
            refused += u32::from(answer.status == 429);
            if refused > 10 {
                break;
            }
        }
        assert!(refused > 10, "round {round}");
        scrapes.scrape(world.addr).await;
    }
    scrapes.fires("RecadoWebhooksLimited");
}

/// R282: somebody holds all connections that there are.
#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn connections_that_are_closed_for_others_are_reported() {
    let database = Database::migrated(StoreKind::Sqlite);
    let args = ["--trusted-proxies", "127.0.0.0/8"];
    let process = Process::serve_limited(&database, &args, "-n 160").await;
    let mut scrapes = Scrapes::at(process.addr).await;
    let mut held = Vec::new();
    for _ in 0..200 {
        held.push(TcpStream::connect(process.addr).await.expect("it connects"));
        if held.len() % 20 == 0 {
            Request::new("GET", "/healthz").send(process.addr).await.expect(200);
        }
    }
    scrapes.scrape(process.addr).await;
    scrapes.fires("RecadoConnectionsShed");
    process.kill().await;
}
