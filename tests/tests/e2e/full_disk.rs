//! A disk that fills up, with the SQLite database, the files and the log on it: docs/operations.md,
//! R162, R240.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use recado_tests::backend::Database;
use recado_tests::binary::{Process, recado};
use recado_tests::world::{Tenant, export_at, operator_at, tenant_at};
use recado_tests::{
    OPERATOR, Request, ScriptedAnswer, StoreKind, eventually, mobile, not_run, phone, text,
};
use serde_json::{Value, json};

/// Mounts the disk and runs a command.
const DISK: &str = include_str!("full_disk.sh");
/// What it says once it is mounted.
const READY: &str = "the disk is ready";
/// What is tested.
const WHAT: &str = "the server on a disk that fills up";
/// The size of the disk.
const SIZE: &str = "12m";
/// The test that runs with the disk.
const INSIDE: &str = "full_disk::on_the_small_disk";

/// R162, R240.
#[test]
fn a_full_disk_refuses_writes_loses_nothing_and_needs_no_restart() {
    assert!(recado().is_file());
    let test = std::env::current_exe().expect("the test executable");
    let made = Command::new("unshare")
        .args(["--map-root-user", "--mount", "sh", "-c", DISK, "sh", SIZE])
        .arg(test)
        .args([INSIDE, "--exact", "--ignored", "--nocapture"])
        .output();
    let made = match made {
        Ok(made) => made,
        Err(error) => return not_run(WHAT, &format!("unshare: {error}")),
    };
    let (said, why) =
        (String::from_utf8_lossy(&made.stdout), String::from_utf8_lossy(&made.stderr));
    if !said.contains(READY) {
        return not_run(WHAT, &format!("no mount: {}", why.lines().last().unwrap_or_default()));
    }
    assert!(made.status.success() && said.contains("1 passed"), "{said}\n{why}");
}

/// A file that leaves no room on the disk, and a read that keeps SQLite's log from beginning anew:
/// it would find room in itself.
struct Ballast(PathBuf, rusqlite::Connection);

impl Ballast {
    async fn load(database: &Path) -> Self {
        let conn = rusqlite::Connection::open(database).expect("it opens");
        let empty = "PRAGMA wal_checkpoint(TRUNCATE)";
        eventually("the log is empty", || async {
            let is_busy = conn.query_row(empty, [], |row| row.get::<_, bool>(0));
            is_busy.is_ok_and(|is_busy| !is_busy).then_some(())
        })
        .await;
        conn.execute_batch("BEGIN; SELECT count(*) FROM companies").expect("it reads");
        let path = std::env::temp_dir().join("ballast");
        let mut file = File::create(&path).expect("a file");
        for size in [64 * 1024, 4096, 1] {
            while file.write_all(&vec![b'x'; size]).is_ok() {}
        }
        Self(path, conn)
    }

    fn unload(self) {
        drop(self.1);
        std::fs::remove_file(self.0).expect("it is removed");
    }
}

/// The log, in a file on the disk.
fn log() -> (File, PathBuf) {
    let path = std::env::temp_dir().join("log");
    (File::options().create(true).append(true).open(&path).expect("a file"), path)
}

/// A server and what it has acknowledged.
struct Scene {
    process: Process,
    us: Tenant,
    qr: String,
    next: u32,
    contacts: BTreeSet<String>,
    messages: BTreeSet<String>,
}

impl Scene {
    async fn call(&self, method: &str, path: &str, body: Value) -> ScriptedAnswer {
        let request = Request::new(method, path).bearer(&self.us.key);
        let request = if body.is_null() { request } else { request.json(&body) };
        request.send(self.process.addr).await
    }

    async fn status(&self, path: &str) -> u16 {
        Request::new("GET", path).send(self.process.addr).await.status
    }

    /// Creates a contact, sends a message and stores a document; returns the statuses.
    async fn write(&mut self) -> [u16; 3] {
        self.next += 1;
        let body = json!({"phone": phone(100_000 + self.next), "name": "n".repeat(200)});
        let created = self.call("POST", "/api/v1/contacts", body).await;
        if created.status == 201 {
            self.contacts.insert(text(&created.data()["contact"]["id"]));
        }
        let body = json!({"to": mobile(self.next % 50), "message": "oi", "connection_id": self.qr});
        let sent = self.call("POST", "/api/v1/send/message", body).await;
        if sent.status == 200 {
            self.messages.insert(text(&sent.data()["message_id"]));
        }
        let contact = self.contacts.first().expect("one was created").clone();
        let path = format!(
            "/operator/v1/companies/{}/contacts/{contact}/documents?filename=d",
            self.us.id
        );
        let upload = Request::new("POST", path).bearer(OPERATOR).body("a document".repeat(1_000));
        let stored = upload.send(self.process.addr).await;
        for answer in [&created, &sent, &stored] {
            if answer.status >= 300 {
                answer.expect_error(503, "UNAVAILABLE");
            }
        }
        [created.status, sent.status, stored.status]
    }

    /// Reads of each kind.
    async fn read(&self) {
        let contact = self.contacts.first().expect("one was created");
        for path in [
            format!("/api/v1/contacts/{contact}"),
            "/api/v1/contacts?search=nnn".to_owned(),
            "/api/v1/messages".to_owned(),
            "/api/v1/lists".to_owned(),
        ] {
            self.call("GET", &path, Value::Null).await.expect(200);
        }
    }

    /// Everything that was acknowledged is there.
    async fn complete(&self) {
        let found = export_at(self.process.addr, &self.us.key, 100).await;
        let found: BTreeSet<String> = found.into_iter().collect();
        let lost: Vec<_> = self.contacts.difference(&found).collect();
        assert!(lost.is_empty(), "acknowledged and lost: {lost:?}");
        let mut messages = BTreeSet::new();
        for page in 1.. {
            let path = format!("/api/v1/messages?limit=100&page={page}");
            let ids = self.call("GET", &path, Value::Null).await.ids();
            if ids.is_empty() {
                break;
            }
            messages.extend(ids);
        }
        let lost: Vec<_> = self.messages.difference(&messages).collect();
        assert!(lost.is_empty(), "acknowledged and lost: {lost:?}");
    }

    /// Fills the disk, and writes until each kind of write is refused again and again.
    async fn fill(&mut self, database: &Path) -> Ballast {
        let ballast = Ballast::load(database).await;
        let (mut refused, mut rounds) = (0, 0);
        while refused < 10 {
            refused = if self.write().await == [503; 3] { refused + 1 } else { 0 };
            rounds += 1;
            assert!(rounds < 300, "it is not full");
        }
        // As long as it takes to probe the disk twice.
        let began = Instant::now();
        while began.elapsed() < Duration::from_millis(2_500) {
            assert_eq!(self.status("/readyz").await, 503);
            assert_eq!(self.status("/healthz").await, 200);
            self.read().await;
        }
        ballast
    }

    async fn works(&mut self) {
        eventually("ready", || async { (self.status("/readyz").await == 200).then_some(()) }).await;
        for _ in 0..10 {
            assert_eq!(self.write().await, [201, 200, 201]);
        }
        self.complete().await;
    }
}

async fn serve(database: &Database) -> Process {
    Process::serve_with_stderr(database, &[], log().0.into()).await
}

async fn lost_lines(process: &Process) -> u64 {
    let metrics = Request::new("GET", "/metrics").send(process.addr).await;
    let metrics = String::from_utf8_lossy(&metrics.body).into_owned();
    let mut lines = metrics.lines();
    let lost = lines.find(|one| one.starts_with("recado_log_lines_lost_total"));
    lost.and_then(|line| line.rsplit(' ').next()?.parse().ok()).unwrap_or(0)
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "only with the disk that the test above mounts"]
async fn on_the_small_disk() {
    let database = Database::fresh(StoreKind::Sqlite);
    let process = serve(&database).await;
    let us = tenant_at(process.addr, "Acme", "enterprise").await;
    let body = json!({"kind": "qr", "name": "c", "identifier": "+551140000000",
        "gateway": "simulated", "settings": {"delay_ms": 1}});
    let qr = operator_at(process.addr, &us.id, "POST", "C/connections", body).await;
    let qr = text(&qr.expect(201)["id"]);
    let (contacts, messages) = (BTreeSet::new(), BTreeSet::new());
    let mut scene = Scene { process, us, qr, next: 0, contacts, messages };
    scene.works().await;

    // It goes on as it is, once there is room.
    let ballast = scene.fill(&database_path(&database)).await;
    let lost = lost_lines(&scene.process).await;
    ballast.unload();
    scene.works().await;
    assert!(lost > 0, "the log was full too");
    let logged = std::fs::read_to_string(log().1).expect("readable");
    assert!(logged.contains("log lines were lost"), "the log says so");

    // A process that is killed while the disk is full.
    let ballast = scene.fill(&database_path(&database)).await;
    let (folder, old) = (scene.process.folder.clone(), &mut scene.process);
    old.kill_now().await;
    ballast.unload();
    scene.process = Process::serve_in(folder, &database, &[]).await;
    scene.works().await;
    check(&database_path(&database));
}

fn database_path(database: &Database) -> PathBuf {
    PathBuf::from(database.url().strip_prefix("sqlite:").expect("a file"))
}

/// SQLite finds no fault.
fn check(database: &Path) {
    let conn = rusqlite::Connection::open(database).expect("it opens");
    let sound = conn.query_row("PRAGMA integrity_check", [], |row| row.get::<_, String>(0));
    assert_eq!(sound.expect("an answer"), "ok");
}
