//! Webhooks of gateways: the order of refusals, the answers, and how much of many large bodies is
//! held in memory at once.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::{FutureExt, StreamExt};
use http::Request;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::Frame;
use recado_core::gateway::{
    GatewayEvent, GatewayMessage, ProviderWebhook, Received, UnknownReport, WebhookRefused,
};
use recado_core::inbox::WEBHOOK_LIMIT;
use recado_core::messages::{Blocks, MessageType, ProviderMessageId};
use recado_http_hyper::{AnswerFuture, HttpOptions, Limits, PeerAddress, RecadoHttp};
use recado_testkit::{FaultyStore, Kit, MemoryStore, StoreFailure};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use crate::hooks::refusal;
use crate::site::{Reply, Setup, Site, read_reply};

const MIB: usize = 1024 * 1024;

/// A connection whose gateway calls; its path of the operator API and its address.
pub(crate) async fn calling(site: &Site) -> (String, String) {
    let body = json!({"kind": "qr", "name": "Loja", "identifier": "551140028922",
        "gateway": "waha", "settings": {"base_url": "http://127.0.0.1:3000", "session": "loja1",
            "api_key": "k", "webhook_hmac_key": "h"}});
    let made = site.company("POST", "/connections", &body.to_string()).await.data();
    let id = made["id"].as_str().expect("an id");
    (format!("/connections/{id}"), format!("/api/webhooks/provider/{id}"))
}

fn message(id: &str) -> Received {
    Received::here(Ok(GatewayEvent::Message(GatewayMessage {
        provider_id: ProviderMessageId::from_stored(id.to_owned()),
        peer: "5511987654321".to_owned(),
        aliases: Vec::new(),
        participant: None,
        push_name: Some("Ana".to_owned()),
        message_type: MessageType::Text,
        content: Some("Oi".to_owned()),
        media: None,
        blocks: Blocks::default(),
        quoted: None,
        quoted_content: None,
        quoted_type: None,
        button: None,
        history: false,
        is_late: false,
        raw: None,
        timestamp: None,
    })))
}

async fn contacts(site: &Site) -> usize {
    site.api("GET", "/contacts", "").await.data().as_array().expect("a list").len()
}

#[tokio::test]
async fn what_a_gateway_reports_is_taken_whatever_follows_its_address() {
    let site = Site::new().await;
    let (connection, address) = calling(&site).await;
    let shown = site.company("GET", &connection, "").await.data();
    assert!(shown["webhook_url"].as_str().expect("an address").ends_with(&address));
    for (n, suffix) in ["", "/", "/messages-upsert", "/a/b/", "?token=x"].into_iter().enumerate() {
        site.kit.provider.set_received(Ok(vec![message(&format!("wamid.{n}"))]));
        let reply = site.send("POST", &format!("{address}{suffix}"), "", b"{}").await;
        assert_eq!((reply.status, reply.json()), (200, json!({"ok": true})), "{suffix}");
        assert_eq!(reply.header("cache-control"), Some("no-store"));
        let contact = site.api("GET", "/contacts", "").await.data()[0]["id"].clone();
        let contact = contact.as_str().expect("an id").to_owned();
        let messages = site.api("GET", &format!("/contacts/{contact}/messages"), "").await.data();
        assert_eq!(messages.as_array().expect("a list").len(), n + 1, "{suffix}");
    }
}

#[tokio::test]
async fn events_that_are_refused_or_unknown_do_not_change_the_answer() {
    let site = Site::new().await;
    let (connection, address) = calling(&site).await;
    let report = UnknownReport::new("label.upsert", json!({"name": "VIP 1"}));
    site.kit.provider.set_received(Ok(vec![
        Received::here(Err("it has no id".to_owned())),
        Received::here(Ok(GatewayEvent::Unknown(report))),
        message("wamid.1"),
    ]));
    let reply = site.send("POST", &address, "", b"{}").await;
    assert_eq!((reply.status, reply.json()), (200, json!({"ok": true})));
    assert_eq!(contacts(&site).await, 1);

    let unknown = format!("{connection}/unknown-events");
    let mut kept = site.company("GET", &unknown, "").await.data();
    let kept = kept.as_array_mut().expect("a list");
    kept.sort_by_key(|event| event["reason"].to_string());
    let shown: Vec<_> = kept.iter().map(|event| (&event["kind"], &event["body"])).collect();
    let (label, unread) = (json!("label.upsert"), json!("it has no id"));
    assert_eq!(shown, [(&label, &json!({"name": "VIP 1"})), (&unread, &json!({}))]);
    let view = site.company("GET", &connection, "").await.data();
    assert_eq!((&view["not_understood"], view["last_heard_at"].is_string()), (&json!(2), true));
    let (_, other) = site.kit.another_company("Outra").await;
    let other = format!("/companies/{}{unknown}", other.company());
    assert_eq!(site.operator("GET", &other, "").await.refusal(), refusal(404, "NOT_FOUND"));
}

/// 7.4, R106, D68.
#[tokio::test]
async fn a_call_is_refused_by_its_address_its_head_its_size_its_signature_and_its_form_in_order() {
    let site = Site::new().await;
    let (connection, address) = calling(&site).await;
    let provider = &site.kit.provider;
    // Of this body nothing is ever sent.
    let ask = async |path: &str| {
        let length = WEBHOOK_LIMIT + 1;
        let head = format!("POST {path} HTTP/1.1\r\nHost: t\r\nContent-Length: {length}\r\n\r\n");
        site.raw(head.as_bytes()).await.expect("an answer").hook_refusal()
    };
    provider.set_admit(Err(WebhookRefused::Unauthorized));
    let nobody = "/api/webhooks/provider/00000000-0000-4000-8000-00000000dead";
    for path in [nobody, "/api/webhooks/provider/x", "/api/webhooks/provider/x/y"] {
        assert_eq!(ask(path).await, refusal(404, "NOT_FOUND"), "{path}");
    }
    assert_eq!(ask(&address).await, refusal(401, "UNAUTHORIZED"));
    provider.set_admit(Ok(()));
    assert_eq!(ask(&address).await, refusal(413, "PAYLOAD_TOO_LARGE"));
    for (refused, expected) in [
        (WebhookRefused::Unauthorized, refusal(401, "UNAUTHORIZED")),
        (WebhookRefused::Malformed, refusal(400, "INVALID_PAYLOAD")),
    ] {
        provider.set_received(Err(refused));
        let reply = site.send("POST", &address, "", b"not JSON").await;
        assert_eq!(reply.hook_refusal(), expected);
        assert_eq!(reply.header("www-authenticate"), None);
    }
    provider.set_received(Ok(Vec::new()));
    assert_eq!(site.send("POST", &address, "", b"").await.status, 200);

    let simulated = r#"{"kind":"qr","name":"A","identifier":"1","gateway":"simulated"}"#;
    let simulated = site.company("POST", "/connections", simulated).await.data();
    let silent = format!("/api/webhooks/provider/{}", simulated["id"].as_str().expect("an id"));
    assert_eq!(ask(&silent).await, refusal(404, "NOT_FOUND"), "it calls nobody");
    site.company("DELETE", &connection, "").await;
    assert_eq!(ask(&address).await, refusal(404, "NOT_FOUND"));
}

#[tokio::test]
async fn a_body_of_sixteen_mebibytes_is_taken_and_one_byte_more_is_413() {
    let site = Site::new().await;
    let (_, address) = calling(&site).await;
    site.kit.provider.set_received(Ok(Vec::new()));
    let body = vec![b' '; WEBHOOK_LIMIT];
    assert_eq!(site.send("POST", &address, "", &body).await.status, 200);
    let mut stream = site.connect().await;
    let head = format!("POST {address} HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n");
    stream.write_all(head.as_bytes()).await.expect("written");
    let chunk = [b"100000\r\n".as_slice(), &body[..MIB], b"\r\n"].concat();
    for _ in 0..17 {
        // The server may have answered and closed by now.
        if stream.write_all(&chunk).await.is_err() {
            break;
        }
    }
    let reply = read_reply(&mut stream, false).await.expect("an answer");
    assert_eq!(reply.hook_refusal(), refusal(413, "PAYLOAD_TOO_LARGE"));
}

#[tokio::test]
async fn an_address_is_verified_with_the_raw_text_of_the_gateway() {
    let site = Site::new().await;
    let (_, address) = calling(&site).await;
    let verify = async |method: &str, path: &str| {
        let path = format!("{path}?hub.mode=subscribe&hub.challenge=1158201444");
        site.send(method, &path, "", b"").await
    };
    let none = verify("GET", &address).await;
    assert_eq!(none.hook_refusal(), refusal(404, "NOT_FOUND"), "it verifies no address");
    site.kit.provider.set_handshake(Err(WebhookRefused::Unauthorized));
    assert_eq!(verify("GET", &address).await.hook_refusal(), refusal(401, "UNAUTHORIZED"));
    site.kit.provider.set_handshake(Ok("1158201444".to_owned()));
    for path in [address.clone(), format!("{address}/messages")] {
        let reply = verify("GET", &path).await;
        assert_eq!((reply.status, reply.body.as_slice()), (200, &b"1158201444"[..]));
        assert_eq!(reply.header("content-type"), Some("text/plain; charset=utf-8"));
        let head = verify("HEAD", &path).await;
        assert_eq!((head.status, head.header("content-length")), (200, Some("10")));
    }
    let unknown = verify("GET", "/api/webhooks/provider/x").await;
    assert_eq!(unknown.hook_refusal(), refusal(404, "NOT_FOUND"));
    for method in ["PUT", "DELETE", "OPTIONS"] {
        let reply = verify(method, &format!("{address}/x")).await;
        assert_eq!(reply.hook_refusal(), refusal(405, "METHOD_NOT_ALLOWED"));
        assert_eq!(reply.header("allow"), Some("GET, HEAD, POST"));
    }
}

#[tokio::test]
async fn gateways_may_call_more_often_than_other_systems() {
    let site = Site::new().await;
    let (_, address) = calling(&site).await;
    site.kit.provider.set_received(Ok(Vec::new()));
    for _ in 0..200 {
        assert_eq!(site.send("POST", &address, "", b"{}").await.status, 200);
    }
}

#[tokio::test]
async fn a_slow_or_encoded_body_is_refused_and_leaves_nothing() {
    let limits = Limits { body_timeout: Duration::from_millis(100), ..Limits::default() };
    let site = Setup { limits, ..Setup::new().await }.start().await;
    let (_, address) = calling(&site).await;
    site.kit.provider.set_received(Ok(vec![message("wamid.1")]));
    let head = format!("POST {address} HTTP/1.1\r\nHost: t\r\nContent-Length: 100\r\n\r\n{{");
    let reply = site.raw(head.as_bytes()).await.expect("an answer");
    assert_eq!(reply.hook_refusal(), refusal(408, "BAD_REQUEST"));
    let reply = site.send("POST", &address, "Content-Encoding: gzip\r\n", b"{}").await;
    assert_eq!(reply.hook_refusal(), refusal(415, "UNSUPPORTED_MEDIA_TYPE"));
    assert_eq!(contacts(&site).await, 0);
}

#[tokio::test]
async fn an_unreachable_store_asks_the_gateway_to_come_back() {
    let store = FaultyStore::new(Arc::new(MemoryStore::new()));
    let kit = Kit::on(Arc::new(store.clone())).await;
    let site = Setup { kit, ..Setup::new().await }.start().await;
    let (_, address) = calling(&site).await;
    site.kit.provider.set_received(Ok(vec![message("wamid.1")]));
    let ask = async || site.send("POST", &address, "", b"{}").await;
    let unavailable = |reply: &Reply, code| {
        assert_eq!(reply.hook_refusal(), refusal(503, code));
        assert_eq!(reply.header("retry-after"), Some("5"));
    };
    store.fail_all(StoreFailure::Unavailable);
    unavailable(&ask().await, "UNAVAILABLE");
    store.heal();
    store.fail_contact_reads();
    unavailable(&ask().await, "CONTACT_STATE_UNAVAILABLE");
    store.heal();
    assert_eq!(ask().await.status, 200);
    assert_eq!(contacts(&site).await, 1);
}

#[tokio::test]
async fn the_gateway_sees_headers_in_lower_case_and_a_decoded_query() {
    /// A gateway that admits only one call.
    struct Picky;
    #[async_trait::async_trait]
    impl recado_core::gateway::Provider for Picky {
        fn describe(&self) -> recado_core::connections::GatewayDescription {
            recado_testkit::descriptions::waha()
        }

        async fn send(
            &self,
            _: &dyn recado_core::transport::Transport,
            _: &recado_core::connections::Connection,
            _: &recado_core::gateway::Outgoing,
        ) -> recado_core::gateway::SendResult {
            Err(recado_core::gateway::SendFailure::uncertain("nothing is sent here"))
        }

        fn admit(
            &self,
            _: &recado_core::connections::Connection,
            _: &ProviderWebhook,
        ) -> Result<(), WebhookRefused> {
            Ok(())
        }

        fn receive(
            &self,
            _: &recado_core::connections::Connection,
            webhook: &ProviderWebhook,
        ) -> Result<Vec<Received>, WebhookRefused> {
            let has = |list: &[(String, String)], name: &str, value: &str| {
                list.iter().any(|(known, held)| known == name && held == value)
            };
            let fits = has(&webhook.headers, "x-webhook-hmac", "a\u{fffd}b")
                && has(&webhook.query, "token", "um espaço+")
                && webhook.body == b"\xff{";
            if fits { Ok(Vec::new()) } else { Err(WebhookRefused::Unauthorized) }
        }
    }
    let picky = recado_core::gateway::Providers::none().with(Arc::new(Picky));
    let kit = Kit::builder().providers(picky).build().await;
    let site = Setup { kit, ..Setup::new().await }.start().await;
    let (_, address) = calling(&site).await;
    let head = format!("POST {address}?token=um%20espa%C3%A7o%2B HTTP/1.1\r\nHost: t\r\n");
    let ask = async |signature: &[u8]| {
        let rest: [&[u8]; 5] = [head.as_bytes(), b"X-Webhook-HMAC: ", signature, b"\r\n", b""];
        let request = [&rest.concat(), &b"Content-Length: 2\r\n\r\n\xff{"[..]].concat();
        site.raw(&request).await.expect("an answer").status
    };
    assert_eq!(ask(b"a\xffb").await, 200);
    assert_eq!(ask(b"ab").await, 401);
}

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

#[tokio::test]
async fn a_call_whose_gateway_hangs_up_is_carried_to_its_end() {
    let site = Site::new().await;
    let (_, address) = calling(&site).await;
    site.kit.provider.set_received(Ok(vec![message("wamid.1")]));
    let service = RecadoHttp::new(site.kit.app.clone(), HttpOptions::default());
    let request = Request::post(address.as_str()).body(Full::new(Bytes::from_static(b"{}")));
    let mut asking = service.answer(request.expect("a request"));
    // Begun and given up at once.
    assert!((&mut asking).now_or_never().is_none());
    drop(asking);
    service.writes_finished().await;
    assert_eq!(contacts(&site).await, 1);
}
