//! The listeners of a process: one for the operator, and many connections at few descriptors.

use recado_tests::backend::Database;
use recado_tests::binary::Process;
use recado_tests::world::{ready_at, tenant_at};
use recado_tests::{OPERATOR, Request, StoreKind, both_stores, phone};
use serde_json::json;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

/// R182.
#[both_stores]
async fn an_operator_listener_has_the_operator_api_and_metrics_and_nobody_else_has_them(
    kind: StoreKind,
) {
    let database = Database::migrated(kind);
    let process = Process::serve(&database, &["--operator-listen", "127.0.0.1:0"]).await;
    let (main, operators) = (process.addr, process.operator_addr());
    assert_ne!(main, operators);
    let us = tenant_at(operators, "Acme", "enterprise").await;
    let get =
        |path: &'static str, token: &str, addr| Request::new("GET", path).bearer(token).send(addr);
    get("/api/v1/contacts", &us.key, main).await.expect(200);
    for path in ["/operator/v1/companies", "/operator", "/operator/v1/nothing", "/metrics"] {
        for token in [OPERATOR, "wrong"] {
            get(path, token, main).await.expect_error(404, "NOT_FOUND");
        }
    }
    assert_eq!(get("/metrics", "", operators).await.status, 200);
    for path in
        ["/api/v1/contacts", "/api/openapi.json", "/docs", "/l/x", "/api/webhooks/incoming/x"]
    {
        for token in [us.key.as_str(), OPERATOR, "wrong"] {
            get(path, token, operators).await.expect_error(404, "NOT_FOUND");
        }
    }
    for addr in [main, operators] {
        get("/healthz", "", addr).await.expect(200);
        ready_at(addr).await;
    }
    get("/operator/v1/companies", "wrong", operators).await.expect_error(401, "UNAUTHORIZED");

    // Both are idle connections at the stop.
    let mut idle = Vec::new();
    for addr in [main, operators] {
        let mut stream = TcpStream::connect(addr).await.expect("it listens");
        let head = "GET /healthz HTTP/1.1\r\nHost: t\r\n\r\n";
        stream.write_all(head.as_bytes()).await.expect("written");
        idle.push(stream);
    }
    process.signal("TERM").await;
    let (status, output) = process.ended().await;
    assert_eq!(status.code(), Some(0), "{output}");
    for addr in [main, operators] {
        assert!(TcpStream::connect(addr).await.is_err(), "nobody listens");
    }
}

/// Opens connections that send nothing, or only a part of a head.
async fn flood(addr: std::net::SocketAddr, held: &mut Vec<TcpStream>, more: usize) {
    for number in 0..more {
        let mut stream = TcpStream::connect(addr).await.expect("it listens");
        if number % 2 == 0 {
            // The server may have closed it for another one.
            let _ = stream.write_all(b"GET /healthz HTTP/1.1\r\nHos").await;
        }
        held.push(stream);
    }
}

/// R178, R180.
#[cfg(unix)]
#[both_stores]
async fn a_process_with_few_descriptors_that_is_flooded_goes_on_answering(kind: StoreKind) {
    let database = Database::migrated(kind);
    // One that is trusted has no share, so that it can take all places.
    let args = ["--trusted-proxies", "127.0.0.0/8"];
    let process = Process::serve_limited(&database, &args, "-n 160").await;
    let us = tenant_at(process.addr, "Acme", "enterprise").await;
    let mut held = Vec::new();
    for round in 0..5 {
        flood(process.addr, &mut held, 100).await;
        Request::new("GET", "/healthz").send(process.addr).await.expect(200);
        let contact = Request::new("POST", "/api/v1/contacts").bearer(&us.key);
        contact.json(&json!({"phone": phone(round)})).send(process.addr).await.expect(201);
    }
    drop(held);
    for _ in 0..20 {
        let contacts = Request::new("GET", "/api/v1/contacts").bearer(&us.key);
        assert_eq!(contacts.send(process.addr).await.items().len(), 5);
    }
    let log = process.kill_and_read().await;
    assert!(log.contains("\"connections\":80"), "{log}");
    assert!(!log.contains("could not be accepted"), "{log}");
}

/// R178.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn where_even_the_reserve_is_used_up_idle_connections_make_room() {
    let database = Database::migrated(StoreKind::Sqlite);
    let args = ["--trusted-proxies", "127.0.0.0/8"];
    let process = Process::serve_limited(&database, &args, "-n 34").await;
    let us = tenant_at(process.addr, "Acme", "enterprise").await;
    let mut held = Vec::new();
    for _ in 0..5 {
        flood(process.addr, &mut held, 100).await;
        Request::new("GET", "/healthz").send(process.addr).await.expect(200);
        let contacts = Request::new("GET", "/api/v1/contacts").bearer(&us.key);
        contacts.send(process.addr).await.expect(200);
    }
    let log = process.kill_and_read().await;
    assert!(log.contains("could not be accepted"), "{log}");
}

/// R180.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn the_limit_on_descriptors_is_raised_at_the_start() {
    let database = Database::migrated(StoreKind::Sqlite);
    let process = Process::serve_limited(&database, &[], "-Sn 100").await;
    let limits = std::fs::read_to_string(format!("/proc/{}/limits", process.id()));
    let limits = limits.expect("readable");
    let line = limits.lines().find(|line| line.starts_with("Max open files")).expect("a line");
    let [soft, hard] = [3, 4].map(|n| line.split_whitespace().nth(n).expect("a number"));
    assert_eq!(soft, hard, "{line}");
    assert_ne!(soft, "100");
}
