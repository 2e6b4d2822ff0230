//! The id of the request, known in all spans below its own.

use std::sync::Arc;

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id};
use tracing::{Subscriber, dispatcher};
use tracing_subscriber::Registry;
use tracing_subscriber::layer::{Context, Layer};
use tracing_subscriber::registry::LookupSpan;

/// The field of the request's span that has it.
pub(super) const FIELD: &str = "recado.request_id";

/// The id of the request that a span belongs to.
#[derive(Clone)]
struct RequestId(Arc<str>);

/// The id of the request that the current span belongs to, if it belongs to one.
pub(super) fn current() -> Option<Arc<str>> {
    dispatcher::get_default(|dispatch| {
        let spans = dispatch.downcast_ref::<Registry>()?;
        let current = spans.current_span();
        let span = spans.span(current.id()?)?;
        span.scope().find_map(|span| span.extensions().get::<RequestId>().map(|id| id.0.clone()))
    })
}

/// Keeps with each span the id of the request that it belongs to.
pub(super) struct RequestIds;

impl<S> Layer<S> for RequestIds
where
    S: Subscriber + for<'span> LookupSpan<'span>,
{
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let mut own = OwnId(None);
        attributes.record(&mut own);
        if let (Some(id), Some(span)) = (own.0, context.span(id)) {
            span.extensions_mut().insert(RequestId(id));
        }
    }
}

/// Finds the id among the fields of a span.
struct OwnId(Option<Arc<str>>);

impl Visit for OwnId {
    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == FIELD {
            self.0 = Some(value.into());
        }
    }

    fn record_debug(&mut self, _: &Field, _: &dyn std::fmt::Debug) {}
}
