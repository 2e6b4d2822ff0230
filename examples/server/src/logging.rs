//! Logs: structured lines on standard error, text on a terminal and JSON elsewhere.
//!
//! Only `tracing` events are written. Records of the `log` crate are not bridged on purpose:
//! database drivers write statement parameters there, and those are personal data (D70).

use std::io::{self, IsTerminal, stderr};
use std::time::Duration;

use tracing_subscriber::EnvFilter;

use crate::log_lines::LogLines;
use crate::metrics;

/// How long the end of the process waits for the last lines.
const LAST_LINES: Duration = Duration::from_secs(1);

/// Logging that was started. When it is dropped, the last lines are written.
#[must_use]
pub(crate) struct Logging(LogLines);

impl Drop for Logging {
    fn drop(&mut self) {
        self.0.finish(LAST_LINES);
    }
}

/// Starts logging with `filter`; a logger that is already installed stays.
///
/// A line that cannot be written is lost and counted; it never fails or delays who logs it (R162).
///
/// # Errors
///
/// When the system has no thread left.
pub(crate) fn start(filter: &str) -> io::Result<Logging> {
    // Lost lines are counted from the first one on.
    metrics::recorder();
    let written = LogLines::start(stderr())?;
    let filter = EnvFilter::builder().parse_lossy(filter);
    let lines = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(written.clone())
        // It would be printed to standard error, with a panic where that fails.
        .log_internal_errors(false);
    // An error means that an embedding program has set its own.
    let _ = if stderr().is_terminal() {
        lines.with_target(false).try_init()
    } else {
        lines.json().flatten_event(true).with_ansi(false).try_init()
    };
    Ok(Logging(written))
}
