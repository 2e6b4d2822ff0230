//! The graceful stop of a process.
#![cfg(unix)]

mod common;

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;

use common::{Server, connect, get, read_answer, send};

const TOKEN: &str = "operator-token";

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
        assert_eq!(get(&server.addr(), "/readyz").status, 200);
        let mut idle = connect(&server.addr());
        server.signal(signal);
        assert_eq!(idle.read(&mut [0; 1]).expect("closed, not cut"), 0, "idle ones are closed");
        assert_eq!(server.wait().code(), Some(0), "{signal}");
    }
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
            // Accepted by the system before the server closed its door.
            Ok(early) => drop(early),
        }
    }
    slow.write_all(b"12345").expect("written");
    let answer = read_answer(&mut slow);
    assert_eq!(answer.status, 201, "{}", answer.body);
    assert_eq!(server.wait().code(), Some(0));
}
