//! The bytes of a connection, with or without TLS, and whether any were written or read.

use std::io;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use socket2::SockRef;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;

/// Whether bytes of one request and its answer were written and read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Progress(Arc<Passed>);

#[derive(Debug, Default)]
struct Passed {
    asked: AtomicBool,
    answered: AtomicBool,
    looking: AtomicBool,
}

impl Progress {
    /// The next request begins.
    pub(crate) fn restart(&self) {
        self.0.asked.store(false, Ordering::Relaxed);
        self.0.answered.store(false, Ordering::Relaxed);
    }

    /// Whether a byte of the request was written.
    pub(crate) fn asked(&self) -> bool {
        self.0.asked.load(Ordering::Relaxed)
    }

    /// Whether a byte of the answer was read.
    pub(crate) fn answered(&self) -> bool {
        self.0.answered.load(Ordering::Relaxed)
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
}

enum Io {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

/// A connection to a host.
pub(crate) struct Stream {
    io: Io,
    progress: Progress,
}

impl Stream {
    pub(crate) fn plain(stream: TcpStream) -> Self {
        Self { io: Io::Plain(stream), progress: Progress::default() }
    }

    pub(crate) fn tls(stream: TlsStream<TcpStream>) -> Self {
        Self { io: Io::Tls(Box::new(stream)), progress: Progress::default() }
    }

    /// The progress of the current request on this connection.
    pub(crate) fn progress(&self) -> Progress {
        self.progress.clone()
    }

    fn socket(&self) -> &TcpStream {
        match &self.io {
            Io::Plain(stream) => stream,
            Io::Tls(stream) => stream.get_ref().0,
        }
    }

    /// What the operating system holds unread: an end is an end; anything else that comes before a
    /// request was written is none that a connection can be used after.
    fn look(&self) -> Poll<io::Result<()>> {
        let mut byte = [MaybeUninit::uninit()];
        match SockRef::from(self.socket()).peek(&mut byte) {
            Ok(0) => Poll::Ready(Ok(())),
            Ok(_) => Poll::Ready(Err(io::ErrorKind::InvalidData.into())),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Poll::Pending,
            Err(error) => Poll::Ready(Err(error)),
        }
    }

    fn written(&self, written: &Poll<io::Result<usize>>) {
        if matches!(written, Poll::Ready(Ok(1..))) {
            self.progress.0.asked.store(true, Ordering::Relaxed);
        }
    }
}

impl AsyncRead for Stream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let read = match &mut self.io {
            Io::Plain(stream) => Pin::new(stream).poll_read(cx, buf),
            Io::Tls(stream) => Pin::new(stream).poll_read(cx, buf),
        };
        if buf.filled().len() > before {
            self.progress.0.answered.store(true, Ordering::Relaxed);
        }
        if read.is_pending() && self.progress.is_looking() { self.look() } else { read }
    }
}

impl AsyncWrite for Stream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = match &mut self.io {
            Io::Plain(stream) => Pin::new(stream).poll_write(cx, buf),
            Io::Tls(stream) => Pin::new(stream).poll_write(cx, buf),
        };
        self.written(&written);
        written
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = match &mut self.io {
            Io::Plain(stream) => Pin::new(stream).poll_write_vectored(cx, bufs),
            Io::Tls(stream) => Pin::new(stream).poll_write_vectored(cx, bufs),
        };
        self.written(&written);
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
