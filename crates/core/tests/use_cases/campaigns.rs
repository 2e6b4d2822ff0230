//! Campaigns: recipients, debits and outcomes (D58, D66).

use recado_core::conversations::ActionName;
use recado_core::ids::ContactId;
use recado_core::messages::{DeliveryCode, Failure};
use recado_testkit::kit::body;
use serde_json::{Value, json};

use super::campaign_scene::Scene;
use super::shop::{Shop, phone, refusal, uncertain, unreachable};
use super::{create_phone, refused, shown};

#[tokio::test]
async fn a_campaign_writes_to_every_contact_of_its_list_once_and_finishes() {
    let scene = Scene::of(30).await;
    let started = scene.start().await;
    assert_eq!((started.campaign.status.as_str(), started.campaign.counts.total), ("running", 30));
    scene.drain().await;
    let shown = scene.shown().await;
    assert_eq!(shown["status"], "finished");
    assert_eq!(
        shown["counts"],
        json!({ "total": 30, "sent": 30, "delivered": 0, "read": 0, "failed": 0, "skipped": 0 })
    );
    assert!(shown["started_at"].is_string() && shown["finished_at"].is_string());
    scene.check().await;
    assert_eq!(scene.shop.ledger().await.len(), 30);
    let message = scene.shop.messaging.newest().await;
    assert_eq!(
        (&message["sender_type"], &message["type"]),
        (&json!("campaign"), &json!("template"))
    );
    assert_eq!(message["content"], "Olá você");
    assert_eq!(scene.shop.count_events("message.sent"), 30);
    scene.drain().await;
    assert_eq!(scene.shop.calls(), 30);
}

#[tokio::test]
async fn a_recipient_reports_its_contact_and_its_message() {
    let scene = Scene::of(1).await;
    scene.start().await;
    let waiting = json!(scene.recipients().await);
    assert_eq!(
        waiting,
        json!([{
            "contact_id": scene.contacts[0], "phone": phone(0), "status": "waiting",
            "message_id": null, "error_code": null, "sent_at": null, "prosa": null,
        }])
    );
    let at = scene.shop.now();
    scene.drain().await;
    let message = scene.shop.messaging.newest().await;
    let line = scene.shop.ledger().await.pop().unwrap();
    let prosa = json!({
        "consumption_id": line["consumption_id"], "prosas": line["prosas"],
        "cost_brl": line["cost_brl"], "scope": "message",
    });
    assert_eq!(
        json!(scene.recipients().await),
        json!([{
            "contact_id": scene.contacts[0], "phone": phone(0), "status": "sent",
            "message_id": message["id"], "error_code": null, "sent_at": at, "prosa": prosa,
        }])
    );
    assert_eq!(line["contact_id"], json!(scene.contacts[0]));
    assert_eq!(line["description"], "Natal");
}

#[tokio::test]
async fn a_list_is_frozen_when_its_campaign_starts() {
    let scene = Scene::of(3).await;
    let early = create_phone(scene.shop.kit(), &phone(10)).await;
    let (lists, company) = (scene.shop.app().lists(), scene.shop.kit().company.id);
    let add = async |contact: ContactId| {
        let members = body(json!({ "contact_ids": [contact] }));
        lists.add_contacts(company, scene.list, &members).await.unwrap();
    };
    add(early).await;
    scene.start().await;
    let late = create_phone(scene.shop.kit(), &phone(11)).await;
    add(late).await;
    scene.pause().await;
    scene.start().await;
    lists.delete(company, scene.list).await.unwrap();
    scene.drain().await;
    let reached: Vec<_> =
        scene.recipients().await.into_iter().filter_map(|known| known.contact_id).collect();
    assert_eq!(reached.len(), 4);
    assert!(reached.contains(&early) && !reached.contains(&late));
    assert_eq!(scene.status().await.0, "finished");
}

/// R91.
#[tokio::test]
async fn a_list_that_is_gone_keeps_a_campaign_from_starting() {
    let scene = Scene::of(1).await;
    let company = scene.shop.kit().company.id;
    scene.shop.app().lists().delete(company, scene.list).await.unwrap();
    let (code, details) = refused(scene.shop.app().campaigns().start(company, scene.id).await);
    assert_eq!((code.as_str(), &details["fields"]), ("VALIDATION_ERROR", &json!(["list_id"])));
    assert_eq!(scene.status().await.0, "draft");
}

#[tokio::test]
async fn an_empty_list_makes_a_campaign_that_finishes_at_once() {
    let scene = Scene::of(0).await;
    scene.start().await;
    scene.drain().await;
    assert_eq!(scene.status().await.0, "finished");
    assert_eq!(scene.counts().await["total"], 0);
}

/// R95.
#[tokio::test]
async fn groups_and_those_who_opted_out_or_are_blocked_are_skipped_for_nothing() {
    let shop = Shop::new().await;
    let group = body(json!({ "identifier": "120363041234567890@g.us", "is_group": true }));
    let group = shop.app().contacts().import(&shop.kit().company, &group).await.unwrap().0;
    let scene = Scene::with(shop, 6, json!({})).await;
    let members = body(json!({ "contact_ids": [group] }));
    let company = scene.shop.kit().company.id;
    scene.shop.app().lists().add_contacts(company, scene.list, &members).await.unwrap();
    scene.shop.opt_out(scene.contacts[0]).await;
    scene.shop.block(scene.contacts[1]).await;
    scene.shop.opt_out(scene.contacts[2]).await;
    scene.shop.block(scene.contacts[2]).await;
    scene.start().await;
    // These two follow after the start.
    scene.shop.opt_out(scene.contacts[3]).await;
    scene.shop.block(scene.contacts[4]).await;
    scene.drain().await;
    for (contact, expected) in [
        (scene.contacts[0], "CONTACT_OPTED_OUT"),
        (scene.contacts[1], "CONTACT_BLOCKED"),
        (scene.contacts[2], "CONTACT_OPTED_OUT"),
        (scene.contacts[3], "CONTACT_OPTED_OUT"),
        (scene.contacts[4], "CONTACT_BLOCKED"),
        (group, "CONTACT_IS_GROUP"),
    ] {
        assert_eq!(scene.of_contact(contact).await, ("skipped".to_owned(), json!(expected)));
    }
    assert_eq!(scene.of_contact(scene.contacts[5]).await, ("sent".to_owned(), Value::Null));
    assert_eq!((scene.shop.calls(), scene.shop.ledger().await.len()), (1, 1));
    assert_eq!(scene.status().await.0, "finished");
    scene.check().await;
}

#[tokio::test]
async fn one_who_opts_out_while_the_campaign_runs_gets_nothing_more() {
    let scene = Scene::with(Shop::new().await, 20, json!({ "messages_per_second": 10 })).await;
    scene.start().await;
    scene.shop.app().campaigns().drain().await;
    assert_eq!(scene.shop.calls(), 1);
    let waiting: Vec<_> = scene
        .recipients()
        .await
        .into_iter()
        .filter(|known| known.status.as_str() == "waiting")
        .filter_map(|known| known.contact_id)
        .collect();
    for contact in &waiting[..10] {
        scene.shop.opt_out(*contact).await;
    }
    scene.drain().await;
    assert_eq!(scene.shop.calls(), 10);
    for contact in &waiting[..10] {
        assert_eq!(scene.of_contact(*contact).await.1, "CONTACT_OPTED_OUT");
    }
    scene.check().await;
}

#[tokio::test]
async fn one_whose_external_ai_is_off_gets_its_message_and_the_conversation_reopens() {
    let scene = Scene::of(1).await;
    let contact = scene.contacts[0];
    scene.shop.act(contact, ActionName::Handoff, json!({})).await;
    scene.shop.act(contact, ActionName::Close, json!({})).await;
    scene.start().await;
    scene.drain().await;
    let contact = shown(scene.shop.kit(), contact).await;
    assert_eq!((&contact["inbox_status"], scene.shop.calls()), (&json!("open"), 1));
}

#[tokio::test]
async fn starting_twice_or_after_the_end_and_pausing_what_does_not_run_change_nothing() {
    let scene = Scene::of(2).await;
    let draft = scene.pause().await;
    assert_eq!(draft.campaign.status.as_str(), "draft");
    let started = scene.start().await;
    scene.shop.advance(std::time::Duration::from_secs(1));
    assert_eq!(scene.start().await, started);
    scene.drain().await;
    let finished = scene.shown().await;
    scene.shop.advance(std::time::Duration::from_secs(1));
    scene.start().await;
    scene.pause().await;
    assert_eq!(scene.shown().await, finished);
    scene.drain().await;
    assert_eq!(scene.shop.calls(), 2);
}

#[tokio::test]
async fn of_many_starts_at_once_the_list_is_taken_once() {
    let scene = Scene::of(10).await;
    let company = scene.shop.kit().company.id;
    let starts = (0..20).map(|n| {
        let app = scene.shop.apps()[n % 2];
        async move { app.campaigns().start(company, scene.id).await }
    });
    for started in futures_util::future::join_all(starts).await {
        assert_eq!(started.unwrap().campaign.status.as_str(), "running");
    }
    assert_eq!(scene.recipients().await.len(), 10);
}

/// R94.
#[tokio::test]
async fn a_surely_failed_message_is_given_back_in_full_and_an_uncertain_one_is_not() {
    let scene = Scene::of(12).await;
    let provider = &scene.shop.kit().provider;
    provider.then(Err(refusal())).then(Err(uncertain())).then(Err(unreachable()));
    provider.then(Err(refusal()));
    scene.start().await;
    scene.drain().await;
    let counts = scene.counts().await;
    assert_eq!((&counts["sent"], &counts["failed"]), (&json!(8), &json!(4)));
    let codes: Vec<String> = scene
        .recipients()
        .await
        .iter()
        .filter_map(|known| known.error_code.map(|code| code.as_str().to_owned()))
        .collect();
    let count = |code: &str| codes.iter().filter(|known| *known == code).count();
    assert_eq!(
        (count("RECIPIENT_UNREACHABLE"), count("DELIVERY_UNCERTAIN"), count("NETWORK")),
        (2, 1, 1)
    );
    assert_eq!(scene.refunds().await, 3);
    let totals = |field: &str, ledger: &[Value]| -> f64 {
        ledger.iter().map(|line| line[field].as_f64().unwrap()).sum()
    };
    let ledger = scene.shop.ledger().await;
    assert!((totals("prosas", &ledger) - 9.0 * 1.5).abs() < 1e-9);
    assert!((totals("cost_brl", &ledger) - 9.0 * 0.042).abs() < 1e-9);
    scene.check().await;
}

#[tokio::test]
async fn a_message_is_debited_before_the_provider_is_called() {
    let scene = Scene::of(1).await;
    scene.start().await;
    let gate = scene.shop.kit().provider.hold();
    let look = async {
        gate.reached(1).await;
        assert_eq!(scene.shop.ledger().await.len(), 1);
        assert_eq!(scene.statuses().await.get("sending"), Some(&1));
        assert_eq!(scene.status().await.0, "running");
        gate.open();
    };
    tokio::join!(scene.drain(), look);
    assert_eq!(scene.status().await.0, "finished");
}

#[tokio::test]
async fn the_price_and_rate_and_text_that_are_changed_count_for_what_follows() {
    let scene = Scene::with(Shop::new().await, 4, json!({ "messages_per_second": 1 })).await;
    scene.start().await;
    scene.shop.app().campaigns().drain().await;
    assert_eq!(scene.shop.calls(), 1);
    scene.change(json!({ "variables": { "1": "Ana" }, "prosas_per_message": 7 })).await;
    scene.shop.advance(std::time::Duration::from_secs(1));
    scene.shop.app().campaigns().drain().await;
    assert_eq!(scene.shop.calls(), 2);
    assert_eq!(scene.shop.messaging.newest().await["content"], "Olá Ana");
    let prosas: Vec<Value> =
        scene.shop.ledger().await.iter().map(|line| line["prosas"].clone()).collect();
    assert_eq!(prosas.iter().filter(|value| value.as_f64() == Some(7.0)).count(), 1, "{prosas:?}");
}

#[tokio::test]
async fn a_failure_that_is_reported_at_once_by_a_refusing_provider_names_its_code() {
    let scene = Scene::of(1).await;
    let failure = Failure::new(DeliveryCode::Payment, "pay first".to_owned());
    scene.shop.kit().provider.then(Err(recado_core::gateway::SendFailure::Refused(failure)));
    scene.start().await;
    scene.drain().await;
    let reported = scene.of_contact(scene.contacts[0]).await;
    assert_eq!(reported, ("failed".to_owned(), json!("PAYMENT")));
    assert_eq!(scene.status().await, ("finished".to_owned(), None));
}

/// X16, R296.
#[tokio::test]
async fn a_message_that_the_channel_withholds_from_a_person_is_skipped_and_refunded() {
    let scene = Scene::of(1).await;
    let failure = Failure::new(DeliveryCode::MarketingLimited, "held back".to_owned());
    scene.shop.kit().provider.then(Err(recado_core::gateway::SendFailure::Refused(failure)));
    scene.start().await;
    scene.drain().await;
    let reported = scene.of_contact(scene.contacts[0]).await;
    assert_eq!(reported, ("skipped".to_owned(), json!("MARKETING_LIMITED")));
    assert_eq!(scene.shop.messaging.newest().await["status"], "failed");
    assert_eq!((scene.refunds().await, scene.status().await.0.as_str()), (1, "finished"));
    scene.check().await;
}
