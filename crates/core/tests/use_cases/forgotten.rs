//! Repeated events of gateways do not recreate a deleted contact (R145).

use std::time::Duration;

use recado_core::Clock as _;
use recado_core::connections::PULL_AGAIN;
use recado_core::gateway::{GatewayEvent, GatewayMessage, Incoming, Missed, OwnSend};
use recado_core::ids::ContactId;
use recado_core::inbox::{EventOutcome, EventResult};
use recado_core::messages::{FORGOTTEN_KEPT, MessageStatus};
use recado_core::store::Upkeep as _;
use recado_testkit::{StoreFailure, StoreOp};
use serde_json::Value;

use super::gateway_scene::*;

const DUPLICATE: (EventOutcome, Option<recado_core::ids::MessageId>) =
    (EventOutcome::Duplicate, None);

fn echo(id: &str, peer: &str) -> Incoming {
    Ok(GatewayEvent::Echo(text(id, peer, "Já vou")))
}

async fn tell(scene: &Scene, event: Incoming) -> EventResult {
    scene.messaging.receive(vec![event]).await.remove(0)
}

/// The contact of the only messages that there are.
async fn contact(scene: &Scene) -> Option<ContactId> {
    let messages = scene.messaging.messages().await;
    messages.first().map(|shown| ContactId::parse(shown["contact_id"].as_str().unwrap()).unwrap())
}

async fn delete(scene: &Scene) {
    let contact = contact(scene).await.expect("somebody wrote");
    scene.kit.app.contacts().delete(&scene.kit.caller, contact).await.unwrap();
}

/// How many events of messages and contacts there are so far, without erased ones.
fn event_counts(scene: &Scene) -> Vec<usize> {
    let events = scene.model.events(scene.kit.company.id);
    let of = |name: &str| events.iter().filter(|e| e.event_type.as_str() == name).count();
    ["contact.created", "message.received", "message.sent", "message.status_updated"]
        .map(of)
        .to_vec()
}

/// All events of a gateway about the messages m1, a contact's, and e1, an echo.
fn repetitions() -> Vec<Incoming> {
    let history = GatewayMessage { history: true, ..text("m1", PEER, "Oi") };
    let edit =
        GatewayEvent::Edit {
            provider_id: wamid("m1"), content: "Olá".to_owned(), timestamp: None
        };
    let own = OwnSend { content: Some("Já vou".to_owned()), ..OwnSend::new(wamid("e1"), PEER) };
    vec![
        heard("m1", PEER),
        Ok(GatewayEvent::Message(history)),
        echo("e1", PEER),
        Ok(edit),
        reported("e1", MessageStatus::Delivered),
        Ok(GatewayEvent::OwnSend(own)),
    ]
}

/// R145.
#[tokio::test]
async fn what_is_repeated_of_a_deleted_contact_changes_nothing() {
    for gateway in ["waha", "evolution", "cloud_api"] {
        let scene = scene(gateway).await;
        tell(&scene, heard("m1", PEER)).await;
        tell(&scene, echo("e1", PEER)).await;
        delete(&scene).await;
        scene.work().await;
        let (before, rows) = (event_counts(&scene), scene.model.row_count());
        for event in repetitions() {
            let result = tell(&scene, event.clone()).await;
            assert_eq!((result.result, result.message_id), DUPLICATE, "{event:?}");
        }
        assert_eq!(contact(&scene).await, None);
        assert_eq!((event_counts(&scene), scene.model.row_count()), (before, rows));
    }
}

#[tokio::test]
async fn a_new_message_of_a_deleted_contact_makes_a_new_contact_that_quotes_nothing_of_the_old() {
    let scene = scene("waha").await;
    tell(&scene, heard("m1", PEER)).await;
    let old = contact(&scene).await;
    delete(&scene).await;
    let new = GatewayMessage { quoted: Some(wamid("m1")), ..text("m2", PEER, "Oi de novo") };
    let result = tell(&scene, Ok(GatewayEvent::Message(new))).await;
    assert_eq!(result.result, EventOutcome::Stored);
    assert!(contact(&scene).await.is_some_and(|new| Some(new) != old));
    let messages = scene.messaging.messages().await;
    assert_eq!((messages.len(), &messages[0]["quoted_message_id"]), (1, &Value::Null));
    assert_eq!(event_counts(&scene)[..2], [2, 2]);
    // A repetition of either is one.
    for id in ["m1", "m2"] {
        assert_eq!(tell(&scene, heard(id, PEER)).await.result, EventOutcome::Duplicate);
    }
    assert_eq!(scene.messaging.messages().await.len(), 1);
}

#[tokio::test]
async fn a_message_of_this_id_on_another_connection_is_another_message() {
    let scene = scene("waha").await;
    tell(&scene, heard("m1", PEER)).await;
    delete(&scene).await;
    let other = connect(&scene.kit, "evolution", serde_json::json!({})).await;
    let inbox = scene.kit.app.inbox();
    let heard = vec![heard("m1", PEER)];
    let results = inbox.receive(scene.kit.company.id, other, heard).await.unwrap();
    assert_eq!(results[0].result, EventOutcome::Stored);
}

#[tokio::test]
async fn a_pull_does_not_bring_a_deleted_contact_back() {
    let scene = scene("waha").await;
    tell(&scene, heard("m1", PEER)).await;
    delete(&scene).await;
    let before = event_counts(&scene);
    let missed = vec![heard("m1", PEER), heard("m2", "553491230002")];
    scene.kit.provider.set_missed(Ok(Missed { events: missed, more_from: None }));
    scene.after(PULL_AGAIN.as_secs()).await;
    let messages = scene.messaging.messages().await;
    assert_eq!(messages.iter().map(|shown| &shown["wamid"]).collect::<Vec<_>>(), ["m2"]);
    assert_eq!(event_counts(&scene), [before[0] + 1, before[1] + 1, before[2], before[3]]);
}

/// R145.
#[tokio::test]
async fn ids_are_forgotten_for_good_after_eight_days() {
    let scene = scene("cloud_api").await;
    tell(&scene, heard("m1", PEER)).await;
    delete(&scene).await;
    scene.work().await;
    let rows = scene.model.row_count();
    scene.kit.clock.advance(FORGOTTEN_KEPT - Duration::from_millis(1));
    assert_eq!(tell(&scene, heard("m1", PEER)).await.result, EventOutcome::Duplicate);
    scene.kit.clock.advance(Duration::from_millis(1));
    scene.model.upkeep(scene.kit.clock.now()).await.unwrap();
    assert!(scene.model.row_count() < rows, "the trace is swept");
    assert_eq!(tell(&scene, heard("m1", PEER)).await.result, EventOutcome::Stored);
    // The same before housekeeping has removed it.
    delete(&scene).await;
    scene.kit.clock.advance(FORGOTTEN_KEPT);
    assert_eq!(tell(&scene, heard("m1", PEER)).await.result, EventOutcome::Stored);
    // A message that is stored again leaves a trace again when it is deleted.
    delete(&scene).await;
    assert_eq!(tell(&scene, heard("m1", PEER)).await.result, EventOutcome::Duplicate);
}

#[tokio::test]
async fn nothing_that_is_left_of_the_messages_names_the_person() {
    let scene = scene("waha").await;
    let id = "false_553491230001@c.us_3EB0C767D26A1D7C";
    tell(&scene, heard(id, PEER)).await;
    delete(&scene).await;
    assert_eq!(tell(&scene, heard(id, PEER)).await.result, EventOutcome::Duplicate);
    let left = wamid(id).trace(scene.connection());
    assert!(!left.as_str().contains(PEER), "{left:?}");
    assert_eq!(left.as_str().len(), 65);
}

#[tokio::test]
async fn a_deletion_that_dies_anywhere_leaves_the_message_or_its_trace() {
    let mut whole = 0;
    for failure in [StoreFailure::UnknownBefore, StoreFailure::UnknownAfter] {
        for step in 0..4 {
            let scene = scene("waha").await;
            tell(&scene, heard("m1", PEER)).await;
            let before = event_counts(&scene);
            let id = contact(&scene).await.unwrap();
            let documents = scene.kit.app.documents();
            let company = scene.kit.company.id;
            documents.attach(company, id, "a.pdf", vec![1; 3]).await.unwrap();
            scene.store.fail_nth(StoreOp::Commit, step, failure);
            let _ = scene.kit.app.contacts().delete(&scene.kit.caller, id).await;
            scene.store.heal();
            let is_whole = contact(&scene).await.is_some();
            whole += usize::from(is_whole);
            let result = tell(&scene, heard("m1", PEER)).await;
            assert_eq!(result.result, EventOutcome::Duplicate, "{failure:?} at {step}");
            assert_eq!(result.message_id.is_some(), is_whole);
            // Once its outcome is recorded, the contact can be deleted, if it still exists.
            scene.after(600).await;
            if contact(&scene).await.is_some() {
                delete(&scene).await;
            }
            let result = tell(&scene, heard("m1", PEER)).await;
            assert_eq!((result.result, result.message_id), DUPLICATE, "{failure:?} at {step}");
            assert_eq!(contact(&scene).await, None);
            assert_eq!(event_counts(&scene), before);
        }
    }
    assert!(whole > 0, "some deletion has to die before the contact is gone");
}

#[tokio::test]
async fn a_merge_forgets_nothing() {
    let scene = scene("waha").await;
    tell(&scene, heard("m1", PEER)).await;
    let from = contact(&scene).await.unwrap();
    let into = super::create_phone(&scene.kit, "+5534991230009").await;
    let contacts = scene.kit.app.contacts();
    contacts.merge(scene.kit.company.id, into, from).await.unwrap();
    let result = tell(&scene, heard("m1", PEER)).await;
    assert_eq!(result.result, EventOutcome::Duplicate);
    assert!(result.message_id.is_some(), "it is the message that stayed");
    assert_eq!(contact(&scene).await, Some(into));
}
