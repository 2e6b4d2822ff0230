//! A subscriber that fails: R162.
//!
//! This is a separate test program, for the reason that traces.rs gives.

use bytes::Bytes;
use http::Request;
use http_body_util::Full;
use recado_http_hyper::{HttpOptions, RecadoHttp};
use recado_testkit::Kit;

/// Panics at each event, as a subscriber does that cannot print.
struct PanickingLog;

impl tracing::Subscriber for PanickingLog {
    fn enabled(&self, _: &tracing::Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        tracing::span::Id::from_u64(1)
    }

    fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}

    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}

    fn event(&self, _: &tracing::Event<'_>) {
        panic!("failed printing to stderr");
    }

    fn enter(&self, _: &tracing::span::Id) {}

    fn exit(&self, _: &tracing::span::Id) {}
}

/// R162.
#[test]
fn a_line_that_cannot_be_written_does_not_cost_the_answer() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    tracing::subscriber::with_default(PanickingLog, || {
        runtime.expect("a runtime").block_on(async {
            let kit = Kit::new().await;
            let service = RecadoHttp::new(kit.app.clone(), HttpOptions::default());
            for number in 1..=3 {
                let body = format!(r#"{{"phone":"+551198765432{number}"}}"#);
                let request = Request::post("/api/v1/contacts")
                    .header("authorization", format!("Bearer {}", kit.key))
                    .body(Full::new(Bytes::from(body)))
                    .expect("a request");
                let answer = service.answer(request).await.expect("infallible");
                assert_eq!(answer.status(), 201);
            }
        });
    });
}
