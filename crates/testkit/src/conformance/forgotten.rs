//! The ids of messages that are deleted with their contact are kept for a while (R145).

use recado_core::Timestamp;
use recado_core::connections::Connection;
use recado_core::contacts::Contact;
use recado_core::messages::{Message, MessageRef, ProviderMessageId, RefTarget, Referred};
use recado_core::store::{Change, ChangeSet, Row, Stored, Version};

use super::Harness;
use super::campaign_scene::at_once;
use super::channel_scene::wamid;
use super::scene::{Scene, applied, assert_stale, at, first};

/// A message with this provider id, and its reference.
fn known(scene: &Scene, contact: &Contact, connection: &Connection, id: &str) -> [Row; 2] {
    let message = Message { provider_id: Some(wamid(id)), ..scene.inbound(contact, connection, 0) };
    [message.clone().into(), scene.reference(&message, id).into()]
}

/// A stored contact, with a message for each of these ids.
async fn with_messages(scene: &Scene, connection: &Connection, ids: &[&str]) -> Contact {
    let contact = scene.contact();
    scene.add(contact.clone()).await;
    for id in ids {
        scene.add_all(known(scene, &contact, connection, id)).await;
    }
    contact
}

/// The deletion of a contact that keeps traces of its messages' ids.
fn deletion(scene: &Scene, contact: &Stored<Contact>, expires_at: Timestamp) -> ChangeSet {
    let forget = Change::forget_messages(scene.company, contact.id, expires_at);
    ChangeSet::new().with(forget).with(contact.delete())
}

async fn delete(scene: &Scene, contact: Contact, expires_at: Timestamp) {
    let deletion = deletion(scene, &first(contact), expires_at);
    scene.store.commit(deletion).await.expect("nothing stands in its way");
}

/// What a provider id refers to.
async fn by_id(scene: &Scene, connection: &Connection, id: &str) -> Vec<Referred> {
    let ids = [wamid(id)];
    scene.store.referred(scene.company, connection.id, &ids).await.expect("the store works")
}

/// What the trace of a provider id refers to.
async fn by_trace(scene: &Scene, connection: &Connection, id: &str) -> Vec<Referred> {
    let ids = [wamid(id).trace(connection.id)];
    scene.store.referred(scene.company, connection.id, &ids).await.expect("the store works")
}

fn trace(connection: &Connection, id: &str, expires_at: Timestamp, version: u64) -> Vec<Referred> {
    let reference = MessageRef {
        company: connection.company,
        connection: connection.id,
        provider_id: wamid(id).trace(connection.id),
        target: RefTarget::Forgotten { expires_at },
    };
    vec![Referred { reference: Stored::new(reference, Version::new(version)), message: None }]
}

/// The id is deleted and its trace is stored. Rows of other contacts stay.
pub async fn a_deleted_contacts_messages_leave_traces_of_their_ids(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let (one, two) = (scene.connection(), scene.connection());
    scene.add_all([one.clone(), two.clone()]).await;
    let gone = with_messages(&scene, &one, &["w1", "w2"]).await;
    scene.add_all(known(&scene, &gone, &two, "w1")).await;
    scene.add(scene.inbound(&gone, &one, 0)).await;
    // Other ids of a message: one that a gateway gave, and one that none gives.
    let message = by_id(&scene, &one, "w2").await[0].message.clone().expect("it is stored");
    let standing = ProviderMessageId::from_stored("\treaction".to_owned());
    for provider_id in [wamid("w9"), standing.clone()] {
        scene.add(MessageRef { provider_id, ..scene.reference(&message, "w2") }).await;
    }
    with_messages(&scene, &one, &["w3"]).await;
    delete(&scene, gone, at(9)).await;
    for (connection, id) in [(&one, "w1"), (&one, "w2"), (&one, "w9"), (&two, "w1")] {
        assert_eq!(by_id(&scene, connection, id).await, []);
        assert_eq!(by_trace(&scene, connection, id).await, trace(connection, id, at(9), 1));
    }
    let of_standing = [standing.trace(one.id)];
    let found = scene.store.referred(scene.company, one.id, &of_standing).await;
    assert_eq!(found.expect("the store works"), []);
    assert_eq!(by_trace(&scene, &two, "w2").await, []);
    assert_eq!(by_trace(&scene, &one, "w3").await, []);
    let stays = by_id(&scene, &one, "w3").await;
    assert!(stays[0].message.is_some());
}

/// An id may become the id of a message again, by an operator's import, and be forgotten again.
pub async fn an_id_that_is_forgotten_again_is_so_for_longer(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let connection = scene.connection();
    scene.add(connection.clone()).await;
    let gone = with_messages(&scene, &connection, &["w1"]).await;
    delete(&scene, gone, at(9)).await;
    let again = with_messages(&scene, &connection, &["w1", "w2"]).await;
    // The provider gives the same id again.
    let message = scene.inbound(&again, &connection, 1);
    scene.add(Message { provider_id: Some(wamid("w1")), ..message }).await;
    delete(&scene, again, at(12)).await;
    assert_eq!(by_trace(&scene, &connection, "w1").await, trace(&connection, "w1", at(12), 2));
    assert_eq!(by_trace(&scene, &connection, "w2").await, trace(&connection, "w2", at(12), 1));
}

/// A deletion keeps all traces or none, and only for a contact of its own company.
pub async fn a_deletion_that_fails_leaves_no_trace(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let other = scene.another_company().await;
    let connection = scene.connection();
    scene.add(connection.clone()).await;
    let stays = with_messages(&scene, &connection, &["w1"]).await;
    let stale = Stored::new(stays.clone(), Version::new(2));
    assert_stale(scene.store.commit(deletion(&scene, &stale, at(9))).await);
    scene.apply(Change::forget_messages(other.company, stays.id, at(9))).await;
    assert_eq!(by_trace(&scene, &connection, "w1").await, []);
    assert!(by_id(&scene, &connection, "w1").await[0].message.is_some());
}

/// Housekeeping deletes traces when they expire; the deletion of a connection deletes its traces at
/// once.
pub async fn traces_go_when_they_expire_and_with_their_connection(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let (one, two) = (scene.connection(), scene.connection());
    scene.add_all([one.clone(), two.clone()]).await;
    let (early, late) =
        (with_messages(&scene, &one, &["w1"]).await, with_messages(&scene, &one, &["w2"]).await);
    scene.add_all(known(&scene, &late, &two, "w2")).await;
    delete(&scene, early, at(10)).await;
    delete(&scene, late, at(11)).await;
    let there = async || {
        let mut there = Vec::new();
        for (connection, id) in [(&one, "w1"), (&one, "w2"), (&two, "w2")] {
            there.push(!by_trace(&scene, connection, id).await.is_empty());
        }
        there
    };
    scene.store.upkeep(at(9)).await.expect("the store works");
    assert_eq!(there().await, [true, true, true]);
    scene.store.upkeep(at(10)).await.expect("the store works");
    assert_eq!(there().await, [false, true, true]);
    scene.apply(first(two.clone()).delete()).await;
    assert_eq!(there().await, [false, true, false]);
    scene.store.upkeep(at(11)).await.expect("the store works");
    assert_eq!(there().await, [false, false, false]);
}

/// A message that is inserted while its contact is deleted is refused, or its id is kept as a
/// trace, too.
pub async fn what_comes_meanwhile_leaves_a_trace_or_is_refused(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let connection = scene.connection();
    scene.add(connection.clone()).await;
    for round in 0..40 {
        let gone = scene.contact();
        scene.add(gone.clone()).await;
        let ids: Vec<String> = (0..4).map(|n| format!("w{round}-{n}")).collect();
        let mut changes = vec![deletion(&scene, &first(gone.clone()), at(9))];
        for id in &ids {
            let rows = known(&scene, &gone, &connection, id);
            changes.push(rows.into_iter().fold(ChangeSet::new(), ChangeSet::insert));
        }
        let mut outcomes = at_once(harness, &scene, changes).await.into_iter();
        outcomes.next().expect("the deletion has an outcome").expect("it is not disturbed");
        for (id, outcome) in ids.iter().zip(outcomes) {
            let stored = applied(outcome);
            assert_eq!(!by_trace(&scene, &connection, id).await.is_empty(), stored);
        }
    }
}
