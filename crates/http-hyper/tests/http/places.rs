//! Many connections: the longest idle one makes room, a request in flight is never cut, and one
//! address has a share.

use std::time::Duration;

use recado_http_hyper::ServeOptions;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::site::{Setup, Site, read_reply};
use crate::stopping::half_sent;

/// Bounds in place of the defaults.
async fn site(max_connections: usize, max_per_address: usize) -> Site {
    let max_per_address = Some(max_per_address);
    let serve = ServeOptions { max_connections, max_per_address, ..ServeOptions::default() };
    Setup { serve, ..Setup::new().await }.start().await
}

/// Asks on a connection; whether there is an answer.
async fn ask(stream: &mut TcpStream) -> bool {
    // If it is closed already, writing may fail.
    let _ = stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: t\r\n\r\n").await;
    read_reply(stream, false).await.is_some_and(|reply| reply.status == 200)
}

/// A connection that was used and is idle.
async fn idle(site: &Site) -> TcpStream {
    let mut stream = site.connect().await;
    assert!(ask(&mut stream).await);
    stream
}

/// Waits until the server closes it.
async fn is_closed(mut stream: TcpStream) {
    let closed = tokio::time::timeout(Duration::from_secs(5), stream.read(&mut [0; 1])).await;
    assert!(matches!(closed.expect("closed"), Ok(0) | Err(_)));
}

async fn finishes(mut stream: TcpStream) {
    stream.write_all(br#"{"phone":"+5511987654321"}"#).await.expect("written");
    let reply = read_reply(&mut stream, false).await.expect("an answer");
    assert!(matches!(reply.status, 201 | 409), "{reply:?}");
}

/// R178.
#[tokio::test]
async fn the_connection_that_is_idle_for_the_longest_makes_room() {
    let site = site(3, 3).await;
    let busy = half_sent(&site).await;
    let (mut first, second) = (idle(&site).await, idle(&site).await);
    assert!(ask(&mut first).await, "now the second is idle for longer");
    let mut third = idle(&site).await;
    is_closed(second).await;
    assert!(ask(&mut first).await && ask(&mut third).await, "the others stay");
    finishes(busy).await;
}

/// R178.
#[tokio::test]
async fn who_has_sent_no_whole_head_makes_room_too() {
    let site = site(2, 2).await;
    let silent = site.connect().await;
    let mut half = site.connect().await;
    half.write_all(b"GET /healthz HTTP/1.1\r\nHo").await.expect("written");
    let mut first = idle(&site).await;
    is_closed(silent).await;
    let second = idle(&site).await;
    is_closed(half).await;
    assert!(ask(&mut first).await);
    drop(second);
}

/// R178.
#[tokio::test]
async fn while_all_are_busy_a_new_connection_waits_for_an_answer_to_be_written() {
    let site = site(1, 1).await;
    let busy = half_sent(&site).await;
    // It would be beyond the share of an address as well, so that one is refused.
    is_closed(site.connect().await).await;
    finishes(busy).await;

    let site = Setup { trusted: &["127.0.0.0/8"], serve: limits(1), ..Setup::new().await };
    let site = site.start().await;
    let busy = half_sent(&site).await;
    let mut next = site.connect().await;
    let waiting = tokio::time::timeout(Duration::from_millis(100), ask(&mut next));
    assert!(waiting.await.is_err(), "there is no place yet");
    finishes(busy).await;
    assert_eq!(read_reply(&mut next, false).await.expect("an answer").status, 200);
}

fn limits(max_connections: usize) -> ServeOptions {
    ServeOptions { max_connections, ..ServeOptions::default() }
}

/// R178.
#[tokio::test]
async fn an_answer_that_is_read_slowly_is_not_cut() {
    let site = Setup { trusted: &["127.0.0.0/8"], serve: limits(1), ..Setup::new().await };
    let site = site.start().await;
    let mut slow = site.connect().await;
    // Together they are more than the buffers of a socket hold.
    let count = 15;
    let request = "GET /api/openapi.json HTTP/1.1\r\nHost: t\r\n\r\n".repeat(count);
    slow.write_all(request.as_bytes()).await.expect("written");
    let mut byte = [0];
    slow.peek(&mut byte).await.expect("the first answer begins");
    let mut next = site.connect().await;
    let asked = async { ask(&mut next).await };
    let read = async {
        for _ in 0..count {
            assert_eq!(read_reply(&mut slow, false).await.expect("whole").status, 200);
        }
        is_closed(slow).await;
    };
    assert!(tokio::join!(asked, read).0);
}

/// R179.
#[tokio::test]
async fn an_address_beyond_its_share_loses_its_own_idle_connections_and_then_is_refused() {
    let site = site(100, 2).await;
    let busy = half_sent(&site).await;
    let first = idle(&site).await;
    let second = idle(&site).await;
    is_closed(first).await;
    drop(second);
    let other = half_sent(&site).await;
    is_closed(site.connect().await).await;
    finishes(busy).await;
    finishes(other).await;
    assert!(ask(&mut idle(&site).await).await);
}

/// R179.
#[tokio::test]
async fn a_trusted_proxy_has_no_share() {
    let serve = ServeOptions { max_per_address: Some(1), ..ServeOptions::default() };
    let trusted = &["127.0.0.1/32"];
    let site = Setup { serve, trusted, ..Setup::new().await }.start().await;
    let mut open = Vec::new();
    for _ in 0..5 {
        open.push(idle(&site).await);
    }
    for stream in &mut open {
        assert!(ask(stream).await);
    }
}

/// R179.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn who_takes_the_share_of_an_address_takes_nothing_from_another() {
    let site = site(4, 3).await;
    let mut busy = Vec::new();
    for _ in 0..3 {
        busy.push(half_sent(&site).await);
    }
    is_closed(site.connect().await).await;
    let socket = tokio::net::TcpSocket::new_v4().expect("a socket");
    socket.bind(([127, 0, 0, 2], 0).into()).expect("an address of this machine");
    let mut other = socket.connect(site.address).await.expect("the server listens");
    assert!(ask(&mut other).await);
}
