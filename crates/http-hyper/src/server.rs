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
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
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
    stopping: watch::Receiver<bool>,
) {
    // An answer is written in one piece; waiting for more to send would only delay it.
    let _ = stream.set_nodelay(true);
    let phase = Phase::of(place);
    let answers = answered(stream, peer, phase.clone(), service, options, stopping);
    if let Some((stream, patience)) = answers.await {
        phase.idle();
        tokio::select! {
            () = linger(stream, patience) => {}
            () = phase.asked_to_go() => {}
        }
    }
}

/// Answers the requests of one connection. Returns it, and how long to linger, unless it failed.
async fn answered<T: AsyncRead + AsyncWrite + Unpin + Send>(
    stream: T,
    peer: SocketAddr,
    phase: Phase,
    service: RecadoHttp,
    options: ServeOptions,
    mut stopping: watch::Receiver<bool>,
) -> Option<(T, Duration)> {
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
        answering.map_ok(move |answer| {
            phase.answers(answer.body().is_streamed());
            answer.map(|body| Told { body, phase })
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
    let patience = if draining { LINGER_STOPPING } else { LINGER };
    answered.then(|| (connection.into_parts().io.into_inner().into_inner(), patience))
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use async_trait::async_trait;
    use futures_util::StreamExt;
    use recado_core::documents::{FileError, FileReader, Files, MAX_DOCUMENT_BYTES};
    use recado_core::secret::SecretText;
    use recado_testkit::{Kit, MemoryFiles, kit::body};
    use serde_json::json;
    use tokio::io::DuplexStream;

    use super::*;
    use crate::options::HttpOptions;

    const KIB: usize = 1024;
    const TOKEN: &str = "operator-token-of-the-tests-0123456789";

    /// Files that count the frames that were read of them.
    #[derive(Clone, Default)]
    struct Counting {
        inner: MemoryFiles,
        frames: Arc<AtomicUsize>,
    }

    impl Counting {
        fn frames(&self) -> usize {
            self.frames.load(Ordering::Relaxed)
        }
    }

    #[async_trait]
    impl Files for Counting {
        async fn put(&self, key: &str, bytes: Vec<u8>) -> Result<(), FileError> {
            self.inner.put(key, bytes).await
        }

        async fn open(&self, key: &str, from: u64) -> Result<Option<FileReader>, FileError> {
            let frames = Arc::clone(&self.frames);
            let opened = self.inner.open(key, from).await?;
            Ok(opened.map(|reader| {
                let counted = move |_: &_| {
                    frames.fetch_add(1, Ordering::Relaxed);
                };
                FileReader::new(reader.size(), from, reader.inspect(counted))
            }))
        }

        async fn size(&self, key: &str) -> Result<Option<u64>, FileError> {
            self.inner.size(key).await
        }

        async fn copy(&self, from: &str, to: &str) -> Result<bool, FileError> {
            self.inner.copy(from, to).await
        }

        async fn remove(&self, key: &str) -> Result<(), FileError> {
            self.inner.remove(key).await
        }
    }

    /// A service that has a document as large as one may be, and the path of the document.
    async fn with_a_large_document() -> (RecadoHttp, Counting, String) {
        let files = Counting::default();
        let kit = Kit::builder().files(files.clone()).build().await;
        let new = body(json!({"phone": "+5511987654321"}));
        let contact = kit.app.contacts().create(&kit.caller, &new).await.expect("made").contact.id;
        let (company, bytes) = (kit.company.id, vec![7; MAX_DOCUMENT_BYTES]);
        let document = kit.app.documents().attach(company, contact, "a.mp4", bytes).await;
        let document = document.expect("attached").id;
        let options =
            HttpOptions { operator_token: Some(SecretText::new(TOKEN)), ..HttpOptions::default() };
        let path =
            format!("/operator/v1/companies/{company}/contacts/{contact}/documents/{document}");
        (RecadoHttp::new(kit.app.clone(), options), files, path)
    }

    /// A connection over which a document was asked for. It holds 16 KiB.
    async fn asks(service: &RecadoHttp, method: &str, path: &str) -> DuplexStream {
        let (mut client, stream) = tokio::io::duplex(16 * KIB);
        let (service, peer) = (service.clone(), SocketAddr::from(([192, 0, 2, 1], 1)));
        tokio::spawn(async move {
            let (_stop, stopping) = watch::channel(false);
            answered(stream, peer, Phase::default(), service, ServeOptions::default(), stopping)
                .await
        });
        let head = format!("{method} {path} HTTP/1.1\r\nHost: t\r\nAuthorization: Bearer {TOKEN}");
        client.write_all(format!("{head}\r\n\r\n").as_bytes()).await.expect("written");
        client
    }

    /// Waits until nothing more can be done without the clients: the test clock stands until then.
    async fn settled() {
        tokio::time::sleep(Duration::from_secs(1)).await;
    }

    /// R190.
    #[tokio::test(start_paused = true)]
    async fn forty_slow_readers_of_a_large_file_hold_a_few_frames_each() {
        let (service, files, path) = with_a_large_document().await;
        let mut clients = Vec::new();
        for _ in 0..40 {
            let mut client = asks(&service, "GET", &path).await;
            let mut status = [0; 15];
            client.read_exact(&mut status).await.expect("an answer");
            assert_eq!(&status, b"HTTP/1.1 200 OK");
            clients.push(client);
        }
        settled().await;
        // A frame has at most 64 KiB: together less than 8 MiB, where the files have 1,000 MiB.
        assert!((40..=120).contains(&files.frames()), "{}", files.frames());
        // Who reads on gets what it reads, and no more is read for the others.
        let before = files.frames();
        clients[0].read_exact(&mut vec![0; 1024 * KIB]).await.expect("more");
        settled().await;
        assert!((14..=18).contains(&(files.frames() - before)), "{}", files.frames() - before);
        drop(clients);
    }

    /// R410.
    #[tokio::test(start_paused = true)]
    async fn a_slow_reader_of_an_export_holds_a_few_frames() {
        let (service, files, path) = with_a_large_document().await;
        let (contact, _) = path.split_once("/documents/").expect("a document");
        let mut client = asks(&service, "GET", &format!("{contact}/export")).await;
        // Until the file comes, which is one of 400 frames.
        while files.frames() == 0 {
            client.read_exact(&mut [0; 16]).await.expect("more");
        }
        settled().await;
        let before = files.frames();
        assert!(before <= 6, "{before}");
        client.read_exact(&mut vec![0; 1024 * KIB]).await.expect("more");
        settled().await;
        assert!((14..=20).contains(&(files.frames() - before)), "{}", files.frames() - before);
    }

    /// R190.
    #[tokio::test(start_paused = true)]
    async fn head_reads_nothing_of_a_file() {
        let (service, files, path) = with_a_large_document().await;
        let mut client = asks(&service, "HEAD", &path).await;
        let mut head = vec![0; 1024];
        let read = client.read(&mut head).await.expect("an answer");
        let head = String::from_utf8_lossy(&head[..read]).to_lowercase();
        assert!(head.contains("content-length: 26214400"), "{head}");
        settled().await;
        assert_eq!(files.frames(), 0);
    }

    /// R192.
    #[tokio::test(start_paused = true)]
    async fn who_keeps_the_pace_gets_the_whole_file_and_the_connection_stays_open() {
        let (service, _, path) = with_a_large_document().await;
        let mut client = asks(&service, "GET", &path).await;
        let (mut read, mut chunk) = (0, vec![0; 32 * KIB]);
        while read < MAX_DOCUMENT_BYTES {
            match client.read(&mut chunk).await.expect("open") {
                0 => panic!("closed after {read} bytes"),
                bytes => read += bytes,
            }
            // About 32 KiB a second, for a quarter of an hour.
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
        let next = format!("HEAD {path} HTTP/1.1\r\nHost: t\r\nAuthorization: Bearer {TOKEN}\r\n");
        client.write_all(format!("{next}\r\n").as_bytes()).await.expect("open");
        // Of the file only so many bytes are left as its head had.
        let mut rest = Vec::new();
        while !String::from_utf8_lossy(&rest).contains("HTTP/1.1 200 OK") {
            assert!(
                client.read_buf(&mut rest).await.expect("open") > 0,
                "the connection is closed"
            );
        }
    }

    /// R190, R192.
    #[tokio::test(start_paused = true)]
    async fn who_reads_too_slowly_is_cut_off() {
        let (service, files, path) = with_a_large_document().await;
        let mut client = asks(&service, "GET", &path).await;
        let began = tokio::time::Instant::now();
        let mut read = 0;
        // Eight KiB a second.
        while client.read_exact(&mut vec![0; 8 * KIB]).await.is_ok() {
            read += 8 * KIB;
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
        assert!((20..60).contains(&began.elapsed().as_secs()), "{:?}", began.elapsed());
        assert!(read < 1024 * KIB && files.frames() < 16, "{read}");
    }
}
