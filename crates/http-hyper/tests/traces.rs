//! What requests leave behind in logs and metrics: templates and ids, never what was sent (D70).
//!
//! A program of its own, in which the requests are made once: `tracing` remembers for the whole
//! process whether a place that logs has a listener, so that threads without one, such as those
//! of other tests, could silence it for all.

use std::io::Write;
use std::sync::{Arc, LazyLock, Mutex};

use bytes::Bytes;
use http::Request;
use http_body_util::Full;
use metrics::{Counter, Gauge, Histogram, Key, KeyName, Metadata, Recorder, SharedString, Unit};
use recado_core::secret::SecretText;
use recado_http_hyper::{HttpOptions, RecadoHttp};
use recado_testkit::Kit;
use tracing_subscriber::fmt::MakeWriter;

#[derive(Clone, Default)]
struct Kept(Arc<Mutex<Vec<u8>>>);

impl Kept {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().expect("no panic").clone()).expect("UTF-8")
    }
}

impl Write for Kept {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("no panic").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for Kept {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        self.clone()
    }
}

/// Keeps the name and the labels of everything that is counted.
impl Recorder for Kept {
    fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        writeln!(self.clone(), "{key}").expect("kept");
        Counter::noop()
    }

    fn register_gauge(&self, key: &Key, _: &Metadata<'_>) -> Gauge {
        writeln!(self.clone(), "{key}").expect("kept");
        Gauge::noop()
    }

    fn register_histogram(&self, key: &Key, _: &Metadata<'_>) -> Histogram {
        writeln!(self.clone(), "{key}").expect("kept");
        Histogram::noop()
    }
}

struct Traces {
    logs: String,
    metrics: String,
    key: String,
}

const TOKEN: &str = "operator-token-of-the-tests";

const ID: &str = "01939b5e-0000-7000-8000-00000000dead";

static TRACES: LazyLock<Traces> = LazyLock::new(traces);

/// Makes one request of each sort and keeps what it leaves behind.
fn traces() -> Traces {
    let (logs, metrics) = (Kept::default(), Kept::default());
    let subscriber = tracing_subscriber::fmt()
        .json()
        .with_max_level(tracing::Level::TRACE)
        .with_writer(logs.clone())
        .finish();
    // One thread does everything, so that what is set for this thread sees all of it.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let key = tracing::subscriber::with_default(subscriber, || {
        metrics::with_local_recorder(&metrics, || runtime.expect("a runtime").block_on(requests()))
    });
    Traces { logs: logs.text(), metrics: metrics.text(), key }
}

async fn requests() -> String {
    let kit = Kit::new().await;
    let operator_token = Some(SecretText::new(TOKEN));
    let options = HttpOptions { operator_token, ..HttpOptions::default() };
    let service = RecadoHttp::new(kit.app.clone(), options);
    let company = kit.company.id;
    for (method, path, bearer, body) in [
        ("POST", "/api/v1/contacts".to_owned(), kit.key.as_str(), r#"{"phone":"+5511987654321"}"#),
        ("POST", "/api/v1/contacts".to_owned(), kit.key.as_str(), r#"{"email":"ana@example"}"#),
        ("GET", "/api/v1/contacts?search=Francisca".to_owned(), kit.key.as_str(), ""),
        ("GET", format!("/api/v1/contacts/{ID}"), kit.key.as_str(), ""),
        ("GET", format!("/operator/v1/companies/{company}/tags"), TOKEN, ""),
        ("GET", "/l/AAAAAAAAAAAAAAAAAAAAAA".to_owned(), "", ""),
        ("GET", "/secret-path".to_owned(), "", ""),
        ("BREW", "/healthz".to_owned(), "", ""),
    ] {
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("authorization", format!("Bearer {bearer}"))
            .header("x-request-id", "trace-17")
            .body(Full::new(Bytes::from(body)))
            .expect("a request");
        service.answer(request).await.expect("infallible");
    }
    kit.key
}

#[test]
fn every_request_is_one_line_with_its_id_template_and_status() {
    let logs = &TRACES.logs;
    let lines: Vec<&str> = logs.lines().filter(|line| line.contains("\"request\"")).collect();
    assert_eq!(lines.len(), 8, "{logs}");
    assert!(lines.iter().all(|line| line.contains(r#""request_id":"trace-17""#)), "{logs}");
    assert!(lines[0].contains(r#""route":"/api/v1/contacts""#), "{}", lines[0]);
    assert!(lines[0].contains(r#""status":201"#), "{}", lines[0]);
    assert!(lines[0].contains(r#""company":"#) && lines[0].contains(r#""key":"#), "{}", lines[0]);
    assert!(lines[3].contains(r#""route":"/api/v1/contacts/{id}""#), "{}", lines[3]);
    assert!(lines[6].contains(r#""route":"unmatched""#), "{}", lines[6]);
}

#[test]
fn metrics_are_labelled_by_template_method_and_status() {
    let metrics = &TRACES.metrics;
    for label in ["/api/v1/contacts/{id}", "/l/{code}", "unmatched", "404", "OTHER"] {
        assert!(metrics.contains(label), "{label} is missing: {metrics}");
    }
    assert!(!metrics.contains("BREW"), "{metrics}");
}

#[test]
fn nothing_that_was_sent_is_left_behind() {
    let Traces { logs, metrics, key } = &*TRACES;
    for secret in [key.as_str(), TOKEN, "98765", "ana@", "Francisca", ID, "AAAAAAAA", "secret-path"]
    {
        assert!(!logs.contains(secret), "{secret} is in the logs: {logs}");
        assert!(!metrics.contains(secret), "{secret} is in the metrics: {metrics}");
    }
}
