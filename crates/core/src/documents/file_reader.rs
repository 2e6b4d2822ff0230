//! Reading the bytes of a document in small frames (R190).

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_util::stream::BoxStream;
use futures_util::{Stream, StreamExt, TryStreamExt};

use super::file_error::FileError;

/// The most bytes of a frame (R190).
pub const FRAME_BYTES: usize = 64 * 1024;

/// The bytes of a key, in frames that are made when they are asked for: a [`Stream`] of frames.
///
/// It yields exactly the announced bytes, or ends with an error: a file that became shorter or
/// longer since it was opened is not passed off as whole (R190).
pub struct FileReader {
    size: u64,
    left: u64,
    /// `None` after an error.
    frames: Option<BoxStream<'static, Result<Vec<u8>, FileError>>>,
}

impl fmt::Debug for FileReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { size, left, frames: _ } = self;
        f.debug_struct("FileReader").field("size", size).field("left", left).finish_non_exhaustive()
    }
}

impl FileReader {
    /// Reads the frames of a file that has `size` bytes in all; the frames begin with the byte
    /// `from`. A frame larger than [`FRAME_BYTES`] is an error, and an empty one is passed over.
    pub fn new(
        size: u64,
        from: u64,
        frames: impl Stream<Item = Result<Vec<u8>, FileError>> + Send + 'static,
    ) -> Self {
        Self { size, left: size.saturating_sub(from), frames: Some(frames.boxed()) }
    }

    /// Reads bytes that are in memory anyway.
    pub fn of_bytes(bytes: impl AsRef<[u8]> + Send + 'static, from: u64) -> Self {
        let size = whole(bytes.as_ref());
        let at = usize::try_from(from).unwrap_or(usize::MAX);
        let frames = futures_util::stream::unfold((bytes, at), |(bytes, at)| async move {
            let rest = bytes.as_ref().get(at..).filter(|rest| !rest.is_empty())?;
            let frame = rest[..rest.len().min(FRAME_BYTES)].to_vec();
            let next = at + frame.len();
            Some((Ok(frame), (bytes, next)))
        });
        Self::new(size, from, frames)
    }

    /// The bytes of the whole file.
    pub const fn size(&self) -> u64 {
        self.size
    }

    /// The bytes that are still to come.
    pub const fn left(&self) -> u64 {
        self.left
    }

    /// The same, ending after `bytes` more bytes.
    #[must_use]
    pub fn first(mut self, bytes: u64) -> Self {
        if bytes < self.left {
            let (frames, mut wanted) = (self.frames.take(), bytes);
            self.left = bytes;
            self.frames = frames.map(|frames| {
                let cut = frames.map_ok(move |mut frame| {
                    frame.truncate(usize::try_from(wanted).unwrap_or(usize::MAX));
                    wanted -= whole(&frame);
                    frame
                });
                cut.boxed()
            });
        }
        self
    }

    /// The frames, to be stored elsewhere.
    pub fn into_frames(self) -> BoxStream<'static, Result<Vec<u8>, FileError>> {
        self.boxed()
    }

    /// All bytes that are still to come, in memory.
    ///
    /// # Errors
    ///
    /// As the frames.
    pub async fn read_to_end(mut self) -> Result<Vec<u8>, FileError> {
        let mut bytes = Vec::new();
        while let Some(frame) = self.next().await {
            bytes.extend_from_slice(&frame?);
        }
        Ok(bytes)
    }

    /// What a frame counts as: the bytes left shrink by it, and more than is left, or a frame that
    /// is too large, is an error.
    ///
    /// R190.
    fn counted(&mut self, frame: Vec<u8>) -> Result<Vec<u8>, FileError> {
        let bytes = whole(&frame);
        if frame.len() > FRAME_BYTES {
            return Err(FileError("a frame is too large".to_owned()));
        }
        if bytes > self.left {
            return Err(FileError("the file is longer than it was".to_owned()));
        }
        self.left -= bytes;
        Ok(frame)
    }
}

fn whole(frame: &[u8]) -> u64 {
    u64::try_from(frame.len()).unwrap_or(u64::MAX)
}

impl Stream for FileReader {
    type Item = Result<Vec<u8>, FileError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            // Nothing is read beyond the last byte.
            if self.left == 0 {
                return Poll::Ready(None);
            }
            let Some(frames) = &mut self.frames else { return Poll::Ready(None) };
            let counted = match frames.poll_next_unpin(cx) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Some(Ok(frame))) if frame.is_empty() => continue,
                Poll::Ready(Some(Ok(frame))) => self.counted(frame),
                Poll::Ready(Some(Err(error))) => Err(error),
                Poll::Ready(None) => Err(FileError("the file is shorter than it was".to_owned())),
            };
            if counted.is_err() {
                self.frames = None;
            }
            return Poll::Ready(Some(counted));
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;
    use futures_util::stream;

    use super::*;

    fn now<T>(future: impl Future<Output = T>) -> T {
        future.now_or_never().expect("nothing waits")
    }

    /// A file of 10 bytes that has these frames by now.
    fn frames(lengths: &[usize]) -> FileReader {
        let frames: Vec<_> = lengths.iter().map(|length| Ok(vec![7; *length])).collect();
        FileReader::new(10, 0, stream::iter(frames))
    }

    /// R190.
    #[test]
    fn a_file_of_another_length_than_announced_is_an_error() {
        assert_eq!(now(frames(&[4, 0, 6]).read_to_end()).expect("whole"), [7; 10]);
        for other in [&[4][..], &[4, 5], &[11], &[4, 7]] {
            assert!(now(frames(other).read_to_end()).is_err(), "{other:?}");
        }
        let large = stream::iter([Ok(vec![7; FRAME_BYTES + 1])]);
        assert!(now(FileReader::new(FRAME_BYTES as u64 + 1, 0, large).read_to_end()).is_err());
    }

    /// R190.
    #[test]
    fn nothing_follows_an_error() {
        let mut reader = frames(&[11, 10]);
        assert!(matches!(now(reader.next()), Some(Err(_))));
        assert!(now(reader.next()).is_none());
    }

    /// R190.
    #[test]
    fn a_part_is_cut_out_and_nothing_beyond_it_is_asked_for() {
        let bytes: Vec<u8> = (0..200_000_u32).map(|n| n.to_le_bytes()[0]).collect();
        let cases = [(0, 200_000), (0, 1), (199_999, 1), (65_535, 2), (70_000, 100_000), (5, 0)];
        for (from, wanted) in cases {
            let reader = FileReader::of_bytes(bytes.clone(), from as u64).first(wanted as u64);
            assert_eq!((reader.size(), reader.left()), (200_000, wanted as u64));
            let part = now(reader.read_to_end()).expect("read");
            assert_eq!(part, bytes[from..from + wanted], "{from} {wanted}");
        }
        let asked = stream::iter([Ok(vec![7; 4]), Ok(vec![7; 4])]).chain(stream::pending());
        let reader = FileReader::new(10, 0, asked).first(6);
        assert_eq!(now(reader.read_to_end()).expect("read"), [7; 6]);
    }
}
