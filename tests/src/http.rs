//! A small HTTP client that sends exactly the bytes of a test, including invalid requests.

use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Method};
use http_body_util::{BodyExt, Full};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::behind_proxy::Route;

/// The time limit of every answer: a server that does not answer fails the test.
const PATIENCE: Duration = Duration::from_secs(60);

/// A complete answer.
#[derive(Clone, Debug)]
pub struct ScriptedAnswer {
    /// The request, for the messages of failed assertions.
    pub asked: String,
    /// The status code.
    pub status: u16,
    /// The headers.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
}

impl ScriptedAnswer {
    /// The body as JSON.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("no JSON ({error}) in {}", self.show()))
    }

    /// The `data` of the body.
    #[track_caller]
    pub fn data(&self) -> Value {
        self.json()["data"].clone()
    }

    /// The `data` of the body as a list.
    #[track_caller]
    pub fn items(&self) -> Vec<Value> {
        let data = self.data();
        data.as_array().unwrap_or_else(|| panic!("no list in {}", self.show())).clone()
    }

    /// One field of every item of `data`, as text.
    #[track_caller]
    pub fn column(&self, field: &str) -> Vec<String> {
        self.items().iter().map(|item| text(&item[field])).collect()
    }

    /// The ids in `data`, in order.
    #[track_caller]
    pub fn ids(&self) -> Vec<String> {
        self.column("id")
    }

    /// A header as text, empty when it is missing.
    pub fn header(&self, name: &str) -> String {
        let value = self.headers.get(name).and_then(|value| value.to_str().ok());
        value.unwrap_or_default().to_owned()
    }

    /// Asserts a success with this status and the success envelope, and returns the `data`.
    #[track_caller]
    pub fn expect(&self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", self.show());
        assert_eq!(self.header("content-type"), "application/json", "{}", self.show());
        let body = self.json();
        assert_eq!(body["success"], Value::Bool(true), "{}", self.show());
        body["data"].clone()
    }

    /// Asserts the answer of a DELETE: only `success` (4.5).
    #[track_caller]
    pub fn expect_deleted(&self) {
        assert_eq!(self.status, 200, "{}", self.show());
        assert_eq!(self.json(), serde_json::json!({"success": true}), "{}", self.show());
    }

    /// Asserts an error with this status and code in the form of D4, and returns its `details`.
    #[track_caller]
    pub fn expect_error(&self, status: u16, code: &str) -> Value {
        assert_eq!(self.status, status, "{}", self.show());
        assert_eq!(self.header("content-type"), "application/json", "{}", self.show());
        let body = self.json();
        assert_eq!(body["success"], Value::Bool(false), "{}", self.show());
        assert_eq!(body["code"], code, "{}", self.show());
        let message = body["message"].as_str().unwrap_or_default();
        assert!(!message.is_empty(), "no message in {}", self.show());
        body["details"].clone()
    }

    /// Asserts a refused body (D8) and returns the names in `details.fields`, sorted. Each must
    /// have a reason.
    #[track_caller]
    pub fn expect_invalid(&self) -> Vec<String> {
        let details = self.expect_error(422, "VALIDATION_ERROR");
        let fields = details["fields"].as_array();
        let fields = fields.unwrap_or_else(|| panic!("no details.fields in {}", self.show()));
        let mut names: Vec<String> = fields.iter().map(text).collect();
        names.sort();
        let mut reasons: Vec<String> = details["reasons"]
            .as_object()
            .unwrap_or_else(|| panic!("no details.reasons in {}", self.show()))
            .keys()
            .cloned()
            .collect();
        reasons.sort();
        assert_eq!(names, reasons, "each field has a reason: {}", self.show());
        names
    }

    /// Asserts a refused query parameter (D7), which `details.parameter` must name.
    #[track_caller]
    pub fn expect_bad_parameter(&self, name: &str) {
        let details = self.expect_error(400, "INVALID_PARAMETER");
        assert_eq!(details["parameter"], name, "{}", self.show());
    }

    /// The whole answer as text, for messages.
    pub fn show(&self) -> String {
        let body = String::from_utf8_lossy(&self.body);
        let body: String = body.chars().take(2_000).collect();
        format!("{} -> {} {:?}\n{body}", self.asked, self.status, self.headers)
    }
}

/// The text of a JSON string, or else the JSON itself.
pub fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// A form with text parts and a file, with the boundary `xyz`.
pub fn form<T: AsRef<str>>(fields: &[(T, T)], name: &str, file: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    for (field, value) in fields {
        let (field, value) = (field.as_ref(), value.as_ref());
        let part =
            format!("--xyz\r\nContent-Disposition: form-data; name=\"{field}\"\r\n\r\n{value}\r\n");
        body.extend(part.into_bytes());
    }
    let head = format!(
        "--xyz\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\r\n"
    );
    body.extend(head.into_bytes());
    body.extend_from_slice(file);
    body.extend_from_slice(b"\r\n--xyz--\r\n");
    body
}

/// A request to be sent.
#[derive(Clone, Debug)]
pub struct Request {
    /// The method.
    pub method: Method,
    /// Path and query, which are sent without change.
    pub path: String,
    /// Headers, which may repeat.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Bytes,
    /// It goes to the server itself, also where there is a proxy.
    pub direct: bool,
}

impl Request {
    /// A request without credentials or body.
    pub fn new(method: &str, path: impl Into<String>) -> Self {
        let method = method.parse().expect("a method");
        let (path, headers, body) = (path.into(), Vec::new(), Bytes::new());
        Self { method, path, headers, body, direct: false }
    }

    /// Sends it to the server itself, for what is between it and its next neighbour.
    #[must_use]
    pub fn direct(mut self) -> Self {
        self.direct = true;
        self
    }

    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.push((name.to_owned(), value.into()));
        self
    }

    /// Adds the credentials.
    #[must_use]
    pub fn bearer(self, key: &str) -> Self {
        self.header("authorization", format!("Bearer {key}"))
    }

    /// Sets a JSON body.
    #[must_use]
    pub fn json(self, body: &Value) -> Self {
        self.header("content-type", "application/json").body(body.to_string())
    }

    /// Sets a body of bytes.
    #[must_use]
    pub fn body(mut self, body: impl Into<Bytes>) -> Self {
        self.body = body.into();
        self
    }

    /// Sends the request and reads the answer; `None` if the connection broke before the answer.
    pub async fn try_send(self, to: SocketAddr) -> Option<ScriptedAnswer> {
        let asked = format!("{} {}", self.method, self.path);
        let timed = tokio::time::timeout(PATIENCE, self.exchange(to, asked.clone())).await;
        timed.unwrap_or_else(|_| panic!("no answer in {PATIENCE:?}: {asked}"))
    }

    /// Sends the request and reads the answer.
    pub async fn send(self, to: SocketAddr) -> ScriptedAnswer {
        let asked = format!("{} {}", self.method, self.path);
        self.try_send(to).await.unwrap_or_else(|| panic!("the connection broke: {asked}"))
    }

    async fn exchange(self, to: SocketAddr, asked: String) -> Option<ScriptedAnswer> {
        let route = if self.direct { Route::direct(to) } else { Route::of(to, &self.path) };
        let stream = TcpStream::connect(route.to).await.ok()?;
        let io = TokioIo::new(stream);
        let (mut sender, connection) = hyper::client::conn::http1::handshake(io).await.ok()?;
        let driver = tokio::spawn(connection);
        let mut request = http::Request::builder().method(self.method).uri(&self.path);
        if !self.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
            request = request.header("host", route.host);
        }
        if let Some(cell) = route.cell {
            request = request.header("x-recado-cell", cell);
        }
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        let request = request.body(Full::new(self.body)).expect("a request");
        let response = sender.send_request(request).await.ok()?;
        let (parts, body) = response.into_parts();
        let body = body.collect().await.ok()?.to_bytes();
        drop(sender);
        driver.abort();
        Some(ScriptedAnswer { asked, status: parts.status.as_u16(), headers: parts.headers, body })
    }
}

/// Writes bytes to a connection and reads until the server closes it or the answer is complete;
/// `None` if it was closed without an answer.
pub async fn raw(to: SocketAddr, bytes: &[u8]) -> Option<ScriptedAnswer> {
    let exchange = async {
        let stream = TcpStream::connect(to).await.ok()?;
        let (mut reader, mut writer) = stream.into_split();
        let bytes = bytes.to_vec();
        // The server may answer and close before it has read everything.
        let writing = tokio::spawn(async move {
            let _ = writer.write_all(&bytes).await;
            writer
        });
        let mut answer = Vec::new();
        let mut chunk = [0; 4096];
        let parsed = loop {
            match reader.read(&mut chunk).await {
                Ok(0) | Err(_) => break parse(&answer),
                Ok(n) => answer.extend_from_slice(&chunk[..n]),
            }
            if let Some(parsed) = parse(&answer) {
                break Some(parsed);
            }
        };
        writing.abort();
        parsed
    };
    tokio::time::timeout(PATIENCE, exchange).await.expect("an answer or a closed connection")
}

fn parse(bytes: &[u8]) -> Option<ScriptedAnswer> {
    let end = bytes.windows(4).position(|window| window == b"\r\n\r\n")?;
    let head = std::str::from_utf8(&bytes[..end]).ok()?;
    let mut lines = head.split("\r\n");
    let status: u16 = lines.next()?.split(' ').nth(1)?.parse().ok()?;
    let mut headers = HeaderMap::new();
    for line in lines {
        let (name, value) = line.split_once(':')?;
        let name: http::HeaderName = name.parse().ok()?;
        headers.append(name, value.trim().parse().ok()?);
    }
    let body = &bytes[end + 4..];
    let length = headers.get("content-length").and_then(|value| value.to_str().ok());
    let length: usize = length.and_then(|value| value.parse().ok()).unwrap_or(0);
    (body.len() >= length).then(|| ScriptedAnswer {
        asked: "raw bytes".to_owned(),
        status,
        headers,
        body: Bytes::copy_from_slice(&body[..length]),
    })
}
