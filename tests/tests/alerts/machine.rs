//! Alerts about the process and the machine.

use std::process::Stdio;

use recado_tests::backend::Database;
use recado_tests::binary::{Process, recado};
use recado_tests::{Request, StoreKind, eventually, not_run};

use crate::prometheus::Scrape;
use crate::watched::Scrapes;

/// A certificate that has ended.
const ENDED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/alerts/ended.pem");
/// Makes a small disk, fills it, and runs a command there: within a namespace of its own.
const SMALL_DISK: &str = "mount -t tmpfs -o size=4m tmpfs \"$0\" && echo 'the disk is made' \
    && exec \"$@\"";

/// R282: the process is gone.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_gone_is_reported() {
    let database = Database::migrated(StoreKind::Sqlite);
    let process = Process::serve(&database, &[]).await;
    let mut scrapes = Scrapes::at(process.addr).await;
    let addr = process.addr;
    process.kill().await;
    assert!(tokio::net::TcpStream::connect(addr).await.is_err());
    scrapes.add(Scrape::down());
    scrapes.fires("RecadoDown");
}

/// R282: the log goes to a full disk.
#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn log_lines_that_are_lost_are_reported() {
    let database = Database::migrated(StoreKind::Sqlite);
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("/dev/full");
    let args = ["--log", "recado=debug,info"];
    let process = Process::serve_with_stderr(&database, &args, Stdio::from(full)).await;
    let mut scrapes = Scrapes::at(process.addr).await;
    let at_first = Scrape::of(process.addr).await.value("recado_log_lines_lost_total", &[]);
    eventually("a line is lost", || async {
        Request::new("GET", "/api/v1/contacts").send(process.addr).await;
        let lost = Scrape::of(process.addr).await.value("recado_log_lines_lost_total", &[]);
        (lost > at_first).then_some(())
    })
    .await;
    scrapes.scrape(process.addr).await;
    scrapes.fires("RecadoLogLinesLost");
    process.kill().await;
}

/// R282: the certificate that the database is checked with has ended.
#[tokio::test(flavor = "multi_thread")]
async fn a_certificate_that_ends_is_reported() {
    let database = Database::migrated(StoreKind::Postgres);
    let mut scrapes = {
        let process = Process::serve(&database, &[]).await;
        let scrapes = Scrapes::at(process.addr).await;
        process.kill().await;
        scrapes
    };
    let process = Process::serve_with_env(&database, &[], &[("PGSSLROOTCERT", ENDED)]).await;
    let scrape = eventually("the certificate is looked at", || async {
        let scrape = Scrape::of(process.addr).await;
        scrape.names().contains("recado_certificate_seconds_left").then_some(scrape)
    })
    .await;
    let left = scrape.value("recado_certificate_seconds_left", &["postgres_root"]);
    assert!(left < 0.0, "{left}");
    scrapes.add(scrape);
    scrapes.fires("RecadoCertificateEnds");
    process.kill().await;
}

/// R282: the disk of the documents is full. A small disk is made in a namespace of its own; where
/// that is not allowed, the test says that it did not run.
#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn a_disk_that_is_full_is_reported() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let made = std::process::Command::new("unshare")
        .args(["--map-root-user", "--mount", "sh", "-c", SMALL_DISK])
        .arg(folder.path())
        .arg("true")
        .output();
    if !made.is_ok_and(|made| made.status.success()) {
        return not_run("the alerts about full disks", "no disk can be made in a namespace");
    }
    let database = Database::migrated(StoreKind::Sqlite);
    let documents = format!("file:{}", folder.path().display());
    let (disk, program) = (folder.path().display().to_string(), recado().display().to_string());
    let url = database.url();
    let around = ["unshare", "--map-root-user", "--mount", "sh", "-c", SMALL_DISK, &disk, &program];
    let args = ["serve", "--listen", "127.0.0.1:0", "--database", &url, "--documents", &documents];
    let process = Process::serve_within(&around, &args).await;
    let looked = |least: f64, most: f64| {
        let addr = process.addr;
        async move {
            eventually("the disk is looked at", || async move {
                let scrape = Scrape::of(addr).await;
                if !scrape.names().contains("recado_disk_free_bytes") {
                    return None;
                }
                let free = scrape.value("recado_disk_free_bytes", &["documents"]);
                let size = scrape.value("recado_disk_size_bytes", &["documents"]);
                (least..=most).contains(&(free / size)).then_some(scrape)
            })
            .await
        }
    };
    let mut scrapes = Scrapes::default();
    scrapes.add(looked(0.5, 1.0).await);
    // Its root is where the namespace's root is.
    let full = format!("/proc/{}/root{}/full", process.id(), folder.path().display());
    std::fs::write(full, vec![0; 4 * 1024 * 1024 - 40_000]).expect("it has room");
    scrapes.add(looked(0.0, 0.03).await);
    scrapes.fires("RecadoDiskLow");
    scrapes.fires("RecadoDiskFull");
    process.kill().await;
}
