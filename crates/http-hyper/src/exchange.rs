//! One connection and the exchanges on it. The task that waits for an answer does the reading and
//! writing itself: no separate task of the connection has to be woken, and dropping a request
//! closes its connection.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::{Context, Waker};

use bytes::Bytes;
use http::{Request, Response};
use hyper::body::{Body, Incoming};
use hyper::client::conn::http1::{self, Connection, SendRequest};
use hyper::ext::on_informational;
use hyper_util::rt::TokioIo;

use crate::request_body::OutgoingBody;
use crate::stream::{Progress, Stream};

/// The most headers an answer may have.
const MAX_HEADERS: usize = 200;
/// The most bytes that are buffered of an answer, its headers among them.
const MAX_BUFFER: usize = 128 * 1024;

type Io = TokioIo<Stream>;

/// The connection broke, or the bytes received are not an answer.
#[derive(Debug)]
pub(crate) struct Broken;

/// How much of a body was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BodyRead {
    /// All of it.
    Whole,
    /// As much as the limit allows.
    UpToLimit,
}

/// An open connection.
pub(crate) struct Live {
    sender: SendRequest<OutgoingBody>,
    /// `None` once it has ended.
    connection: Option<Box<Connection<Io, OutgoingBody>>>,
    progress: Progress,
}

impl Live {
    /// Begins HTTP on a connection.
    pub(crate) async fn begin(stream: Stream) -> Result<Self, Broken> {
        let progress = stream.progress();
        let (sender, connection) = http1::Builder::new()
            // Header names are case-insensitive; receivers that log or compare them see the
            // documented spelling.
            .title_case_headers(true)
            .max_headers(MAX_HEADERS)
            .max_buf_size(MAX_BUFFER)
            .handshake(TokioIo::new(stream))
            .await
            .map_err(|_| Broken)?;
        Ok(Self { sender, connection: Some(Box::new(connection)), progress })
    }

    /// The bytes written and read in the current exchange.
    pub(crate) fn progress(&self) -> &Progress {
        &self.progress
    }

    /// Writes a request and waits for the head of its answer. A peer that goes on sending interim
    /// heads breaks the connection: hyper passes over any number of them.
    ///
    /// R170.
    pub(crate) async fn ask(
        &mut self,
        mut request: Request<OutgoingBody>,
    ) -> Result<Response<Incoming>, Broken> {
        self.progress.restart();
        let progress = self.progress.clone();
        on_informational(&mut request, move |head| progress.interim(head.headers()));
        let mut answer = pin!(self.sender.send_request(request));
        let connection = &mut self.connection;
        let answer = poll_fn(|cx| {
            drive(connection, cx);
            answer.as_mut().poll(cx)
        });
        let answer = answer.await.map_err(|_| Broken)?;
        // The answer may have been read together with the interim heads before it.
        if self.progress.has_too_many_interim_heads() { Err(Broken) } else { Ok(answer) }
    }

    /// Reads a body into `into` until it ends or `limit` bytes are there.
    pub(crate) async fn read(
        &mut self,
        body: &mut Incoming,
        into: &mut Vec<u8>,
        limit: usize,
    ) -> Result<BodyRead, Broken> {
        while !body.is_end_stream() {
            if into.len() >= limit {
                return Ok(BodyRead::UpToLimit);
            }
            let Some(data) = self.frame(body).await? else { break };
            let room = limit - into.len();
            into.extend_from_slice(&data[..data.len().min(room)]);
        }
        Ok(BodyRead::Whole)
    }

    /// The next bytes of a body; `None` at its end.
    pub(crate) async fn frame(&mut self, body: &mut Incoming) -> Result<Option<Bytes>, Broken> {
        loop {
            let frame = poll_fn(|cx| {
                drive(&mut self.connection, cx);
                Pin::new(&mut *body).poll_frame(cx)
            });
            let Some(frame) = frame.await else { return Ok(None) };
            if let Ok(data) = frame.map_err(|_| Broken)?.into_data() {
                return Ok(Some(data));
            }
        }
    }

    /// Whether the next request can be sent on this connection, as far as can be seen here.
    pub(crate) fn is_usable(&mut self) -> bool {
        // Errors are ignored here: the next use finds them.
        let (progress, connection) = (&self.progress, &mut self.connection);
        progress.while_looking(|| drive(connection, &mut Context::from_waker(Waker::noop())));
        self.connection.is_some() && self.sender.is_ready()
    }
}

/// Reads and writes what is possible now.
fn drive(connection: &mut Option<Box<Connection<Io, OutgoingBody>>>, cx: &mut Context<'_>) {
    let Some(running) = connection else { return };
    if Pin::new(running.as_mut()).poll(cx).is_ready() {
        // Dropping it fails the request that it has not sent.
        *connection = None;
    }
}
