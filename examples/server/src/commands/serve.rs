//! `recado serve`

use super::{CommandError, output};
use crate::options::Options;
use crate::permissions;
use crate::shutdown::StopSignals;
use crate::start::{Overrides, RunningServer, start};
use crate::supervisor;

pub(super) async fn run(options: Options) -> Result<(), CommandError> {
    let mut signals = StopSignals::listen().map_err(CommandError::run)?;
    permissions::warn_of_wide(&options);
    let running = tokio::select! {
        running = start(options, Overrides::default()) => running?,
        // A signal ends a long migration: it is rolled back, and run again at the next start.
        _ = signals.wait() => return Ok(()),
    };
    if running.operator_addr.is_some() {
        output::line(format_args!("operator API on {}", running.operator_url()));
    }
    output::line(format_args!("listening on {}", running.url()));
    supervisor::ready();
    until_signal(&mut signals, running).await
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
    running.stop().await;
    tracing::info!("stopped");
    Ok(())
}
