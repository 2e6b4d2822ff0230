//! Answers of which only the status counts (D53), and limits on the bytes that are read of any.

use std::time::{Duration, Instant};

use recado_core::transport::{OutboundRequest, Transport, TransportError};
use tokio::io::AsyncWriteExt;
use tokio::task::JoinHandle;

use crate::peer::{delivery, listen, open_client, read_delivery};

/// What a peer does after its answer.
#[derive(Clone, Copy, PartialEq)]
enum Then {
    HangUp,
    Stall,
    /// Writes this again and again, as long as somebody reads.
    Repeat(&'static [u8]),
}

/// A peer that answers one request in this way; returns how much it could write.
async fn peer(answer: &'static [u8], then: Then) -> (String, JoinHandle<usize>) {
    let (listener, url) = listen().await;
    let served = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.expect("accepted");
        assert!(read_delivery(&mut stream).await);
        stream.write_all(answer).await.expect("written");
        let mut written = answer.len();
        if let Then::Repeat(more) = then {
            while stream.write_all(more).await.is_ok() {
                written += more.len();
            }
        }
        if then == Then::Stall {
            // Until the client hangs up.
            read_delivery(&mut stream).await;
        }
        written
    });
    (url, served)
}

type Answered = Result<(u16, Vec<u8>), TransportError>;

fn answered(status: u16, body: &[u8]) -> Answered {
    Ok((status, body.to_vec()))
}

/// The answer without its headers.
async fn status_and_body(request: OutboundRequest) -> Answered {
    let answer = open_client().send(request).await;
    answer.map(|answer| (answer.status, answer.body))
}

const FOUR_OF_TEN: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123";
const CHUNKED: &[u8] = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n0123\r\n";
const FLOOD: &[u8] = &[b'x'; 64 * 1024];

#[tokio::test]
async fn a_body_that_breaks_off_is_cut_there() {
    for answer in [FOUR_OF_TEN, CHUNKED] {
        let (url, _) = peer(answer, Then::HangUp).await;
        assert_eq!(status_and_body(delivery(&url)).await, answered(200, b"0123"));
    }
}

#[tokio::test]
async fn a_body_that_is_no_body_is_cut_there() {
    let answer = b"HTTP/1.1 500 No\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n0123\r\nnonsense\r\n";
    let (url, _) = peer(answer, Then::Stall).await;
    assert_eq!(status_and_body(delivery(&url)).await, answered(500, b"0123"));
}

/// R66.
#[tokio::test]
async fn a_body_that_stalls_is_waited_for_one_second() {
    let (url, served) = peer(FOUR_OF_TEN, Then::Stall).await;
    let began = Instant::now();
    assert_eq!(status_and_body(delivery(&url)).await, answered(200, b"0123"));
    let took = began.elapsed();
    assert!((900..2_000).contains(&took.as_millis()), "{took:?}");
    // The connection is closed at once.
    served.await.expect("no panic");
    assert!(began.elapsed() < Duration::from_secs(3));
}

#[tokio::test]
async fn a_body_that_stalls_is_not_waited_for_beyond_the_attempts_time() {
    let (url, _) = peer(FOUR_OF_TEN, Then::Stall).await;
    let began = Instant::now();
    let request = delivery(&url).with_timeout(Duration::from_millis(150));
    assert_eq!(status_and_body(request).await, answered(200, b"0123"));
    assert!(began.elapsed() < Duration::from_millis(900), "{:?}", began.elapsed());
}

/// R66.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_endless_body_is_read_up_to_the_limit_and_no_further() {
    let heads: [&'static [u8]; 2] =
        [b"HTTP/1.1 200 OK\r\nContent-Length: 314572800\r\n\r\n", b"HTTP/1.1 200 OK\r\n\r\n"];
    for head in heads {
        let (url, served) = peer(head, Then::Repeat(FLOOD)).await;
        let request = delivery(&url).with_answer_limit(1_000);
        assert_eq!(status_and_body(request).await, answered(200, &FLOOD[..1_000]));
        let written = served.await.expect("no panic");
        // What the two kernels buffer, and not the 300 MiB.
        assert!(written < 32 << 20, "{written}");
    }
}

#[tokio::test]
async fn without_the_flag_a_body_must_be_whole() {
    let (url, _) = peer(FOUR_OF_TEN, Then::HangUp).await;
    let strict = OutboundRequest { status_decides: false, ..delivery(&url) };
    let outcome = open_client().send(strict).await;
    assert_eq!(outcome, Err(TransportError::Broken { after_sending: true }));

    let (url, _) = peer(FOUR_OF_TEN, Then::Stall).await;
    let strict = OutboundRequest { status_decides: false, ..delivery(&url) };
    let outcome = open_client().send(strict.with_timeout(Duration::from_millis(150))).await;
    assert_eq!(outcome, Err(TransportError::TimedOut { after_sending: true }));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn endless_headers_are_no_answer() {
    let line: &[u8] = b"X-Header: value value value value value value value value value value\r\n";
    let long: &[u8] = FLOOD;
    for more in [line, long] {
        let (url, served) = peer(b"HTTP/1.1 200 OK\r\nX: ", Then::Repeat(more)).await;
        let outcome = open_client().send(delivery(&url)).await;
        assert_eq!(outcome, Err(TransportError::Broken { after_sending: true }));
        let written = served.await.expect("no panic");
        assert!(written < 32 << 20, "{written}");
    }
}

#[tokio::test]
async fn interim_answers_are_passed_over_and_do_not_add_time() {
    let answer = b"HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n";
    let (url, _) = peer(answer, Then::Stall).await;
    assert_eq!(status_and_body(delivery(&url)).await, answered(204, b""));

    // They come slowly, and the time is over before there are too many.
    let (listener, url) = listen().await;
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.expect("accepted");
        assert!(read_delivery(&mut stream).await);
        while stream.write_all(HINT).await.is_ok() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    });
    let began = Instant::now();
    let request = delivery(&url).with_timeout(Duration::from_millis(200));
    let outcome = open_client().send(request).await;
    assert_eq!(outcome, Err(TransportError::TimedOut { after_sending: true }));
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
}

const HINT: &[u8] = b"HTTP/1.1 103 Early Hints\r\n\r\n";

/// R170.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn endless_interim_answers_end_the_attempt_at_once() {
    let one = b"HTTP/1.1 103 Early Hints\r\nX-Hint: a value that says little\r\n\r\n";
    for hint in [HINT, one, b"HTTP/1.1 100 Continue\r\n\r\n"] {
        let (url, served) = peer(hint, Then::Repeat(hint)).await;
        let began = Instant::now();
        let outcome = open_client().send(delivery(&url)).await;
        assert_eq!(outcome, Err(TransportError::Broken { after_sending: true }));
        assert!(began.elapsed() < Duration::from_secs(3), "{:?}", began.elapsed());
        let written = served.await.expect("no panic");
        assert!(written < 32 << 20, "{written}");
    }
}

/// R170.
#[tokio::test]
async fn sixteen_interim_answers_are_passed_over_and_one_more_is_not() {
    const ANSWER: &[u8] = b"HTTP/1.1 204 No Content\r\n\r\n";
    for (count, expected) in [(16, Ok(204)), (17, Err(()))] {
        let heads = [HINT.repeat(count), ANSWER.to_vec()].concat();
        let (url, _) = peer(heads.leak(), Then::Stall).await;
        let outcome = open_client().send(delivery(&url)).await;
        assert_eq!(outcome.map(|answer| answer.status).map_err(drop), expected, "{count}");
    }
    // 64 KiB of headers.
    for (length, expected) in [(15_000, Ok(204)), (17_000, Err(()))] {
        let value = "v".repeat(length);
        let hint = format!("HTTP/1.1 103 Early Hints\r\nX-Hint: {value}\r\n\r\n");
        let heads = [hint.repeat(4).into_bytes(), ANSWER.to_vec()].concat();
        let (url, _) = peer(heads.leak(), Then::Stall).await;
        let outcome = open_client().send(delivery(&url)).await;
        assert_eq!(outcome.map(|answer| answer.status).map_err(drop), expected, "{length}");
    }
}

#[tokio::test]
async fn a_receiver_that_takes_nothing_is_given_up_while_writing() {
    let (listener, url) = listen().await;
    let request = OutboundRequest {
        body: vec![0; 64 << 20],
        ..delivery(&url).with_timeout(Duration::from_millis(300))
    };
    let began = Instant::now();
    let outcome = open_client().send(request).await;
    assert_eq!(outcome, Err(TransportError::TimedOut { after_sending: true }));
    assert!(began.elapsed() < Duration::from_secs(3), "{:?}", began.elapsed());
    drop(listener);
}
