//! The accept loop: bounded connections (R178, R179), timeouts, and a stop that completes requests
//! in flight.

use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use futures_util::TryFutureExt;
use http::Request;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use recado_core::access::ClientNet;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::line_limit::LineLimit;
use crate::peer::PeerAddress;
use crate::places::{Place, Places};
use crate::service::RecadoHttp;
use crate::timed_io::{Patience, Phase, TimedIo};

/// The most headers a request may have; more are a 431.
const MAX_HEADERS: usize = 100;
/// The most bytes the head of a request may have; more are a 431.
const MAX_HEAD_BYTES: usize = 64 * 1024;
/// How long to wait at most after accepting failed (most likely for lack of descriptors).
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// How much of a refused body is read and dropped, so that the peer can read the answer.
const LINGER_BYTES: usize = 32 * 1024 * 1024;
/// For how long it is read.
const LINGER: Duration = Duration::from_secs(5);
/// How long a peer may send nothing of it.
const LINGER_QUIET: Duration = Duration::from_secs(1);
/// For how long while stopping.
const LINGER_STOPPING: Duration = Duration::from_millis(200);

/// The most connections that a listener has unless its options say something else.
const MAX_CONNECTIONS: usize = 10_000;

/// The options of connections.
#[derive(Clone, Copy, Debug)]
pub struct ServeOptions {
    /// The most connections at once (R178). When all are taken, the one that is idle for the
    /// longest is closed for a new one; while none is idle, new ones wait in the system's backlog.
    /// Keep it well below the process's limit on descriptors.
    pub max_connections: usize,
    /// The most connections of one address, or of the /64 of an IPv6 one (R179); `None` is a
    /// quarter of `max_connections`. The trusted proxies of the service have no such bound.
    pub max_per_address: Option<usize>,
    /// How long the head of a request may take to arrive.
    pub head_timeout: Duration,
    /// How long a connection may idle between two requests.
    pub idle_timeout: Duration,
    /// How long a peer may read nothing of an answer.
    pub write_timeout: Duration,
    /// How long requests in flight may take after shutdown began.
    pub drain_timeout: Duration,
}

impl Default for ServeOptions {
    fn default() -> Self {
        Self {
            max_connections: MAX_CONNECTIONS,
            max_per_address: None,
            head_timeout: Duration::from_secs(10),
            idle_timeout: Duration::from_secs(75),
            write_timeout: Duration::from_secs(30),
            drain_timeout: Duration::from_secs(30),
        }
    }
}

/// How serving ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drained {
    /// Every request in flight was answered.
    Whole,
    /// The drain timeout passed first; what was left was cut off.
    CutOff,
}

/// Serves `service` on `listener` until `shutdown` completes, then stops accepting, closes idle
/// connections, and lets the requests in flight finish for at most 30 seconds.
pub async fn serve(
    listener: TcpListener,
    service: RecadoHttp,
    shutdown: impl Future<Output = ()>,
) -> Drained {
    serve_with(listener, service, ServeOptions::default(), shutdown).await
}

/// [`serve`] with other options.
pub async fn serve_with(
    listener: TcpListener,
    service: RecadoHttp,
    options: ServeOptions,
    shutdown: impl Future<Output = ()>,
) -> Drained {
    let share = options.max_per_address.unwrap_or(options.max_connections / 4);
    let places = Places::new(options.max_connections, share);
    let lines = LineLimit::default();
    let (stop, stopping) = watch::channel(false);
    let mut connections = JoinSet::new();
    let mut shutdown = pin!(shutdown);
    loop {
        let accepted = tokio::select! {
            () = &mut shutdown => break,
            accepted = listener.accept() => accepted,
            Some(_) = connections.join_next() => continue,
        };
        let (stream, peer) = match accepted {
            Ok(accepted) => accepted,
            // Only this one connection has failed.
            Err(error) if is_of_the_peer(&error) => continue,
            Err(error) => {
                // Strangers cause it as often as they like.
                if lines.passes(Instant::now()) {
                    tracing::warn!(%error, "a connection could not be accepted");
                }
                places.make_room(ACCEPT_PAUSE).await;
                continue;
            }
        };
        // Trusted proxies stand for many.
        let client = (!service.trusts(peer.ip())).then(|| ClientNet::of(peer.ip()));
        let place = tokio::select! {
            () = &mut shutdown => break,
            place = places.enter(client) => place,
        };
        if let Some(place) = place {
            let service = service.clone();
            connections.spawn(connection(stream, peer, place, service, options, stopping.clone()));
        }
    }
    drop(listener);
    stop.send_replace(true);
    let drained = async {
        while connections.join_next().await.is_some() {}
        service.writes_finished().await;
    };
    match tokio::time::timeout(options.drain_timeout, drained).await {
        Ok(()) => Drained::Whole,
        Err(_) => {
            tracing::warn!("requests in flight were cut off at the end of the drain timeout");
            Drained::CutOff
        }
    }
}

fn is_of_the_peer(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

/// An answer's body, which tells when all of it was handed over to be written.
struct Told<B> {
    body: B,
    phase: Phase,
}

impl<B: Body + Unpin> Body for Told<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl<B> Drop for Told<B> {
    fn drop(&mut self) {
        self.phase.answered();
    }
}

/// Serves one connection to its end.
async fn connection(
    stream: TcpStream,
    peer: SocketAddr,
    place: Place,
    service: RecadoHttp,
    options: ServeOptions,
    mut stopping: watch::Receiver<bool>,
) {
    // An answer is written in one piece; waiting for more to send would only delay it.
    let _ = stream.set_nodelay(true);
    let phase = Phase::of(place);
    let patience = Patience {
        head: options.head_timeout,
        idle: options.idle_timeout,
        write: options.write_timeout,
    };
    let io = TimedIo::new(stream, patience, phase.clone());
    let of_answers = phase.clone();
    let service = service_fn(move |mut request: Request<Incoming>| {
        let phase = of_answers.clone();
        phase.busy();
        request.extensions_mut().insert(PeerAddress(peer));
        let answering = service.answer(request);
        answering.map_ok(move |answer| answer.map(|body| Told { body, phase }))
    });
    let mut builder = http1::Builder::new();
    builder
        .half_close(true)
        .header_read_timeout(None)
        .max_headers(MAX_HEADERS)
        .max_buf_size(MAX_HEAD_BYTES);
    let mut connection = builder.serve_connection(TokioIo::new(io), service);
    let stopped = async {
        let _ = stopping.wait_for(|stop| *stop).await;
    };
    let (mut stopped, mut asked_to_go) = (pin!(stopped), pin!(phase.asked_to_go()));
    let (mut draining, mut leaving, mut closes) = (false, false, false);
    let ended = poll_fn(|cx| {
        if !draining && stopped.as_mut().poll(cx).is_ready() {
            (draining, closes) = (true, true);
            Pin::new(&mut connection).graceful_shutdown();
        }
        let ended = connection.poll_without_shutdown(cx);
        if ended.is_ready() {
            return ended.map(Some);
        }
        // Only now, so that a request that has arrived whole is answered.
        leaving = leaving || asked_to_go.as_mut().poll(cx).is_ready();
        if leaving && phase.is_idle() {
            return Poll::Ready(None);
        }
        if leaving && !closes && phase.is_busy() {
            closes = true;
            Pin::new(&mut connection).graceful_shutdown();
        }
        Poll::Pending
    })
    .await;
    let answered = match &ended {
        None => false,
        Some(Ok(())) => true,
        // A malformed head was answered with a 400 or 431.
        Some(Err(error)) => error.is_parse(),
    };
    if answered {
        let patience = if draining { LINGER_STOPPING } else { LINGER };
        let stream = connection.into_parts().io.into_inner().into_inner();
        phase.idle();
        tokio::select! {
            () = linger(stream, patience) => {}
            () = phase.asked_to_go() => {}
        }
    }
}

/// Closes the sending side, and reads and drops, within limits, what the peer is still sending:
/// closing with unread bytes would reset the connection, and the peer could lose the answer.
async fn linger(mut stream: TcpStream, patience: Duration) {
    let _ = tokio::time::timeout(patience, async {
        if stream.shutdown().await.is_err() {
            return;
        }
        let mut scratch = vec![0; 64 * 1024];
        let mut thrown_away = 0;
        while thrown_away < LINGER_BYTES {
            match tokio::time::timeout(LINGER_QUIET, stream.read(&mut scratch)).await {
                Ok(Ok(read @ 1..)) => thrown_away += read,
                _ => return,
            }
        }
    })
    .await;
}
