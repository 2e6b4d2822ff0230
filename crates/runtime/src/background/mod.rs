//! The background work of a process and its shutdown: its lease, recovery, due jobs, deliveries to
//! webhooks, campaigns, the store's upkeep, and the servers that end with them.

mod builder;
mod jobs;
mod loops;
#[cfg(feature = "simulated")]
mod reports;
mod runner;

use std::fmt;
use std::future::{Future, IntoFuture, pending};
use std::pin::Pin;
use std::time::Duration;

use futures_util::future::select_all;
use recado_core::{Installation, Recado};
use tokio::sync::watch;
use tokio::task::JoinHandle;

pub use self::builder::BackgroundBuilder;
use self::loops::Loops;
use self::runner::stopping;
use crate::causes::causes;

/// How long recording what is left may take, after the drain timeout.
const FINISH_TIMEOUT: Duration = Duration::from_secs(2);

/// Ends when a stop begins.
pub type Stopping = Pin<Box<dyn Future<Output = ()> + Send>>;

/// How a stop ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// All work in flight was completed and recorded.
    Whole,
    /// The drain timeout passed first: messages without an answer were recorded as uncertain.
    CutOff,
}

/// The background work of a process: run one besides the server.
///
/// It renews the lease of the process in a task of its own, records the messages of processes that
/// ended, runs due jobs, sends deliveries and campaigns, deletes what is older than the retention,
/// and gives the store its upkeep. A failed step is logged and tried again after growing waits.
///
/// Call [`Background::stop`] at the end of the process. If the value is dropped without it, the
/// loops end at once, and other processes recover their work as that of a process that died.
///
/// ```no_run
/// # use recado_runtime::Background;
/// # async fn example(recado: recado_core::Installation) -> std::io::Result<()> {
/// let mut background = Background::spawn(&recado);
/// background.serve(|stopping| async {
///     // Any server that stops accepting when `stopping` ends, and finishes what is in flight:
///     // axum::serve(listener, app).with_graceful_shutdown(stopping)
///     stopping.await;
/// });
/// tokio::signal::ctrl_c().await?;
/// background.stop().await;
/// # Ok(())
/// # }
/// ```
pub struct Background {
    recado: Recado,
    /// Raised when a stop begins.
    stop: watch::Sender<bool>,
    servers: Vec<JoinHandle<()>>,
    /// Ended as soon as a stop begins.
    work: Loops,
    /// Ended when no work is in flight any more.
    support: Loops,
    drain_timeout: Duration,
}

impl fmt::Debug for Background {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Background")
            .field("servers", &self.servers.len())
            .field("drain_timeout", &self.drain_timeout)
            .finish_non_exhaustive()
    }
}

impl Background {
    /// Spawns all background work on the current tokio runtime.
    pub fn spawn(installation: &Installation) -> Self {
        Self::builder(installation).spawn()
    }

    /// Background work with additional loops, or with another drain timeout.
    pub fn builder(installation: &Installation) -> BackgroundBuilder {
        BackgroundBuilder::new(installation)
    }

    /// A future that ends when a stop begins: for servers and tasks that have to end with this
    /// process.
    pub fn stopping(&self) -> Stopping {
        Box::pin(stopping(self.stop.subscribe()))
    }

    /// Runs a server that ends with the background work. It is given the future that ends when a
    /// stop begins; it must then accept no more connections, finish requests in flight, and end.
    /// [`Background::stop`] waits for it. Its result is dropped.
    pub fn serve<F>(&mut self, server: impl FnOnce(Stopping) -> F)
    where
        F: IntoFuture,
        F::IntoFuture: Send + 'static,
    {
        let server = server(self.stopping()).into_future();
        self.servers.push(tokio::spawn(async move {
            let _ = server.await;
        }));
    }

    /// Waits until one of its servers or loops has ended before a stop, which only a defect can
    /// cause: a step or a runner that panics is begun again by itself. A program should end then,
    /// so that its supervisor starts it anew (R162). With nothing that runs it waits for ever.
    pub async fn ended(&mut self) {
        let servers = &mut self.servers;
        let server = async {
            if servers.is_empty() {
                pending::<()>().await;
            }
            if !servers.iter().any(JoinHandle::is_finished) {
                let _ = select_all(servers).await;
            }
        };
        tokio::select! {
            () = server => {}
            () = self.work.ended() => {}
            () = self.support.ended() => {}
        }
    }

    /// Stops the process in order, and takes no longer than the drain timeout and two seconds:
    ///
    /// 1. Servers accept no more connections; the loops and runners begin no more work.
    /// 2. Work in flight is completed and recorded: requests, sends (also those whose caller hung
    ///    up), jobs, attempts at deliveries, messages of campaigns. The shards of this process are
    ///    released to other processes. The lease is renewed meanwhile.
    /// 3. What is left after the drain timeout is recorded as uncertain.
    /// 4. The lease is ended, so that no other process has to wait for it to lapse.
    ///
    /// If the store fails, what could not be recorded is logged, and other processes record it once
    /// the lease has lapsed.
    pub async fn stop(self) -> Stopped {
        self.stop.send_replace(true);
        self.work.begin_to_stop();
        let Self { recado, servers, work, support, drain_timeout, .. } = self;
        let drained = async {
            for server in servers {
                if !server.is_finished() {
                    // A server that panicked has no requests in flight.
                    let _ = server.await;
                }
            }
            work.stop().await;
            recado.tasks().finished().await;
        };
        let stopped = match tokio::time::timeout(drain_timeout, drained).await {
            Ok(()) => Stopped::Whole,
            Err(_) => {
                tracing::warn!("stopped before everything in flight was finished");
                Stopped::CutOff
            }
        };
        let finished = async {
            // The lease must not be renewed any more once it is ended.
            support.stop().await;
            let abandoned = recado.sending().abandon_own().await;
            let released = recado.workers().release().await;
            abandoned.and(released)
        };
        match tokio::time::timeout(FINISH_TIMEOUT, finished).await {
            Ok(Ok(())) => {}
            // Other processes record what is left once the lease has lapsed.
            Ok(Err(error)) => tracing::warn!(error = causes(&error), "the lease was not given up"),
            Err(_) => tracing::warn!("the lease was not given up in time"),
        }
        stopped
    }
}
