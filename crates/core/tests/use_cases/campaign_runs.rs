//! Running campaigns: each recipient once, at the configured rate, in several processes (D66).

use std::time::Duration;

use recado_core::Clock;
use serde_json::{Value, json};

use super::campaign_process::{Process, SECOND, pass, pass_drains, pass_until_it_ends};
use super::campaign_scene::Scene;
use super::shop::Shop;

#[tokio::test]
async fn a_runner_finds_a_campaign_that_is_started_and_ends_it_by_itself() {
    let scene = Scene::of(20).await;
    let process = Process::run(scene.shop.app(), &scene.shop.kit().clock);
    pass(&scene, 3, SECOND).await;
    assert_eq!(scene.shop.calls(), 0);
    scene.start().await;
    pass(&scene, 3, SECOND).await;
    assert_eq!((scene.shop.calls(), scene.status().await.0.as_str()), (20, "finished"));
    process.stop().await;
    scene.check().await;
}

#[tokio::test]
async fn two_processes_that_run_the_same_campaign_write_to_everybody_once() {
    for count in [1, 2, 50, 150] {
        let scene = Scene::of(count).await;
        scene.start().await;
        for _ in 0..20 {
            // Neither is known to dispatch: both take every campaign for theirs.
            let [one, two] = scene.shop.apps();
            let one = async { one.campaigns().drain().await };
            let two = async { two.campaigns().drain().await };
            tokio::join!(one, two);
            scene.shop.advance(SECOND);
        }
        assert_eq!(scene.counts().await["sent"], count);
        assert_eq!(scene.shop.calls(), count);
        assert_eq!(scene.status().await.0, "finished");
        scene.check().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn several_threads_and_processes_write_to_everybody_once() {
    let scene = Scene::of(200).await;
    scene.start().await;
    for _ in 0..10 {
        let drains: Vec<_> = (0..4)
            .map(|n| {
                let app = scene.shop.apps()[n % 2].clone();
                tokio::spawn(async move { app.campaigns().drain().await })
            })
            .collect();
        for drain in drains {
            drain.await.unwrap();
        }
        scene.shop.advance(SECOND);
    }
    assert_eq!((scene.shop.calls(), scene.status().await.0.as_str()), (200, "finished"));
    scene.check().await;
}

/// R98.
#[tokio::test]
async fn two_runners_share_the_campaigns_and_write_to_everybody_once() {
    let scene = Scene::of(40).await;
    let clock = &scene.shop.kit().clock;
    let processes = scene.shop.apps().map(|app| Process::run(app, clock));
    scene.start().await;
    pass_until_it_ends(&scene, SECOND).await;
    for process in processes {
        process.stop().await;
    }
    assert_eq!(scene.counts().await["sent"], 40);
    scene.check().await;
}

#[tokio::test]
async fn a_campaign_does_not_finish_while_a_message_of_it_is_on_its_way() {
    let scene = Scene::of(5).await;
    let process = Process::run(scene.shop.app(), &scene.shop.kit().clock);
    let gate = scene.shop.kit().provider.hold();
    scene.start().await;
    pass(&scene, 5, SECOND).await;
    assert_eq!(scene.statuses().await.get("sending"), Some(&5));
    assert_eq!(scene.status().await.0, "running");
    // Another process does not end it either.
    scene.shop.other.campaigns().drain().await;
    assert_eq!(scene.status().await.0, "running");
    gate.open();
    pass(&scene, 3, SECOND).await;
    assert_eq!(scene.status().await.0, "finished");
    process.stop().await;
}

/// When each message was passed to the provider, in milliseconds, with the clock advanced in steps.
async fn times(scene: &Scene, step: Duration, steps: usize) -> Vec<i64> {
    let (mut times, clock) = (Vec::new(), &scene.shop.kit().clock);
    for _ in 0..steps {
        let calls = scene.shop.calls();
        times.extend(std::iter::repeat_n(clock.now().millis(), calls - times.len()));
        pass(scene, 1, step).await;
    }
    times
}

/// R97.
#[tokio::test]
async fn no_second_sees_more_messages_than_the_rate_and_a_tenth_of_it() {
    for rate in [1_u32, 3, 10, 25, 40] {
        let with = json!({ "messages_per_second": rate });
        let scene = Scene::with(Shop::new().await, 3 * rate as usize + 5, with).await;
        let clock = &scene.shop.kit().clock;
        let processes = scene.shop.apps().map(|app| Process::run(app, clock));
        scene.start().await;
        let times = times(&scene, Duration::from_millis(5), 1_000).await;
        let at_most = rate + (rate / 10).max(1);
        for (n, from) in times.iter().enumerate() {
            let within = times[n..].iter().filter(|at| **at < from + 1_000).count();
            assert!(within <= at_most as usize, "{within} within a second at {rate}");
        }
        // As fast as it may: a second's worth takes a second.
        let took = times.last().unwrap() - times.first().unwrap();
        let expected = (times.len() as i64 - 1) * 1_000 / i64::from(rate);
        assert!(took <= expected + 100, "{rate}: {took} instead of {expected}");
        assert!(times.len() > 3 * rate as usize, "{rate}: {}", times.len());
        for process in processes {
            process.stop().await;
        }
        scene.check().await;
    }
}

/// R97.
#[tokio::test]
async fn those_who_are_passed_over_use_nothing_of_the_rate() {
    let scene = Scene::with(Shop::new().await, 300, json!({ "messages_per_second": 1 })).await;
    for contact in &scene.contacts[..299] {
        scene.shop.block(*contact).await;
    }
    scene.start().await;
    scene.shop.app().campaigns().drain().await;
    assert_eq!(scene.shop.calls(), 1);
    assert_eq!(scene.counts().await["skipped"], 299);
}

#[tokio::test]
async fn several_campaigns_to_one_contact_each_write_once() {
    let scene = Scene::of(5).await;
    let company = scene.shop.kit().company.id;
    let new = recado_testkit::kit::body(json!({
        "name": "Ano novo", "template_id": scene.template.id, "list_id": scene.list,
        "variables": { "1": "Ana" },
    }));
    let campaigns = scene.shop.app().campaigns();
    let second = campaigns.create(company, &new).await.unwrap().campaign.id;
    scene.start().await;
    campaigns.start(company, second).await.unwrap();
    pass_drains(&scene).await;
    assert!(scene.calls().await.values().all(|calls| *calls == 2));
    assert_eq!(scene.calls().await.len(), 5);
    assert_eq!(scene.shop.ledger().await.len(), 10);
}

#[tokio::test]
async fn after_a_change_was_answered_nothing_begins_to_be_sent_as_it_was_before() {
    for held in 1..12 {
        let scene = Scene::with(Shop::new().await, 60, json!({ "messages_per_second": 100 })).await;
        let clock = &scene.shop.kit().clock;
        scene.start().await;
        let gate = scene.shop.kit().provider.hold();
        let processes = scene.shop.apps().map(|app| Process::run(app, clock));
        while scene.shop.calls() < held {
            clock.advance(Duration::from_millis(7));
            for _ in 0..held {
                tokio::task::yield_now().await;
            }
        }
        scene.change(json!({ "variables": { "1": "Ana" } })).await;
        let before: Vec<Value> =
            scene.shop.messaging.messages().await.iter().map(|known| known["id"].clone()).collect();
        gate.open();
        pass_until_it_ends(&scene, Duration::from_millis(100)).await;
        let messages = scene.shop.messaging.messages().await;
        assert_eq!((messages.len(), scene.shop.calls()), (60, 60));
        for message in messages {
            let is_new = !before.contains(&message["id"]);
            let expected = if is_new { "Olá Ana" } else { "Olá você" };
            assert_eq!(message["content"], expected, "{held}");
        }
        assert!((held..60).contains(&before.len()), "{}", before.len());
        for process in processes {
            process.stop().await;
        }
    }
}
