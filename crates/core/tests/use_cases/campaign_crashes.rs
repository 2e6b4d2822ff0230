//! Campaigns whose processes stop or die, or whose store fails (D66).

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use recado_core::workers::LEASE;
use recado_testkit::{StoreFailure, StoreOp};
use serde_json::{Value, json};

use super::campaign_process::{Process, SECOND, TENTH, pass, pass_drains, pass_until_it_ends};
use super::campaign_scene::Scene;
use super::shop::{Shop, cut_off, refusal, uncertain, unreachable};

#[tokio::test]
async fn what_a_dead_process_was_sending_fails_as_uncertain_and_the_rest_goes_on_elsewhere() {
    let scene = Scene::with(Shop::new().await, 40, json!({ "messages_per_second": 100 })).await;
    let clock = &scene.shop.kit().clock;
    let dead = scene.shop.process(77).await;
    let dies = Process::run(&dead, clock);
    let gate = scene.shop.kit().provider.hold();
    scene.start().await;
    pass(&scene, 2, SECOND).await;
    let held = scene.shop.calls();
    assert!((1..40).contains(&held), "{held}");
    drop(dead);
    dies.die().await;
    gate.open();
    let lives = Process::run(&scene.shop.other, clock);
    pass(&scene, 5, SECOND).await;
    assert_eq!(scene.status().await.0, "running", "something may still arrive");
    pass(&scene, LEASE.as_secs() as usize, SECOND).await;
    scene.shop.other.sending().recover().await.unwrap();
    pass_until_it_ends(&scene, SECOND).await;
    lives.stop().await;
    assert_eq!(scene.status().await.0, "finished");
    let all = scene.recipients().await;
    let uncertain = all.iter().filter(|known| json!(known.error_code) == "DELIVERY_UNCERTAIN");
    assert_eq!(uncertain.count(), held);
    assert_eq!((scene.counts().await["sent"].clone(), scene.shop.calls()), (json!(40 - held), 40));
    assert_eq!(scene.refunds().await, 0, "they may have arrived");
    scene.check().await;
}

#[tokio::test]
async fn a_process_that_is_started_again_goes_on_by_itself() {
    let scene = Scene::with(Shop::new().await, 30, json!({ "messages_per_second": 10 })).await;
    let clock = &scene.shop.kit().clock;
    let first = Process::run(scene.shop.app(), clock);
    scene.start().await;
    pass(&scene, 10, TENTH).await;
    let sent = scene.shop.calls();
    assert!((1..30).contains(&sent), "{sent}");
    first.stop().await;
    pass(&scene, 10, SECOND).await;
    assert_eq!(scene.shop.calls(), sent, "nobody runs it");
    let app = scene.shop.process(88).await;
    let next = Process::run(&app, clock);
    pass_until_it_ends(&scene, TENTH).await;
    next.stop().await;
    assert_eq!(scene.counts().await["sent"], 30);
    scene.check().await;
}

#[tokio::test]
async fn a_process_that_stops_finishes_what_is_on_its_way_and_begins_nothing() {
    let scene = Scene::with(Shop::new().await, 60, json!({ "messages_per_second": 100 })).await;
    let mut process = Process::run(scene.shop.app(), &scene.shop.kit().clock);
    let gate = scene.shop.kit().provider.hold();
    scene.start().await;
    pass(&scene, 12, TENTH).await;
    let begun = scene.shop.calls();
    assert!((1..60).contains(&begun), "{begun}");
    process.begin_to_stop();
    pass(&scene, 10, TENTH).await;
    assert!(!process.running.is_finished(), "it waits for the answers");
    assert_eq!(scene.shop.calls(), begun);
    gate.open();
    process.running.await.unwrap();
    assert_eq!((scene.counts().await["sent"].clone(), scene.shop.calls()), (json!(begun), begun));
    assert_eq!(scene.status().await.0, "running");
    scene.check().await;
}

#[tokio::test]
async fn a_turn_that_is_dropped_at_any_step_is_never_taken_twice() {
    let mut reached = false;
    for steps in 1..200 {
        let scene = Scene::of(1).await;
        scene.start().await;
        let gate = scene.shop.kit().provider.hold();
        let drain = async { scene.shop.app().campaigns().drain().await };
        assert!(cut_off(drain, steps).await.is_none(), "the provider holds it back");
        gate.open();
        reached = scene.shop.calls() == 1;
        scene.shop.app().sending().recover().await.unwrap();
        pass_drains(&scene).await;
        assert_eq!(scene.status().await.0, "finished", "after {steps} steps");
        if reached {
            let reported = scene.of_contact(scene.contacts[0]).await;
            assert_eq!(reported, ("failed".to_owned(), json!("DELIVERY_UNCERTAIN")));
        }
        scene.check().await;
        if reached {
            break;
        }
    }
    assert!(reached, "no message ever reached its provider");
}

#[tokio::test]
async fn a_store_that_is_away_for_a_while_delays_a_campaign_and_loses_nothing() {
    let scene = Scene::with(Shop::new().await, 30, json!({ "messages_per_second": 10 })).await;
    let troubled = Arc::new(Mutex::new(0));
    let process = Process::run(scene.shop.app(), &scene.shop.kit().clock);
    scene.start().await;
    pass(&scene, 10, TENTH).await;
    let before = scene.shop.calls();
    assert!(before > 0);
    let counted = Arc::clone(&troubled);
    scene.shop.store.plan(move |_| {
        *counted.lock().unwrap() += 1;
        Some(StoreFailure::Unavailable)
    });
    pass(&scene, 30, TENTH).await;
    assert_eq!(scene.shop.calls(), before);
    assert!(*troubled.lock().unwrap() < 200, "it is not asked all the time");
    scene.shop.store.heal();
    pass_until_it_ends(&scene, TENTH).await;
    process.stop().await;
    assert_eq!(scene.counts().await["sent"], 30);
    scene.check().await;
}

#[tokio::test]
async fn an_intent_of_unknown_fate_is_finished_without_a_send_and_given_back() {
    let scene = Scene::of(2).await;
    scene.start().await;
    scene.shop.store.fail_nth(StoreOp::Commit, 0, StoreFailure::UnknownAfter);
    scene.shop.app().campaigns().drain().await;
    scene.shop.store.heal();
    scene.shop.app().sending().recover().await.unwrap();
    pass_drains(&scene).await;
    assert_eq!((scene.shop.calls(), scene.refunds().await), (1, 1));
    assert_eq!(scene.status().await.0, "finished");
    let mut reported: BTreeMap<String, usize> = BTreeMap::new();
    for recipient in scene.recipients().await {
        *reported.entry(json!(recipient.error_code).to_string()).or_default() += 1;
    }
    assert_eq!(reported.get("\"UNKNOWN\""), Some(&1), "{reported:?}");
    scene.check().await;
}

#[tokio::test]
async fn an_answer_that_comes_after_the_message_was_given_up_still_counts() {
    for (failure, status, fault, refunds) in [
        (None, "sent", Value::Null, 0),
        (Some(refusal()), "failed", json!("RECIPIENT_UNREACHABLE"), 1),
        (Some(unreachable()), "failed", json!("NETWORK"), 1),
        (Some(uncertain()), "failed", json!("DELIVERY_UNCERTAIN"), 0),
    ] {
        let scene = Scene::of(1).await;
        scene.shop.kit().provider.otherwise(failure.clone());
        scene.start().await;
        let gate = scene.shop.kit().provider.hold();
        let give_up = async {
            gate.reached(1).await;
            // Its process was paused for as long as its lease, and goes on.
            scene.shop.advance(LEASE);
            scene.shop.other.sending().recover().await.unwrap();
            assert_eq!(scene.counts().await["failed"], 1);
            assert_eq!(scene.refunds().await, 0, "it may have arrived");
            gate.open();
        };
        tokio::join!(async { scene.shop.app().campaigns().drain().await }, give_up);
        pass_drains(&scene).await;
        for app in scene.shop.apps() {
            app.sending().recover().await.unwrap();
        }
        let reported = scene.of_contact(scene.contacts[0]).await;
        assert_eq!(reported, (status.to_owned(), fault), "{failure:?}");
        assert_eq!((scene.refunds().await, scene.shop.calls()), (refunds, 1), "{failure:?}");
        scene.check().await;
    }
}
