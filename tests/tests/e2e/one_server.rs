//! One server on an SQLite file, and what the next one takes over at once (R252).

use recado_tests::backend::Database;
use recado_tests::binary::{Process, run_recado};
use recado_tests::world::{operator_at, tenant_at};
use recado_tests::{Receiver, Request, StoreKind, phone};
use serde_json::json;

/// R252.
#[tokio::test(flavor = "multi_thread")]
async fn a_second_server_on_a_file_refuses_and_names_the_first() {
    let database = Database::migrated(StoreKind::Sqlite);
    let first = Process::serve(&database, &[]).await;
    let url = database.url();
    let second = ["serve", "--listen", "127.0.0.1:0", "--database", &url];
    let refused = run_recado(second, &[]).await;
    assert_eq!(refused.code, Some(1), "{}", refused.stderr);
    let named = format!("the process {} since 2", first.id());
    assert!(refused.stderr.contains(&named), "{}", refused.stderr);
    // Commands work beside it.
    let listed = run_recado(["company", "list", "--database", &url], &[]).await;
    assert_eq!(listed.code, Some(0), "{}", listed.stderr);
    first.kill().await;
    Process::serve(&database, &[]).await;
}

/// R252: without waiting for the lease of the killed server, which lasts ten seconds.
#[tokio::test(flavor = "multi_thread")]
async fn the_server_after_a_killed_one_delivers_at_once() {
    let database = Database::migrated(StoreKind::Sqlite);
    let receiver = Receiver::start().await;
    let args = ["--allow-private-destinations"];
    let process = Process::serve(&database, &args).await;
    let us = tenant_at(process.addr, "Acme", "enterprise").await;
    let hook = json!({ "url": receiver.url("/a"), "events": ["*"] });
    operator_at(process.addr, &us.id, "POST", "C/webhooks", hook).await.expect(201);
    let create = |n: u32| {
        let body = json!({ "phone": phone(n) });
        Request::new("POST", "/api/v1/contacts").bearer(&us.key).json(&body)
    };
    create(1).send(process.addr).await.expect(201);
    receiver.reaches("/a", 1).await;
    let killed = processes(&database);
    assert_eq!(killed.len(), 1, "it has a lease");
    process.kill().await;
    let process = Process::serve(&database, &args).await;
    assert!(!processes(&database).contains(&killed[0]), "its lease ended before the next served");
    create(2).send(process.addr).await.expect(201);
    receiver.reaches("/a", 2).await;
}

/// The processes that have a lease.
fn processes(database: &Database) -> Vec<String> {
    let Database::Sqlite(folder) = database else { unreachable!("it is SQLite") };
    let file = rusqlite::Connection::open(folder.path().join("recado.db")).expect("it opens");
    let mut rows = file.prepare("SELECT hex(id) FROM workers").expect("a statement");
    let rows = rows.query_map([], |row| row.get(0)).expect("rows");
    rows.map(|id| id.expect("an id")).collect()
}

/// A stopped server, and a command, leave the file alone: a copy of it is the whole database.
#[tokio::test(flavor = "multi_thread")]
async fn a_stopped_server_and_a_command_leave_no_log_behind() {
    let database = Database::migrated(StoreKind::Sqlite);
    let Database::Sqlite(folder) = &database else { unreachable!("it is SQLite") };
    let log = folder.path().join("recado.db-wal");
    let url = database.url();
    for command in [&["migrate"][..], &["company", "create", "Acme"]] {
        let args = [command, &["--database", &url]].concat();
        let done = run_recado(args, &[]).await;
        assert_eq!(done.code, Some(0), "{command:?}: {}", done.stderr);
        assert!(!log.exists(), "{command:?} has left a log");
    }
    let process = Process::serve(&database, &[]).await;
    tenant_at(process.addr, "Outra", "enterprise").await;
    assert!(log.exists(), "a server that runs has a log");
    process.signal("TERM").await;
    let (status, output) = process.ended().await;
    assert!(status.success(), "{output}");
    assert!(!log.exists(), "a stopped server has left a log");
}
