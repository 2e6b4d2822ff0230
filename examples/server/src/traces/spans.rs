//! The spans around commits, calls of gateways, outgoing calls and attempts at deliveries.

use std::sync::Arc;

use opentelemetry::trace::TraceContextExt;
use opentelemetry::{Array, StringValue, Value};
use recado_core::connections::GatewayName;
use recado_core::ids::DeliveryId;
use recado_core::jobs::Job;
use recado_core::store::{ChangeKind, ChangeSet, Commit, CommitError, Row, Stored};
use recado_core::transport::{OutboundRequest, OutboundResponse, Transport, TransportError};
use tracing::field::{Empty, display};
use tracing::{Instrument, Span, trace_span};
use tracing_opentelemetry::OpenTelemetrySpanExt;

use super::causes::{Cause, Causes};
use super::finish::JOB_FIELD;
use super::request_id;

/// How many deliveries the span of a commit names.
const MAX_NAMED: usize = 20;

/// Makes spans, and remembers what caused deliveries. Clones share that. Unless traces are
/// exported it makes none.
#[derive(Clone, Debug, Default)]
pub(crate) struct Traces(Arc<Causes>);

impl Traces {
    /// Commits a change set within a span. A commit that is no part of anything and has no events
    /// has none: those are leases, shards and outcomes of attempts.
    pub(crate) async fn commit(
        &self,
        store: &(dyn Commit + '_),
        changes: ChangeSet,
    ) -> Result<(), CommitError> {
        let around = Span::current();
        if around.is_none() && changes.events.is_empty() {
            return store.commit(changes).await;
        }
        let span = trace_span!(
            target: "recado::trace",
            "commit",
            otel.status_code = Empty,
            recado.request_id = Empty,
            recado.changes = number(changes.changes.len()),
            recado.events = number(changes.events.len()),
            recado.outcome = Empty,
        );
        if span.is_disabled() {
            return store.commit(changes).await;
        }
        let request_id = with_request_id(&span);
        let cause = if around.is_none() { &span } else { &around };
        let deliveries = self.caused(&changes, cause, request_id);
        if !deliveries.is_empty() {
            let names = deliveries.iter().take(MAX_NAMED);
            let names: Vec<StringValue> = names.map(|id| id.to_string().into()).collect();
            span.set_attribute("recado.delivery_ids", Value::Array(Array::String(names)));
        }
        let committed = store.commit(changes).instrument(span.clone()).await;
        let outcome = match &committed {
            Ok(()) => "committed",
            Err(CommitError::Conflict(_)) => {
                deliveries.into_iter().for_each(|delivery| self.0.forget(delivery));
                "conflict"
            }
            Err(CommitError::Store(_)) => {
                span.record("otel.status_code", "ERROR");
                "failed"
            }
        };
        span.record("recado.outcome", outcome);
        committed
    }

    /// Remembers what causes the deliveries of a change set, and names them.
    fn caused(
        &self,
        changes: &ChangeSet,
        cause: &Span,
        request_id: Option<Arc<str>>,
    ) -> Vec<DeliveryId> {
        if changes.events.is_empty() {
            return Vec::new();
        }
        let span = cause.context().span().span_context().clone();
        let mut deliveries = Vec::new();
        for change in &changes.changes {
            if let ChangeKind::Insert(Row::Delivery(delivery)) = change.kind() {
                let (span, request_id) = (span.clone(), request_id.clone());
                let (event, webhook) = (delivery.event, delivery.webhook);
                self.0.remember(delivery.id, Cause { span, request_id, event, webhook });
                deliveries.push(delivery.id);
            }
        }
        deliveries
    }

    /// Makes an outgoing call within a span: an attempt at a delivery, or another one.
    pub(crate) async fn outbound(
        &self,
        transport: &dyn Transport,
        request: OutboundRequest,
    ) -> Result<OutboundResponse, TransportError> {
        let is_attempt = request.status_decides;
        let span = if is_attempt { self.attempt(&request) } else { call(&request) };
        if span.is_disabled() {
            return transport.send(request).await;
        }
        let delivery = delivery(&request).filter(|_| is_attempt);
        let answer = transport.send(request).instrument(span.clone()).await;
        match &answer {
            Ok(response) => {
                span.record("http.response.status_code", i64::from(response.status));
                match response.status {
                    200..300 => {
                        delivery.into_iter().for_each(|delivery| self.0.forget(delivery));
                    }
                    _ => {
                        span.record("otel.status_code", "ERROR");
                    }
                }
            }
            Err(error) => {
                span.record("error.type", error_type(error));
                span.record("otel.status_code", "ERROR");
            }
        }
        answer
    }

    /// The span of an attempt at a delivery, with a link to what caused it (R311).
    fn attempt(&self, request: &OutboundRequest) -> Span {
        let span = trace_span!(
            target: "recado::trace",
            parent: None,
            "delivery attempt",
            otel.kind = "client",
            otel.status_code = Empty,
            http.request.method = request.method.as_str(),
            http.response.status_code = Empty,
            error.type = Empty,
            recado.request_id = Empty,
            recado.delivery_id = Empty,
            recado.event_id = Empty,
            recado.webhook_id = Empty,
            recado.event = Empty,
        );
        if span.is_disabled() {
            return span;
        }
        if let Some(event) = header(request, "x-service-event") {
            span.record("recado.event", event);
        }
        if let Some(delivery) = delivery(request) {
            span.record("recado.delivery_id", display(delivery));
            if let Some(cause) = self.0.of(delivery) {
                span.record("recado.event_id", display(cause.event));
                span.record("recado.webhook_id", display(cause.webhook));
                if let Some(id) = cause.request_id {
                    span.record(request_id::FIELD, &*id);
                }
                span.add_link(cause.span);
            }
        }
        span
    }

    /// Calls a gateway within a span.
    pub(crate) async fn gateway<T, E>(
        &self,
        gateway: &GatewayName,
        operation: &'static str,
        outcome: fn(&Result<T, E>) -> &'static str,
        work: impl Future<Output = Result<T, E>>,
    ) -> Result<T, E> {
        let span = trace_span!(
            target: "recado::trace",
            "gateway",
            otel.name = format_args!("gateway {operation}"),
            otel.status_code = Empty,
            recado.request_id = Empty,
            recado.gateway = gateway.as_str(),
            recado.operation = operation,
            recado.outcome = Empty,
        );
        if span.is_disabled() {
            return work.await;
        }
        with_request_id(&span);
        let answer = work.instrument(span.clone()).await;
        span.record("recado.outcome", outcome(&answer));
        if answer.is_err() {
            span.record("otel.status_code", "ERROR");
        }
        answer
    }

    /// Names the job in the span of the step that has claimed it.
    pub(crate) fn claimed(&self, jobs: &[Stored<Job>]) {
        if let [job, ..] = jobs {
            Span::current().record(JOB_FIELD, job.kind.name());
        }
    }
}

/// A count as a number of OpenTelemetry, whose numbers have a sign; others become text.
fn number(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// The span of an outgoing call that is no attempt at a delivery.
fn call(request: &OutboundRequest) -> Span {
    let method = request.method.as_str();
    let span = trace_span!(
        target: "recado::trace",
        "call",
        otel.name = method,
        otel.kind = "client",
        otel.status_code = Empty,
        http.request.method = method,
        http.response.status_code = Empty,
        error.type = Empty,
        recado.request_id = Empty,
    );
    if !span.is_disabled() {
        with_request_id(&span);
    }
    span
}

/// Notes the id of the request that a new span belongs to.
fn with_request_id(span: &Span) -> Option<Arc<str>> {
    let id = request_id::current();
    if let Some(id) = &id {
        span.record(request_id::FIELD, &**id);
    }
    id
}

/// The delivery that a request attempts.
fn delivery(request: &OutboundRequest) -> Option<DeliveryId> {
    DeliveryId::parse(header(request, "x-service-delivery")?)
}

fn header<'r>(request: &'r OutboundRequest, name: &str) -> Option<&'r str> {
    let mut headers = request.headers.iter();
    headers.find(|(known, _)| known == name).map(|(_, value)| value.as_str())
}

/// The kind of a failure, without what it is about.
const fn error_type(error: &TransportError) -> &'static str {
    match error {
        TransportError::InvalidUrl(_) => "invalid_url",
        TransportError::Forbidden => "forbidden",
        TransportError::Dns => "dns",
        TransportError::Refused => "refused",
        TransportError::Tls => "tls",
        TransportError::TimedOut { .. } => "timed_out",
        TransportError::Broken { .. } => "broken",
    }
}
