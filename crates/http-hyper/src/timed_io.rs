//! Timeouts of a connection: how long the head of a request may take, how long a connection may
//! idle between requests, how long a peer may read nothing of what is written, and how slowly it
//! may read a file (R192).

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep};

use crate::places::Place;

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

/// A head is expected, or has begun.
const HEAD: u8 = 0;
/// A request is being answered.
const BUSY: u8 = 1;
/// All of the answer is made, and not all of it written.
const WRITING: u8 = 2;
/// The same, and the next head has begun.
const WRITING_AND_HEAD: u8 = 3;
/// The next head may begin.
const IDLE: u8 = 4;

/// What a connection is doing; set by the service and its [`TimedIo`], and told to its place.
#[derive(Clone, Debug, Default)]
pub(crate) struct Phase(Arc<Doing>);

#[derive(Debug, Default)]
struct Doing {
    now: AtomicU8,
    /// Odd while a file is the last answer, and another number for each.
    answer: AtomicU64,
    place: Option<Place>,
}

impl Phase {
    /// The phases of the connection that has this place.
    pub(crate) fn of(place: Place) -> Self {
        Self(Arc::new(Doing { place: Some(place), ..Doing::default() }))
    }

    /// A request was read and is being answered; its body has a limit of its own.
    pub(crate) fn busy(&self) {
        self.set(BUSY);
        if let Some(place) = &self.0.place {
            place.busy();
        }
    }

    /// The head of the answer is made. A file has to be read at the pace (R192).
    pub(crate) fn answers(&self, is_file: bool) {
        let last = self.0.answer.load(Ordering::Relaxed);
        let next = last + if is_file { 1 + last % 2 } else { last % 2 };
        self.0.answer.store(next, Ordering::Relaxed);
    }

    /// The whole answer was handed over to be written.
    pub(crate) fn answered(&self) {
        self.set(WRITING);
    }

    /// Nothing is under way any more.
    pub(crate) fn idle(&self) {
        self.rest(IDLE);
    }

    /// Whether nothing is lost if the connection is closed now.
    pub(crate) fn is_idle(&self) -> bool {
        matches!(self.get(), HEAD | IDLE)
    }

    /// Whether a request is being answered, and its answer not made yet.
    pub(crate) fn is_busy(&self) -> bool {
        self.get() == BUSY
    }

    /// Ends when the connection is asked to make room for another.
    pub(crate) async fn asked_to_go(&self) {
        match &self.0.place {
            Some(place) => place.asked_to_go().await,
            None => std::future::pending().await,
        }
    }

    /// Everything was written. Returns whether that ends an answer.
    fn written(&self) -> bool {
        match self.get() {
            WRITING => self.rest(IDLE),
            WRITING_AND_HEAD => self.rest(HEAD),
            _ => return false,
        }
        true
    }

    /// Bytes were read. The first ones after an idle time begin a head.
    fn read(&self) -> bool {
        match self.get() {
            IDLE => self.set(HEAD),
            WRITING => self.set(WRITING_AND_HEAD),
            _ => return false,
        }
        true
    }

    fn rest(&self, phase: u8) {
        self.set(phase);
        if let Some(place) = &self.0.place {
            place.idle();
        }
    }

    fn set(&self, phase: u8) {
        self.0.now.store(phase, Ordering::Relaxed);
    }

    fn get(&self) -> u8 {
        self.0.now.load(Ordering::Relaxed)
    }

    /// The number of the answer that is being written, if it is a file.
    fn file(&self) -> Option<u64> {
        let answer = self.0.answer.load(Ordering::Relaxed);
        (answer % 2 == 1).then_some(answer)
    }
}

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
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};

    const PATIENCE: Patience = Patience {
        head: Duration::from_secs(10),
        idle: Duration::from_secs(60),
        write: Duration::from_secs(30),
    };

    fn pair() -> (DuplexStream, TimedIo<DuplexStream>, Phase) {
        let (peer, ours) = tokio::io::duplex(16);
        let phase = Phase::default();
        let timed = TimedIo::new(ours, PATIENCE, phase.clone());
        (peer, timed, phase)
    }

    async fn read_error(timed: &mut TimedIo<DuplexStream>) -> io::ErrorKind {
        let mut buf = [0; 16];
        loop {
            match timed.read(&mut buf).await {
                Ok(0) => return io::ErrorKind::UnexpectedEof,
                Ok(_) => {}
                Err(error) => return error.kind(),
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_trickle_of_bytes_does_not_renew_the_time_of_a_head() {
        let (mut peer, mut timed, _phase) = pair();
        let began = Instant::now();
        let trickle = async {
            while peer.write_all(b"G").await.is_ok() {
                tokio::time::sleep(Duration::from_secs(3)).await;
            }
        };
        tokio::select! {
            kind = read_error(&mut timed) => assert_eq!(kind, io::ErrorKind::TimedOut),
            () = trickle => unreachable!("the reader gives up first"),
        }
        assert_eq!(began.elapsed().as_secs(), 10);
    }

    #[tokio::test(start_paused = true)]
    async fn an_idle_connection_has_more_time_until_its_next_head_begins() {
        let (mut peer, mut timed, phase) = pair();
        phase.idle();
        let began = Instant::now();
        let late = async {
            tokio::time::sleep(Duration::from_secs(50)).await;
            peer.write_all(b"G").await.expect("still open");
            std::future::pending::<()>().await;
        };
        tokio::select! {
            kind = read_error(&mut timed) => assert_eq!(kind, io::ErrorKind::TimedOut),
            () = late => {}
        }
        assert_eq!(began.elapsed().as_secs(), 60);
    }

    #[tokio::test(start_paused = true)]
    async fn the_head_after_a_slow_answer_has_its_full_time() {
        let (mut peer, mut timed, phase) = pair();
        peer.write_all(b"GET").await.expect("open");
        timed.read_exact(&mut [0; 3]).await.expect("the first head");
        phase.busy();
        tokio::time::advance(Duration::from_secs(20)).await;
        phase.idle();
        peer.write_all(b"G").await.expect("open");
        let began = Instant::now();
        assert_eq!(read_error(&mut timed).await, io::ErrorKind::TimedOut);
        assert_eq!(began.elapsed().as_secs(), 10);
    }

    #[tokio::test(start_paused = true)]
    async fn it_is_idle_only_once_the_whole_answer_is_written() {
        let (mut peer, mut timed, phase) = pair();
        phase.busy();
        // More than the peer takes at once.
        let written = tokio::time::timeout(Duration::from_secs(1), timed.write_all(&[0; 20])).await;
        assert!(written.is_err() && !phase.is_idle());
        timed.flush().await.expect("open");
        assert!(!phase.is_idle(), "the rest of the answer is still to come");
        peer.read_exact(&mut [0; 16]).await.expect("open");
        timed.write_all(&[0; 4]).await.expect("open");
        phase.answered();
        assert!(!phase.is_idle());
        timed.flush().await.expect("open");
        assert!(phase.is_idle());
        let began = Instant::now();
        assert_eq!(read_error(&mut timed).await, io::ErrorKind::TimedOut);
        assert_eq!(began.elapsed().as_secs(), 60);
    }

    #[tokio::test(start_paused = true)]
    async fn a_head_that_begins_while_an_answer_is_written_has_the_time_of_a_head() {
        let (mut peer, mut timed, phase) = pair();
        phase.busy();
        phase.answered();
        peer.write_all(b"G").await.expect("open");
        timed.read_exact(&mut [0; 1]).await.expect("open");
        timed.flush().await.expect("open");
        let began = Instant::now();
        assert_eq!(read_error(&mut timed).await, io::ErrorKind::TimedOut);
        assert_eq!(began.elapsed().as_secs(), 10);
    }

    #[tokio::test(start_paused = true)]
    async fn while_a_request_is_answered_reading_has_no_time_limit() {
        let (_peer, mut timed, phase) = pair();
        phase.busy();
        let reading = tokio::time::timeout(Duration::from_secs(3600), read_error(&mut timed));
        assert!(reading.await.is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn a_peer_that_takes_nothing_is_given_up() {
        let (_peer, mut timed, _phase) = pair();
        let error = timed.write_all(&[0; 64]).await.expect_err("stalled");
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }

    /// Reads so many bytes every second, and says after how many seconds the connection failed and
    /// how many bytes had been read.
    async fn read_slowly(
        phase: Phase,
        mut timed: TimedIo<DuplexStream>,
        mut peer: DuplexStream,
        bytes: usize,
    ) -> (u64, usize) {
        phase.answers(true);
        phase.idle();
        let began = Instant::now();
        let mut read = 0;
        let reading = async {
            let mut buf = vec![0; bytes];
            loop {
                tokio::time::sleep(Duration::from_secs(1)).await;
                peer.read_exact(&mut buf).await.expect("there is more");
                read += bytes;
            }
        };
        let writing = async { while timed.write_all(&[0; 1024]).await.is_ok() {} };
        tokio::select! {
            () = writing => {}
            () = reading => {}
            () = tokio::time::sleep(Duration::from_secs(3_600)) => {}
        }
        (began.elapsed().as_secs(), read)
    }

    /// R192.
    #[tokio::test(start_paused = true)]
    async fn who_reads_a_file_below_the_pace_is_given_up_and_who_keeps_it_is_not() {
        const KIB: usize = 1024;
        let file = |bytes| async move {
            let (peer, ours) = tokio::io::duplex(16 * KIB);
            let phase = Phase::default();
            let timed = TimedIo::new(ours, PATIENCE, phase.clone());
            read_slowly(phase, timed, peer, bytes).await
        };
        let (seconds, read) = file(1).await;
        assert!((10..=12).contains(&seconds) && read <= 12, "{seconds} s, {read} bytes");
        let (seconds, read) = file(8 * KIB).await;
        assert!((20..=24).contains(&seconds), "{seconds} s, {read} bytes");
        let (seconds, _) = file(16 * KIB).await;
        assert_eq!(seconds, 3_600, "it keeps the pace");
    }

    /// R192.
    #[tokio::test(start_paused = true)]
    async fn time_in_which_nothing_waits_to_be_read_does_not_count() {
        let (mut peer, mut timed, phase) = pair();
        phase.answers(true);
        phase.idle();
        let mut buf = [0; 16];
        for _ in 0..100 {
            timed.write_all(&[0; 16]).await.expect("written");
            peer.read_exact(&mut buf).await.expect("read");
            // The store is slow.
            tokio::time::sleep(Duration::from_secs(5)).await;
        }
    }

    /// R192.
    #[tokio::test(start_paused = true)]
    async fn other_answers_have_no_pace_and_each_file_has_its_own() {
        let (mut peer, mut timed, phase) = pair();
        let mut buf = [0; 1];
        timed.write_all(&[0; 16]).await.expect("that fits in");
        for is_file in [true, false, true, true, false] {
            phase.busy();
            phase.answers(is_file);
            phase.idle();
            for second in 0..if is_file { 9 } else { 60 } {
                let reading = async {
                    tokio::time::sleep(Duration::from_secs(1)).await;
                    peer.read_exact(&mut buf).await.expect("open");
                };
                let (written, ()) = tokio::join!(timed.write_all(&[0; 1]), reading);
                written.unwrap_or_else(|error| panic!("{is_file} {second}: {error}"));
            }
        }
    }
}
