//! Asking the gateway for the phone of a person whom an event names by LID only (D15, D62, D67).

use recado_core::Error;
use recado_core::gateway::{GatewayEvent, GatewayMessage, ProviderError};
use recado_core::ids::ContactId;
use recado_core::jobs::JobKind;
use recado_testkit::{StoreFailure, StoreOp};
use serde_json::Value;

use super::gateway_scene::*;
use super::{create_phone, shown};

const LID: &str = "123456@lid";

fn waits(scene: &Scene) -> usize {
    scene.waiting(|kind| matches!(kind, JobKind::LearnNames { .. }))
}

/// How often the gateway was asked.
fn asked(scene: &Scene) -> usize {
    scene.kit.provider.asked_names().len()
}

fn knows(scene: &Scene, names: &[&str]) {
    scene.kit.provider.set_names(Ok(names.iter().map(|name| (*name).to_owned()).collect()));
}

fn fails(scene: &Scene) {
    scene.kit.provider.set_names(Err(ProviderError::Failed("502".to_owned())));
}

/// The contact of the newest message.
async fn newest_contact(scene: &Scene) -> ContactId {
    ContactId::parse(scene.messaging.newest().await["contact_id"].as_str().unwrap()).unwrap()
}

async fn phone_of(scene: &Scene, contact: ContactId) -> Value {
    shown(&scene.kit, contact).await["phone"].clone()
}

/// R130.
#[tokio::test]
async fn the_phone_of_somebody_who_wrote_by_lid_is_asked_for_and_kept() {
    let scene = scene("waha").await;
    knows(&scene, &[PEER]);
    scene.messaging.hear("m1", LID, "Oi").await;
    let contact = newest_contact(&scene).await;
    // The message does not wait for the answer.
    assert_eq!((asked(&scene), waits(&scene)), (0, 1));
    scene.work().await;
    assert_eq!(scene.kit.provider.asked_names(), [LID]);
    assert_eq!(phone_of(&scene, contact).await, PHONE);
    let sent = scene.messaging.send(PHONE, "Olá").await.unwrap();
    assert_eq!(sent.contact_id, contact);
    assert_eq!(scene.kit.provider.sent()[0].outgoing.recipient, LID);
    // What is known is not asked for again.
    scene.messaging.hear("m2", LID, "Oi").await;
    scene.after(9_999).await;
    assert_eq!((asked(&scene), waits(&scene)), (1, 0));
}

#[tokio::test]
async fn a_phone_that_another_contact_has_makes_a_send_by_it_ambiguous() {
    let scene = scene("waha").await;
    knows(&scene, &[PEER]);
    let by_phone = create_phone(&scene.kit, PHONE).await;
    scene.messaging.hear("m1", LID, "Oi").await;
    let by_lid = newest_contact(&scene).await;
    assert_ne!(by_phone, by_lid);
    scene.work().await;
    assert_eq!(phone_of(&scene, by_lid).await, PHONE);
    assert_eq!(phone_of(&scene, by_phone).await, PHONE);
    match scene.messaging.send(PHONE, "Oi").await {
        Err(Error::Rejected(error)) => {
            assert_eq!(recado_core::Rejection::code(&error).as_str(), "AMBIGUOUS_CONTACT");
        }
        other => panic!("{other:?}"),
    }
    scene.kit.app.contacts().merge(scene.kit.company.id, by_phone, by_lid).await.unwrap();
    assert_eq!(scene.messaging.send(PHONE, "Oi").await.unwrap().contact_id, by_phone);
}

#[tokio::test]
async fn a_gateway_that_knows_no_phone_is_asked_again_with_the_next_message() {
    let scene = scene("waha").await;
    knows(&scene, &[]);
    scene.messaging.hear("m1", LID, "Oi").await;
    scene.after(9_999).await;
    assert_eq!((asked(&scene), waits(&scene)), (1, 0));
    assert_eq!(phone_of(&scene, newest_contact(&scene).await).await, LID);
    knows(&scene, &[PEER]);
    scene.messaging.hear("m2", LID, "Oi").await;
    scene.work().await;
    assert_eq!(phone_of(&scene, newest_contact(&scene).await).await, PHONE);
}

/// R130.
#[tokio::test]
async fn a_gateway_that_fails_is_asked_again_and_given_up_in_the_end() {
    let scene = scene("waha").await;
    fails(&scene);
    scene.messaging.hear("m1", LID, "Oi").await;
    scene.work().await;
    let steps =
        [(4, 1), (1, 2), (59, 2), (1, 3), (599, 3), (1, 4), (3_599, 4), (1, 5), (99_999, 5)];
    for (wait, times) in steps {
        scene.after(wait).await;
        assert_eq!(asked(&scene), times, "after {wait} more");
    }
    assert_eq!(waits(&scene), 0);

    scene.messaging.hear("m2", LID, "Oi").await;
    scene.work().await;
    knows(&scene, &[PEER]);
    scene.after(5).await;
    assert_eq!(phone_of(&scene, newest_contact(&scene).await).await, PHONE);
    assert_eq!((asked(&scene), waits(&scene)), (7, 0));
}

#[tokio::test]
async fn nobody_is_asked_where_the_event_reports_the_phone_or_there_is_none() {
    let scene = scene("waha").await;
    knows(&scene, &[PEER]);
    let reported = GatewayMessage { aliases: vec![PEER.to_owned()], ..text("m1", LID, "Oi") };
    scene.call(here([Ok(GatewayEvent::Message(reported))])).await.unwrap();
    scene.messaging.hear("m2", "5511987654321", "Oi").await;
    let in_group =
        GatewayMessage { participant: Some("99@lid".to_owned()), ..text("m3", "1203@g.us", "Oi") };
    scene.call(here([Ok(GatewayEvent::Message(in_group))])).await.unwrap();
    assert_eq!(waits(&scene), 0);
    // A gateway without this capability is never asked.
    let other = super::gateway_scene::scene("evolution").await;
    other.messaging.hear("m1", LID, "Oi").await;
    assert_eq!(waits(&other), 0);
}

#[tokio::test]
async fn of_what_comes_at_once_one_person_is_asked_for_once_and_an_echo_too() {
    let scene = scene("waha").await;
    knows(&scene, &[PEER]);
    let many = (0..5).map(|n| heard(&format!("m{n}"), LID));
    scene.call(here(many.chain([heard("m9", "99@lid")]))).await.unwrap();
    assert_eq!(waits(&scene), 2);
    scene.work().await;
    let mut names = scene.kit.provider.asked_names();
    names.sort();
    assert_eq!(names, [LID, "99@lid"]);
    let echo = text("m10", "77@lid", "Olá");
    scene.call(here([Ok(GatewayEvent::Echo(echo))])).await.unwrap();
    assert_eq!(waits(&scene), 1);
}

#[tokio::test]
async fn a_contact_that_is_gone_or_has_a_phone_by_then_is_not_asked_for() {
    let scene = scene("waha").await;
    knows(&scene, &[PEER]);
    scene.messaging.hear("m1", LID, "Oi").await;
    let gone = newest_contact(&scene).await;
    scene.kit.app.contacts().delete(&scene.kit.caller, gone).await.unwrap();
    let reported =
        GatewayMessage { aliases: vec!["5511987654321".to_owned()], ..text("m3", "9@lid", "a") };
    scene.messaging.hear("m2", "9@lid", "Oi").await;
    scene.call(here([Ok(GatewayEvent::Message(reported))])).await.unwrap();
    scene.work().await;
    assert_eq!((asked(&scene), waits(&scene)), (0, 0));
}

#[tokio::test]
async fn a_failing_store_loses_neither_question_nor_answer() {
    for failure in [StoreFailure::Unavailable, StoreFailure::UnknownAfter] {
        // The commits of the lease, of the names, and of the end of the job.
        for failing in 0..3 {
            let scene = scene("waha").await;
            knows(&scene, &[PEER]);
            scene.work().await;
            scene.messaging.hear("m1", LID, "Oi").await;
            let contact = newest_contact(&scene).await;
            scene.store.fail_nth(StoreOp::Commit, failing, failure);
            assert!(scene.kit.app.jobs().run_one().await.is_err(), "{failing} {failure:?}");
            scene.store.heal();
            scene.after(60).await;
            assert_eq!(phone_of(&scene, contact).await, PHONE, "{failing} {failure:?}");
            assert_eq!(waits(&scene), 0);
        }
    }
}
