//! Logs: structured lines on standard error, text on a terminal and JSON elsewhere.
//!
//! Only `tracing` events are written. Records of the `log` crate are not bridged on purpose:
//! database drivers write statement parameters there, and those are personal data (D70).

use std::io::{IsTerminal, stderr};

use tracing_subscriber::EnvFilter;

/// Starts logging with `filter`; a logger that is already installed stays.
pub(crate) fn start(filter: &str) {
    let filter = EnvFilter::builder().parse_lossy(filter);
    let lines = tracing_subscriber::fmt().with_env_filter(filter).with_writer(stderr);
    // An error means that an embedding program has set its own.
    let _ = if stderr().is_terminal() {
        lines.with_target(false).try_init()
    } else {
        lines.json().flatten_event(true).with_ansi(false).try_init()
    };
}
