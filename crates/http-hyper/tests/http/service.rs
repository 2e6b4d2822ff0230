//! The service itself: probes, panics, and mounting it elsewhere.

use std::sync::Arc;

use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt, Full};
use recado_http_hyper::{HttpOptions, RecadoHttp, RenderMetrics};
use recado_runtime::TokioSpawner;
use recado_testkit::{FaultyStore, Kit, MemoryStore, StoreFailure};
use serde_json::Value;

use crate::site::{Setup, Site, TOKEN};

#[tokio::test]
async fn probes_metrics_and_the_document_need_no_key() {
    let site = Site::new().await;
    assert_eq!(site.send("GET", "/healthz", "", b"").await.data()["status"], "alive");
    let metrics = site.send("GET", "/metrics", "", b"").await;
    assert_eq!(metrics.body, b"recado_up 1\n");
    assert!(metrics.header("content-type").is_some_and(|kind| kind.starts_with("text/plain")));
    let document = site.send("GET", "/api/openapi.json", "", b"").await;
    let written: Value = serde_json::from_str(&recado_http_hyper::openapi(&[])).expect("JSON");
    assert_eq!(document.json()["openapi"], "3.1.0");
    assert_eq!(document.json()["paths"], written["paths"]);
    assert_eq!(site.send("POST", "/healthz", "", b"").await.header("allow"), Some("GET, HEAD"));
    assert_eq!(site.send("GET", "/", "", b"").await.refusal(), (404, "NOT_FOUND".to_owned()));
    assert_eq!(site.send("GET", "/healthz/", "", b"").await.status, 404);
}

#[tokio::test]
async fn a_panic_is_a_500_that_reports_nothing_and_harms_nobody() {
    let broken: RenderMetrics = Arc::new(|| panic!("the secret reason"));
    let site = Setup { metrics: Some(broken), ..Setup::new().await }.start().await;
    let reply = site.send("GET", "/metrics", "", b"").await;
    assert_eq!(reply.refusal(), (500, "INTERNAL_ERROR".to_owned()));
    assert!(!reply.json().to_string().contains("secret"));
    assert_eq!(site.send("GET", "/healthz", "", b"").await.status, 200);
}

#[tokio::test]
async fn the_service_answers_requests_with_any_body() {
    let kit = Kit::new().await;
    let service = RecadoHttp::new(kit.app.clone(), HttpOptions::default());
    let request = Request::post("/api/v1/contacts")
        .header("authorization", format!("Bearer {}", kit.key))
        .body(Full::new(Bytes::from_static(br#"{"phone":"+5511987654321"}"#)))
        .expect("a request");
    let response = hyper::service::Service::call(&service, request).await.expect("infallible");
    assert_eq!(response.status(), 201);
    let body = response.into_body().collect().await.expect("infallible").to_bytes();
    assert!(body.starts_with(br#"{"success":true,"data":{"contact":{"id":"#));
}

#[cfg(feature = "tower")]
#[tokio::test]
async fn the_service_is_a_tower_service() {
    let kit = Kit::new().await;
    let mut service = RecadoHttp::new(kit.app.clone(), HttpOptions::default());
    let request = Request::get("/healthz").body(http_body_util::Empty::new()).expect("a request");
    let response = tower_service::Service::call(&mut service, request).await.expect("infallible");
    assert_eq!(response.status(), 200);
}

#[tokio::test]
async fn a_write_whose_caller_hangs_up_is_carried_to_its_end() {
    let kit = Kit::builder().spawner(TokioSpawner).build().await;
    let service = RecadoHttp::new(kit.app.clone(), HttpOptions::default());
    let request = Request::post("/api/v1/contacts")
        .header("authorization", format!("Bearer {}", kit.key))
        .body(Full::new(Bytes::from_static(br#"{"phone":"+5511987654321"}"#)))
        .expect("a request");
    let mut answer = service.answer(request);
    // Begun, and given up at once.
    assert!(futures_util::FutureExt::now_or_never(&mut answer).is_none());
    drop(answer);
    service.writes_finished().await;
    let filter = recado_core::contacts::ContactFilter::default();
    let first = recado_core::page::PageRequest::FIRST;
    let page = kit.app.contacts().page(&kit.caller, &filter, first, false).await;
    assert_eq!(page.expect("a page").total, 1);
}

#[tokio::test]
async fn an_unreachable_store_is_503_everywhere_and_not_ready() {
    let store = FaultyStore::new(Arc::new(MemoryStore::new()));
    let kit = Kit::on(Arc::new(store.clone())).await;
    let site = Setup { kit, ..Setup::new().await }.start().await;
    store.fail_all(StoreFailure::Unavailable);
    for (path, headers) in [
        ("/readyz", String::new()),
        ("/api/v1/contacts", site.bearer()),
        ("/operator/v1/companies", format!("Authorization: Bearer {TOKEN}\r\n")),
        ("/l/AAAAAAAAAAAAAAAAAAAAAA", String::new()),
    ] {
        let reply = site.send("GET", path, &headers, b"").await;
        assert_eq!(reply.refusal(), (503, "UNAVAILABLE".to_owned()), "{path}");
        assert_eq!(reply.header("retry-after"), Some("5"), "{path}");
    }
    assert_eq!(site.send("GET", "/healthz", "", b"").await.status, 200);
    store.heal();
    assert_eq!(site.send("GET", "/readyz", "", b"").await.status, 200);
    assert_eq!(site.api("GET", "/contacts", "").await.status, 200);
}
