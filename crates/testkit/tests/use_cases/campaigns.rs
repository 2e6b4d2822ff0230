//! Campaigns: who gets a message, what is debited, and what becomes of it (D58, D66).

use recado_core::campaigns::RecipientFilter;
use recado_core::conversations::ActionName;
use recado_core::gateway::{GatewayEvent, StatusEvent};
use recado_core::ids::{CampaignId, ContactId};
use recado_core::messages::{DeliveryCode, Failure, MessageStatus, ProviderMessageId};
use recado_core::page::PageRequest;
use recado_testkit::ScriptedProvider;
use recado_testkit::kit::body;
use serde_json::{Value, json};

use super::campaign_scene::Scene;
use super::shop::{Shop, phone, refusal, uncertain, unreachable};
use super::{code, create_phone, refused, shown};

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
    let message = scene.shop.talk.newest().await;
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
async fn a_recipient_tells_of_its_contact_and_its_message() {
    let scene = Scene::of(1).await;
    scene.start().await;
    let waiting = json!(scene.recipients().await);
    assert_eq!(
        waiting,
        json!([{
            "contact_id": scene.contacts[0], "phone": phone(0), "status": "waiting",
            "message_id": null, "error_code": null, "sent_at": null,
        }])
    );
    let at = scene.shop.now();
    scene.drain().await;
    let message = scene.shop.talk.newest().await;
    assert_eq!(
        json!(scene.recipients().await),
        json!([{
            "contact_id": scene.contacts[0], "phone": phone(0), "status": "sent",
            "message_id": message["id"], "error_code": null, "sent_at": at,
        }])
    );
    let line = scene.shop.ledger().await.pop().unwrap();
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
    assert_eq!(scene.shop.talk.newest().await["content"], "Olá Ana");
    let prosas: Vec<Value> =
        scene.shop.ledger().await.iter().map(|line| line["prosas"].clone()).collect();
    assert_eq!(prosas.iter().filter(|value| value.as_f64() == Some(7.0)).count(), 1, "{prosas:?}");
}

#[tokio::test]
async fn a_recipient_follows_what_is_reported_of_its_message() {
    let scene = Scene::of(4).await;
    scene.start().await;
    scene.drain().await;
    let talk = &scene.shop.talk;
    let id = |n| ScriptedProvider::id(n).as_str().to_owned();
    talk.status(&id(1), "delivered").await;
    talk.status(&id(2), "delivered").await;
    talk.status(&id(2), "read").await;
    talk.tell(json!({
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
    // Late reports move nobody back.
    talk.status(&id(2), "delivered").await;
    assert_eq!(scene.counts().await["read"], 1);
    assert_eq!(scene.refunds().await, 0, "it was sent");
    scene.check().await;
}

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
        };
        scene.shop.talk.receive(vec![Ok(GatewayEvent::Status(report))]).await;
        let all = scene.recipients().await;
        let proved = all.iter().find(|known| known.message_id == Some(id)).unwrap();
        assert_eq!((proved.status.as_str(), proved.error_code), (count, None));
        assert!(proved.sent_at.is_some());
    }
    assert_eq!(scene.counts().await["failed"], 0);
    assert_eq!(scene.refunds().await, 0);
    scene.check().await;
}

#[tokio::test]
async fn a_report_that_comes_before_the_answer_moves_the_recipient_too() {
    let scene = Scene::of(1).await;
    scene.start().await;
    let gate = scene.shop.kit().provider.hold();
    let report = async {
        gate.reached(1).await;
        scene.shop.talk.status(ScriptedProvider::id(1).as_str(), "read").await;
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
    scene.shop.talk.hear("in", from.trim_start_matches('+'), "sair").await;
    let events = scene.shop.model.events(scene.shop.kit().company.id);
    let told =
        events.iter().find(|event| event.event_type.as_str() == "contact.opted_out").unwrap();
    let data: Value = serde_json::from_str(&told.data).unwrap();
    assert!(told.data.contains("campaign_reply"), "{data}");
}

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
    // What is reported of its message finds no recipient, and that is no trouble.
    scene.shop.talk.status(ScriptedProvider::id(1).as_str(), "read").await;
    assert_eq!(scene.shop.talk.newest().await["status"], "read");
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
    assert_eq!(scene.shop.talk.newest().await["status"], "sent");
}

#[tokio::test]
async fn the_public_form_has_just_its_fields() {
    let scene = Scene::of(1).await;
    let listed = scene.shop.app().campaigns().list(&scene.shop.kit().caller).await.unwrap();
    let listed = serde_json::to_value(listed).unwrap();
    assert_eq!(
        listed,
        json!([{
            "id": scene.id, "name": "Natal", "status": "draft", "template_id": scene.template.id,
            "list_id": scene.list, "created_at": scene.shop.now(), "started_at": null,
            "finished_at": null,
            "counts": { "total": 0, "sent": 0, "delivered": 0, "read": 0, "failed": 0, "skipped": 0 },
        }])
    );
}

#[tokio::test]
async fn recipients_are_listed_in_pages_and_by_status() {
    let scene = Scene::of(7).await;
    let provider = &scene.shop.kit().provider;
    provider.then(Err(refusal())).then(Err(refusal()));
    scene.start().await;
    scene.drain().await;
    let caller = &scene.shop.kit().caller;
    let page = async |status: Option<&str>, page, limit| {
        let pairs = status.map(|status| ("status".to_owned(), status.to_owned()));
        let params = recado_core::query::Params::new(pairs.into_iter().collect());
        let filter = RecipientFilter::parse(&params).unwrap();
        let request = PageRequest { page, limit };
        let campaigns = scene.shop.app().campaigns();
        campaigns.recipients_for(caller, scene.id, filter, request).await.unwrap()
    };
    let all = page(None, 1, 100).await;
    assert_eq!((all.total, all.data.len()), (7, 7));
    let second = page(None, 2, 3).await;
    assert_eq!((second.total, second.page, second.limit), (7, 2, 3));
    assert_eq!(second.data, all.data[3..6]);
    let failed = page(Some("failed"), 1, 1).await;
    assert_eq!((failed.total, failed.data.len()), (2, 1));
    assert_eq!(page(Some("waiting"), 1, 50).await.total, 0);
}

#[tokio::test]
async fn a_campaign_of_another_company_is_as_good_as_missing() {
    let scene = Scene::of(1).await;
    let (other, caller) = scene.shop.kit().another_company("Outra").await;
    let campaigns = scene.shop.app().campaigns();
    assert_eq!(code(campaigns.get(other.id, scene.id).await), "NOT_FOUND");
    assert_eq!(code(campaigns.start(other.id, scene.id).await), "NOT_FOUND");
    assert_eq!(code(campaigns.pause(other.id, scene.id).await), "NOT_FOUND");
    assert_eq!(code(campaigns.delete(other.id, scene.id).await), "NOT_FOUND");
    let filter = RecipientFilter::default();
    let hidden = campaigns.recipients_for(&caller, scene.id, filter, PageRequest::FIRST).await;
    assert_eq!(code(hidden), "NOT_FOUND");
    assert_eq!(campaigns.list(&caller).await.unwrap(), []);
    let unknown = CampaignId::new(uuid::Uuid::from_u128(7));
    assert_eq!(code(campaigns.get(scene.shop.kit().company.id, unknown).await), "NOT_FOUND");
}

#[tokio::test]
async fn what_a_campaign_refers_to_has_to_be_there_and_go_together() {
    let scene = Scene::of(1).await;
    let (campaigns, company) = (scene.shop.app().campaigns(), scene.shop.kit().company.id);
    let nobody = json!(uuid::Uuid::from_u128(7));
    let sound = json!({
        "name": "x", "template_id": scene.template.id, "list_id": scene.list,
        "variables": { "1": "você" },
    });
    for (field, value) in [
        ("template_id", nobody.clone()),
        ("list_id", nobody.clone()),
        ("connection_id", nobody),
        ("variables", json!({})),
        ("variables", json!({ "1": "{{name}}" })),
        ("messages_per_second", json!(0)),
        ("messages_per_second", json!(1_001)),
        ("prosas_per_message", json!(-1)),
    ] {
        let mut new = sound.clone();
        new[field] = value;
        let (code, details) = refused(campaigns.create(company, &body(new.clone())).await);
        assert_eq!(
            (code.as_str(), &details["fields"]),
            ("VALIDATION_ERROR", &json!([field])),
            "{new}"
        );
    }
    let inactive = body(json!({ "is_active": false }));
    scene.shop.app().lists().change(company, scene.list, &inactive).await.unwrap();
    assert_eq!(code(campaigns.create(company, &body(sound)).await), "VALIDATION_ERROR");
    scene.start().await;
    let other = scene.shop.list(&[]).await;
    let change = body(json!({ "list_id": other }));
    assert_eq!(code(campaigns.change(company, scene.id, &change).await), "CAMPAIGN_STARTED");
}

#[tokio::test]
async fn a_failure_that_is_reported_at_once_by_a_refusing_provider_names_its_code() {
    let scene = Scene::of(1).await;
    let failure = Failure::new(DeliveryCode::MarketingLimited, "held back".to_owned());
    scene.shop.kit().provider.then(Err(recado_core::gateway::SendFailure::Refused(failure)));
    scene.start().await;
    scene.drain().await;
    let told = scene.of_contact(scene.contacts[0]).await;
    assert_eq!(told, ("failed".to_owned(), json!("MARKETING_LIMITED")));
    assert_eq!(scene.status().await, ("finished".to_owned(), None));
}
