//! The accept loop: bounded connections, timeouts, and a stop that completes requests in flight.

use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::JoinSet;

use crate::peer::PeerAddress;
use crate::service::RecadoHttp;
use crate::timed_io::{Patience, Phase, TimedIo};

/// The most headers a request may have; more are a 431.
const MAX_HEADERS: usize = 100;
/// The most bytes the head of a request may have; more are a 431.
const MAX_HEAD_BYTES: usize = 64 * 1024;
/// How long to wait after accepting failed (most likely for lack of file descriptors).
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// How much of a refused body is read and dropped, so that the peer can read the answer.
const LINGER_BYTES: usize = 32 * 1024 * 1024;
/// For how long it is read.
const LINGER: Duration = Duration::from_secs(5);
/// How long a peer may send nothing of it.
const LINGER_QUIET: Duration = Duration::from_secs(1);
/// For how long while stopping.
const LINGER_STOPPING: Duration = Duration::from_millis(200);

/// The options of connections.
#[derive(Clone, Copy, Debug)]
pub struct ServeOptions {
    /// The most connections at once; further ones wait in the system's backlog.
    pub max_connections: usize,
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
            max_connections: 10_000,
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
    let slots = Arc::new(Semaphore::new(options.max_connections));
    let (stop, stopping) = watch::channel(false);
    let mut connections = JoinSet::new();
    let mut shutdown = pin!(shutdown);
    loop {
        let accepted = tokio::select! {
            () = &mut shutdown => break,
            accepted = accept(&listener, &slots) => accepted,
            Some(_) = connections.join_next() => continue,
        };
        match accepted {
            Ok((stream, peer, slot)) => {
                let connection =
                    connection(stream, peer, service.clone(), options, stopping.clone());
                connections.spawn(async move {
                    connection.await;
                    drop(slot);
                });
            }
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
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

async fn accept(
    listener: &TcpListener,
    slots: &Arc<Semaphore>,
) -> io::Result<(TcpStream, SocketAddr, OwnedSemaphorePermit)> {
    let slot = slots.clone().acquire_owned().await.map_err(io::Error::other)?;
    let (stream, peer) = listener.accept().await?;
    Ok((stream, peer, slot))
}

/// Serves one connection to its end.
async fn connection(
    stream: TcpStream,
    peer: SocketAddr,
    service: RecadoHttp,
    options: ServeOptions,
    mut stopping: watch::Receiver<bool>,
) {
    // An answer is written in one piece; waiting for more to send would only delay it.
    let _ = stream.set_nodelay(true);
    let phase = Phase::default();
    let patience = Patience {
        head: options.head_timeout,
        idle: options.idle_timeout,
        write: options.write_timeout,
    };
    let io = TimedIo::new(stream, patience, phase.clone());
    let service = service_fn(move |mut request: Request<Incoming>| {
        phase.busy();
        request.extensions_mut().insert(PeerAddress(peer));
        let phase = phase.clone();
        service.answer(request).map(move |answer| {
            phase.idle();
            answer
        })
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
    let mut stopped = pin!(stopped);
    let mut draining = false;
    let ended = std::future::poll_fn(|cx| {
        if !draining && stopped.as_mut().poll(cx).is_ready() {
            draining = true;
            std::pin::Pin::new(&mut connection).graceful_shutdown();
        }
        connection.poll_without_shutdown(cx)
    })
    .await;
    let answered = match &ended {
        Ok(()) => true,
        // A malformed head was answered with a 400 or 431.
        Err(error) => error.is_parse(),
    };
    if answered {
        let patience = if draining { LINGER_STOPPING } else { LINGER };
        linger(connection.into_parts().io.into_inner().into_inner(), patience).await;
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
