//! Deliveries to webhooks by a whole process: its options, its metrics and its stop.
#![cfg(unix)]

mod common;

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use common::{Server, get, send};
use recado_core::deliveries::Shard;
use recado_core::secret::SecretText;
use recado_core::store::RecordsExt;
use recado_core::workers::Worker;
use recado_server::{Options, Overrides};
use recado_store_sqlite::SqliteStore;
use serde_json::Value;

const TOKEN: &str = "operator-token-of-the-tests-0123456789";
const SERVE: [&str; 4] = ["serve", "--operator-token", TOKEN, "--allow-private-destinations=true"];
/// A limit that no machine should reach.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server's operator API about one company.
struct Operator {
    addr: String,
    company: String,
}

impl Operator {
    fn new(addr: String) -> Self {
        let mut operator = Self { addr, company: String::new() };
        let made = operator.call("POST", "", r#"{"name": "A"}"#);
        operator.company = format!("/{}", made["id"].as_str().expect("an id"));
        operator
    }

    fn call(&self, method: &str, path: &str, body: &str) -> Value {
        let path = format!("/operator/v1/companies{}{path}", self.company);
        let bearer = format!("Authorization: Bearer {TOKEN}");
        let answer = send(&self.addr, method, &path, &[bearer], body);
        assert!(matches!(answer.status, 200 | 201), "{path}: {}", answer.body);
        answer.json()["data"].clone()
    }

    /// Sends a test to a new webhook; the path of its delivery.
    fn test(&self, url: &str) -> String {
        let body = serde_json::json!({"url": url, "events": ["*"]}).to_string();
        let webhook = self.call("POST", "/webhooks", &body);
        let path = format!("/webhooks/{}/test", webhook["id"].as_str().expect("an id"));
        let delivery = self.call("POST", &path, "");
        format!("/deliveries/{}", delivery["id"].as_str().expect("an id"))
    }

    /// The delivery once it is no longer pending.
    fn finished(&self, delivery: &str) -> Value {
        until(|| {
            let delivery = self.call("GET", delivery, "");
            (delivery["status"] != "pending").then_some(delivery)
        })
    }
}

fn until<T>(mut found: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(found) = found() {
            return found;
        }
        assert!(begun.elapsed() < PATIENCE, "it does not come");
        // Only so that the requests do not occupy the processor.
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A listener; each connection is returned once a whole request was read from it.
fn receiver() -> (String, Receiver<TcpStream>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let url = format!("http://{}/", listener.local_addr().expect("an address"));
    let (arrived, requests) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let stream = stream.expect("a connection");
            read_request(&stream);
            if arrived.send(stream).is_err() {
                return;
            }
        }
    });
    (url, requests)
}

fn read_request(stream: &TcpStream) {
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).expect("a line");
        let line = line.trim_end().to_ascii_lowercase();
        if let Some(given) = line.strip_prefix("content-length: ") {
            length = given.parse().expect("a length");
        }
        if line.is_empty() {
            break;
        }
    }
    reader.read_exact(&mut vec![0; length]).expect("the body");
}

fn answer(mut stream: TcpStream, status: &str) {
    write!(stream, "HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        .expect("written");
}

fn arrived(requests: &Receiver<TcpStream>) -> TcpStream {
    requests.recv_timeout(PATIENCE).expect("a request")
}

#[test]
fn a_stop_finishes_and_records_the_attempt_in_flight_and_hands_everything_back() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let server = Server::start(folder.path(), &SERVE, "listening");
    let mut operator = Operator::new(server.addr());
    let (url, requests) = receiver();
    let delivery = operator.test(&url);
    let in_flight = arrived(&requests);
    server.signal("TERM");
    // The stop has begun once no connection is accepted any more.
    until(|| match TcpStream::connect(&operator.addr) {
        Err(error) if error.kind() == ErrorKind::ConnectionRefused => Some(()),
        _ => None,
    });
    answer(in_flight, "200 OK");
    assert_eq!(server.wait().code(), Some(0));

    let (workers, owners) = held(folder.path());
    assert_eq!((workers, owners), (0, 0), "the lease and the shards are given back");
    let server = Server::start(folder.path(), &SERVE, "listening");
    operator.addr = server.addr();
    let recorded = operator.call("GET", &delivery, "");
    assert_eq!((&recorded["status"], &recorded["attempts"]), (&"delivered".into(), &1.into()));
    server.stop();
}

/// How many workers are stored, and how many shards have an owner.
fn held(folder: &Path) -> (usize, usize) {
    let store = SqliteStore::open(folder.join("recado.db")).expect("it opens");
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let workers = store.all::<Worker>(()).await.expect("readable");
        let shards = store.all_stored::<Shard>(()).await.expect("readable");
        assert!(!shards.is_empty(), "shards were claimed");
        (workers.len(), shards.iter().filter(|shard| shard.owner.is_some()).count())
    })
}

#[test]
fn an_attempt_that_outlasts_the_stop_is_not_counted_and_made_again() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let options = Options {
        database: format!("sqlite:{}", path("recado.db")).parse().expect("valid"),
        documents: format!("file:{}", path("documents")).parse().expect("valid"),
        listen: ([127, 0, 0, 1], 0).into(),
        operator_token: Some(SecretText::new(TOKEN)),
        allow_private_destinations: true,
        webhook_timeout: recado_server::Duration::from_secs(3600),
        ..Options::default()
    };
    let overrides =
        Overrides { drain_timeout: Some(Duration::from_millis(200)), ..Overrides::default() };
    let running = runtime.block_on(recado_server::start(options, overrides)).expect("it starts");
    let mut operator = Operator::new(running.addr.to_string());
    let (url, requests) = receiver();
    let delivery = operator.test(&url);
    let _never_answered = arrived(&requests);
    runtime.block_on(running.stop());
    runtime.shutdown_background();

    let server = Server::start(folder.path(), &SERVE, "listening");
    operator.addr = server.addr();
    answer(arrived(&requests), "200 OK");
    let finished = operator.finished(&delivery);
    assert_eq!((&finished["status"], &finished["attempts"]), (&"delivered".into(), &1.into()));
    server.stop();
}

#[test]
fn the_waits_and_the_timeout_are_those_of_the_options_and_attempts_are_counted() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let options = ["--webhook-retry-waits", "1ms,1ms,1ms,1ms", "--webhook-timeout", "100ms"];
    let server = Server::start(folder.path(), &[&SERVE[..], &options].concat(), "listening");
    let operator = Operator::new(server.addr());
    let (silent, _requests) = receiver();
    let failed = operator.finished(&operator.test(&silent));
    assert_eq!((&failed["status"], &failed["attempts"]), (&"failed".into(), &5.into()));
    for attempt in failed["attempt_log"].as_array().expect("a log") {
        assert_eq!(attempt["status_code"], Value::Null);
        assert!(attempt["error"].as_str().expect("an error").contains("timed out"), "{attempt}");
    }
    let (url, requests) = receiver();
    let delivery = operator.test(&url);
    answer(arrived(&requests), "204 No Content");
    assert_eq!(operator.finished(&delivery)["status"], "delivered");

    let metrics = get(&server.addr(), "/metrics").body;
    for line in [
        r#"recado_webhook_attempts_total{outcome="failed"} 5"#,
        r#"recado_webhook_attempts_total{outcome="delivered"} 1"#,
        r#"recado_webhook_attempt_duration_seconds_count{outcome="failed"} 5"#,
    ] {
        assert!(metrics.lines().any(|known| known == line), "{line}\n{metrics}");
    }
    server.stop();
}

#[test]
fn what_is_older_than_the_retention_is_removed() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let server = Server::start(folder.path(), &SERVE, "listening");
    let mut operator = Operator::new(server.addr());
    let (url, requests) = receiver();
    let delivery = operator.test(&url);
    answer(arrived(&requests), "200 OK");
    assert_eq!(operator.finished(&delivery)["status"], "delivered");
    server.stop();

    let retention = [&SERVE[..], &["--retention", "1ms"]].concat();
    let server = Server::start(folder.path(), &retention, "listening");
    operator.addr = server.addr();
    until(|| (operator.call("GET", "/deliveries", "") == serde_json::json!([])).then_some(()));
    server.stop();
}
