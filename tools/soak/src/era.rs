//! Some kills on one database, and the check of everything at the end.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use recado_testkit::gateways::{FakeCloud, FakeWaha, WahaEngine};
use recado_tests::backend::Database;
use recado_tests::binary::Process;
use recado_tests::world::{operator_at, tenant_at};
use recado_tests::{GatewayServer, Receiver, StoreKind, digits, text};
use serde_json::json;

use crate::campaign::{self, Campaign};
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

/// How many webhooks there are where several servers share them.
const WEBHOOKS: usize = 8;

/// Kills servers so many times on a fresh database, on which so many run.
pub(crate) async fn run(
    kind: StoreKind,
    kills: usize,
    processes: usize,
    chance: &mut fastrand::Rng,
) -> Tally {
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
    let scene = Scene::start(if processes == 1 { 1 } else { WEBHOOKS }).await;
    let mut running = Vec::new();
    for _ in 0..processes {
        running.push(Process::serve_in(folder.clone(), &database, &ARGS).await);
    }
    let addr = running.first().expect("one at least").addr;
    let (company, campaign) = scene.company(addr).await;
    let mut acknowledged = Acknowledged::default();
    let mut round = 0;
    while tally.kills + tally.early_kills < kills {
        let moment = Moment {
            victim: chance.usize(0..running.len()),
            operations: chance.usize(1..80),
            wait: Duration::from_micros(chance.u64(0..20_000)),
        };
        let killing = load::until_killed(&mut running, &company, round, moment);
        if processes == 1 {
            acknowledged.extend(killing.await);
        } else {
            let newcomer = Process::serve_in(folder.clone(), &database, &ARGS);
            let (more, newcomer) = tokio::join!(killing, newcomer);
            acknowledged.extend(more);
            running.push(newcomer);
        }
        tally.kills += 1;
        round += 1;
        while tally.kills + tally.early_kills < kills && chance.usize(0..STARTING) == 0 {
            let wait = start.mul_f64(chance.f64());
            Process::cut_off(folder.clone(), &database, &ARGS, wait).await;
            tally.early_kills += 1;
        }
        if processes == 1 {
            let began = Instant::now();
            running.push(Process::serve_in(folder.clone(), &database, &ARGS).await);
            start = began.elapsed();
        }
    }
    let addr = running.first().expect("one at least").addr;
    scene.check(addr, (&company, &campaign), &acknowledged, &mut tally).await;
    for process in running {
        process.kill().await;
    }
    tally
}

/// What a server talks to.
pub(crate) struct Scene {
    receiver: Receiver,
    waha: FakeWaha,
    cloud: FakeCloud,
    gateways: [GatewayServer; 2],
    /// The paths of webhooks.
    hooks: Vec<String>,
}

impl Scene {
    /// Two gateways, and a receiver of so many webhooks.
    pub(crate) async fn start(webhooks: usize) -> Self {
        let (waha, cloud) = (FakeWaha::new(WahaEngine::Gows), FakeCloud::new());
        let gateways =
            [GatewayServer::start(waha.clone()).await, GatewayServer::start(cloud.clone()).await];
        let hooks = (0..webhooks).map(|number| format!("/hook/{number}")).collect();
        Self { receiver: Receiver::start().await, waha, cloud, gateways, hooks }
    }

    /// A company with a connection, webhooks and a campaign that has started.
    pub(crate) async fn company(&self, addr: SocketAddr) -> (Company, Campaign) {
        let tenant = tenant_at(addr, "Acme", "enterprise").await;
        let make = async |path: &str, body| {
            operator_at(addr, &tenant.id, "POST", path, body).await.expect(201)
        };
        let [waha, cloud] = self.gateways.each_ref().map(GatewayServer::url);
        let connection = json!({"kind": "qr", "name": "c", "identifier": "5511940028922",
            "gateway": "waha", "status": "connected", "settings": self.waha.settings_at(&waha)});
        let connection = text(&make("C/connections", connection).await["id"]);
        for path in &self.hooks {
            let webhook = json!({"url": self.receiver.url(path), "events": ["*"]});
            make("C/webhooks", webhook).await;
        }
        let key = make("C/keys", json!({"name": "journal", "scopes": ["events:read"]})).await;
        let journal_key = text(&key["key"]);
        let settings = json!(self.cloud.settings(&cloud));
        let campaign = campaign::start(addr, &tenant, settings).await;
        (Company { tenant, connection, journal_key }, campaign)
    }

    /// Waits until nothing is under way, and checks everything.
    pub(crate) async fn check(
        &self,
        addr: SocketAddr,
        (company, campaign): (&Company, &Campaign),
        acknowledged: &Acknowledged,
        tally: &mut Tally,
    ) {
        tally.acknowledged = acknowledged.len();
        check::settled(addr, company, campaign).await;
        let seen = Seen {
            calls: self.waha.accepted().into_iter().map(|sent| sent.text).collect(),
            written_to: self.cloud.accepted().into_iter().map(|sent| digits(&sent.to)).collect(),
            requests: self.hooks.iter().map(|path| self.receiver.to(path)).collect(),
        };
        check::check(addr, company, campaign, acknowledged, &seen, tally).await;
    }
}
