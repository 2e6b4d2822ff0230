//! The restore drill: a backup under load, restored elsewhere, on hold until it is resumed (D75,
//! R253); and a hold of a running server.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use recado_tests::backend::Database;
use recado_tests::binary::{Ended, Process, run_recado};
use recado_tests::world::{Tenant, export_at, operator_at, ready_at, tenant_at};
use recado_tests::{
    OPERATOR, Receiver, Request, StoreKind, both_stores, eventually, join_all, mobile, phone, text,
};
use serde_json::{Value, json};

const SERVE: &[&str] = &["--allow-private-destinations"];

/// Runs a command on a database, with a folder of documents.
async fn run(database: &Database, documents: &Path, args: &[&str]) -> Ended {
    let (url, documents) = (database.url(), format!("file:{}", documents.display()));
    let mut all = vec!["--database", &url, "--documents", &documents];
    all.extend(args);
    run_recado(all, &[("PATH", &std::env::var("PATH").unwrap_or_default())]).await
}

async fn done(database: &Database, documents: &Path, args: &[&str]) -> Value {
    let ended = run(database, documents, args).await;
    assert_eq!(ended.code, Some(0), "{args:?}: {}", ended.stderr);
    serde_json::from_str(&ended.stdout).unwrap_or(Value::Null)
}

async fn refused(database: &Database, documents: &Path, args: &[&str], about: &str) {
    let ended = run(database, documents, args).await;
    assert_eq!(ended.code, Some(1), "{args:?}: {}", ended.stderr);
    assert!(ended.stderr.contains(about), "{args:?}: {}", ended.stderr);
}

async fn make(process: &Process, us: &Tenant, path: &str, body: Value) -> Value {
    operator_at(process.addr, &us.id, "POST", path, body).await.expect(201).clone()
}

pub(super) async fn contact(process: &Process, us: &Tenant, n: u32) -> Option<String> {
    let body = json!({ "phone": phone(n) });
    let request = Request::new("POST", "/api/v1/contacts").bearer(&us.key).json(&body);
    let answer = request.try_send(process.addr).await?;
    (answer.status == 201).then(|| text(&answer.data()["contact"]["id"]))
}

pub(super) async fn text_to(
    process: &Process,
    us: &Tenant,
    to: &str,
) -> recado_tests::ScriptedAnswer {
    let body = json!({ "to": to, "message": "oi" });
    Request::new("POST", "/api/v1/send/message")
        .bearer(&us.key)
        .json(&body)
        .send(process.addr)
        .await
}

pub(super) async fn qr(process: &Process, us: &Tenant) -> String {
    let body = json!({
        "kind": "qr", "name": "c", "identifier": "+551140000000", "gateway": "simulated",
    });
    text(&make(process, us, "C/connections", body).await["id"])
}

/// A campaign that sends a message a second to these contacts, in these hours.
pub(super) async fn campaign(
    process: &Process,
    us: &Tenant,
    contacts: &[String],
    hours: Value,
) -> String {
    let list = make(process, us, "C/lists", json!({ "name": "all" })).await;
    let list = text(&list["id"]);
    let path = format!("C/lists/{list}/contacts");
    operator_at(process.addr, &us.id, "POST", &path, json!({ "contact_ids": contacts }))
        .await
        .expect(200);
    let template = json!({
        "name": "promo", "category": "MARKETING", "body": "Olá {{1}}", "status": "APPROVED",
    });
    let template = text(&make(process, us, "C/templates", template).await["id"]);
    let campaign = json!({
        "name": "Natal", "template_id": template, "list_id": list, "variables": { "1": "você" },
        "messages_per_second": 1, "send_between": hours,
    });
    let campaign = text(&make(process, us, "C/campaigns", campaign).await["id"]);
    let path = format!("C/campaigns/{campaign}/start");
    operator_at(process.addr, &us.id, "POST", &path, json!({})).await.expect(200);
    campaign
}

pub(super) async fn document(process: &Process, us: &Tenant, contact: &str) -> String {
    let path =
        format!("/operator/v1/companies/{}/contacts/{contact}/documents?filename=a.txt", us.id);
    let request = Request::new("POST", path)
        .bearer(OPERATOR)
        .header("content-type", "text/plain")
        .body(&b"what is written here"[..]);
    let made = request.send(process.addr).await;
    text(&made.expect(201)["id"])
}

/// Asserts that the document is there, whole.
pub(super) async fn has_document(process: &Process, us: &Tenant, contact: &str, document: &str) {
    let path = format!("/operator/v1/companies/{}/contacts/{contact}/documents/{document}", us.id);
    let bytes = Request::new("GET", path).bearer(OPERATOR).send(process.addr).await;
    assert_eq!((bytes.status, &bytes.body[..]), (200, &b"what is written here"[..]));
}

pub(super) fn has_programs(kind: StoreKind) -> bool {
    let has = kind == StoreKind::Sqlite
        || std::process::Command::new("pg_dump").arg("--version").output().is_ok();
    if !has {
        println!("NOT RUN: pg_dump is not here");
    }
    has
}

/// D75, R253.
#[both_stores]
async fn a_backup_under_load_has_what_was_acknowledged_and_sends_nothing_before_it_is_resumed(
    kind: StoreKind,
) {
    if !has_programs(kind) {
        return;
    }
    let database = Database::migrated(kind);
    let receiver = Receiver::start().await;
    let process = Process::serve(&database, SERVE).await;
    let documents = process.folder.path().join("recado-documents");
    let us = tenant_at(process.addr, "Acme", "enterprise").await;
    qr(&process, &us).await;
    let hook = json!({ "url": receiver.url("/a"), "events": ["*"] });
    make(&process, &us, "C/webhooks", hook).await;
    let mut first = Vec::new();
    for n in 0..60 {
        first.push(contact(&process, &us, n).await.expect("it is made"));
    }
    let document = document(&process, &us, &first[0]).await;
    let campaign = campaign(&process, &us, &first, Value::Null).await;

    // Load, and a backup in the middle of it.
    let (stop, made) = (AtomicBool::new(false), Mutex::new(first.clone()));
    let load = (1..=4_u32).map(|worker| {
        let (process, us, stop, made) = (&process, &us, &stop, &made);
        async move {
            for n in 0.. {
                if stop.load(Ordering::SeqCst) {
                    break;
                }
                if let Some(id) = contact(process, us, worker * 100_000 + n).await {
                    made.lock().expect("nobody panicked").push(id);
                }
            }
        }
    });
    let kept = tempfile::tempdir().expect("a temporary folder");
    let dir = kept.path().join("backup");
    let shown = dir.display().to_string();
    let backing_up = async {
        let before = eventually("there is a load", || async {
            let made = made.lock().expect("nobody panicked");
            (made.len() > first.len()).then(|| made.clone())
        })
        .await;
        let backup = done(&database, &documents, &["backup", &shown, "--json"]).await;
        stop.store(true, Ordering::SeqCst);
        (before, backup)
    };
    let ((before, backup), _) = tokio::join!(backing_up, join_all(load.collect()));
    let store = match kind {
        StoreKind::Sqlite => "sqlite",
        StoreKind::Postgres => "postgres",
    };
    assert_eq!((&backup["store"], &backup["documents"]), (&json!(store), &json!(1)));
    refused(&database, &documents, &["backup", &shown], "is not empty").await;
    process.signal("TERM").await;
    process.ended().await;
    if let Database::Sqlite(folder) = &database {
        assert!(!folder.path().join("recado.db-wal").exists(), "the file is the whole database");
    }

    // Elsewhere.
    let copy = Database::fresh(kind);
    let elsewhere = tempfile::tempdir().expect("a temporary folder");
    let files = elsewhere.path().join("recado-documents");
    let restored = done(&copy, &files, &["restore", &shown, "--json"]).await;
    assert_eq!((&restored["held"], &restored["campaigns_paused"]), (&json!(true), &json!(1)));
    refused(&copy, &files, &["restore", &shown], "empty").await;
    let arrived = receiver.deliveries();
    let option = format!("file:{}", files.display());
    let process =
        Process::serve(&copy, &["--allow-private-destinations", "--documents", &option]).await;
    let ready = ready_at(process.addr).await;
    assert_eq!(ready["data"]["held"], true, "{ready}");
    assert!(text(&ready["data"]["reason"]).starts_with("restored from the backup of"));
    let there: BTreeSet<String> = export_at(process.addr, &us.key, 100).await.into_iter().collect();
    for id in &before {
        assert!(there.contains(id), "{id} was acknowledged before the backup began");
    }
    has_document(&process, &us, &first[0], &document).await;
    let path = format!("C/campaigns/{campaign}");
    let shown = operator_at(process.addr, &us.id, "GET", &path, Value::Null).await;
    assert_eq!(shown.expect(200)["status"], "paused");

    // It sends nothing, and takes everything else.
    text_to(&process, &us, &mobile(1)).await.expect_error(503, "ON_HOLD");
    contact(&process, &us, 900_000).await.expect("it is made");
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!(receiver.deliveries(), arrived, "the copy has told somebody");
    let metrics = Request::new("GET", "/metrics").send(process.addr).await;
    assert!(String::from_utf8_lossy(&metrics.body).contains("recado_held 1"));

    done(&copy, &files, &["resume", "--json"]).await;
    eventually("what waits is delivered", || async {
        (receiver.deliveries() > arrived).then_some(())
    })
    .await;
    eventually("it sends again", || async {
        (text_to(&process, &us, &mobile(1)).await.status == 200).then_some(())
    })
    .await;
    let shown = operator_at(process.addr, &us.id, "GET", &path, Value::Null).await;
    assert_eq!(shown.expect(200)["status"], "paused", "its operator starts it");
}

/// D75: a command puts a running server on hold within five seconds, and its restart changes
/// nothing.
#[both_stores]
async fn a_running_server_notices_a_hold_and_keeps_it_over_a_restart(kind: StoreKind) {
    let database = Database::migrated(kind);
    let process = Process::serve(&database, SERVE).await;
    let documents = process.folder.path().join("recado-documents");
    let us = tenant_at(process.addr, "Acme", "enterprise").await;
    qr(&process, &us).await;
    text_to(&process, &us, &mobile(1)).await.expect(200);
    let held = done(&database, &documents, &["hold", "--reason", "a test", "--json"]).await;
    assert_eq!((&held["held"], &held["halt"]["reason"]), (&json!(true), &json!("a test")));
    tokio::time::sleep(Duration::from_secs(5)).await;
    let answer = text_to(&process, &us, &mobile(1)).await;
    answer.expect_error(503, "ON_HOLD");
    assert_eq!(answer.header("retry-after"), "60");
    let ready = ready_at(process.addr).await;
    assert_eq!(
        (&ready["data"]["held"], &ready["data"]["reason"]),
        (&json!(true), &json!("a test"))
    );
    process.kill().await;
    let process = Process::serve(&database, SERVE).await;
    text_to(&process, &us, &mobile(1)).await.expect_error(503, "ON_HOLD");
    done(&database, &documents, &["resume"]).await;
    eventually("it sends again", || async {
        (text_to(&process, &us, &mobile(1)).await.status == 200).then_some(())
    })
    .await;
    assert_eq!(ready_at(process.addr).await["data"]["held"], false);
}

/// R253: the key that seals secrets is no part of a backup, and a restore without it makes nothing.
#[both_stores]
async fn a_sealed_backup_is_restored_with_its_key_only(kind: StoreKind) {
    const KEY: &str = "b2xkIG9sZCBvbGQgb2xkIG9sZCBvbGQgb2xkIG9sZC4=";
    const OTHER: &str = "bmV3IG5ldyBuZXcgbmV3IG5ldyBuZXcgbmV3IG5ldy4=";
    if !has_programs(kind) {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = |name: &str, keys: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, keys).expect("written");
        path.display().to_string()
    };
    let (key, other) = (file("key", KEY), file("other", OTHER));
    let id = recado_store_sqlite::Sealer::parse(KEY).expect("a key");
    let id = id.current().expect("a key").to_string();
    let database = Database::fresh(kind);
    let args = ["--secret-key-file", &key, "--allow-private-destinations"];
    let process = Process::serve(&database, &args).await;
    let us = tenant_at(process.addr, "Acme", "enterprise").await;
    let hook = json!({ "url": "http://127.0.0.1:9/", "events": ["*"] });
    make(&process, &us, "C/webhooks", hook).await;
    let dir = folder.path().join("backup").display().to_string();
    let documents = process.folder.path().join("recado-documents");
    done(&database, &documents, &["backup", &dir, "--secret-key-file", &key]).await;
    process.kill().await;

    let (copy, files) = (Database::fresh(kind), folder.path().join("copy-documents"));
    for given in [&[][..], &["--secret-key-file", other.as_str()]] {
        let args = [&["restore", dir.as_str()][..], given].concat();
        let ended = run(&copy, &files, &args).await;
        assert_eq!(ended.code, Some(1), "{}", ended.stderr);
        assert!(ended.stderr.contains(&id), "{}", ended.stderr);
        assert!(ended.stderr.contains("--secret-key-file"), "{}", ended.stderr);
        assert!(![KEY, OTHER].iter().any(|key| ended.stderr.contains(key)), "{}", ended.stderr);
        assert!(!files.exists(), "nothing is made");
    }
    done(&copy, &files, &["restore", &dir, "--secret-key-file", &key]).await;
    let process = Process::serve(&copy, &["--secret-key-file", &key]).await;
    let found = operator_at(process.addr, &us.id, "GET", "C/webhooks", Value::Null).await;
    assert_eq!(found.items().len(), 1, "{}", found.show());
}

/// There is nothing to back up where there is no database (exit code 2), and nothing is made.
#[both_stores]
async fn without_a_database_there_is_no_backup(kind: StoreKind) {
    let database = Database::fresh(kind);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let dir = folder.path().join("backup");
    let ended = run(&database, folder.path(), &["backup", &dir.display().to_string()]).await;
    assert_eq!(ended.code, Some(2), "{}", ended.stderr);
    assert!(ended.stderr.contains("no database"), "{}", ended.stderr);
    assert!(!dir.exists());
}
