//! What is deleted is in no file any more once the log was emptied (R197).

use std::path::Path;

use recado_core::Timestamp;
use recado_core::contacts::Contact;
use recado_core::store::{ChangeSet, Commit, RecordsExt, Upkeep};
use rusqlite::{Connection, OptionalExtension};

use crate::support::{Scene, contact};

/// The name of a contact, which is in no other name; in the form in which it is indexed, too.
fn name(n: u32) -> String {
    format!("qz{n}w{}x", "k".repeat((n % 40) as usize))
}

async fn store(scene: &Scene, numbers: impl Iterator<Item = u32>) {
    let mut changes = ChangeSet::new();
    for n in numbers {
        changes = changes.insert(contact(scene.company, n, &name(n)));
    }
    scene.store.commit(changes).await.expect("all can be stored");
}

async fn delete(scene: &Scene, n: u32) {
    let key = (scene.company, contact(scene.company, n, "").id);
    let stored = scene.store.get::<Contact>(key).await.expect("works").expect("there");
    scene.store.commit(ChangeSet::new().with(stored.delete())).await.expect("it can be deleted");
}

/// Which of the numbers have their name in a file of the folder.
fn named(folder: &Path, numbers: &[u32]) -> Vec<u32> {
    let mut all = Vec::new();
    for file in std::fs::read_dir(folder).expect("the folder") {
        all.extend(std::fs::read(file.expect("a file").path()).expect("readable"));
    }
    let all = String::from_utf8_lossy(&all);
    numbers.iter().copied().filter(|n| all.contains(&name(*n))).collect()
}

/// The terms of the search index, each with how often it is in there.
fn terms(conn: &Connection) -> Vec<(String, i64)> {
    conn.execute_batch(
        "CREATE VIRTUAL TABLE IF NOT EXISTS temp.terms USING fts5vocab(main, contact_search, row)",
    )
    .expect("a table");
    let mut statement = conn.prepare("SELECT term, cnt FROM temp.terms").expect("a query");
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).expect("terms");
    rows.collect::<Result<_, _>>().expect("terms")
}

/// R197.
#[tokio::test]
async fn nothing_of_a_deleted_contact_is_left_in_the_database_the_log_or_a_backup() {
    let scene = Scene::new().await;
    store(&scene, 0..60).await;
    let conn = Connection::open(scene.folder.path().join("recado.db")).expect("opens");
    let before = terms(&conn);
    let gone = [100, 101, 102];
    store(&scene, gone.into_iter()).await;
    assert_eq!(named(scene.folder.path(), &gone), gone);
    for n in gone {
        delete(&scene, n).await;
    }
    scene.store.upkeep(Timestamp::MIN).await.expect("works");
    assert_eq!(named(scene.folder.path(), &gone), [0_u32; 0]);
    assert_eq!(terms(&conn), before, "no term is left, nor where it was");
    let backup = tempfile::tempdir().expect("a folder");
    let copy = backup.path().join("copy.db");
    conn.execute("VACUUM INTO ?1", [copy.display().to_string()]).expect("a backup");
    assert_eq!(named(backup.path(), &gone), [0_u32; 0]);
    let kept = named(backup.path(), &(0..60).collect::<Vec<_>>()).len();
    assert_eq!(kept, 60, "the others are there");
    let check = |_: &rusqlite::Row<'_>| Ok(());
    let damaged = conn
        .query_row(
            "INSERT INTO contact_search (contact_search, rank) VALUES ('integrity-check', 0)",
            [],
            check,
        )
        .optional();
    assert!(matches!(damaged, Ok(None)), "{damaged:?}");
}

/// R197: what an earlier process had deleted may be in the log when a process starts.
#[tokio::test]
async fn the_log_is_emptied_after_the_start_and_after_each_deletion_and_not_otherwise() {
    let scene = Scene::new().await;
    let log = scene.folder.path().join("recado.db-wal");
    let length = || std::fs::metadata(&log).expect("the log").len();
    let upkeep = async || scene.store.upkeep(Timestamp::MIN).await.expect("works");
    store(&scene, 0..5).await;
    assert!(length() > 0);
    upkeep().await;
    assert_eq!(length(), 0, "after the start");
    store(&scene, 5..9).await;
    upkeep().await;
    assert!(length() > 0, "nothing was deleted");
    delete(&scene, 3).await;
    upkeep().await;
    assert_eq!(length(), 0);
}

/// R197.
#[tokio::test]
async fn while_a_long_read_needs_the_log_it_is_kept_and_emptied_afterwards() {
    let scene = Scene::new().await;
    let log = scene.folder.path().join("recado.db-wal");
    let length = || std::fs::metadata(&log).expect("the log").len();
    store(&scene, 0..5).await;
    scene.store.upkeep(Timestamp::MIN).await.expect("works");
    store(&scene, 5..9).await;
    let reader = Connection::open(scene.folder.path().join("recado.db")).expect("opens");
    reader.execute_batch("BEGIN; SELECT count(*) FROM contacts").expect("reads");
    delete(&scene, 3).await;
    scene.store.upkeep(Timestamp::MIN).await.expect("it is no failure");
    assert!(length() > 0);
    delete(&scene, 4).await;
    reader.execute_batch("COMMIT").expect("ends");
    scene.store.upkeep(Timestamp::MIN).await.expect("works");
    assert_eq!(length(), 0);
}
