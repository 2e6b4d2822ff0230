//! A server process that is measured.

use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::time::{sleep, timeout};

use crate::client::{Call, Client};
use crate::stores::AnyError;
use crate::target::Target;

/// The time limit of a start or a stop.
const PATIENCE: Duration = Duration::from_secs(60);

/// The memory of a process, in KiB.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Memory {
    /// The resident memory now.
    pub(crate) resident: u64,
    /// The part of it without a file.
    pub(crate) anonymous: u64,
    /// The greatest resident memory so far.
    pub(crate) peak: u64,
}

/// A running server. It is killed if it is dropped without [`Server::stop`].
pub(crate) struct Server {
    child: Child,
    target: Target,
    token: String,
    started_in: Duration,
}

impl Server {
    /// Starts a server on a database, on a free port of the loopback interface, and waits until it
    /// is ready.
    ///
    /// # Errors
    ///
    /// When it does not become ready.
    pub(crate) async fn start(program: &Path, database: &str) -> Result<Self, AnyError> {
        Self::start_with(program, database, &[]).await
    }

    /// [`Server::start`] with further options.
    ///
    /// # Errors
    ///
    /// When it does not become ready.
    pub(crate) async fn start_with(
        program: &Path,
        database: &str,
        options: &[&str],
    ) -> Result<Self, AnyError> {
        let started = Instant::now();
        // The token is given in the environment, where other users of the machine cannot see it.
        let token = format!("{:032x}", fastrand::u128(..));
        let mut child = Command::new(program)
            .env("RECADO_OPERATOR_TOKEN", &token)
            .args(["serve", "--listen", "127.0.0.1:0", "--log", "warn", "--database", database])
            .args(options)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| format!("{}: {error}", program.display()))?;
        let stdout = child.stdout.take().ok_or("the server has no standard output")?;
        let mut lines = BufReader::new(stdout).lines();
        let url = timeout(PATIENCE, async {
            while let Some(line) = lines.next_line().await? {
                if let Some((_, url)) = line.split_once("listening on ") {
                    return Ok(url.trim().to_owned());
                }
            }
            Err(AnyError::from("the server ended before it listened"))
        })
        .await
        .map_err(|_| "the server did not listen in time")??;
        // The output is not used any more, but it has to be read so that the pipe does not fill up.
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        let target = Target::parse(&url)?;
        let mut client = Client::new(&target, "none");
        while !is_ready(&mut client).await {
            if started.elapsed() > PATIENCE {
                return Err("the server did not become ready in time".into());
            }
            sleep(Duration::from_millis(1)).await;
        }
        Ok(Self { child, target, token, started_in: started.elapsed() })
    }

    /// The address that it listens on.
    pub(crate) const fn target(&self) -> &Target {
        &self.target
    }

    /// Its operator token.
    pub(crate) fn token(&self) -> &str {
        &self.token
    }

    /// Its process id.
    ///
    /// # Errors
    ///
    /// When it has ended.
    pub(crate) fn id(&self) -> Result<u32, AnyError> {
        Ok(self.child.id().ok_or("the server is gone")?)
    }

    /// The time from the start of the process to the first answer of the readiness probe.
    pub(crate) const fn started_in(&self) -> Duration {
        self.started_in
    }

    /// Its memory now.
    ///
    /// # Errors
    ///
    /// When it has ended.
    pub(crate) fn memory(&self) -> Result<Memory, AnyError> {
        let id = self.id()?;
        let status = std::fs::read_to_string(format!("/proc/{id}/status"))?;
        let field = |name: &str| -> Result<u64, AnyError> {
            let line = status.lines().find_map(|line| line.strip_prefix(name));
            let digits = line.and_then(|line| line.split_whitespace().next());
            Ok(digits.ok_or("no such line in the status of the process")?.parse()?)
        };
        Ok(Memory {
            resident: field("VmRSS:")?,
            anonymous: field("RssAnon:")?,
            peak: field("VmHWM:")?,
        })
    }

    /// Its memory after some time without calls.
    ///
    /// # Errors
    ///
    /// When it has ended.
    pub(crate) async fn memory_after(&self, idle: Duration) -> Result<Memory, AnyError> {
        sleep(idle).await;
        self.memory()
    }

    /// Stops it as an operator would, and waits for its end.
    ///
    /// # Errors
    ///
    /// When it does not end in time.
    pub(crate) async fn stop(mut self) -> Result<(), AnyError> {
        let id = self.id()?.to_string();
        Command::new("kill").args(["-TERM", &id]).status().await?;
        timeout(PATIENCE, self.child.wait()).await.map_err(|_| "the server did not stop")??;
        Ok(())
    }
}

async fn is_ready(client: &mut Client) -> bool {
    let call = Call::Get("/readyz".to_owned());
    matches!(client.call(&call).await, Ok(answer) if answer.status == 200)
}
