//! The stop: requests in flight are completed, other connections are closed.

use std::time::Duration;

use recado_http_hyper::{Drained, ServeOptions};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::site::{Setup, Site, read_reply};

/// A POST whose body has begun and not ended.
pub(crate) async fn half_sent(site: &Site) -> TcpStream {
    let mut stream = site.connect().await;
    let head = format!(
        "POST /api/v1/contacts HTTP/1.1\r\nHost: t\r\n{}Content-Length: 26\r\nExpect: \
         100-continue\r\n\r\n",
        site.bearer()
    );
    stream.write_all(head.as_bytes()).await.expect("written");
    // The server asks for the body: the request is in flight.
    let mut asked = [0; 25];
    stream.read_exact(&mut asked).await.expect("100 Continue");
    assert!(asked.starts_with(b"HTTP/1.1 100"));
    stream
}

#[tokio::test]
async fn a_request_in_flight_is_finished_and_idle_connections_are_closed() {
    let mut site = Site::new().await;
    let mut idle = site.connect().await;
    idle.write_all(b"GET /healthz HTTP/1.1\r\nHost: t\r\n\r\n").await.expect("written");
    assert!(read_reply(&mut idle, false).await.is_some());
    let mut busy = half_sent(&site).await;

    site.stop.take().expect("not stopped yet").send(()).expect("the server runs");
    assert!(read_reply(&mut idle, false).await.is_none(), "closed");
    busy.write_all(br#"{"phone":"+5511987654321"}"#).await.expect("written");
    assert_eq!(read_reply(&mut busy, false).await.expect("an answer").status, 201);
    assert_eq!(site.served.await.expect("no panic"), Drained::Whole);
    assert!(TcpStream::connect(site.address).await.is_err(), "nobody listens");
}

#[tokio::test]
async fn what_does_not_finish_in_time_is_cut_off() {
    let serve =
        ServeOptions { drain_timeout: Duration::from_millis(100), ..ServeOptions::default() };
    let mut site = Setup { serve, ..Setup::new().await }.start().await;
    let _busy = half_sent(&site).await;
    site.stop.take().expect("not stopped yet").send(()).expect("the server runs");
    assert_eq!(site.served.await.expect("no panic"), Drained::CutOff);
}

#[tokio::test]
async fn a_closed_gate_turns_readiness_to_503_and_leaves_the_rest() {
    let site = Site::new().await;
    assert_eq!(site.send("GET", "/readyz", "", b"").await.status, 200);
    site.readiness.close();
    let reply = site.send("GET", "/readyz", "", b"").await;
    assert_eq!(reply.refusal(), (503, "UNAVAILABLE".to_owned()));
    assert!(reply.header("retry-after").is_some());
    assert_eq!(site.send("GET", "/healthz", "", b"").await.status, 200);
    assert_eq!(site.api("GET", "/contacts", "").await.status, 200);
}
