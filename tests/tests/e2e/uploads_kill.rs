//! A process that is killed (SIGKILL) while it removes uploads that nobody has: X11, R348.

use std::sync::Arc;
use std::time::{Duration, Instant};

use recado_tests::backend::{Database, files_under};
use recado_tests::binary::Process;
use recado_tests::world::{Tenant, tenant_at};
use recado_tests::{Request, StoreKind, both_stores, join_all, path_of, phone, text};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::backup::qr;

/// How many uploads there are.
const UPLOADS: usize = 300;
/// How many of them are uploaded at the same time.
const AT_THE_SAME_TIME: usize = 30;
/// One of so many is sent.
const SENT: usize = 10;
/// The parts of the files that are left when the process is killed, in percent.
const KILLED_AT: [usize; 3] = [80, 60, 30];
/// How long the removal may take from one kill to the next.
const REMOVED_WITHIN: Duration = Duration::from_secs(60);
/// Uploads are due as soon as they are there.
const AT_ONCE: &[&str] = &["--media-retention", "1ms"];

pub(super) fn png(n: usize) -> Vec<u8> {
    [b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".as_slice(), n.to_string().as_bytes()].concat()
}

fn files(folder: &TempDir) -> usize {
    files_under(&folder.path().join("recado-documents")).len()
}

pub(super) async fn upload(process: &Process, us: &Tenant, n: usize) -> String {
    let request = Request::new("POST", "/api/v1/media").bearer(&us.key).body(png(n));
    text(&request.send(process.addr).await.expect(201)["id"])
}

pub(super) async fn send(process: &Process, us: &Tenant, media: &str, n: usize) -> String {
    let to = phone(1_000 + u32::try_from(n).expect("few"));
    let body = json!({"to": to, "type": "image", "media_id": media});
    let request = Request::new("POST", "/api/v1/send/media").bearer(&us.key).json(&body);
    text(&request.send(process.addr).await.expect(200)["message_id"])
}

/// The bytes behind the link of a message.
pub(super) async fn file_of(process: &Process, us: &Tenant, message: &str) -> Vec<u8> {
    let listed = Request::new("GET", "/api/v1/messages?limit=100").bearer(&us.key);
    let listed = listed.send(process.addr).await.items();
    let shown: &Value = listed.iter().find(|one| one["id"] == message).expect("it is there");
    let answer = Request::new("GET", path_of(&shown["media_url"])).send(process.addr).await;
    assert_eq!(answer.status, 200, "{}", answer.show());
    answer.body.to_vec()
}

/// X11, R348.
#[both_stores]
async fn uploads_whose_removal_is_killed_again_and_again_go_with_their_files_and_the_sent_stay(
    kind: StoreKind,
) {
    let database = Database::migrated(kind);
    // They are kept for a while, so that they can be sent.
    let process = Process::serve(&database, &[]).await;
    let folder = Arc::clone(&process.folder);
    let us = tenant_at(process.addr, "Acme", "enterprise").await;
    qr(&process, &us).await;
    let mut ids = Vec::new();
    for first in (0..UPLOADS).step_by(AT_THE_SAME_TIME) {
        let some = first..(first + AT_THE_SAME_TIME).min(UPLOADS);
        ids.extend(join_all(some.map(|n| upload(&process, &us, n)).collect()).await);
    }
    let mut sent = Vec::new();
    for n in (0..UPLOADS).step_by(SENT) {
        sent.push((n, send(&process, &us, &ids[n], n).await));
    }
    process.kill().await;
    assert_eq!(files(&folder), UPLOADS);
    expire(&database).await;

    let mut process = Process::serve_in(Arc::clone(&folder), &database, AT_ONCE).await;
    let mut kills = Vec::new();
    for percent in KILLED_AT {
        let began = Instant::now();
        while files(&folder) > UPLOADS * percent / 100 {
            assert!(began.elapsed() < REMOVED_WITHIN, "{} files are left", files(&folder));
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        process.kill().await;
        let (left, rows) = (files(&folder), rows(&database, &us).await);
        assert!(left <= rows, "{left} files, and records of {rows}");
        kills.push(left);
        process = Process::serve_in(Arc::clone(&folder), &database, AT_ONCE).await;
    }
    println!("{kind:?}: of {UPLOADS} files these were left at the kills: {kills:?}");
    assert!(kills.iter().any(|left| *left > sent.len()), "none in the middle: {kills:?}");
    let began = Instant::now();
    while (files(&folder), rows(&database, &us).await) != (sent.len(), sent.len()) {
        assert!(began.elapsed() < REMOVED_WITHIN, "{} files are left", files(&folder));
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    for (n, message) in &sent {
        assert_eq!(file_of(&process, &us, message).await, png(*n));
    }
}

async fn rows(database: &Database, us: &Tenant) -> usize {
    database.rows_of(&us.id).await.get("uploads").map_or(0, Vec::len)
}

/// Ends the time for which uploads are kept, as 30 days do.
async fn expire(database: &Database) {
    let back = 31_i64 * 24 * 60 * 60 * 1_000;
    let url = database.url();
    match url.strip_prefix("sqlite:") {
        Some(file) => {
            let conn = rusqlite::Connection::open(file).expect("it opens");
            let end =
                "UPDATE uploads SET created_at = created_at - ?1, expires_at = expires_at - ?1";
            conn.execute(end, [back]).expect("they end");
        }
        None => {
            let (client, connection) =
                tokio_postgres::connect(&url, tokio_postgres::NoTls).await.expect("it connects");
            tokio::spawn(connection);
            let end = format!(
                "UPDATE uploads SET created_at = created_at - {back}, expires_at = expires_at - {back}"
            );
            client.batch_execute(&end).await.expect("they end");
        }
    }
}
