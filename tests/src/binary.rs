//! The real `recado` binary as a child process.

use std::ffi::OsStr;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};
use tokio::process::{Child, Command};
use tokio::task::JoinHandle;

use crate::backend::Database;
use crate::world::OPERATOR;

/// What takes longer hangs: the machine may be slow and have much else to do.
const COMMAND_ENDS_WITHIN: Duration = Duration::from_secs(300);
const LISTENS_WITHIN: Duration = Duration::from_secs(120);

/// The path of the binary: the one that `RECADO_BIN` names, or else one that is built now, once,
/// into the directory of the test executable.
pub fn recado() -> &'static Path {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    // As `scripts/package` builds it, so that nothing is built twice.
    BINARY.get_or_init(|| {
        let built = std::env::var_os("RECADO_BIN").filter(|path| !path.is_empty());
        built.map_or_else(|| build("s3,otlp,oidc,nats"), PathBuf::from)
    })
}

fn build(features: &str) -> PathBuf {
    let test = std::env::current_exe().expect("the test executable");
    let folder = test.parent().expect("target/<profile>, or its deps");
    let profile = if folder.ends_with("deps") { folder.parent() } else { Some(folder) };
    let profile = profile.expect("target/<profile>");
    let target = profile.parent().expect("a target folder");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut build = std::process::Command::new(cargo);
    build.args(["build", "--quiet", "-p", "recado-server", "--bin", "recado"]);
    build.args(["--features", features]);
    build.arg("--target-dir").arg(target).current_dir(env!("CARGO_MANIFEST_DIR"));
    if profile.ends_with("release") {
        build.arg("--release");
    }
    assert!(build.status().expect("cargo runs").success(), "the binary builds");
    profile.join(format!("recado{}", std::env::consts::EXE_SUFFIX))
}

/// The output of a command that has ended.
#[derive(Clone, Debug)]
pub struct Ended {
    /// The exit code.
    pub code: Option<i32>,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

/// Runs a command of the binary to its end, in an empty folder, with an empty environment.
pub async fn run_recado<S: AsRef<OsStr>>(
    args: impl IntoIterator<Item = S>,
    env: &[(&str, &str)],
) -> Ended {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut command = command(folder.path());
    command.args(args).envs(env.iter().copied());
    let output = tokio::time::timeout(COMMAND_ENDS_WITHIN, command.output()).await;
    let output = output.expect("the command ends").expect("the binary runs");
    Ended {
        code: output.status.code(),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// Starts a command as [`run_recado`] does, and kills it (SIGKILL) once `when` has come.
pub async fn kill_recado<S: AsRef<OsStr>>(
    args: impl IntoIterator<Item = S>,
    env: &[(&str, &str)],
    when: impl Future<Output = ()>,
) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut command = command(folder.path());
    command.args(args).envs(env.iter().copied()).stdout(Stdio::null());
    let mut child = command.spawn().expect("the binary runs");
    when.await;
    let ended = child.try_wait().expect("a state");
    assert!(ended.is_none(), "it ended by itself: {ended:?}");
    child.kill().await.expect("it can be killed");
}

fn command(folder: &Path) -> Command {
    command_of(recado(), folder)
}

fn command_of(program: impl AsRef<OsStr>, folder: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(folder).kill_on_drop(true).stdin(Stdio::null());
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("RECADO_") {
            command.env_remove(name);
        }
    }
    command
}

/// A running server process.
#[derive(Debug)]
pub struct Process {
    /// The address that it listens on.
    pub addr: SocketAddr,
    /// The folder it runs in, which has its documents.
    pub folder: Arc<TempDir>,
    child: Child,
    output: Arc<Mutex<String>>,
    readers: Vec<JoinHandle<()>>,
}

impl Process {
    /// `recado serve` on a database, in a fresh folder.
    pub async fn serve(database: &Database, args: &[&str]) -> Self {
        let folder = Arc::new(tempfile::tempdir().expect("a temporary folder"));
        Self::serve_in(folder, database, args).await
    }

    /// `recado serve` on a database, in a folder that another process used before.
    pub async fn serve_in(folder: Arc<TempDir>, database: &Database, args: &[&str]) -> Self {
        let url = database.url();
        let mut all = vec!["serve", "--listen", "127.0.0.1:0", "--database", &url];
        all.extend(["--operator-token", OPERATOR]);
        all.extend(args);
        Self::start(folder, &all).await
    }

    /// `recado serve` on a database, in a fresh folder, with these environment variables.
    pub async fn serve_with_env(database: &Database, args: &[&str], env: &[(&str, &str)]) -> Self {
        let folder = Arc::new(tempfile::tempdir().expect("a temporary folder"));
        let url = database.url();
        let mut all = vec!["serve", "--listen", "127.0.0.1:0", "--database", &url];
        all.extend(["--operator-token", OPERATOR]);
        all.extend(args);
        Self::start_with_env(folder, &all, env).await
    }

    /// Any command that starts a server.
    pub async fn start(folder: Arc<TempDir>, args: &[&str]) -> Self {
        Self::start_with_env(folder, args, &[]).await
    }

    /// `recado serve` on a database, in a fresh folder, with this standard error. It is no part of
    /// the output.
    pub async fn serve_with_stderr(database: &Database, args: &[&str], stderr: Stdio) -> Self {
        let folder = Arc::new(tempfile::tempdir().expect("a temporary folder"));
        let url = database.url();
        let mut all = vec!["serve", "--listen", "127.0.0.1:0", "--database", &url];
        all.extend(["--operator-token", OPERATOR]);
        all.extend(args);
        Self::spawn(folder, &all, &[], stderr).await
    }

    /// `recado serve` on a database, in a fresh folder, with so many descriptors at most.
    #[cfg(unix)]
    pub async fn serve_limited(database: &Database, args: &[&str], descriptors: &str) -> Self {
        let folder = Arc::new(tempfile::tempdir().expect("a temporary folder"));
        let url = database.url();
        let mut all = vec!["serve", "--listen", "127.0.0.1:0", "--database", &url];
        all.extend(["--operator-token", OPERATOR]);
        all.extend(args);
        let mut shell = command_of("sh", folder.path());
        shell.args(["-c", "ulimit $0 && exec \"$@\"", descriptors]).arg(recado()).args(all);
        shell.stdout(Stdio::piped()).stderr(Stdio::piped());
        Self::running(folder, shell).await
    }

    /// A command that starts a server, by way of another program such as `unshare`, which becomes
    /// it: `around` ends with the path of the binary.
    pub async fn serve_within(around: &[&str], args: &[&str]) -> Self {
        let folder = Arc::new(tempfile::tempdir().expect("a temporary folder"));
        let (program, before) = around.split_first().expect("a program");
        let mut command = command_of(program, folder.path());
        command.args(before).args(args).stdout(Stdio::piped()).stderr(Stdio::piped());
        Self::running(folder, command).await
    }

    /// Starts `recado serve` on a database and kills it (SIGKILL) so much later, wherever it is
    /// then.
    pub async fn cut_off(folder: Arc<TempDir>, database: &Database, args: &[&str], wait: Duration) {
        let url = database.url();
        let mut command = command(folder.path());
        command.args(["serve", "--listen", "127.0.0.1:0", "--database", &url]);
        command.args(["--operator-token", OPERATOR]).args(args);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().expect("the binary runs");
        tokio::time::sleep(wait).await;
        let ended = child.try_wait().expect("a state");
        assert!(ended.is_none(), "it ended by itself: {ended:?}");
        child.kill().await.expect("it can be killed");
    }

    async fn start_with_env(folder: Arc<TempDir>, args: &[&str], env: &[(&str, &str)]) -> Self {
        Self::spawn(folder, args, env, Stdio::piped()).await
    }

    async fn spawn(
        folder: Arc<TempDir>,
        args: &[&str],
        env: &[(&str, &str)],
        stderr: Stdio,
    ) -> Self {
        let mut command = command(folder.path());
        command.envs(env.iter().copied());
        command.args(args).stdout(Stdio::piped()).stderr(stderr);
        Self::running(folder, command).await
    }

    async fn running(folder: Arc<TempDir>, mut command: Command) -> Self {
        let mut child = command.spawn().expect("the binary runs");
        // It holds this process's end of the standard error.
        drop(command);
        let output = Arc::new(Mutex::new(String::new()));
        let stdout = child.stdout.take().expect("piped");
        let mut readers = vec![tokio::spawn(collect(stdout, Arc::clone(&output)))];
        if let Some(stderr) = child.stderr.take() {
            readers.push(tokio::spawn(collect(stderr, Arc::clone(&output))));
        }
        let unbound = SocketAddr::from(([127, 0, 0, 1], 0));
        let mut process = Self { addr: unbound, folder, child, output, readers };
        process.addr = process.bound().await;
        process
    }

    /// The address of the operator's own listener, which it printed before the other.
    pub fn operator_addr(&self) -> SocketAddr {
        let output = self.output();
        let line = output.lines().find_map(|line| line.strip_prefix("operator API on http://"));
        line.expect("it is printed").parse().expect("an address")
    }

    /// The id of the process.
    pub fn id(&self) -> u32 {
        self.child.id().expect("it runs")
    }

    async fn bound(&mut self) -> SocketAddr {
        let deadline = std::time::Instant::now() + LISTENS_WITHIN;
        loop {
            let output = self.output();
            let lines = output.lines().filter(|line| line.contains("listening on http://"));
            let mut addrs = lines.filter_map(|line| {
                let rest = line.split("listening on http://").nth(1)?;
                let end = rest.find(|c: char| !"0123456789.:[]".contains(c)).unwrap_or(rest.len());
                rest[..end].parse().ok()
            });
            if let Some(addr) = addrs.next_back() {
                return addr;
            }
            let ended = self.child.try_wait().expect("a state");
            assert!(ended.is_none(), "the process ended: {ended:?}\n{output}");
            assert!(std::time::Instant::now() < deadline, "it does not listen:\n{output}");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// Its output so far.
    pub fn output(&self) -> String {
        self.output.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Kills the process (SIGKILL).
    pub async fn kill(mut self) {
        self.kill_now().await;
    }

    /// Kills the process as [`Process::kill`] does, where another one takes its place.
    pub async fn kill_now(&mut self) {
        self.child.kill().await.expect("it can be killed");
    }

    /// Kills the process as [`Process::kill`] does, and returns its output.
    pub async fn kill_and_read(mut self) -> String {
        self.child.kill().await.expect("it can be killed");
        for reader in self.readers.drain(..) {
            reader.await.expect("the output is read");
        }
        self.output()
    }

    /// Sends a signal such as `TERM` to the process.
    pub async fn signal(&self, name: &str) {
        let pid = self.child.id().expect("it runs").to_string();
        let sent = Command::new("kill").args([&format!("-{name}"), &pid]).status().await;
        assert!(sent.expect("kill runs").success());
    }

    /// Waits until the process ends.
    pub async fn ended(mut self) -> (ExitStatus, String) {
        let ended = tokio::time::timeout(Duration::from_secs(45), self.child.wait()).await;
        let status = ended.expect("it ends").expect("a status");
        (status, self.output())
    }
}

async fn collect(stream: impl AsyncRead + Unpin, into: Arc<Mutex<String>>) {
    let mut lines = BufReader::new(stream).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        let mut output = into.lock().unwrap_or_else(PoisonError::into_inner);
        output.push_str(&line);
        output.push('\n');
    }
}
