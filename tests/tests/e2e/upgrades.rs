//! Databases of earlier releases (tests/fixtures) are brought to the newest schema in one step,
//! while clients call: docs/operations.md, R248.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use recado_tests::backend::{Database, Setup, TestServer};
use recado_tests::binary::run_recado;
use recado_tests::{Request, StoreKind, both_stores, text};
use serde_json::{Value, json};
use tokio_postgres::NoTls;

/// The tables whose rows stay as they are while a server runs and clients make contacts.
const KEPT: [&str; 22] = [
    "companies",
    "contacts",
    "messages",
    "templates",
    "campaigns",
    "recipients",
    "lists",
    "list_members",
    "tags",
    "contact_tags",
    "members",
    "pipelines",
    "deals",
    "custom_fields",
    "close_reasons",
    "organizations",
    "documents",
    "webhooks",
    "inbound_endpoints",
    "links",
    "ledger_lines",
    "lead_memories",
];

/// The folders of the releases, oldest first.
fn releases() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let read = std::fs::read_dir(folder).expect("there are databases of releases");
    let mut releases: Vec<_> = read.map(|entry| entry.expect("an entry").path()).collect();
    releases.sort();
    assert!(!releases.is_empty());
    releases
}

fn unpacked(file: &Path) -> Vec<u8> {
    let output = Command::new("gzip").arg("-dc").arg(file).output().expect("there is a gzip");
    assert!(output.status.success(), "{}", file.display());
    output.stdout
}

/// A connection to a Postgres database.
async fn connect(url: &str) -> tokio_postgres::Client {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.expect("connects");
    tokio::spawn(connection);
    client
}

/// The database of a release.
async fn restored(kind: StoreKind, release: &Path) -> Database {
    let database = Database::fresh(kind);
    match &database {
        Database::Sqlite(folder) => {
            let bytes = unpacked(&release.join("recado.db.gz"));
            std::fs::write(folder.path().join("recado.db"), bytes).expect("it can be written");
        }
        Database::Postgres(database) => {
            let script = unpacked(&release.join("recado.sql.gz"));
            let script = String::from_utf8(script).expect("UTF-8");
            connect(database.url()).await.batch_execute(&script).await.expect("it is restored");
        }
    }
    database
}

type Rows = BTreeMap<String, Vec<BTreeMap<String, String>>>;

/// The rows of the tables that stay, each by its columns.
async fn content(database: &Database) -> Rows {
    let mut found = Rows::new();
    for table in KEPT {
        let rows = match database {
            Database::Sqlite(folder) => {
                let path = folder.path().join("recado.db");
                let conn = rusqlite::Connection::open(path).expect("opens");
                let Ok(mut statement) = conn.prepare(&format!("SELECT * FROM {table}")) else {
                    continue;
                };
                let names: Vec<String> = statement.column_names().map(str::to_owned).collect();
                let row = |row: &rusqlite::Row<'_>| {
                    let value = |at| row.get::<_, rusqlite::types::Value>(at);
                    let cells = names
                        .iter()
                        .enumerate()
                        .map(|(at, name)| Ok((name.clone(), format!("{:?}", value(at)?))));
                    cells.collect::<rusqlite::Result<BTreeMap<_, _>>>()
                };
                let rows = statement.query_map([], row).expect("rows");
                rows.map(|row| row.expect("a row")).collect()
            }
            Database::Postgres(database) => {
                let sql = format!(
                    "SELECT k.key, k.value FROM public.{table} t, \
                     LATERAL (SELECT array_agg(key ORDER BY key) AS key, \
                     array_agg(coalesce(value, 'NULL') ORDER BY key) AS value \
                     FROM jsonb_each_text(to_jsonb(t))) AS k"
                );
                let Ok(rows) = connect(database.url()).await.query(&sql, &[]).await else {
                    continue;
                };
                let pairs = |row: &tokio_postgres::Row| {
                    let names: Vec<String> = row.get(0);
                    names.into_iter().zip(row.get::<_, Vec<String>>(1)).collect()
                };
                rows.iter().map(pairs).collect::<Vec<BTreeMap<_, _>>>()
            }
        };
        found.insert(table.to_owned(), rows);
    }
    assert!(found["contacts"].len() > 1 && found["messages"].len() > 1, "it is populated");
    found
}

/// Columns that follow from others, and are made anew when these are.
const DERIVED: [&str; 2] = ["facet", "facet_id"];

/// Each row that was there is there, as far as its columns are.
fn assert_kept(before: &Rows, after: &Rows) {
    for (table, rows) in before {
        let Some(now) = after.get(table) else { panic!("{table} is gone") };
        for row in rows {
            let same = |new: &&BTreeMap<String, String>| {
                let mut own = row.iter().filter(|(name, _)| !DERIVED.contains(&name.as_str()));
                own.all(|(name, value)| new.get(name).is_none_or(|new| new == value))
            };
            assert!(now.iter().any(|new| same(&new)), "{table}: {row:?} is gone or changed");
        }
    }
}

/// Makes a contact, again and again until it is acknowledged.
async fn made(server: &TestServer, key: &str, number: usize) -> String {
    let body = json!({ "phone": format!("+55119{:08}", 70_000_000 + number) });
    loop {
        let request = Request::new("POST", "/api/v1/contacts").bearer(key);
        let request = request.header("Idempotency-Key", format!("upgrade-{number}")).json(&body);
        if let Some(answer) = request.try_send(server.addr).await {
            match answer.status {
                201 => return text(&answer.data()["contact"]["id"]),
                // The schema is not there yet.
                503 => {}
                status => panic!("{status}: {}", answer.show()),
            }
        }
        tokio::task::yield_now().await;
    }
}

/// One process waits for the schema, as `--no-migrate` does, and is called by a client that repeats
/// its calls; another one migrates; a third one replaces both.
#[both_stores]
async fn every_release_is_brought_to_the_newest_in_one_step_under_load(kind: StoreKind) {
    for release in releases() {
        let database = restored(kind, &release).await;
        let before = content(&database).await;
        let name = if kind == StoreKind::Sqlite { "sqlite.key" } else { "postgres.key" };
        let key = std::fs::read_to_string(release.join(name)).expect("a key").trim().to_owned();
        let setup =
            |no_migrate| Setup { no_migrate, no_background: true, alone: true, ..Setup::default() };
        let waiting = Arc::new(TestServer::start(&database, setup(true)).await);
        let stop = Arc::new(AtomicBool::new(false));
        let load = tokio::spawn({
            let (waiting, key, stop) = (waiting.clone(), key.clone(), stop.clone());
            async move {
                let mut ids = Vec::new();
                // The key may make 600 calls.
                while ids.len() < 200 && (!stop.load(Ordering::Relaxed) || ids.len() < 20) {
                    ids.push(made(&waiting, &key, ids.len()).await);
                }
                ids
            }
        });
        let _migrating = TestServer::start(&database, setup(false)).await;
        let successor = TestServer::start(&database, setup(false)).await;
        let ready = Request::new("GET", "/readyz").send(successor.addr).await;
        assert_eq!(ready.status, 200);
        stop.store(true, Ordering::Relaxed);
        for id in load.await.expect("the load ends") {
            let path = format!("/api/v1/contacts/{id}");
            Request::new("GET", path).bearer(&key).send(successor.addr).await.expect(200);
        }
        assert_kept(&before, &content(&database).await);
    }
}

/// What a process does on a schema that is older than it needs: nothing, until the schema is there.
#[both_stores]
async fn a_process_on_an_older_schema_answers_503_and_serves_after_the_migration(kind: StoreKind) {
    let database = Database::fresh(kind);
    let setup = || Setup { no_background: true, alone: true, ..Setup::default() };
    let waiting = TestServer::start(&database, Setup { no_migrate: true, ..setup() }).await;
    let ready = || async { Request::new("GET", "/readyz").send(waiting.addr).await.status };
    assert_eq!(ready().await, 503);
    let contacts = Request::new("GET", "/api/v1/contacts").bearer("rk_x").send(waiting.addr).await;
    assert_eq!(contacts.status, 503, "{}", contacts.show());
    let _migrating = TestServer::start(&database, setup()).await;
    assert_eq!(ready().await, 200);
}

/// R373: whoever upgrades is told to stop older processes before anything is written.
#[both_stores]
async fn a_check_on_v0_1_0_says_that_its_processes_have_to_be_stopped(kind: StoreKind) {
    let release = releases().remove(0);
    assert!(release.ends_with("v0.1.0"), "{}", release.display());
    let database = restored(kind, &release).await;
    let url = database.url();
    let check = async |more: &[&str]| {
        let all = ["migrate", "--check", "--database", &url];
        let ended = run_recado(all.iter().chain(more), &[]).await;
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        ended.stdout
    };
    let said = check(&[]).await;
    assert!(said.contains("stop them first"), "{said}");
    let plan: Value = serde_json::from_str(&check(&["--json"]).await).expect("JSON");
    assert_eq!(plan["stop_older_processes"], true, "{plan}");
    let pending = plan["migrations"].as_array().expect("migrations");
    for about in ["templates have", "searches for messages", "When a campaign begins"] {
        let is_it = |one: &&Value| text(&one["summary"]).contains(about);
        let found = pending.iter().find(is_it).unwrap_or_else(|| panic!("{about}: {plan}"));
        assert_eq!(found["expands"], false, "{found}");
    }
}
