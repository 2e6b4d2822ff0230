//! The common behaviour of hooks: the form of their refusals, authentication before the body,
//! bodies that are too large, slow or broken, and which calls count as one client.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt, Full};
use recado_core::Timestamp;
use recado_core::access::{Limiter, RateCheck, RateDecision};
use recado_core::store::StoreError;
use recado_http_hyper::{HttpOptions, Limits, PeerAddress, RecadoHttp};
use recado_testkit::{FaultyStore, Kit, MemoryStore, StoreFailure};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::site::{Reply, Setup, Site, read_reply};

pub(crate) const SECRET: &str = "the-secret-of-the-endpoint";
const UNKNOWN_TOKEN: &str = "00000000-0000-4000-8000-00000000dead";
const INBOUND: &str = "/api/webhooks/incoming/leads";

/// A site whose callers choose their client by a header, with an endpoint `leads` and a template
/// `boas_vindas` with two variables.
pub(crate) struct Hooks {
    pub(crate) site: Site,
    pub(crate) endpoint: String,
    pub(crate) template: String,
    pub(crate) dispatch: String,
    pub(crate) connection: String,
}

fn text(record: &Value, name: &str) -> String {
    record[name].as_str().expect(name).to_owned()
}

impl Hooks {
    pub(crate) async fn new() -> Self {
        Self::of(Setup::new().await).await
    }

    pub(crate) async fn of(setup: Setup) -> Self {
        let site = Setup { trusted: &["127.0.0.0/8"], ..setup }.start().await;
        let features = r#"{"features":{"inbound_contacts":true,"template_dispatch":true}}"#;
        site.company("PATCH", "", features).await.data();
        let connection = r#"{"kind":"qr","name":"A","identifier":"1","gateway":"simulated"}"#;
        let connection = site.company("POST", "/connections", connection).await.data();
        let template = json!({"name": "boas_vindas", "category": "UTILITY", "status": "APPROVED",
            "body": "Olá {{1}}, pedido {{2}}."});
        let template = site.company("POST", "/templates", &template.to_string()).await.data();
        let endpoint = json!({"slug": "leads", "secret": SECRET, "variable_mapping":
            {"phone": "$.telefone", "name": "$.nome", "origem": "$.origem"}});
        let endpoint = site.company("POST", "/inbound-endpoints", &endpoint.to_string()).await;
        Self {
            endpoint: format!("/inbound-endpoints/{}", text(&endpoint.data(), "id")),
            dispatch: format!("/api/webhooks/template-dispatch/{}", text(&template, "token")),
            template: text(&template, "id"),
            connection: text(&connection, "id"),
            site,
        }
    }

    /// A POST from a client, with the endpoint's secret.
    pub(crate) async fn post(&self, client: u8, path: &str, body: &str) -> Reply {
        let headers = format!("{}{}", from(client), secret());
        self.site.send("POST", path, &headers, body.as_bytes()).await
    }
}

pub(crate) fn from(client: u8) -> String {
    format!("X-Forwarded-For: 198.51.100.{client}\r\n")
}

pub(crate) fn secret() -> String {
    format!("X-Service-Secret: {SECRET}\r\n")
}

pub(crate) fn refusal(status: u16, code: &str) -> (u16, String) {
    (status, code.to_owned())
}

/// R100.
#[tokio::test]
async fn every_path_under_webhooks_refuses_in_the_form_of_hooks() {
    let hooks = Hooks::new().await;
    for path in [
        "/api/webhooks",
        "/api/webhooks/",
        "/api/webhooks/nothing",
        "/api/webhooks/incoming",
        "/api/webhooks/incoming/",
        "/api/webhooks/incoming/leads/",
        "/api/webhooks/incoming/leads/x",
        "/api/webhooks/template-dispatch/",
    ] {
        for method in ["GET", "POST", "BREW"] {
            let reply = hooks.site.send(method, path, "", b"").await;
            assert_eq!(reply.hook_refusal(), refusal(404, "NOT_FOUND"), "{method} {path}");
        }
    }
    for path in [INBOUND, &hooks.dispatch] {
        for method in ["GET", "PUT", "DELETE", "OPTIONS"] {
            let reply = hooks.site.send(method, path, "", b"").await;
            assert_eq!(reply.hook_refusal(), refusal(405, "METHOD_NOT_ALLOWED"), "{method}");
            assert_eq!(reply.header("allow"), Some("POST"));
        }
        assert_eq!(hooks.site.send("HEAD", path, "", b"").await.status, 405);
    }
    let reply = hooks.site.send("POST", "/api/webhooksx", "", b"").await;
    assert_eq!(reply.refusal(), refusal(404, "NOT_FOUND"), "another surface");
}

#[tokio::test]
async fn who_may_call_is_decided_before_any_of_the_body_is_read() {
    let hooks = Hooks::new().await;
    // None of these bodies is ever sent.
    let ask = async |path: &str, headers: &str| {
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: t\r\n{headers}Content-Length: 9999999\r\n\
             Content-Encoding: gzip\r\n\r\n"
        );
        hooks.site.raw(head.as_bytes()).await.expect("an answer").hook_refusal()
    };
    let with_secret = secret();
    assert_eq!(ask("/api/webhooks/incoming/x", "").await, refusal(404, "ENDPOINT_NOT_FOUND"));
    assert_eq!(ask(INBOUND, "").await, refusal(401, "INVALID_SECRET"));
    assert_eq!(ask(INBOUND, &with_secret).await, refusal(413, "INVALID_PAYLOAD"));
    let unknown = format!("/api/webhooks/template-dispatch/{UNKNOWN_TOKEN}");
    assert_eq!(ask(&unknown, "").await, refusal(404, "TEMPLATE_NOT_FOUND"));
    assert_eq!(ask(&hooks.dispatch, "").await, refusal(413, "INVALID_PAYLOAD"));

    hooks.site.company("PATCH", &hooks.endpoint, r#"{"is_active":false}"#).await.data();
    assert_eq!(ask(INBOUND, "").await, refusal(410, "ENDPOINT_INACTIVE"));
    let features = r#"{"features":{"inbound_contacts":false,"template_dispatch":false}}"#;
    hooks.site.company("PATCH", "", features).await.data();
    assert_eq!(ask(INBOUND, "").await, refusal(403, "FEATURE_DISABLED"));
    assert_eq!(ask(&hooks.dispatch, "").await, refusal(403, "FEATURE_DISABLED"));
}

#[tokio::test]
async fn the_encoding_comes_after_the_size_and_before_what_is_said() {
    let hooks = Hooks::new().await;
    for encoding in ["gzip", "identity, br"] {
        let headers = format!("{}Content-Encoding: {encoding}\r\n", secret());
        for path in [INBOUND, &hooks.dispatch] {
            let reply = hooks.site.send("POST", path, &headers, b"not json").await;
            assert_eq!(reply.hook_refusal(), refusal(415, "UNSUPPORTED_MEDIA_TYPE"), "{path}");
        }
    }
}

/// A body of exactly so many bytes that both hooks take.
fn padded(length: usize) -> Vec<u8> {
    let mut body = br#"{"telefone":"11987654321","phone_number":"11987654321","#.to_vec();
    body.extend_from_slice(br#""variables":{"1":"Ana","2":"7"}}"#);
    body.resize(length, b' ');
    body
}

fn chunked(path: &str, body: &[u8]) -> Vec<u8> {
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: t\r\n{}Transfer-Encoding: chunked\r\n\r\n",
        secret()
    );
    let mut request = head.into_bytes();
    for piece in body.chunks(1000) {
        request.extend_from_slice(format!("{:x}\r\n", piece.len()).as_bytes());
        request.extend_from_slice(piece);
        request.extend_from_slice(b"\r\n");
    }
    request.extend_from_slice(b"0\r\n\r\n");
    request
}

#[tokio::test]
async fn exactly_the_limit_is_read_and_one_byte_more_is_413_declared_or_chunked() {
    let hooks = Hooks::new().await;
    for (path, limit) in [(INBOUND, 102_400), (hooks.dispatch.as_str(), 51_200)] {
        for is_chunked in [false, true] {
            let ask = async |body: Vec<u8>| match is_chunked {
                false => hooks.site.send("POST", path, &secret(), &body).await,
                true => hooks.site.raw(&chunked(path, &body)).await.expect("an answer"),
            };
            let reply = ask(padded(limit)).await;
            assert_eq!(reply.status, 200, "{path}: {}", reply.json());
            let reply = ask(padded(limit + 1)).await;
            assert_eq!(reply.hook_refusal(), refusal(413, "INVALID_PAYLOAD"), "{path}");
            // Beyond the window of a dispatch.
            hooks.site.kit.clock.advance(Duration::from_secs(700));
        }
    }
}

#[tokio::test]
async fn a_body_without_end_is_not_read_further_and_its_connection_closed() {
    let hooks = Hooks::new().await;
    let mut stream = hooks.site.connect().await;
    let head = format!(
        "POST {INBOUND} HTTP/1.1\r\nHost: t\r\n{}Transfer-Encoding: chunked\r\n\r\n",
        secret()
    );
    stream.write_all(head.as_bytes()).await.expect("written");
    let chunk = [b"8000\r\n".as_slice(), &[b' '; 0x8000], b"\r\n"].concat();
    for _ in 0..4 {
        if stream.write_all(&chunk).await.is_err() {
            break;
        }
    }
    // The answer comes although the body has not ended.
    let reply = read_reply(&mut stream, false).await.expect("an answer");
    assert_eq!(reply.hook_refusal(), refusal(413, "INVALID_PAYLOAD"));
    assert_eq!(stream.read(&mut [0; 1]).await.ok(), Some(0), "closed");
}

/// R100.
#[tokio::test]
async fn a_slow_or_broken_body_is_refused_in_the_form_of_hooks() {
    let limits = Limits { body_timeout: Duration::from_millis(100), ..Limits::default() };
    let hooks = Hooks::of(Setup { limits, ..Setup::new().await }).await;
    for path in [INBOUND, &hooks.dispatch] {
        let head =
            format!("POST {path} HTTP/1.1\r\nHost: t\r\n{}Content-Length: 100\r\n\r\n{{", secret());
        let reply = hooks.site.raw(head.as_bytes()).await.expect("an answer");
        assert_eq!(reply.hook_refusal(), refusal(400, "INVALID_PAYLOAD"), "{path}");
        let broken = format!(
            "POST {path} HTTP/1.1\r\nHost: t\r\n{}Transfer-Encoding: chunked\r\n\r\nxyz\r\n",
            secret()
        );
        let reply = hooks.site.raw(broken.as_bytes()).await.expect("an answer");
        assert_eq!(reply.hook_refusal(), refusal(400, "INVALID_PAYLOAD"), "{path}");
    }
    assert!(hooks.site.kit.provider.sent().is_empty());
}

#[tokio::test]
async fn the_eleventh_call_of_a_client_is_429_before_anything_else() {
    let hooks = Hooks::new().await;
    let unknown = format!("/api/webhooks/template-dispatch/{UNKNOWN_TOKEN}");
    for (path, code) in
        [("/api/webhooks/incoming/x", "ENDPOINT_NOT_FOUND"), (&unknown, "TEMPLATE_NOT_FOUND")]
    {
        for _ in 0..10 {
            assert_eq!(hooks.post(1, path, "").await.hook_refusal(), refusal(404, code));
        }
        let reply = hooks.post(1, path, "").await;
        assert_eq!(reply.hook_refusal(), refusal(429, "RATE_LIMITED"));
        assert_eq!(reply.header("retry-after"), Some("6"));
        assert_eq!(hooks.post(2, path, "").await.status, 404, "another client");
    }
    // One counter for all endpoints, another for dispatches; both are exhausted by now.
    assert_eq!(hooks.post(1, INBOUND, "{}").await.status, 429);
    assert_eq!(hooks.post(1, &hooks.dispatch, "{}").await.status, 429);
    hooks.site.kit.clock.advance(Duration::from_millis(5_999));
    let reply = hooks.post(1, INBOUND, "{}").await;
    assert_eq!((reply.status, reply.header("retry-after")), (429, Some("1")), "rounded up");
    hooks.site.kit.clock.advance(Duration::from_millis(1));
    assert_eq!(hooks.post(1, INBOUND, "{}").await.status, 400);
}

#[tokio::test]
async fn what_is_forwarded_counts_only_from_trusted_proxies_and_all_lines_of_it_do() {
    let hooks = Hooks::new().await;
    let ask = async |headers: &str| {
        let reply = hooks.site.send("POST", "/api/webhooks/incoming/x", headers, b"").await;
        reply.status
    };
    // The rightmost entry that is not a proxy is the client, whatever stands before it.
    for n in 0..10 {
        let lines = format!(
            "X-Forwarded-For: 203.0.113.{n}\r\nX-Forwarded-For: [2001:db8::{n}]:443, 127.0.0.2\r\n"
        );
        assert_eq!(ask(&lines).await, 404);
    }
    assert_eq!(ask("X-Forwarded-For: 2001:db8::ffff\r\n").await, 429, "the same /64");
    assert_eq!(ask("X-Forwarded-For: 2001:db8:0:1::1\r\n").await, 404, "another /64");

    let site = Site::new().await;
    for client in 0..11 {
        let reply = site.send("POST", "/api/webhooks/incoming/x", &from(client), b"").await;
        assert_eq!(reply.status, if client < 10 { 404 } else { 429 }, "nobody is trusted");
    }
}

#[tokio::test]
async fn an_embedder_says_who_calls_and_without_that_all_are_one() {
    let kit = Kit::new().await;
    let service = RecadoHttp::new(kit.app.clone(), HttpOptions::default());
    let ask = async |peer: Option<u8>| {
        let mut request =
            Request::post("/api/webhooks/incoming/x").body(Full::<Bytes>::default()).expect("one");
        if let Some(last) = peer {
            request.extensions_mut().insert(PeerAddress(([192, 0, 2, last], 4711).into()));
        }
        service.answer(request).await.expect("infallible").status().as_u16()
    };
    for _ in 0..10 {
        assert_eq!(ask(None).await, 404);
    }
    assert_eq!(ask(None).await, 429);
    assert_eq!(ask(Some(1)).await, 404);
}

#[tokio::test]
async fn an_odd_part_of_a_path_is_unknown() {
    let hooks = Hooks::new().await;
    for slug in ["%256ceads", "LEADS", "leads%2F", "%ff", "l", "leads%00", "..%2fleads"] {
        let reply = hooks.post(1, &format!("/api/webhooks/incoming/{slug}"), "{}").await;
        assert_eq!(reply.hook_refusal(), refusal(404, "ENDPOINT_NOT_FOUND"), "{slug}");
    }
    for token in ["x", "%ff", UNKNOWN_TOKEN, "{00000000-0000-4000-8000-00000000dead}"] {
        let reply = hooks.post(1, &format!("/api/webhooks/template-dispatch/{token}"), "{}").await;
        assert_eq!(reply.hook_refusal(), refusal(404, "TEMPLATE_NOT_FOUND"), "{token}");
    }
}

#[tokio::test]
async fn an_unreachable_store_is_503_and_an_unreadable_contact_reports_that() {
    let store = FaultyStore::new(Arc::new(MemoryStore::new()));
    let kit = Kit::on(Arc::new(store.clone())).await;
    let hooks = Hooks::of(Setup { kit, ..Setup::new().await }).await;
    let body = String::from_utf8(padded(100)).expect("ASCII");
    for path in [INBOUND, &hooks.dispatch] {
        store.fail_all(StoreFailure::Unavailable);
        let reply = hooks.post(1, path, &body).await;
        assert_eq!(reply.hook_refusal(), refusal(503, "UNAVAILABLE"), "{path}");
        assert_eq!(reply.header("retry-after"), Some("5"));
        store.heal();
        store.fail_contact_reads();
        let reply = hooks.post(1, path, &body).await;
        assert_eq!(reply.hook_refusal(), refusal(503, "CONTACT_STATE_UNAVAILABLE"), "{path}");
        assert_eq!(reply.header("retry-after"), Some("5"));
        store.heal();
        assert_eq!(hooks.post(1, path, &body).await.status, 200, "{path}");
    }
}

struct Broken;

#[async_trait::async_trait]
impl Limiter for Broken {
    async fn check(&self, _: &[RateCheck], _: Timestamp) -> Result<RateDecision, StoreError> {
        panic!("the secret reason")
    }
}

#[tokio::test]
async fn a_panic_is_500_in_the_form_of_hooks() {
    let kit = Kit::builder().limiter(Arc::new(Broken)).build().await;
    let site = Setup { kit, ..Setup::new().await }.start().await;
    let reply = site.send("POST", INBOUND, "", b"{}").await;
    assert_eq!(reply.hook_refusal(), refusal(500, "INTERNAL_ERROR"));
    assert!(!reply.json().to_string().contains("secret"));
}

#[tokio::test]
async fn a_dispatch_whose_caller_hangs_up_is_carried_to_its_end() {
    let hooks = Hooks::new().await;
    let kit = &hooks.site.kit;
    let service = RecadoHttp::new(kit.app.clone(), HttpOptions::default());
    let gate = kit.provider.hold();
    let ask = || {
        let request = Request::post(hooks.dispatch.as_str());
        service.answer(request.body(Full::new(Bytes::from(padded(100)))).expect("a request"))
    };
    let asking = tokio::spawn(ask());
    gate.reached(1).await;
    asking.abort();
    gate.open();
    service.writes_finished().await;
    let again = ask().await.expect("infallible");
    let body = again.into_body().collect().await.expect("infallible").to_bytes();
    let body: Value = serde_json::from_slice(&body).expect("JSON");
    assert_eq!(body["code"], "DUPLICATE_SEND");
    assert!(body["existing"]["message_id"].is_string(), "the first one was accepted: {body}");
    assert_eq!(kit.provider.sent().len(), 1);
}
