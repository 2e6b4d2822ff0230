//! Handing calls on to the cell that a company was moved to (R460).

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream;
use http::header::{
    CONNECTION, CONTENT_LENGTH, EXPECT, HOST, HeaderMap, HeaderName, HeaderValue,
    PROXY_AUTHENTICATE, PROXY_AUTHORIZATION, TE, TRAILER, TRANSFER_ENCODING, UPGRADE, VIA,
};
use http::request::Parts;
use http::{Request, Response, Uri};
use http_body_util::{BodyExt, StreamBody};
use hyper::body::{Body, Incoming};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::{Connected, Connection};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use ipnet::IpNet;
use recado_core::Cell;
use recado_core::transport::TransportError;
use tokio::time::timeout;

use crate::answer::Answer;
use crate::answer_body::AnswerBody;
use crate::body::RequestBody;
use crate::cells::Cells;
use crate::connector::Connector;
use crate::error::{ErrorResponse, Outcome, with_causes};
use crate::guard::Reach;
use crate::network::SystemNetwork;
use crate::peer::{is_trusted, peer_address};
use crate::stream::{Socket, Stream};
use crate::target::OutboundTarget;
use crate::{metrics, request_id};

/// How long a cell may take to take a connection.
const CONNECT: Duration = Duration::from_secs(5);
/// How long it may take to answer once it has the request: a send waits for its gateway.
const ANSWER: Duration = Duration::from_secs(60);
/// How many bytes of a request it has to take in a second, on the whole.
const PACE: u64 = 256 * 1024;
/// How long a request may take whose size is not known.
const UNKNOWN_SIZE: Duration = Duration::from_secs(600);
/// How long an answer may pause.
const PAUSE: Duration = Duration::from_secs(60);
/// How long a connection waits for its next use.
const IDLE: Duration = Duration::from_secs(20);
/// How many connections to a cell wait for their next use.
const KEPT: usize = 64;

/// The header by which a trusted proxy says where it finds the cells: the beginning of the name of
/// a location of its own, which ends with the number of the cell.
const LOCATION_OF_CELLS: &str = "x-recado-cells-at";
/// The header by which nginx is told to ask another location.
const ACCEL_REDIRECT: HeaderName = HeaderName::from_static("x-accel-redirect");
const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// The headers that are about one connection, and not about the call.
const OF_CONNECTION: [HeaderName; 9] = [
    CONNECTION,
    PROXY_AUTHENTICATE,
    PROXY_AUTHORIZATION,
    TE,
    TRAILER,
    TRANSFER_ENCODING,
    UPGRADE,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
];

/// Hands calls on to other cells.
pub(crate) struct Forwarder {
    cells: Cells,
    client: Client<CellConnector, RequestBody>,
}

/// Opens connections to cells, which the operator has named: to any address.
#[derive(Clone)]
struct CellConnector(Connector);

impl tower_service::Service<Uri> for CellConnector {
    type Response = TokioIo<Stream>;
    type Error = TransportError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Self::Error>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, url: Uri) -> Self::Future {
        let connector = self.0.clone();
        Box::pin(async move {
            let target = OutboundTarget::parse(&url.to_string())?;
            let connected = timeout(CONNECT, connector.connect(&target)).await;
            let timed_out = TransportError::TimedOut { after_sending: false };
            connected.unwrap_or(Err(timed_out)).map(TokioIo::new)
        })
    }
}

impl<S: Socket> Connection for Stream<S> {
    fn connected(&self) -> Connected {
        Connected::new()
    }
}

/// What is known of a call that is handed on.
pub(crate) struct Forwarded<'a> {
    /// The cell.
    pub(crate) cell: Cell,
    /// Whether it is a call of the operator API.
    pub(crate) is_operators: bool,
    /// Its head.
    pub(crate) head: &'a Parts,
    /// Its body, of which nothing was read.
    pub(crate) body: RequestBody,
    /// The proxies that are trusted.
    pub(crate) trusted: &'a [IpNet],
}

impl Forwarder {
    pub(crate) fn new(cells: Cells) -> Self {
        let connector = Connector::new(Reach::Everything, std::sync::Arc::new(SystemNetwork));
        let client = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE)
            .pool_max_idle_per_host(KEPT)
            .build(CellConnector(connector));
        Self { cells, client }
    }

    /// Whether calls can be handed on to a cell.
    pub(crate) fn knows(&self, cell: Cell) -> bool {
        cell != self.cells.own && self.cells.others.contains_key(&cell)
    }

    /// Hands a call on, and its answer back.
    ///
    /// R460.
    pub(crate) async fn forward(&self, call: Forwarded<'_>) -> Outcome {
        let Some(address) = self.cells.others.get(&call.cell) else {
            return Err(ErrorResponse::moving());
        };
        if has_passed(&call.head.headers, self.cells.own) {
            return Err(ErrorResponse::unavailable(
                "each cell says that the other has the company",
            ));
        }
        if let Some(location) = location_of(&call) {
            drain(call.body).await;
            metrics::handed_on(call.cell, "redirected");
            return Ok(Answer::passed(redirect(location)));
        }
        let url = if call.is_operators { &address.operator } else { &address.public };
        let url = url.with(call.head.uri.path_and_query().cloned());
        let url = url.ok_or_else(|| ErrorResponse::internal("the address of a cell is no URL"))?;
        let within = ANSWER + time_of(&call.body);
        let request = request(url, self.cells.own, call.head, call.trusted, call.body);
        let answered = match timeout(within, self.client.request(request)).await {
            Ok(Ok(answer)) => Ok(Answer::passed(answer_of(answer))),
            Ok(Err(error)) => Err(unreachable(&with_causes(&error))),
            Err(_) => Err(unreachable("it did not answer in time")),
        };
        metrics::handed_on(call.cell, if answered.is_ok() { "answered" } else { "failed" });
        answered
    }
}

fn unreachable(cause: &str) -> ErrorResponse {
    ErrorResponse::unavailable("the cell that has the company does not answer").caused_by(cause)
}

/// Whether a call has been handed on by a cell before.
fn has_passed(headers: &HeaderMap, own: Cell) -> bool {
    let own = name_of(own);
    let lines = headers.get_all(VIA).iter().filter_map(|line| line.to_str().ok());
    lines.flat_map(|line| line.split(',')).any(|by| by.trim().split(' ').nth(1) == Some(&own))
}

/// What a cell is called in `Via`.
fn name_of(cell: Cell) -> String {
    format!("recado-{}", cell.number())
}

/// The location of a trusted proxy where it finds the cell. It is a name, and no path: a proxy that
/// passes on what a stranger says must not be sent to its other locations.
fn location_of(call: &Forwarded<'_>) -> Option<HeaderValue> {
    let peer = peer_address(call.head)?;
    let prefix = call.head.headers.get(LOCATION_OF_CELLS)?.to_str().ok()?;
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
    let name = prefix.strip_prefix('@')?;
    let is_usable = !name.is_empty() && name.len() < 64 && name.bytes().all(is_name);
    let location = format!("{prefix}{}", call.cell.number());
    (is_usable && is_trusted(peer, call.trusted)).then(|| HeaderValue::try_from(location).ok())?
}

fn redirect(location: HeaderValue) -> Response<AnswerBody> {
    let mut response = Response::new(AnswerBody::whole(Bytes::new()));
    response.headers_mut().insert(ACCEL_REDIRECT, location);
    response
}

/// Reads a body that the proxy has kept for the cell, so that it is not cut off while it writes.
async fn drain(mut body: RequestBody) {
    let reading = async { while let Some(Ok(_)) = body.frame().await {} };
    let _ = timeout(UNKNOWN_SIZE, reading).await;
}

/// How long a body may take.
fn time_of(body: &RequestBody) -> Duration {
    body.size_hint().exact().map_or(UNKNOWN_SIZE, |bytes| Duration::from_secs(bytes.div_ceil(PACE)))
}

/// The headers of a message that are about the call.
fn of_call(headers: &HeaderMap) -> HeaderMap {
    let named = headers.get_all(CONNECTION).iter().filter_map(|line| line.to_str().ok());
    let named: Vec<&str> = named.flat_map(|line| line.split(',')).map(str::trim).collect();
    let is_of_call = |name: &HeaderName| {
        !OF_CONNECTION.contains(name)
            && !named.iter().any(|named| named.eq_ignore_ascii_case(name.as_str()))
    };
    let kept = headers.iter().filter(|(name, _)| is_of_call(name));
    kept.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// The request as the cell gets it. The client is named to it as a proxy does.
fn request(
    url: Uri,
    own: Cell,
    head: &Parts,
    trusted: &[IpNet],
    body: RequestBody,
) -> Request<RequestBody> {
    let mut headers = of_call(&head.headers);
    for name in [HOST, CONTENT_LENGTH, EXPECT, HeaderName::from_static(LOCATION_OF_CELLS)] {
        headers.remove(name);
    }
    let peer = peer_address(head);
    if !peer.is_some_and(|peer| is_trusted(peer, trusted)) {
        headers.remove(FORWARDED_FOR);
    }
    if let Some(value) = peer.and_then(|peer| HeaderValue::try_from(peer.to_string()).ok()) {
        headers.append(FORWARDED_FOR, value);
    }
    if let Ok(value) = HeaderValue::try_from(format!("1.1 {}", name_of(own))) {
        headers.append(VIA, value);
    }
    let mut request = Request::new(body);
    *request.method_mut() = head.method.clone();
    *request.uri_mut() = url;
    *request.headers_mut() = headers;
    request
}

/// The answer of a cell, as it is handed back.
fn answer_of(answer: Response<Incoming>) -> Response<AnswerBody> {
    let (head, body) = answer.into_parts();
    let size = body.size_hint().exact();
    let frames = stream::try_unfold(body, |mut body| async move {
        match timeout(PAUSE, body.frame()).await {
            Ok(Some(Ok(frame))) => Ok(Some((frame, body))),
            Ok(Some(Err(error))) => Err(error.to_string()),
            Ok(None) => Ok(None),
            Err(_) => Err("a cell has paused in its answer for too long".to_owned()),
        }
    });
    let mut headers = of_call(&head.headers);
    headers.remove(request_id::HEADER);
    if let Some(size) = size {
        headers.entry(CONTENT_LENGTH).or_insert(HeaderValue::from(size));
    }
    let mut response = Response::new(AnswerBody::mounted(StreamBody::new(Box::pin(frames)), true));
    *response.status_mut() = head.status;
    *response.headers_mut() = headers;
    response
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use http::Method;

    use super::*;
    use crate::body;
    use crate::peer::PeerAddress;

    fn cell(number: u16) -> Cell {
        Cell::new(number).expect("a cell")
    }

    /// A call with these headers from a client at 127.0.0.1, as cell 3 passes it on.
    fn passed_on(headers: &[(&'static str, &str)], trusted: &[&str]) -> HeaderMap {
        let mut call = Request::new(());
        *call.method_mut() = Method::POST;
        call.extensions_mut().insert(PeerAddress(SocketAddr::from(([127, 0, 0, 1], 4711))));
        for (name, value) in headers {
            let value = HeaderValue::from_str(value).expect("a value");
            call.headers_mut().append(*name, value);
        }
        let trusted: Vec<IpNet> = trusted.iter().map(|net| net.parse().expect("one")).collect();
        let (head, ()) = call.into_parts();
        let url = Uri::from_static("http://c7.example.org/api/v1/contacts");
        let request = request(url, cell(3), &head, &trusted, body::empty());
        assert_eq!(request.method(), Method::POST);
        request.into_parts().0.headers
    }

    fn all<'a>(headers: &'a HeaderMap, name: &str) -> Vec<&'a str> {
        headers.get_all(name).iter().map(|value| value.to_str().expect("text")).collect()
    }

    /// R460.
    #[test]
    fn a_call_keeps_what_is_about_it_and_loses_what_is_about_the_connection() {
        let sent = passed_on(
            &[
                ("authorization", "Bearer rk_x"),
                ("idempotency-key", "a"),
                ("host", "crm.example.org"),
                ("content-length", "7"),
                ("expect", "100-continue"),
                ("connection", "keep-alive, X-Hop"),
                ("keep-alive", "timeout=5"),
                ("transfer-encoding", "chunked"),
                ("x-hop", "1"),
                ("x-recado-cells-at", "@cell"),
            ],
            &[],
        );
        let names: Vec<&str> = sent.keys().map(HeaderName::as_str).collect();
        let mut names = names;
        names.sort_unstable();
        assert_eq!(names, ["authorization", "idempotency-key", "via", "x-forwarded-for"]);
    }

    /// R460, D13: who called is not what a stranger says.
    #[test]
    fn the_client_is_named_as_a_proxy_names_it() {
        let forwarded = &[("x-forwarded-for", "198.51.100.1"), ("via", "1.1 proxy")];
        let by_stranger = passed_on(forwarded, &[]);
        assert_eq!(all(&by_stranger, "x-forwarded-for"), ["127.0.0.1"]);
        assert_eq!(all(&by_stranger, "via"), ["1.1 proxy", "1.1 recado-3"]);
        let by_proxy = passed_on(forwarded, &["127.0.0.0/8"]);
        assert_eq!(all(&by_proxy, "x-forwarded-for"), ["198.51.100.1", "127.0.0.1"]);
    }

    /// R460.
    #[test]
    fn a_cell_sees_in_via_whether_it_had_a_call_before() {
        let via = |lines: &[&str]| {
            let mut headers = HeaderMap::new();
            for line in lines {
                headers.append(VIA, HeaderValue::from_str(line).expect("a value"));
            }
            has_passed(&headers, cell(3))
        };
        assert!(via(&["1.1 recado-3"]) && via(&["1.1 a", "1.0 b, 1.1 recado-3 (x)"]));
        for not in [&[][..], &["1.1 recado-30"], &["recado-3"], &["1.1 recado-2, 1.1 a"]] {
            assert!(!via(not), "{not:?}");
        }
    }

    /// R460: as long as the size needs, and no longer.
    #[test]
    fn a_call_may_take_as_long_as_its_body_needs() {
        let sized = |bytes: usize| {
            time_of(&body::erase(http_body_util::Full::new(Bytes::from(vec![0; bytes]))))
        };
        assert_eq!((sized(0), sized(1)), (Duration::ZERO, Duration::from_secs(1)));
        assert_eq!(sized(1024 * 1024), Duration::from_secs(4));
    }
}
