//! Saying that a test could not be run.

use std::fs::OpenOptions;
use std::io::Write;

/// Says that something was not run, past the capture of the test's output, and in the file that
/// `RECADO_NOT_RUN` names.
pub fn not_run(what: &str, why: &str) {
    let line = format!("NOT RUN: {what}: {why}\n");
    std::io::stderr().write_all(line.as_bytes()).expect("standard error");
    if let Some(file) = std::env::var_os("RECADO_NOT_RUN") {
        let file = OpenOptions::new().create(true).append(true).open(file);
        file.expect("the file").write_all(line.as_bytes()).expect("written");
    }
}
