//! Some kills on one database, and the check of everything at the end.

use std::sync::Arc;
use std::time::{Duration, Instant};

use recado_testkit::gateways::{FakeWaha, WahaEngine};
use recado_tests::backend::Database;
use recado_tests::binary::Process;
use recado_tests::world::{operator_at, tenant_at};
use recado_tests::{GatewayServer, Receiver, StoreKind, text};
use serde_json::json;

use crate::check::{self, Seen};
use crate::load::{self, Acknowledged, Company, Moment};
use crate::tally::Tally;

/// What the server is started with.
const ARGS: [&str; 5] = [
    "--log",
    "warn",
    "--allow-private-destinations",
    "--webhook-retry-waits",
    "100ms,100ms,200ms,400ms",
];
/// How many of the kills come while the server migrates an empty database: one of so many.
const MIGRATING: usize = 8;
/// How often a start is killed too: one of so many.
const STARTING: usize = 4;

/// Kills a server so many times on a fresh database.
pub(crate) async fn run(kind: StoreKind, kills: usize, chance: &mut fastrand::Rng) -> Tally {
    let database = Database::fresh(kind);
    let folder = Arc::new(tempfile::tempdir().expect("a temporary folder"));
    let mut tally = Tally::default();
    // A first guess; afterwards it is measured.
    let mut start = Duration::from_millis(400);
    for _ in 0..kills.div_ceil(MIGRATING) {
        let wait = start.mul_f64(chance.f64());
        Process::cut_off(folder.clone(), &database, &ARGS, wait).await;
        tally.early_kills += 1;
    }
    let receiver = Receiver::start().await;
    let waha = FakeWaha::new(WahaEngine::Gows);
    let gateway = GatewayServer::start(waha.clone()).await;
    let mut process = Process::serve_in(folder.clone(), &database, &ARGS).await;
    let company = company(&process, &receiver, waha.settings_at(&gateway.url())).await;
    let mut acknowledged = Acknowledged::default();
    let mut round = 0;
    while tally.kills + tally.early_kills < kills {
        let moment = Moment {
            operations: chance.usize(1..80),
            wait: Duration::from_micros(chance.u64(0..20_000)),
        };
        acknowledged.extend(load::until_killed(process, &company, round, moment).await);
        tally.kills += 1;
        round += 1;
        while tally.kills + tally.early_kills < kills && chance.usize(0..STARTING) == 0 {
            let wait = start.mul_f64(chance.f64());
            Process::cut_off(folder.clone(), &database, &ARGS, wait).await;
            tally.early_kills += 1;
        }
        let began = Instant::now();
        process = Process::serve_in(folder.clone(), &database, &ARGS).await;
        start = began.elapsed();
    }
    tally.acknowledged = acknowledged.len();
    check::settled(process.addr, &company).await;
    let calls = waha.accepted().into_iter().map(|sent| sent.text).collect();
    let seen = Seen { calls, requests: receiver.to("/hook") };
    check::check(process.addr, &company, &acknowledged, &seen, &mut tally).await;
    process.kill().await;
    tally
}

async fn company(process: &Process, receiver: &Receiver, settings: serde_json::Value) -> Company {
    let addr = process.addr;
    let tenant = tenant_at(addr, "Acme", "enterprise").await;
    let make = async |path: &str, body| {
        text(&operator_at(addr, &tenant.id, "POST", path, body).await.expect(201)["id"])
    };
    let connection = json!({"kind": "qr", "name": "c", "identifier": "5511940028922",
        "gateway": "waha", "status": "connected", "settings": settings});
    let connection = make("C/connections", connection).await;
    make("C/webhooks", json!({"url": receiver.url("/hook"), "events": ["*"]})).await;
    Company { tenant, connection }
}
