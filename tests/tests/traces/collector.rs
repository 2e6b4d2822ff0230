//! A collector: a receiver that reads the bodies of OTLP over HTTP.

use std::time::Duration;

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue};
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message;
use recado_tests::backend::Database;
use recado_tests::binary::{Process, recado};
use recado_tests::world::{Tenant, operator_at, tenant_at};
use recado_tests::{OPERATOR, Receiver, eventually, text};
use serde_json::json;

/// Where the exporter posts.
pub(crate) const PATH: &str = "/v1/traces";
/// Settings of the exporter by which tests need not wait.
pub(crate) const AT_ONCE: &[&str] = &["OTEL_BSP_SCHEDULE_DELAY=50"];

/// Starts the binary on a database, with traces to this collector and variables such as `A=b`.
pub(crate) async fn serve(
    database: &Database,
    collector: &str,
    variables: &[&str],
    args: &[&str],
) -> Process {
    let binary = recado().to_str().expect("a path of text");
    let around: Vec<&str> = ["env"].iter().chain(variables).copied().chain([binary]).collect();
    let url = database.url();
    let mut all = vec!["serve", "--listen", "127.0.0.1:0", "--database", &url];
    all.extend(["--operator-token", OPERATOR, "--allow-private-destinations"]);
    all.extend(["--otlp-endpoint", collector]);
    all.extend(args);
    Process::serve_within(&around, &all).await
}

/// A company with a connection on the simulated gateway, and a webhook to this URL for these
/// events; the secret of the webhook comes with it.
pub(crate) async fn company(process: &Process, webhook: &str, events: &str) -> (Tenant, String) {
    let us = tenant_at(process.addr, "Acme", "enterprise").await;
    let connection = json!({"kind": "qr", "name": "c", "identifier": "+551140000000",
        "gateway": "simulated", "settings": {"reports": false, "delay_ms": 0}});
    operator_at(process.addr, &us.id, "POST", "C/connections", connection).await.expect(201);
    let hook = json!({"url": webhook, "events": [events]});
    let made = operator_at(process.addr, &us.id, "POST", "C/webhooks", hook).await.expect(201);
    (us, text(&made["secret"]))
}

/// Everything that the collector got, as it came.
pub(crate) fn bytes(collector: &Receiver) -> Vec<u8> {
    collector.to(PATH).into_iter().flat_map(|request| request.body).collect()
}

/// The spans that the collector got, each with the attributes of its process.
pub(crate) fn spans(collector: &Receiver) -> Vec<(Span, Vec<KeyValue>)> {
    let mut all = Vec::new();
    for request in collector.to(PATH) {
        assert_eq!(request.method, "POST");
        assert_eq!(request.header("content-type"), Some("application/x-protobuf"));
        let sent = ExportTraceServiceRequest::decode(request.body.as_slice()).expect("OTLP");
        for of_process in sent.resource_spans {
            let about = of_process.resource.map(|resource| resource.attributes).unwrap_or_default();
            let spans = of_process.scope_spans.into_iter().flat_map(|scope| scope.spans);
            all.extend(spans.map(|span| (span, about.clone())));
        }
    }
    all
}

/// Waits for the spans that pass, and returns them once there are so many.
pub(crate) async fn reaches(
    collector: &Receiver,
    what: &str,
    count: usize,
    passes: impl Fn(&Span) -> bool,
) -> Vec<Span> {
    eventually(what, || async {
        let all = spans(collector).into_iter().map(|(span, _)| span);
        let found: Vec<Span> = all.filter(&passes).collect();
        (found.len() >= count).then_some(found)
    })
    .await
}

/// An attribute as text: numbers behind `int`, lists with commas.
pub(crate) fn attribute(attributes: &[KeyValue], name: &str) -> Option<String> {
    let found = attributes.iter().find(|attribute| attribute.key == name)?;
    Some(found.value.as_ref().map(written).unwrap_or_default())
}

fn written(value: &AnyValue) -> String {
    match &value.value {
        Some(Value::StringValue(text)) => text.clone(),
        Some(Value::IntValue(number)) => format!("int {number}"),
        Some(Value::BoolValue(is)) => is.to_string(),
        Some(Value::ArrayValue(list)) => {
            list.values.iter().map(written).collect::<Vec<_>>().join(",")
        }
        other => panic!("a value of another kind: {other:?}"),
    }
}

/// Of a span.
pub(crate) fn of(span: &Span, name: &str) -> Option<String> {
    attribute(&span.attributes, name)
}

/// The time in which the exporter gives up on a collector that does not answer.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(10);
