//! Answers that are read as they come.

use std::fmt;

use futures_util::stream::{self, BoxStream, StreamExt};

use super::{OutboundResponse, TransportError};
use crate::documents::FRAME_BYTES;

/// The head of an answer, and its body as it comes (R346).
pub struct OpenAnswer {
    /// The status code.
    pub status: u16,
    /// Header names in lower case with their values, in their order.
    pub headers: Vec<(String, String)>,
    /// The body, in frames that are read when they are asked for. Dropping it ends the call.
    pub body: BoxStream<'static, Result<Vec<u8>, TransportError>>,
}

impl fmt::Debug for OpenAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenAnswer").field("status", &self.status).finish_non_exhaustive()
    }
}

impl OpenAnswer {
    /// The first value of a header, named in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }
}

impl From<OutboundResponse> for OpenAnswer {
    fn from(answer: OutboundResponse) -> Self {
        let OutboundResponse { status, headers, body } = answer;
        let frames: Vec<_> = body.chunks(FRAME_BYTES).map(|frame| Ok(frame.to_vec())).collect();
        Self { status, headers, body: stream::iter(frames).boxed() }
    }
}
