//! Restoring to other places than the drill does: documents in a bucket, and an installation that
//! goes on where the backup was made (D75, R253).

use recado_testkit::bucket::Bucket;
use recado_tests::backend::Database;
use recado_tests::binary::{Ended, Process, run_recado};
use recado_tests::world::{Tenant, operator_at, ready_at, tenant_at};
use recado_tests::{Receiver, StoreKind, both_stores, eventually, mobile, text};
use serde_json::{Value, json};

use crate::backup::{campaign, contact, document, has_document, has_programs, qr, text_to};

const SERVE: &str = "--allow-private-destinations";

/// The variables of the environment by which commands find programs and a bucket.
fn environment(bucket: Option<&Bucket>) -> Vec<(&'static str, String)> {
    let mut env = vec![("PATH", std::env::var("PATH").unwrap_or_default())];
    env.extend(bucket.into_iter().flat_map(Bucket::env));
    env
}

fn borrowed<'a>(env: &'a [(&'static str, String)]) -> Vec<(&'a str, &'a str)> {
    env.iter().map(|(name, value)| (*name, value.as_str())).collect()
}

async fn run(database: &Database, documents: &str, args: &[&str], env: &[(&str, &str)]) -> Ended {
    let url = database.url();
    let all = [&["--database", &url, "--documents", documents, "--json"], args].concat();
    run_recado(all, env).await
}

async fn done(database: &Database, documents: &str, args: &[&str], env: &[(&str, &str)]) -> Value {
    let ended = run(database, documents, args, env).await;
    assert_eq!(ended.code, Some(0), "{args:?}: {}", ended.stderr);
    serde_json::from_str(&ended.stdout).expect("JSON")
}

/// D75, R253: the documents may lie in a bucket on either side.
#[both_stores]
async fn the_documents_of_a_bucket_are_restored_to_a_bucket_or_a_folder(kind: StoreKind) {
    if !has_programs(kind) {
        return;
    }
    let bucket = Bucket::start();
    let env = environment(Some(&bucket));
    let env = borrowed(&env);
    let database = Database::migrated(kind);
    let args = [SERVE, "--documents", "s3://files/ours"];
    let process = Process::serve_with_env(&database, &args, &env).await;
    let us = tenant_at(process.addr, "Acme", "enterprise").await;
    let person = contact(&process, &us, 1).await.expect("it is made");
    let file = document(&process, &us, &person).await;
    assert_eq!(bucket.keys().len(), 1, "{:?}", bucket.keys());
    let kept = tempfile::tempdir().expect("a temporary folder");
    let dir = kept.path().join("backup").display().to_string();
    let backup = done(&database, "s3://files/ours", &["backup", &dir], &env).await;
    assert_eq!(backup["documents"], 1);
    process.kill().await;

    let elsewhere = tempfile::tempdir().expect("a temporary folder");
    let folder = format!("file:{}", elsewhere.path().join("documents").display());
    for place in ["s3://files/copy", &folder] {
        let copy = Database::fresh(kind);
        let restored = done(&copy, place, &["restore", &dir], &env).await;
        assert_eq!((&restored["documents"], &restored["held"]), (&json!(1), &json!(true)));
        let args = [SERVE, "--documents", place];
        let process = Process::serve_with_env(&copy, &args, &env).await;
        has_document(&process, &us, &person, &file).await;
    }
    let keys = bucket.keys();
    let of = |prefix: &str| keys.iter().filter(|key| key.starts_with(prefix)).count();
    assert_eq!((keys.len(), of("files/ours/"), of("files/copy/")), (2, 1, 1), "{keys:?}");
    let again = run(&Database::fresh(kind), "s3://files/copy", &["restore", &dir], &env).await;
    assert_eq!(again.code, Some(1), "{}", again.stderr);
    assert!(again.stderr.contains("empty"), "{}", again.stderr);
}

/// D75: for the one installation that takes the place of what was lost.
#[both_stores]
async fn with_resume_the_restored_installation_goes_on_where_the_backup_was_made(kind: StoreKind) {
    const PEOPLE: u32 = 6;
    if !has_programs(kind) {
        return;
    }
    let env = environment(None);
    let env = borrowed(&env);
    let database = Database::migrated(kind);
    let process = Process::serve(&database, &[SERVE]).await;
    let documents = format!("file:{}", process.folder.path().join("recado-documents").display());
    let us = tenant_at(process.addr, "Acme", "enterprise").await;
    qr(&process, &us).await;
    let mut people = Vec::new();
    for n in 0..PEOPLE {
        // Numbers that the simulated gateway sends to.
        people.push(contact(&process, &us, 1_000 + n).await.expect("it is made"));
    }
    // At the time of the backup it runs and has no message under way.
    let hours = later_hours(&process, &us).await;
    let campaign = format!("C/campaigns/{}", campaign(&process, &us, &people, hours).await);
    let kept = tempfile::tempdir().expect("a temporary folder");
    let dir = kept.path().join("backup").display().to_string();
    done(&database, &documents, &["backup", &dir], &env).await;
    process.kill().await;

    let copy = Database::fresh(kind);
    let restored = done(&copy, "file:documents", &["restore", "--resume", &dir], &env).await;
    let expected = json!({"held": false, "reason": null, "campaigns_paused": 0,
        "sends_uncertain": 0, "documents": 0, "created_at": restored["created_at"]});
    assert_eq!(restored, expected);
    let receiver = Receiver::start().await;
    let process = Process::serve(&copy, &[SERVE]).await;
    assert_eq!(ready_at(process.addr).await["data"]["held"], false);
    let hook = json!({ "url": receiver.url("/a"), "events": ["*"] });
    operator_at(process.addr, &us.id, "POST", "C/webhooks", hook).await.expect(201);
    text_to(&process, &us, &mobile(1)).await.expect(200);
    let any_time = json!({ "send_between": null });
    let kept = operator_at(process.addr, &us.id, "PATCH", &campaign, any_time).await;
    assert_eq!(kept.expect(200)["status"], "running");
    let finished = eventually("the campaign goes on by itself", || async {
        let shown = operator_at(process.addr, &us.id, "GET", &campaign, Value::Null).await;
        let shown = shown.expect(200).clone();
        (text(&shown["status"]) == "finished").then_some(shown)
    })
    .await;
    let counts = ["total", "failed", "skipped"].map(|outcome| &finished["counts"][outcome]);
    assert_eq!(counts, [&json!(PEOPLE), &json!(0), &json!(0)], "{finished}");
    eventually("it tells others", || async { (receiver.deliveries() > 0).then_some(()) }).await;
}

/// An hour that begins in one to two hours, in UTC, which becomes the zone of the company.
async fn later_hours(process: &Process, us: &Tenant) -> Value {
    let zone = json!({ "time_zone": "UTC" });
    let path = format!("/companies/{}", us.id);
    let company = operator_at(process.addr, &us.id, "PATCH", &path, zone).await.expect(200).clone();
    let hour: u32 = text(&company["updated_at"])[11..13].parse().expect("an hour");
    let at = |hour: u32| format!("{:02}:00", hour % 24);
    json!({ "from": at(hour + 2), "to": at(hour + 3) })
}
