//! Which spans there are, and how they hang together: R310, R311, R312, R314.

use opentelemetry_proto::tonic::trace::v1::Span;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use recado_tests::backend::Database;
use recado_tests::{Receiver, Reply, Request, StoreKind, both_stores, mobile};
use serde_json::json;

use crate::collector::{AT_ONCE, attribute, company, of, reaches, serve, spans};

const REQUEST_ID: &str = "order-17";
const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const CALLER: &str = "b7ad6b7169203331";

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A number as an attribute has it, which is no text.
fn int(number: &str) -> Option<String> {
    Some(format!("int {number}"))
}

fn is_of_request(span: &Span) -> bool {
    of(span, "recado.request_id").as_deref() == Some(REQUEST_ID)
}

/// Sends a message with the request id.
async fn send(addr: std::net::SocketAddr, key: &str, to: u32) {
    let body = json!({"to": mobile(to), "message": "Olá"});
    let request = Request::new("POST", "/api/v1/send/message").bearer(key);
    let request = request.header("x-request-id", REQUEST_ID);
    let request = request.header("traceparent", format!("00-{TRACE}-{CALLER}-00"));
    request.json(&body).send(addr).await.expect(200);
}

/// R310, R311, R312, R314.
#[both_stores]
async fn the_spans_of_a_send_lead_from_its_request_to_its_delivery(kind: StoreKind) {
    let database = Database::migrated(kind);
    let (collector, receiver) = (Receiver::start().await, Receiver::start().await);
    let process = serve(&database, &collector.url(""), AT_ONCE, &[]).await;
    let (us, _) = company(&process, &receiver.url("/a"), "message.sent").await;
    send(process.addr, &us.key, 1).await;
    let delivered = receiver.reaches("/a", 1).await.remove(0);
    assert_eq!(delivered.event(), "message.sent");
    assert_eq!(delivered.header("traceparent"), None, "receivers get no trace");

    // The request, two commits, the gateway and the attempt; and the lease, which the first send
    // of a process makes sure of.
    let is_ours = |span: &Span| is_of_request(span) && of(span, "recado.events") != int("0");
    let all = reaches(&collector, "spans with the request id", 5, is_ours).await;
    assert_eq!(all.len(), 5, "{all:#?}");
    let named = |name: &str| -> Vec<&Span> { all.iter().filter(|s| s.name == name).collect() };
    let [request] = named("POST /api/v1/send/message")[..] else { panic!("{all:#?}") };
    assert_eq!(request.kind(), SpanKind::Server);
    assert_eq!(of(request, "http.request.method").as_deref(), Some("POST"));
    assert_eq!(of(request, "http.route").as_deref(), Some("/api/v1/send/message"));
    assert_eq!(of(request, "http.response.status_code"), int("200"));
    assert_eq!(of(request, "recado.company_id"), Some(us.id.clone()));
    assert!(request.parent_span_id.is_empty(), "a caller is no parent");
    let [caller] = &request.links[..] else { panic!("{request:#?}") };
    assert_eq!((hex(&caller.trace_id), hex(&caller.span_id)), (TRACE.into(), CALLER.into()));
    assert_ne!(hex(&request.trace_id), TRACE);

    let is_child =
        |s: &&Span| s.trace_id == request.trace_id && s.parent_span_id == request.span_id;
    let [gateway] = named("gateway send")[..] else { panic!("{all:#?}") };
    assert!(is_child(&gateway), "{gateway:#?}");
    assert_eq!(of(gateway, "recado.gateway").as_deref(), Some("simulated"));
    assert_eq!(of(gateway, "recado.outcome").as_deref(), Some("accepted"));
    let commits = named("commit");
    assert!(commits.len() == 2 && commits.iter().all(is_child), "{commits:#?}");
    for commit in &commits {
        assert_eq!(of(commit, "recado.outcome").as_deref(), Some("committed"));
    }
    let deliveries = commits.iter().filter_map(|commit| of(commit, "recado.delivery_ids"));
    assert_eq!(deliveries.collect::<Vec<_>>(), [delivered.delivery()]);

    let [attempt] = named("delivery attempt")[..] else { panic!("{all:#?}") };
    assert_eq!(attempt.kind(), SpanKind::Client);
    assert!(attempt.parent_span_id.is_empty() && attempt.trace_id != request.trace_id);
    let [cause] = &attempt.links[..] else { panic!("{attempt:#?}") };
    assert_eq!((&cause.trace_id, &cause.span_id), (&request.trace_id, &request.span_id));
    assert_eq!(of(attempt, "recado.delivery_id"), Some(delivered.delivery()));
    assert_eq!(of(attempt, "recado.event").as_deref(), Some("message.sent"));
    assert_eq!(of(attempt, "http.response.status_code"), int("200"));
    assert!(of(attempt, "recado.event_id").is_some() && of(attempt, "recado.webhook_id").is_some());

    for (span, process) in spans(&collector) {
        assert_eq!(attribute(&process, "service.name").as_deref(), Some("recado"));
        assert!(span.attributes.len() <= 16 && span.events.is_empty(), "{span:#?}");
        assert!(span.end_time_unix_nano >= span.start_time_unix_nano, "{span:#?}");
    }
}

/// R310.
#[both_stores]
async fn a_job_has_a_span_and_a_search_for_one_has_none(kind: StoreKind) {
    let database = Database::migrated(kind);
    let (collector, receiver) = (Receiver::start().await, Receiver::start().await);
    receiver.answers("/api/v1/messages", Reply::status(500));
    let process = serve(&database, &collector.url(""), AT_ONCE, &[]).await;
    let (us, _) = company(&process, &receiver.url("/a"), "message.sent").await;
    // A message with a file leaves a job that fetches it.
    let list = format!("/operator/v1/companies/{}/connections", us.id);
    let list = Request::new("GET", list).bearer(recado_tests::OPERATOR).send(process.addr).await;
    let id = list.ids().remove(0);
    let event = json!({"events": [{"kind": "message", "from": mobile(2).trim_start_matches('+'),
        "provider_message_id": "in-1", "timestamp": "2026-01-01T00:00:00Z", "type": "image",
        "media": {"url": receiver.url("/file"), "mimetype": "image/png", "filename": "f.png"}}]});
    let path = format!("/operator/v1/companies/{}/connections/{id}/events", us.id);
    let call = Request::new("POST", path).bearer(recado_tests::OPERATOR).json(&event);
    call.send(process.addr).await.expect(200);
    let is_job = |span: &Span| span.name == "job";
    let is_fetch = |span: &Span| of(span, "recado.job").as_deref() == Some("fetch_media");
    let job = reaches(&collector, "the span of the job", 1, is_fetch).await.remove(0);
    assert!(is_job(&job) && job.parent_span_id.is_empty(), "{job:#?}");
    let is_below = |span: &Span| span.parent_span_id == job.span_id;
    let below = reaches(&collector, "what the job did", 2, is_below).await;
    assert!(below.iter().any(|span| span.name == "commit"), "{below:#?}");
    assert!(below.iter().any(|span| span.name.starts_with("gateway")), "{below:#?}");
    let jobs = spans(&collector).into_iter().map(|(span, _)| span).filter(is_job);
    for job in jobs {
        assert!(of(&job, "recado.job").is_some(), "a search for a job: {job:#?}");
    }
}

/// R311.
#[both_stores]
async fn an_attempt_after_a_restart_is_found_by_the_delivery(kind: StoreKind) {
    let database = Database::migrated(kind);
    let (collector, receiver) = (Receiver::start().await, Receiver::start().await);
    receiver.then("/a", Reply::status(500));
    let is_attempt = |span: &Span| span.name == "delivery attempt";
    let waits = ["--webhook-retry-waits", "20s,20s,20s,20s"];
    let process = serve(&database, &collector.url(""), AT_ONCE, &waits).await;
    let (us, _) = company(&process, &receiver.url("/a"), "message.sent").await;
    send(process.addr, &us.key, 1).await;
    let first = reaches(&collector, "the first attempt", 1, is_attempt).await.remove(0);
    assert_eq!(of(&first, "http.response.status_code"), int("500"));
    assert!(is_of_request(&first));
    process.signal("TERM").await;
    assert_eq!(process.ended().await.0.code(), Some(0));
    let process = serve(&database, &collector.url(""), AT_ONCE, &waits).await;
    let second = reaches(&collector, "the second attempt", 2, is_attempt).await.remove(1);
    assert_eq!(of(&second, "http.response.status_code"), int("200"));
    let delivery = of(&first, "recado.delivery_id").expect("the delivery");
    assert_eq!(of(&second, "recado.delivery_id").as_ref(), Some(&delivery));
    assert_eq!((of(&second, "recado.request_id"), second.links.len()), (None, 0));
    let names_it = |span: &Span| of(span, "recado.delivery_ids").as_ref() == Some(&delivery);
    let commit = reaches(&collector, "the commit", 1, names_it).await.remove(0);
    assert!(is_of_request(&commit), "{commit:#?}");
    drop(process);
}
