//! Real gateways and a whole process: private addresses are allowed, phones are paired from the
//! command line, webhooks are accepted and counted.
#![cfg(unix)]

mod common;

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use common::{Server, done, get, recado, send, with_database};
use recado_core::gateway::Received;
use recado_core::secret::SecretText;
use recado_server::{Options, Overrides};
use recado_testkit::ScriptedProvider;
use serde_json::{Value, json};

const TOKEN: &str = "operator-token-of-the-tests-0123456789";
/// Private destinations are not allowed here.
const SERVE: [&str; 3] = ["serve", "--operator-token", TOKEN];

/// A session of WAHA in this state, to which a phone is paired once its code was requested; and the
/// requested paths.
fn waha(mut state: &'static str) -> (String, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let (asked, paths) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.expect("a connection");
            let path = read_path(&stream);
            let answer = if path.contains("/auth/qr?format=raw") {
                state = "WORKING";
                json!({"value": "2@abc,def=="})
            } else if path.contains("/auth/qr") {
                json!({"mimetype": "image/png", "data": "iVBORw=="})
            } else {
                json!({"name": "loja1", "status": state, "engine": {"engine": "NOWEB"}})
            };
            let answer = answer.to_string();
            let _ = write!(
                stream,
                "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\
                 Content-Length: {}\r\n\r\n{answer}",
                answer.len()
            );
            if asked.send(path).is_err() {
                return;
            }
        }
    });
    (url, paths)
}

/// Reads a request that has no body; its path.
fn read_path(stream: &TcpStream) -> String {
    let mut lines = BufReader::new(stream).lines().map(|line| line.expect("a line"));
    let first = lines.next().expect("a request");
    lines.find(String::is_empty).expect("the end of the head");
    first.split(' ').nth(1).expect("a path").to_owned()
}

fn operator(addr: &str, method: &str, path: &str, body: &Value) -> Value {
    let bearer = format!("Authorization: Bearer {TOKEN}");
    let path = format!("/operator/v1/companies{path}");
    let answer = send(addr, method, &path, &[bearer], &body.to_string());
    assert!(matches!(answer.status, 200 | 201), "{path}: {}", answer.body);
    answer.json()["data"].clone()
}

fn text(record: &Value, name: &str) -> String {
    record[name].as_str().expect(name).to_owned()
}

/// A company with a connection to a session of WAHA at `url`; their ids.
fn loja(addr: &str, url: &str) -> (String, String) {
    let company = text(&operator(addr, "POST", "", &json!({"name": "A"})), "id");
    let connection = json!({"kind": "qr", "name": "Loja", "identifier": "551140028922",
        "gateway": "waha", "settings": {"base_url": url, "session": "loja1", "api_key": "k",
            "webhook_hmac_key": "h"}});
    let made = operator(addr, "POST", &format!("/{company}/connections"), &connection);
    (company, text(&made, "id"))
}

/// R107.
#[test]
fn a_gateway_at_a_private_address_is_called_without_further_ado() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (url, paths) = waha("WORKING");
    let server = Server::start(folder.path(), &SERVE, "listening");
    let (company, connection) = loja(&server.addr(), &url);
    let check = format!("/{company}/connections/{connection}/check");
    let reported = operator(&server.addr(), "POST", &check, &Value::Null);
    assert_eq!(
        (&reported["answered"], &reported["connection"]["status"]),
        (&true.into(), &"connected".into())
    );
    assert_eq!(paths.recv_timeout(Duration::from_secs(60)).expect("a call"), "/api/sessions/loja1");
    server.stop();
}

#[test]
fn a_phone_is_paired_from_the_command_line() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (url, _paths) = waha("SCAN_QR_CODE");
    let server = Server::start(folder.path(), &SERVE, "listening");
    let (company, connection) = loja(&server.addr(), &url);
    server.stop();

    let of = ["--company", &company];
    let table = done(folder.path(), &[&["connection", "list"], &of[..]].concat());
    assert!(table.contains(&connection) && table.contains("disconnected"), "{table}");
    assert!(table.contains(&format!("/api/webhooks/provider/{connection}")), "{table}");

    let pair = [&["connection", "pair"], &of[..], &[&connection]].concat();
    let printed = done(folder.path(), &pair);
    assert!(printed.contains('█') && printed.contains("paired  true"), "{printed}");
    let again = done(folder.path(), &[&pair[..], &["--json"]].concat());
    let again: Value = serde_json::from_str(&again).expect("JSON");
    assert_eq!(again, json!({"id": connection, "paired": true}));
    let list = done(folder.path(), &[&["connection", "list", "--json"], &of[..]].concat());
    let list: Value = serde_json::from_str(&list).expect("JSON");
    assert_eq!(
        (&list[0]["status"], &list[0]["settings"]["api_key"]),
        (&"connected".into(), &Value::Null)
    );
}

#[test]
fn a_connection_command_is_refused_with_its_reason() {
    let folder = with_database();
    let company = done(folder.path(), &["company", "create", "Padaria Aurora", "--json"]);
    let company: Value = serde_json::from_str(&company).expect("JSON");
    let company = text(&company, "id");
    let nobody = "01a19b7c-a680-78b4-a652-e44da7f29e26";
    for (arguments, code, about) in [
        (["list", "--company", nobody].as_slice(), 1, "no such"),
        (&["pair", "--company", &company, nobody], 1, "no such connection"),
        (&["pair", "--company", &company, "x"], 2, "must be the id of a connection"),
    ] {
        let arguments = [&["connection"], arguments].concat();
        let output = recado(folder.path()).args(&arguments).output().expect("it runs");
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {message}");
        assert!(message.contains(about), "{arguments:?}: {message}");
    }
}

#[test]
fn events_of_gateways_and_messages_that_are_left_sent_are_counted() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let provider = ScriptedProvider::new();
    provider.set_received(Ok(vec![
        Received::here(Err("it has no id".to_owned())),
        Received::here(Err("it has no id".to_owned())),
    ]));
    let options = Options {
        listen: ([127, 0, 0, 1], 0).into(),
        database: recado_server::DatabaseLocation::Sqlite(folder.path().join("recado.db")),
        documents: recado_server::DocumentStorage::Folder(folder.path().join("documents")),
        operator_token: Some(SecretText::new(TOKEN)),
        ..Options::default()
    };
    let overrides = Overrides { providers: Some(provider.everywhere()), ..Overrides::default() };
    let running = runtime.block_on(recado_server::start(options, overrides)).expect("it starts");
    let addr = running.addr.to_string();
    let (_, connection) = loja(&addr, "http://127.0.0.1:9");
    let path = format!("/api/webhooks/provider/{connection}/anything");
    let taken = send(&addr, "POST", &path, &[], "{}");
    assert_eq!((taken.status, taken.json()), (200, json!({"ok": true})));
    let begun = Instant::now();
    loop {
        let metrics = get(&addr, "/metrics").body;
        let has = |line: &str| metrics.lines().any(|known| known == line);
        let route = r#"route="/api/webhooks/provider/{connection_id}""#;
        let counted = has(r#"recado_gateway_events_total{result="refused"} 2"#)
            && metrics.lines().any(|line| line.contains(route))
            && has("recado_messages_left_sent 0");
        if counted {
            break;
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "{metrics}");
        std::thread::sleep(Duration::from_millis(10));
    }
    runtime.block_on(running.stop());
}
