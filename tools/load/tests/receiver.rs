//! The receiving process, called as the server and the load program call it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;

struct Receivers {
    child: Child,
    addresses: Value,
}

impl Drop for Receivers {
    fn drop(&mut self) {
        self.child.kill().expect("it runs until now");
        self.child.wait().expect("it ends");
    }
}

impl Receivers {
    fn start(arguments: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_recado-load"))
            .arg("receiver")
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("it starts");
        let stdout = child.stdout.take().expect("it is piped");
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line).expect("a line");
        Self { child, addresses: serde_json::from_str(&line).expect("JSON") }
    }

    fn address(&self, kind: &str, index: usize) -> String {
        let url = match kind {
            "control" => &self.addresses[kind],
            _ => &self.addresses[kind][index],
        };
        let url = url.as_str().expect("an address");
        url.trim_start_matches("http://").trim_end_matches("/hook").to_owned()
    }
}

/// Sends bytes and reads until the answer contains `end`.
fn exchange(stream: &mut TcpStream, request: &str, end: &[u8]) -> Vec<u8> {
    stream.set_read_timeout(Some(Duration::from_secs(10))).expect("a timeout");
    stream.write_all(request.as_bytes()).expect("written");
    let (mut answer, mut buffer) = (Vec::new(), [0; 4096]);
    while !answer.windows(end.len()).any(|part| part == end) {
        let read = stream.read(&mut buffer).expect("an answer");
        assert!(read > 0, "ended after {}", String::from_utf8_lossy(&answer));
        answer.extend(&buffer[..read]);
    }
    answer
}

fn post(body: &str) -> String {
    format!(
        "POST /hook HTTP/1.1\r\nhost: x\r\nx-service-delivery: 0193a5c0-0000-7000-8000-0000000000ff\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len()
    )
}

#[test]
fn healthy_receivers_keep_connections_and_tell_what_arrived_where() {
    let receivers = Receivers::start(&["--healthy", "2"]);
    let mut stream = TcpStream::connect(receivers.address("healthy", 1)).expect("connected");
    for number in [7, 8] {
        let body = format!(r#"{{"data":{{"content":"recado-load mark {number:012}"}}}}"#);
        let answer = exchange(&mut stream, &post(&body), b"\r\n\r\n");
        assert!(answer.starts_with(b"HTTP/1.1 204"), "{}", String::from_utf8_lossy(&answer));
    }
    let mut control = TcpStream::connect(receivers.address("control", 0)).expect("connected");
    let count = exchange(&mut control, "GET /count HTTP/1.1\r\nhost: x\r\n\r\n", b"\r\n\r\n2");
    assert!(count.starts_with(b"HTTP/1.1 200"));
    let take = "POST /take HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n";
    // The last field of an arrival is the receiver's number.
    let taken = exchange(&mut control, take, &[0xff, 0, 1]);
    let head = taken.windows(4).position(|part| part == b"\r\n\r\n").expect("a head") + 4;
    let mut body = taken[head..].to_vec();
    while body.len() < 2 * 34 {
        let mut rest = [0; 34];
        control.read_exact(&mut rest).expect("the rest");
        body.extend(rest);
    }
    let marks: Vec<u8> = body.chunks(34).map(|arrival| arrival[15]).collect();
    assert_eq!(marks, [7, 8]);
    let again = exchange(&mut control, take, b"\r\n\r\n");
    assert!(String::from_utf8_lossy(&again).contains("content-length: 0"));
}

#[test]
fn harmful_receivers_refuse_flood_and_keep_silent() {
    let receivers =
        Receivers::start(&["--healthy", "0", "--dead", "1", "--silent", "1", "--flooding", "1"]);
    assert!(TcpStream::connect(receivers.address("dead", 0)).is_err());

    let mut flooding = TcpStream::connect(receivers.address("flooding", 0)).expect("connected");
    exchange(&mut flooding, &post("{}"), b"200 OK");
    flooding.read_exact(&mut vec![0; 1024 * 1024]).expect("more than anybody wants");

    let mut silent = TcpStream::connect(receivers.address("silent", 0)).expect("connected");
    silent.write_all(post("{}").as_bytes()).expect("written");
    silent.set_read_timeout(Some(Duration::from_millis(200))).expect("a timeout");
    assert!(silent.read(&mut [0; 1]).is_err(), "nothing comes, not even an end");
}
