//! Fail-overs of a Postgres that Patroni keeps, under load: scripts/patroni.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use recado_tests::binary::Process;
use recado_tests::world::{Tenant, export_at};
use recado_tests::{OPERATOR, Request, join_all, phone, text};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::era::Scene;
use crate::load::{self, Pace};
use crate::tally::Tally;

/// How long after the promotion each server may take until it acknowledges a write. It takes a
/// second or two, which is printed; a busy machine takes longer, and one that hangs for ever.
const BACK_WITHIN: Duration = Duration::from_secs(20);
/// How long a fail-over may take: Patroni waits for twenty seconds for the primary's lock to end.
const FAILED_OVER_WITHIN: Duration = Duration::from_secs(60);
/// How long a call of a node or a server may take.
const ANSWERS_WITHIN: Duration = Duration::from_secs(3);
/// How long the network between a server and its database is away.
const NETWORK_AWAY: Duration = Duration::from_secs(8);
/// Between two calls of one of twelve tasks: the machine is shared with three databases.
const PAUSE: Duration = Duration::from_millis(100);

/// The cluster. It is stopped when this is dropped.
struct Cluster {
    folder: PathBuf,
    /// The database's URL with all nodes, and that by way of HAProxy.
    hosts: String,
    proxy: String,
    /// The addresses of Patroni on each node.
    rest: Vec<SocketAddr>,
}

impl Cluster {
    fn start(folder: &Path) -> Self {
        let said = script(folder, &["start"]);
        let value = |name: &str| {
            let line = said.lines().find_map(|line| line.strip_prefix(&format!("{name}=")));
            line.unwrap_or_else(|| panic!("no {name} in {said}")).trim_matches('\'').to_owned()
        };
        let rest = ["rest1", "rest2", "rest3"].map(|name| value(name).parse().expect("an address"));
        Self {
            folder: folder.to_owned(),
            hosts: value("hosts"),
            proxy: value("proxy"),
            rest: rest.to_vec(),
        }
    }

    fn run(&self, what: &[&str]) -> String {
        script(&self.folder, what)
    }

    /// The number of the node that says of itself that it is the primary, other than `but`.
    async fn primary(&self, but: Option<usize>) -> Option<usize> {
        // All at once: one that is frozen must not hide another.
        let ask = |(at, addr): (usize, SocketAddr)| async move {
            let asked = Request::new("GET", "/primary").try_send(addr);
            let asked = tokio::time::timeout(ANSWERS_WITHIN, asked).await;
            let is_primary = asked.ok().flatten().is_some_and(|answer| answer.status == 200);
            is_primary.then_some(at)
        };
        let others = (1..).zip(self.rest.iter().copied()).filter(|(at, _)| Some(*at) != but);
        join_all(others.map(ask).collect()).await.into_iter().flatten().next()
    }

    /// Waits until another node than `old` is the primary.
    async fn promoted(&self, old: Option<usize>) -> usize {
        let began = Instant::now();
        loop {
            if let Some(new) = self.primary(old).await {
                return new;
            }
            assert!(began.elapsed() < FAILED_OVER_WITHIN, "no other node became the primary");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    /// Waits until all nodes run, two of them as standbys, of which one is synchronous.
    async fn whole(&self) {
        let began = Instant::now();
        while !self.is_whole().await {
            assert!(
                began.elapsed() < FAILED_OVER_WITHIN,
                "the cluster is not whole again: {}",
                self.last_lines()
            );
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    }

    /// The last lines of the logs of its nodes.
    fn last_lines(&self) -> String {
        let of = |number: usize| {
            let path = self.folder.join(format!("node{number}.log"));
            let log = std::fs::read_to_string(path).unwrap_or_default();
            let lines: Vec<&str> = log.lines().collect();
            let last = lines[lines.len().saturating_sub(60)..].join("\n");
            format!("node {number}:\n{last}\n")
        };
        (1..=self.rest.len()).map(of).collect()
    }

    async fn is_whole(&self) -> bool {
        let Some(primary) = self.primary(None).await else { return false };
        let asked = Request::new("GET", "/cluster").try_send(self.rest[primary - 1]).await;
        let Some(answer) = asked else { return false };
        let members = answer.json()["members"].as_array().cloned().unwrap_or_default();
        let streams = |role: &str| {
            let is = |member: &&serde_json::Value| {
                member["role"] == role
                    && ["running", "streaming"].contains(&text(&member["state"]).as_str())
            };
            members.iter().filter(is).count()
        };
        streams("leader") == 1 && streams("sync_standby") == 1 && streams("replica") == 1
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.run(&["stop"]);
    }
}

/// Runs scripts/patroni for a folder.
fn script(folder: &Path, what: &[&str]) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/patroni");
    let (verb, rest) = what.split_first().expect("a command");
    let ran = Command::new(path).arg(verb).arg(folder).args(rest).output().expect("it runs");
    let (said, why) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    // What is missing on this machine is said by this status.
    if ran.status.code() == Some(3) {
        println!("{why}");
        std::process::exit(3);
    }
    assert!(ran.status.success() || *verb == "stop", "scripts/patroni {verb}: {said}{why}");
    said.into_owned()
}

/// A network in between, which can be away: what is sent then arrives later.
struct Network {
    addr: SocketAddr,
    is_away: Arc<AtomicBool>,
}

impl Network {
    async fn to(target: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
        let addr = listener.local_addr().expect("it is bound");
        let is_away = Arc::new(AtomicBool::new(false));
        let shared = is_away.clone();
        tokio::spawn(async move {
            while let Ok((near, _)) = listener.accept().await {
                let is_away = shared.clone();
                tokio::spawn(async move {
                    let Ok(far) = TcpStream::connect(target).await else { return };
                    let ((near_in, near_out), (far_in, far_out)) =
                        (near.into_split(), far.into_split());
                    tokio::join!(
                        forward(near_in, far_out, &is_away),
                        forward(far_in, near_out, &is_away)
                    );
                });
            }
        });
        Self { addr, is_away }
    }
}

async fn forward(
    mut from: tokio::net::tcp::OwnedReadHalf,
    mut to: tokio::net::tcp::OwnedWriteHalf,
    is_away: &AtomicBool,
) {
    let mut bytes = vec![0; 64 * 1024];
    while let Ok(count @ 1..) = from.read(&mut bytes).await {
        while is_away.load(Ordering::Relaxed) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        if to.write_all(&bytes[..count]).await.is_err() {
            return;
        }
    }
}

/// Reads an export slowly, by a page of five contacts at a time, at the servers in turns, until the
/// end of everything: the ids that it has seen.
async fn export(addrs: &[SocketAddr], key: &str, is_over: &AtomicBool) -> Vec<String> {
    let (mut seen, mut cursor) = (Vec::new(), String::new());
    for turn in 0.. {
        tokio::time::sleep(Duration::from_millis(100)).await;
        if is_over.load(Ordering::Relaxed) {
            break;
        }
        let path = format!("/api/v1/contacts?order_by=created_at&limit=5{cursor}");
        let call = Request::new("GET", path).bearer(key).try_send(addrs[turn % addrs.len()]);
        let Some(answer) = call.await.filter(|answer| answer.status == 200) else { continue };
        // The last page is read again, once there is a next one.
        if let Some(next) = answer.json()["pagination"]["next_cursor"].as_str() {
            seen.extend(answer.ids());
            cursor = format!("&cursor={next}");
        }
    }
    seen
}

/// A connection to a node that was opened before a fault.
struct Stale(tokio_postgres::Client);

impl Stale {
    async fn to(cluster: &Cluster, node: usize) -> Self {
        // The nodes' ports follow each other in the URL of all.
        let hosts = cluster.hosts.split(['@', '/']).find(|part| part.contains(','));
        let host = hosts.and_then(|hosts| hosts.split(',').nth(node - 1)).expect("three nodes");
        let url = format!("postgres://recado:recado@{host}/recado");
        let connected = tokio_postgres::connect(&url, tokio_postgres::NoTls).await;
        let (client, connection) = connected.expect("the primary is there");
        tokio::spawn(connection);
        let table = "CREATE TABLE IF NOT EXISTS stale_writes (n int)";
        client.batch_execute(table).await.expect("it can be written");
        Self(client)
    }

    /// Asserts that no write by it is acknowledged, now that another node is the primary.
    async fn is_refused(&self) {
        let write = self.0.batch_execute("INSERT INTO stale_writes VALUES (1)");
        let written = tokio::time::timeout(Duration::from_secs(10), write).await;
        assert!(!matches!(written, Ok(Ok(()))), "the old primary acknowledged a write");
    }
}

/// How long a server takes until it acknowledges a write.
async fn is_back(addr: SocketAddr, us: &Tenant) -> Duration {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let began = Instant::now();
    loop {
        let number = 14_000_000 + COUNT.fetch_add(1, Ordering::Relaxed);
        let body = json!({"phone": phone(u32::try_from(number).expect("few"))});
        let call = Request::new("POST", "/api/v1/contacts").bearer(&us.key).json(&body);
        let call = tokio::time::timeout(ANSWERS_WITHIN, call.try_send(addr)).await;
        if call.ok().flatten().is_some_and(|answer| answer.status == 201) {
            return began.elapsed();
        }
        assert!(began.elapsed() < FAILED_OVER_WITHIN, "no write is acknowledged");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Asserts that both servers acknowledge writes again, and prints how soon.
async fn both_back(fault: &str, addrs: &[SocketAddr; 2], us: &Tenant) {
    let (hosts, proxy) = tokio::join!(is_back(addrs[0], us), is_back(addrs[1], us));
    println!("{fault}: back after {hosts:.1?} (all hosts named), {proxy:.1?} (HAProxy)");
    assert!(hosts.max(proxy) <= BACK_WITHIN, "it takes too long");
}

/// Plays all faults, and counts what was acknowledged and is gone.
pub(crate) async fn run() -> Tally {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let cluster = Cluster::start(&folder.path().join("cluster"));
    let proxy = cluster.proxy.split(['@', '/']).find_map(|part| part.parse().ok());
    let proxy: SocketAddr = proxy.expect("an address");
    let network = Network::to(proxy).await;
    let through = cluster.proxy.replace(&proxy.to_string(), &network.addr.to_string());
    let home = Arc::new(tempfile::tempdir().expect("a temporary folder"));
    let mut servers = Vec::new();
    for url in [&cluster.hosts, &through] {
        let args = [
            "serve",
            "--listen",
            "127.0.0.1:0",
            "--database",
            url,
            "--operator-token",
            OPERATOR,
            "--log",
            "error",
            "--allow-private-destinations",
            "--webhook-retry-waits",
            "100ms,100ms,200ms,400ms",
        ];
        servers.push(Process::start(home.clone(), &args).await);
    }
    let addrs = [servers[0].addr, servers[1].addr];
    let scene = Scene::start(2).await;
    let (company, campaign) = scene.company(addrs[0]).await;
    let us = &company.tenant;
    let (is_over, done) = (AtomicBool::new(false), AtomicUsize::new(0));
    let faults = async {
        play(&cluster, &network, &addrs, us).await;
        is_over.store(true, Ordering::Relaxed);
    };
    let load = load::until(faults, &addrs, &company, Pace { round: 0, pause: PAUSE }, &done);
    let (acknowledged, exported) = tokio::join!(load, export(&addrs, &us.key, &is_over));
    let mut tally = Tally::default();
    let written = Stale::to(&cluster, cluster.promoted(None).await).await;
    let written = written.0.query("SELECT n FROM stale_writes", &[]).await.expect("it is read");
    tally.untrue += written.len();
    scene.check(addrs[0], (&company, &campaign), &acknowledged, &mut tally).await;
    let all = export_at(addrs[1], &us.key, 100).await;
    println!("an export read {} of {} contacts meanwhile", exported.len(), all.len());
    if exported.len() < 50 || all[..exported.len()] != exported[..] {
        println!("it skipped or repeated some");
        tally.lost += 1;
    }
    for server in servers {
        server.kill().await;
    }
    tally
}

/// The faults, each once the cluster is whole: with two of them at once Patroni has no standby that
/// has everything.
async fn play(cluster: &Cluster, network: &Network, addrs: &[SocketAddr; 2], us: &Tenant) {
    let primary = async || {
        cluster.whole().await;
        cluster.promoted(None).await
    };

    let old = primary().await;
    let stale = Stale::to(cluster, old).await;
    cluster.run(&["switchover", &old.to_string()]);
    cluster.promoted(Some(old)).await;
    both_back("switchover", addrs, us).await;
    stale.is_refused().await;

    let etcd = cluster.run(&["kill-etcd"]);
    both_back("etcd's leader killed", addrs, us).await;
    cluster.run(&["etcd", etcd.trim()]);

    network.is_away.store(true, Ordering::Relaxed);
    tokio::time::sleep(NETWORK_AWAY).await;
    network.is_away.store(false, Ordering::Relaxed);
    both_back("network away and back", addrs, us).await;

    let old = primary().await;
    cluster.run(&["freeze", &old.to_string()]);
    cluster.promoted(Some(old)).await;
    both_back("primary frozen", addrs, us).await;
    // What others write there before Patroni demotes it, Postgres may acknowledge. The servers have
    // left it (R457): what they acknowledge is looked for at the end.
    cluster.run(&["thaw", &old.to_string()]);
    both_back("old primary goes on", addrs, us).await;

    let old = primary().await;
    cluster.run(&["kill", &old.to_string()]);
    cluster.promoted(Some(old)).await;
    both_back("primary killed", addrs, us).await;
    cluster.run(&["node", &old.to_string()]);
    cluster.whole().await;
}
