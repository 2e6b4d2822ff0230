//! Contacts and campaigns that are deleted while messages are on their way: the gateway's answer is
//! recorded, and failed messages are refunded, all the same (D26, D66).

use recado_core::gateway::SendFailure;
use serde_json::{Value, json};

use super::campaign_process::pass_drains;
use super::campaign_scene::Scene;
use super::shop::{refusal, uncertain, unreachable};

/// How a message may end, and what is reported of its recipient: status, error code, refunds.
fn endings() -> [(Option<SendFailure>, &'static str, Value, usize); 4] {
    [
        (None, "sent", Value::Null, 0),
        (Some(refusal()), "failed", json!("RECIPIENT_UNREACHABLE"), 1),
        (Some(unreachable()), "failed", json!("NETWORK"), 1),
        (Some(uncertain()), "failed", json!("DELIVERY_UNCERTAIN"), 0),
    ]
}

/// Lets the only message of a campaign be on its way while `meanwhile` happens.
async fn held(scene: &Scene, meanwhile: impl AsyncFnOnce()) {
    let gate = scene.shop.kit().provider.hold();
    let work = async {
        gate.reached(1).await;
        meanwhile().await;
        gate.open();
    };
    tokio::join!(async { scene.shop.app().campaigns().drain().await }, work);
}

async fn delete_contact(scene: &Scene) {
    let kit = scene.shop.kit();
    kit.app.contacts().delete(&kit.caller, scene.contacts[0]).await.unwrap();
}

/// The only recipient as it is shown.
async fn reported(scene: &Scene) -> (String, Value, bool) {
    let recipient = scene.recipients().await.pop().unwrap();
    assert_eq!((recipient.contact_id, recipient.phone), (None, None));
    assert!(recipient.message_id.is_some());
    (recipient.status.as_str().to_owned(), json!(recipient.error_code), recipient.sent_at.is_some())
}

#[tokio::test]
async fn the_answer_counts_and_is_given_back_once_though_the_contact_is_gone() {
    for (failure, status, fault, refunds) in endings() {
        let scene = Scene::of(1).await;
        scene.shop.kit().provider.otherwise(failure.clone());
        scene.start().await;
        held(&scene, async || delete_contact(&scene).await).await;
        let expected = (status.to_owned(), fault, status == "sent");
        assert_eq!(reported(&scene).await, expected, "{failure:?}");
        assert_eq!(scene.refunds().await, refunds, "{failure:?}");
        let counts = scene.counts().await;
        assert_eq!(counts["sent"], usize::from(status == "sent"));
        assert_eq!(counts["failed"], usize::from(status == "failed"));
        for app in scene.shop.apps() {
            app.sending().recover().await.unwrap();
        }
        pass_drains(&scene).await;
        assert_eq!(reported(&scene).await, expected, "{failure:?}");
        assert_eq!((scene.refunds().await, scene.shop.calls()), (refunds, 1), "{failure:?}");
        assert_eq!(scene.status().await.0, "finished");
        scene.check().await;
    }
}

#[tokio::test]
async fn a_paused_campaign_records_what_became_of_a_contact_that_is_gone() {
    for (failure, status, fault, refunds) in endings() {
        let scene = Scene::of(1).await;
        scene.shop.kit().provider.otherwise(failure.clone());
        scene.start().await;
        held(&scene, async || {
            scene.pause().await;
            delete_contact(&scene).await;
        })
        .await;
        let expected = (status.to_owned(), fault, status == "sent");
        assert_eq!(reported(&scene).await, expected, "{failure:?}");
        assert_eq!(scene.refunds().await, refunds, "{failure:?}");
        assert_eq!(scene.status().await.0, "paused");
        scene.check().await;
    }
}

#[tokio::test]
async fn the_answer_counts_though_the_recipient_was_given_up_before_it_came() {
    for (failure, status, fault, refunds) in endings() {
        let scene = Scene::of(1).await;
        scene.shop.kit().provider.otherwise(failure.clone());
        scene.start().await;
        held(&scene, async || {
            delete_contact(&scene).await;
            // Another process finds no waiting recipient, and one whose message was deleted.
            for _ in 0..3 {
                scene.shop.advance(std::time::Duration::from_secs(1));
                scene.shop.other.campaigns().drain().await;
            }
            assert_eq!(scene.status().await.0, "finished");
            let early = ("failed".to_owned(), json!("CONTACT_DELETED"), false);
            assert_eq!(reported(&scene).await, early);
        })
        .await;
        let expected = (status.to_owned(), fault, status == "sent");
        assert_eq!(reported(&scene).await, expected, "{failure:?}");
        assert_eq!(scene.refunds().await, refunds, "{failure:?}");
        scene.check().await;
    }
}

#[tokio::test]
async fn an_answer_that_could_not_be_recorded_is_recorded_later_though_the_contact_is_gone() {
    for (failure, status, fault, refunds) in endings() {
        let scene = Scene::of(1).await;
        scene.shop.kit().provider.otherwise(failure.clone());
        scene.start().await;
        held(&scene, async || {
            delete_contact(&scene).await;
            scene.shop.store.fail_all(recado_testkit::StoreFailure::Unavailable);
        })
        .await;
        scene.shop.store.heal();
        assert_eq!(scene.refunds().await, 0, "{failure:?}");
        for _ in 0..2 {
            scene.shop.app().sending().recover().await.unwrap();
            let expected = (status.to_owned(), fault.clone(), status == "sent");
            assert_eq!(reported(&scene).await, expected, "{failure:?}");
            assert_eq!(scene.refunds().await, refunds, "{failure:?}");
        }
        scene.check().await;
    }
}

/// R94.
#[tokio::test]
async fn what_surely_failed_is_given_back_once_though_its_campaign_is_gone() {
    for (failure, _, _, refunds) in endings() {
        for contact_goes_too in [false, true] {
            let scene = Scene::of(1).await;
            scene.shop.kit().provider.otherwise(failure.clone());
            scene.start().await;
            held(&scene, async || {
                scene.pause().await;
                let company = scene.shop.kit().company.id;
                scene.shop.app().campaigns().delete(company, scene.id).await.unwrap();
                if contact_goes_too {
                    delete_contact(&scene).await;
                }
            })
            .await;
            for app in scene.shop.apps() {
                app.sending().recover().await.unwrap();
            }
            assert_eq!(scene.refunds().await, refunds, "{failure:?} {contact_goes_too}");
            assert_eq!((scene.shop.ledger().await.len(), scene.shop.calls()), (1 + refunds, 1));
            if !contact_goes_too {
                let status = if failure.is_none() { "sent" } else { "failed" };
                assert_eq!(scene.shop.messaging.newest().await["status"], status);
            }
        }
    }
}
