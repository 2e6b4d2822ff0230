//! Promise 4: what a decision relied on still holds when its commit becomes visible.

use recado_core::store::{ChangeSet, Conflict, Precondition, Row};

use super::Harness;
use super::scene::{CNPJ, Scene, applied, assert_stale, at, conflict, first};

/// A precondition does not write the row.
pub async fn an_unchanged_row_lets_the_change_set_pass_and_stays_as_it_is(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let (list, contact) = (scene.list(), scene.contact());
    scene.add(list.clone()).await;
    let changes = ChangeSet::new().insert(contact.clone()).require(first(list.clone()).unchanged());
    scene.store.commit(changes).await.expect("the list is as it was read");
    assert!(scene.has_contact(contact.id).await);
    let stored = scene.store.list(scene.company, list.id).await.expect("the store works");
    assert_eq!(stored, Some((first(list), 0)));
}

/// Promise 4.
pub async fn a_changed_row_stops_the_change_set(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let (list, contact) = (scene.list(), scene.contact());
    scene.add(list.clone()).await;
    let mut inactive = list.clone();
    inactive.is_active = false;
    scene.apply(first(list.clone()).update(inactive)).await;
    let changes = ChangeSet::new().insert(contact.clone()).require(first(list.clone()).unchanged());
    let found = conflict(scene.store.commit(changes).await);
    assert_eq!(found, Conflict::Stale(Row::from(list).key()));
    assert!(!scene.has_contact(contact.id).await);
}

/// Promise 4.
pub async fn a_row_that_is_gone_stops_the_change_set(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let (list, contact) = (scene.list(), scene.contact());
    scene.add(list.clone()).await;
    scene.apply(first(list.clone()).delete()).await;
    let changes = ChangeSet::new().insert(contact.clone()).require(first(list).unchanged());
    assert_stale(scene.store.commit(changes).await);
    assert!(!scene.has_contact(contact.id).await);
}

/// A change set may rely on a row and write the same row.
pub async fn preconditions_hold_before_the_changes_of_the_set(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let list = scene.list();
    scene.add(list.clone()).await;
    let mut renamed = list.clone();
    renamed.name = "Outra".to_owned();
    let changes = ChangeSet::new()
        .with(first(list.clone()).update(renamed))
        .require(first(list.clone()).unchanged());
    scene.store.commit(changes).await.expect("it was unchanged before the set");
}

/// A change set can rely on every kind of row that has a version.
pub async fn every_kind_of_row_can_be_relied_on(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let contact = scene.contact();
    let pipeline = scene.pipeline();
    let stage = scene.stage(&pipeline, 0);
    let connection = scene.connection();
    let message = scene.inbound(&contact, &connection, 0);
    let rows: Vec<Row> = vec![
        contact.clone().into(),
        pipeline.into(),
        stage.clone().into(),
        scene.deal(&contact, Some(&stage)).into(),
        scene.field("cidade").into(),
        scene.list().into(),
        scene.tag().into(),
        scene.close_reason().into(),
        scene.member().into(),
        scene.key().into(),
        scene.organization(CNPJ).into(),
        scene.document(&contact).into(),
        scene.link(&contact).into(),
        scene.job().into(),
        connection.clone().into(),
        scene.statuses(&connection).into(),
        scene.group(&connection, "g1").into(),
        scene.conversation(&contact, &connection).into(),
        message.clone().into(),
        scene.reference(&message, "w1").into(),
        scene.report(&connection, "w2", at(9)).into(),
        scene.lead(&contact).into(),
        scene.debit(None, 5, 0).into(),
        scene.call("k", None).into(),
        scene.worker(0).into(),
        scene.template(Some(&connection)).into(),
        scene.unknown_event(&connection, "newsletter.upsert").into(),
    ];
    scene.add_all(rows.clone()).await;
    let all = rows.iter().fold(ChangeSet::new().insert(scene.list()), |changes, row| {
        let (key, read_at) = (row.key(), first(()).version());
        changes.require(Precondition::Unchanged { key, read_at })
    });
    scene.store.commit(all).await.expect("all are as they were read");
    for row in rows {
        let (key, read_at) = (row.key(), first(()).version().next());
        let wrong = Precondition::Unchanged { key: key.clone(), read_at };
        let changes = ChangeSet::new().insert(scene.list()).require(wrong);
        assert_eq!(conflict(scene.store.commit(changes).await), Conflict::Stale(key));
    }
}

/// Promise 4 with concurrent commits: if each of two change sets relies on a row that the other one
/// writes, at most one is applied.
pub async fn two_change_sets_that_rely_on_each_other_never_both_pass(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let second = match harness.second().await {
        Some(second) => scene.through(second),
        None => scene.through(scene.store.clone()),
    };
    let mut passed = 0;
    for _ in 0..60 {
        let (left, right) = (scene.list(), scene.list());
        scene.add_all([left.clone(), right.clone()]).await;
        let changes = |relied: &recado_core::lists::List, written: &recado_core::lists::List| {
            let mut inactive = written.clone();
            inactive.is_active = false;
            ChangeSet::new()
                .with(first(written.clone()).update(inactive))
                .require(first(relied.clone()).unchanged())
        };
        let (one, other) = (changes(&left, &right), changes(&right, &left));
        let (store, second) = (scene.store.clone(), second.store.clone());
        let one = tokio::spawn(async move { applied(store.commit(one).await) });
        let other = tokio::spawn(async move { applied(second.commit(other).await) });
        let (one, other) = (one.await.expect("no panic"), other.await.expect("no panic"));
        assert!(!(one && other), "both decisions were applied on what no longer held");
        passed += u32::from(one) + u32::from(other);
    }
    assert!(passed > 0, "contention may stop some, not all");
}
