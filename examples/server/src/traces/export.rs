//! From spans to the collector: a queue of at most 2,048 spans, a thread that sends batches of
//! them, and its end (R314).

use std::sync::Arc;
use std::time::Duration;

use opentelemetry::trace::TracerProvider;
use opentelemetry::{Key, KeyValue, Value};
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{BatchSpanProcessor, SdkTracerProvider};
use recado_http_hyper::{ClientOptions, GuardedClient, Reach};
use tokio::runtime::Handle;
use tracing::Subscriber;
use tracing_opentelemetry::OpenTelemetryLayer;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::layer::Layer;
use tracing_subscriber::registry::LookupSpan;

use super::collector::Collector;
use super::finish::Finish;
use super::request_id::RequestIds;

/// How long the end of the process waits for the last spans.
const LAST_SPANS: Duration = Duration::from_secs(1);
/// The most attributes and links of a span; those that are made are fewer.
const MAX_ATTRIBUTES: u32 = 16;
const MAX_LINKS: u32 = 4;

/// The layer that makes spans of ours.
pub(crate) type Spans<S> = Box<dyn Layer<S> + Send + Sync>;

/// The export, from its start on. When it is dropped, the last spans are sent, if the collector
/// takes them within a second.
#[derive(Debug)]
#[must_use]
pub(crate) struct Export(SdkTracerProvider);

impl Drop for Export {
    fn drop(&mut self) {
        // What cannot be sent by then is lost: nobody waits for a collector.
        let _ = self.0.shutdown_with_timeout(LAST_SPANS);
    }
}

/// Starts to export spans to the collector at this base URL, on the current runtime.
///
/// # Errors
///
/// Why the exporter cannot be made.
pub(crate) fn layer<S>(endpoint: &str) -> Result<(Spans<S>, Export), String>
where
    S: Subscriber + for<'span> LookupSpan<'span> + Send + Sync,
{
    let client = GuardedClient::new(ClientOptions { reach: Reach::Everything });
    let collector = Collector::new(Arc::new(client), Handle::current());
    let exporter = SpanExporter::builder()
        .with_http()
        .with_http_client(collector)
        .with_endpoint(format!("{endpoint}/v1/traces"))
        .with_protocol(Protocol::HttpBinary)
        .build()
        .map_err(|error| error.to_string())?;
    let provider = SdkTracerProvider::builder()
        .with_resource(resource())
        .with_max_attributes_per_span(MAX_ATTRIBUTES)
        .with_max_links_per_span(MAX_LINKS)
        .with_max_events_per_span(0)
        .with_span_processor(Finish(BatchSpanProcessor::builder(exporter).build()))
        .build();
    let spans = OpenTelemetryLayer::new(provider.tracer("recado"))
        .with_location(false)
        .with_threads(false)
        .with_target(false)
        .with_tracked_inactivity(false)
        .with_context_activation(false);
    // Lines of the log are no part of a trace, and neither are spans of other crates.
    let ours = filter_fn(|about| about.is_span() && about.target() == "recado::trace");
    Ok((RequestIds.and_then(spans).with_filter(ours).boxed(), Export(provider)))
}

/// What is said of the process: what `OTEL_SERVICE_NAME` and `OTEL_RESOURCE_ATTRIBUTES` say, else
/// its name, and its version.
fn resource() -> Resource {
    let version = KeyValue::new("service.version", env!("CARGO_PKG_VERSION"));
    let builder = || Resource::builder().with_attribute(version.clone());
    let resource = builder().build();
    match resource.get(&Key::from_static_str("service.name")) {
        Some(Value::String(name)) if !name.as_str().starts_with("unknown_service") => resource,
        _ => builder().with_service_name("recado").build(),
    }
}
