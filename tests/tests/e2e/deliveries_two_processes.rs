//! Deliveries by several server processes on one Postgres: D52a, D55; docs/operator-api.md.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use recado_tests::backend::Database;
use recado_tests::binary::Process;
use recado_tests::world::{Tenant, operator_at, tenant_at};
use recado_tests::{
    Received, Receiver, Reply, Request, StoreKind, eventually, join_all, on_postgres, phone,
};
use serde_json::{Value, json};

/// The webhooks of a dead process are taken over within this time (D52a).
const TAKEN_OVER_WITHIN: Duration = Duration::from_secs(15);
/// So many webhooks that each of two processes serves some of them.
const HOOKS: usize = 24;

/// A process whose attempts may be held as long as another process needs to start.
async fn serve(database: &Database) -> Process {
    let args = ["--allow-private-destinations", "--webhook-timeout", "10m"];
    Process::serve(database, &args).await
}

pub(crate) async fn create(addr: SocketAddr, us: &Tenant, n: u32) {
    let body = json!({"phone": phone(n), "name": format!("{n}")});
    let create = Request::new("POST", "/api/v1/contacts").bearer(&us.key).json(&body);
    create.send(addr).await.expect(201);
}

fn paths() -> impl Iterator<Item = String> {
    (0..HOOKS).map(|n| format!("/{n}"))
}

async fn hooks(addr: SocketAddr, us: &Tenant, receiver: &Receiver) {
    hooks_at(addr, us, receiver, paths()).await;
}

pub(crate) async fn hooks_at(
    addr: SocketAddr,
    us: &Tenant,
    receiver: &Receiver,
    paths: impl Iterator<Item = String>,
) {
    for path in paths {
        let body = json!({"url": receiver.url(&path), "events": ["contact.created"]});
        operator_at(addr, &us.id, "POST", "C/webhooks", body).await.expect(201);
    }
}

/// Waits until the webhooks are divided between two processes.
pub(crate) async fn divided(database: &Database) {
    divided_into(database, 64).await;
}

/// [`divided`], with so many shards.
pub(crate) async fn divided_into(database: &Database, shards: usize) {
    eventually("both serve some webhooks", || async {
        let owners = database.shard_owners().await;
        let serves = |owner: &String| owners.iter().filter(|other| *other == owner).count();
        let distinct: BTreeSet<&String> = owners.iter().collect();
        // The division is random.
        let is_divided = distinct.len() == 2 && distinct.into_iter().all(|one| serves(one) > 12);
        (is_divided && owners.len() == shards).then_some(())
    })
    .await;
}

pub(crate) async fn total(addr: SocketAddr, us: &Tenant, query: &str) -> usize {
    let path = format!("C/deliveries?limit=1&{query}");
    let answer = operator_at(addr, &us.id, "GET", &path, Value::Null).await;
    let total = answer.json()["pagination"]["total"].as_u64().expect("a number");
    usize::try_from(total).expect("a number")
}

/// Waits until every webhook got this many contacts, and returns the time since `since`.
async fn reported(receiver: &Receiver, contacts: usize, since: Instant) -> Duration {
    eventually("every webhook is told of everything", || async {
        let is_reported = |path: String| {
            let requests = receiver.to(&path);
            let ids: BTreeSet<String> = requests.iter().map(Received::delivery).collect();
            ids.len() >= contacts
        };
        paths().all(is_reported).then_some(())
    })
    .await;
    since.elapsed()
}

#[on_postgres]
async fn the_webhooks_of_a_killed_process_are_taken_over_within_15_seconds(kind: StoreKind) {
    let database = Database::migrated(kind);
    let receiver = Receiver::start().await;
    let (dying, living) = (serve(&database).await, serve(&database).await);
    divided(&database).await;
    let us = tenant_at(living.addr, "Acme", "enterprise").await;
    hooks(living.addr, &us, &receiver).await;
    create(living.addr, &us, 0).await;
    reported(&receiver, 1, Instant::now()).await;
    // Both processes have attempts under way when one is killed.
    for path in paths() {
        receiver.then(&path, Reply::Held(200));
    }
    create(living.addr, &us, 1).await;
    for path in paths() {
        receiver.reaches(&path, 2).await;
    }
    dying.kill().await;
    let killed = Instant::now();
    create(living.addr, &us, 2).await;
    receiver.release();
    let took = reported(&receiver, 3, killed).await;
    assert!(took < TAKEN_OVER_WITHIN, "{took:?}");
    eventually("everything is recorded", || async {
        (total(living.addr, &us, "status=delivered").await == 3 * HOOKS).then_some(())
    })
    .await;
    let mut cut_off = 0;
    for path in paths() {
        let requests = receiver.to(&path);
        cut_off += requests.len() - 3;
        for request in &requests {
            let same = requests.iter().filter(|one| one.delivery() == request.delivery());
            assert!(same.clone().count() <= 2, "cut off once at most");
            assert!(same.clone().all(|one| one.body == request.body));
        }
    }
    assert!(cut_off > 0, "the killed one served some of them");
    assert!(cut_off < HOOKS, "the living one finished its own");
    let path = "C/deliveries?limit=100";
    let all = operator_at(living.addr, &us.id, "GET", path, Value::Null).await.items();
    assert!(all.iter().all(|one| one["attempts"] == 1), "what was cut off is not counted");
}

#[on_postgres]
async fn a_process_that_stops_hands_its_webhooks_over_at_once_and_loses_nothing(kind: StoreKind) {
    let database = Database::migrated(kind);
    let receiver = Receiver::start().await;
    let (stopping, living) = (serve(&database).await, serve(&database).await);
    divided(&database).await;
    let us = tenant_at(living.addr, "Acme", "enterprise").await;
    hooks(living.addr, &us, &receiver).await;
    create(living.addr, &us, 0).await;
    reported(&receiver, 1, Instant::now()).await;
    let (addr, load) = (living.addr, 30);
    let creating = async {
        for n in 1..=load {
            create(addr, &us, n).await;
        }
    };
    let stop = async {
        eventually("the load is under way", || async {
            (receiver.all().len() > 3 * HOOKS).then_some(())
        })
        .await;
        stopping.signal("TERM").await;
    };
    tokio::join!(creating, stop);
    let (status, output) = stopping.ended().await;
    assert_eq!(status.code(), Some(0), "{output}");
    let owners: BTreeSet<String> = database.shard_owners().await.into_iter().collect();
    assert!(owners.len() <= 1, "its webhooks need no lease to end: {owners:?}");
    create(addr, &us, load + 1).await;
    reported(&receiver, load as usize + 2, Instant::now()).await;
    eventually("everything is recorded", || async {
        let delivered = total(addr, &us, "status=delivered").await;
        (delivered == (load as usize + 2) * HOOKS).then_some(())
    })
    .await;
    for path in paths() {
        assert_eq!(receiver.count(&path), load as usize + 2, "each came once");
    }
}

#[on_postgres]
async fn a_process_that_stops_finishes_the_attempts_under_way(kind: StoreKind) {
    let database = Database::migrated(kind);
    let receiver = Receiver::start().await;
    let stopping = serve(&database).await;
    let us = tenant_at(stopping.addr, "Acme", "enterprise").await;
    hooks(stopping.addr, &us, &receiver).await;
    for path in paths() {
        receiver.answers(&path, Reply::Held(200));
    }
    create(stopping.addr, &us, 1).await;
    for path in paths() {
        receiver.reaches(&path, 1).await;
    }
    stopping.signal("TERM").await;
    let living = serve(&database).await;
    receiver.release();
    let (status, output) = stopping.ended().await;
    assert_eq!(status.code(), Some(0), "{output}");
    assert_eq!(total(living.addr, &us, "status=delivered").await, HOOKS);
    create(living.addr, &us, 2).await;
    for path in paths() {
        receiver.answers(&path, Reply::status(200));
    }
    receiver.release();
    eventually("the next is delivered", || async {
        receiver.release();
        (total(living.addr, &us, "status=delivered").await == 2 * HOOKS).then_some(())
    })
    .await;
    assert!(paths().all(|path| receiver.count(&path) == 2), "nothing came twice");
}

#[on_postgres]
async fn a_webhook_has_16_attempts_in_flight_over_all_processes(kind: StoreKind) {
    let database = Database::migrated(kind);
    let receiver = Receiver::start().await;
    let one = serve(&database).await;
    let us = tenant_at(one.addr, "Acme", "enterprise").await;
    // So few webhooks that each may have 16 attempts at the same time.
    let paths = || paths().take(8);
    hooks_at(one.addr, &us, &receiver, paths()).await;
    for path in paths() {
        receiver.answers(&path, Reply::Held(200));
    }
    let calls = (0..40).map(|n| create(one.addr, &us, n));
    join_all(calls.collect()).await;
    for path in paths() {
        receiver.reaches(&path, 16).await;
    }
    // Another process starts and is assigned its share while the attempts are under way.
    let two = serve(&database).await;
    join_all((40..60).map(|n| create(two.addr, &us, n)).collect()).await;
    eventually("everything came", || async {
        receiver.release();
        (total(two.addr, &us, "status=delivered").await == 60 * 8).then_some(())
    })
    .await;
    for path in paths() {
        assert_eq!(receiver.most_in_flight(&path), 16, "{path}");
        assert_eq!(receiver.count(&path), 60, "{path}: each came once");
    }
}

#[on_postgres]
async fn an_event_of_one_process_is_sent_by_whichever_serves_the_webhook(kind: StoreKind) {
    let database = Database::migrated(kind);
    let receiver = Receiver::start().await;
    let (one, two) = (serve(&database).await, serve(&database).await);
    divided(&database).await;
    let us = tenant_at(one.addr, "Acme", "enterprise").await;
    hooks(one.addr, &us, &receiver).await;
    let calls = (0..40).map(|n| {
        let addr = if n % 2 == 0 { one.addr } else { two.addr };
        create(addr, &us, n)
    });
    join_all(calls.collect()).await;
    reported(&receiver, 40, Instant::now()).await;
    assert!(paths().all(|path| receiver.count(&path) == 40), "each came once");
}
