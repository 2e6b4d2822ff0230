//! A campaign's messages after they were sent: reports, replies and deletions (D26, D58, D66).

use recado_core::campaigns::RecipientFilter;
use recado_core::gateway::{GatewayEvent, StatusEvent};
use recado_core::messages::{MessageStatus, ProviderMessageId};
use recado_core::page::PageRequest;
use recado_testkit::ScriptedProvider;
use serde_json::{Value, json};

use super::campaign_scene::Scene;
use super::code;
use super::shop::{Shop, phone, refusal, uncertain};

#[tokio::test]
async fn a_recipient_follows_what_is_reported_of_its_message() {
    let scene = Scene::of(4).await;
    scene.start().await;
    scene.drain().await;
    let messaging = &scene.shop.messaging;
    let id = |n| ScriptedProvider::id(n).as_str().to_owned();
    messaging.status(&id(1), "delivered").await;
    messaging.status(&id(2), "delivered").await;
    messaging.status(&id(2), "read").await;
    messaging
        .tell(json!({
            "kind": "status", "provider_message_id": id(3), "status": "failed",
            "error": { "code": 131_026, "message": "not there" },
        }))
        .await;
    assert_eq!(
        scene.counts().await,
        json!({ "total": 4, "sent": 1, "delivered": 1, "read": 1, "failed": 1, "skipped": 0 })
    );
    let all = scene.recipients().await;
    let failed = all.iter().find(|known| known.status.as_str() == "failed").unwrap();
    assert_eq!(json!(failed.error_code), "RECIPIENT_UNREACHABLE");
    assert!(failed.sent_at.is_some(), "the gateway had accepted it");
    // Late reports do not change a status back.
    messaging.status(&id(2), "delivered").await;
    assert_eq!(scene.counts().await["read"], 1);
    assert_eq!(scene.refunds().await, 0, "it was sent");
    scene.check().await;
}

/// R96.
#[tokio::test]
async fn an_uncertain_message_that_is_proved_sent_moves_its_recipient_on() {
    let scene = Scene::of(2).await;
    scene.shop.kit().provider.then(Err(uncertain()));
    scene.start().await;
    scene.drain().await;
    assert_eq!(scene.counts().await["failed"], 1);
    let id = scene.shop.kit().provider.sent()[0].outgoing.reference;
    for (status, count) in [(MessageStatus::Sent, "sent"), (MessageStatus::Delivered, "delivered")]
    {
        scene.shop.advance(std::time::Duration::from_secs(1));
        let report = StatusEvent {
            provider_id: ProviderMessageId::parse("late").unwrap(),
            reference: Some(id),
            status,
            failure: None,
            timestamp: None,
            names: Vec::new(),
        };
        scene.shop.messaging.receive(vec![Ok(GatewayEvent::Status(report))]).await;
        let all = scene.recipients().await;
        let proved = all.iter().find(|known| known.message_id == Some(id)).unwrap();
        assert_eq!((proved.status.as_str(), proved.error_code), (count, None));
        assert!(proved.sent_at.is_some());
    }
    assert_eq!(scene.counts().await["failed"], 0);
    assert_eq!(scene.refunds().await, 0);
    scene.check().await;
}

/// R96.
#[tokio::test]
async fn a_report_that_comes_before_the_answer_moves_the_recipient_too() {
    let scene = Scene::of(1).await;
    scene.start().await;
    let gate = scene.shop.kit().provider.hold();
    let report = async {
        gate.reached(1).await;
        scene.shop.messaging.status(ScriptedProvider::id(1).as_str(), "read").await;
        gate.open();
    };
    tokio::join!(scene.drain(), report);
    assert_eq!(scene.counts().await["read"], 1);
    assert_eq!(scene.status().await.0, "finished");
}

#[tokio::test]
async fn a_reply_to_a_campaign_opts_out_as_a_campaign_reply() {
    let scene = Scene::of(1).await;
    scene.start().await;
    scene.drain().await;
    let from = phone(0);
    scene.shop.messaging.hear("in", from.trim_start_matches('+'), "sair").await;
    let events = scene.shop.model.events(scene.shop.kit().company.id);
    let reported =
        events.iter().find(|event| event.event_type.as_str() == "contact.opted_out").unwrap();
    let data: Value = serde_json::from_str(&reported.data).unwrap();
    assert!(reported.data.contains("campaign_reply"), "{data}");
}

/// R99.
#[tokio::test]
async fn a_contact_that_is_deleted_before_its_turn_is_passed_over() {
    let scene = Scene::of(3).await;
    scene.start().await;
    let kit = scene.shop.kit();
    kit.app.contacts().delete(&kit.caller, scene.contacts[1]).await.unwrap();
    scene.drain().await;
    let all = scene.recipients().await;
    let gone = all.iter().find(|known| known.contact_id.is_none()).unwrap();
    assert_eq!(
        (gone.status.as_str(), json!(gone.error_code)),
        ("skipped", json!("CONTACT_DELETED"))
    );
    assert_eq!((&gone.phone, gone.message_id), (&None, None));
    assert_eq!((scene.shop.calls(), scene.status().await.0.as_str()), (2, "finished"));
    scene.check().await;
}

#[tokio::test]
async fn a_contact_that_is_deleted_while_its_message_is_sent_does_not_keep_the_campaign_open() {
    for failure in [None, Some(refusal()), Some(uncertain())] {
        let scene = Scene::of(2).await;
        scene.shop.kit().provider.otherwise(failure.clone());
        scene.start().await;
        let gate = scene.shop.kit().provider.hold();
        let delete = async {
            gate.reached(2).await;
            let kit = scene.shop.kit();
            for contact in &scene.contacts {
                kit.app.contacts().delete(&kit.caller, *contact).await.unwrap();
            }
            gate.open();
        };
        tokio::join!(async { scene.shop.app().campaigns().drain().await }, delete);
        for _ in 0..5 {
            scene.shop.advance(std::time::Duration::from_secs(1));
            scene.shop.app().campaigns().drain().await;
        }
        assert_eq!(scene.status().await.0, "finished", "{failure:?}");
        let all = scene.recipients().await;
        assert!(all.iter().all(|known| known.contact_id.is_none()));
        assert_eq!(scene.counts().await["total"], 2);
        assert_eq!(scene.statuses().await.get("sending"), None);
        assert_eq!(scene.shop.calls(), 2);
    }
}

#[tokio::test]
async fn a_contact_that_is_deleted_afterwards_stays_counted() {
    let scene = Scene::of(3).await;
    scene.start().await;
    scene.drain().await;
    let kit = scene.shop.kit();
    kit.app.contacts().delete(&kit.caller, scene.contacts[0]).await.unwrap();
    assert_eq!(scene.counts().await["sent"], 3);
    let all = scene.recipients().await;
    let gone = all.iter().find(|known| known.contact_id.is_none()).unwrap();
    assert_eq!((gone.status.as_str(), gone.phone.as_deref()), ("sent", None));
}

/// R93.
#[tokio::test]
async fn a_campaign_is_deleted_with_its_recipients_unless_it_runs() {
    let scene = Scene::with(Shop::new().await, 4, json!({ "messages_per_second": 1 })).await;
    let (campaigns, company) = (scene.shop.app().campaigns(), scene.shop.kit().company.id);
    scene.start().await;
    campaigns.drain().await;
    assert_eq!(code(campaigns.delete(company, scene.id).await), "CAMPAIGN_RUNNING");
    scene.pause().await;
    campaigns.delete(company, scene.id).await.unwrap();
    assert_eq!(code(campaigns.get(company, scene.id).await), "NOT_FOUND");
    let filter = RecipientFilter::default();
    let gone = campaigns.recipients(company, scene.id, filter, PageRequest::FIRST).await;
    assert_eq!(code(gone), "NOT_FOUND");
    scene.shop.advance(std::time::Duration::from_secs(9));
    campaigns.drain().await;
    assert_eq!((scene.shop.calls(), scene.shop.ledger().await.len()), (1, 1));
    // A report of its message finds no recipient, which is no failure.
    scene.shop.messaging.status(ScriptedProvider::id(1).as_str(), "read").await;
    assert_eq!(scene.shop.messaging.newest().await["status"], "read");
}

#[tokio::test]
async fn a_campaign_that_is_deleted_while_its_message_is_sent_is_no_trouble() {
    let scene = Scene::of(1).await;
    scene.start().await;
    let gate = scene.shop.kit().provider.hold();
    let delete = async {
        gate.reached(1).await;
        scene.pause().await;
        let company = scene.shop.kit().company.id;
        scene.shop.app().campaigns().delete(company, scene.id).await.unwrap();
        gate.open();
    };
    tokio::join!(async { scene.shop.app().campaigns().drain().await }, delete);
    assert_eq!(scene.shop.messaging.newest().await["status"], "sent");
}
