//! `recado serve`

use serde_json::json;

use super::{CommandError, output};
use crate::options::{DatabaseLocation, Options};
use crate::permissions;
use crate::serve_lock::ServeLock;
use crate::shutdown::StopSignals;
use crate::start::{Overrides, RunningServer, start};
use crate::supervisor;

pub(super) const HELP: &str = "\
Examples:
  recado serve --config recado.toml
  recado serve --database postgres://recado@db.example.org/recado --listen 0.0.0.0:8080
  RECADO_LOG=info,recado_core=debug recado serve

Every command takes these options; other commands than this one do not list them.

SIGTERM and SIGINT stop it gracefully, within 30 seconds. SIGHUP is ignored: options are read at the
start only.";

pub(super) async fn run(json: bool, options: Options) -> Result<(), CommandError> {
    let mut signals = StopSignals::listen().map_err(CommandError::run)?;
    permissions::warn_of_wide(&options);
    let overrides = Overrides { lock: lock(&options)?, ..Overrides::default() };
    let running = tokio::select! {
        running = start(options, overrides) => running?,
        // A signal ends a long migration: it is rolled back, and run again at the next start.
        _ = signals.wait() => return Ok(()),
    };
    if json {
        let operator = running.operator_addr.map(|_| running.operator_url());
        // A line, for a program that waits for it.
        output::line(json!({"listening": running.url(), "operator": operator}));
    } else {
        if running.operator_addr.is_some() {
            output::line(format_args!("operator API on {}", running.operator_url()));
        }
        output::line(format_args!("listening on {}", running.url()));
    }
    supervisor::ready();
    until_signal(&mut signals, running).await
}

/// The lock of the one server on an SQLite file (R252).
pub(super) fn lock(options: &Options) -> Result<Option<ServeLock>, CommandError> {
    match &options.database {
        DatabaseLocation::Sqlite(path) => {
            ServeLock::take(path).map(Some).map_err(CommandError::run)
        }
        DatabaseLocation::Postgres(_) => Ok(None),
    }
}

/// Serves until a signal, then stops gracefully.
pub(super) async fn until_signal(
    signals: &mut StopSignals,
    mut running: RunningServer,
) -> Result<(), CommandError> {
    let signal = tokio::select! {
        signal = signals.wait() => signal,
        // Its supervisor starts the process anew (R162).
        () = running.ended() => {
            return Err(CommandError::Run("a part of the server has ended".to_owned()));
        }
    };
    tracing::info!(signal, "stopping");
    supervisor::stopping();
    running.end().await;
    tracing::info!("stopped");
    Ok(())
}
