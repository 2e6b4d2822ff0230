//! A receiver of webhooks on a real socket. It records every request, and its answers can be
//! complete, slow, missing, endless or incomplete.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use hmac::{Hmac, KeyInit, Mac};
use serde_json::Value;
use sha2::Sha256;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

use crate::world::eventually;

/// A request as it was received.
#[derive(Clone, Debug)]
pub struct Received {
    /// The method.
    pub method: String,
    /// Path and query.
    pub path: String,
    /// The headers, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The raw body.
    pub body: Vec<u8>,
    /// The number of the connection.
    pub connection: usize,
    /// The time when its last byte was received.
    pub at: Instant,
}

impl Received {
    /// A header, or `None`. Panics if it occurs twice.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut found = self.headers.iter().filter(|(known, _)| known == name);
        let value = found.next().map(|(_, value)| value.as_str());
        assert!(found.next().is_none(), "{name} is there twice: {:?}", self.headers);
        value
    }

    /// The body as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| {
            panic!("no JSON ({error}): {}", String::from_utf8_lossy(&self.body))
        })
    }

    /// The body as text.
    pub fn text(&self) -> String {
        String::from_utf8(self.body.clone()).expect("the body is UTF-8")
    }

    /// The `data` of the envelope.
    pub fn data(&self) -> Value {
        self.json()["data"].clone()
    }

    /// The `event` of the envelope; the header must have the same value.
    pub fn event(&self) -> String {
        let event = crate::text(&self.json()["event"]);
        assert_eq!(self.header("x-service-event"), Some(event.as_str()));
        event
    }

    /// The id of the delivery, in the header and in the body.
    pub fn delivery(&self) -> String {
        let id = crate::text(&self.json()["delivery_id"]);
        assert_eq!(self.header("x-service-delivery"), Some(id.as_str()));
        id
    }

    /// Whether this header is the signature of the body with this secret.
    pub fn is_signed(&self, header: &str, secret: &str) -> bool {
        let mac = mac(secret.as_bytes(), &self.body);
        let hex: String = mac.iter().map(|byte| format!("{byte:02x}")).collect();
        self.header(header) == Some(format!("sha256={hex}").as_str())
    }

    /// Whether one of the signatures of Standard Webhooks was made with this secret: first with the
    /// secret's text as the key, then with the bytes that the text encodes.
    pub fn has_standard_signatures(&self, secret: &str) -> [bool; 2] {
        let text = secret.strip_prefix("whsec_").expect("a secret that was made");
        let decoded = URL_SAFE_NO_PAD.decode(text).expect("base64url");
        let header = |name: &str| self.header(name).unwrap_or_default().to_owned();
        let mut signed = format!("{}.{}.", header("webhook-id"), header("webhook-timestamp"));
        signed.push_str(&self.text());
        let all = header("webhook-signature");
        let has = |key: &[u8]| {
            let wanted = format!("v1,{}", STANDARD.encode(mac(key, signed.as_bytes())));
            all.split(' ').any(|one| one == wanted)
        };
        [has(secret.as_bytes()), has(&decoded)]
    }
}

fn mac(key: &[u8], message: &[u8]) -> Vec<u8> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("any key");
    mac.update(message);
    mac.finalize().into_bytes().to_vec()
}

/// How a request is answered.
#[derive(Clone, Debug)]
pub enum Reply {
    /// A complete answer: status, headers, body.
    Whole(u16, Vec<(String, String)>, Vec<u8>),
    /// A complete answer after a time.
    After(Duration, u16),
    /// A complete answer after the test [releases](Receiver::release) it.
    Held(u16),
    /// No answer; the connection stays open until the caller closes it.
    Never,
    /// The connection is closed without an answer.
    Hangup,
    /// 200, after which the connection is closed without a word of it in the answer.
    ThenClose,
    /// A status and headers, and then nothing instead of the announced body.
    StallAfterHeaders(u16),
    /// A status, headers and a few bytes of the announced body; then the connection is closed.
    BreakOff(u16),
    /// A status and a body of this many bytes.
    Huge(u16, u64),
    /// A status and an endless body.
    Flood(u16),
    /// Endless headers.
    FloodHeaders(u16),
    /// These bytes; then the connection is closed.
    Raw(Vec<u8>),
}

impl Reply {
    /// A status with an empty body.
    pub fn status(status: u16) -> Self {
        Self::body(status, "")
    }

    /// A status with a body.
    pub fn body(status: u16, body: impl Into<Vec<u8>>) -> Self {
        Self::Whole(status, Vec::new(), body.into())
    }

    /// A status with a header.
    pub fn header(status: u16, name: &str, value: &str) -> Self {
        Self::Whole(status, vec![(name.to_owned(), value.to_owned())], Vec::new())
    }
}

#[derive(Debug, Default)]
struct State {
    next: BTreeMap<String, VecDeque<Reply>>,
    otherwise: BTreeMap<String, Reply>,
    received: Vec<Received>,
    ids: BTreeSet<String>,
    connections: usize,
    closed: usize,
    in_flight: BTreeMap<String, usize>,
    most_in_flight: BTreeMap<String, usize>,
    fails: BTreeMap<String, (u32, u32, u16)>,
    unheard: u64,
}

/// A receiver. Clones are handles on the same receiver.
#[derive(Clone, Debug)]
pub struct Receiver {
    /// The address that it listens on.
    pub addr: SocketAddr,
    state: Arc<Mutex<State>>,
    released: watch::Sender<u64>,
}

impl Receiver {
    /// A receiver that answers every request with 200.
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let addr = listener.local_addr().expect("an address");
        let receiver = Self { addr, state: Arc::default(), released: watch::Sender::new(0) };
        let shared = receiver.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let number = {
                    let mut state = shared.state();
                    state.connections += 1;
                    state.connections
                };
                let shared = shared.clone();
                tokio::spawn(async move {
                    shared.clone().serve(stream, number).await;
                    shared.state().closed += 1;
                });
            }
        });
        receiver
    }

    /// The URL of a path.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.addr)
    }

    /// Sets the answer of a path.
    pub fn answers(&self, path: &str, reply: Reply) {
        self.state().otherwise.insert(path.to_owned(), reply);
    }

    /// Adds an answer of a path that is used once, before the other one.
    pub fn then(&self, path: &str, reply: Reply) -> &Self {
        self.state().next.entry(path.to_owned()).or_default().push_back(reply);
        self
    }

    /// Makes a path answer one of every `every` deliveries with a status, at its first attempt.
    pub fn fails_every(&self, path: &str, every: u32, status: u16) {
        self.state().fails.insert(path.to_owned(), (0, every, status));
    }

    /// Answers all requests that are held.
    pub fn release(&self) {
        self.released.send_modify(|count| *count += 1);
    }

    /// All requests so far, in the order in which they came.
    pub fn all(&self) -> Vec<Received> {
        self.state().received.clone()
    }

    /// The requests to a path.
    pub fn to(&self, path: &str) -> Vec<Received> {
        let state = self.state();
        state.received.iter().filter(|one| one.path == path).cloned().collect()
    }

    /// The number of requests to a path.
    pub fn count(&self, path: &str) -> usize {
        self.state().received.iter().filter(|one| one.path == path).count()
    }

    /// The number of different deliveries, on all paths together.
    pub fn deliveries(&self) -> usize {
        self.state().ids.len()
    }

    /// The only request to a path.
    pub fn only(&self, path: &str) -> Received {
        let mut all = self.to(path);
        assert_eq!(all.len(), 1, "one request was expected: {all:?}");
        all.remove(0)
    }

    /// Waits until there were this many requests to a path, and returns them.
    pub async fn reaches(&self, path: &str, count: usize) -> Vec<Received> {
        eventually(&format!("{count} requests to {path}"), || async {
            (self.count(path) >= count).then(|| self.to(path))
        })
        .await
    }

    /// The number of accepted connections.
    pub fn connections(&self) -> usize {
        self.state().connections
    }

    /// Waits until the receiver has closed every connection that it accepted.
    pub async fn closes_all(&self) {
        eventually("every connection is closed", || async {
            let state = self.state();
            (state.closed == state.connections).then_some(())
        })
        .await;
    }

    /// The greatest number of open requests to a path at the same time.
    pub fn most_in_flight(&self, path: &str) -> usize {
        self.state().most_in_flight.get(path).copied().unwrap_or(0)
    }

    /// The number of open requests to a path.
    pub fn in_flight(&self, path: &str) -> usize {
        self.state().in_flight.get(path).copied().unwrap_or(0)
    }

    /// How many bytes of endless and huge bodies were written before the caller closed the
    /// connection.
    pub fn written(&self) -> u64 {
        self.state().unheard
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn arrived(&self, request: Received) -> Reply {
        let mut state = self.state();
        let path = request.path.clone();
        let id = request.header("x-service-delivery").map(str::to_owned);
        let is_new = id.is_some_and(|id| state.ids.insert(id));
        state.received.push(request);
        let now = state.in_flight.entry(path.clone()).or_default();
        *now += 1;
        let now = *now;
        let most = state.most_in_flight.entry(path.clone()).or_default();
        *most = now.max(*most);
        if let Some((count, every, status)) = state.fails.get_mut(&path).filter(|_| is_new) {
            *count += 1;
            if *count % *every == 0 {
                return Reply::status(*status);
            }
        }
        let next = state.next.get_mut(&path).and_then(VecDeque::pop_front);
        next.or_else(|| state.otherwise.get(&path).cloned()).unwrap_or(Reply::status(200))
    }

    fn answered(&self, path: &str) {
        if let Some(now) = self.state().in_flight.get_mut(path) {
            *now -= 1;
        }
    }

    async fn serve(self, mut stream: TcpStream, connection: usize) {
        let _ = stream.set_nodelay(true);
        let mut buffer = Vec::new();
        while let Some(request) = read_request(&mut stream, &mut buffer, connection).await {
            let path = request.path.clone();
            let release = self.released.subscribe();
            let reply = self.arrived(request);
            let goes_on = self.reply(&mut stream, reply, release).await;
            self.answered(&path);
            if !goes_on {
                return;
            }
        }
    }

    /// Answers a request; returns whether the connection can be used again.
    async fn reply(
        &self,
        stream: &mut TcpStream,
        reply: Reply,
        mut release: watch::Receiver<u64>,
    ) -> bool {
        match reply {
            Reply::Whole(status, headers, body) => whole(stream, status, &headers, &body).await,
            Reply::After(wait, status) => {
                tokio::time::sleep(wait).await;
                whole(stream, status, &[], b"").await
            }
            Reply::Held(status) => {
                tokio::select! {
                    _ = release.changed() => whole(stream, status, &[], b"").await,
                    () = gone(stream) => false,
                }
            }
            Reply::Never => {
                gone(stream).await;
                false
            }
            Reply::Hangup => false,
            Reply::ThenClose => {
                whole(stream, 200, &[], b"").await;
                false
            }
            Reply::StallAfterHeaders(status) => {
                head(stream, status, "content-length: 1000\r\n").await;
                gone(stream).await;
                false
            }
            Reply::BreakOff(status) => {
                head(stream, status, "content-length: 1000\r\n").await;
                let _ = stream.write_all(b"half of it").await;
                false
            }
            Reply::Huge(status, length) => {
                head(stream, status, &format!("content-length: {length}\r\n")).await;
                self.pour(stream, Some(length)).await
            }
            Reply::Flood(status) => {
                head(stream, status, "connection: close\r\n").await;
                self.pour(stream, None).await
            }
            Reply::Raw(bytes) => {
                let _ = stream.write_all(&bytes).await;
                false
            }
            Reply::FloodHeaders(status) => {
                let start = format!("HTTP/1.1 {status} Something\r\n");
                let _ = stream.write_all(start.as_bytes()).await;
                while stream.write_all(&b"x-more: more\r\n".repeat(1_000)).await.is_ok() {}
                false
            }
        }
    }

    /// Writes a body of this length, or an endless one.
    async fn pour(&self, stream: &mut TcpStream, length: Option<u64>) -> bool {
        let chunk = vec![b'x'; 64 * 1024];
        let mut left = length.unwrap_or(u64::MAX);
        while left > 0 {
            let size = usize::try_from(left).unwrap_or(usize::MAX).min(chunk.len());
            let Ok(written) = stream.write(&chunk[..size]).await else { return false };
            left -= written as u64;
            self.state().unheard += written as u64;
        }
        true
    }
}

async fn head(stream: &mut TcpStream, status: u16, headers: &str) -> bool {
    let head = format!("HTTP/1.1 {status} Something\r\n{headers}\r\n");
    stream.write_all(head.as_bytes()).await.is_ok()
}

async fn whole(
    stream: &mut TcpStream,
    status: u16,
    headers: &[(String, String)],
    body: &[u8],
) -> bool {
    let mut lines: String =
        headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let has_body = status >= 200 && status != 204 && status != 304;
    if has_body {
        lines.push_str(&format!("content-length: {}\r\n", body.len()));
    }
    let mut answer = format!("HTTP/1.1 {status} Something\r\n{lines}\r\n").into_bytes();
    answer.extend_from_slice(if has_body { body } else { b"" });
    stream.write_all(&answer).await.is_ok()
}

/// Waits until the caller closes the connection.
async fn gone(stream: &mut TcpStream) {
    let mut chunk = [0; 1024];
    while !matches!(stream.read(&mut chunk).await, Ok(0) | Err(_)) {}
}

pub(crate) async fn read_request(
    stream: &mut TcpStream,
    buffer: &mut Vec<u8>,
    connection: usize,
) -> Option<Received> {
    let end = loop {
        if let Some(end) = buffer.windows(4).position(|window| window == b"\r\n\r\n") {
            break end;
        }
        more(stream, buffer).await?;
    };
    let head = String::from_utf8(buffer[..end].to_vec()).expect("the head is ASCII");
    let mut lines = head.split("\r\n");
    let mut start = lines.next()?.split(' ');
    let (method, path) = (start.next()?.to_owned(), start.next()?.to_owned());
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let length: usize = length.map_or(0, |(_, value)| value.parse().expect("a length"));
    while buffer.len() < end + 4 + length {
        more(stream, buffer).await?;
    }
    let body = buffer[end + 4..end + 4 + length].to_vec();
    buffer.drain(..end + 4 + length);
    Some(Received { method, path, headers, body, connection, at: Instant::now() })
}

async fn more(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> Option<()> {
    let mut chunk = [0; 16 * 1024];
    match stream.read(&mut chunk).await {
        Ok(0) | Err(_) => None,
        Ok(n) => {
            buffer.extend_from_slice(&chunk[..n]);
            Some(())
        }
    }
}
