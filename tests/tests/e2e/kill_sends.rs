//! A killed process (SIGKILL) loses no acknowledged message, sends none twice and leaves none
//! pending: D31, D36, D37.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use recado_tests::backend::Database;
use recado_tests::binary::Process;
use recado_tests::world::{Tenant, operator_at, tenant_at};
use recado_tests::{
    Request, ScriptedAnswer, StoreKind, both_stores, digits, eventually, join_all, mobile, steered,
    text, wamid,
};
use serde_json::{Value, json};

/// How often the process is killed. `RECADO_TEST_KILLS=10` selects the run before a release.
const ROUNDS: u32 = 2;
/// How many sends, and how many inbound messages, each round starts.
const CALLS: u32 = 500;
/// How many each round starts before a release.
const CALLS_BEFORE_A_RELEASE: u32 = 1_000;
/// How long a message of the dead process may be pending after a restart.
const RECORDED_WITHIN: Duration = Duration::from_secs(16);
/// How many lines of its log a process may not have written yet when it is killed.
const UNWRITTEN_LINES: u32 = 20;

/// The number of rounds, and the number of calls in each.
fn load() -> (u32, u32) {
    let rounds = std::env::var("RECADO_TEST_KILLS").ok().and_then(|text| text.parse().ok());
    rounds.map_or((ROUNDS, CALLS), |rounds| (rounds, CALLS_BEFORE_A_RELEASE))
}

async fn connection(addr: SocketAddr, us: &Tenant, kind: &str) -> String {
    let body = json!({
        "kind": kind, "name": "c", "identifier": "+551140000000", "gateway": "simulated",
        "settings": {"delay_ms": 20},
    });
    text(&operator_at(addr, &us.id, "POST", "C/connections", body).await.expect(201)["id"])
}

async fn get(addr: SocketAddr, us: &Tenant, path: &str) -> ScriptedAnswer {
    Request::new("GET", path).bearer(&us.key).send(addr).await
}

/// Every message of the company, by id.
async fn messages(addr: SocketAddr, us: &Tenant) -> BTreeMap<String, Value> {
    let mut all = BTreeMap::new();
    for page in 1.. {
        let answer = get(addr, us, &format!("/api/v1/messages?limit=100&page={page}")).await;
        answer.expect(200);
        let items = answer.items();
        if items.is_empty() {
            break;
        }
        all.extend(items.into_iter().map(|item| (text(&item["id"]), item)));
    }
    all
}

async fn pending(addr: SocketAddr, us: &Tenant) -> u64 {
    let answer = get(addr, us, "/api/v1/messages?status=pending&limit=1").await;
    answer.expect(200);
    answer.json()["pagination"]["total"].as_u64().expect("a number")
}

/// The references in the calls to the simulated gateway, according to the log.
fn provider_calls(log: &str) -> Vec<String> {
    let of_calls = log.lines().filter(|line| line.contains("recado::simulated"));
    let after = of_calls.filter_map(|line| line.split("reference").nth(1));
    after
        .map(|rest| {
            let id = rest.trim_start_matches(|c: char| !c.is_ascii_hexdigit());
            id.chars().take_while(|c| c.is_ascii_hexdigit() || *c == '-').collect()
        })
        .collect()
}

struct Round {
    /// The ids of sends that were answered with 200.
    sent: Vec<String>,
    /// The provider ids of inbound messages that were answered with `stored`.
    stored: Vec<String>,
}

/// Sends and receives until the process is killed, after half of the calls.
async fn run(process: Process, us: &Tenant, qr: &str, round: u32, calls: u32) -> (Round, String) {
    let addr = process.addr;
    let done = Arc::new(AtomicUsize::new(0));
    let dead = AtomicBool::new(false);
    let workers = 10;
    let sends = (0..workers).map(|worker| {
        let (done, dead) = (&done, &dead);
        async move {
            let mut sent = Vec::new();
            for n in 0..calls / workers {
                if dead.load(Ordering::SeqCst) {
                    break;
                }
                let to = mobile((round * 7 + worker * 31 + n) % 200);
                let body = json!({"to": to, "message": format!("{round} {worker} {n}"), "connection_id": qr});
                let request = Request::new("POST", "/api/v1/send/message").bearer(&us.key);
                let Some(answer) = request.json(&body).try_send(addr).await else { break };
                if answer.status == 200 {
                    sent.push(text(&answer.data()["message_id"]));
                    done.fetch_add(1, Ordering::SeqCst);
                }
            }
            sent
        }
    });
    let inbound = (0..workers).map(|worker| {
        let (done, dead) = (&done, &dead);
        async move {
            let mut stored = Vec::new();
            for n in 0..calls / workers {
                if dead.load(Ordering::SeqCst) {
                    break;
                }
                let id = wamid();
                let event = json!({
                    "kind": "message", "provider_message_id": id,
                    "timestamp": "2026-11-20T12:00:00.000Z",
                    "from": digits(&mobile(300 + (worker * 37 + n) % 100)), "type": "text",
                    "content": format!("{round} {worker} {n}"),
                });
                let path = format!("/operator/v1/companies/{}/connections/{qr}/events", us.id);
                let request = Request::new("POST", path).bearer(recado_tests::OPERATOR);
                let request = request.json(&json!({"events": [event]}));
                let Some(answer) = request.try_send(addr).await else { break };
                if answer.status == 200 && answer.data()["results"][0]["result"] == "stored" {
                    stored.push(id);
                    done.fetch_add(1, Ordering::SeqCst);
                }
            }
            stored
        }
    });
    let killer = async {
        let enough = (calls as usize).max(100) * 2 / 3;
        let deadline = Instant::now() + Duration::from_secs(300);
        while done.load(Ordering::SeqCst) < enough {
            assert!(Instant::now() < deadline, "only {} calls", done.load(Ordering::SeqCst));
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        dead.store(true, Ordering::SeqCst);
        process.kill_and_read().await
    };
    let (sent, stored, log) =
        tokio::join!(join_all(sends.collect()), join_all(inbound.collect()), killer);
    let round = Round { sent: sent.concat(), stored: stored.concat() };
    (round, log)
}

#[both_stores]
async fn a_killed_process_loses_no_message_sends_none_twice_and_leaves_none_pending(
    kind: StoreKind,
) {
    let (rounds, calls) = load();
    let database = Database::migrated(kind);
    let mut process = Process::serve(&database, &["--log", "info"]).await;
    let us = tenant_at(process.addr, "Acme", "enterprise").await;
    let qr = connection(process.addr, &us, "qr").await;
    let mut called: Vec<String> = Vec::new();
    let (mut sent, mut stored, mut all) = (Vec::new(), Vec::new(), BTreeMap::new());
    for round in 0..rounds {
        let (done, log) = run(process, &us, &qr, round, calls).await;
        called.extend(provider_calls(&log));
        assert!(!done.sent.is_empty() && !done.stored.is_empty(), "there was a load");
        sent.extend(done.sent);
        stored.extend(done.stored);
        process = Process::serve(&database, &["--log", "info"]).await;
        let restarted = Instant::now();
        while pending(process.addr, &us).await > 0 {
            assert!(restarted.elapsed() < RECORDED_WITHIN, "messages stay pending");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        all = messages(process.addr, &us).await;
        for id in &sent {
            let found = all.get(id).unwrap_or_else(|| panic!("{id} was acknowledged, and is lost"));
            let status = text(&found["status"]);
            assert!(["sent", "delivered", "read"].contains(&status.as_str()), "{found}");
        }
        let kept: BTreeSet<String> = all.values().map(|one| text(&one["wamid"])).collect();
        for id in &stored {
            assert!(kept.contains(id), "{id} was acknowledged, and is lost");
        }
        let failed = all.values().filter(|one| one["status"] == "failed");
        for one in failed {
            assert_eq!(one["error_type"], "delivery_uncertain", "{one}");
            assert_eq!(one["delivery_error"]["code"], "DELIVERY_UNCERTAIN");
        }
        let inbound = all.values().filter(|one| one["direction"] == "inbound");
        let ids: Vec<String> = inbound.map(|one| text(&one["wamid"])).collect();
        let distinct: BTreeSet<&String> = ids.iter().collect();
        assert_eq!(distinct.len(), ids.len(), "an inbound message is stored once");
    }
    called.extend(provider_calls(&process.kill_and_read().await));
    let distinct: BTreeSet<&String> = called.iter().collect();
    assert_eq!(distinct.len(), called.len(), "a message was handed to the provider twice");
    // The line of a call may be lost with the process; only the gateway gives such an id.
    let unseen: Vec<&String> = sent.iter().filter(|id| !distinct.contains(id)).collect();
    assert!(unseen.len() <= (UNWRITTEN_LINES * rounds) as usize, "{}", unseen.len());
    for id in unseen {
        let wamid = text(&all[id]["wamid"]);
        assert!(wamid.starts_with("sim."), "{id} was acknowledged without a call: {wamid}");
    }
    let events = database.events(&us.id).await;
    let announced: Vec<String> = events
        .iter()
        .filter(|one| one.event == "message.sent")
        .map(|one| text(&one.data["message_id"]))
        .collect();
    let distinct: BTreeSet<&String> = announced.iter().collect();
    assert_eq!(distinct.len(), announced.len(), "message.sent is emitted once");
    for id in &sent {
        assert!(distinct.contains(id), "{id} has no message.sent");
    }
}

#[both_stores]
async fn a_send_cut_off_by_a_kill_is_uncertain_and_its_key_never_sends_again(kind: StoreKind) {
    let database = Database::migrated(kind);
    let process = Process::serve(&database, &[]).await;
    let us = tenant_at(process.addr, "Acme", "enterprise").await;
    let cloud = connection(process.addr, &us, "official_cloud").await;
    let addr = process.addr;
    let body = json!({"to": steered(5), "message": "oi", "connection_id": cloud});
    let call = Request::new("POST", "/api/v1/send/message")
        .bearer(&us.key)
        .header("idempotency-key", "once")
        .json(&body);
    let caller = tokio::spawn(call.clone().try_send(addr));
    // The line of the call reaches the log a moment after the call (R162).
    eventually("it is pending, and was handed to the provider", || async {
        let called = !provider_calls(&process.output()).is_empty();
        (called && pending(addr, &us).await == 1).then_some(())
    })
    .await;
    let log = process.kill_and_read().await;
    assert!(caller.await.expect("it ends").is_none(), "there was no answer");
    assert_eq!(provider_calls(&log).len(), 1, "{log}");
    let process = Process::serve(&database, &[]).await;
    let addr = process.addr;
    let failed = eventually("it is settled", || async {
        let all = messages(addr, &us).await;
        assert_eq!(all.len(), 1);
        all.into_values().find(|one| one["status"] == "failed")
    })
    .await;
    assert_eq!(failed["error_type"], "delivery_uncertain");
    assert_eq!(failed["delivery_error"]["code"], "DELIVERY_UNCERTAIN");
    let again = call.clone().send(addr).await;
    again.expect_error(502, "DELIVERY_UNCERTAIN");
    let again = call.send(addr).await;
    again.expect_error(502, "DELIVERY_UNCERTAIN");
    assert_eq!(messages(addr, &us).await.len(), 1);
    assert!(provider_calls(&process.kill_and_read().await).is_empty(), "nothing is resent");
    let events = database.events(&us.id).await;
    let updates: Vec<&Value> = events
        .iter()
        .filter(|one| one.event == "message.status_updated")
        .map(|one| &one.data)
        .collect();
    assert_eq!(updates.len(), 1);
    assert_eq!(updates[0]["previous_status"], "pending");
    assert_eq!(updates[0]["status"], "failed");
}

#[both_stores]
async fn a_graceful_stop_finishes_a_slow_send(kind: StoreKind) {
    let database = Database::migrated(kind);
    let process = Process::serve(&database, &[]).await;
    let us = tenant_at(process.addr, "Acme", "enterprise").await;
    let qr = connection(process.addr, &us, "qr").await;
    let addr = process.addr;
    let body = json!({"to": steered(5), "message": "oi", "connection_id": qr});
    let call = Request::new("POST", "/api/v1/send/message").bearer(&us.key).json(&body);
    let caller = tokio::spawn(call.try_send(addr));
    eventually("it is pending", || async { (pending(addr, &us).await == 1).then_some(()) }).await;
    process.signal("TERM").await;
    let answer = caller.await.expect("it ends").expect("an answer");
    answer.expect(200);
    let (status, output) = process.ended().await;
    assert_eq!(status.code(), Some(0), "{output}");
    let process = Process::serve(&database, &[]).await;
    let all = messages(process.addr, &us).await;
    let only = all.values().next().expect("a message");
    assert!(["sent", "delivered", "read"].contains(&text(&only["status"]).as_str()), "{only}");
}

#[both_stores]
async fn a_send_whose_caller_hung_up_is_finished_before_a_graceful_stop_ends(kind: StoreKind) {
    let database = Database::migrated(kind);
    let process = Process::serve(&database, &[]).await;
    let us = tenant_at(process.addr, "Acme", "enterprise").await;
    let qr = connection(process.addr, &us, "qr").await;
    let addr = process.addr;
    let body = json!({"to": steered(5), "message": "oi", "connection_id": qr});
    let call = Request::new("POST", "/api/v1/send/message").bearer(&us.key).json(&body);
    let caller = tokio::spawn(call.try_send(addr));
    eventually("it is pending", || async { (pending(addr, &us).await == 1).then_some(()) }).await;
    caller.abort();
    process.signal("TERM").await;
    let (status, output) = process.ended().await;
    assert_eq!(status.code(), Some(0), "{output}");
    let process = Process::serve(&database, &[]).await;
    let all = messages(process.addr, &us).await;
    let only = all.values().next().expect("a message");
    assert!(["sent", "delivered", "read"].contains(&text(&only["status"]).as_str()), "{only}");
}

#[both_stores]
async fn a_killed_process_loses_no_acknowledged_ledger_line(kind: StoreKind) {
    let database = Database::migrated(kind);
    let process = Process::serve(&database, &[]).await;
    let us = tenant_at(process.addr, "Acme", "enterprise").await;
    let addr = process.addr;
    for _ in 0..20 {
        let body = json!({"scope": "turn", "prosas": 1, "cost_brl": 1});
        operator_at(addr, &us.id, "POST", "C/prosas/debits", body).await.expect(201);
    }
    process.kill().await;
    let process = Process::serve(&database, &[]).await;
    let ledger = get(process.addr, &us, "/api/v1/prosas/consumption?limit=1").await;
    assert_eq!(ledger.json()["pagination"]["total"], 20);
    assert_eq!(ledger.json()["totals"]["prosas"].as_f64(), Some(20.0));
}
