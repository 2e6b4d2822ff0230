//! Fakes of gateways. Each checks every request as strictly as the real gateway, keeps the messages
//! it accepted, and makes the webhooks that the real gateway sends.
//!
//! A fake is a [`Gateway`]: a function from a request to a [`Reply`]. It can be called within the
//! process, through [`InProcess`]. It can also run behind a real HTTP server, which has to follow
//! the reply's [`AnswerMode`].

pub mod cloud;
pub mod evolution;
pub mod form;
mod signing;
pub mod waha;

use std::collections::VecDeque;
use std::time::Duration;

use async_trait::async_trait;
pub use cloud::{AcceptedSend, FakeCloud, graph_error, graph_failure};
pub use evolution::{EvolutionSent, EvolutionVersion, FakeEvolution};
use recado_core::gateway::ProviderWebhook;
use recado_core::transport::{OutboundRequest, OutboundResponse, Transport, TransportError};
use serde_json::Value;
pub use signing::{hex_hmac_sha256, hex_hmac_sha512};
pub use waha::{FakeWaha, WahaEngine, WahaGroup, WahaSent};

/// A request as a gateway receives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FakeRequest {
    /// `GET`, `POST` or another.
    pub method: String,
    /// The path, still percent-encoded, without the query.
    pub path: String,
    /// Decoded query parameters.
    pub query: Vec<(String, String)>,
    /// Header names in lower case with their values.
    pub headers: Vec<(String, String)>,
    /// The raw body.
    pub body: Vec<u8>,
}

impl FakeRequest {
    /// A request of a transport, as the gateway would receive it, without a file that is attached
    /// to it.
    pub fn of(request: &OutboundRequest) -> Self {
        let method = request.method.as_str();
        let after_scheme = request.url.split_once("://").map_or(&*request.url, |(_, rest)| rest);
        let target = after_scheme.find('/').map_or("/", |start| &after_scheme[start..]);
        let headers = request.headers.iter();
        Self::new(
            method,
            target,
            headers.map(|(name, value)| (name.to_ascii_lowercase(), value.clone())).collect(),
            request.body.clone(),
        )
    }

    /// A request. `target` is that of the request line: a path with an optional query.
    pub fn new(method: &str, target: &str, headers: Vec<(String, String)>, body: Vec<u8>) -> Self {
        let target = target.split('#').next().unwrap_or_default();
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let query = query.split('&').filter(|pair| !pair.is_empty()).map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (decode(name, true), decode(value, true))
        });
        Self {
            method: method.to_owned(),
            path: path.to_owned(),
            query: query.collect(),
            headers,
            body,
        }
    }

    /// The segments of the path, each percent-decoded.
    pub fn segments(&self) -> Vec<String> {
        self.path.trim_start_matches('/').split('/').map(|segment| decode(segment, false)).collect()
    }

    /// The value of a header (name in lower case); `None` if it is missing or occurs more than
    /// once.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut values = self.headers.iter().filter(|(known, _)| known == name);
        let (_, value) = values.next()?;
        values.next().is_none().then_some(value.as_str())
    }

    /// The value of a query parameter; `None` if it is missing or occurs more than once.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        let mut values = self.query.iter().filter(|(known, _)| known == name);
        let (_, value) = values.next()?;
        values.next().is_none().then_some(value.as_str())
    }

    /// The body as JSON.
    pub fn json(&self) -> Option<Value> {
        serde_json::from_slice(&self.body).ok()
    }
}

/// Percent-decodes a text. An invalid sequence is left as it is.
pub fn decode(text: &str, plus_is_space: bool) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let coded = after.get(..2).and_then(|pair| std::str::from_utf8(pair).ok());
        match coded.and_then(|pair| u8::from_str_radix(pair, 16).ok()) {
            Some(byte) if first == b'%' => {
                bytes.push(byte);
                rest = &after[2..];
            }
            _ => {
                bytes.push(if first == b'+' && plus_is_space { b' ' } else { first });
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// What happens to an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AnswerMode {
    /// The answer arrives.
    #[default]
    Answer,
    /// The answer arrives after this time.
    Late(Duration),
    /// The gateway handles the request, and the connection closes without an answer.
    Drop,
    /// The connection is refused: the gateway does not handle the request.
    Refuse,
}

/// A gateway's answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// The status code.
    pub status: u16,
    /// The body.
    pub body: Vec<u8>,
    /// What happens to the answer.
    pub mode: AnswerMode,
}

impl Reply {
    /// A JSON answer that arrives.
    pub fn json(status: u16, body: &Value) -> Self {
        Self::bytes(status, body.to_string().into_bytes())
    }

    /// An answer of any bytes that arrives.
    pub const fn bytes(status: u16, body: Vec<u8>) -> Self {
        Self { status, body, mode: AnswerMode::Answer }
    }

    /// No answer: the connection is refused.
    pub const fn refused() -> Self {
        Self { status: 503, body: Vec::new(), mode: AnswerMode::Refuse }
    }

    /// The same answer with another mode.
    #[must_use]
    pub const fn with_mode(mut self, mode: AnswerMode) -> Self {
        self.mode = mode;
        self
    }
}

/// How a gateway handles the next send. Sends beyond the script are [`SendBehaviour::Accept`].
#[derive(Clone, Debug, Default, PartialEq)]
pub enum SendBehaviour {
    /// Accepts the message and answers.
    #[default]
    Accept,
    /// Accepts the message and closes the connection without an answer.
    AcceptThenDrop,
    /// Accepts the message and answers after this time.
    AcceptLate(Duration),
    /// Accepts the message and answers with a success without an id.
    AcceptWithoutId,
    /// Accepts the message and still answers with this error.
    AcceptThenError(u16, Value),
    /// Does not accept the message: answers an error with a JSON body.
    Error(u16, Value),
    /// Does not accept the message: answers an error whose body is not JSON.
    Broken(u16),
    /// Refuses the connection.
    Refuse,
}

/// The behaviours of the next sends, in order.
#[derive(Clone, Debug, Default)]
pub struct Script(VecDeque<SendBehaviour>);

impl Script {
    /// Adds behaviours at the end.
    pub fn extend(&mut self, behaviours: impl IntoIterator<Item = SendBehaviour>) {
        self.0.extend(behaviours);
    }

    /// Removes and answers the behaviour of the next send.
    pub fn next_send(&mut self) -> SendBehaviour {
        self.0.pop_front().unwrap_or_default()
    }
}

/// A webhook as a gateway sends it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedWebhook {
    /// Header names in lower case with their values.
    pub headers: Vec<(String, String)>,
    /// Query parameters, not encoded.
    pub query: Vec<(String, String)>,
    /// The raw body.
    pub body: Vec<u8>,
}

impl SignedWebhook {
    /// The webhook as the core receives it.
    pub fn webhook(&self) -> ProviderWebhook {
        ProviderWebhook {
            headers: self.headers.clone(),
            query: self.query.clone(),
            body: self.body.clone(),
        }
    }

    /// The same webhook with another value of a header. The header is added if it is missing.
    #[must_use]
    pub fn with_header(mut self, name: &str, value: &str) -> Self {
        self.headers.retain(|(known, _)| known != name);
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The same webhook without a header.
    #[must_use]
    pub fn without_header(mut self, name: &str) -> Self {
        self.headers.retain(|(known, _)| known != name);
        self
    }

    /// The same webhook with another body, and the signature of the original body.
    #[must_use]
    pub fn with_body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }
}

/// A gateway: answers requests.
pub trait Gateway: Send + Sync {
    /// Answers a request. The gateway has handled the request unless the reply's mode is
    /// [`AnswerMode::Refuse`].
    fn answer(&self, request: &FakeRequest) -> Reply;

    /// Whether the gateway is at this URL. For other URLs a transport to it fails.
    fn serves(&self, _url: &str) -> bool {
        true
    }
}

/// A transport to a gateway in the same process. No time passes: an answer that is later than the
/// request's time limit is a timeout at once, and an earlier one arrives at once.
#[derive(Clone, Debug)]
pub struct InProcess<G>(pub G);

#[async_trait]
impl<G: Gateway> Transport for InProcess<G> {
    async fn send(&self, request: OutboundRequest) -> Result<OutboundResponse, TransportError> {
        if !self.0.serves(&request.url) {
            return Err(TransportError::Dns);
        }
        // A file that cannot be read breaks the connection amid the request.
        let unread = |_| TransportError::Broken { after_sending: false };
        let body = request.whole_body().await.map_err(unread)?;
        let reply = self.0.answer(&FakeRequest { body, ..FakeRequest::of(&request) });
        match reply.mode {
            AnswerMode::Refuse => Err(TransportError::Refused),
            AnswerMode::Drop => Err(TransportError::Broken { after_sending: true }),
            AnswerMode::Late(wait) if wait >= request.timeout => {
                Err(TransportError::TimedOut { after_sending: true })
            }
            AnswerMode::Answer | AnswerMode::Late(_) => {
                let mut body = reply.body;
                body.truncate(request.answer_limit);
                Ok(OutboundResponse::new(reply.status, body))
            }
        }
    }

    async fn check(&self, url: &str) -> Result<(), TransportError> {
        if self.0.serves(url) { Ok(()) } else { Err(TransportError::Dns) }
    }

    fn elapsed(&self) -> Option<Duration> {
        Some(Duration::ZERO)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_taken_apart_as_a_server_would() {
        let url = "https://a.example:8/v1/a%2Fb/c?x=1%262&y=a+b&z#f";
        let request = FakeRequest::of(&OutboundRequest::get(url));
        assert_eq!((&*request.method, &*request.path), ("GET", "/v1/a%2Fb/c"));
        assert_eq!(request.segments(), ["v1", "a/b", "c"]);
        assert_eq!(request.parameter("x"), Some("1&2"));
        assert_eq!(request.parameter("y"), Some("a b"));
        assert_eq!(request.parameter("z"), Some(""));
        assert_eq!(decode("100%", false), "100%");
        assert_eq!(decode("%C3%A9+%zz", false), "é+%zz");
    }

    #[test]
    fn a_script_ends_in_acceptance() {
        let mut script = Script::default();
        script.extend([SendBehaviour::Refuse]);
        assert_eq!(script.next_send(), SendBehaviour::Refuse);
        assert_eq!(script.next_send(), SendBehaviour::Accept);
    }
}
