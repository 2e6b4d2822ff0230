//! Webhooks of gateways: how much of many large bodies is held in memory at once.

use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt;
use http::Request;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::Frame;
use recado_core::inbox::WEBHOOK_LIMIT;
use recado_http_hyper::{AnswerFuture, HttpOptions, Limits, PeerAddress, RecadoHttp};
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use crate::provider_webhooks::{MIB, calling};
use crate::site::Site;

struct Answered {
    status: u16,
    retry_after: Option<String>,
    body: Value,
}

async fn answered(answering: AnswerFuture) -> Answered {
    let answer = answering.await.expect("infallible");
    let status = answer.status().as_u16();
    let retry_after = answer.headers().get("retry-after");
    let retry_after = retry_after.map(|wait| wait.to_str().expect("text").to_owned());
    let body = answer.into_body().collect().await.expect("infallible").to_bytes();
    Answered { status, retry_after, body: serde_json::from_slice(&body).expect("JSON") }
}

/// A body of 16 MiB of which nothing ever arrives.
struct Silent;

impl hyper::body::Body for Silent {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        self: std::pin::Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        std::task::Poll::Pending
    }

    fn size_hint(&self) -> hyper::body::SizeHint {
        hyper::body::SizeHint::with_exact(WEBHOOK_LIMIT as u64)
    }
}

/// The surface without sockets, with little memory for large bodies.
struct Cramped {
    service: RecadoHttp,
    address: String,
    _site: Site,
}

impl Cramped {
    async fn new() -> Self {
        let site = Site::new().await;
        let (_, address) = calling(&site).await;
        site.kit.provider.set_received(Ok(Vec::new()));
        let limits = Limits { gateway_bodies: 2 * MIB, ..Limits::default() };
        let options = HttpOptions { limits, ..HttpOptions::default() };
        Self { service: RecadoHttp::new(site.kit.app.clone(), options), address, _site: site }
    }

    /// A call whose body is `bytes` long.
    fn ask(&self, bytes: usize) -> JoinHandle<Answered> {
        self.ask_with(Full::new(Bytes::from(vec![b' '; bytes])))
    }

    fn ask_with<B>(&self, body: B) -> JoinHandle<Answered>
    where
        B: hyper::body::Body<Data = Bytes> + Send + 'static,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let request = Request::post(self.address.as_str()).body(body).expect("a request");
        tokio::spawn(answered(self.service.answer(request)))
    }

    /// A call that has sent one and a half mebibytes, and sends the rest on a signal.
    async fn begin(&self) -> (oneshot::Sender<()>, JoinHandle<Answered>) {
        let (go, gone) = oneshot::channel::<()>();
        let (read, mut was_read) = mpsc::channel::<()>(1);
        let first = futures_util::stream::iter([MIB, MIB / 2]);
        let last = futures_util::stream::once(async move {
            // When it asks for more, the server has read what came before.
            let _ = read.send(()).await;
            let _ = gone.await;
            MIB / 2
        });
        let frames = first.chain(last).map(|bytes| {
            Ok::<_, std::convert::Infallible>(Frame::data(Bytes::from(vec![b' '; bytes])))
        });
        let asking = self.ask_with(StreamBody::new(Box::pin(frames)));
        was_read.recv().await.expect("the server reads");
        (go, asking)
    }
}

#[tokio::test(start_paused = true)]
async fn a_large_body_waits_until_others_are_done_and_a_small_one_does_not() {
    let cramped = Cramped::new().await;
    // The first holds the whole budget, the second is the one that may exceed it.
    let (go, first) = cramped.begin().await;
    let (go_on, second) = cramped.begin().await;
    let mut third = cramped.ask(2 * MIB);
    // The test clock advances only when all tasks wait.
    assert!(tokio::time::timeout(Duration::from_secs(4), &mut third).await.is_err());
    assert_eq!(cramped.ask(64 * 1024).await.expect("answered").status, 200);
    go.send(()).expect("it waits");
    assert_eq!(first.await.expect("answered").status, 200);
    assert_eq!(third.await.expect("answered").status, 200);
    go_on.send(()).expect("it waits");
    assert_eq!(second.await.expect("answered").status, 200);
}

/// R106.
#[tokio::test(start_paused = true)]
async fn who_finds_no_room_is_asked_to_come_back_and_finds_it_when_the_slow_were_given_up() {
    let cramped = Cramped::new().await;
    let (_go, first) = cramped.begin().await;
    let (_go_on, second) = cramped.begin().await;
    let asked = tokio::time::Instant::now();
    let refused = cramped.ask(2 * MIB).await.expect("answered");
    assert_eq!((refused.status, &refused.body["code"]), (503, &json!("UNAVAILABLE")));
    assert_eq!((&refused.body["ok"], refused.retry_after.as_deref()), (&json!(false), Some("5")));
    assert_eq!(asked.elapsed(), Duration::from_secs(5));
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert_eq!(cramped.ask(2 * MIB).await.expect("answered").status, 200);
    assert!(asked.elapsed() < Duration::from_secs(15), "{:?}", asked.elapsed());
    for slow in [first, second] {
        let slow = slow.await.expect("answered");
        assert_eq!((slow.status, &slow.body["code"]), (408, &json!("BAD_REQUEST")));
    }
}

/// R106.
#[tokio::test(start_paused = true)]
async fn who_declares_much_and_sends_nothing_holds_nothing() {
    let cramped = Cramped::new().await;
    let silent: Vec<_> = (0..100).map(|_| cramped.ask_with(Silent)).collect();
    tokio::time::sleep(Duration::from_secs(1)).await;
    let asked = tokio::time::Instant::now();
    let large = [cramped.ask(2 * MIB), cramped.ask(2 * MIB)];
    for large in large {
        assert_eq!(large.await.expect("answered").status, 200);
    }
    assert_eq!(asked.elapsed(), Duration::ZERO);
    for silent in silent {
        assert_eq!(silent.await.expect("answered").status, 408);
    }
}

/// R183.
#[tokio::test(start_paused = true)]
async fn a_signed_body_finds_room_whatever_strangers_hold() {
    let crowd = Crowd::new().await;
    // From two addresses, for one connection, they hold all there is.
    let strangers = crowd.strangers([1, 2].into_iter(), 24, MIB).await;
    let asked = tokio::time::Instant::now();
    for (connection, client) in [(1, 99), (0, 99), (1, 1)] {
        assert_eq!(crowd.ask(connection, client, 3 * MIB).await, 200, "{connection} {client}");
    }
    assert_eq!(asked.elapsed(), Duration::ZERO, "at once");
    // Only those who had to give way were refused: with a wish to repeat the call.
    tokio::time::sleep(Duration::from_millis(1)).await;
    let refused: Vec<_> = strangers.iter().filter(|asking| asking.is_finished()).collect();
    assert!((3..24).contains(&refused.len()), "{}", refused.len());
    for stranger in strangers {
        let (status, retry_after) = match stranger.is_finished() {
            true => stranger.await.map(|answer| (answer.status, answer.retry_after)),
            false => continue,
        }
        .expect("answered");
        assert_eq!((status, retry_after.as_deref()), (503, Some("5")));
    }
}

/// R183.
#[tokio::test(start_paused = true)]
async fn a_gateway_that_has_called_finds_room_however_many_addresses_strangers_have() {
    let crowd = Crowd::new().await;
    assert_eq!(crowd.ask(0, 99, 2).await, 200, "its address is known now");
    let strangers = crowd.strangers(1..=90, 90, 256 * 1024).await;
    let asked = tokio::time::Instant::now();
    assert_eq!(crowd.ask(0, 99, 3 * MIB).await, 200);
    assert_eq!(asked.elapsed(), Duration::ZERO, "at once");
    assert_eq!(crowd.ask(0, 98, 3 * MIB).await, 503, "nobody knows this one");
    drop(strangers);
}

/// The surface without sockets, with two connections and memory for sixteen mebibytes.
struct Crowd {
    service: RecadoHttp,
    addresses: [String; 2],
    _site: Site,
}

impl Crowd {
    async fn new() -> Self {
        let site = Site::new().await;
        let addresses = [calling(&site).await.1, calling(&site).await.1];
        site.kit.provider.set_received(Ok(Vec::new()));
        let limits = Limits { gateway_bodies: 16 * MIB, ..Limits::default() };
        let options = HttpOptions { limits, ..HttpOptions::default() };
        Self { service: RecadoHttp::new(site.kit.app.clone(), options), addresses, _site: site }
    }

    fn call<B>(&self, connection: usize, client: u8, body: B) -> JoinHandle<Answered>
    where
        B: hyper::body::Body<Data = Bytes> + Send + 'static,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let mut request =
            Request::post(self.addresses[connection].as_str()).body(body).expect("a request");
        let peer = std::net::SocketAddr::from(([203, 0, 113, client], 4711));
        request.extensions_mut().insert(PeerAddress(peer));
        tokio::spawn(answered(self.service.answer(request)))
    }

    /// The status of a call whose body is so long.
    async fn ask(&self, connection: usize, client: u8, bytes: usize) -> u16 {
        let body = Full::new(Bytes::from(vec![b' '; bytes]));
        self.call(connection, client, body).await.expect("answered").status
    }

    /// Calls of the first connection that send so many bytes and then nothing, from one client
    /// after the other.
    async fn strangers(
        &self,
        clients: impl Iterator<Item = u8> + Clone,
        count: usize,
        bytes: usize,
    ) -> Vec<JoinHandle<Answered>> {
        let mut all = Vec::new();
        for client in clients.cycle().take(count) {
            let sent = futures_util::stream::iter([64 * 1024, bytes - 64 * 1024]);
            let frames = sent.chain(futures_util::stream::pending()).map(|bytes| {
                Ok::<_, std::convert::Infallible>(Frame::data(Bytes::from(vec![b' '; bytes])))
            });
            all.push(self.call(0, client, StreamBody::new(Box::pin(frames))));
        }
        // The test clock advances only when all tasks wait.
        tokio::time::sleep(Duration::from_millis(1)).await;
        assert!(all.iter().all(|asking| !asking.is_finished()));
        all
    }
}

/// R106.
#[tokio::test]
async fn a_body_that_breaks_off_is_to_be_sent_again() {
    let cramped = Cramped::new().await;
    let frames = [Ok(Frame::data(Bytes::from_static(b"{"))), Err(std::io::Error::other("gone"))];
    let body = StreamBody::new(futures_util::stream::iter(frames));
    let answer = cramped.ask_with(body).await.expect("answered");
    assert_eq!((answer.status, &answer.body["code"]), (408, &json!("BAD_REQUEST")));
}
