//! The bodies of requests and answers.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_util::{Stream, StreamExt};
use http::Response;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::{Body, Frame, SizeHint};
use recado_http_hyper::IsFile;

use crate::places::Place;

/// The error of a body.
pub(crate) type BoxError = Box<dyn std::error::Error + Send + Sync>;
/// The body of any request.
pub(crate) type RequestBody = Pin<Box<dyn Body<Data = Bytes, Error = BoxError> + Send>>;

/// A body of any kind as one type.
pub(crate) fn erase<B>(body: B) -> RequestBody
where
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    Box::pin(body.map_err(Into::into))
}

/// The body of an answer. Its error means that it cannot be read to its end.
pub struct ConsoleBody(RequestBody);

impl ConsoleBody {
    /// A body that is in memory.
    pub(crate) fn whole(bytes: impl Into<Bytes>) -> Self {
        Self(erase(Full::new(bytes.into())))
    }

    /// A body that comes in pieces.
    pub(crate) fn of<B>(body: B) -> Self
    where
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        Self(erase(body))
    }
}

/// R425. An answer with a file, which keeps its place until it was sent. Whoever reads it has to
/// keep the pace of readers of files (R192).
pub(crate) fn file<F, E>(
    frames: impl Stream<Item = Result<F, E>> + Send + 'static,
    place: Place,
) -> Response<ConsoleBody>
where
    F: Into<Bytes> + 'static,
    E: Into<BoxError> + 'static,
{
    let frames = frames.map(move |frame| {
        // The place is given back with the stream.
        let _ = &place;
        frame.map(|bytes| Frame::data(bytes.into()))
    });
    let mut response = Response::new(ConsoleBody::of(StreamBody::new(frames)));
    response.extensions_mut().insert(IsFile);
    response
}

impl fmt::Debug for ConsoleBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ConsoleBody")
    }
}

impl Body for ConsoleBody {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        self.0.as_mut().poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.0.size_hint()
    }
}
