//! Promise 4 for routes: the routes that determined a change set's deliveries are still current
//! (D52).

use recado_core::store::{ChangeSet, Conflict, Precondition, RecordsExt, RowKey, Version};
use recado_core::webhooks::Routes;

use super::Harness;
use super::outbound_scene::ALL;
use super::scene::{Scene, applied, conflict, first};
use recado_core::events::{EventType, JournalPosition};

fn routed(scene: &Scene, read_at: Option<Version>) -> Precondition {
    Precondition::Routed { company: scene.company, read_at }
}

/// A change set with an event that relies on the routes.
fn telling(scene: &Scene, read_at: Option<Version>) -> ChangeSet {
    let event = scene.reported(EventType::ContactCreated, 0);
    ChangeSet::new().emit(event).require(routed(scene, read_at))
}

async fn assert_refused(scene: &Scene, changes: ChangeSet) {
    let list = scene.list();
    let found = conflict(scene.store.commit(changes.insert(list.clone())).await);
    assert_eq!(found, Conflict::Stale(RowKey::Routes { company: scene.company }));
    let stored = scene.store.list(scene.company, list.id).await.expect("the store works");
    assert_eq!(stored, None, "nothing of the set was applied");
    assert_eq!(scene.journal(JournalPosition::default(), ALL).await, []);
}

/// Routes that have not changed let the change set pass, and are not written.
pub async fn routes_as_they_were_read_let_the_change_set_pass(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let routes = scene.routes(&[scene.webhook().id]);
    scene.add(routes.clone()).await;
    scene.store.commit(telling(&scene, Some(Version::FIRST))).await.expect("they are as read");
    let stored = scene.store.get::<Routes>(scene.company).await.expect("the store works");
    assert_eq!(stored, Some(first(routes)));
    assert_eq!(scene.journal_ids().await.len(), 1);
}

/// A company that never had a webhook has no routes; a change set can rely on that, too.
pub async fn missing_routes_let_the_change_set_pass(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    scene.store.commit(telling(&scene, None)).await.expect("there are none");
    // The routes of other companies do not matter.
    let other = scene.another_company().await;
    other.add(other.routes(&[])).await;
    scene.store.commit(telling(&scene, None)).await.expect("there are still none");
    assert_eq!(scene.journal_ids().await.len(), 2);
}

/// A webhook was created, changed or deleted meanwhile (R73).
pub async fn changed_routes_stop_the_change_set(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let routes = scene.routes(&[]);
    scene.add(routes.clone()).await;
    let changed = Routes { fires: false, ..routes.clone() };
    scene.apply(first(routes).update(changed)).await;
    assert_refused(&scene, telling(&scene, Some(Version::FIRST))).await;
    assert_refused(&scene, telling(&scene, Some(Version::FIRST.next().next()))).await;
    scene.store.commit(telling(&scene, Some(Version::FIRST.next()))).await.expect("read again");
}

/// The company's first webhook was created meanwhile.
pub async fn routes_that_appeared_stop_the_change_set(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    scene.add(scene.routes(&[])).await;
    assert_refused(&scene, telling(&scene, None)).await;
}

/// Routes are never deleted, but a set that relies on routes needs them to exist.
pub async fn routes_that_are_missing_stop_the_change_set(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    assert_refused(&scene, telling(&scene, Some(Version::FIRST))).await;
}

/// Promise 7: a webhook that another process created is seen.
pub async fn routes_changed_through_a_second_handle_stop_the_change_set(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let Some(second) = harness.second().await else { return };
    let second = scene.through(second);
    scene.store.commit(telling(&scene, None)).await.expect("there are none");
    let routes = scene.routes(&[]);
    second.add(routes.clone()).await;
    let found = conflict(scene.store.commit(telling(&scene, None)).await);
    assert_eq!(found, Conflict::Stale(RowKey::Routes { company: scene.company }));
    scene.store.commit(telling(&scene, Some(Version::FIRST))).await.expect("as they are");
    second.apply(first(routes.clone()).update(routes)).await;
    let found = conflict(scene.store.commit(telling(&scene, Some(Version::FIRST))).await);
    assert_eq!(found, Conflict::Stale(RowKey::Routes { company: scene.company }));
}

/// Change sets that rely on the same routes do not make each other fail.
pub async fn change_sets_on_the_same_routes_all_pass(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    scene.add(scene.routes(&[scene.webhook().id])).await;
    let mut commits = Vec::new();
    for _ in 0..40 {
        let (store, changes) = (scene.store.clone(), telling(&scene, Some(Version::FIRST)));
        commits.push(tokio::spawn(async move { applied(store.commit(changes).await) }));
    }
    for commit in commits {
        assert!(commit.await.expect("no panic"), "nobody changed the routes");
    }
    assert_eq!(scene.journal_ids().await.len(), 40);
}
