//! Helpers for the tests of the binary: running it, and a small HTTP client.
#![allow(dead_code, reason = "each test program uses a part")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::time::Duration;

use serde_json::Value;

/// The configuration file that [`recado`] uses if it is in the folder.
pub(crate) const CONFIG: &str = "recado.toml";

/// The binary, in a folder, without the machine's configuration.
pub(crate) fn recado(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_recado"));
    for (name, _) in std::env::vars_os() {
        let shown = name.to_string_lossy();
        if shown.starts_with("RECADO_") || shown.starts_with("PG") {
            command.env_remove(name);
        }
    }
    if folder.join(CONFIG).exists() {
        command.env("RECADO_CONFIG", CONFIG);
    }
    command.current_dir(folder);
    command
}

/// A folder with an empty database.
pub(crate) fn with_database() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    done(folder.path(), &["migrate"]);
    folder
}

/// Runs a command that ends by itself; its standard output, if it succeeded.
pub(crate) fn done(folder: &Path, arguments: &[&str]) -> String {
    let output = recado(folder).args(arguments).output().expect("it runs");
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {message}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// A server in a process of its own.
pub(crate) struct Server {
    child: Child,
    output: BufReader<ChildStdout>,
    /// The lines that it printed until it was ready.
    pub(crate) printed: Vec<String>,
}

impl Server {
    /// Starts it and reads what it prints until a line begins with `until`.
    pub(crate) fn start(folder: &Path, arguments: &[&str], until: &str) -> Self {
        let mut child = recado(folder)
            .args(arguments)
            .args(["--listen", "127.0.0.1:0"])
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .expect("it runs");
        let output = BufReader::new(child.stdout.take().expect("piped"));
        let mut server = Self { child, output, printed: Vec::new() };
        loop {
            let mut line = String::new();
            let read = server.output.read_line(&mut line).expect("readable");
            assert!(read > 0, "it ended before it was ready: {:?}", server.printed);
            let ready = line.starts_with(until);
            server.printed.push(line.trim_end().to_owned());
            if ready {
                return server;
            }
        }
    }

    /// The address it listens on, such as `127.0.0.1:40123`.
    pub(crate) fn addr(&self) -> String {
        let prefix = "listening on http://";
        let line = self.printed.iter().find_map(|line| line.strip_prefix(prefix));
        line.expect("it says where it listens").to_owned()
    }

    /// Sends it a signal such as `TERM`.
    pub(crate) fn signal(&self, name: &str) {
        let signalled =
            Command::new("kill").args(["-s", name, &self.child.id().to_string()]).status();
        assert!(signalled.expect("kill runs").success());
    }

    /// Waits for its end.
    pub(crate) fn wait(mut self) -> ExitStatus {
        self.child.wait().expect("it ends")
    }

    /// Stops it gracefully.
    pub(crate) fn stop(self) {
        self.signal("TERM");
        assert_eq!(self.wait().code(), Some(0));
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // A failed test must leave no process running; a passed one has waited already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// An answer.
#[derive(Debug)]
pub(crate) struct ScriptedAnswer {
    pub(crate) status: u16,
    pub(crate) body: String,
}

impl ScriptedAnswer {
    /// Its body as JSON.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).expect("JSON")
    }
}

/// A connection with a timeout.
pub(crate) fn connect(addr: &str) -> TcpStream {
    let stream = TcpStream::connect(addr).expect("it listens");
    stream.set_read_timeout(Some(Duration::from_secs(30))).expect("set");
    stream
}

/// Sends one request on a connection of its own.
pub(crate) fn send(
    addr: &str,
    method: &str,
    path: &str,
    headers: &[String],
    body: &str,
) -> ScriptedAnswer {
    let mut stream = connect(addr);
    let headers: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
    let length = body.len();
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nHost: {addr}\r\nConnection: close\r\n{headers}\
         Content-Length: {length}\r\n\r\n{body}"
    )
    .expect("written");
    read_answer(&mut stream)
}

/// GET without a key.
pub(crate) fn get(addr: &str, path: &str) -> ScriptedAnswer {
    send(addr, "GET", path, &[], "")
}

/// Reads an answer to the end of the connection.
pub(crate) fn read_answer(stream: &mut TcpStream) -> ScriptedAnswer {
    let mut text = String::new();
    stream.read_to_string(&mut text).expect("an answer");
    let (head, body) = text.split_once("\r\n\r\n").expect("a head");
    let status = head.split(' ').nth(1).expect("a status").parse().expect("a number");
    ScriptedAnswer { status, body: body.to_owned() }
}
