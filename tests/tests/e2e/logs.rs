//! A log that cannot be written, or that strangers flood: docs/operations.md, R162.

use std::fs::File;
use std::io::{PipeReader, pipe};
use std::process::Stdio;
use std::time::Instant;

use recado_tests::backend::Database;
use recado_tests::binary::Process;
use recado_tests::world::{Tenant, operator_at, ready_at, tenant_at};
use recado_tests::{
    OPERATOR, Request, ScriptedAnswer, StoreKind, both_stores, eventually, join_all, mobile, phone,
};
use serde_json::json;

const SECRET: &str = "secret-of-the-endpoint";
/// More log lines than a pipe that nobody reads takes.
const CALLS: u32 = 300;

/// Why a standard error takes no lines.
#[derive(Clone, Copy, Debug)]
enum Trouble {
    /// Its reader is gone.
    Closed,
    /// The disk is full.
    Full,
    /// Its reader does not read.
    Stuck,
}

impl Trouble {
    /// Such a standard error, and what has to live as long as it.
    fn stderr(self) -> (Stdio, Option<PipeReader>) {
        match self {
            Self::Full => {
                let full = File::options().write(true).open("/dev/full").expect("Linux has it");
                (full.into(), None)
            }
            Self::Closed => (pipe().expect("a pipe").1.into(), None),
            Self::Stuck => {
                let (reader, writer) = pipe().expect("a pipe");
                (writer.into(), Some(reader))
            }
        }
    }
}

async fn ready(process: &Process) -> u16 {
    Request::new("GET", "/readyz").send(process.addr).await.status
}

async fn send(process: &Process, us: &Tenant, number: u32) -> ScriptedAnswer {
    let body = json!({"to": mobile(number), "message": "Olá"});
    let request = Request::new("POST", "/api/v1/send/message").bearer(&us.key);
    request.json(&body).send(process.addr).await
}

/// A company with a connection and an endpoint for inbound webhooks.
async fn company(process: &Process) -> Tenant {
    let addr = process.addr;
    let us = tenant_at(addr, "Acme", "enterprise").await;
    let body = json!({"kind": "qr", "name": "c", "identifier": "+551140000000",
        "gateway": "simulated"});
    operator_at(addr, &us.id, "POST", "C/connections", body).await.expect(201);
    let path = format!("/companies/{}", us.id);
    let features = json!({"features": {"inbound_contacts": true}});
    operator_at(addr, &us.id, "PATCH", &path, features).await.expect(200);
    let endpoint = json!({"slug": "form", "secret": SECRET,
        "variable_mapping": {"phone": "$.phone"}});
    operator_at(addr, &us.id, "POST", "C/inbound-endpoints", endpoint).await.expect(201);
    us
}

/// R162.
#[cfg(target_os = "linux")]
#[both_stores]
async fn a_log_that_cannot_be_written_fails_and_delays_no_request(kind: StoreKind) {
    for trouble in [Trouble::Closed, Trouble::Full, Trouble::Stuck] {
        let database = Database::migrated(kind);
        let (stderr, _reader) = trouble.stderr();
        let process = Process::serve_with_stderr(&database, &[], stderr).await;
        let addr = process.addr;
        let us = company(&process).await;
        let id = "x".repeat(128);
        for _ in 0..CALLS {
            let call = Request::new("GET", "/api/v1/lists").bearer(&us.key);
            call.header("x-request-id", &id).send(addr).await.expect(200);
        }
        for number in 0..20 {
            send(&process, &us, number).await.expect(200);
            let stranger = Request::new("GET", "/api/v1/contacts").send(addr).await;
            stranger.expect_error(401, "UNAUTHORIZED");
        }
        for number in 50..55 {
            let hook = Request::new("POST", "/api/webhooks/incoming/form");
            let hook = hook.header("x-service-secret", SECRET);
            let answer = hook.json(&json!({"phone": phone(number)})).send(addr).await;
            assert_eq!(answer.status, 200, "{trouble:?}: {}", answer.show());
        }
        let all = Request::new("GET", "/api/v1/messages?limit=100").bearer(&us.key);
        assert_eq!(all.send(addr).await.items().len(), 20, "{trouble:?}: each is sent once");
        ready_at(addr).await;
        if !matches!(trouble, Trouble::Stuck) {
            eventually("lost lines are counted", || async {
                let metrics = Request::new("GET", "/metrics").send(addr).await;
                let metrics = String::from_utf8_lossy(&metrics.body).into_owned();
                let lost = metrics.lines().find(|one| one.starts_with("recado_log_lines_lost_"))?;
                let lost: u32 = lost.rsplit(' ').next()?.parse().ok()?;
                (lost >= CALLS).then_some(())
            })
            .await;
        }
        process.signal("TERM").await;
        let (status, output) = process.ended().await;
        assert_eq!(status.code(), Some(0), "{trouble:?}: {output}");
    }
}

/// R162.
#[test]
fn a_sqlite_writer_that_is_stuck_is_not_ready_and_goes_on_after_it_could_log_nothing() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let database = Database::migrated(StoreKind::Sqlite);
        let url = database.url();
        let path = url.strip_prefix("sqlite:").expect("a path");
        let (stderr, _) = Trouble::Closed.stderr();
        let process = Process::serve_with_stderr(&database, &[], stderr).await;
        let us = company(&process).await;
        ready_at(process.addr).await;
        // Another process holds the write lock for longer than the writer waits.
        let other = rusqlite::Connection::open(path).expect("it opens");
        other.execute_batch("BEGIN IMMEDIATE").expect("the lock");
        let contact = || {
            let request = Request::new("POST", "/api/v1/contacts").bearer(&us.key);
            request.json(&json!({"phone": phone(1)})).send(process.addr)
        };
        let (refused, readiness) = tokio::join!(contact(), ready(&process));
        assert_eq!(readiness, 503, "a writer that is stuck");
        refused.expect_error(503, "UNAVAILABLE");
        other.execute_batch("ROLLBACK").expect("the lock is free");
        // The writer has logged its failure, and lives.
        eventually("ready", || async { (ready(&process).await == 200).then_some(()) }).await;
        contact().await.expect(201);
    });
}

/// R162.
#[both_stores]
async fn strangers_write_a_bounded_number_of_lines_and_known_callers_all(kind: StoreKind) {
    let database = Database::migrated(kind);
    let process = Process::serve(&database, &[]).await;
    let began = Instant::now();
    for round in 0..10 {
        let strangers = (0..40).map(|number| {
            let path = format!("/api/v1/nothing-{round}-{number}");
            Request::new("GET", path).send(process.addr)
        });
        for answer in join_all(strangers.collect()).await {
            answer.expect_error(401, "UNAUTHORIZED");
        }
        for _ in 0..4 {
            let known = Request::new("GET", "/operator/v1/companies").bearer(OPERATOR);
            known.send(process.addr).await.expect(200);
        }
    }
    let seconds = usize::try_from(began.elapsed().as_secs()).expect("a test is short");
    // Any later request shows how many lines were left out.
    let more = eventually("the others are counted", || async {
        Request::new("GET", "/healthz").send(process.addr).await;
        let told = "more requests of strangers were not logged";
        process.output().lines().find(|line| line.contains(told)).map(str::to_owned)
    })
    .await;
    assert!(more.contains("\"count\":"), "{more}");
    let log = process.kill_and_read().await;
    let lines = |status: &str| log.lines().filter(|line| line.contains(status)).count();
    let strangers = lines("\"status\":401");
    assert!((10..=10 * (seconds + 2)).contains(&strangers), "{strangers} in {seconds} s");
    assert!(strangers < 400, "{strangers} in {seconds} s: nothing was left out");
    let known = log.lines().filter(|line| line.contains("\"route\":\"/operator/v1/companies\""));
    assert_eq!(known.count(), 40, "{log}");
}
