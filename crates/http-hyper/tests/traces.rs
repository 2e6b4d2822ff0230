//! Logs and metrics of requests contain route templates and ids, never what was sent (D70).
//!
//! This is a separate test program, which makes the requests once. `tracing` caches for the whole
//! process whether a call site has a subscriber, so threads without one, such as those of other
//! tests, could turn it off for all.

use std::io::Write;
use std::sync::{Arc, LazyLock, Mutex};

use bytes::Bytes;
use http::Request;
use http_body_util::Full;
use metrics::{Counter, Gauge, Histogram, Key, KeyName, Metadata, Recorder, SharedString, Unit};
use recado_core::secret::SecretText;
use recado_http_hyper::{HttpOptions, RecadoHttp};
use recado_testkit::{FaultyStore, Kit, MemoryStore, StoreFailure};
use serde_json::{Value, json};
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
    /// The texts that must not occur.
    secrets: Vec<String>,
}

const TOKEN: &str = "operator-token-of-the-tests";

const SECRET: &str = "secret-of-the-endpoint";

const ID: &str = "01939b5e-0000-7000-8000-00000000dead";

/// How many requests are made before the store fails.
const UNTIL_FAILURE: usize = 14;

static TRACES: LazyLock<Traces> = LazyLock::new(traces);

/// Makes one request of each kind, and collects logs and metrics.
fn traces() -> Traces {
    let (logs, metrics) = (Kept::default(), Kept::default());
    let subscriber = tracing_subscriber::fmt()
        .json()
        .with_max_level(tracing::Level::TRACE)
        .with_writer(logs.clone())
        .finish();
    // One thread does everything, so that what is set for this thread sees all of it.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let secrets = tracing::subscriber::with_default(subscriber, || {
        metrics::with_local_recorder(&metrics, || runtime.expect("a runtime").block_on(requests()))
    });
    Traces { logs: logs.text(), metrics: metrics.text(), secrets }
}

/// Makes an endpoint and a template; returns the template's token.
async fn prepare(kit: &Kit) -> String {
    let company = kit.company.id;
    let body = |value: Value| value.as_object().expect("an object").clone();
    let features = json!({"features": {"inbound_contacts": true, "template_dispatch": true}});
    kit.app.access().change_company(company, &body(features)).await.expect("changed");
    let endpoint = json!({"slug": "some-slug", "secret": SECRET,
        "variable_mapping": {"phone": "$.phone"}});
    kit.app.inbound().create(company, &body(endpoint)).await.expect("made");
    let connection = json!({"kind": "qr", "name": "A", "identifier": "1", "gateway": "simulated"});
    kit.app.connections().create(company, &body(connection)).await.expect("made");
    let template = json!({"name": "t", "category": "UTILITY", "body": "Olá {{1}}",
        "status": "APPROVED"});
    let made = kit.app.templates().create(company, &body(template)).await.expect("made");
    made.token.to_string()
}

async fn requests() -> Vec<String> {
    let store = FaultyStore::new(Arc::new(MemoryStore::new()));
    let kit = Kit::on(Arc::new(store.clone())).await;
    let token = prepare(&kit).await;
    let operator_token = Some(SecretText::new(TOKEN));
    let options = HttpOptions { operator_token, ..HttpOptions::default() };
    let service = RecadoHttp::new(kit.app.clone(), options);
    let company = kit.company.id;
    let hook = "/api/webhooks/incoming/some-slug";
    let dispatch = format!("/api/webhooks/template-dispatch/{token}");
    let query = format!("{dispatch}?phone=11976543210&v1=Francisca");
    let requests = [
        ("POST", "/api/v1/contacts".to_owned(), kit.key.as_str(), r#"{"phone":"+5511987654321"}"#),
        ("POST", "/api/v1/contacts".to_owned(), kit.key.as_str(), r#"{"email":"ana@example"}"#),
        ("GET", "/api/v1/contacts?search=Francisca".to_owned(), kit.key.as_str(), ""),
        ("GET", format!("/api/v1/contacts/{ID}"), kit.key.as_str(), ""),
        ("GET", format!("/operator/v1/companies/{company}/tags"), TOKEN, ""),
        ("GET", "/l/AAAAAAAAAAAAAAAAAAAAAA".to_owned(), "", ""),
        ("GET", "/secret-path".to_owned(), "", ""),
        ("BREW", "/healthz".to_owned(), "", ""),
        ("POST", hook.to_owned(), "", r#"{"phone":"+5511987654321"}"#),
        ("POST", hook.to_owned(), "", r#"{"phone":"ana@example"}"#),
        ("POST", query.clone(), "", ""),
        ("POST", query, "", ""),
        ("POST", format!("{dispatch}x"), "", ""),
        ("PUT", dispatch.clone(), "", ""),
        // From here on the store fails, and the log has the causes.
        ("POST", dispatch, "", ""),
        ("POST", hook.to_owned(), "", r#"{"phone":"+5511987654321"}"#),
    ];
    for (made, (method, path, bearer, body)) in requests.into_iter().enumerate() {
        if made == UNTIL_FAILURE {
            store.fail_all(StoreFailure::Unavailable);
        }
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("authorization", format!("Bearer {bearer}"))
            .header("x-service-secret", SECRET)
            .header("x-request-id", "trace-17")
            .body(Full::new(Bytes::from(body)))
            .expect("a request");
        service.answer(request).await.expect("infallible");
    }
    vec![kit.key, token, SECRET.to_owned()]
}

#[test]
fn every_request_is_one_line_with_its_id_template_and_status() {
    let logs = &TRACES.logs;
    let lines: Vec<&str> = logs.lines().filter(|line| line.contains("\"request\"")).collect();
    assert_eq!(lines.len(), UNTIL_FAILURE + 2, "{logs}");
    assert!(lines.iter().all(|line| line.contains(r#""request_id":"trace-17""#)), "{logs}");
    assert!(lines[0].contains(r#""route":"/api/v1/contacts""#), "{}", lines[0]);
    assert!(lines[0].contains(r#""status":201"#), "{}", lines[0]);
    assert!(lines[0].contains(r#""company":"#) && lines[0].contains(r#""key":"#), "{}", lines[0]);
    assert!(lines[3].contains(r#""route":"/api/v1/contacts/{id}""#), "{}", lines[3]);
    assert!(lines[6].contains(r#""route":"unmatched""#), "{}", lines[6]);
    let hook = r#""route":"/api/webhooks/incoming/{slug}""#;
    assert!(lines[8].contains(hook) && lines[8].contains(r#""company":"#), "{}", lines[8]);
    assert!(lines[8].contains(r#""status":200"#), "{}", lines[8]);
    let dispatch = r#""route":"/api/webhooks/template-dispatch/{token}""#;
    for (line, status) in [(10, 200), (11, 409), (12, 404), (13, 405), (14, 503)] {
        let status = format!(r#""status":{status}"#);
        assert!(lines[line].contains(dispatch) && lines[line].contains(&status), "{}", lines[line]);
    }
    assert_eq!(logs.matches("a request failed").count(), 2, "{logs}");
}

/// D70.
#[test]
fn metrics_are_labelled_by_template_method_and_status() {
    let metrics = &TRACES.metrics;
    for label in [
        "/api/v1/contacts/{id}",
        "/api/webhooks/incoming/{slug}",
        "/api/webhooks/template-dispatch/{token}",
        "/l/{code}",
        "unmatched",
        "404",
        "OTHER",
    ] {
        assert!(metrics.contains(label), "{label} is missing: {metrics}");
    }
    assert!(!metrics.contains("BREW"), "{metrics}");
}

/// D70.
#[test]
fn nothing_that_was_sent_is_left_behind() {
    let Traces { logs, metrics, secrets } = &*TRACES;
    let sent = ["98765", "97654", "ana@", "Francisca", ID, "AAAAAAAA", "secret-path", "some-slug"];
    for secret in secrets.iter().map(String::as_str).chain(sent).chain([TOKEN]) {
        assert!(!logs.contains(secret), "{secret} is in the logs: {logs}");
        assert!(!metrics.contains(secret), "{secret} is in the metrics: {metrics}");
    }
}
