//! Records the log during an operation.

use std::fmt::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::DefaultGuard;
use tracing::{Event, Metadata, Subscriber};

/// Records everything that is logged on this thread, at any level, until it is dropped.
pub(super) struct Logs {
    text: Arc<Mutex<String>>,
    _guard: DefaultGuard,
}

impl Logs {
    pub(super) fn begin() -> Self {
        let text = Arc::<Mutex<String>>::default();
        let _guard = tracing::subscriber::set_default(Keep(text.clone()));
        Self { text, _guard }
    }

    pub(super) fn text(&self) -> String {
        self.text.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

struct Keep(Arc<Mutex<String>>);

struct Fields<'a>(&'a mut String);

impl Visit for Fields<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let _ = writeln!(self.0, "{field}={value:?}");
    }
}

impl Keep {
    fn with(&self, keep: impl FnOnce(&mut Fields<'_>)) {
        let mut text = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        keep(&mut Fields(&mut text));
    }
}

impl Subscriber for Keep {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        self.with(|fields| span.record(fields));
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, values: &Record<'_>) {
        self.with(|fields| values.record(fields));
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        self.with(|fields| event.record(fields));
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}
