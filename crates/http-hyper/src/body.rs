//! Reading bodies: bounded in bytes and time, and never further than the bound (D5, D8a).

use std::pin::{Pin, pin};
use std::time::Duration;

use bytes::Bytes;
use http::HeaderMap;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH};
use http_body_util::BodyExt;
use hyper::body::Body;
use recado_core::json;
use serde_json::{Map, Value};

use crate::error::ErrorResponse;

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

/// No body.
pub(crate) fn empty() -> RequestBody {
    erase(http_body_util::Empty::new())
}

/// How much of a body is read, and for how long.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bound {
    pub(crate) bytes: usize,
    pub(crate) time: Duration,
}

/// Why a body could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BodyError {
    /// It is larger than so many bytes.
    TooLarge(usize),
    /// It has a `Content-Encoding`.
    Encoded,
    /// It did not arrive completely.
    Broken,
    /// It took too long to arrive.
    Slow,
    /// It waited too long for memory.
    NoRoom,
}

/// Reads the body of a request, after checking its declared size and its encoding (D6, D13).
pub(crate) async fn receive(
    headers: &HeaderMap,
    body: RequestBody,
    bound: Bound,
) -> Result<Vec<u8>, BodyError> {
    check_declared(headers, bound.bytes)?;
    check_encoding(headers)?;
    read(body, bound).await
}

/// Refuses a body whose declared size is too large, before any of it is read.
pub(crate) fn check_declared(headers: &HeaderMap, limit: usize) -> Result<(), BodyError> {
    let declared = headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok());
    match declared.and_then(|value| value.trim().parse::<u64>().ok()) {
        Some(length) if length > limit as u64 => Err(BodyError::TooLarge(limit)),
        _ => Ok(()),
    }
}

/// Refuses a body with a `Content-Encoding` (D8a). `identity` alone counts as none (D73), and so
/// does an empty value.
pub(crate) fn check_encoding(headers: &HeaderMap) -> Result<(), BodyError> {
    let lines = headers.get_all(CONTENT_ENCODING).iter().map(|line| line.as_bytes().trim_ascii());
    let mut said = lines.filter(|line| !line.is_empty());
    match (said.next(), said.next()) {
        (None, _) => Ok(()),
        (Some(only), None) if only.eq_ignore_ascii_case(b"identity") => Ok(()),
        _ => Err(BodyError::Encoded),
    }
}

/// Reads a whole body, and nothing beyond the bound.
async fn read(body: RequestBody, bound: Bound) -> Result<Vec<u8>, BodyError> {
    let collecting = collect(body, bound.bytes);
    tokio::time::timeout(bound.time, collecting).await.unwrap_or(Err(BodyError::Slow))
}

async fn collect(body: RequestBody, limit: usize) -> Result<Vec<u8>, BodyError> {
    let mut body = pin!(body);
    let declared = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
    if declared > limit {
        return Err(BodyError::TooLarge(limit));
    }
    let mut bytes = Vec::with_capacity(declared.min(64 * 1024));
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(|_| BodyError::Broken)?.into_data() else { continue };
        if bytes.len() + data.len() > limit {
            return Err(BodyError::TooLarge(limit));
        }
        bytes.extend_from_slice(&data);
    }
    Ok(bytes)
}

/// Reads a JSON object. A repeated key counts as its last value; nesting is bounded by the parser.
pub(crate) fn parse_object(bytes: &[u8]) -> Result<Map<String, Value>, ErrorResponse> {
    match parse(bytes)? {
        Value::Object(object) => Ok(object),
        _ => Err(ErrorResponse::invalid_body("the body must be a JSON object")),
    }
}

/// Reads a JSON array.
pub(crate) fn parse_array(bytes: &[u8]) -> Result<Vec<Value>, ErrorResponse> {
    match parse(bytes)? {
        Value::Array(items) => Ok(items),
        _ => Err(ErrorResponse::invalid_body("the body must be a JSON array")),
    }
}

fn parse(bytes: &[u8]) -> Result<Value, ErrorResponse> {
    if bytes.starts_with(b"\xef\xbb\xbf") {
        return Err(ErrorResponse::invalid_body("the body begins with a byte-order mark"));
    }
    json::read(bytes).map(Value::from).map_err(|fault| {
        let (line, column) = (fault.line, fault.column);
        ErrorResponse::invalid_body(format!("the body is not JSON (line {line}, column {column})"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;
    use http_body_util::{Full, StreamBody};
    use hyper::body::Frame;

    fn status(failure: ErrorResponse) -> u16 {
        failure.into_response().status().as_u16()
    }

    fn code(failure: ErrorResponse) -> Value {
        let body = failure.into_response().into_body();
        serde_json::from_slice::<Value>(&body).expect("json")["code"].clone()
    }

    const BOUND: Bound = Bound { bytes: 10, time: Duration::from_secs(5) };

    #[test]
    fn what_is_no_json_object_is_refused() {
        let deep = [vec![b'['; 100_000], vec![b']'; 100_000]].concat();
        let bad: [&[u8]; 9] = [
            b"",
            b"{",
            b"[]",
            b"null",
            b"{} x",
            b"{\"a\":\"\xff\"}",
            b"\xef\xbb\xbf{}",
            b"\"text\"",
            &deep,
        ];
        for body in bad {
            assert_eq!(code(parse_object(body).expect_err("refused")), "INVALID_BODY");
        }
    }

    #[test]
    fn of_a_repeated_key_the_last_value_counts() {
        let object = parse_object(br#"{"a":1,"a":2}"#).expect("an object");
        assert_eq!(object["a"], 2);
    }

    #[test]
    fn a_declared_length_over_the_limit_is_refused_unread() {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_LENGTH, HeaderValue::from_static("1048577"));
        let fault = check_declared(&headers, 1_048_576).expect_err("refused");
        assert_eq!(status(fault.into()), 413);
        assert!(check_declared(&headers, 1_048_577).is_ok());
    }

    /// D73.
    #[test]
    fn any_encoding_is_refused_and_identity_alone_or_an_empty_one_is_none() {
        let with = |values: &[&'static [u8]]| {
            let mut headers = HeaderMap::new();
            headers.append(CONTENT_ENCODING, HeaderValue::from_static(""));
            for value in values {
                headers.append(CONTENT_ENCODING, HeaderValue::from_bytes(value).expect("a value"));
            }
            check_encoding(&headers)
        };
        assert!(check_encoding(&HeaderMap::new()).is_ok());
        let none: [&[u8]; 5] = [b"", b" ", b"identity", b" Identity", b"IDENTITY "];
        for value in none {
            assert!(with(&[value]).is_ok());
        }
        let refused: [&[u8]; 6] =
            [b"gzip", b"identity, br", b"identity, identity", b"identity;q=1", b",", b"\xff"];
        for value in refused {
            assert_eq!(status(with(&[value]).expect_err("refused").into()), 415);
        }
        assert!(with(&[b"identity", b"identity"]).is_err());
        assert!(with(&[b"identity", b"gzip"]).is_err());
    }

    #[tokio::test]
    async fn a_streamed_body_is_cut_off_at_the_limit_and_the_rest_not_read() {
        let polled = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
        let counter = polled.clone();
        let frames = futures_util::stream::iter(0..1000).map(move |_| {
            counter.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            Ok::<_, std::convert::Infallible>(Frame::data(Bytes::from_static(b"1234")))
        });
        let fault = read(erase(StreamBody::new(frames)), BOUND).await.expect_err("refused");
        assert_eq!(status(fault.into()), 413);
        assert_eq!(polled.load(std::sync::atomic::Ordering::Relaxed), 3);
    }

    #[tokio::test]
    async fn a_body_of_exactly_the_limit_is_read() {
        let body = erase(Full::new(Bytes::from_static(b"1234567890")));
        assert_eq!(read(body, BOUND).await.expect("read"), b"1234567890");
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_stops_arriving_is_given_up() {
        let frames =
            futures_util::stream::pending::<Result<Frame<Bytes>, std::convert::Infallible>>();
        let fault = read(erase(StreamBody::new(frames)), BOUND).await.expect_err("refused");
        assert_eq!(status(fault.into()), 408);
    }

    use futures_util::StreamExt;
}
