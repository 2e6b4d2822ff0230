//! Timeouts of a connection: how long the head of a request may take, how long a connection may
//! idle between requests, how long a peer may read nothing of what is written, and how slowly it
//! may read a file (R192).

mod phase;

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep};

pub(crate) use phase::Phase;
use phase::{BUSY, HEAD, WRITING, WRITING_AND_HEAD};

/// The timeouts of a connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    /// From the first byte of a request's head (or from accepting the connection) to its last.
    pub(crate) head: Duration,
    /// Between two requests.
    pub(crate) idle: Duration,
    /// Until the peer reads more of an answer.
    pub(crate) write: Duration,
}

/// How long a peer may keep us waiting while it reads a file, before it has to keep the pace
/// (R192).
const GRACE: Duration = Duration::from_secs(10);
/// The pace: how many bytes a second of a file a peer has to read (R192).
const PACE: u64 = 16 * 1024;

/// How a peer reads a file.
struct Reading {
    /// The number of the answer.
    answer: u64,
    written: u64,
    /// How long it has kept us waiting, before now.
    waited: Duration,
    /// Since when it keeps us waiting.
    since: Option<Instant>,
}

impl Reading {
    const fn of(answer: u64) -> Self {
        Self { answer, written: 0, waited: Duration::ZERO, since: None }
    }

    /// Bytes were written.
    fn took(&mut self, bytes: usize) {
        self.written = self.written.saturating_add(u64::try_from(bytes).unwrap_or(u64::MAX));
        if let Some(since) = self.since.take() {
            self.waited += since.elapsed();
        }
    }

    /// Until when it may take nothing. Only the time counts in which bytes wait for the peer, not
    /// that in which they are read from the store.
    ///
    /// R192.
    fn deadline(&mut self) -> Instant {
        let since = *self.since.get_or_insert_with(Instant::now);
        let due = Duration::from_millis(self.written.saturating_mul(1000) / PACE);
        since + (GRACE + due).saturating_sub(self.waited)
    }
}

/// A connection whose reads and writes fail when the peer takes too long.
pub(crate) struct TimedIo<T> {
    io: T,
    patience: Patience,
    phase: Phase,
    /// What the read timer was set for; `None` while it is not set.
    reading: Option<u8>,
    read_timer: Pin<Box<Sleep>>,
    writing: bool,
    write_timer: Pin<Box<Sleep>>,
    /// How the peer reads the file that is being written.
    file: Option<Reading>,
    file_timer: Pin<Box<Sleep>>,
}

impl<T> TimedIo<T> {
    /// Watches `io`; the first request's head is expected from now on.
    pub(crate) fn new(io: T, patience: Patience, phase: Phase) -> Self {
        Self {
            io,
            patience,
            phase,
            reading: Some(HEAD),
            read_timer: Box::pin(tokio::time::sleep(patience.head)),
            writing: false,
            write_timer: Box::pin(tokio::time::sleep(patience.write)),
            file: None,
            file_timer: Box::pin(tokio::time::sleep(GRACE)),
        }
    }

    /// The connection itself.
    pub(crate) fn into_inner(self) -> T {
        self.io
    }

    /// Whether the peer has used up its time; called when nothing can be read.
    fn read_is_late(&mut self, cx: &mut Context<'_>) -> bool {
        let wanted = match self.phase.get() {
            BUSY | WRITING | WRITING_AND_HEAD => {
                self.reading = None;
                return false;
            }
            phase => phase,
        };
        if self.reading != Some(wanted) {
            self.reading = Some(wanted);
            let wait = if wanted == HEAD { self.patience.head } else { self.patience.idle };
            self.read_timer.as_mut().reset(Instant::now() + wait);
        }
        self.read_timer.as_mut().poll(cx).is_ready()
    }

    /// Whether the peer has taken nothing for too long, or reads a file too slowly; called when
    /// nothing can be written.
    fn write_is_late(&mut self, cx: &mut Context<'_>) -> bool {
        if !self.writing {
            self.writing = true;
            self.write_timer.as_mut().reset(Instant::now() + self.patience.write);
        }
        let file_is_late = self.file.as_mut().is_some_and(|file| {
            let deadline = file.deadline();
            if self.file_timer.deadline() != deadline {
                self.file_timer.as_mut().reset(deadline);
            }
            self.file_timer.as_mut().poll(cx).is_ready()
        });
        self.write_timer.as_mut().poll(cx).is_ready() || file_is_late
    }

    /// What was written, or an error if the peer is too slow. `bytes` counts what it took.
    fn watched<R>(
        &mut self,
        cx: &mut Context<'_>,
        written: Poll<io::Result<R>>,
        bytes: impl FnOnce(&R) -> usize,
    ) -> Poll<io::Result<R>> {
        let answer = self.phase.file();
        if self.file.as_ref().map(|file| file.answer) != answer {
            self.file = answer.map(Reading::of);
        }
        if let Poll::Ready(written) = written {
            self.writing = false;
            if let (Some(file), Ok(written)) = (&mut self.file, &written) {
                file.took(bytes(written));
            }
            return Poll::Ready(written);
        }
        if self.write_is_late(cx) { Poll::Ready(Err(late())) } else { Poll::Pending }
    }
}

fn late() -> io::Error {
    io::ErrorKind::TimedOut.into()
}

impl<T: AsyncRead + Unpin> AsyncRead for TimedIo<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        match Pin::new(&mut self.io).poll_read(cx, buf) {
            Poll::Ready(read) => {
                // The time of a head runs from its first bytes, not from each byte, so that single
                // slow bytes do not renew it.
                if buf.filled().len() > before && self.phase.read() {
                    self.reading = None;
                }
                Poll::Ready(read)
            }
            Poll::Pending if self.read_is_late(cx) => Poll::Ready(Err(late())),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for TimedIo<T> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.io).poll_write(cx, buf);
        self.watched(cx, written, |bytes| *bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.io).poll_write_vectored(cx, bufs);
        self.watched(cx, written, |bytes| *bytes)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.io).poll_flush(cx);
        let flushed = self.watched(cx, flushed, |()| 0);
        if matches!(flushed, Poll::Ready(Ok(()))) && self.phase.written() {
            // Nothing else may be polled before the next head comes, so its time begins here.
            self.read_is_late(cx);
        }
        flushed
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let shut = Pin::new(&mut self.io).poll_shutdown(cx);
        self.watched(cx, shut, |()| 0)
    }
}

#[cfg(test)]
mod tests;
