//! A killed process (SIGKILL) loses no event of an acknowledged change, delivers no event of a
//! change that was not made, and delivers the same body at every attempt: D52, D52a.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use recado_tests::backend::Database;
use recado_tests::binary::Process;
use recado_tests::world::{Tenant, export_at, operator_at, tenant_at};
use recado_tests::{
    Received, Receiver, Reply, Request, StoreKind, both_stores, digits, eventually, join_all,
    mobile, phone, text, wamid,
};
use serde_json::{Value, json};

/// How often the process is killed. `RECADO_TEST_KILLS=20` selects the run before a release.
const ROUNDS: u32 = 2;
/// How many tasks create contacts, and how many post messages.
const WORKERS: u32 = 6;
/// One receiver fails one of this many deliveries, at the first attempt.
const FAILS_EVERY: u32 = 7;

fn rounds() -> u32 {
    let rounds = std::env::var("RECADO_TEST_KILLS").ok().and_then(|text| text.parse().ok());
    rounds.unwrap_or(ROUNDS)
}

/// A random number below `end`.
fn random(end: u64) -> u64 {
    RandomState::new().build_hasher().finish() % end
}

async fn serve(database: &Database) -> Process {
    let waits = "100ms,100ms,200ms,400ms";
    let args = ["--allow-private-destinations", "--webhook-retry-waits", waits];
    Process::serve(database, &args).await
}

async fn hook(addr: SocketAddr, us: &Tenant, url: &str) -> String {
    let body = json!({"url": url, "events": ["*"]});
    text(&operator_at(addr, &us.id, "POST", "C/webhooks", body).await.expect(201)["id"])
}

/// The acknowledged changes.
#[derive(Default)]
struct Done {
    /// The ids of contacts.
    contacts: Vec<String>,
    /// The contents of inbound messages.
    messages: Vec<String>,
}

/// Creates contacts and posts messages until the process is killed, at a random time.
async fn run(process: Process, us: &Tenant, qr: &str, round: u32) -> Done {
    let addr = process.addr;
    let (dead, done) = (AtomicBool::new(false), AtomicUsize::new(0));
    let creators = (0..WORKERS).map(|worker| {
        let (dead, done) = (&dead, &done);
        async move {
            let mut made = Vec::new();
            for n in 0.. {
                if dead.load(Ordering::SeqCst) {
                    break;
                }
                let number = round * 1_000_000 + worker * 100_000 + n;
                let body = json!({"phone": phone(number), "name": format!("é {number}")});
                let request = Request::new("POST", "/api/v1/contacts").bearer(&us.key).json(&body);
                let Some(answer) = request.try_send(addr).await else { break };
                if answer.status == 201 {
                    made.push(text(&answer.data()["contact"]["id"]));
                    done.fetch_add(1, Ordering::SeqCst);
                }
            }
            made
        }
    });
    let writers = (0..WORKERS).map(|worker| {
        let (dead, done) = (&dead, &done);
        async move {
            let mut stored = Vec::new();
            for n in 0.. {
                if dead.load(Ordering::SeqCst) {
                    break;
                }
                let content = format!("{round} {worker} {n}");
                let event = json!({
                    "kind": "message", "provider_message_id": wamid(),
                    "timestamp": "2026-11-20T12:00:00.000Z", "type": "text",
                    "from": digits(&mobile(5_000 + (worker * 37 + n) % 50)), "content": content,
                });
                let path = format!("/operator/v1/companies/{}/connections/{qr}/events", us.id);
                let request = Request::new("POST", path).bearer(recado_tests::OPERATOR);
                let request = request.json(&json!({"events": [event]}));
                let Some(answer) = request.try_send(addr).await else { break };
                if answer.status == 200 && answer.data()["results"][0]["result"] == "stored" {
                    stored.push(content);
                    done.fetch_add(1, Ordering::SeqCst);
                }
            }
            stored
        }
    });
    let killer = async {
        let enough = 30 + usize::try_from(random(220)).expect("a small number");
        let deadline = Instant::now() + Duration::from_secs(60);
        while done.load(Ordering::SeqCst) < enough {
            assert!(Instant::now() < deadline, "only {} calls", done.load(Ordering::SeqCst));
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        tokio::time::sleep(Duration::from_micros(random(20_000))).await;
        process.kill().await;
        dead.store(true, Ordering::SeqCst);
    };
    let (contacts, messages, ()) =
        tokio::join!(join_all(creators.collect()), join_all(writers.collect()), killer);
    Done { contacts: contacts.concat(), messages: messages.concat() }
}

async fn pending(addr: SocketAddr, us: &Tenant) -> u64 {
    let path = "C/deliveries?status=pending&limit=1";
    let answer = operator_at(addr, &us.id, "GET", path, Value::Null).await;
    answer.expect(200);
    answer.json()["pagination"]["total"].as_u64().expect("a number")
}

/// Waits until no delivery is pending. The deliveries of a dead process are taken over first.
async fn finished(addr: SocketAddr, us: &Tenant) {
    eventually("everything is settled", || async { (pending(addr, us).await == 0).then_some(()) })
        .await;
}

/// The ids of contacts and the contents of messages in the requests, by event.
fn reported(requests: &[Received]) -> BTreeMap<String, BTreeSet<String>> {
    let mut reported: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for request in requests {
        let (event, data) = (request.event(), request.data());
        let what = if event == "contact.created" { &data["id"] } else { &data["content"] };
        reported.entry(event).or_default().insert(text(what));
    }
    reported
}

#[both_stores]
async fn killed_at_any_moment_a_process_reports_what_happened_and_nothing_else(kind: StoreKind) {
    let database = Database::migrated(kind);
    let receiver = Receiver::start().await;
    let mut process = serve(&database).await;
    let us = tenant_at(process.addr, "Acme", "enterprise").await;
    let body = json!({
        "kind": "qr", "name": "c", "identifier": "+551140000000", "gateway": "simulated",
    });
    let qr = operator_at(process.addr, &us.id, "POST", "C/connections", body).await;
    let qr = text(&qr.expect(201)["id"]);
    for path in ["/a", "/b", "/fails"] {
        hook(process.addr, &us, &receiver.url(path)).await;
    }
    receiver.fails_every("/fails", FAILS_EVERY, 503);
    let mut all = Done::default();
    for round in 0..rounds() {
        // Usually the process has started to deliver when it is killed. Sometimes it is killed
        // before it has taken over the deliveries of the previous process.
        if round % 5 != 1 {
            finished(process.addr, &us).await;
        }
        let done = run(process, &us, &qr, round).await;
        assert!(!done.contacts.is_empty() && !done.messages.is_empty(), "there was a load");
        all.contacts.extend(done.contacts);
        all.messages.extend(done.messages);
        process = serve(&database).await;
    }
    finished(process.addr, &us).await;
    let existing: BTreeSet<String> =
        export_at(process.addr, &us.key, 100).await.into_iter().collect();
    for path in ["/a", "/b", "/fails"] {
        let requests = receiver.to(path);
        let reported = reported(&requests);
        let (contacts, messages) = (&reported["contact.created"], &reported["message.received"]);
        for id in &all.contacts {
            assert!(contacts.contains(id), "{path}: {id} was acknowledged and not told of");
        }
        for content in &all.messages {
            assert!(messages.contains(content), "{path}: {content} was not told of");
        }
        assert_eq!(*contacts, existing, "{path}: exactly what exists is told of");
        let mut bodies: BTreeMap<String, &Received> = BTreeMap::new();
        for request in &requests {
            let first = bodies.entry(request.delivery()).or_insert(request);
            assert_eq!(first.body, request.body, "{path}: the bytes stay the same");
        }
        let distinct = bodies.len();
        assert_eq!(distinct, contacts.len() + messages.len(), "{path}: once for each change");
    }
    let failed = "C/deliveries?status=failed&limit=1";
    let failed = operator_at(process.addr, &us.id, "GET", failed, Value::Null).await;
    assert_eq!(failed.json()["pagination"]["total"], 0, "{}", failed.show());
}

#[both_stores]
async fn an_attempt_cut_off_by_a_kill_is_made_again_and_not_counted(kind: StoreKind) {
    let database = Database::migrated(kind);
    let receiver = Receiver::start().await;
    let process = serve(&database).await;
    let us = tenant_at(process.addr, "Acme", "enterprise").await;
    hook(process.addr, &us, &receiver.url("/a")).await;
    receiver.then("/a", Reply::Never);
    let body = json!({"phone": phone(1)});
    let create = Request::new("POST", "/api/v1/contacts").bearer(&us.key).json(&body);
    create.send(process.addr).await.expect(201);
    receiver.reaches("/a", 1).await;
    process.kill().await;
    let process = serve(&database).await;
    let all = receiver.reaches("/a", 2).await;
    assert_eq!(all[0].body, all[1].body);
    let delivery = eventually("it is delivered", || async {
        let path = "C/deliveries?status=delivered";
        let list = operator_at(process.addr, &us.id, "GET", path, Value::Null).await;
        list.items().into_iter().next()
    })
    .await;
    assert_eq!(delivery["attempts"], 1);
    assert_eq!(receiver.count("/a"), 2);
}

#[both_stores]
async fn the_options_of_deliveries_hold_in_the_binary(kind: StoreKind) {
    let database = Database::migrated(kind);
    let receiver = Receiver::start().await;
    let args = [
        "--allow-private-destinations",
        "--webhook-retry-waits",
        "20ms,30ms,40ms,50ms",
        "--webhook-timeout",
        "3s",
    ];
    let process = Process::serve(&database, &args).await;
    let us = tenant_at(process.addr, "Acme", "enterprise").await;
    let id = hook(process.addr, &us, &receiver.url("/a")).await;
    receiver.then("/a", Reply::Never);
    receiver.answers("/a", Reply::status(500));
    let test = format!("C/webhooks/{id}/test");
    operator_at(process.addr, &us.id, "POST", &test, Value::Null).await.expect(200);
    let failed = eventually("it is given up", || async {
        let path = "C/deliveries?status=failed";
        let list = operator_at(process.addr, &us.id, "GET", path, Value::Null).await;
        list.items().into_iter().next()
    })
    .await;
    assert_eq!(failed["attempts"], 5);
    let path = format!("C/deliveries/{}", text(&failed["id"]));
    let detail = operator_at(process.addr, &us.id, "GET", &path, Value::Null).await.expect(200);
    let log = detail["attempt_log"].as_array().expect("a log");
    assert_eq!(log[0]["status_code"], Value::Null);
    let took = log[0]["duration_ms"].as_u64().expect("a number");
    assert!((2_900..9_000).contains(&took), "the timeout holds: {took}");
    assert!(log[1..].iter().all(|one| one["status_code"] == 500), "{log:?}");
    assert_eq!(receiver.count("/a"), 5);
    // Without the option the same webhook is not called any more, and no other one can be
    // registered.
    process.kill().await;
    let process = Process::serve(&database, &args[1..]).await;
    let connections = receiver.connections();
    let body = json!({"url": receiver.url("/b"), "events": ["*"]});
    let refused = operator_at(process.addr, &us.id, "POST", "C/webhooks", body).await;
    assert_eq!(refused.expect_invalid(), ["url"]);
    operator_at(process.addr, &us.id, "POST", &test, Value::Null).await.expect(200);
    eventually("it is given up as well", || async {
        let path = "C/deliveries?status=failed";
        let list = operator_at(process.addr, &us.id, "GET", path, Value::Null).await;
        (list.items().len() == 2).then_some(())
    })
    .await;
    assert_eq!(receiver.connections(), connections, "nothing was dialled");
}
