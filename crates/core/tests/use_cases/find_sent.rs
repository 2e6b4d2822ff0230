//! Searching for a message with an unknown outcome (D28, D36).

use std::time::Duration;

use recado_core::Clock as _;
use recado_core::gateway::{Accepted, Content, FileKind, ProviderError};
use recado_core::jobs::JobKind;
use recado_core::messages::{MessageStatus, MessageType};
use recado_core::workers::LEASE;
use recado_testkit::Kit;
use std::sync::Arc;

use super::gateway_scene::*;
use super::run_until_it_hangs;

fn looks(scene: &Scene) -> usize {
    scene.waiting(|kind| matches!(kind, JobKind::FindSent { .. }))
}

fn proof(id: &str) -> Result<Option<Accepted>, ProviderError> {
    Ok(Some(Accepted { provider_id: wamid(id), recipient: None, aliases: Vec::new() }))
}

/// How often the gateway was asked for a message.
fn asked(scene: &Scene) -> usize {
    scene.kit.provider.looked_up().len()
}

/// R110.
#[tokio::test]
async fn a_message_that_the_gateway_has_was_sent() {
    let scene = scene("waha").await;
    scene.kit.provider.find(proof("w1"));
    let sent_at = scene.kit.clock.now();
    let id = scene.send_uncertainly("Oi").await;
    scene.after(4).await;
    assert_eq!(asked(&scene), 0);
    scene.after(1).await;
    let (status, why, provider_id) = scene.outcome(id).await;
    assert_eq!((status.as_str(), why, provider_id.as_deref()), ("sent", None, Some("w1")));
    let lookup = scene.kit.provider.looked_up().remove(0);
    assert_eq!((lookup.outgoing.reference, lookup.sent_at), (id, sent_at));
    assert_eq!(lookup.outgoing.content, Content::Text("Oi".to_owned()));
    assert_eq!(lookup.outgoing.recipient, scene.kit.provider.sent()[0].outgoing.recipient);
    assert_eq!(looks(&scene), 0);
    // Later reports are matched by its id, and no further search is made.
    scene.call(here([reported("w1", MessageStatus::Read)])).await.unwrap();
    assert_eq!(scene.outcome(id).await.0, "read");
    scene.after(900).await;
    assert_eq!((asked(&scene), scene.kit.provider.sent().len()), (1, 1));
}

/// R110, R341.
#[tokio::test]
async fn a_file_is_looked_for_by_its_type_and_caption() {
    let scene = scene("waha").await;
    scene.kit.provider.find(proof("w1"));
    let id = scene.send_file_uncertainly(FileKind::Image, Some("Veja")).await;
    scene.after(5).await;
    assert_eq!(scene.outcome(id).await.2.as_deref(), Some("w1"));
    scene.kit.provider.find(proof("w2"));
    let id = scene.send_file_uncertainly(FileKind::Sticker, None).await;
    scene.after(5).await;
    assert_eq!(scene.outcome(id).await.2.as_deref(), Some("w2"));
    let asked = scene.kit.provider.looked_up().into_iter();
    let asked: Vec<_> = asked.map(|it| (it.message_type, it.outgoing.content)).collect();
    let said = |text: &str| Content::Text(text.to_owned());
    let expected = [(MessageType::Image, said("Veja")), (MessageType::Sticker, said(""))];
    assert_eq!(asked, expected);
    assert_eq!(scene.kit.provider.sent().len(), 2, "nothing is sent again");
}

/// R110.
#[tokio::test]
async fn a_message_is_looked_for_four_times_and_then_stays_uncertain() {
    let scene = scene("evolution").await;
    scene.kit.provider.find(Ok(None));
    let id = scene.send_uncertainly("Oi").await;
    for (wait, times) in [(5, 1), (29, 1), (1, 2), (119, 2), (1, 3), (599, 3), (1, 4), (9_999, 4)] {
        scene.after(wait).await;
        assert_eq!(asked(&scene), times, "after {wait} more");
        assert!(scene.is_uncertain(id).await);
    }
    assert_eq!((looks(&scene), scene.kit.provider.sent().len()), (0, 1));
}

#[tokio::test]
async fn a_gateway_that_fails_proves_nothing_and_is_asked_again() {
    let scene = scene("waha").await;
    scene.kit.provider.find(Err(ProviderError::Failed("timeout".to_owned())));
    let id = scene.send_uncertainly("Oi").await;
    scene.after(5).await;
    assert!(scene.is_uncertain(id).await);
    scene.kit.provider.find(proof("w1"));
    scene.after(30).await;
    assert_eq!(scene.outcome(id).await.0, "sent");
}

#[tokio::test]
async fn the_id_of_another_message_proves_nothing() {
    let scene = scene("waha").await;
    scene.kit.provider.then_accept("w1");
    let other = scene.messaging.send(PHONE, "Oi").await.unwrap().message_id;
    scene.kit.provider.find(proof("w1"));
    let id = scene.send_uncertainly("Oi").await;
    scene.after(5).await;
    assert!(scene.is_uncertain(id).await);
    assert_eq!(scene.outcome(other).await.2.as_deref(), Some("w1"));
    scene.kit.provider.find(proof("w2"));
    scene.after(30).await;
    assert_eq!(scene.outcome(id).await.2.as_deref(), Some("w2"));
}

#[tokio::test]
async fn of_two_equal_messages_one_proof_proves_one() {
    let scene = scene("waha").await;
    scene.kit.provider.find(proof("w1"));
    let ids = [scene.send_uncertainly("Oi").await, scene.send_uncertainly("Oi").await];
    for wait in [5, 30, 120, 600] {
        scene.after(wait).await;
    }
    let fates = [scene.is_uncertain(ids[0]).await, scene.is_uncertain(ids[1]).await];
    assert!(fates[0] != fates[1], "{fates:?}");
}

#[tokio::test]
async fn what_was_proved_meanwhile_is_not_looked_for() {
    let scene = scene("waha").await;
    scene.kit.provider.find(Ok(None));
    let id = scene.send_uncertainly("Oi").await;
    let mut report = reported("w1", MessageStatus::Delivered);
    if let Ok(recado_core::gateway::GatewayEvent::Status(status)) = &mut report {
        status.reference = Some(id);
    }
    scene.call(here([report])).await.unwrap();
    scene.after(900).await;
    assert_eq!(
        (asked(&scene), looks(&scene), scene.outcome(id).await.0.as_str()),
        (0, 0, "delivered")
    );
}

#[tokio::test]
async fn a_gateway_that_cannot_be_asked_is_not_asked() {
    for gateway in ["cloud_api", "simulated"] {
        let scene = scene(gateway).await;
        let id = scene.send_uncertainly("Oi").await;
        assert_eq!(looks(&scene), 0);
        scene.after(900).await;
        assert!(scene.is_uncertain(id).await);
        assert_eq!(asked(&scene), 0, "{gateway}");
    }
}

#[tokio::test]
async fn what_surely_failed_or_was_sent_is_not_looked_for() {
    use recado_core::gateway::SendFailure;
    use recado_core::messages::DeliveryCode;
    let scene = scene("waha").await;
    scene.messaging.send(PHONE, "Oi").await.unwrap();
    scene.kit.provider.then(Err(SendFailure::refused(DeliveryCode::Payment, "pague")));
    scene.messaging.send(PHONE, "Oi").await.unwrap_err();
    assert_eq!(looks(&scene), 0);
}

#[tokio::test]
async fn what_a_dead_process_left_is_looked_for_by_another() {
    let scene = scene("waha").await;
    scene.kit.provider.find(proof("w1"));
    let gate = scene.kit.provider.hold();
    assert!(run_until_it_hangs(scene.messaging.send(PHONE, "Oi")).is_none());
    let id = scene.kit.provider.sent()[0].outgoing.reference;
    scene.kit.clock.advance(LEASE + Duration::from_secs(1));
    let store = Arc::new(scene.model.clone());
    let builder = Kit::builder().store(store).clock(scene.kit.clock.clone());
    let other = builder.provider(scene.kit.provider.clone()).start().await;
    while other.sending().recover().await.unwrap() {}
    assert!(scene.is_uncertain(id).await);
    scene.kit.clock.advance(Duration::from_secs(5));
    while other.jobs().run_one().await.unwrap() {}
    assert_eq!(scene.outcome(id).await.2.as_deref(), Some("w1"));
    drop(gate);
}

#[tokio::test]
async fn a_message_that_went_with_its_contact_is_not_looked_for() {
    let scene = scene("waha").await;
    let id = scene.send_uncertainly("Oi").await;
    let contact = scene.message(id).await["contact_id"].as_str().unwrap().to_owned();
    let contact = recado_core::ids::ContactId::parse(&contact).unwrap();
    scene.kit.app.contacts().delete(&scene.kit.caller, contact).await.unwrap();
    scene.after(900).await;
    assert_eq!((asked(&scene), looks(&scene)), (0, 0));
}
