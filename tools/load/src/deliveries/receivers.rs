//! The receiving process.

use std::process::Stdio;
use std::time::{Duration, Instant};

use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::time::{sleep, timeout};

use crate::baseline::cpu::Meter;
use crate::client::{Call, Client};
use crate::receiver::{Addresses, Arrival, Order};
use crate::stores::AnyError;
use crate::target::Target;

/// The time limit of the start.
const PATIENCE: Duration = Duration::from_secs(20);
/// How often the number of arrivals is polled.
const POLL: Duration = Duration::from_millis(20);
/// How long to wait without an arrival while deliveries are missing.
const QUIET: Duration = Duration::from_secs(30);

/// Running receivers. The process is killed when this is dropped.
pub(super) struct Receivers {
    child: Child,
    pub(super) addresses: Addresses,
    control: Client,
    /// The number of arrivals that were taken so far.
    taken: u64,
}

impl Receivers {
    /// Starts the receivers in their own process.
    ///
    /// # Errors
    ///
    /// When they do not listen.
    pub(super) async fn start(order: Order) -> Result<Self, AnyError> {
        let mut child = Command::new(std::env::current_exe()?)
            .arg("receiver")
            .args(["--healthy", &order.healthy.to_string()])
            .args(["--dead", &order.dead.to_string()])
            .args(["--silent", &order.silent.to_string()])
            .args(["--slow", &order.slow.to_string()])
            .args(["--flooding", &order.flooding.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let stdout = child.stdout.take().ok_or("the receiver has no standard output")?;
        let mut lines = BufReader::new(stdout).lines();
        let line = timeout(PATIENCE, lines.next_line()).await.map_err(|_| "no receiver")??;
        let line = line.ok_or("the receiver ended before it listened")?;
        let addresses: Addresses = serde_json::from_str(&line)?;
        let control = Client::new(&Target::parse(&addresses.control)?, "none");
        Ok(Self { child, addresses, control, taken: 0 })
    }

    /// The processor time that the process has used.
    ///
    /// # Errors
    ///
    /// When the process has ended.
    pub(super) fn cpu(&self) -> Result<Duration, AnyError> {
        Meter::alone(self.child.id().ok_or("the receiver is gone")?).used()
    }

    async fn count(&mut self) -> Result<u64, AnyError> {
        let answer = self.control.call(&Call::Get("/count".to_owned())).await?;
        Ok(std::str::from_utf8(answer.body)?.parse()?)
    }

    /// Waits until `more` deliveries have arrived since the last call of `take`, or none arrive any
    /// more.
    ///
    /// # Errors
    ///
    /// When the process has ended.
    pub(super) async fn wait_for(&mut self, more: u64) -> Result<(), AnyError> {
        let mut last = (0, Instant::now());
        loop {
            let count = self.count().await?;
            if count >= self.taken + more || last.1.elapsed() > QUIET {
                return Ok(());
            }
            if count > last.0 {
                last = (count, Instant::now());
            }
            sleep(POLL).await;
        }
    }

    /// Takes the arrivals since the last call.
    ///
    /// # Errors
    ///
    /// When the process has ended.
    pub(super) async fn take(&mut self) -> Result<Vec<Arrival>, AnyError> {
        let mut all = Vec::new();
        loop {
            let answer = self.control.call(&Call::Post("/take".into(), String::new())).await?;
            let (arrivals, _) = answer.body.as_chunks::<{ Arrival::BYTES }>();
            if arrivals.is_empty() {
                self.taken += all.len() as u64;
                return Ok(all);
            }
            all.extend(arrivals.iter().copied().map(Arrival::from_bytes));
        }
    }
}
