//! `recado move` as a process that is killed in the middle (D76, R262).

use std::sync::Arc;

use recado_testkit::bucket::Bucket;
use recado_tests::backend::Database;
use recado_tests::binary::{Ended, Process, kill_recado, run_recado};
use recado_tests::world::{Tenant, export_at, tenant_at};
use recado_tests::{Request, StoreKind, both_stores, eventually, phone};
use serde_json::{Value, json};

use crate::backup::{contact, document, has_document, text_to};

async fn stop(process: Process) {
    process.signal("TERM").await;
    process.ended().await;
}

/// Asserts that what writes is refused because of the move, and what reads is not.
async fn is_closed(process: &Process, us: &Tenant) {
    let body = json!({ "phone": phone(900) });
    let request = Request::new("POST", "/api/v1/contacts").bearer(&us.key).json(&body);
    let refused = request.send(process.addr).await;
    refused.expect_error(503, "MOVING");
    assert_eq!(refused.header("retry-after"), "5");
    text_to(process, us, &phone(901)).await.expect_error(503, "MOVING");
    Request::new("GET", "/api/v1/contacts").bearer(&us.key).send(process.addr).await.expect(200);
}

/// It is killed when all rows are in the target and its documents are on their way: before the
/// target has anything.
#[both_stores]
async fn a_move_whose_process_is_killed_is_begun_again_by_the_same_command(kind: StoreKind) {
    let bucket = Bucket::start();
    let env = bucket.env();
    let env: Vec<(&str, &str)> = env.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let (source, target) = (Database::migrated(kind), Database::migrated(kind.other()));
    let process = Process::serve(&source, &[]).await;
    let folder = Arc::clone(&process.folder);
    let us = tenant_at(process.addr, "Acme", "enterprise").await;
    let mut people = Vec::new();
    for n in 0..40 {
        people.push(contact(&process, &us, n).await.expect("it is made"));
    }
    let file = document(&process, &us, &people[0]).await;
    stop(process).await;

    let documents = format!("file:{}", folder.path().join("recado-documents").display());
    let (from, to) = (source.url(), target.url());
    let order = ["--documents", &documents, "move", "--from", &from, "--to", &to];
    let order = [&order[..], &["--documents-to", "s3://files/moved", "--json"]].concat();
    bucket.stall();
    let stalled =
        eventually("a document is on its way", || async { (bucket.waiting() > 0).then_some(()) });
    kill_recado(&order, &env, stalled).await;
    bucket.go_on();

    let process = Process::serve_in(Arc::clone(&folder), &source, &[]).await;
    is_closed(&process, &us).await;
    stop(process).await;
    let list = |database: String| async move {
        let listed: Ended =
            run_recado(["--database", &database, "company", "list", "--json"], &[]).await;
        assert_eq!(listed.code, Some(0), "{}", listed.stderr);
        serde_json::from_str::<Value>(&listed.stdout).expect("JSON")
    };
    let ours = list(from.clone()).await;
    assert_ne!(list(to.clone()).await, ours, "the target has nothing yet");

    let moved = run_recado(&order, &env).await;
    assert_eq!(moved.code, Some(0), "{}", moved.stderr);
    let moved: Value = serde_json::from_str(&moved.stdout).expect("JSON");
    assert_eq!((&moved["already"], &moved["rows"]["contacts"]), (&json!(false), &json!(40)));
    assert_eq!(list(to).await, ours);
    let process = Process::serve_in(folder, &source, &[]).await;
    is_closed(&process, &us).await;
    stop(process).await;
    let process =
        Process::serve_with_env(&target, &["--documents", "s3://files/moved"], &env).await;
    assert_eq!(export_at(process.addr, &us.key, 100).await, people);
    has_document(&process, &us, &people[0], &file).await;
    contact(&process, &us, 900).await.expect("it is open");
}
