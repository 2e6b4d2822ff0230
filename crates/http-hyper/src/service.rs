//! The service: one answer for every request, also after a panic.

use std::convert::Infallible;
use std::net::IpAddr;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use bytes::Bytes;
use futures_util::FutureExt;
use http::header::{CONTENT_SECURITY_POLICY, HeaderValue, X_CONTENT_TYPE_OPTIONS};
use http::request::Parts;
use http::{Method, Request, Response};
use hyper::body::Body;
use recado_core::Installation;
use tokio::sync::watch;
use tracing::Instrument;

use crate::answer::Answer;
use crate::answer_body::AnswerBody;
use crate::body::{self, BoxError, RequestBody};
use crate::budget::MemoryBudget;
use crate::error::ErrorResponse;
use crate::exports::Exports;
use crate::file_body::FileBodies;
use crate::forwarding::Forwarder;
use crate::known_operators::KnownOperators;
use crate::logging::{Answered, RequestLog, Who};
use crate::mount::Mount;
use crate::options::HttpOptions;
use crate::path::DecodedPath;
use crate::peer::{client_of, is_trusted};
use crate::readers::Readers;
use crate::shared::Shared;
use crate::surface::{Surface, surface};
use crate::{metrics, mount, pipeline, request_id, request_span, router};

/// The future of an answer.
pub type AnswerFuture =
    Pin<Box<dyn Future<Output = Result<Response<AnswerBody>, Infallible>> + Send>>;

/// The HTTP surface over an [`Installation`]: the public API, the operator API, inbound webhooks,
/// tracked links, probes and the OpenAPI document. Cheap to clone.
///
/// It is a [`hyper::service::Service`], and with the feature `tower` a tower `Service`, over
/// requests with any body. It has to run inside a tokio runtime.
///
/// A request that changes something is completed even when its caller hangs up. A panic while
/// answering is a 500 and does not affect other requests.
#[derive(Clone)]
pub struct RecadoHttp(Arc<Shared>);

impl std::fmt::Debug for RecadoHttp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RecadoHttp").field("options", &self.0.options).finish_non_exhaustive()
    }
}

impl RecadoHttp {
    /// The surface over an installation. Each call acts in the name of who makes it (R384).
    /// Install a `metrics` recorder before, if there is to be one.
    pub fn new(installation: impl Into<Installation>, mut options: HttpOptions) -> Self {
        options.operator_token = options.operator_token.filter(|token| !token.expose().is_empty());
        metrics::describe();
        let budget = MemoryBudget::new(options.limits.gateway_bodies);
        let file_bodies = FileBodies::new(options.limits.file_bodies);
        let (document, writes) = (OnceLock::new(), watch::Sender::new(()));
        let (log, readers) = (RequestLog::default(), Readers::default());
        let exports = Exports::default();
        let operators = KnownOperators::default();
        let forwarder = Forwarder::new(options.cells.clone());
        Self(Arc::new(Shared {
            installation: installation.into(),
            options,
            budget,
            file_bodies,
            readers,
            exports,
            document,
            log,
            operators,
            forwarder,
            writes,
        }))
    }

    /// Waits until no request that changes something is under way.
    pub async fn writes_finished(&self) {
        self.0.writes.closed().await;
    }

    /// Whether this is the address of a trusted proxy.
    pub(crate) fn trusts(&self, peer: IpAddr) -> bool {
        is_trusted(peer.to_canonical(), &self.0.options.trusted_proxies)
    }

    /// Answers one request.
    pub fn answer<B>(&self, request: Request<B>) -> AnswerFuture
    where
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        let shared = self.0.clone();
        let request = request.map(body::erase);
        Box::pin(async move { Ok(respond(shared, request).await) })
    }
}

/// A browser takes no answer for another type than it says.
const NO_SNIFFING: HeaderValue = HeaderValue::from_static("nosniff");
/// No answer but the reference (R276) is a page: a browser loads and runs nothing for one, and
/// shows none in a frame.
const NOTHING_RUNS: HeaderValue =
    HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'");

async fn respond(shared: Arc<Shared>, request: Request<RequestBody>) -> Response<AnswerBody> {
    let _in_flight = metrics::InFlightGuard::begin();
    let began = Instant::now();
    let (mut head, body) = request.into_parts();
    let id = request_id::of(&head.headers);
    // What answers in our place has it, too.
    head.headers.insert(request_id::HEADER, id.clone());
    let is_head = head.method == Method::HEAD;
    let method = metrics::method_label(&head.method);
    let path = DecodedPath::of(head.uri.path());
    let is_answered = shared.options.paths.include(path.text());
    let entry = router::find(path.text()).filter(|_| is_answered);
    let mounts = if is_answered { &*shared.options.mounts } else { &[] };
    let mounted = mount::find(mounts, path.text());
    let from_root = mount::from_root(mounts, &head.method, path.text());
    // What is not answered here is like a path that nobody has heard of.
    let surface = if is_answered { surface(path.text()) } else { Surface::Open };
    let known = entry.as_ref().map(|(entry, _)| entry.template);
    let template = mounted.as_ref().map(|mount| mount.prefix).or(known).unwrap_or("unmatched");
    let who = Who::default();
    let span = request_span::of(&head, method, template, &id);

    let reads = !pipeline::writes(&head);
    let outcome = async {
        if let Some(response) = from_root {
            return Ok(response);
        }
        let shared = shared.clone();
        if let Some(mount) = mounted {
            let answering = through(shared.clone(), mount, head, body);
            return match reads {
                true => guarded(answering).await,
                false => detached(&shared, answering).await,
            };
        }
        let request = pipeline::Request {
            shared: shared.clone(),
            head,
            body,
            surface,
            entry,
            who: who.clone(),
        };
        let answering = pipeline::answer(request);
        let outcome =
            if reads { guarded(answering).await } else { detached(&shared, answering).await };
        outcome.map(Answer::into_response)
    };
    let outcome = outcome.instrument(span.clone()).await;
    let mut response = match outcome {
        Ok(response) => response,
        Err(failure) => {
            shared.log.failed(&id, template, &failure, &who);
            let is_hook = surface == Surface::Hooks;
            let failure = if is_hook { failure.of_hook() } else { failure };
            failure.into_response().map(AnswerBody::whole)
        }
    };
    let headers = response.headers_mut();
    headers.insert(request_id::HEADER, id.clone());
    // R173.
    headers.insert(X_CONTENT_TYPE_OPTIONS, NO_SNIFFING);
    headers.entry(CONTENT_SECURITY_POLICY).or_insert(NOTHING_RUNS);

    let duration = began.elapsed();
    let status = response.status();
    metrics::answered(method, template, status, duration);
    request_span::answered(&span, status, &who);
    let (request_id, route, who) = (&id, template, &who);
    shared.log.answered(&Answered { request_id, method, route, status, duration, who });
    response.map(|body| if is_head { AnswerBody::whole(Bytes::new()) } else { body })
}

/// R418. What a mounted service answers. Nothing is written while the data moves elsewhere.
async fn through(
    shared: Arc<Shared>,
    mount: Mount,
    mut head: Parts,
    body: RequestBody,
) -> Result<Response<AnswerBody>, ErrorResponse> {
    if pipeline::writes(&head) {
        pipeline::check_open(&shared.installation, None).await?;
    }
    let client = client_of(&head, &shared.options.trusted_proxies);
    head.extensions.insert(client);
    Ok(mount.answer(Request::from_parts(head, body)).await)
}

/// Answers, turning a panic into a 500.
async fn guarded<T>(
    answering: impl Future<Output = Result<T, ErrorResponse>>,
) -> Result<T, ErrorResponse> {
    let answered = AssertUnwindSafe(answering).catch_unwind().await;
    answered.unwrap_or_else(|_| Err(ErrorResponse::internal("a handler panicked")))
}

/// Answers in a task of its own, so that it is completed when the caller hangs up.
async fn detached<T: Send + 'static>(
    shared: &Shared,
    answering: impl Future<Output = Result<T, ErrorResponse>> + Send + 'static,
) -> Result<T, ErrorResponse> {
    let under_way = shared.writes.subscribe();
    let answering = shared.installation.tasks().run(async move {
        let outcome = guarded(answering).await;
        drop(under_way);
        outcome
    });
    let cut_off = |_| Err(ErrorResponse::internal("a handler was cut off by a shutdown"));
    answering.await.unwrap_or_else(cut_off)
}

impl<B> hyper::service::Service<Request<B>> for RecadoHttp
where
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    type Response = Response<AnswerBody>;
    type Error = Infallible;
    type Future = AnswerFuture;

    fn call(&self, request: Request<B>) -> AnswerFuture {
        self.answer(request)
    }
}

#[cfg(feature = "tower")]
impl<B> tower_service::Service<Request<B>> for RecadoHttp
where
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    type Response = Response<AnswerBody>;
    type Error = Infallible;
    type Future = AnswerFuture;

    fn poll_ready(
        &mut self,
        _: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Result<(), Infallible>> {
        std::task::Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> AnswerFuture {
        self.answer(request)
    }
}
