//! Calls to the outside: one HTTP request, one response or a classified failure.

use std::time::Duration;

use async_trait::async_trait;

/// How long a call may take in all unless it says otherwise.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);
/// How much of an answer is read unless the call says otherwise.
const DEFAULT_ANSWER_BYTES: usize = 64 * 1024;

/// The method of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// GET.
    Get,
    /// POST.
    Post,
}

/// A request to the outside.
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
    /// How long DNS, connecting, TLS and the answer may take together.
    pub timeout: Duration,
    /// How many bytes of the answer's body are read; the rest is dropped.
    pub answer_limit: usize,
    /// Whether the status line is all that counts: a body that breaks off or does not come in time
    /// is cut where it ended, and is no failure (D53).
    pub status_decides: bool,
    /// Whether the request may be sent once more, on a new connection, when a connection that had
    /// served before breaks without a byte of an answer (D53). Not for what must not arrive twice.
    pub repeatable: bool,
    /// How long a connection may have been unused to serve this request; `None` leaves it to the
    /// transport. A request that must not be repeated fares better on a new connection than on one
    /// that the peer may be about to close.
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

/// An answer from the outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutboundResponse {
    /// The status code.
    pub status: u16,
    /// The body, up to the request's limit.
    pub body: Vec<u8>,
}

/// Why there is no answer. What matters to a caller is whether the request may have arrived.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TransportError {
    /// The URL cannot be called.
    #[error("the address cannot be called: {0}")]
    InvalidUrl(String),
    /// The address is one that must not be called (D54).
    #[error("the address is not allowed")]
    Forbidden,
    /// The name does not resolve.
    #[error("the name does not resolve")]
    Dns,
    /// Nobody accepts connections there.
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

/// Sends requests to the outside. Called between use cases, never inside one.
#[async_trait]
pub trait Transport: Send + Sync {
    /// Sends one request, follows no redirect, and waits for one answer.
    ///
    /// # Errors
    ///
    /// A classified failure; the request is never repeated by the transport once it may have
    /// arrived, unless it is [repeatable](OutboundRequest::repeatable).
    async fn send(&self, request: OutboundRequest) -> Result<OutboundResponse, TransportError>;

    /// Resolves the host of `url` and checks that it may be called (D54), as [`Transport::send`]
    /// would, without calling it.
    ///
    /// # Errors
    ///
    /// [`TransportError::InvalidUrl`], [`TransportError::Forbidden`], [`TransportError::Dns`], or
    /// [`TransportError::TimedOut`] when resolving takes too long.
    async fn check(&self, url: &str) -> Result<(), TransportError>;

    /// The time that has passed since some moment, by a clock that only goes forward: what takes
    /// several requests and has one time limit asks before and after each. `None` where there is no
    /// such clock; then each request has to be taken to last as long as it may.
    fn elapsed(&self) -> Option<Duration> {
        None
    }
}
