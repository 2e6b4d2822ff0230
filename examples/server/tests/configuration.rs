//! The binary's configuration: the sources of values, and the errors of invalid ones.

use std::path::PathBuf;
use std::process::{Command, Output};

fn recado() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_recado"));
    // The environment of the machine that runs the tests must not matter.
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("RECADO_") {
            command.env_remove(name);
        }
    }
    command
}

fn refused(output: &Output) -> String {
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(output.stdout.is_empty(), "nothing is answered");
    message
}

fn config(text: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("recado.toml");
    std::fs::write(&path, text).expect("written");
    (folder, path)
}

#[test]
fn a_wrong_flag_is_named_and_answers_2() {
    for (flag, value) in [
        ("--database", "mysql://localhost"),
        ("--listen", "nowhere"),
        ("--documents", "ftp://here"),
        ("--public-url", "recado.example"),
        ("--group-suffix", "g us"),
        ("--webhook-retry-waits", "30s,2m,10m"),
        ("--webhook-retry-waits", "30s,2m,10m,30m,1h"),
        ("--webhook-retry-waits", "30s,2m,10m,soon"),
        ("--webhook-timeout", "10"),
        ("--webhook-timeout", "0s"),
        ("--retention", "30 days"),
        ("--trusted-proxies", "10.0.0.0/8,proxy"),
        ("--cnpj-registry", "brasilapi"),
        ("--log", "info,recado=loud"),
    ] {
        let output = recado().args(["serve", flag, value]).output().expect("it runs");
        let message = refused(&output);
        assert!(message.contains(flag), "{flag} {value}: {message}");
    }
    let output = recado().args(["serve", "--no-migrate=maybe"]).output().expect("it runs");
    assert!(refused(&output).contains("--no-migrate"));
}

#[test]
fn a_wrong_variable_is_named_and_answers_2() {
    let output =
        recado().arg("serve").env("RECADO_WEBHOOK_TIMEOUT", "fast").output().expect("it runs");
    assert!(refused(&output).contains("RECADO_WEBHOOK_TIMEOUT"));
}

#[test]
fn every_mistake_is_reported_at_once() {
    let output = recado()
        .args(["serve", "--listen", "nowhere"])
        .env("RECADO_RETENTION", "long")
        .output()
        .expect("it runs");
    let message = refused(&output);
    assert!(message.contains("--listen") && message.contains("RECADO_RETENTION"), "{message}");
}

#[test]
fn a_file_with_an_unknown_key_answers_2() {
    let (_folder, path) = config("databse = \"sqlite:a.db\"\n");
    let output = recado().arg("serve").arg("--config").arg(&path).output().expect("it runs");
    let message = refused(&output);
    assert!(message.contains("`databse` is not an option"), "{message}");
}

#[test]
fn a_file_that_is_missing_or_no_toml_answers_2() {
    let output = recado().args(["serve", "--config", "/no/such/file"]).output().expect("it runs");
    assert!(refused(&output).contains("/no/such/file"));
    let (_folder, path) = config("listen = \n");
    let output = recado().arg("serve").env("RECADO_CONFIG", &path).output().expect("it runs");
    assert!(refused(&output).contains("recado.toml"));
}

#[test]
fn a_flag_wins_over_the_environment_and_that_over_the_file() {
    let (_folder, path) = config("log = \"in=the=file\"\n");
    let run = |flag: Option<&str>, variable: Option<&str>| {
        let mut command = recado();
        command.arg("migrate").arg("--config").arg(&path).args(["--database", "sqlite:"]);
        command.args(flag.map(|value| format!("--log={value}")));
        variable.map(|value| command.env("RECADO_LOG", value));
        refused(&command.output().expect("it runs"))
    };
    assert!(run(None, None).contains("`log` in"));
    assert!(run(None, Some("in=the=env")).contains("RECADO_LOG"));
    let flag_wins = run(Some("info"), Some("in=the=env"));
    assert!(!flag_wins.contains("RECADO_LOG") && !flag_wins.contains("`log`"), "{flag_wins}");
}

#[test]
fn an_unknown_flag_or_command_answers_2() {
    for arguments in [&["serve", "--lisen", "a"][..], &["sevre"], &[]] {
        let output = recado().args(arguments).output().expect("it runs");
        refused(&output);
    }
}

#[test]
fn help_names_each_option_in_its_three_forms() {
    let output = recado().args(["serve", "--help"]).output().expect("it runs");
    assert!(output.status.success());
    let help = String::from_utf8(output.stdout).expect("UTF-8");
    for setting in recado_server::settings() {
        assert!(help.contains(&format!("--{}", setting.name)), "--{}", setting.name);
        assert!(help.contains(setting.env), "{}", setting.env);
        assert!(help.contains(&format!("[file: {}]", setting.name)), "file: {}", setting.name);
    }
    for default in ["sqlite:recado.db", "127.0.0.1:8080", "file:recado-documents", "30s,2m,10m,30m"]
    {
        assert!(help.contains(&format!("[default: {default}]")), "{default}");
    }
}

#[test]
fn help_shows_no_value_of_the_environment() {
    let output = recado()
        .args(["serve", "--help"])
        .env("RECADO_OPERATOR_TOKEN", "hunter2")
        .output()
        .expect("it runs");
    assert!(!String::from_utf8_lossy(&output.stdout).contains("hunter2"));
}

#[test]
fn an_address_that_is_taken_answers_1() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let addr = taken.local_addr().expect("bound").to_string();
    let output = recado()
        .current_dir(folder.path())
        .args(["serve", "--listen", &addr])
        .output()
        .expect("it runs");
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(message.contains(&addr), "{message}");
}

#[test]
fn a_database_that_cannot_be_reached_answers_1_without_its_password() {
    let refused = "postgres://recado:hunter2@127.0.0.1:1/recado";
    let output = recado().args(["serve", "--database", refused]).output().expect("it runs");
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(message.contains("database") && !message.contains("hunter2"), "{message}");
}
