//! The bodies of answers: whole, or the frames of a file as they are read (R190).

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_util::Stream;
use futures_util::stream::BoxStream;
use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Frame, SizeHint};
use recado_core::documents::{FileError, FileReader};

use crate::exports::ExportSlot;
use crate::quietly::quietly;
use crate::readers::ReaderSlot;

/// The body of an answer. A file is read frame by frame as its reader takes them. An error of the
/// body means that the file cannot be read to its end: close the connection then, as hyper does.
#[derive(Debug)]
pub struct AnswerBody(Content);

/// The frames of a body that is made as it is read. The slot is given back with the body.
pub(crate) struct Made {
    pub(crate) frames: BoxStream<'static, Result<Vec<u8>, FileError>>,
    pub(crate) _slot: ExportSlot,
}

impl fmt::Debug for Made {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Made")
    }
}

/// A frame for the wire. What cannot be read to its end is logged.
fn frame(made: Option<Result<Vec<u8>, FileError>>) -> Option<Result<Frame<Bytes>, FileError>> {
    let frame = made?;
    if let Err(error) = &frame {
        quietly(|| tracing::error!(%error, "a file could not be read to its end"));
    }
    Some(frame.map(|bytes| Frame::data(Bytes::from(bytes))))
}

enum Content {
    Whole(Full<Bytes>),
    /// Of a mounted service (R418).
    Mounted {
        body: Pin<Box<dyn Body<Data = Bytes, Error = FileError> + Send>>,
        is_file: bool,
    },
    Made(Made),
    File {
        reader: FileReader,
        /// Given back when the body is dropped.
        _slot: Option<ReaderSlot>,
    },
}

impl fmt::Debug for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Whole(_) => "Whole",
            Self::Mounted { .. } => "Mounted",
            Self::Made(_) => "Made",
            Self::File { .. } => "File",
        })
    }
}

impl AnswerBody {
    /// A body that is in memory.
    pub(crate) fn whole(bytes: Bytes) -> Self {
        Self(Content::Whole(Full::new(bytes)))
    }

    /// The frames of a file. The slot is given back with the body.
    pub(crate) const fn file(reader: FileReader, slot: Option<ReaderSlot>) -> Self {
        Self(Content::File { reader, _slot: slot })
    }

    /// Frames that are made as they are read.
    pub(crate) const fn made(made: Made) -> Self {
        Self(Content::Made(made))
    }

    /// The body of a mounted service's answer (R418).
    pub(crate) fn mounted<B>(body: B, is_file: bool) -> Self
    where
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: fmt::Display,
    {
        let body = Box::pin(body.map_err(|error| FileError(error.to_string())));
        Self(Content::Mounted { body, is_file })
    }

    /// R192. Whether it is made as its reader takes it, who has to keep the pace.
    pub(crate) const fn is_streamed(&self) -> bool {
        matches!(
            self.0,
            Content::File { .. } | Content::Made(_) | Content::Mounted { is_file: true, .. }
        )
    }
}

impl Body for AnswerBody {
    type Data = Bytes;
    type Error = FileError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, FileError>>> {
        match &mut self.0 {
            Content::Whole(whole) => {
                let frame = Pin::new(whole).poll_frame(cx);
                frame.map(|frame| frame.map(|frame| frame.map_err(|never| match never {})))
            }
            Content::Mounted { body, .. } => body.as_mut().poll_frame(cx),
            Content::Made(made) => Pin::new(&mut made.frames).poll_next(cx).map(frame),
            Content::File { reader, .. } => Pin::new(reader).poll_next(cx).map(frame),
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.0 {
            Content::Whole(whole) => whole.is_end_stream(),
            Content::Mounted { body, .. } => body.is_end_stream(),
            Content::Made(_) => false,
            Content::File { reader, .. } => reader.left() == 0,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            Content::Whole(whole) => whole.size_hint(),
            Content::Mounted { body, .. } => body.size_hint(),
            Content::Made(_) => SizeHint::default(),
            Content::File { reader, .. } => SizeHint::with_exact(reader.left()),
        }
    }
}
