//! The graceful stop of a process.
#![cfg(unix)]

mod common;

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use common::{Server, connect, done, get, read_answer, recado, send, with_database};
use recado_server::{Options, Overrides};
use serde_json::{Value, json};

const TOKEN: &str = "operator-token-of-the-tests-0123456789";

fn operator(addr: &str, path: &str, body: &str) -> serde_json::Value {
    let headers = [format!("Authorization: Bearer {TOKEN}")];
    let answer = send(addr, "POST", &format!("/operator/v1{path}"), &headers, body);
    assert_eq!(answer.status, 201, "{}", answer.body);
    answer.json()["data"].clone()
}

#[test]
fn both_signals_end_it_with_0() {
    for signal in ["TERM", "INT"] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let server = Server::start(folder.path(), &["serve"], "listening");
        // One answer shows that the server has accepted the connection, which is idle then.
        let mut idle = connect(&server.addr());
        write!(idle, "GET /readyz HTTP/1.1\r\nHost: {}\r\n\r\n", server.addr()).expect("written");
        idle.read_exact(&mut [0; 1]).expect("an answer");
        server.signal(signal);
        idle.read_to_end(&mut Vec::new()).expect("closed, not cut");
        assert_eq!(server.wait().code(), Some(0), "{signal}");
    }
}

/// R269.
#[test]
fn a_hangup_ends_no_server_and_stops_the_demo_gracefully() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let server = Server::start(folder.path(), &["serve"], "listening");
    server.signal("HUP");
    for _ in 0..3 {
        assert_eq!(get(&server.addr(), "/readyz").status, 200);
    }
    server.stop();
    let demo = Server::start(folder.path(), &["demo"], "Ctrl-C");
    demo.signal("HUP");
    assert_eq!(demo.wait().code(), Some(0));
}

/// R269.
#[test]
fn a_hangup_ends_no_command_halfway() {
    let folder = with_database();
    let made = done(folder.path(), &["company", "create", "Padaria", "--json"]);
    let made: Value = serde_json::from_str(&made).expect("JSON");
    let id = made["id"].as_str().expect("an id");
    let mut command = recado(folder.path());
    command.args(["company", "delete", id]).stdin(Stdio::piped()).stderr(Stdio::piped());
    let mut running = command.stdout(Stdio::null()).spawn().expect("it runs");
    let mut asked = BufReader::new(running.stderr.take().expect("piped"));
    asked.read_line(&mut String::new()).expect("a question");
    let pid = running.id().to_string();
    assert!(Command::new("kill").args(["-s", "HUP", &pid]).status().expect("it runs").success());
    running.stdin.take().expect("piped").write_all(b"Padaria\n").expect("it still reads");
    assert_eq!(running.wait().expect("it ends").code(), Some(0));
    assert_eq!(done(folder.path(), &["company", "list", "--json"]).trim(), "[]");
}

#[test]
fn a_request_in_flight_is_finished_while_no_connection_is_accepted() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let arguments = ["serve", "--operator-token", TOKEN];
    let server = Server::start(folder.path(), &arguments, "listening");
    let addr = server.addr();
    let company = operator(&addr, "/companies", r#"{"name": "A"}"#);
    let company = format!("/companies/{}", company["id"].as_str().expect("an id"));
    let contact = r#"{"phone": "+5511990001001", "name": "Ana"}"#;
    let contact = operator(&addr, &format!("{company}/contacts"), contact);
    let contact = contact["id"].as_str().expect("an id");

    let mut slow = connect(&addr);
    write!(
        slow,
        "POST /operator/v1{company}/contacts/{contact}/documents?filename=a.txt HTTP/1.1\r\n\
         Host: {addr}\r\nAuthorization: Bearer {TOKEN}\r\nExpect: 100-continue\r\n\
         Content-Length: 5\r\n\r\n"
    )
    .expect("written");
    let expected = "HTTP/1.1 100 Continue\r\n\r\n";
    let mut begun = vec![0; expected.len()];
    slow.read_exact(&mut begun).expect("the server waits for the body");
    assert_eq!(String::from_utf8_lossy(&begun), expected);

    server.signal("TERM");
    loop {
        match TcpStream::connect(&addr) {
            Err(error) => break assert_eq!(error.kind(), ErrorKind::ConnectionRefused),
            // The system accepted the connection before the server stopped listening.
            Ok(early) => drop(early),
        }
    }
    slow.write_all(b"12345").expect("written");
    let answer = read_answer(&mut slow);
    assert_eq!(answer.status, 201, "{}", answer.body);
    assert_eq!(server.wait().code(), Some(0));
}

/// Makes a company with a simulated connection and a key; the header that carries it.
fn talking(addr: &str, settings: &Value) -> String {
    let company = operator(addr, "/companies", r#"{"name": "A", "plan": "enterprise"}"#);
    let company = format!("/companies/{}", company["id"].as_str().expect("an id"));
    let scopes = json!(["contacts:read", "messages:read", "messages:send"]);
    let key = json!({"name": "k", "scopes": scopes, "rate_per_minute": 1_000_000}).to_string();
    let key = operator(addr, &format!("{company}/keys"), &key);
    let connection = json!({"kind": "official_cloud", "name": "C", "identifier": "1",
        "gateway": "simulated", "settings": settings});
    operator(addr, &format!("{company}/connections"), &connection.to_string());
    format!("Authorization: Bearer {}", key["key"].as_str().expect("a key"))
}

/// Begins a send to a phone that is answered slowly, and waits until it is under way.
fn begin_slow_send(addr: &str, key: &str) -> TcpStream {
    let mut stream = connect(addr);
    let body = r#"{"to": "+5511990000005", "message": "Oi"}"#;
    write!(
        stream,
        "POST /api/v1/send/message HTTP/1.1\r\nHost: {addr}\r\n{key}\r\n\
         Connection: close\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .expect("written");
    while messages(addr, key)["pagination"]["total"] != 1 {}
    stream
}

fn messages(addr: &str, key: &str) -> Value {
    let answer = send(addr, "GET", "/api/v1/messages", &[key.to_owned()], "");
    assert_eq!(answer.status, 200, "{}", answer.body);
    answer.json()
}

#[test]
fn a_message_in_flight_is_finished_and_the_lease_is_given_up() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let arguments = ["serve", "--operator-token", TOKEN];
    let server = Server::start(folder.path(), &arguments, "listening");
    let addr = server.addr();
    let key = talking(&addr, &json!({"timeout_ms": 2000}));
    let mut slow = begin_slow_send(&addr, &key);
    server.signal("TERM");
    let answer = read_answer(&mut slow);
    assert_eq!(answer.status, 502, "{}", answer.body);
    assert_eq!(answer.json()["code"], "DELIVERY_UNCERTAIN");
    assert_eq!(server.wait().code(), Some(0));

    let server = Server::start(folder.path(), &arguments, "listening");
    let message = messages(&server.addr(), &key)["data"][0].clone();
    // The gateway's answer is the cause, not a recovery.
    assert_eq!(message["error_type"], "delivery_uncertain");
    assert_eq!(message["error_message"], "the simulated gateway did not answer in time");
    server.stop();
}

#[test]
fn a_message_whose_answer_never_comes_is_finished_as_uncertain_before_the_end() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let options = Options {
        database: format!("sqlite:{}", path(folder.path(), "recado.db")).parse().expect("valid"),
        documents: format!("file:{}", path(folder.path(), "documents")).parse().expect("valid"),
        listen: ([127, 0, 0, 1], 0).into(),
        operator_token: Some(recado_core::secret::SecretText::new(TOKEN)),
        ..Options::default()
    };
    let overrides =
        Overrides { drain_timeout: Some(Duration::from_millis(200)), ..Overrides::default() };
    let running = runtime.block_on(recado_server::start(options, overrides)).expect("it starts");
    let addr = running.addr.to_string();
    let key = talking(&addr, &json!({}));
    let _slow = begin_slow_send(&addr, &key);
    assert_eq!(messages(&addr, &key)["data"][0]["status"], "pending");
    runtime.block_on(running.stop());
    runtime.shutdown_background();

    let server = Server::start(folder.path(), &["serve"], "listening");
    let message = messages(&server.addr(), &key)["data"][0].clone();
    assert_eq!(
        (&message["status"], &message["error_type"]),
        (&json!("failed"), &json!("delivery_uncertain"))
    );
    server.stop();
}

#[test]
fn a_message_of_a_process_that_was_killed_is_found_by_the_next() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let arguments = ["serve", "--operator-token", TOKEN];
    let server = Server::start(folder.path(), &arguments, "listening");
    let addr = server.addr();
    let key = talking(&addr, &json!({}));
    let _slow = begin_slow_send(&addr, &key);
    server.signal("KILL");
    assert_eq!(server.wait().code(), None);

    let server = Server::start(folder.path(), &arguments, "listening");
    let begun = std::time::Instant::now();
    let message = loop {
        let message = messages(&server.addr(), &key)["data"][0].clone();
        if message["status"] != "pending" {
            break message;
        }
        // The lease of the dead process lapses within ten seconds; recovery runs every two seconds.
        assert!(begun.elapsed() < Duration::from_secs(40), "{message}");
        // Only so that the requests do not occupy the processor.
        std::thread::sleep(Duration::from_millis(20));
    };
    assert_eq!(
        (&message["status"], &message["error_type"]),
        (&json!("failed"), &json!("delivery_uncertain"))
    );
    server.stop();
}

fn path(folder: &Path, name: &str) -> String {
    folder.join(name).display().to_string()
}
