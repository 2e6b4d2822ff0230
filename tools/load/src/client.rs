//! A client with little overhead: HTTP/1.1 with keep-alive over one connection, one call at a time.
//!
//! The server and this program share a machine, so processor time of the client reduces the result.
//! The client reads only what this server answers: a status, `content-length` and a body.

use std::borrow::Cow;
use std::io::{Error, ErrorKind, Result};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::target::Target;

/// The time limit of one call.
const CALL_TIMEOUT: Duration = Duration::from_secs(60);
/// The largest answer that is read.
const MAX_ANSWER: usize = 16 * 1024 * 1024;

/// One request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Call {
    /// GET of a path with its query.
    Get(String),
    /// POST of a JSON body to a path.
    Post(Cow<'static, str>, String),
    /// PATCH with a JSON body.
    Patch(String, String),
    /// POST of a JSON body to a path, signed as the official API does.
    Signed(Cow<'static, str>, String, String),
}

/// A status and a body.
#[derive(Debug)]
pub(crate) struct Answer<'a> {
    pub(crate) status: u16,
    pub(crate) body: &'a [u8],
}

/// One connection.
#[derive(Debug)]
pub(crate) struct Client {
    target: Target,
    key: String,
    stream: Option<TcpStream>,
    request: Vec<u8>,
    answer: Vec<u8>,
}

impl Client {
    /// A client that connects with its first call.
    pub(crate) fn new(target: &Target, key: &str) -> Self {
        Self {
            target: target.clone(),
            key: key.to_owned(),
            stream: None,
            request: Vec::new(),
            answer: Vec::with_capacity(64 * 1024),
        }
    }

    /// Makes one call and waits for its answer. After an error the next call opens a new
    /// connection.
    pub(crate) async fn call(&mut self, call: &Call) -> Result<Answer<'_>> {
        self.write_request(call);
        let exchange = self.exchange();
        let (status, body_at) = match timeout(CALL_TIMEOUT, exchange).await {
            Ok(Ok(head)) => head,
            Ok(Err(error)) => {
                self.stream = None;
                return Err(error);
            }
            Err(_) => {
                self.stream = None;
                return Err(ErrorKind::TimedOut.into());
            }
        };
        Ok(Answer { status, body: &self.answer[body_at..] })
    }

    fn write_request(&mut self, call: &Call) {
        use std::io::Write;
        let address = self.target.address();
        let key = &self.key;
        self.request.clear();
        let (method, path, body) = match call {
            Call::Get(path) => ("GET", path.as_str(), None),
            Call::Post(path, body) => ("POST", path.as_ref(), Some(body)),
            Call::Patch(path, body) => ("PATCH", path.as_str(), Some(body)),
            Call::Signed(path, body, _) => ("POST", path.as_ref(), Some(body)),
        };
        let signature = match call {
            Call::Signed(_, _, signature) => format!("x-hub-signature-256: {signature}\r\n"),
            _ => String::new(),
        };
        let written = match body {
            None => write!(
                self.request,
                "{method} {path} HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {key}\r\n\r\n"
            ),
            Some(body) => write!(
                self.request,
                "{method} {path} HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {key}\r\n\
                 content-type: application/json\r\n{signature}content-length: {}\r\n\r\n{body}",
                body.len()
            ),
        };
        written.expect("a vector takes every byte");
    }

    /// Sends the request and reads the answer: its status and the position of its body.
    async fn exchange(&mut self) -> Result<(u16, usize)> {
        let stream = match &mut self.stream {
            Some(stream) => stream,
            none => {
                let stream = TcpStream::connect(self.target.address()).await?;
                stream.set_nodelay(true)?;
                none.insert(stream)
            }
        };
        stream.write_all(&self.request).await?;
        self.answer.clear();
        let (head, length) = loop {
            if stream.read_buf(&mut self.answer).await? == 0 {
                return Err(ErrorKind::UnexpectedEof.into());
            }
            if let Some(head) = head_length(&self.answer) {
                break (head, content_length(&self.answer[..head])?);
            }
        };
        while self.answer.len() < head + length {
            if stream.read_buf(&mut self.answer).await? == 0 {
                return Err(ErrorKind::UnexpectedEof.into());
            }
        }
        let status = status(&self.answer)?;
        if has_header(&self.answer[..head], "connection: close") {
            self.stream = None;
        }
        Ok((status, head))
    }
}

fn invalid(what: &str) -> Error {
    Error::new(ErrorKind::InvalidData, what.to_owned())
}

fn head_length(answer: &[u8]) -> Option<usize> {
    answer.windows(4).position(|end| end == b"\r\n\r\n").map(|at| at + 4)
}

fn status(answer: &[u8]) -> Result<u16> {
    answer
        .get(9..12)
        .and_then(|digits| std::str::from_utf8(digits).ok()?.parse().ok())
        .ok_or_else(|| invalid("no status"))
}

fn lines(head: &[u8]) -> impl Iterator<Item = &[u8]> {
    head.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii)
}

fn has_header(head: &[u8], wanted: &str) -> bool {
    lines(head).any(|line| line.eq_ignore_ascii_case(wanted.as_bytes()))
}

fn content_length(head: &[u8]) -> Result<usize> {
    let name = b"content-length:";
    let value = lines(head)
        .find(|line| line.len() > name.len() && line[..name.len()].eq_ignore_ascii_case(name))
        .ok_or_else(|| invalid("an answer without content-length"))?;
    std::str::from_utf8(&value[name.len()..])
        .ok()
        .and_then(|digits| digits.trim().parse().ok())
        .filter(|length| *length <= MAX_ANSWER)
        .ok_or_else(|| invalid("an unacceptable content-length"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_head_of_an_answer_is_understood() {
        let answer = b"HTTP/1.1 404 Not Found\r\nContent-Length: 12\r\nConnection: Close\r\n\r\nxx";
        let head = head_length(answer).expect("complete");
        assert_eq!(&answer[head..], b"xx");
        assert_eq!(status(answer).expect("a status"), 404);
        assert_eq!(content_length(&answer[..head]).expect("a length"), 12);
        assert!(has_header(&answer[..head], "connection: close"));
    }

    #[test]
    fn an_answer_that_is_not_understood_is_an_error() {
        assert!(head_length(b"HTTP/1.1 200 OK\r\n").is_none());
        assert!(content_length(b"HTTP/1.1 200 OK\r\n\r\n").is_err());
        assert!(content_length(b"content-length: 99999999999\r\n\r\n").is_err());
        assert!(status(b"HTTP/1.1 abc").is_err());
    }
}
