//! A real NATS server for tests, found on the machine.

use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use std::{env, thread};

/// The environment variable with the path of the program.
const PROGRAM: &str = "RECADO_NATS_SERVER";

/// A NATS server on a port of its own. It is stopped when this is dropped.
#[derive(Debug)]
pub struct NatsServer {
    port: u16,
    args: Vec<String>,
    process: Option<Child>,
}

impl NatsServer {
    /// Starts one that anybody may use.
    ///
    /// # Panics
    ///
    /// If there is no `nats-server`, or it does not start.
    pub fn start() -> Self {
        let mut server = Self::stopped();
        server.restart();
        server
    }

    /// Starts one with these arguments, such as `--user` and `--pass`.
    ///
    /// # Panics
    ///
    /// If there is no `nats-server`, or it does not start.
    pub fn with_args(args: &[&str]) -> Self {
        let mut server = Self::stopped();
        server.restart_with(args);
        server
    }

    /// One that does not run yet: a port where nobody listens.
    ///
    /// # Panics
    ///
    /// If no port is free.
    pub fn stopped() -> Self {
        let free = TcpListener::bind(("127.0.0.1", 0)).and_then(|listener| listener.local_addr());
        Self { port: free.expect("a port is free").port(), args: Vec::new(), process: None }
    }

    /// The port of the server.
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// The address of the server, such as `127.0.0.1:4222`.
    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// The URL of the server, without a password.
    pub fn url(&self) -> String {
        format!("nats://{}", self.address())
    }

    /// Kills the server (SIGKILL).
    ///
    /// # Panics
    ///
    /// If it does not run.
    pub fn kill(&mut self) {
        let mut process = self.process.take().expect("it runs");
        process.kill().expect("it can be killed");
        process.wait().expect("it ends");
    }

    /// Starts the server that was stopped, on the same port, with other arguments.
    ///
    /// # Panics
    ///
    /// If there is no `nats-server`, or it does not start.
    pub fn restart_with(&mut self, args: &[&str]) {
        self.args = args.iter().map(|&arg| arg.to_owned()).collect();
        self.restart();
    }

    /// Starts the server that was stopped, on the same port.
    ///
    /// # Panics
    ///
    /// If there is no `nats-server`, or it does not start.
    pub fn restart(&mut self) {
        let process = Command::new(program())
            .args(["--addr", "127.0.0.1", "--port", &self.port.to_string()])
            .args(&self.args)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .current_dir("/")
            .spawn();
        self.process = Some(process.expect("nats-server can be started"));
        for _ in 0..200 {
            if TcpStream::connect(("127.0.0.1", self.port)).is_ok() {
                return;
            }
            thread::sleep(Duration::from_millis(50));
        }
        panic!("nats-server does not start");
    }
}

impl Drop for NatsServer {
    fn drop(&mut self) {
        if let Some(mut process) = self.process.take() {
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

/// The program that the variable names, or the one of the machine.
fn program() -> PathBuf {
    let named = env::var_os(PROGRAM).map(PathBuf::from);
    let path = env::var_os("PATH").unwrap_or_default();
    let on_path = env::split_paths(&path).map(|folder| folder.join("nats-server"));
    // Where Debian puts it; the path of users other than root lacks this folder.
    let packaged = Path::new("/usr/sbin/nats-server").to_owned();
    let found = named.into_iter().chain(on_path).chain([packaged]).find(|path| path.is_file());
    found.unwrap_or_else(|| {
        panic!("no nats-server found: run the tests by scripts/test, or set {PROGRAM} to its path")
    })
}
