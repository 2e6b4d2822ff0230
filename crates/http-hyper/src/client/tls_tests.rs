//! Connections over TLS that are used again, and what happens when they had ended (D53).

use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use super::*;
use crate::connector::tests::{server_config, trusting};

/// A client, and the number of its connections to a peer that serves each of them with `serve`.
async fn client_of<F>(
    serve: impl Fn(TlsStream<TcpStream>) -> F + Send + 'static,
) -> (GuardedClient, Arc<AtomicUsize>)
where
    F: Future<Output = ()> + Send + 'static,
{
    let (certificate, config) = server_config();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let peer = listener.local_addr().expect("an address");
    let count = Arc::new(AtomicUsize::new(0));
    let connections = Arc::clone(&count);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            connections.fetch_add(1, Ordering::SeqCst);
            let stream = acceptor.accept(stream).await.expect("a handshake");
            tokio::spawn(serve(stream));
        }
    });
    let client = GuardedClient {
        connector: trusting(Some(certificate), peer),
        pool: Arc::default(),
        made_at: Instant::now(),
    };
    (client, count)
}

fn delivery() -> OutboundRequest {
    let request = OutboundRequest::post("https://hook.example/", Vec::new(), b"{}".to_vec());
    OutboundRequest { status_decides: true, ..request }
}

async fn read_delivery(stream: &mut TlsStream<TcpStream>) {
    let mut read = Vec::new();
    while !read.ends_with(b"\r\n\r\n{}") {
        read.push(stream.read_u8().await.expect("a byte"));
    }
}

async fn answer_one(stream: &mut TlsStream<TcpStream>) {
    read_delivery(stream).await;
    let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
    stream.write_all(answer).await.expect("written");
    stream.flush().await.expect("flushed");
}

/// D53.
#[tokio::test]
async fn a_connection_over_tls_that_was_closed_while_unused_is_replaced() {
    for says_farewell in [true, false] {
        let closed = Arc::new(Semaphore::new(0));
        let tell = Arc::clone(&closed);
        let (client, connections) = client_of(move |mut stream| {
            let tell = Arc::clone(&tell);
            async move {
                answer_one(&mut stream).await;
                if says_farewell {
                    stream.shutdown().await.expect("shut down");
                }
                drop(stream);
                tell.add_permits(1);
            }
        })
        .await;
        for _ in 0..20 {
            assert_eq!(client.send(delivery()).await.expect("an answer").status, 200);
            closed.acquire().await.expect("open").forget();
        }
        assert_eq!(connections.load(Ordering::SeqCst), 20, "with farewell: {says_farewell}");
    }
}

/// D53.
#[tokio::test]
async fn a_delivery_that_was_lost_on_a_reused_connection_over_tls_is_not_repeated() {
    let (client, connections) = client_of(|mut stream| async move {
        answer_one(&mut stream).await;
        read_delivery(&mut stream).await;
    })
    .await;
    assert_eq!(client.send(delivery()).await.expect("an answer").status, 200);
    let outcome = client.send(delivery()).await;
    assert_eq!(outcome, Err(TransportError::Broken { after_sending: true }));
    assert_eq!(connections.load(Ordering::SeqCst), 1);
}
