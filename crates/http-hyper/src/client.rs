//! The guarded client: one request, one answer or a classified failure (D22, D53, D54).

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use http::header::HOST;
use http::{HeaderMap, HeaderName, HeaderValue, Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use recado_core::transport::{
    Method, OutboundRequest, OutboundResponse, Transport, TransportError,
};
use tokio::time::{Instant, timeout_at};

use crate::connector::Connector;
use crate::exchange::{BodyRead, Live};
use crate::guard::Reach;
use crate::network::{Network, SystemNetwork};
use crate::pool::Pool;
use crate::target::OutboundTarget;

/// How long to wait for the body of an answer if only its status counts (D53, R66).
const LENIENCE: Duration = Duration::from_secs(1);
/// How long resolving may take in [`Transport::check`].
const CHECK: Duration = Duration::from_secs(10);

/// How a client behaves.
#[derive(Clone, Debug, Default)]
pub struct ClientOptions {
    /// Which addresses it may call.
    pub reach: Reach,
}

/// An HTTP client for addresses that others set. It resolves a name once for each connection,
/// refuses it if any of its addresses must not be called, and dials one that was checked. It
/// follows no redirect, ignores proxy variables, verifies TLS against the public roots, keeps
/// connections for reuse, and reads no more of an answer than the request allows.
///
/// Look-ups of names are bounded: one for each name and port at a time, which callers share, and 64
/// in all, beyond which they wait in order; the wait counts against the caller's timeout.
///
/// Clones share their connections and look-ups. It has to be used inside a tokio runtime. The task
/// that awaits [`Transport::send`] does the reading and writing: a program that sends on many
/// connections at once uses its cores best if it sends from several tasks.
#[derive(Clone)]
pub struct GuardedClient {
    connector: Connector,
    pool: Arc<Pool>,
    made_at: Instant,
}

impl std::fmt::Debug for GuardedClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GuardedClient").finish_non_exhaustive()
    }
}

impl GuardedClient {
    /// A client with these options on the network of the operating system.
    pub fn new(options: ClientOptions) -> Self {
        Self::with_network(options, Arc::new(SystemNetwork))
    }

    /// A client with another way to resolve names and open connections. The guard (D54, R230) still
    /// applies.
    pub fn with_network(options: ClientOptions, network: Arc<dyn Network>) -> Self {
        Self {
            connector: Connector::new(options.reach, network),
            pool: Arc::default(),
            made_at: Instant::now(),
        }
    }

    async fn connect(&self, target: &OutboundTarget, by: Instant) -> Result<Live, TransportError> {
        let connecting = timeout_at(by, async {
            let stream = self.connector.connect(target).await?;
            let begun = Live::begin(stream).await;
            begun.map_err(|_| TransportError::Broken { after_sending: false })
        });
        connecting.await.unwrap_or(Err(TransportError::TimedOut { after_sending: false }))
    }
}

#[async_trait]
impl Transport for GuardedClient {
    async fn send(&self, request: OutboundRequest) -> Result<OutboundResponse, TransportError> {
        let by = Instant::now() + request.timeout;
        let (limit, status_decides) = (request.answer_limit, request.status_decides);
        let (repeatable, max_idle) = (request.repeatable, request.max_idle);
        let target = OutboundTarget::parse(&request.url)?;
        let origin = target.origin();
        let call = RepeatableRequest::new(request, target)?;

        let (mut live, reused) = match self.pool.take(&origin, max_idle) {
            Some(live) => (live, true),
            None => (self.connect(&call.target, by).await?, false),
        };
        let mut answered = ask(&mut live, &call, by).await;
        if reused && matches!(answered, Err(TransportError::Broken { .. })) {
            // The peer had closed a connection that was unused: nothing of the request was written.
            // What may have been written is repeated only where that is harmless (D53).
            let progress = live.progress();
            if !progress.asked() || (repeatable && !progress.answered()) {
                live = self.connect(&call.target, by).await?;
                answered = ask(&mut live, &call, by).await;
            }
        }

        let mut answer = answered?;
        let status = answer.status().as_u16();
        let headers = texts(answer.headers());
        let mut body = Vec::new();
        let until = if status_decides { by.min(Instant::now() + LENIENCE) } else { by };
        let read = timeout_at(until, live.read(answer.body_mut(), &mut body, limit)).await;
        match read {
            Ok(Ok(BodyRead::Whole)) => self.pool.put(origin, live),
            Ok(Ok(BodyRead::UpToLimit)) => {}
            _ if status_decides => {}
            Ok(Err(_)) => return Err(TransportError::Broken { after_sending: true }),
            Err(_) => return Err(TransportError::TimedOut { after_sending: true }),
        }
        Ok(OutboundResponse { status, headers, body })
    }

    async fn check(&self, url: &str) -> Result<(), TransportError> {
        let target = OutboundTarget::parse(url)?;
        let resolving = timeout_at(Instant::now() + CHECK, self.connector.addresses(&target));
        let resolved = resolving.await;
        resolved.unwrap_or(Err(TransportError::TimedOut { after_sending: false })).map(drop)
    }

    fn elapsed(&self) -> Option<Duration> {
        Some(self.made_at.elapsed())
    }
}

#[cfg(test)]
mod tls_tests;

/// Writes a call on a connection and waits for the head of the answer.
async fn ask(
    live: &mut Live,
    call: &RepeatableRequest,
    by: Instant,
) -> Result<Response<Incoming>, TransportError> {
    let answered = timeout_at(by, live.ask(call.request())).await;
    let after_sending = live.progress().asked();
    match answered {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(_)) => Err(TransportError::Broken { after_sending }),
        Err(_) => Err(TransportError::TimedOut { after_sending }),
    }
}

/// The headers of an answer that are texts; names are in lower case as they are kept.
fn texts(headers: &HeaderMap) -> Vec<(String, String)> {
    let texts = headers.iter().filter_map(|(name, value)| {
        Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned()))
    });
    texts.collect()
}

/// A request that can be written more than once.
struct RepeatableRequest {
    target: OutboundTarget,
    method: http::Method,
    headers: HeaderMap,
    body: Bytes,
}

impl RepeatableRequest {
    fn new(request: OutboundRequest, target: OutboundTarget) -> Result<Self, TransportError> {
        let invalid = |what: &str| TransportError::InvalidUrl(what.to_owned());
        let method = match request.method {
            Method::Get => http::Method::GET,
            Method::Post => http::Method::POST,
            Method::Put => http::Method::PUT,
            Method::Patch => http::Method::PATCH,
            Method::Delete => http::Method::DELETE,
        };
        let mut headers = HeaderMap::with_capacity(request.headers.len() + 2);
        let host = target.host_header().ok_or_else(|| invalid("it names no host"))?;
        headers.insert(HOST, host);
        for (name, value) in request.headers {
            let name = HeaderName::try_from(name).map_err(|_| invalid("a header has no name"))?;
            let value =
                HeaderValue::try_from(value).map_err(|_| invalid("a header has no value"))?;
            headers.append(name, value);
        }
        Ok(Self { target, method, headers, body: Bytes::from(request.body) })
    }

    fn request(&self) -> Request<Full<Bytes>> {
        let mut request = Request::new(Full::new(self.body.clone()));
        *request.method_mut() = self.method.clone();
        *request.uri_mut() = self.target.request_uri();
        *request.headers_mut() = self.headers.clone();
        request
    }
}
