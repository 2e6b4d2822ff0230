//! Webhooks of gateways: the order of refusals, and the answers.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::FutureExt;
use http::Request;
use http_body_util::Full;
use recado_core::gateway::{
    GatewayEvent, GatewayMessage, ProviderWebhook, Received, UnknownReport, WebhookRefused,
};
use recado_core::inbox::WEBHOOK_LIMIT;
use recado_core::messages::{Blocks, MessageType, ProviderMessageId};
use recado_http_hyper::{HttpOptions, Limits, RecadoHttp};
use recado_testkit::{FaultyStore, Kit, MemoryStore, StoreFailure};
use serde_json::json;
use tokio::io::AsyncWriteExt;

use crate::hooks::refusal;
use crate::site::{Reply, Setup, Site, read_reply};

pub(crate) const MIB: usize = 1024 * 1024;

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
