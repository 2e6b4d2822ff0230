//! The service: one answer for every request, also after a panic.

use std::convert::Infallible;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::FutureExt;
use http::{Method, Request, Response};
use hyper::body::Body;
use recado_core::access::ClientNet;
use recado_core::audit::{Acting, Actor, OperationName};
use recado_core::{Installation, Recado};

use crate::body::{BoxError, ConsoleBody, RequestBody, erase};
use crate::options::ConsoleOptions;
use crate::pages::contacts::import::Imports;
use crate::pages::inbox::Listening;
use crate::pages::provider;
use crate::places::Places;
use crate::{headers, pipeline};

/// The future of an answer.
pub type AnswerFuture =
    Pin<Box<dyn Future<Output = Result<Response<ConsoleBody>, Infallible>> + Send>>;

/// What all requests share.
pub(crate) struct Shared {
    pub(crate) installation: Installation,
    pub(crate) options: ConsoleOptions,
    pub(crate) imports: Imports,
    pub(crate) listening: Listening,
    /// A place for each file that is being received.
    pub(crate) received: Places,
    /// A place for each file that is being sent.
    pub(crate) sent: Places,
    /// A place for each export that is being made.
    pub(crate) exports: Places,
}

impl Shared {
    /// The handle of somebody who has not signed in.
    pub(crate) fn stranger(&self, operation: OperationName, client: ClientNet) -> Recado {
        self.installation.by(Acting::new(Actor::Outside, operation, Some(client.address())))
    }
}

/// The console over an [`Installation`]: pages for people, under `/console`. Cheap to clone.
///
/// It is a [`hyper::service::Service`], and with the feature `tower` a tower `Service`, over
/// requests with any body. It has to run inside a tokio runtime. Put a
/// [`ClientNet`](recado_core::access::ClientNet) into the extensions of a request, as the mount of
/// `recado-http-hyper` does: attempts to sign in are counted by it, and all requests without one
/// count as a single client.
#[derive(Clone)]
pub struct Console(pub(crate) Arc<Shared>);

impl std::fmt::Debug for Console {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Console").field("options", &self.0.options).finish_non_exhaustive()
    }
}

impl Console {
    /// Where it is served.
    pub const PREFIX: &'static str = "/console";

    /// The console over an installation.
    pub fn new(installation: impl Into<Installation>, options: ConsoleOptions) -> Self {
        Self(Arc::new(Shared {
            installation: installation.into(),
            imports: Imports::default(),
            listening: Listening::default(),
            received: Places::new(options.files_per_company, options.files_at_once),
            sent: Places::new(options.downloads_per_company, options.downloads_at_once),
            exports: Places::new(options.exports_per_company, options.exports_at_once),
            options,
        }))
    }

    /// R423. Ends every page that listens for what is new, and lets no other begin. Call it when
    /// the server begins to shut down: such pages do not end by themselves.
    pub fn end_live_pages(&self) {
        self.0.listening.end();
    }

    /// Answers one request.
    pub fn answer<B>(&self, request: Request<B>) -> AnswerFuture
    where
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        let shared = self.0.clone();
        let request = request.map(erase);
        Box::pin(async move { Ok(respond(shared, request).await) })
    }
}

async fn respond(shared: Arc<Shared>, request: Request<RequestBody>) -> Response<ConsoleBody> {
    let is_head = request.method() == Method::HEAD;
    let writes = !matches!(*request.method(), Method::GET | Method::HEAD)
        || request.uri().path() == provider::CALLBACK;
    let answering: Pin<Box<dyn Future<Output = Response<ConsoleBody>> + Send>> =
        Box::pin(guarded(shared.clone(), request));
    // A write is completed also when its caller hangs up. So is the answer of a provider: its code
    // is good once, and a sign-in that was cut off could not be tried again (R432).
    let response = if writes {
        shared.installation.tasks().run(answering).await.unwrap_or_else(|_| pipeline::failed())
    } else {
        answering.await
    };
    let response = headers::protect(response);
    response.map(|body| if is_head { ConsoleBody::whole("") } else { body })
}

async fn guarded(shared: Arc<Shared>, request: Request<RequestBody>) -> Response<ConsoleBody> {
    let answered = AssertUnwindSafe(pipeline::answer(shared, request)).catch_unwind().await;
    answered.unwrap_or_else(|_| {
        tracing::error!("a page of the console panicked");
        pipeline::failed()
    })
}

impl<B> hyper::service::Service<Request<B>> for Console
where
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    type Response = Response<ConsoleBody>;
    type Error = Infallible;
    type Future = AnswerFuture;

    fn call(&self, request: Request<B>) -> AnswerFuture {
        self.answer(request)
    }
}

#[cfg(feature = "tower")]
impl<B> tower_service::Service<Request<B>> for Console
where
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    type Response = Response<ConsoleBody>;
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
