//! The last step before the queue of the exporter: what is no use is left out, and the caller's
//! trace becomes a link.

use std::time::Duration;

use opentelemetry::trace::{Link, SpanContext, SpanId, TraceFlags, TraceId, TraceState};
use opentelemetry::{Context, Value};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{Span, SpanData, SpanProcessor};

/// The span of a search for due jobs.
const JOB: &str = "job";
/// What it has once a job was found.
pub(super) const JOB_FIELD: &str = "recado.job";
/// What a request's span has of the trace of its caller.
const CALLER_FIELD: &str = "recado.caller";

/// Passes on what is worth exporting.
#[derive(Debug)]
pub(super) struct Finish<P>(pub(super) P);

impl<P: SpanProcessor> SpanProcessor for Finish<P> {
    fn on_start(&self, span: &mut Span, context: &Context) {
        self.0.on_start(span, context);
    }

    fn on_end(&self, span: SpanData) {
        if let Some(span) = finished(span) {
            self.0.on_end(span);
        }
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.0.force_flush()
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.0.shutdown_with_timeout(timeout)
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.0.set_resource(resource);
    }
}

/// The span as it is exported; `None` for a search that found no job: there are four a second.
fn finished(mut span: SpanData) -> Option<SpanData> {
    let has = |span: &SpanData, name: &str| span.attributes.iter().any(|a| a.key.as_str() == name);
    if span.name == JOB && !has(&span, JOB_FIELD) {
        return None;
    }
    if let Some(at) = span.attributes.iter().position(|a| a.key.as_str() == CALLER_FIELD) {
        // A link, not the parent: who calls decides neither what is recorded nor where (R312).
        if let Value::String(text) = span.attributes.swap_remove(at).value {
            span.links.links.extend(caller(text.as_str()).map(Link::with_context));
        }
    }
    Some(span)
}

/// The span that a valid `traceparent` names.
fn caller(text: &str) -> Option<SpanContext> {
    let mut parts = text.split('-').skip(1);
    let trace = TraceId::from_hex(parts.next()?).ok()?;
    let span = SpanId::from_hex(parts.next()?).ok()?;
    let flags = TraceFlags::new(u8::from_str_radix(parts.next()?, 16).ok()?);
    Some(SpanContext::new(trace, span, flags, true, TraceState::NONE))
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use opentelemetry::trace::{SpanKind, Status};
    use opentelemetry::{InstrumentationScope, KeyValue};
    use opentelemetry_sdk::trace::{SpanEvents, SpanLinks};

    use super::*;

    fn span(name: &'static str, attributes: Vec<KeyValue>) -> SpanData {
        SpanData {
            span_context: SpanContext::NONE,
            parent_span_id: SpanId::INVALID,
            parent_span_is_remote: false,
            span_kind: SpanKind::Internal,
            name: name.into(),
            start_time: SystemTime::UNIX_EPOCH,
            end_time: SystemTime::UNIX_EPOCH,
            attributes,
            dropped_attributes_count: 0,
            events: SpanEvents::default(),
            links: SpanLinks::default(),
            status: Status::Unset,
            instrumentation_scope: InstrumentationScope::default(),
        }
    }

    /// R310.
    #[test]
    fn a_search_that_found_no_job_is_not_exported() {
        assert_eq!(finished(span(JOB, Vec::new())), None);
        let found = span(JOB, vec![KeyValue::new(JOB_FIELD, "enrich")]);
        assert_eq!(finished(found.clone()), Some(found));
        let other = span("commit", Vec::new());
        assert_eq!(finished(other.clone()), Some(other));
    }

    /// R312.
    #[test]
    fn the_trace_of_a_caller_is_a_link() {
        let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        let attributes =
            vec![KeyValue::new(CALLER_FIELD, parent), KeyValue::new("http.route", "/a")];
        let span = finished(span("request", attributes)).expect("it is exported");
        assert_eq!(span.attributes, [KeyValue::new("http.route", "/a")]);
        assert_eq!(span.parent_span_id, SpanId::INVALID);
        let [link] = &span.links.links[..] else { panic!("{:?}", span.links) };
        let linked = &link.span_context;
        assert_eq!(linked.trace_id().to_string(), &parent[3..35]);
        assert_eq!(linked.span_id().to_string(), &parent[36..52]);
        assert!(linked.is_remote() && linked.is_sampled());
    }
}
