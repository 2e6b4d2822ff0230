//! The bytes of a connection, with or without TLS, and whether any were written or read.
//!
//! Writes are counted below TLS: a write through TLS can put a part of its bytes on the wire and
//! fail then (D53).

use std::io;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll};

use http::HeaderMap;
use socket2::SockRef;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;

/// The most interim heads (1xx) that are passed over before the head of an answer (R170).
const MAX_INTERIM_HEADS: usize = 16;
/// The most bytes of their headers.
const MAX_INTERIM_BYTES: usize = 64 * 1024;

/// Whether bytes of one request and its answer were written and read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Progress(Arc<Passed>);

#[derive(Debug, Default)]
struct Passed {
    asked: AtomicBool,
    answered: AtomicBool,
    looking: AtomicBool,
    sending: AtomicBool,
    interim_heads: AtomicUsize,
    interim_bytes: AtomicUsize,
}

impl Progress {
    /// The next request begins.
    pub(crate) fn restart(&self) {
        self.0.interim_heads.store(0, Ordering::Relaxed);
        self.0.interim_bytes.store(0, Ordering::Relaxed);
        self.0.asked.store(false, Ordering::Relaxed);
        self.0.answered.store(false, Ordering::Relaxed);
    }

    /// Whether a byte of the request may have been written.
    pub(crate) fn asked(&self) -> bool {
        self.0.asked.load(Ordering::Relaxed)
    }

    /// Whether a byte of the answer was read.
    pub(crate) fn answered(&self) -> bool {
        self.0.answered.load(Ordering::Relaxed)
    }

    /// An interim head with these headers came.
    pub(crate) fn interim(&self, headers: &HeaderMap) {
        let lines = headers.iter().map(|(name, value)| name.as_str().len() + value.len() + 4);
        self.0.interim_heads.fetch_add(1, Ordering::Relaxed);
        self.0.interim_bytes.fetch_add(lines.sum(), Ordering::Relaxed);
    }

    /// Whether more interim heads came than are passed over.
    ///
    /// R170.
    pub(crate) fn has_too_many_interim_heads(&self) -> bool {
        self.0.interim_heads.load(Ordering::Relaxed) > MAX_INTERIM_HEADS
            || self.0.interim_bytes.load(Ordering::Relaxed) > MAX_INTERIM_BYTES
    }

    /// Does something during which the connection is looked at: reading asks the operating system
    /// itself, since the runtime may not have heard yet that the peer has closed (D53).
    pub(crate) fn while_looking<T>(&self, act: impl FnOnce() -> T) -> T {
        self.0.looking.store(true, Ordering::Relaxed);
        let done = act();
        self.0.looking.store(false, Ordering::Relaxed);
        done
    }

    fn is_looking(&self) -> bool {
        self.0.looking.load(Ordering::Relaxed)
    }

    /// Does something that writes bytes of the request: what reaches the socket meanwhile counts.
    /// What TLS writes by itself, such as its farewell on a connection that was closed, does not.
    fn while_sending<T>(&self, act: impl FnOnce() -> T) -> T {
        self.0.sending.store(true, Ordering::Relaxed);
        let done = act();
        self.0.sending.store(false, Ordering::Relaxed);
        done
    }

    fn note(&self, written: &Poll<io::Result<usize>>) {
        if matches!(written, Poll::Ready(Ok(1..))) {
            self.0.asked.store(true, Ordering::Relaxed);
        }
    }
}

/// What the bytes of a connection go through.
pub(crate) trait Socket: AsyncRead + AsyncWrite + Unpin {
    /// What the operating system holds unread: an end is an end; anything else that comes before a
    /// request was written is none that a connection can be used after.
    fn look(&self) -> Poll<io::Result<()>>;
}

impl Socket for TcpStream {
    fn look(&self) -> Poll<io::Result<()>> {
        let mut byte = [MaybeUninit::uninit()];
        match SockRef::from(self).peek(&mut byte) {
            Ok(0) => Poll::Ready(Ok(())),
            Ok(_) => Poll::Ready(Err(io::ErrorKind::InvalidData.into())),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Poll::Pending,
            Err(error) => Poll::Ready(Err(error)),
        }
    }
}

/// A socket that notes what is written of a request.
pub(crate) struct Counted<S> {
    socket: S,
    progress: Progress,
}

impl<S> Counted<S> {
    pub(crate) fn new(socket: S) -> Self {
        Self { socket, progress: Progress::default() }
    }

    fn note(&self, written: &Poll<io::Result<usize>>) {
        if self.progress.0.sending.load(Ordering::Relaxed) {
            self.progress.note(written);
        }
    }
}

impl<S: Socket> AsyncRead for Counted<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_read(cx, buf)
    }
}

impl<S: Socket> AsyncWrite for Counted<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.socket).poll_write(cx, buf);
        self.note(&written);
        written
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.socket).poll_write_vectored(cx, bufs);
        self.note(&written);
        written
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_shutdown(cx)
    }
}

enum Io<S> {
    Plain(Counted<S>),
    Tls(Box<TlsStream<Counted<S>>>),
}

/// A connection to a host.
pub(crate) struct Stream<S = TcpStream> {
    io: Io<S>,
    progress: Progress,
}

impl<S: Socket> Stream<S> {
    pub(crate) fn plain(socket: S) -> Self {
        let socket = Counted::new(socket);
        Self { progress: socket.progress.clone(), io: Io::Plain(socket) }
    }

    pub(crate) fn tls(stream: TlsStream<Counted<S>>) -> Self {
        let progress = stream.get_ref().0.progress.clone();
        Self { io: Io::Tls(Box::new(stream)), progress }
    }

    /// The progress of the current request on this connection.
    pub(crate) fn progress(&self) -> Progress {
        self.progress.clone()
    }

    fn socket(&self) -> &S {
        match &self.io {
            Io::Plain(stream) => &stream.socket,
            Io::Tls(stream) => &stream.get_ref().0.socket,
        }
    }
}

impl<S: Socket> AsyncRead for Stream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.progress.has_too_many_interim_heads() {
            return Poll::Ready(Err(io::ErrorKind::InvalidData.into()));
        }
        let before = buf.filled().len();
        let read = match &mut self.io {
            Io::Plain(stream) => Pin::new(stream).poll_read(cx, buf),
            Io::Tls(stream) => Pin::new(stream).poll_read(cx, buf),
        };
        if buf.filled().len() > before {
            self.progress.0.answered.store(true, Ordering::Relaxed);
        }
        if read.is_pending() && self.progress.is_looking() { self.socket().look() } else { read }
    }
}

impl<S: Socket> AsyncWrite for Stream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        let progress = self.progress();
        let written = progress.while_sending(|| match &mut self.io {
            Io::Plain(stream) => Pin::new(stream).poll_write(cx, buf),
            Io::Tls(stream) => Pin::new(stream).poll_write(cx, buf),
        });
        // What TLS has taken may be written at any time.
        progress.note(&written);
        written
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let progress = self.progress();
        let written = progress.while_sending(|| match &mut self.io {
            Io::Plain(stream) => Pin::new(stream).poll_write_vectored(cx, bufs),
            Io::Tls(stream) => Pin::new(stream).poll_write_vectored(cx, bufs),
        });
        progress.note(&written);
        written
    }

    fn is_write_vectored(&self) -> bool {
        match &self.io {
            Io::Plain(stream) => stream.is_write_vectored(),
            Io::Tls(stream) => stream.is_write_vectored(),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.io {
            Io::Plain(stream) => Pin::new(stream).poll_flush(cx),
            Io::Tls(stream) => Pin::new(stream).poll_flush(cx),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.io {
            Io::Plain(stream) => Pin::new(stream).poll_shutdown(cx),
            Io::Tls(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use rustls::pki_types::ServerName;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
    use tokio_rustls::{TlsAcceptor, TlsConnector};

    use super::*;
    use crate::connector::tests::{client_config, server_config};

    /// A socket that breaks once it has taken as many bytes.
    struct Breaking {
        socket: DuplexStream,
        left: Arc<AtomicUsize>,
    }

    impl Socket for Breaking {
        fn look(&self) -> Poll<io::Result<()>> {
            Poll::Pending
        }
    }

    impl AsyncRead for Breaking {
        fn poll_read(
            mut self: Pin<&mut Self>,
            cx: &mut Context<'_>,
            buf: &mut ReadBuf<'_>,
        ) -> Poll<io::Result<()>> {
            Pin::new(&mut self.socket).poll_read(cx, buf)
        }
    }

    impl AsyncWrite for Breaking {
        fn poll_write(
            mut self: Pin<&mut Self>,
            cx: &mut Context<'_>,
            buf: &[u8],
        ) -> Poll<io::Result<usize>> {
            let left = self.left.load(Ordering::Relaxed);
            if left == 0 {
                return Poll::Ready(Err(io::ErrorKind::ConnectionReset.into()));
            }
            let written = Pin::new(&mut self.socket).poll_write(cx, &buf[..buf.len().min(left)]);
            if let Poll::Ready(Ok(count)) = written {
                self.left.fetch_sub(count, Ordering::Relaxed);
            }
            written
        }

        fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
            Pin::new(&mut self.socket).poll_flush(cx)
        }

        fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
            Pin::new(&mut self.socket).poll_shutdown(cx)
        }
    }

    /// A connection over TLS that has served a request, and how much its socket still takes.
    async fn used() -> (Stream<Breaking>, Arc<AtomicUsize>) {
        let (certificate, server) = server_config();
        let (ours, theirs) = tokio::io::duplex(1024 * 1024);
        tokio::spawn(async move {
            let acceptor = TlsAcceptor::from(Arc::new(server));
            let mut stream = acceptor.accept(theirs).await.expect("a handshake");
            let mut bytes = [0; 4096];
            while matches!(stream.read(&mut bytes).await, Ok(1..)) {
                stream.write_all(b"ok").await.expect("written");
                stream.flush().await.expect("flushed");
            }
        });
        let left = Arc::new(AtomicUsize::new(usize::MAX));
        let socket = Breaking { socket: ours, left: Arc::clone(&left) };
        let connector = TlsConnector::from(Arc::new(client_config(certificate)));
        let name = ServerName::try_from("hook.example").expect("a name");
        let secured = connector.connect(name, Counted::new(socket)).await.expect("a handshake");
        let mut stream = Stream::tls(secured);
        stream.write_all(b"the first").await.expect("written");
        stream.flush().await.expect("flushed");
        stream.read_exact(&mut [0; 2]).await.expect("an answer");
        assert!(stream.progress().asked());
        (stream, left)
    }

    /// D53.
    #[tokio::test]
    async fn a_write_over_tls_that_fails_after_some_bytes_counts_as_written() {
        let (mut stream, left) = used().await;
        stream.progress().restart();
        left.store(100, Ordering::Relaxed);
        let written = stream.write(&[b'a'; 10_000]).await;
        assert!(written.is_err() && stream.progress().asked(), "{written:?}");
    }

    /// D53.
    #[tokio::test]
    async fn a_write_over_tls_of_which_nothing_reaches_the_socket_is_none() {
        let (mut stream, left) = used().await;
        stream.progress().restart();
        left.store(0, Ordering::Relaxed);
        let written = stream.write(b"the second").await;
        assert!(written.is_err() && !stream.progress().asked(), "{written:?}");
    }

    /// D53.
    #[tokio::test]
    async fn the_farewell_of_tls_is_no_byte_of_a_request() {
        let (mut stream, left) = used().await;
        stream.progress().restart();
        left.store(1_000, Ordering::Relaxed);
        stream.shutdown().await.expect("shut down");
        assert!(left.load(Ordering::Relaxed) < 1_000, "it was written");
        assert!(!stream.progress().asked());
    }
}
