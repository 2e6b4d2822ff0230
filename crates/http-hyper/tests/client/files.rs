//! Files in requests, and answers that are read as they come.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use futures_util::StreamExt;
use recado_core::documents::{Files, StoredFile};
use recado_core::transport::{
    AttachedFile, FileEncoding, OutboundRequest, Transport, TransportError,
};
use recado_testkit::MemoryFiles;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::peer::{OK, listen, open_client, read_head};

fn bytes(size: usize) -> Vec<u8> {
    (0..size).map(|n| n.to_le_bytes()[1]).collect()
}

async fn request(url: String, size: usize, encoding: FileEncoding) -> OutboundRequest {
    let files = MemoryFiles::new();
    files.put("a", bytes(size)).await.expect("put");
    let file = StoredFile::new(Arc::new(files), "a", size as u64);
    let attached = AttachedFile { file, encoding, tail: b"\"}".to_vec() };
    OutboundRequest::post(url, Vec::new(), b"{\"file\":\"".to_vec()).with_file(attached).once()
}

async fn read_body(stream: &mut TcpStream) -> Vec<u8> {
    let head = read_head(stream).await.to_lowercase();
    let length = head.split("content-length: ").nth(1).and_then(|rest| rest.split("\r\n").next());
    let mut body = vec![0; length.expect("an exact length").parse().expect("a number")];
    assert!(!head.contains("transfer-encoding"), "{head}");
    stream.read_exact(&mut body).await.expect("a body");
    body
}

/// R347.
#[tokio::test]
async fn a_file_is_written_in_its_place_with_an_exact_length() {
    for encoding in [FileEncoding::Raw, FileEncoding::Base64] {
        let (listener, url) = listen().await;
        let peer = tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.expect("accepted");
            let body = read_body(&mut stream).await;
            stream.write_all(OK).await.expect("written");
            body
        });
        let request = request(url, 1_000_001, encoding).await;
        let whole = request.whole_body().await.expect("read");
        assert_eq!(open_client().send(request).await.expect("an answer").status, 200);
        let body = peer.await.expect("no panic");
        let middle = match encoding {
            FileEncoding::Raw => bytes(1_000_001),
            FileEncoding::Base64 => STANDARD.encode(bytes(1_000_001)).into_bytes(),
        };
        assert!(body == [&b"{\"file\":\""[..], &middle, b"\"}"].concat() && body == whole);
    }
}

/// R347: the time limit begins anew with every frame that the peer takes.
#[tokio::test]
async fn a_peer_that_takes_a_file_slowly_has_more_time_and_one_that_stops_has_not() {
    let limit = Duration::from_millis(400);
    for stops in [false, true] {
        let (listener, url) = listen().await;
        let _peer = tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.expect("accepted");
            read_head(&mut stream).await;
            let (mut left, mut part) = (20_000_000 + 11, vec![0; 1_000_000]);
            while left > 0 {
                let read = stream.read(&mut part).await.expect("read");
                left -= read;
                if stops {
                    tokio::time::sleep(Duration::from_secs(30)).await;
                } else if left % 7 == 0 {
                    tokio::time::sleep(Duration::from_millis(30)).await;
                }
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
            stream.write_all(OK).await.expect("written");
        });
        let request = request(url, 20_000_000, FileEncoding::Raw).await.with_timeout(limit);
        let began = std::time::Instant::now();
        let answer = open_client().send(request).await;
        match stops {
            false => assert_eq!(answer.expect("an answer").status, 200),
            // The peer has not got the end of it.
            true => {
                assert_eq!(answer, Err(TransportError::TimedOut { after_sending: false }));
                assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
            }
        }
    }
}

/// R347, D36: nothing of a request with a file is written twice.
#[tokio::test]
async fn a_request_that_broke_off_within_its_file_did_not_arrive_and_is_not_repeated() {
    let (listener, url) = listen().await;
    let peer = tokio::spawn(async move {
        let mut connections = 0;
        while let Ok(Ok((mut stream, _))) =
            tokio::time::timeout(Duration::from_millis(500), listener.accept()).await
        {
            connections += 1;
            stream.read_exact(&mut [0; 100_000]).await.expect("read");
        }
        connections
    });
    let request = request(url, 20_000_000, FileEncoding::Raw).await;
    let answer = open_client().send(request).await;
    assert_eq!(answer, Err(TransportError::Broken { after_sending: false }));
    assert_eq!(peer.await.expect("no panic"), 1);
}

/// R346.
#[tokio::test]
async fn an_answer_is_read_as_it_comes_up_to_its_limits() {
    let serve = async |pause: u64| {
        let (listener, url) = listen().await;
        tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.expect("accepted");
            read_head(&mut stream).await;
            let head = b"HTTP/1.1 200 OK\r\nContent-Length: 9000000\r\nX-A: b\r\n\r\n";
            stream.write_all(head).await.expect("written");
            for _ in 0..9 {
                tokio::time::sleep(Duration::from_millis(pause)).await;
                if stream.write_all(&[7; 1_000_000]).await.is_err() {
                    return;
                }
            }
        });
        url
    };
    let whole = OutboundRequest::get(serve(0).await).with_answer_limit(10_000_000);
    let answer = open_client().open(whole, Duration::from_secs(5)).await.expect("an answer");
    assert_eq!((answer.status, answer.header("x-a")), (200, Some("b")));
    let frames: Vec<Vec<u8>> = answer.body.map(|frame| frame.expect("read")).collect().await;
    assert_eq!(frames.iter().map(Vec::len).sum::<usize>(), 9_000_000);
    assert!(frames.iter().all(|frame| frame.len() <= 256 * 1024), "in small frames");

    let limited = OutboundRequest::get(serve(0).await).with_answer_limit(100_000);
    let answer = open_client().open(limited, Duration::from_secs(5)).await.expect("an answer");
    let read = answer.body.map(|frame| frame.expect("read").len()).collect::<Vec<_>>().await;
    let read: usize = read.into_iter().sum();
    assert!((100_000..400_000).contains(&read), "little more than the limit: {read}");

    let slow = OutboundRequest::get(serve(200).await).with_answer_limit(10_000_000);
    let slow = slow.with_timeout(Duration::from_millis(500));
    let answer = open_client().open(slow, Duration::from_secs(5)).await.expect("an answer");
    let last = answer.body.collect::<Vec<_>>().await.pop().expect("something");
    assert_eq!(last.err(), Some(TransportError::TimedOut { after_sending: true }));
}

/// R346.
#[tokio::test]
async fn the_head_of_an_answer_has_a_limit_of_its_own() {
    let (_listener, url) = listen().await;
    let began = std::time::Instant::now();
    let answer = open_client().open(OutboundRequest::get(url), Duration::from_millis(100)).await;
    assert!(matches!(answer, Err(TransportError::TimedOut { after_sending: true })));
    assert!(began.elapsed() < Duration::from_secs(5));
}
