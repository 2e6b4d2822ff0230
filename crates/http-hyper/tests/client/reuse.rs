//! Connections that are used again, and what happens when they had ended (D53).

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use recado_core::transport::{OutboundRequest, Transport, TransportError};
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Barrier;

use crate::peer::{OK, delivery, listen, open_client, question, read_delivery};

/// Serves each connection with `serve`, which gets the number of earlier ones; counts them.
fn serve<F>(
    listener: TcpListener,
    serve: impl Fn(TcpStream, usize) -> F + Send + 'static,
) -> Arc<AtomicUsize>
where
    F: Future<Output = ()> + Send + 'static,
{
    let count = Arc::new(AtomicUsize::new(0));
    let connections = Arc::clone(&count);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(serve(stream, connections.fetch_add(1, Ordering::SeqCst)));
        }
    });
    count
}

async fn answer_one(stream: &mut TcpStream) {
    assert!(read_delivery(stream).await);
    stream.write_all(OK).await.expect("written");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_receiver_that_closes_after_each_answer_costs_no_send() {
    let (listener, url) = listen().await;
    let connections = serve(listener, |mut stream, _| async move { answer_one(&mut stream).await });
    let client = open_client();
    for _ in 0..200 {
        assert_eq!(client.send(question(&url)).await.expect("an answer").status, 200);
    }
    assert_eq!(connections.load(Ordering::SeqCst), 200);
}

#[tokio::test]
async fn a_request_lost_on_a_reused_connection_is_repeated_on_a_new_one() {
    let (listener, url) = listen().await;
    // Each connection breaks at its second request, after it was read.
    let connections = serve(listener, |mut stream, _| async move {
        answer_one(&mut stream).await;
        read_delivery(&mut stream).await;
    });
    let client = open_client();
    for _ in 0..20 {
        assert_eq!(client.send(question(&url)).await.expect("an answer").status, 200);
    }
    assert_eq!(connections.load(Ordering::SeqCst), 20);
}

/// A delivery is not repeated, either: its every arrival is an attempt (D53).
#[tokio::test]
async fn what_must_not_arrive_twice_is_not_repeated() {
    let (listener, url) = listen().await;
    let connections = serve(listener, |mut stream, _| async move {
        answer_one(&mut stream).await;
        read_delivery(&mut stream).await;
    });
    let client = open_client();
    assert_eq!(client.send(delivery(&url)).await.expect("an answer").status, 200);
    let outcome = client.send(delivery(&url)).await;
    assert_eq!(outcome, Err(TransportError::Broken { after_sending: true }));
    assert_eq!(connections.load(Ordering::SeqCst), 1);
}

/// D53.
#[tokio::test]
async fn a_connection_that_was_closed_while_unused_is_replaced_though_nothing_may_be_repeated() {
    let (listener, url) = listen().await;
    let closed = Arc::new(tokio::sync::Semaphore::new(0));
    let tell = Arc::clone(&closed);
    let connections = serve(listener, move |mut stream, _| {
        let tell = Arc::clone(&tell);
        async move {
            answer_one(&mut stream).await;
            drop(stream);
            tell.add_permits(1);
        }
    });
    let client = open_client();
    for _ in 0..20 {
        assert_eq!(client.send(delivery(&url)).await.expect("an answer").status, 200);
        closed.acquire().await.expect("open").forget();
    }
    assert_eq!(connections.load(Ordering::SeqCst), 20);
}

#[tokio::test]
async fn a_receiver_that_resets_a_fresh_connection_gets_exactly_one() {
    let (listener, url) = listen().await;
    // Closing with bytes unread resets the connection.
    let connections = serve(listener, |stream, _| async move {
        stream.readable().await.expect("readable");
    });
    let outcome = open_client().send(delivery(&url)).await;
    assert!(matches!(outcome, Err(TransportError::Broken { .. })), "{outcome:?}");
    assert_eq!(connections.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_repeat_that_fails_is_not_repeated() {
    let (listener, url) = listen().await;
    let connections = serve(listener, |mut stream, before| async move {
        if before == 0 {
            answer_one(&mut stream).await;
        }
        read_delivery(&mut stream).await;
    });
    let client = open_client();
    assert_eq!(client.send(question(&url)).await.expect("an answer").status, 200);
    let outcome = client.send(question(&url)).await;
    assert_eq!(outcome, Err(TransportError::Broken { after_sending: true }));
    assert_eq!(connections.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn after_a_byte_of_an_answer_nothing_is_repeated() {
    let (listener, url) = listen().await;
    let connections = serve(listener, |mut stream, _| async move {
        answer_one(&mut stream).await;
        read_delivery(&mut stream).await;
        stream.write_all(b"H").await.expect("written");
    });
    let client = open_client();
    assert_eq!(client.send(question(&url)).await.expect("an answer").status, 200);
    let outcome = client.send(question(&url)).await;
    assert_eq!(outcome, Err(TransportError::Broken { after_sending: true }));
    assert_eq!(connections.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_repeat_has_only_what_is_left_of_the_time() {
    const TIMEOUT: Duration = Duration::from_millis(400);
    let (listener, url) = listen().await;
    let connections = serve(listener, |mut stream, before| async move {
        if before == 0 {
            answer_one(&mut stream).await;
            read_delivery(&mut stream).await;
            // The connection breaks after half of the time, and the next one sends nothing.
            tokio::time::sleep(TIMEOUT / 2).await;
            return;
        }
        std::future::pending::<()>().await;
    });
    let client = open_client();
    assert_eq!(client.send(question(&url)).await.expect("an answer").status, 200);
    let began = Instant::now();
    let outcome = client.send(question(&url).with_timeout(TIMEOUT)).await;
    assert_eq!(outcome, Err(TransportError::TimedOut { after_sending: true }));
    assert!(began.elapsed() < TIMEOUT + TIMEOUT / 2, "{:?}", began.elapsed());
    assert_eq!(connections.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn an_announced_close_and_a_stray_byte_end_a_connection() {
    for extra in ["Connection: close\r\n", ""] {
        let (listener, url) = listen().await;
        let connections = serve(listener, move |mut stream, _| async move {
            while read_delivery(&mut stream).await {
                let stray = if extra.is_empty() { "HTTP/1.1 200 OK\r\n" } else { "" };
                let answer = format!("HTTP/1.1 204 No Content\r\n{extra}\r\n{stray}");
                stream.write_all(answer.as_bytes()).await.expect("written");
            }
        });
        let client = open_client();
        for _ in 0..3 {
            assert_eq!(client.send(delivery(&url)).await.expect("an answer").status, 204);
        }
        assert_eq!(connections.load(Ordering::SeqCst), 3, "{extra:?}");
    }
}

#[tokio::test]
async fn sixteen_connections_to_one_host_are_all_kept() {
    const AT_ONCE: usize = 16;
    let (listener, url) = listen().await;
    // No request is answered before all have arrived.
    let everyone = Arc::new(Barrier::new(AT_ONCE));
    let connections = serve(listener, move |mut stream, _| {
        let everyone = Arc::clone(&everyone);
        async move {
            while read_delivery(&mut stream).await {
                everyone.wait().await;
                stream.write_all(OK).await.expect("written");
            }
        }
    });
    let client = open_client();
    for _ in 0..3 {
        let sends = (0..AT_ONCE).map(|_| client.send(delivery(&url)));
        for outcome in futures_util::future::join_all(sends).await {
            assert_eq!(outcome.expect("an answer").status, 200);
        }
        assert_eq!(connections.load(Ordering::SeqCst), AT_ONCE);
    }
}

#[tokio::test]
async fn a_send_that_is_given_up_takes_its_connection_along() {
    let (listener, url) = listen().await;
    let client = open_client();
    let send = client.send(delivery(&url));
    let peer = async {
        let (mut stream, _) = listener.accept().await.expect("accepted");
        assert!(read_delivery(&mut stream).await);
        stream
    };
    let mut stream = tokio::select! {
        outcome = send => panic!("nobody answered: {outcome:?}"),
        stream = peer => stream,
    };
    assert!(!read_delivery(&mut stream).await);
}

#[tokio::test]
async fn a_request_may_ask_for_a_connection_that_was_not_unused_for_long() {
    let (listener, url) = listen().await;
    let connections = serve(listener, |mut stream, _| async move {
        while read_delivery(&mut stream).await {
            stream.write_all(OK).await.expect("written");
        }
    });
    let client = open_client();
    let within = |longest| OutboundRequest { max_idle: Some(longest), ..delivery(&url) };
    for (request, expected) in [
        (delivery(&url), 1),
        (within(Duration::from_secs(3600)), 1),
        (within(Duration::ZERO), 2),
        (delivery(&url), 2),
    ] {
        assert_eq!(client.send(request).await.expect("an answer").status, 200);
        assert_eq!(connections.load(Ordering::SeqCst), expected);
    }
}
