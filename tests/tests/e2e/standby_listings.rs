//! Listings read from a hot standby (R462).

use std::sync::Arc;
use std::time::{Duration, Instant};

use recado_testkit::postgres::{Cluster, OwnPostgres};
use recado_tests::binary::{Process, run_recado};
use recado_tests::world::{Tenant, operator_at, tenant_at};
use recado_tests::{OPERATOR, Request, ScriptedAnswer, eventually, mobile};
use serde_json::Value;

use crate::backup::{contact, qr, text_to};

const CONTACTS: &str = "/api/v1/contacts";
const AS_OF: &str = "x-recado-as-of";

fn url(server: &OwnPostgres) -> String {
    format!("postgres://postgres@127.0.0.1:{}/postgres", server.port())
}

/// A server that reads listings from a standby of its database.
struct Stand {
    primary: OwnPostgres,
    standby: OwnPostgres,
    process: Process,
    us: Tenant,
}

impl Stand {
    /// With this for `--standby-max-lag`.
    async fn new(most: &str) -> Self {
        let primary = Cluster::fresh("recado-primary").start();
        let standby = Cluster::standby_of(&primary).start();
        let folder = Arc::new(tempfile::tempdir().expect("a temporary folder"));
        let (of_primary, of_standby) = (url(&primary), url(&standby));
        let args = ["serve", "--listen", "127.0.0.1:0", "--database", &of_primary];
        let args = [&args[..], &["--standby-database", &of_standby]].concat();
        let args = [&args[..], &["--standby-max-lag", most, "--operator-token", OPERATOR]].concat();
        let process = Process::start(folder, &args).await;
        let us = tenant_at(process.addr, "Acme", "enterprise").await;
        Self { primary, standby, process, us }
    }

    async fn get(&self, path: &str) -> ScriptedAnswer {
        Request::new("GET", path).bearer(&self.us.key).send(self.process.addr).await
    }

    /// The same, which must not be old.
    async fn fresh(&self, path: &str) -> ScriptedAnswer {
        let request = Request::new("GET", path).header("cache-control", "no-cache");
        request.bearer(&self.us.key).send(self.process.addr).await
    }

    /// Repeats a listing until it is of the standby and has so many contacts.
    async fn until_shown(&self, count: usize) -> ScriptedAnswer {
        for _ in 0..600 {
            let listed = self.get(CONTACTS).await;
            listed.expect(200);
            if !listed.header(AS_OF).is_empty() && listed.items().len() == count {
                return listed;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("the standby never shows {count} contacts");
    }

    /// Repeats a listing until it is not of the standby.
    async fn until_given_up(&self) {
        for _ in 0..600 {
            let listed = self.get(CONTACTS).await;
            listed.expect(200);
            if listed.header(AS_OF).is_empty() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("the standby is never given up");
    }
}

/// A server that answers nothing until this is dropped.
struct Frozen<'a>(&'a OwnPostgres);

impl<'a> Frozen<'a> {
    fn now(server: &'a OwnPostgres) -> Self {
        server.freeze(true);
        Self(server)
    }
}

impl Drop for Frozen<'_> {
    fn drop(&mut self) {
        self.0.freeze(false);
    }
}

/// R462.
#[tokio::test(flavor = "multi_thread")]
async fn listings_of_both_apis_come_from_the_standby_and_say_of_what_time_they_are() {
    let stand = Stand::new("10m").await;
    let (process, us) = (&stand.process, &stand.us);
    qr(process, us).await;
    let id = contact(process, us, 1).await.expect("it is made");
    text_to(process, us, &mobile(1)).await.expect(200);
    let listed = stand.until_shown(2).await;
    let at = listed.header(AS_OF);
    assert!(at.ends_with('Z') && at.len() == "2026-11-20T17:31:36.123Z".len(), "{at}");
    let of_contact = format!("{CONTACTS}/{id}/messages");
    for path in [
        "/api/v1/contacts?search=zz",
        "/api/v1/messages",
        &of_contact,
        "/api/v1/prosas/consumption",
    ] {
        let (old, new) = (stand.get(path).await, stand.fresh(path).await);
        assert_eq!((old.status, new.status), (200, 200), "{path}: {}", old.show());
        assert!(!old.header(AS_OF).is_empty(), "{path}");
        assert_eq!(new.header(AS_OF), "", "{path}");
        eventually("both show the same", || async {
            (stand.get(path).await.json() == stand.fresh(path).await.json()).then_some(())
        })
        .await;
    }
    for path in ["C/contacts", "C/messages", "C/deliveries", "C/audit"] {
        let listed = operator_at(process.addr, &us.id, "GET", path, Value::Null).await;
        listed.expect(200);
        assert!(!listed.header(AS_OF).is_empty(), "{path}");
    }
    // What is no listing is of the database itself, and so are exports, with more to come or not.
    let one = format!("{CONTACTS}/{id}");
    let export = |limit| format!("{CONTACTS}?order_by=created_at&limit={limit}");
    for path in [one, export(1), export(10)] {
        let answer = stand.get(&path).await;
        answer.expect(200);
        assert_eq!(answer.header(AS_OF), "", "{path}");
    }
    let metrics = Request::new("GET", "/metrics").send(process.addr).await;
    let metrics = String::from_utf8_lossy(&metrics.body);
    let line = |name: &str| metrics.lines().find(|line| line.starts_with(name)).map(str::to_owned);
    let read = line("recado_standby_reads_total{result=\"ok\"}").expect("it is counted");
    assert!(!read.ends_with(" 0"), "{read}");
    let failed = line("recado_standby_reads_total{result=\"failed\"}").expect("it is counted");
    assert!(failed.ends_with(" 0"), "{failed}");
    assert!(line("recado_standby_lag_seconds").is_some(), "{metrics}");
}

/// R462.
#[tokio::test(flavor = "multi_thread")]
async fn while_the_standby_is_behind_frozen_or_away_the_database_answers() {
    let stand = Stand::new("5s").await;
    let (process, us) = (&stand.process, &stand.us);
    contact(process, us, 1).await.expect("it is made");
    stand.until_shown(1).await;
    stand.standby.execute("SELECT pg_wal_replay_pause()");
    contact(process, us, 2).await.expect("it is made");
    assert_eq!(stand.fresh(CONTACTS).await.items().len(), 2);
    stand.until_given_up().await;
    assert_eq!(stand.get(CONTACTS).await.items().len(), 2, "of the database");
    stand.standby.execute("SELECT pg_wal_replay_resume()");
    stand.until_shown(2).await;
    let frozen = Frozen::now(&stand.standby);
    let asked = Instant::now();
    stand.until_given_up().await;
    // Half a minute is what a primary has.
    assert!(asked.elapsed() < Duration::from_secs(20), "{:?}", asked.elapsed());
    drop(frozen);
    stand.until_shown(2).await;
    let Stand { primary, standby, process, us } = stand;
    drop(standby);
    for n in 3..10 {
        contact(&process, &us, n).await.expect("it is made");
        let path = format!("{CONTACTS}?limit=50");
        let listed = Request::new("GET", path).bearer(&us.key).send(process.addr).await;
        listed.expect(200);
    }
    let listed = Request::new("GET", CONTACTS).bearer(&us.key).send(process.addr).await;
    assert_eq!((listed.header(AS_OF), listed.items().len()), (String::new(), 9));
    drop(primary);
}

/// R462.
#[tokio::test]
async fn a_file_has_no_standby() {
    let standby = ["--standby-database", "postgres://a@127.0.0.1/b"];
    let args = [&["serve", "--database", "sqlite:a.db"][..], &standby].concat();
    let refused = run_recado(args, &[]).await;
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
    assert!(refused.stderr.contains("--standby-database"), "{}", refused.stderr);
}
