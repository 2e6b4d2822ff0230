//! Running a program over vectors.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::vectors::Vector;

/// A path below this example.
pub(crate) fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// Reports that something was not run, not captured with the test's output.
pub(crate) fn not_run(what: &str, why: &str) {
    let line = format!("NOT RUN: {what}: {why}\n");
    std::io::stderr().write_all(line.as_bytes()).expect("standard error");
    if let Some(file) = std::env::var_os("RECADO_NOT_RUN") {
        let file = OpenOptions::new().create(true).append(true).open(file);
        file.expect("the file").write_all(line.as_bytes()).expect("written");
    }
}

/// Whether the program is installed.
pub(crate) fn is_there(program: &str, version: &str) -> bool {
    let mut command = Command::new(program);
    command.arg(version).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// A line of input: each part in base64.
pub(crate) fn line(parts: &[&str]) -> String {
    let parts: Vec<String> = parts.iter().map(|part| STANDARD.encode(part)).collect();
    parts.join(" ") + "\n"
}

/// Passes the vectors to a program, one line each, and compares every answer.
pub(crate) fn compare(what: &str, mut command: Command, asked: &[(String, Vector)]) {
    let input: String = asked.iter().map(|(line, _)| line.as_str()).collect();
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("{what} does not start: {error}"));
    let mut stdin = child.stdin.take().expect("piped");
    let writer = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
    let output = child.wait_with_output().expect("it ends");
    let written = writer.join().expect("the writer ends");
    assert!(output.status.success(), "{what}: {}", output.status);
    written.expect("it reads everything");
    let answers = String::from_utf8(output.stdout).expect("UTF-8");
    let answers: Vec<&str> = answers.lines().collect();
    assert_eq!(answers.len(), asked.len(), "{what}: an answer for each vector");
    for ((_, vector), answer) in asked.iter().zip(answers) {
        assert_eq!(answer, vector.good.to_string(), "{what}: {}", vector.name);
    }
}
