//! One request and one answer, or the error if there is none.

use std::time::Duration;

use recado_core::transport::{Method, OutboundRequest, Transport, TransportError};
use recado_http_hyper::{ClientOptions, GuardedClient};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::peer::{closed, listen, open_client, read_head};

/// A peer that answers every request on every connection with these bytes; returns the number of
/// connections.
async fn answering(
    answer: &'static [u8],
    requests: usize,
) -> (String, tokio::task::JoinHandle<usize>) {
    let (listener, url) = listen().await;
    let peer = tokio::spawn(async move {
        let (mut connections, mut answered) = (0, 0);
        while answered < requests {
            let (mut stream, _) = listener.accept().await.expect("accepted");
            connections += 1;
            while answered < requests && !read_head(&mut stream).await.is_empty() {
                stream.write_all(answer).await.expect("written");
                answered += 1;
            }
        }
        connections
    });
    (url, peer)
}

#[tokio::test]
async fn an_answer_is_cut_at_the_limit_and_no_redirect_followed() {
    let answer = b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 10\r\n\r\n0123456789";
    let (url, _peer) = answering(answer, 1).await;
    let request = OutboundRequest::get(url).with_answer_limit(4);
    let response = open_client().send(request).await.expect("an answer");
    assert_eq!((response.status, response.body), (302, b"0123".to_vec()));
}

#[tokio::test]
async fn a_connection_is_used_again() {
    let (url, peer) = answering(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", 3).await;
    let client = open_client();
    for _ in 0..3 {
        let response = client.send(OutboundRequest::get(url.clone())).await.expect("an answer");
        assert_eq!(response.body, b"ok");
    }
    assert_eq!(peer.await.expect("no panic"), 1);
}

#[tokio::test]
async fn a_post_carries_its_headers_and_body() {
    let (listener, url) = listen().await;
    let peer = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.expect("accepted");
        let head = read_head(&mut stream).await;
        let mut body = [0; 5];
        stream.read_exact(&mut body).await.expect("a body");
        stream.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").await.expect("written");
        (head, body)
    });
    let request = OutboundRequest {
        method: Method::Post,
        headers: vec![("X-Service-Event".to_owned(), "contact.created".to_owned())],
        body: b"hello".to_vec(),
        ..OutboundRequest::get(url)
    };
    assert_eq!(open_client().send(request).await.expect("an answer").status, 204);
    let (head, body) = peer.await.expect("no panic");
    assert!(head.starts_with("POST /path?a=1 HTTP/1.1\r\n"), "{head}");
    assert!(head.contains("X-Service-Event: contact.created\r\n"), "{head}");
    assert!(head.contains("Content-Length: 5\r\n"), "{head}");
    assert_eq!(&body, b"hello");
}

#[tokio::test]
async fn a_special_address_is_refused_before_anything_is_dialed() {
    let (listener, url) = listen().await;
    let client = GuardedClient::new(ClientOptions::default());
    let named = url.replace("127.0.0.1", "localhost");
    for url in
        [url, named, "http://[::ffff:10.0.0.1]/".to_owned(), "https://169.254.169.254/".to_owned()]
    {
        let outcome = client.send(OutboundRequest::get(url)).await;
        assert_eq!(outcome, Err(TransportError::Forbidden));
    }
    let dialed = tokio::time::timeout(Duration::from_millis(50), listener.accept()).await;
    assert!(dialed.is_err());
}

#[tokio::test]
async fn what_cannot_be_called_says_so() {
    let client = open_client();
    for url in ["nonsense", "ftp://example.com/", "http://user@example.com/", "/path", ""] {
        let outcome = client.send(OutboundRequest::get(url)).await;
        assert!(matches!(outcome, Err(TransportError::InvalidUrl(_))), "{url}");
    }
    let (_closed, url) = closed();
    assert_eq!(client.send(OutboundRequest::get(url)).await, Err(TransportError::Refused));
}

#[tokio::test]
async fn a_peer_that_hangs_up_after_the_request_may_have_got_it() {
    let (listener, url) = listen().await;
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.expect("accepted");
        read_head(&mut stream).await;
    });
    let outcome = open_client().send(OutboundRequest::get(url)).await;
    assert_eq!(outcome, Err(TransportError::Broken { after_sending: true }));
}

#[tokio::test]
async fn a_silent_peer_is_given_up_and_whether_it_may_have_got_the_request_is_known() {
    let (_listener, url) = listen().await;
    let timeout = Duration::from_millis(100);
    let plain = OutboundRequest::get(url.clone()).with_timeout(timeout);
    let outcome = open_client().send(plain).await;
    assert_eq!(outcome, Err(TransportError::TimedOut { after_sending: true }));
    // Over TLS nothing of the request is sent before the peer speaks.
    let tls = OutboundRequest::get(url.replace("http:", "https:")).with_timeout(timeout);
    let outcome = open_client().send(tls).await;
    assert_eq!(outcome, Err(TransportError::TimedOut { after_sending: false }));
}

#[tokio::test]
async fn a_peer_that_speaks_no_tls_is_a_tls_failure() {
    let (listener, url) = listen().await;
    let tls = url.replace("http:", "https:");
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.expect("accepted");
        let _ = stream.read(&mut [0; 16]).await;
        let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await;
        let _ = stream.shutdown().await;
    });
    let outcome = open_client().send(OutboundRequest::get(tls)).await;
    assert_eq!(outcome, Err(TransportError::Tls));
}
