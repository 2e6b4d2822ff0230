//! Events that cannot be committed, and rows that rely on a contact without writing it.

use std::sync::{Arc, Mutex};

use recado_core::Error;
use recado_core::gateway::{GatewayEvent, Incoming};
use recado_core::store::{ChangeKind, ChangeSet, Precondition, Row, RowKey};
use recado_testkit::StoreFailure;

use super::create_phone;
use super::gateway_scene::*;

fn stores(changes: &ChangeSet, id: &str) -> bool {
    changes.changes.iter().any(|change| {
        let ChangeKind::Insert(Row::Message(message)) = change.kind() else { return false };
        message.provider_id == Some(wamid(id))
    })
}

async fn ids(scene: &Scene) -> Vec<String> {
    let messages = scene.messaging.messages().await;
    let mut ids: Vec<_> =
        messages.iter().map(|message| message["wamid"].as_str().unwrap().to_owned()).collect();
    ids.sort();
    ids
}

/// R144.
#[tokio::test]
async fn an_event_that_cannot_be_committed_stops_none_of_those_behind_it() {
    let scene = scene("waha").await;
    scene.store.plan_commits(|changes| stores(changes, "m2").then_some(StoreFailure::Contended));
    let events = || (1..=5).map(|n| heard(&format!("m{n}"), PEER)).collect::<Vec<Incoming>>();
    let (company, inbox) = (scene.kit.company.id, scene.kit.app.inbox());
    for _ in 0..2 {
        let taken = inbox.receive(company, scene.connection(), events()).await;
        assert!(matches!(taken, Err(Error::Busy)), "the gateway calls again: {taken:?}");
        assert_eq!(ids(&scene).await, ["m1", "m3", "m4", "m5"]);
    }
    scene.store.heal();
    inbox.receive(company, scene.connection(), events()).await.unwrap();
    assert_eq!(ids(&scene).await, ["m1", "m2", "m3", "m4", "m5"]);
}

/// R143.
#[tokio::test]
async fn a_conversation_that_only_a_history_makes_relies_on_its_contact() {
    let scene = scene("waha").await;
    let contact = create_phone(&scene.kit, PHONE).await;
    let relied = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&relied);
    scene.store.plan_commits(move |changes| {
        let of_contact = |required: &&Precondition| {
            matches!(required, Precondition::Unchanged { key: RowKey::Contact { id, .. }, .. }
                if *id == contact)
        };
        if stores(changes, "h1") || stores(changes, "h2") {
            seen.lock().unwrap().push(changes.requires.iter().filter(of_contact).count());
        }
        None
    });
    for id in ["h1", "h2"] {
        let mut message = text(id, PEER, "Oi");
        message.history = true;
        scene.messaging.receive(vec![Ok(GatewayEvent::Message(message))]).await;
    }
    // The second finds the conversation, which a concurrent merge or deletion of the contact would
    // read.
    assert_eq!(*relied.lock().unwrap(), [1, 0]);
    scene.store.heal();
    let shown = super::shown(&scene.kit, contact).await;
    assert_eq!(shown["connections"].as_array().map(Vec::len), Some(1));
}
