//! What a parser of forms is fed with, so that it holds no more of a form than one frame and the
//! heads of its parts (R352).
//!
//! A parser such as `multer` takes all that its stream has before it gives any of it. So a stream
//! that is always ready fills its memory. [`FormFrames`] gives one frame at a time, and asks for
//! the next one only when what was given was taken. It has to be told what was taken: [`Taken`]
//! counts the bytes of each part that is read.
//!
//! ```
//! use bytes::Bytes;
//! use futures_util::stream;
//! use multer::Multipart;
//! use recado_http_hyper::form_frames::FormFrames;
//!
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! let body = "--x\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nb\r\n--x--\r\n";
//! let frames = stream::iter([Ok::<_, std::io::Error>(Bytes::from_static(body.as_bytes()))]);
//! let (frames, taken) = FormFrames::new(frames);
//! let mut parts = Multipart::new(frames, "x");
//! while let Some(mut part) = parts.next_field().await? {
//!     while let Some(chunk) = part.chunk().await? {
//!         taken.add(chunk.len());
//!     }
//! }
//! # Ok::<(), multer::Error>(())
//! # }).unwrap();
//! ```

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use futures_util::stream::BoxStream;
use futures_util::{Stream, StreamExt};

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// How often the parser may ask for more while it has more than it may hold, before it takes any.
const MAX_ASKS: u32 = 64;

/// How much of a form was taken as content of its parts. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Taken(Arc<AtomicUsize>);

impl Taken {
    /// So many bytes of a part were taken.
    pub fn add(&self, bytes: usize) {
        self.0.fetch_add(bytes, Ordering::Relaxed);
    }

    fn bytes(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

/// Why a form has no further frame.
#[derive(Debug)]
pub enum FrameError {
    /// What is no content of a part, boundaries and heads, is more than
    /// [`FormFrames::MAX_BESIDE`].
    HeadsTooLarge,
    /// The body broke off.
    Broken(BoxError),
}

impl fmt::Display for FrameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::HeadsTooLarge => f.write_str("the heads of the parts are too large"),
            Self::Broken(_) => f.write_str("the body broke off"),
        }
    }
}

impl std::error::Error for FrameError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::HeadsTooLarge => None,
            Self::Broken(cause) => Some(&**cause),
        }
    }
}

/// The frames of a form for its parser: one at a time, and with a bound on what is no content of a
/// part.
pub struct FormFrames {
    inner: BoxStream<'static, Result<Bytes, BoxError>>,
    fed: usize,
    /// How much of it was content of parts.
    taken: Taken,
    /// How much that was when more was asked for last.
    seen: usize,
    /// How often more was asked for since, while there was too much.
    asks: u32,
    rests: bool,
}

impl fmt::Debug for FormFrames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("FormFrames");
        shown.field("fed", &self.fed).field("taken", &self.taken).finish_non_exhaustive()
    }
}

impl FormFrames {
    /// The most bytes beside those of the parts: boundaries and the heads of parts.
    pub const MAX_BESIDE: usize = 64 * 1024;

    /// R352. The frames of a body. What the parser gives out of the parts has to be added to
    /// [`Taken`], or the frames end with [`FrameError::HeadsTooLarge`].
    pub fn new<E: Into<BoxError>>(
        frames: impl Stream<Item = Result<Bytes, E>> + Send + 'static,
    ) -> (Self, Taken) {
        let taken = Taken::default();
        let inner = frames.map(|frame| frame.map_err(Into::into)).boxed();
        let counted = taken.clone();
        (Self { inner, fed: 0, taken, seen: 0, asks: 0, rests: false }, counted)
    }
}

impl Stream for FormFrames {
    type Item = Result<Bytes, FrameError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        // The parser takes all that there is, so there is nothing right after a frame.
        if std::mem::take(&mut self.rests) {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        let taken = self.taken.bytes();
        if self.fed.saturating_sub(taken) > Self::MAX_BESIDE {
            // It has not taken yet what it has: one frame may be larger.
            self.asks = if self.seen == taken { self.asks + 1 } else { 0 };
            self.seen = taken;
            if self.asks > MAX_ASKS {
                return Poll::Ready(Some(Err(FrameError::HeadsTooLarge)));
            }
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        let frame = ready!(self.inner.poll_next_unpin(cx));
        self.rests = true;
        Poll::Ready(frame.map(|frame| {
            let frame = frame.map_err(FrameError::Broken)?;
            self.fed += frame.len();
            Ok(frame)
        }))
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use futures_util::stream;
    use multer::Multipart;

    use super::*;

    const HEAD: &[u8] = b"--xx\r\nContent-Disposition: form-data; name=\"file\"\r\n\r\n";

    /// Frames without an end, after this one, and how many were asked for.
    fn endless(first: &'static [u8]) -> (FormFrames, Taken, Arc<AtomicUsize>) {
        let asked = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&asked);
        let frames = stream::iter(0..10_000).map(move |number| {
            counter.fetch_add(1, Ordering::Relaxed);
            let frame = if number == 0 { Vec::from(first) } else { vec![b'a'; 10_000] };
            Ok::<_, Infallible>(Bytes::from(frame))
        });
        let (frames, taken) = FormFrames::new(frames);
        (frames, taken, asked)
    }

    /// R352.
    #[tokio::test]
    async fn no_more_of_a_form_is_held_than_a_frame_and_the_heads() {
        let (frames, _, asked) = endless(b"");
        let mut parts = Multipart::new(frames, "xx");
        assert!(parts.next_field().await.is_err(), "the head never ends");
        assert!(asked.load(Ordering::Relaxed) < 10);
    }

    /// R352.
    #[tokio::test]
    async fn a_part_that_is_not_read_is_not_fetched() {
        let (frames, taken, asked) = endless(HEAD);
        let mut parts = Multipart::new(frames, "xx");
        let mut part = parts.next_field().await.expect("read").expect("a part");
        let mut read = 0;
        while read < 1_000_000 {
            let chunk = part.chunk().await.expect("read").expect("a chunk");
            taken.add(chunk.len());
            read += chunk.len();
            let held = asked.load(Ordering::Relaxed) * 10_000 - read;
            assert!(held <= FormFrames::MAX_BESIDE + 20_000, "{held}");
        }
    }

    #[tokio::test]
    async fn a_body_that_breaks_off_says_why() {
        let (mut frames, _) = FormFrames::new(stream::iter([Err::<Bytes, _>("gone")]));
        let error = frames.next().await.expect("an item").expect_err("broken");
        assert_eq!(error.to_string(), "the body broke off");
        let source = std::error::Error::source(&error).map(ToString::to_string);
        assert_eq!(source.as_deref(), Some("gone"));
    }
}
