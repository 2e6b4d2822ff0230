//! The guarded client: one request, one answer or a classified failure (D22, D53, D54).

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::{StreamExt, stream};
use http::header::HOST;
use http::{HeaderMap, HeaderName, HeaderValue, Request, Response};
use hyper::body::Incoming;
use recado_core::transport::{
    AttachedFile, Method, OpenAnswer, OutboundRequest, OutboundResponse, Transport, TransportError,
};
use tokio::time::{Instant, timeout_at};

use crate::connector::Connector;
use crate::exchange::{BodyRead, Live};
use crate::guard::Reach;
use crate::network::{Network, SystemNetwork};
use crate::pool::Pool;
use crate::request_body::{OutgoingBody, Taken};
use crate::target::OutboundTarget;

/// How long to wait for the body of an answer if only its status counts (D53, R66).
const LENIENCE: Duration = Duration::from_secs(1);
/// How long resolving may take in [`Transport::check`].
const CHECK: Duration = Duration::from_secs(10);

/// How many bytes of an attached file a peer has to take in a second, on the whole (R347).
const PACE: u64 = 256 * 1024;

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

    /// Writes a call on a kept connection or a new one, and waits for the head of the answer.
    async fn ask(
        &self,
        call: &RepeatableRequest,
        limits: Limits,
    ) -> Result<(Live, Response<Incoming>), TransportError> {
        // While it connects, nothing of a file is taken.
        let connect_by = limits.by.min(Instant::now() + limits.each);
        let (mut live, reused) = match self.pool.take(&call.target.origin(), call.max_idle) {
            Some(live) => (live, true),
            None => (self.connect(&call.target, connect_by).await?, false),
        };
        let mut answered = ask(&mut live, call, limits).await;
        if reused && matches!(answered, Err(TransportError::Broken { .. })) {
            // The peer had closed a connection that was unused: nothing of the request was written.
            // What may have been written is repeated only where that is harmless (D53).
            let progress = live.progress();
            if !progress.asked() || (call.repeatable && !progress.answered()) {
                live = self.connect(&call.target, connect_by).await?;
                answered = ask(&mut live, call, limits).await;
            }
        }
        answered.map(|answer| (live, answer))
    }
}

#[async_trait]
impl Transport for GuardedClient {
    async fn send(&self, request: OutboundRequest) -> Result<OutboundResponse, TransportError> {
        let limits = Limits::of(&request);
        let (limit, status_decides) = (request.answer_limit, request.status_decides);
        let (by, call) = (limits.by, RepeatableRequest::new(request)?);
        let (mut live, mut answer) = self.ask(&call, limits).await?;
        let origin = call.target.origin();
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

    async fn open(
        &self,
        request: OutboundRequest,
        answer_within: Duration,
    ) -> Result<OpenAnswer, TransportError> {
        let limits = Limits::of(&request);
        let (by, request_limit) = (limits.by, request.answer_limit);
        let call = RepeatableRequest::new(request)?;
        let head = Limits { by: by.min(Instant::now() + answer_within), ..limits };
        let (live, answer) = self.ask(&call, head).await?;
        let (status, headers) = (answer.status().as_u16(), texts(answer.headers()));
        // The connection ends with the body: it is not worth keeping it for another file.
        let body = stream::try_unfold(
            (live, answer.into_body()),
            move |(mut live, mut body)| async move {
                match timeout_at(by, live.frame(&mut body)).await {
                    Ok(Ok(frame)) => Ok(frame.map(|frame| (Vec::from(frame), (live, body)))),
                    Ok(Err(_)) => Err(TransportError::Broken { after_sending: true }),
                    Err(_) => Err(TransportError::TimedOut { after_sending: true }),
                }
            },
        );
        let mut left = request_limit;
        let body = body.take_while(move |frame| {
            let is_wanted = left > 0;
            left = left.saturating_sub(frame.as_ref().map_or(0, Vec::len));
            std::future::ready(is_wanted)
        });
        Ok(OpenAnswer { status, headers, body: body.boxed() })
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

/// How long a call may take.
#[derive(Clone, Copy)]
struct Limits {
    /// In all.
    by: Instant,
    /// While an attached file is written: for each frame of it, and then for the answer (R347).
    each: Duration,
}

impl Limits {
    fn of(request: &OutboundRequest) -> Self {
        let attached = request.attached.as_ref().map_or(0, AttachedFile::len);
        let writing = Duration::from_secs(attached.div_ceil(PACE));
        Self { by: Instant::now() + request.timeout + writing, each: request.timeout }
    }
}

/// Writes a call on a connection and waits for the head of the answer.
async fn ask(
    live: &mut Live,
    call: &RepeatableRequest,
    limits: Limits,
) -> Result<Response<Incoming>, TransportError> {
    let (request, taken) = call.request().await?;
    let answered = {
        let mut asking = pin!(live.ask(request));
        loop {
            let until = limits.by.min(taken.last() + limits.each);
            match timeout_at(until, &mut asking).await {
                Err(_) if until < limits.by && taken.last() + limits.each > until => {}
                answered => break answered,
            }
        }
    };
    // Of a body that the connection did not take to its end, the peer cannot have the end.
    let after_sending = live.progress().asked() && taken.is_whole();
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
    attached: Option<AttachedFile>,
    repeatable: bool,
    max_idle: Option<Duration>,
}

impl RepeatableRequest {
    fn new(request: OutboundRequest) -> Result<Self, TransportError> {
        let target = OutboundTarget::parse(&request.url)?;
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
        let OutboundRequest { attached, repeatable, max_idle, .. } = request;
        let body = Bytes::from(request.body);
        Ok(Self { target, method, headers, body, attached, repeatable, max_idle })
    }

    /// The request, and how much of its body was taken. An attached file is opened each time.
    async fn request(&self) -> Result<(Request<OutgoingBody>, Taken), TransportError> {
        let body = match &self.attached {
            None => OutgoingBody::of_bytes(self.body.clone()),
            Some(attached) => OutgoingBody::with_file(self.body.clone(), attached)
                .await
                .map_err(|_| TransportError::Broken { after_sending: false })?,
        };
        let taken = body.taken();
        let mut request = Request::new(body);
        *request.method_mut() = self.method.clone();
        *request.uri_mut() = self.target.request_uri();
        *request.headers_mut() = self.headers.clone();
        Ok((request, taken))
    }
}
