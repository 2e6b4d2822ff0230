//! Outbound HTTP calls: one request, and one response or a classified failure.

mod host;
mod special;

use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use futures_util::stream::{self, BoxStream, StreamExt};
use serde_json::Value;

use crate::Timestamp;
use crate::documents::{FRAME_BYTES, FileError, StoredFile};

pub(crate) use host::read_port;
pub use host::{Host, Origin};
pub use special::is_special;
pub(crate) use special::v4_within;

/// How long a call may take in all unless it says otherwise.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);
/// How much of an answer is read unless the call says otherwise.
const DEFAULT_ANSWER_BYTES: usize = 64 * 1024;
/// How long a connection may have been unused to serve a request that must not be repeated: servers
/// close theirs after a few seconds, and a request that meets a closing one has an unknown outcome.
const ONCE_IDLE: Duration = Duration::from_secs(2);
/// The longest wait accepted from `Retry-After`.
const MAX_RETRY_AFTER: Duration = Duration::from_hours(24);

/// The method of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// GET.
    Get,
    /// POST.
    Post,
    /// PUT.
    Put,
    /// PATCH.
    Patch,
    /// DELETE.
    Delete,
}

impl Method {
    /// Its name on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
        }
    }
}

/// How the bytes of an attached file are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileEncoding {
    /// As they are.
    Raw,
    /// In base64, with padding.
    Base64,
}

/// A file within the body of a request: it follows [`body`](OutboundRequest::body), and `tail`
/// follows it. It is read in frames while the request is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttachedFile {
    /// The file.
    pub file: StoredFile,
    /// How it is written.
    pub encoding: FileEncoding,
    /// What follows it.
    pub tail: Vec<u8>,
}

impl AttachedFile {
    /// How many bytes of the body it makes, with its tail.
    pub const fn len(&self) -> u64 {
        let file = match self.encoding {
            FileEncoding::Raw => self.file.size(),
            FileEncoding::Base64 => self.file.size().div_ceil(3) * 4,
        };
        file + self.tail.len() as u64
    }

    /// Whether it makes no byte.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// An outbound request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutboundRequest {
    /// The method.
    pub method: Method,
    /// The whole URL.
    pub url: String,
    /// Headers beyond those that HTTP itself needs.
    pub headers: Vec<(String, String)>,
    /// The body; empty for none.
    pub body: Vec<u8>,
    /// A file that goes on with the body.
    pub attached: Option<AttachedFile>,
    /// How long DNS, connecting, TLS and the answer may take together. With an attached file it
    /// begins anew with every frame that the peer takes, up to a limit that grows with the file
    /// (R347).
    pub timeout: Duration,
    /// How many bytes of the answer's body are read; the rest is dropped.
    pub answer_limit: usize,
    /// Whether the status line is all that counts: a body that ends early or does not come in time
    /// is cut where it ended, and is no failure (D53).
    pub status_decides: bool,
    /// Whether the request may be sent once more, on a new connection, when a connection that had
    /// served before breaks without a byte of an answer. Not for what must not arrive twice, and
    /// not for a delivery, whose every arrival is an attempt (D53).
    pub repeatable: bool,
    /// How long a connection may have been unused to serve this request; `None` leaves it to the
    /// transport. A request that must not be repeated should not use a connection that the peer may
    /// be about to close.
    pub max_idle: Option<Duration>,
}

impl OutboundRequest {
    /// A GET of `url`.
    pub fn get(url: impl Into<String>) -> Self {
        Self {
            method: Method::Get,
            url: url.into(),
            headers: Vec::new(),
            body: Vec::new(),
            attached: None,
            timeout: DEFAULT_TIMEOUT,
            answer_limit: DEFAULT_ANSWER_BYTES,
            status_decides: false,
            repeatable: false,
            max_idle: None,
        }
    }

    /// A POST of `body` to `url`.
    pub fn post(url: impl Into<String>, headers: Vec<(String, String)>, body: Vec<u8>) -> Self {
        Self { method: Method::Post, headers, body, ..Self::get(url) }
    }

    /// A POST of JSON to `url`, with its `content-type`.
    pub fn post_json(url: impl Into<String>, body: &Value) -> Self {
        Self::get(url).with_method(Method::Post).with_json(body)
    }

    /// A PUT of JSON to `url`, with its `content-type`.
    pub fn put_json(url: impl Into<String>, body: &Value) -> Self {
        Self::get(url).with_method(Method::Put).with_json(body)
    }

    /// A PATCH of JSON to `url`, with its `content-type`.
    pub fn patch_json(url: impl Into<String>, body: &Value) -> Self {
        Self::get(url).with_method(Method::Patch).with_json(body)
    }

    /// A DELETE of `url`.
    pub fn delete(url: impl Into<String>) -> Self {
        Self::get(url).with_method(Method::Delete)
    }

    /// The same with another method.
    #[must_use]
    pub fn with_method(mut self, method: Method) -> Self {
        self.method = method;
        self
    }

    /// The same with a body of JSON and its `content-type`.
    #[must_use]
    pub fn with_json(mut self, body: &Value) -> Self {
        self.body = body.to_string().into_bytes();
        self.header("content-type", "application/json")
    }

    /// The same with one more header.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// The same with a file that goes on with the body.
    #[must_use]
    pub fn with_file(mut self, file: AttachedFile) -> Self {
        self.attached = Some(file);
        self
    }

    /// The whole body in memory, for transports of tests.
    ///
    /// # Errors
    ///
    /// When the attached file cannot be read.
    pub async fn whole_body(&self) -> Result<Vec<u8>, FileError> {
        let mut body = self.body.clone();
        if let Some(AttachedFile { file, encoding, tail }) = &self.attached {
            let bytes = file.open().await?.read_to_end().await?;
            match encoding {
                FileEncoding::Raw => body.extend(bytes),
                FileEncoding::Base64 => body.extend(STANDARD.encode(bytes).into_bytes()),
            }
            body.extend_from_slice(tail);
        }
        Ok(body)
    }

    /// The same for a request that changes something and must not arrive twice: it is never
    /// repeated, and uses no connection that the peer may be about to close.
    #[must_use]
    pub fn once(mut self) -> Self {
        self.repeatable = false;
        self.max_idle = Some(ONCE_IDLE);
        self
    }

    /// The same for a request that only reads, and may be repeated once.
    #[must_use]
    pub fn repeatable(mut self) -> Self {
        self.repeatable = true;
        self
    }

    /// The same with another time limit.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// The same with another limit on the answer.
    #[must_use]
    pub fn with_answer_limit(mut self, bytes: usize) -> Self {
        self.answer_limit = bytes;
        self
    }
}

/// The response to an outbound request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutboundResponse {
    /// The status code.
    pub status: u16,
    /// Header names in lower case with their values, in their order; those that are not text are
    /// left out.
    pub headers: Vec<(String, String)>,
    /// The body, up to the request's limit.
    pub body: Vec<u8>,
}

impl OutboundResponse {
    /// An answer without headers.
    pub fn new(status: u16, body: impl Into<Vec<u8>>) -> Self {
        Self { status, headers: Vec::new(), body: body.into() }
    }

    /// The same with one more header; its name in lower case.
    #[must_use]
    pub fn with_header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// The first value of a header, named in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    /// The body as JSON; null if it is not JSON.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    /// The wait of `Retry-After`: in seconds, or until a time that is compared with the answer's
    /// own `Date`. At most 24 hours; `None` if it cannot be read. R151.
    pub fn retry_after(&self) -> Option<Duration> {
        let said = self.header("retry-after")?.trim();
        let wait = match said.bytes().all(|byte| byte.is_ascii_digit()) {
            true => Duration::from_secs(said.parse().ok()?),
            false => http_date(said)?.since(http_date(self.header("date")?)?),
        };
        Some(wait.min(MAX_RETRY_AFTER))
    }
}

/// A time as HTTP writes it: `Sun, 06 Nov 1994 08:49:37 GMT`.
fn http_date(text: &str) -> Option<Timestamp> {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let (_, date) = text.trim().split_once(", ")?;
    let parts: Vec<&str> = date.split(' ').collect();
    let [day, month, year, time, "GMT"] = parts[..] else { return None };
    let month = MONTHS.iter().position(|name| *name == month)? + 1;
    Timestamp::parse(&format!("{year}-{month:02}-{day}T{time}Z"))
}

/// The head of an answer, and its body as it comes (R346).
pub struct OpenAnswer {
    /// The status code.
    pub status: u16,
    /// Header names in lower case with their values, in their order.
    pub headers: Vec<(String, String)>,
    /// The body, in frames that are read when they are asked for. Dropping it ends the call.
    pub body: BoxStream<'static, Result<Vec<u8>, TransportError>>,
}

impl fmt::Debug for OpenAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenAnswer").field("status", &self.status).finish_non_exhaustive()
    }
}

impl OpenAnswer {
    /// The first value of a header, named in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }
}

impl From<OutboundResponse> for OpenAnswer {
    fn from(answer: OutboundResponse) -> Self {
        let OutboundResponse { status, headers, body } = answer;
        let frames: Vec<_> = body.chunks(FRAME_BYTES).map(|frame| Ok(frame.to_vec())).collect();
        Self { status, headers, body: stream::iter(frames).boxed() }
    }
}

/// Why there is no answer. [`TransportError::may_have_arrived`] tells whether the request may have
/// arrived.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TransportError {
    /// The URL cannot be called.
    #[error("the address cannot be called: {0}")]
    InvalidUrl(String),
    /// The address is one that must not be called (D54, R230).
    #[error("the address is not allowed")]
    Forbidden,
    /// The name does not resolve.
    #[error("the name does not resolve")]
    Dns,
    /// The connection was refused.
    #[error("the connection was refused")]
    Refused,
    /// TLS failed.
    #[error("TLS failed")]
    Tls,
    /// No answer in time.
    #[error("timed out")]
    TimedOut {
        /// Whether the request had been written.
        after_sending: bool,
    },
    /// The connection broke.
    #[error("the connection broke")]
    Broken {
        /// Whether the request had been written.
        after_sending: bool,
    },
}

impl TransportError {
    /// Whether the request may have arrived.
    pub const fn may_have_arrived(&self) -> bool {
        matches!(
            self,
            Self::TimedOut { after_sending: true } | Self::Broken { after_sending: true }
        )
    }
}

/// Sends outbound requests. Called between use cases, never inside one.
#[async_trait]
pub trait Transport: Send + Sync {
    /// Sends one request, follows no redirect, and waits for one answer.
    ///
    /// # Errors
    ///
    /// A classified failure; the request is never repeated by the transport once it may have
    /// arrived, unless it is [repeatable](OutboundRequest::repeatable).
    async fn send(&self, request: OutboundRequest) -> Result<OutboundResponse, TransportError>;

    /// Sends one request, follows no redirect, and answers as soon as the head of the answer is
    /// there; the body is read as it comes (R346). The head has to come within `answer_within`, and
    /// the whole body within the request's time limit; of the body no more is read than the
    /// request allows. By default the body is read first.
    ///
    /// # Errors
    ///
    /// As [`Transport::send`]; those of the body come in its place.
    async fn open(
        &self,
        request: OutboundRequest,
        _answer_within: Duration,
    ) -> Result<OpenAnswer, TransportError> {
        self.send(request).await.map(OpenAnswer::from)
    }

    /// Resolves the host of `url` and checks that it may be called (D54), as [`Transport::send`]
    /// would, without calling it.
    ///
    /// # Errors
    ///
    /// [`TransportError::InvalidUrl`], [`TransportError::Forbidden`], [`TransportError::Dns`], or
    /// [`TransportError::TimedOut`] when resolving takes too long.
    async fn check(&self, url: &str) -> Result<(), TransportError>;

    /// The time since some fixed moment, by a monotonic clock. An operation of several requests
    /// with one time limit reads it before and after each. `None` if there is no such clock; then
    /// each request counts with its full time limit.
    fn elapsed(&self) -> Option<Duration> {
        None
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn waits(retry_after: &str, date: Option<&str>) -> Option<u64> {
        let answer = OutboundResponse::new(429, "").with_header("retry-after", retry_after);
        let answer = date.into_iter().fold(answer, |answer, date| answer.with_header("date", date));
        answer.retry_after().map(|wait| wait.as_secs())
    }

    /// R151.
    #[test]
    fn retry_after_is_a_number_of_seconds_or_a_time() {
        let date = Some("Sun, 06 Nov 1994 08:49:37 GMT");
        assert_eq!(waits("120", None), Some(120));
        assert_eq!(waits(" 0 ", None), Some(0));
        assert_eq!(waits("Sun, 06 Nov 1994 08:51:00 GMT", date), Some(83));
        assert_eq!(waits("Sun, 06 Nov 1994 08:40:00 GMT", date), Some(0));
        assert_eq!(waits("999999999", None), Some(24 * 60 * 60));
        for nonsense in ["", "-1", "+1", "1.5", "soon", "Sun, 06 Nov 1994", "99999999999999999999"]
        {
            assert_eq!(waits(nonsense, date), None, "{nonsense}");
        }
        assert_eq!(waits("Sun, 06 Nov 1994 08:51:00 GMT", None), None);
        assert_eq!(OutboundResponse::new(429, "").retry_after(), None);
    }

    #[test]
    fn a_request_of_json_says_so() {
        let body = json!({"to": "1"});
        for (request, method) in [
            (OutboundRequest::post_json("http://a", &body), Method::Post),
            (OutboundRequest::put_json("http://a", &body), Method::Put),
            (OutboundRequest::patch_json("http://a", &body), Method::Patch),
        ] {
            assert_eq!((request.method, &*request.body), (method, &br#"{"to":"1"}"#[..]));
            let json = ("content-type".to_owned(), "application/json".to_owned());
            assert_eq!(request.headers, [json]);
        }
        let delete = OutboundRequest::delete("http://a").header("a", "b").once();
        assert_eq!(delete.method.as_str(), "DELETE");
        assert_eq!((delete.repeatable, delete.max_idle), (false, Some(ONCE_IDLE)));
    }

    #[test]
    fn a_body_that_is_no_json_is_null() {
        assert_eq!(OutboundResponse::new(200, "{\"a\": 1}").json(), json!({"a": 1}));
        assert_eq!(OutboundResponse::new(200, "<html>").json(), Value::Null);
    }
}
