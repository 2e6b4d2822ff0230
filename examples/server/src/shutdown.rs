//! The signals that ask the server to stop, and the one that does not.

use std::io;

/// From now on SIGHUP does not end the process: a closed terminal ends no import halfway.
///
/// R269.
pub(crate) fn outlive_hangup() -> io::Result<()> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        // What was installed once stays for as long as the process lives.
        let _ = signal(SignalKind::hangup())?;
    }
    Ok(())
}

/// Listens for SIGTERM and SIGINT from the moment it is made, so that none is missed.
#[derive(Debug)]
pub(crate) struct StopSignals {
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
    #[cfg(unix)]
    hangup: Option<tokio::signal::unix::Signal>,
}

impl StopSignals {
    /// Starts listening.
    pub(crate) fn listen() -> io::Result<Self> {
        #[cfg(unix)]
        {
            use tokio::signal::unix::{SignalKind, signal};
            Ok(Self {
                terminate: signal(SignalKind::terminate())?,
                interrupt: signal(SignalKind::interrupt())?,
                hangup: None,
            })
        }
        #[cfg(not(unix))]
        Ok(Self {})
    }

    /// The same, and SIGHUP: for what belongs to the terminal it was started in.
    ///
    /// R269.
    pub(crate) fn listen_with_hangup() -> io::Result<Self> {
        #[cfg(unix)]
        {
            use tokio::signal::unix::{SignalKind, signal};
            Ok(Self { hangup: Some(signal(SignalKind::hangup())?), ..Self::listen()? })
        }
        #[cfg(not(unix))]
        Self::listen()
    }

    /// Waits for the first of them and names it.
    pub(crate) async fn wait(&mut self) -> &'static str {
        #[cfg(unix)]
        {
            let hangup = async {
                match &mut self.hangup {
                    Some(hangup) => hangup.recv().await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                _ = self.terminate.recv() => "SIGTERM",
                _ = self.interrupt.recv() => "SIGINT",
                _ = hangup => "SIGHUP",
            }
        }
        #[cfg(not(unix))]
        {
            // Without a console there is no signal to wait for; the process is ended from outside.
            if tokio::signal::ctrl_c().await.is_err() {
                std::future::pending::<()>().await;
            }
            "Ctrl-C"
        }
    }
}
