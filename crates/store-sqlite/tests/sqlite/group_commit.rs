//! One transaction for all waiting change sets, each of which may fail without the others.

use std::sync::Arc;

use crate::support::{Scene, company, contact};
use recado_core::contacts::{ContactFilter, ContactReads};
use recado_core::page::PageRequest;
use recado_core::store::{ChangeSet, Commit, CommitError, Conflict, UniqueKey};
use rusqlite::Connection;

#[tokio::test(flavor = "multi_thread")]
async fn change_sets_that_wait_for_each_other_share_a_transaction() {
    let scene = Scene::new().await;
    let before = scene.store.stats();
    // While this lock is held no change set can be written, so all of them wait.
    let lock = Connection::open(scene.folder.path().join("recado.db")).unwrap();
    lock.execute_batch("BEGIN IMMEDIATE").unwrap();
    let commits: Vec<_> = (1..=100)
        .map(|n| {
            let store = Arc::clone(&scene.store);
            let contact = contact(scene.company, n, "Ana");
            tokio::spawn(async move { store.commit(ChangeSet::new().insert(contact)).await })
        })
        .collect();
    tokio::task::yield_now().await;
    lock.execute_batch("COMMIT").unwrap();
    for commit in commits {
        commit.await.unwrap().unwrap();
    }
    let after = scene.store.stats();
    assert_eq!(after.writes - before.writes, 100);
    let transactions = after.transactions - before.transactions;
    assert!(transactions < 50, "{transactions} transactions for 100 change sets");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_set_that_fails_does_not_take_its_neighbours_along() {
    let scene = Scene::new().await;
    let lock = Connection::open(scene.folder.path().join("recado.db")).unwrap();
    lock.execute_batch("BEGIN IMMEDIATE").unwrap();
    // Every contact is sent twice. The second of each pair must fail.
    let commits: Vec<_> = (0..40)
        .map(|n| {
            let store = Arc::clone(&scene.store);
            let mut contact = contact(scene.company, n, "Beatriz");
            contact.identifier = crate::support::contact(scene.company, n / 2, "").identifier;
            let members = ChangeSet::new().insert(company(1000 + u128::from(n)));
            let changes = members.insert(contact);
            tokio::spawn(async move { store.commit(changes).await })
        })
        .collect();
    lock.execute_batch("COMMIT").unwrap();
    let mut done = 0;
    for commit in commits {
        match commit.await.unwrap() {
            Ok(()) => done += 1,
            Err(CommitError::Conflict(conflict)) => {
                assert_eq!(conflict, Conflict::Taken(UniqueKey::ContactIdentifier));
            }
            Err(error) => panic!("{error}"),
        }
    }
    assert_eq!(done, 20);
    let search = recado_core::contacts::SearchQuery::parse("beatriz").unwrap();
    for filter in [ContactFilter::default(), ContactFilter { search, ..ContactFilter::default() }] {
        let page = PageRequest { page: 1, limit: 100 };
        let slice = scene.store.contact_page(scene.company, &filter, page, false).await.unwrap();
        assert_eq!((slice.total, slice.records.len()), (20, 20));
    }
    let conn = Connection::open(scene.folder.path().join("recado.db")).unwrap();
    let companies: i64 =
        conn.query_row("SELECT count(*) FROM companies", [], |row| row.get(0)).unwrap();
    assert_eq!(companies, 21, "what a failed change set wrote before it failed is gone");
}

#[tokio::test(flavor = "multi_thread")]
async fn writes_of_two_handles_take_turns() {
    let scene = Scene::new().await;
    let path = scene.folder.path().join("recado.db");
    let second = Arc::new(recado_store_sqlite::SqliteStore::open(path).unwrap());
    let commits: Vec<_> = (0..200)
        .map(|n| {
            let store = Arc::clone(if n % 2 == 0 { &scene.store } else { &second });
            let contact = contact(scene.company, n, "Caio");
            tokio::spawn(async move { store.commit(ChangeSet::new().insert(contact)).await })
        })
        .collect();
    for commit in commits {
        commit.await.unwrap().unwrap();
    }
    let page = PageRequest { page: 1, limit: 1 };
    for store in [&scene.store, &second] {
        let filter = ContactFilter::default();
        let slice = store.contact_page(scene.company, &filter, page, false).await.unwrap();
        assert_eq!(slice.total, 200);
    }
}
