//! Logs: structured lines on standard error, text on a terminal and JSON elsewhere.
//!
//! Only `tracing` events are written. Records of the `log` crate are not bridged on purpose:
//! database drivers write statement parameters there, and those are personal data (D70).

use std::io::{self, IsTerminal, stderr};
use std::time::Duration;

use tracing::Subscriber;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer, fmt, registry};

use crate::log_lines::LogLines;
use crate::metrics;
use crate::options::Options;
#[cfg(feature = "otlp")]
use crate::traces::Export;

/// How long the end of the process waits for the last lines.
const LAST_LINES: Duration = Duration::from_secs(1);

/// Logging that was started. When it is dropped, the last spans are exported and the last lines are
/// written.
#[must_use]
pub(crate) struct Logging {
    #[cfg(feature = "otlp")]
    export: Option<Export>,
    lines: LogLines,
}

impl Drop for Logging {
    fn drop(&mut self) {
        #[cfg(feature = "otlp")]
        drop(self.export.take());
        self.lines.finish(LAST_LINES);
    }
}

/// Starts logging, and the export of traces if the options name a collector; a logger that is
/// already installed stays, and then there are no traces.
///
/// A line that cannot be written is lost and counted; it never fails or delays who logs it (R162).
///
/// # Errors
///
/// When the system has no thread left, or the exporter cannot be made.
pub(crate) fn start(options: &Options) -> io::Result<Logging> {
    // Lost lines are counted from the first one on.
    metrics::recorder();
    let written = LogLines::start(stderr())?;
    let filter = filter(&options.log);
    #[cfg(feature = "otlp")]
    if let Some(endpoint) = &options.otlp_endpoint {
        let (spans, export) = crate::traces::layer(endpoint).map_err(io::Error::other)?;
        // Each has a filter of its own: the log has no spans, the traces have no lines.
        let logged = registry().with(lines(&written).with_filter(filter));
        let export = logged.with(spans).try_init().is_ok().then_some(export);
        return Ok(Logging { export, lines: written });
    }
    // An error means that an embedding program has set its own.
    let _ = registry().with(filter).with(lines(&written)).try_init();
    Ok(Logging {
        #[cfg(feature = "otlp")]
        export: None,
        lines: written,
    })
}

/// What is logged. The library for NATS has a line for each attempt to connect; what matters of
/// them is logged once by this program, so that the library is silent unless it is named.
///
/// R463.
fn filter(log: &str) -> EnvFilter {
    let filter = EnvFilter::builder().parse_lossy(log);
    match "async_nats=off".parse() {
        Ok(directive) if !log.contains("async_nats") => filter.add_directive(directive),
        _ => filter,
    }
}

/// Writes lines: text on a terminal, JSON elsewhere.
fn lines<S>(written: &LogLines) -> Box<dyn Layer<S> + Send + Sync>
where
    S: Subscriber + for<'span> LookupSpan<'span>,
{
    let lines = fmt::layer()
        .with_writer(written.clone())
        // It would be printed to standard error, with a panic where that fails.
        .log_internal_errors(false);
    match stderr().is_terminal() {
        true => lines.with_target(false).boxed(),
        false => lines.json().flatten_event(true).with_ansi(false).boxed(),
    }
}
