//! The body of an outbound request: bytes, and perhaps a file that is read while it is written.

use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use futures_util::StreamExt;
use hyper::body::{Body, Frame, SizeHint};
use recado_core::documents::{FileError, FileReader};
use recado_core::transport::{AttachedFile, FileEncoding};
use tokio::time::Instant;

/// The body of a request. Its size is known beforehand, and it yields frames as they are taken.
pub(crate) struct OutgoingBody {
    before: Bytes,
    file: Option<FileBytes>,
    tail: Bytes,
    left: u64,
    taken: Taken,
}

/// The bytes of a file as they are written.
struct FileBytes {
    reader: FileReader,
    encoding: FileEncoding,
    /// Bytes that were read and do not make three yet.
    rest: Vec<u8>,
}

/// How far the connection has taken a body. Clones are of the same body.
#[derive(Clone)]
pub(crate) struct Taken(Arc<TakenState>);

struct TakenState {
    last: Mutex<Instant>,
    is_whole: AtomicBool,
}

impl Taken {
    fn new(is_whole: bool) -> Self {
        let last = Mutex::new(Instant::now());
        Self(Arc::new(TakenState { last, is_whole: AtomicBool::new(is_whole) }))
    }

    /// When the last frame was taken, or the body was made.
    pub(crate) fn last(&self) -> Instant {
        *self.0.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether all of it was taken.
    pub(crate) fn is_whole(&self) -> bool {
        self.0.is_whole.load(Ordering::Relaxed)
    }

    fn frame(&self, is_last: bool) {
        *self.0.last.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
        self.0.is_whole.store(is_last, Ordering::Relaxed);
    }
}

impl OutgoingBody {
    /// A body in memory. It counts as taken whole: it goes into one buffer.
    pub(crate) fn of_bytes(bytes: Bytes) -> Self {
        let left = bytes.len() as u64;
        Self { before: bytes, file: None, tail: Bytes::new(), left, taken: Taken::new(true) }
    }

    /// A body with a file in it, which is opened.
    ///
    /// # Errors
    ///
    /// When it cannot be opened.
    pub(crate) async fn with_file(
        before: Bytes,
        attached: &AttachedFile,
    ) -> Result<Self, FileError> {
        let left = before.len() as u64 + attached.len();
        let reader = attached.file.open().await?;
        let file = FileBytes { reader, encoding: attached.encoding, rest: Vec::new() };
        let tail = Bytes::from(attached.tail.clone());
        Ok(Self { before, file: Some(file), tail, left, taken: Taken::new(left == 0) })
    }

    pub(crate) fn taken(&self) -> Taken {
        self.taken.clone()
    }

    fn poll_bytes(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, FileError>>> {
        if !self.before.is_empty() {
            return Poll::Ready(Some(Ok(std::mem::take(&mut self.before))));
        }
        if let Some(file) = &mut self.file {
            match ready!(file.poll_bytes(cx)) {
                Some(bytes) => return Poll::Ready(Some(bytes)),
                None => self.file = None,
            }
        }
        let tail = std::mem::take(&mut self.tail);
        Poll::Ready((!tail.is_empty()).then_some(Ok(tail)))
    }
}

impl FileBytes {
    fn poll_bytes(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, FileError>>> {
        loop {
            let frame = match ready!(self.reader.poll_next_unpin(cx)) {
                Some(Ok(frame)) => frame,
                Some(Err(error)) => return Poll::Ready(Some(Err(error))),
                None => {
                    let rest = std::mem::take(&mut self.rest);
                    let last = (!rest.is_empty()).then(|| Ok(STANDARD.encode(rest).into()));
                    return Poll::Ready(last);
                }
            };
            match self.encoding {
                FileEncoding::Raw => return Poll::Ready(Some(Ok(frame.into()))),
                FileEncoding::Base64 => {
                    self.rest.extend_from_slice(&frame);
                    let whole = self.rest.len() / 3 * 3;
                    if whole > 0 {
                        let encoded = STANDARD.encode(&self.rest[..whole]);
                        self.rest.drain(..whole);
                        return Poll::Ready(Some(Ok(encoded.into())));
                    }
                }
            }
        }
    }
}

impl Body for OutgoingBody {
    type Data = Bytes;
    type Error = FileError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, FileError>>> {
        let Some(bytes) = ready!(self.poll_bytes(cx)) else { return Poll::Ready(None) };
        let bytes = bytes?;
        self.left = self.left.saturating_sub(bytes.len() as u64);
        self.taken.frame(self.left == 0);
        Poll::Ready(Some(Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        self.left == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use http_body_util::BodyExt;
    use recado_core::documents::{Files, StoredFile};
    use recado_testkit::MemoryFiles;

    use super::*;

    /// R347.
    #[tokio::test]
    async fn a_body_with_a_file_has_the_announced_size_and_the_right_bytes() {
        let files = MemoryFiles::new();
        for size in [0, 1, 2, 3, 65_535, 65_536, 65_537, 200_000_usize] {
            let bytes: Vec<u8> = (0..size).map(|n| n.to_le_bytes()[0]).collect();
            files.put("a", bytes.clone()).await.expect("put");
            for encoding in [FileEncoding::Raw, FileEncoding::Base64] {
                let file = StoredFile::new(Arc::new(files.clone()), "a", size as u64);
                let attached = AttachedFile { file, encoding, tail: b"}".to_vec() };
                let body = OutgoingBody::with_file(Bytes::from_static(b"{"), &attached);
                let body = body.await.expect("opened");
                let (taken, announced) = (body.taken(), body.size_hint().exact());
                assert!(!taken.is_whole());
                let sent = body.collect().await.expect("read").to_bytes();
                assert_eq!(announced, Some(sent.len() as u64), "{size} {encoding:?}");
                let middle = match encoding {
                    FileEncoding::Raw => bytes.clone(),
                    FileEncoding::Base64 => STANDARD.encode(&bytes).into_bytes(),
                };
                assert!(sent == [&b"{"[..], &middle, b"}"].concat(), "{size} {encoding:?}");
                assert!(taken.is_whole());
            }
        }
        files.lose("a");
        let file = StoredFile::new(Arc::new(files), "a", 3);
        let attached = AttachedFile { file, encoding: FileEncoding::Raw, tail: Vec::new() };
        assert!(OutgoingBody::with_file(Bytes::new(), &attached).await.is_err());
    }
}
