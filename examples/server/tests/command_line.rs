//! The command line as a whole: examples, `--json`, and what is done where there is no database.
#![cfg(unix)]

mod common;

use std::path::Path;
use std::process::{Command, Output};

use clap::CommandFactory;
use common::{recado, with_database};
use recado_server::Cli;
use recado_testkit::postgres::TestPostgres;
use serde_json::Value;

/// Commands that may make a database.
const MAKERS: [&str; 6] = ["init", "demo", "serve", "migrate", "restore", "move"];
/// Commands that use none.
const WITHOUT: [&str; 6] =
    ["openapi", "completions", "health", "man", "secret-key create", "connection gateways"];

/// Every command that does something, with the words that call it.
fn leaves() -> Vec<(String, clap::Command)> {
    fn walk(words: &str, command: &clap::Command, into: &mut Vec<(String, clap::Command)>) {
        let all = command.get_subcommands();
        let inner: Vec<_> = all.filter(|c| c.get_name() != "help" && !c.is_hide_set()).collect();
        if inner.is_empty() {
            into.push((words.trim().to_owned(), command.clone()));
        }
        for command in inner {
            walk(&format!("{words} {}", command.get_name()), command, into);
        }
    }
    let mut command = Cli::command();
    command.build();
    let mut all = Vec::new();
    walk("", &command, &mut all);
    assert!(all.len() > 30, "there are more: {}", all.len());
    all
}

/// The examples of a command's help, each as a shell would take it.
fn examples(command: &clap::Command) -> Vec<String> {
    let help = command.clone().render_long_help().to_string();
    let Some((_, after)) = help.split_once("Examples:\n") else { return Vec::new() };
    let lines = after.replace("\\\n", " ");
    let lines = lines.lines().take_while(|line| line.starts_with("  "));
    lines.map(|line| line.trim().to_owned()).collect()
}

fn run_line(folder: &Path, line: &str) -> Output {
    let binary = Path::new(env!("CARGO_BIN_EXE_recado")).parent().expect("a folder");
    let path = std::env::var("PATH").unwrap_or_default();
    let mut command = Command::new("sh");
    // Of the environment, the settings of the machine must not matter.
    command.env_clear().env("PATH", format!("{}:{path}", binary.display())).env("HOME", folder);
    command.args(["-c", line]).current_dir(folder).output().expect("it runs")
}

fn is_empty(folder: &Path) -> bool {
    std::fs::read_dir(folder).expect("a folder").next().is_none()
}

/// R265.
#[test]
fn every_command_has_examples_and_answers_in_json() {
    for (words, command) in leaves() {
        let all = examples(&command);
        assert!(!all.is_empty(), "recado {words} --help has no examples");
        for example in &all {
            let called = format!("recado {words}");
            assert!(example.contains(&called), "recado {words}: {example}");
        }
        for name in ["json", "database", "config"] {
            let known = command.get_arguments().any(|arg| arg.get_id() == name);
            assert!(known, "recado {words} takes no --{name}");
        }
    }
}

/// R264: each example is run as it is printed, where there is no database.
#[test]
fn every_other_command_says_that_there_is_no_database_and_makes_none() {
    for (words, command) in leaves() {
        if MAKERS.contains(&words.as_str()) || WITHOUT.contains(&words.as_str()) {
            continue;
        }
        for example in examples(&command) {
            // The addresses and the lists of addresses of examples lead nowhere.
            let elsewhere = ["--database ", "--cells "];
            let before = elsewhere.iter().find_map(|option| example.split_once(option));
            let example = before.map_or(example.as_str(), |(before, _)| before);
            let folder = tempfile::tempdir().expect("a temporary folder");
            let line = format!("{example} --json");
            let output = run_line(folder.path(), &line);
            let message = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(2), "{line}: {message}");
            let error: Value = serde_json::from_str(&message).expect("one JSON object");
            let error = error["error"].as_str().expect("a text");
            assert!(error.contains("there is no database at sqlite:recado.db"), "{line}: {error}");
            assert!(output.stdout.is_empty() && is_empty(folder.path()), "{line}");
        }
    }
}

/// R264.
#[test]
fn what_has_no_schema_is_no_database() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let empty = TestPostgres::shared().fresh_database();
    let url = empty.url().to_owned();
    let (server, _) = url.rsplit_once('/').expect("a name");
    let unknown = format!("{server}/no_such_database");
    std::fs::write(folder.path().join("empty.db"), "").expect("written");
    for database in [&url, &unknown, "sqlite:empty.db", "sqlite:no/such/folder/recado.db"] {
        let arguments = ["company", "list", "--database", database];
        let output = recado(folder.path()).args(arguments).output().expect("it runs");
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{database}: {message}");
        assert!(message.contains("there is no database"), "{database}: {message}");
        let made = recado(folder.path()).args(["migrate", "--database", database]).output();
        let made = made.expect("it runs").status.success();
        assert_eq!(made, database == url || database == "sqlite:empty.db", "{database}");
        let output = recado(folder.path()).args(arguments).output().expect("it runs");
        assert_eq!(output.status.success(), made, "{database}");
    }
}

/// R265.
#[test]
fn a_failure_is_one_json_object_with_json() {
    let folder = with_database();
    let nobody = "01a19b7c-a680-78b4-a652-e44da7f29e26";
    for (arguments, code, about) in [
        (&["company", "show", nobody][..], 1, "no such"),
        (&["company", "create", "A", "--plan", "gold"], 1, "--plan: "),
        (&["key", "create", "--company", nobody], 2, "--name"),
        (&["company", "show", "x"], 2, "must be the id of a company"),
        (&["company", "list", "--retention", "long"], 2, "--retention"),
        (&["sevre"], 2, "sevre"),
    ] {
        let output = recado(folder.path()).args(arguments).arg("--json").output();
        let output = output.expect("it runs");
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {message}");
        let error: Value = serde_json::from_str(&message).expect("one JSON object");
        let error = error["error"].as_str().expect("a text");
        assert!(error.contains(about), "{arguments:?}: {error}");
        assert!(output.stdout.is_empty());
    }
}

/// R265.
#[test]
fn the_options_of_the_server_are_listed_once() {
    for (words, command) in leaves() {
        let help = command.clone().render_long_help().to_string();
        for setting in recado_server::settings() {
            let is_listed = help.contains(&format!("--{} ", setting.name))
                || help.contains(&format!("--{}[", setting.name));
            let wanted = words == "serve" || setting.name == "database";
            if is_listed && !wanted {
                let is_own =
                    command.get_arguments().any(|a| a.get_id() == setting.name && !a.is_hide_set());
                assert!(!is_own, "recado {words} lists --{}", setting.name);
            }
            assert!(is_listed || !wanted, "recado {words} lists no --{}", setting.name);
        }
    }
}

/// R265.
#[test]
fn earlier_names_of_verbs_still_work() {
    for (arguments, leads_to) in [
        (&["company", "set"][..], "change"),
        (&["key", "set"], "change"),
        (&["key", "revoke"], "delete"),
        (&["webhook", "add"], "create"),
        (&["webhook", "set"], "change"),
        (&["endpoint", "add"], "create"),
        (&["inbox", "unknown"], "list"),
        (&["secret-key", "status"], "list"),
    ] {
        let command = Cli::command();
        let found = arguments.iter().try_fold(&command, |command, name| {
            command
                .get_subcommands()
                .find(|c| c.get_name() == *name || c.get_all_aliases().any(|alias| alias == *name))
        });
        assert_eq!(found.map(clap::Command::get_name), Some(leads_to), "{arguments:?}");
    }
}

/// R265.
#[test]
fn deliveries_are_listed_by_both_names() {
    let folder = with_database();
    let private = "--allow-private-destinations";
    let parsed = |arguments: &[&str]| -> Value {
        let all = [arguments, &["--json", private]].concat();
        serde_json::from_str(&common::done(folder.path(), &all)).expect("one JSON value")
    };
    let company = parsed(&["company", "create", "Padaria"]);
    let of = ["--company", company["id"].as_str().expect("an id")];
    let url = "http://127.0.0.1:9/hook";
    let hook = parsed(&[&["webhook", "create", url, "--events", "all"], &of[..]].concat());
    let hook = hook["id"].as_str().expect("an id");
    let delivery = parsed(&[&["webhook", "test", hook], &of[..]].concat());
    let delivery = delivery["id"].as_str().expect("an id");
    let listed = parsed(&[&["delivery", "list", "--webhook", hook], &of[..]].concat());
    assert_eq!(listed[0]["id"], delivery);
    assert_eq!(parsed(&[&["webhook", "deliveries"], &of[..]].concat()), listed);
    let shown = parsed(&[&["delivery", "show", delivery], &of[..]].concat());
    assert_eq!(parsed(&[&["webhook", "delivery", delivery], &of[..]].concat()), shown);
    for name in ["delivery", "webhook"] {
        let again = [&[name, "redeliver", delivery, private], &of[..]].concat();
        let output = recado(folder.path()).args(again).output().expect("it runs");
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(message.contains("still pending"), "{message}");
    }
}

#[test]
fn connections_and_endpoints_are_made_shown_changed_and_deleted() {
    let folder = with_database();
    let parsed = |arguments: &[&str]| -> Value {
        let all = [arguments, &["--json"]].concat();
        serde_json::from_str(&common::done(folder.path(), &all)).expect("one JSON value")
    };
    let company = parsed(&["company", "create", "Padaria"]);
    let of = ["--company", company["id"].as_str().expect("an id")];
    std::fs::write(folder.path().join("settings.json"), r#"{"delay_ms": 7}"#).expect("written");
    let new = ["--name", "Loja", "--kind", "qr", "--gateway", "simulated", "--identifier", "1"];
    let settings = ["--settings", "settings.json"];
    let made = parsed(&[&["connection", "create"], &new[..], &settings, &of].concat());
    assert_eq!((&made["name"], &made["settings"]["delay_ms"]), (&"Loja".into(), &7.into()));
    let id = made["id"].as_str().expect("an id");
    let change = ["connection", "change", id, "--name", "Matriz", "--active", "false"];
    let changed = parsed(&[&change[..], &of].concat());
    assert_eq!((&changed["name"], &changed["is_active"]), (&"Matriz".into(), &false.into()));
    assert_eq!(parsed(&[&["connection", "show", id], &of[..]].concat()), changed);
    assert_eq!(parsed(&[&["connection", "delete", id], &of[..]].concat())["deleted"], true);
    assert_eq!(parsed(&[&["connection", "list"], &of[..]].concat()), serde_json::json!([]));

    let new = ["endpoint", "create", "leads", "--map", "phone_number=$.p"];
    let made = parsed(&[&new[..], &of].concat());
    let id = made["id"].as_str().expect("an id");
    let change = ["endpoint", "change", id, "--map", "phone_number=$.q", "--public", "true"];
    let changed = parsed(&[&change[..], &["--active", "false"], &of].concat());
    assert_eq!(changed["variable_mapping"]["phone_number"], "$.q");
    assert_eq!((&changed["auth_mode"], &changed["is_active"]), (&"public".into(), &false.into()));
    assert_eq!(changed["slug"], "leads", "what is not named stays");
    assert_eq!(parsed(&[&["endpoint", "show", id], &of[..]].concat()), changed);
}

/// R265.
#[test]
fn completions_and_manual_pages_are_generated_without_a_database() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = common::done(folder.path(), &["completions", shell]);
        assert!(script.contains("rotate-secret") && script.contains("operator-token"), "{shell}");
    }
    let bash = common::done(folder.path(), &["completions", "bash"]);
    std::fs::write(folder.path().join("recado.bash"), &bash).expect("written");
    let script = "COMP_WORDS=(recado com); COMP_CWORD=1; . ./recado.bash; \
                  _recado recado com recado; echo ${COMPREPLY[*]}";
    match Command::new("bash").args(["-c", script]).current_dir(folder.path()).output() {
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stdout);
            assert!(said.contains("company") && said.contains("completions"), "{said}");
        }
        Err(_) => println!("NOT RUN: the completions in bash: it is not installed"),
    }
    let answer = common::done(folder.path(), &["completions", "fish", "--json"]);
    let answer: Value = serde_json::from_str(&answer).expect("one JSON object");
    assert_eq!(answer["shell"], "fish");
    let answer = common::done(folder.path(), &["man", "pages", "--json"]);
    let answer: Value = serde_json::from_str(&answer).expect("one JSON object");
    let pages = answer["pages"].as_array().expect("names");
    assert!(pages.len() > leaves().len(), "one for each command");
    let page = |name: &str| {
        std::fs::read_to_string(folder.path().join("pages").join(name)).expect("a page")
    };
    assert!(page("recado-company-create.1").contains("Examples"));
    assert!(page("recado-serve.1").contains("group\\-suffix"));
    assert!(!page("recado-company-create.1").contains("group\\-suffix"));
}

/// R264: an older schema is not changed by a command that only looks.
#[test]
fn a_command_leaves_an_older_schema_to_migrate() {
    let folder = with_database();
    let sql = "DELETE FROM schema_migrations WHERE number = (SELECT max(number) FROM \
               schema_migrations)";
    let path = folder.path().join("recado.db");
    rusqlite::Connection::open(path).and_then(|conn| conn.execute(sql, [])).expect("older");
    let output = recado(folder.path()).args(["company", "list"]).output().expect("it runs");
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(message.contains("recado migrate"), "{message}");
}

/// R265: also what serves says where it listens in JSON.
#[test]
fn serve_and_demo_say_in_json_where_they_listen() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for command in ["serve", "demo"] {
        let server = common::Server::start(folder.path(), &[command, "--json"], "{");
        let said: Value = serde_json::from_str(&server.printed[0]).expect("one JSON object");
        let url = said["listening"].as_str().expect("an address");
        let addr = url.strip_prefix("http://").expect("an address");
        if command == "demo" {
            let key = format!("Authorization: Bearer {}", said["key"].as_str().expect("a key"));
            assert_eq!(common::send(addr, "GET", "/api/v1/contacts", &[key], "").status, 200);
        }
        assert_eq!(common::get(addr, "/healthz").status, 200);
        server.stop();
    }
}
