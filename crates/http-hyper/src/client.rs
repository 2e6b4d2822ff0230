//! The guarded client: one request, one answer or a classified failure (D22, D54).

use std::error::Error as StdError;
use std::pin::pin;

use async_trait::async_trait;
use bytes::Bytes;
use http::{HeaderName, HeaderValue, Request, Uri};
use http_body_util::{BodyExt, Full};
use hyper::body::Body;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::connect::capture_connection;
use hyper_util::client::legacy::{Client, Error as ClientError};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use recado_core::transport::{
    Method, OutboundRequest, OutboundResponse, Transport, TransportError,
};

use crate::connector::{DialError, Dialer};

/// How long an unused connection is kept.
const IDLE: std::time::Duration = std::time::Duration::from_secs(60);
/// How many unused connections are kept for one host.
const IDLE_PER_HOST: usize = 8;
/// The most headers an answer may have.
const MAX_HEADERS: usize = 200;
/// The most bytes that are buffered of an answer.
const MAX_BUFFER: usize = 128 * 1024;

/// How a client behaves.
#[derive(Clone, Copy, Debug, Default)]
pub struct ClientOptions {
    /// Whether private and other special addresses may be called: for development only (D54).
    pub allow_private: bool,
}

/// An HTTP client for addresses that others give us. It resolves a name once, refuses it if any of
/// its addresses is special, and dials exactly an address that was checked. It follows no redirect,
/// ignores proxy variables, verifies TLS against the public roots, keeps connections for reuse, and
/// reads no more of an answer than is asked for.
#[derive(Clone)]
pub struct GuardedClient {
    dialer: Dialer,
    client: Client<HttpsConnector<Dialer>, Full<Bytes>>,
}

impl std::fmt::Debug for GuardedClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GuardedClient").finish_non_exhaustive()
    }
}

impl GuardedClient {
    /// A client with these options. It has to be used inside a tokio runtime.
    pub fn new(options: ClientOptions) -> Self {
        // Named, not left to the features that other crates of a program happen to turn on.
        let provider = rustls::crypto::ring::default_provider();
        let dialer = Dialer::new(options.allow_private);
        let connector = HttpsConnectorBuilder::new()
            .with_provider_and_webpki_roots(provider)
            .expect("ring has every protocol version that rustls calls safe")
            .https_or_http()
            .enable_http1()
            .wrap_connector(dialer);
        let client = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE)
            .pool_max_idle_per_host(IDLE_PER_HOST)
            .http1_max_headers(MAX_HEADERS)
            .http1_max_buf_size(MAX_BUFFER)
            .build(connector);
        Self { dialer, client }
    }
}

#[async_trait]
impl Transport for GuardedClient {
    async fn send(&self, request: OutboundRequest) -> Result<OutboundResponse, TransportError> {
        let (timeout, answer_limit) = (request.timeout, request.answer_limit);
        let mut request = http_request(request)?;
        // A connection is handed to the request just before it is written.
        let connection = capture_connection(&mut request);
        let answered = async {
            let response = self.client.request(request).await.map_err(|error| classify(&error))?;
            let status = response.status().as_u16();
            let body = read_answer(response.into_body(), answer_limit).await?;
            Ok(OutboundResponse { status, body })
        };
        let outcome = tokio::time::timeout(timeout, answered).await;
        outcome.unwrap_or_else(|_| {
            let after_sending = connection.connection_metadata().is_some();
            Err(TransportError::TimedOut { after_sending })
        })
    }

    async fn check(&self, url: &str) -> Result<(), TransportError> {
        let uri = http_request(OutboundRequest::get(url))?.into_parts().0.uri;
        let resolving =
            tokio::time::timeout(std::time::Duration::from_secs(10), self.dialer.resolve(&uri));
        match resolving.await {
            Ok(resolved) => resolved.map(drop).map_err(|error| (&error).into()),
            Err(_) => Err(TransportError::TimedOut { after_sending: false }),
        }
    }
}

fn http_request(request: OutboundRequest) -> Result<Request<Full<Bytes>>, TransportError> {
    let invalid = |what: &str| TransportError::InvalidUrl(what.to_owned());
    let uri: Uri = request.url.parse().map_err(|_| invalid("it is no URL"))?;
    if !matches!(uri.scheme_str(), Some("http" | "https")) {
        return Err(invalid("it is neither http nor https"));
    }
    if uri.authority().is_none_or(|authority| authority.as_str().contains('@')) {
        return Err(invalid("it names no host, or a user"));
    }
    let mut built = Request::new(Full::new(Bytes::from(request.body)));
    *built.uri_mut() = uri;
    *built.method_mut() = match request.method {
        Method::Get => http::Method::GET,
        Method::Post => http::Method::POST,
    };
    for (name, value) in request.headers {
        let name = HeaderName::try_from(name).map_err(|_| invalid("a header has no name"))?;
        let value = HeaderValue::try_from(value).map_err(|_| invalid("a header has no value"))?;
        built.headers_mut().append(name, value);
    }
    Ok(built)
}

/// Reads an answer's body up to `limit` bytes. The rest is dropped, and the connection with it.
async fn read_answer<B>(body: B, limit: usize) -> Result<Vec<u8>, TransportError>
where
    B: Body<Data = Bytes>,
{
    let mut body = pin!(body);
    let mut bytes = Vec::new();
    while bytes.len() < limit {
        let Some(frame) = body.frame().await else { break };
        let frame = frame.map_err(|_| TransportError::Broken { after_sending: true })?;
        let Ok(data) = frame.into_data() else { continue };
        let room = limit - bytes.len();
        bytes.extend_from_slice(&data[..data.len().min(room)]);
    }
    Ok(bytes)
}

/// What went wrong before there was an answer.
fn classify(error: &ClientError) -> TransportError {
    let mut cause: Option<&(dyn StdError + 'static)> = Some(error);
    while let Some(known) = cause {
        if let Some(dialing) = known.downcast_ref::<DialError>() {
            return dialing.into();
        }
        // It may travel inside an I/O error.
        let inner = known.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
        if let Some(dialing) = inner.and_then(|inner| inner.downcast_ref::<DialError>()) {
            return dialing.into();
        }
        cause = known.source();
    }
    if error.is_connect() {
        // Dialing succeeded, or it would have said why: the rest of connecting is TLS.
        return TransportError::Tls;
    }
    // A request that was taken back was never begun.
    let canceled = error
        .source()
        .and_then(|source| source.downcast_ref::<hyper::Error>())
        .is_some_and(hyper::Error::is_canceled);
    TransportError::Broken { after_sending: !canceled }
}
