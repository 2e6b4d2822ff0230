//! `recado serve`

use super::{Failure, output};
use crate::options::Options;
use crate::shutdown::Signals;
use crate::start::{Overrides, Running, start};

pub(super) async fn run(options: Options) -> Result<(), Failure> {
    let mut signals = Signals::listen().map_err(Failure::run)?;
    let running = start(options, Overrides::default()).await?;
    output::line(format_args!("listening on {}", running.url()));
    until_signal(&mut signals, running).await;
    Ok(())
}

/// Serves until a signal, then stops gracefully.
pub(super) async fn until_signal(signals: &mut Signals, running: Running) {
    let signal = signals.wait().await;
    tracing::info!(signal, "stopping");
    running.stop().await;
    tracing::info!("stopped");
}
