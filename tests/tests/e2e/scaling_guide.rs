//! The commands of docs/scaling.md, as they stand there. Only names of hosts, ports and the id of
//! the company are those of the test.

use std::fs;
use std::sync::Arc;

use recado_tests::backend::Database;
use recado_tests::binary::{Process, run_recado};
use recado_tests::world::{Tenant, ready_at, tenant_at};
use recado_tests::{OPERATOR, Request, StoreKind, on_postgres, phone};
use serde_json::json;
use tempfile::TempDir;

const GUIDE: &str = include_str!("../../../docs/scaling.md");
const FILE: &str = "cells.toml";
const COMPANY: &str = "01a19b7c-a680-78b4-a652-e44da7f29e26";

/// What the guide tells to type: the commands that were not run yet, and the file.
struct Guide {
    commands: Vec<Vec<String>>,
    cells: String,
}

impl Guide {
    fn read() -> Self {
        let (mut commands, mut cells) = (Vec::new(), String::new());
        for block in GUIDE.split("```sh\n").skip(1) {
            let mut block = block.split("```").next().expect("a block").replace("\\\n", " ");
            if let Some((before, rest)) = block.split_once("cat > cells.toml <<'END'\n") {
                let (file, after) = rest.split_once("END\n").expect("the end of the file");
                cells = file.to_owned();
                block = format!("{before}{after}");
            }
            let words = |line: &str| line.split_whitespace().map(unquoted).collect::<Vec<String>>();
            commands.extend(block.lines().map(words));
        }
        Self { commands, cells }
    }

    /// The next command that begins like this, without `recado`.
    fn next(&mut self, begins: &str) -> Vec<String> {
        let wanted = format!("recado {begins}");
        let at = self.commands.iter().position(|command| command.join(" ").starts_with(&wanted));
        let at = at.unwrap_or_else(|| panic!("the guide has no further `{wanted}`"));
        self.commands.remove(at).split_off(1)
    }
}

fn unquoted(word: &str) -> String {
    word.trim_matches('\'').to_owned()
}

/// What stands for the hosts of the guide.
struct Place {
    folder: Arc<TempDir>,
    databases: [Database; 2],
}

impl Place {
    fn new() -> Self {
        let folder = Arc::new(tempfile::tempdir().expect("a temporary folder"));
        let fresh = || Database::fresh(StoreKind::Postgres);
        Self { folder, databases: [fresh(), fresh()] }
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    /// A word of the guide, for this machine.
    fn here(&self, word: &str) -> String {
        let [first, second] = self.databases.each_ref().map(Database::url);
        let (before, host, name) = parts(&first);
        let of = |hosts: &[&str]| format!("{before}@{}/{name}", hosts.join(","));
        let hosts = |count: usize| of(&vec![host; count]);
        let replaced = word
            .replace("postgres://recado@db.example.com/recado", &first)
            .replace("postgres://recado@db0.example.com/recado", &first)
            .replace("postgres://recado@db1.example.com/recado", &second)
            .replace("postgres://recado@a.internal,b.internal,c.internal/recado", &hosts(3))
            .replace("postgres://recado@a.internal,b.internal/recado", &hosts(2))
            .replace("sqlite:recado.db", &format!("sqlite:{}", self.path("recado.db")))
            .replace("127.0.0.1:9191", "127.0.0.1:0");
        assert!(!replaced.contains("recado@"), "{word} is not known here");
        if replaced == FILE { self.path(FILE) } else { replaced }
    }

    fn command(&self, words: &[String]) -> Vec<String> {
        words.iter().map(|word| self.here(word)).collect()
    }

    /// Runs a command to its end: what it printed.
    async fn run(&self, words: &[String]) -> String {
        let ended = run_recado(self.command(words), &[]).await;
        assert_eq!(ended.code, Some(0), "{words:?}: {}", ended.stderr);
        ended.stdout
    }

    /// Starts a server by a command. Its port is any.
    async fn serve(&self, words: &[String]) -> Process {
        let mut command = self.command(words);
        command
            .extend(["--listen", "127.0.0.1:0", "--operator-token", OPERATOR].map(str::to_owned));
        let command: Vec<&str> = command.iter().map(String::as_str).collect();
        let process = Process::start(self.folder.clone(), &command).await;
        ready_at(process.addr).await;
        process
    }
}

/// What a URL has before its host, its host, and the name of its database.
fn parts(url: &str) -> (&str, &str, &str) {
    let (before, rest) = url.rsplit_once('@').expect("a user");
    let (host, name) = rest.split_once('/').expect("a database");
    (before, host, name)
}

async fn phones(process: &Process, us: &Tenant) -> Vec<String> {
    let request = Request::new("GET", "/api/v1/contacts").bearer(&us.key);
    let page = request.send(process.addr).await;
    page.expect(200);
    page.column("phone")
}

/// D76, R460, R461, R462, R464.
#[on_postgres]
async fn each_command_of_the_guide_does_what_it_says(_: StoreKind) {
    let (mut guide, place) = (Guide::read(), Place::new());

    let process = place.serve(&guide.next("serve --database sqlite:")).await;
    let us = tenant_at(process.addr, "Acme", "enterprise").await;
    let contact = Request::new("POST", "/api/v1/contacts").bearer(&us.key);
    contact.json(&json!({"phone": phone(1)})).send(process.addr).await.expect(201);
    process.kill().await;
    place.run(&guide.next("move --from sqlite:")).await;
    for begins in [
        "serve --database postgres:",
        "serve --database postgres://recado@a.internal",
        "serve --database postgres://recado@a.internal",
        "serve --cell 0",
    ] {
        let process = place.serve(&guide.next(begins)).await;
        assert_eq!(phones(&process, &us).await, [phone(1)], "{begins}");
        process.kill().await;
    }

    fs::write(place.path(FILE), place.here(&guide.cells)).expect("the file is written");
    let mut moving = guide.next("company move");
    for word in &mut moving {
        *word = word.replace(COMPANY, &us.id);
    }
    place.run(&moving).await;
    let listed = place.run(&guide.next("company list")).await;
    assert!(listed.contains(&us.id), "{listed}");
    let process = place.serve(&guide.next("serve --cell 1")).await;
    assert_eq!(phones(&process, &us).await, [phone(1)]);
    process.kill().await;

    // A number of shards is chosen for a new database.
    let many = Place::new();
    many.run(&guide.next("migrate")).await;
    assert_eq!(guide.commands, Vec::<Vec<String>>::new(), "these were not run");
}
