//! A process that is killed (SIGKILL) while it removes a deleted company: R208, R209.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use recado_tests::backend::Database;
use recado_tests::binary::Process;
use recado_tests::rows::Rows;
use recado_tests::world::{Tenant, operator_at, tenant_at};
use recado_tests::{OPERATOR, Request, StoreKind, both_stores, join_all, mobile, phone, text};
use serde_json::{Value, json};

/// How many contacts the company has, half of them with a message.
const CONTACTS: u32 = 400;
/// The parts of the company's rows that are left when the process is killed, in percent.
const KILLED_AT: [usize; 4] = [100, 70, 40, 10];
/// How long the removal may take from one kill to the next.
const REMOVED_WITHIN: Duration = Duration::from_secs(180);

async fn fill(addr: SocketAddr, us: &Tenant, contacts: u32) {
    let connection = json!({"kind": "qr", "name": "c", "identifier": "+551140000000",
        "gateway": "simulated", "settings": {"delay_ms": 1}});
    let qr = operator_at(addr, &us.id, "POST", "C/connections", connection).await.expect(201);
    let post = |path: &'static str, body: Value| {
        Request::new("POST", path).bearer(&us.key).json(&body).send(addr)
    };
    let workers = (0..8).map(|worker| {
        let (post, qr) = (&post, &qr["id"]);
        async move {
            for n in (worker..contacts).step_by(8) {
                let made = post("/api/v1/contacts", json!({"phone": phone(n)})).await.expect(201);
                if n % 2 == 0 {
                    let body = json!({"to": mobile(n), "message": "oi", "connection_id": qr});
                    post("/api/v1/send/message", body).await.expect(200);
                }
                if n % 20 == 0 {
                    let contact = text(&made["contact"]["id"]);
                    let path = format!(
                        "/operator/v1/companies/{}/contacts/{contact}/documents?filename=d",
                        us.id
                    );
                    let upload = Request::new("POST", path).bearer(OPERATOR).body("bytes");
                    upload.send(addr).await.expect(201);
                }
            }
        }
    });
    join_all(workers.collect()).await;
}

fn count(rows: &Rows) -> usize {
    rows.values().map(Vec::len).sum()
}

/// Ends the leases of jobs, as a minute does after their process has died.
async fn end_leases(database: &Database) {
    let end = "UPDATE jobs SET leased_until = NULL";
    let url = database.url();
    match url.strip_prefix("sqlite:") {
        Some(file) => {
            let conn = rusqlite::Connection::open(file).expect("it opens");
            conn.execute(end, []).expect("they end");
        }
        None => {
            let (client, connection) =
                tokio_postgres::connect(&url, tokio_postgres::NoTls).await.expect("it connects");
            tokio::spawn(connection);
            client.batch_execute(end).await.expect("they end");
        }
    }
}

/// The rows that no background work changes: counts are folded, and jobs come and go.
fn lasting(mut rows: Rows) -> Rows {
    rows.retain(|table, _| {
        !["count", "facet", "total", "job", "frontier"].iter().any(|k| table.contains(k))
    });
    rows
}

/// R209.
#[both_stores]
async fn a_company_whose_removal_is_killed_again_and_again_goes_and_leaves_all_others(
    kind: StoreKind,
) {
    let database = Database::migrated(kind);
    let mut process = Process::serve(&database, &[]).await;
    let folder = process.folder.clone();
    let (gone, stays) = (
        tenant_at(process.addr, "Sai", "enterprise").await,
        tenant_at(process.addr, "Fica", "enterprise").await,
    );
    fill(process.addr, &gone, CONTACTS).await;
    fill(process.addr, &stays, 40).await;
    // Reports of the simulated gateway, and uses of keys that are still to be noted, end with the
    // process.
    process.signal("TERM").await;
    process.ended().await;
    let before = lasting(database.rows_of(&stays.id).await);
    let all = count(&database.rows_of(&gone.id).await);
    assert!(all > 1_000, "{all} rows");
    process = Process::serve_in(folder.clone(), &database, &[]).await;
    operator_at(process.addr, "", "DELETE", &format!("/companies/{}", gone.id), Value::Null)
        .await
        .expect_deleted();
    let (mut left, mut kills) = (all, Vec::new());
    for percent in KILLED_AT {
        let began = Instant::now();
        while left > 0 && left > all * percent / 100 {
            assert!(began.elapsed() < REMOVED_WITHIN, "{left} of {all} rows are left");
            left = count(&database.rows_of(&gone.id).await);
        }
        process.kill().await;
        left = count(&database.rows_of(&gone.id).await);
        kills.push(left);
        end_leases(&database).await;
        process = Process::serve_in(folder.clone(), &database, &[]).await;
        let path = format!("/companies/{}", gone.id);
        let found = operator_at(process.addr, "", "GET", &path, Value::Null).await;
        found.expect_error(404, "NOT_FOUND");
    }
    println!("{kind:?}: of {all} rows these were left at the kills: {kills:?}");
    assert!(kills.iter().any(|left| (1..all).contains(left)), "none in the middle: {kills:?}");
    let began = Instant::now();
    while left > 0 {
        assert!(began.elapsed() < REMOVED_WITHIN, "{left} of {all} rows are left");
        tokio::time::sleep(Duration::from_millis(50)).await;
        left = count(&database.rows_of(&gone.id).await);
    }
    let after = lasting(database.rows_of(&stays.id).await);
    assert!(before.keys().eq(after.keys()), "tables of another company");
    for (table, rows) in &before {
        assert_eq!(&after[table], rows, "{table} of another company");
    }
    let listed = Request::new("GET", "/api/v1/contacts?limit=1").bearer(&stays.key);
    let listed = listed.send(process.addr).await.json();
    assert_eq!(listed["pagination"]["total"], 60, "{listed}");
    let files = recado_tests::backend::files_under(folder.path());
    let files: Vec<_> = files.into_iter().filter(|file| !file.contains("recado.db")).collect();
    assert_eq!(files.len(), 2, "the files of the other company: {files:?}");
}
