//! What pauses a campaign: the operator, a lost template, a lost connection (D66).

use std::time::Duration;

use recado_core::connections::ConnectionStatus;
use recado_core::gateway::SendFailure;
use recado_core::messages::{DeliveryCode, Failure};
use serde_json::{Value, json};

use super::campaign_process::{Process, SECOND, TENTH, pass, pass_drains, pass_until_it_ends};
use super::campaign_scene::Scene;
use super::shop::{Shop, limited, refusal, uncertain, unreachable};
use super::shown;

/// R91.
#[tokio::test]
async fn after_a_pause_was_answered_nothing_begins_to_be_sent() {
    for held in 1..12 {
        let scene = Scene::with(Shop::new().await, 60, json!({ "messages_per_second": 100 })).await;
        let clock = &scene.shop.kit().clock;
        scene.start().await;
        let gate = scene.shop.kit().provider.hold();
        let processes = scene.shop.apps().map(|app| Process::run(app, clock));
        // Somewhere in between, also between the reads of a turn and its commit.
        while scene.shop.calls() < held {
            clock.advance(Duration::from_millis(7));
            for _ in 0..held {
                tokio::task::yield_now().await;
            }
        }
        let company = scene.shop.kit().company.id;
        scene.shop.other.campaigns().pause(company, scene.id).await.unwrap();
        let begun = scene.shop.ledger().await.len();
        assert!((held..60).contains(&begun), "{begun}");
        pass(&scene, 20, TENTH).await;
        assert_eq!(scene.shop.ledger().await.len(), begun, "a message was begun after the pause");
        assert!(scene.shop.calls() <= begun);
        assert_eq!(scene.status().await, ("paused".to_owned(), Some("operator".to_owned())));
        gate.open();
        pass(&scene, 20, TENTH).await;
        assert_eq!(scene.counts().await["sent"], begun, "what was on its way is finished");
        assert_eq!(scene.statuses().await.get("waiting"), Some(&(60 - begun)));
        scene.start().await;
        pass_until_it_ends(&scene, TENTH).await;
        assert_eq!(scene.counts().await["sent"], 60);
        assert_eq!(scene.shown().await["pause_reason"], Value::Null);
        for process in processes {
            process.stop().await;
        }
        scene.check().await;
    }
}

/// R91.
#[tokio::test]
async fn a_lost_template_pauses_a_campaign_with_the_reason_and_it_goes_on_once_that_is_mended() {
    for (change, reason) in [
        (json!({ "status": "PAUSED" }), "template_not_approved"),
        (json!({ "status": "REJECTED" }), "template_not_approved"),
        (json!({ "body": "Olá {{1}} e {{2}}" }), "template_variables"),
    ] {
        let scene = Scene::with(Shop::new().await, 4, json!({ "messages_per_second": 1 })).await;
        scene.start().await;
        scene.shop.app().campaigns().drain().await;
        scene.shop.change_template(scene.template.id, change).await;
        scene.shop.advance(SECOND);
        scene.shop.app().campaigns().drain().await;
        assert_eq!(scene.status().await, ("paused".to_owned(), Some(reason.to_owned())));
        assert_eq!((scene.shop.calls(), scene.shop.ledger().await.len()), (1, 1));
        assert_eq!(scene.statuses().await.get("waiting"), Some(&3));
        let back = json!({ "status": "APPROVED", "body": "Olá {{1}}" });
        scene.shop.change_template(scene.template.id, back).await;
        scene.start().await;
        pass_drains(&scene).await;
        assert_eq!(scene.counts().await["sent"], 4);
        scene.check().await;
    }
}

#[tokio::test]
async fn a_deleted_template_pauses_a_campaign_until_it_gets_another() {
    let scene = Scene::of(3).await;
    let company = scene.shop.kit().company.id;
    scene.shop.app().templates().delete(company, scene.template.id).await.unwrap();
    scene.start().await;
    scene.shop.app().campaigns().drain().await;
    let reason = Some("template_not_found".to_owned());
    assert_eq!(scene.status().await, ("paused".to_owned(), reason.clone()));
    scene.start().await;
    scene.shop.app().campaigns().drain().await;
    assert_eq!(scene.status().await, ("paused".to_owned(), reason));
    let new = json!({ "name": "outra", "category": "MARKETING", "body": "Oi" });
    let other = scene.shop.template(new).await;
    scene.change(json!({ "template_id": other.id })).await;
    scene.start().await;
    pass_drains(&scene).await;
    assert_eq!((scene.counts().await["sent"].clone(), scene.shop.calls()), (json!(3), 3));
}

#[tokio::test]
async fn without_a_usable_connection_a_campaign_is_paused_and_nobody_fails() {
    let scene = Scene::with(Shop::new().await, 4, json!({ "messages_per_second": 1 })).await;
    scene.start().await;
    scene.shop.app().campaigns().drain().await;
    scene.shop.messaging.set_connected(false).await;
    scene.shop.connection("waha", true).await;
    scene.shop.advance(SECOND);
    scene.shop.app().campaigns().drain().await;
    assert_eq!(scene.status().await, ("paused".to_owned(), Some("connection".to_owned())));
    assert_eq!(scene.statuses().await.get("waiting"), Some(&3));
    assert_eq!(scene.shop.ledger().await.len(), 1);
    scene.shop.messaging.set_connected(true).await;
    scene.start().await;
    pass_drains(&scene).await;
    assert_eq!(scene.counts().await["sent"], 4);
}

#[tokio::test]
async fn a_campaign_sends_through_its_own_connection_and_pauses_when_that_is_lost() {
    let shop = Shop::new().await;
    let own = shop.connection("cloud_api", true).await;
    let with = json!({ "connection_id": own, "messages_per_second": 1 });
    let scene = Scene::with(shop, 3, with).await;
    scene.start().await;
    scene.shop.app().campaigns().drain().await;
    assert_eq!(scene.shop.kit().provider.sent()[0].connection, own);
    let (connections, company) = (scene.shop.app().connections(), scene.shop.kit().company.id);
    connections.set_status(company, own, ConnectionStatus::Disconnected).await.unwrap();
    scene.shop.advance(SECOND);
    scene.shop.app().campaigns().drain().await;
    assert_eq!(scene.status().await, ("paused".to_owned(), Some("connection".to_owned())));
    assert_eq!(scene.shop.calls(), 1);
    // Named or not, the contacts may still go through another one.
    scene.change(json!({ "connection_id": scene.shop.messaging.connection })).await;
    scene.start().await;
    pass_drains(&scene).await;
    let sent = scene.shop.kit().provider.sent();
    assert!(sent[1..].iter().all(|sent| sent.connection == scene.shop.messaging.connection));
    assert_eq!(sent.len(), 3);
}

/// R95.
#[tokio::test]
async fn of_several_connections_each_contact_is_reached_on_its_last_one_and_unknown_people_fail() {
    let shop = Shop::new().await;
    let second = shop.connection("cloud_api", true).await;
    let scene = Scene::with(shop, 3, json!({})).await;
    let from = super::shop::phone(0);
    scene.shop.messaging.hear("in", from.trim_start_matches('+'), "Oi").await;
    let met = shown(scene.shop.kit(), scene.contacts[0]).await["last_connection_id"].clone();
    assert_eq!(met, json!(scene.shop.messaging.connection));
    scene.start().await;
    pass_drains(&scene).await;
    assert_eq!(scene.of_contact(scene.contacts[0]).await, ("sent".to_owned(), Value::Null));
    for stranger in &scene.contacts[1..] {
        let reported = scene.of_contact(*stranger).await;
        assert_eq!(reported, ("failed".to_owned(), json!("CONNECTION_REQUIRED")));
    }
    let sent = scene.shop.kit().provider.sent();
    assert_eq!((sent.len(), sent[0].connection), (1, scene.shop.messaging.connection));
    assert_ne!(sent[0].connection, second);
    assert_eq!((scene.status().await.0.as_str(), scene.shop.ledger().await.len()), ("finished", 1));
    scene.check().await;
}

/// R92.
#[tokio::test]
async fn five_messages_in_a_row_that_do_not_reach_the_gateway_pause_a_campaign() {
    let offline =
        SendFailure::Connection(Failure::new(DeliveryCode::ConnectionOffline, "off".to_owned()));
    let unpaid = SendFailure::Connection(Failure::new(DeliveryCode::Payment, "pay".to_owned()));
    for failure in [unreachable(), offline, unpaid] {
        let scene = Scene::with(Shop::new().await, 30, json!({ "messages_per_second": 10 })).await;
        let process = Process::run(scene.shop.app(), &scene.shop.kit().clock);
        scene.start().await;
        scene.shop.kit().provider.otherwise(Some(failure));
        pass_until_it_ends(&scene, TENTH).await;
        assert_eq!(scene.status().await, ("paused".to_owned(), Some("connection".to_owned())));
        assert_eq!((scene.shop.calls(), scene.counts().await["failed"].clone()), (5, json!(5)));
        assert_eq!(scene.refunds().await, 5);
        pass(&scene, 30, TENTH).await;
        assert_eq!(scene.shop.calls(), 5);
        scene.shop.kit().provider.otherwise(None);
        scene.start().await;
        pass_until_it_ends(&scene, TENTH).await;
        assert_eq!(scene.counts().await["sent"], 25);
        process.stop().await;
        scene.check().await;
    }
}

/// R140.
#[tokio::test]
async fn a_template_that_the_gateway_refuses_pauses_a_campaign_at_once() {
    for per_second in [1, 100] {
        let with = json!({ "messages_per_second": per_second });
        let scene = Scene::with(Shop::new().await, 30, with).await;
        let process = Process::run(scene.shop.app(), &scene.shop.kit().clock);
        let provider = &scene.shop.kit().provider;
        provider.then_accept("ok");
        provider.otherwise(Some(SendFailure::refused(DeliveryCode::TemplateRejected, "paused")));
        scene.start().await;
        pass_until_it_ends(&scene, TENTH).await;
        let reason = Some("template_not_approved".to_owned());
        assert_eq!(scene.status().await, ("paused".to_owned(), reason));
        let begun = scene.shop.calls();
        // Those that were on their way at the same time get the same answer.
        assert!(begun == 2 || (per_second > 1 && begun < 30), "{begun} of 30");
        assert_eq!(scene.statuses().await.get("failed"), Some(&(begun - 1)));
        assert_eq!(scene.refunds().await, begun - 1);
        pass(&scene, 30, TENTH).await;
        assert_eq!(scene.shop.calls(), begun);
        provider.otherwise(None);
        scene.start().await;
        pass_until_it_ends(&scene, TENTH).await;
        assert_eq!((scene.status().await.0.as_str(), scene.shop.calls()), ("finished", 30));
        process.stop().await;
        scene.check().await;
    }
}

/// R141, R294, X16.
#[tokio::test]
async fn a_campaign_rests_longer_and_longer_while_the_gateway_takes_no_more() {
    let scene = Scene::with(Shop::new().await, 30, json!({ "messages_per_second": 10 })).await;
    let process = Process::run(scene.shop.app(), &scene.shop.kit().clock);
    let provider = &scene.shop.kit().provider;
    provider.otherwise(Some(limited()));
    scene.start().await;
    while scene.shop.calls() == 0 {
        pass(&scene, 1, TENTH).await;
    }
    let mut waited = Vec::new();
    for begun in 2..=5 {
        let mut steps = 0_u32;
        while scene.shop.calls() < begun {
            pass(&scene, 1, TENTH).await;
            steps += 1;
        }
        assert_eq!(scene.shop.calls(), begun, "one at a time");
        waited.push((steps + 5) / 10);
    }
    assert_eq!(waited, [1, 2, 4, 8]);
    provider.otherwise(None);
    pass_until_it_ends(&scene, TENTH).await;
    assert_eq!((scene.status().await.0.as_str(), scene.shop.calls()), ("finished", 35));
    let counts = scene.counts().await;
    assert_eq!((&counts["sent"], &counts["failed"]), (&json!(30), &json!(0)));
    assert_eq!((scene.put_off().await.len(), scene.refunds().await), (5, 5));
    process.stop().await;
    scene.check().await;
}

/// R141, R294.
#[tokio::test]
async fn who_got_too_much_of_late_holds_up_no_other_recipient() {
    let scene = Scene::with(Shop::new().await, 20, json!({ "messages_per_second": 10 })).await;
    let process = Process::run(scene.shop.app(), &scene.shop.kit().clock);
    let limit = Failure::new(DeliveryCode::RateLimitedByProvider, "pair".to_owned());
    for _ in 0..10 {
        scene.shop.kit().provider.then(Err(SendFailure::RecipientLimited(limit.clone())));
    }
    scene.start().await;
    pass(&scene, 30, TENTH).await;
    let (sent, refunds) = (scene.counts().await["sent"].as_u64(), scene.refunds().await);
    assert!(sent >= Some(8) && refunds == 10, "{sent:?} were sent, {refunds} refunded");
    pass_until_it_ends(&scene, TENTH).await;
    process.stop().await;
    assert_eq!((scene.counts().await["sent"].clone(), scene.shop.calls()), (json!(20), 30));
    scene.check().await;
}

#[tokio::test]
async fn who_waits_for_no_rate_waits_for_no_rest_either() {
    let scene = Scene::with(Shop::new().await, 3, json!({})).await;
    scene.shop.kit().provider.then(Err(limited()));
    scene.start().await;
    scene.shop.app().campaigns().drain().await;
    pass_drains(&scene).await;
    assert_eq!((scene.status().await.0.as_str(), scene.shop.calls()), ("finished", 4));
    assert_eq!(scene.counts().await["sent"], 3);
    scene.check().await;
}

/// R92.
#[tokio::test]
async fn other_failures_and_a_success_in_between_pause_nothing() {
    let scene = Scene::with(Shop::new().await, 40, json!({ "messages_per_second": 10 })).await;
    let provider = &scene.shop.kit().provider;
    for n in 0..3 {
        for _ in 0..4 {
            provider.then(Err(unreachable()));
        }
        provider.then_accept(&format!("ok{n}"));
    }
    for _ in 0..10 {
        provider.then(Err(refusal())).then(Err(uncertain()));
    }
    let process = Process::run(scene.shop.app(), &scene.shop.kit().clock);
    scene.start().await;
    pass_until_it_ends(&scene, TENTH).await;
    process.stop().await;
    assert_eq!(scene.status().await.0, "finished");
    assert_eq!((scene.shop.calls(), scene.refunds().await), (40, 22));
    scene.check().await;
}
