//! The snippets, each with only its language's standard library.

use std::path::Path;
use std::process::Command;

use webhook_receiver::{PREVIOUS, SIGNATURE, verify};

use crate::drivers::{compare, is_there, line, not_run, path};
use crate::vectors::{Vector, given, made, vectors};

fn all() -> Vec<Vector> {
    let mut all = vectors(&made(1), &made(2));
    all.extend(vectors(&given(3), &made(4)));
    all
}

/// The command for a snippet and its driver; `None`, with a printed notice, if the language is
/// missing.
fn command(language: &str, program: &str, version: &str) -> Option<Command> {
    if is_there(program, version) {
        return Some(Command::new(program));
    }
    not_run(&format!("the snippet for {language}"), &format!("no {program} on this machine"));
    None
}

fn run(language: &str, command: Command) {
    let asked: Vec<(String, Vector)> = all()
        .into_iter()
        .map(|vector| {
            let (signature, previous) = (vector.header(SIGNATURE), vector.header(PREVIOUS));
            (line(&[&vector.secret, &vector.body, signature, previous]), vector)
        })
        .collect();
    compare(language, command, &asked);
}

fn interpreted(language: &str, program: &str, ending: &str) {
    if let Some(mut command) = command(language, program, "--version") {
        command.arg(path(&format!("tests/verifiers/drivers/check.{ending}")));
        command.arg(path(&format!("snippets/verify.{ending}")));
        run(language, command);
    }
}

#[test]
fn the_receiver_in_rust_verifies_what_is_sent() {
    for vector in all() {
        let signatures = [vector.header(SIGNATURE), vector.header(PREVIOUS)];
        let trusted =
            signatures.iter().any(|it| verify(&vector.secret, vector.body.as_bytes(), it));
        assert_eq!(trusted, vector.good, "{}", vector.name);
    }
}

#[test]
fn the_snippet_for_node_verifies_what_is_sent() {
    interpreted("Node", "node", "mjs");
}

#[test]
fn the_snippet_for_python_verifies_what_is_sent() {
    interpreted("Python", "python3", "py");
}

#[test]
fn the_snippet_for_php_verifies_what_is_sent() {
    interpreted("PHP", "php", "php");
}

#[test]
fn the_snippet_for_go_verifies_what_is_sent() {
    let Some(mut command) = command("Go", "go", "version") else { return };
    // A package consists of the files of one folder.
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("go");
    std::fs::create_dir_all(&folder).expect("a folder");
    let files = ["tests/verifiers/drivers/check.go", "snippets/verify.go"].map(path);
    let files = files.map(|from| {
        let to = folder.join(from.file_name().expect("a file"));
        std::fs::copy(from, &to).expect("copied");
        to
    });
    command.arg("run").args(files);
    command.env("GOCACHE", folder.join("cache")).env("GOTOOLCHAIN", "local");
    run("Go", command);
}
