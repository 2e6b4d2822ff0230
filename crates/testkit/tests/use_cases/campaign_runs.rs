//! Running campaigns: pace, pauses, several processes, and what a crash leaves (D66).

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use recado_core::connections::ConnectionStatus;
use recado_core::gateway::SendFailure;
use recado_core::messages::{DeliveryCode, Failure};
use recado_core::workers::LEASE;
use recado_core::{Clock, Recado};
use recado_testkit::{StoreFailure, StoreOp, TestClock};
use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::campaign_scene::Scene;
use super::dispatch_order::quiet;
use super::shop::{Shop, cut_off, refusal, uncertain, unreachable};
use super::shown;

/// A process that runs campaigns, and dispatches as a server does.
struct Process {
    app: Recado,
    stop: Option<oneshot::Sender<()>>,
    running: JoinHandle<()>,
}

impl Process {
    fn run(app: &Recado, clock: &TestClock) -> Self {
        let (stop, stopped) = oneshot::channel();
        let (app, clock) = (app.clone(), clock.clone());
        let running = tokio::spawn({
            let app = app.clone();
            async move {
                let stopped = async {
                    let _ = stopped.await;
                };
                app.campaigns().run(&clock, stopped).await;
            }
        });
        Self { app, stop: Some(stop), running }
    }

    async fn die(self) {
        self.running.abort();
        assert!(self.running.await.is_err());
    }

    fn begin_to_stop(&mut self) {
        self.stop.take().unwrap().send(()).unwrap();
    }

    async fn stop(mut self) {
        self.begin_to_stop();
        self.running.await.unwrap();
        self.app.workers().release().await.unwrap();
    }
}

/// Lets time pass step by step.
async fn pass(scene: &Scene, steps: usize, step: Duration) {
    for _ in 0..steps {
        scene.shop.advance(step);
        quiet().await;
    }
}

async fn pass_until_it_ends(scene: &Scene, step: Duration) {
    for _ in 0..10_000 {
        pass(scene, 1, step).await;
        if scene.status().await.0 != "running" {
            return;
        }
    }
    panic!("the campaign never ends: {:?}", scene.statuses().await);
}

const SECOND: Duration = Duration::from_secs(1);
const TENTH: Duration = Duration::from_millis(100);

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

/// When each message was handed to the provider, in milliseconds, with the clock moved on in steps.
async fn times(scene: &Scene, step: Duration, steps: usize) -> Vec<i64> {
    let (mut times, clock) = (Vec::new(), &scene.shop.kit().clock);
    for _ in 0..steps {
        let calls = scene.shop.calls();
        times.extend(std::iter::repeat_n(clock.now().millis(), calls - times.len()));
        pass(scene, 1, step).await;
    }
    times
}

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

async fn pass_drains(scene: &Scene) {
    for _ in 0..20 {
        scene.shop.advance(SECOND);
        scene.shop.app().campaigns().drain().await;
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
    scene.shop.talk.set_connected(false).await;
    scene.shop.connection("waha", true).await;
    scene.shop.advance(SECOND);
    scene.shop.app().campaigns().drain().await;
    assert_eq!(scene.status().await, ("paused".to_owned(), Some("connection".to_owned())));
    assert_eq!(scene.statuses().await.get("waiting"), Some(&3));
    assert_eq!(scene.shop.ledger().await.len(), 1);
    scene.shop.talk.set_connected(true).await;
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
    scene.change(json!({ "connection_id": scene.shop.talk.connection })).await;
    scene.start().await;
    pass_drains(&scene).await;
    let sent = scene.shop.kit().provider.sent();
    assert!(sent[1..].iter().all(|sent| sent.connection == scene.shop.talk.connection));
    assert_eq!(sent.len(), 3);
}

#[tokio::test]
async fn of_several_connections_each_contact_is_met_on_its_last_one_and_strangers_fail() {
    let shop = Shop::new().await;
    let second = shop.connection("cloud_api", true).await;
    let scene = Scene::with(shop, 3, json!({})).await;
    let from = super::shop::phone(0);
    scene.shop.talk.hear("in", from.trim_start_matches('+'), "Oi").await;
    let met = shown(scene.shop.kit(), scene.contacts[0]).await["last_connection_id"].clone();
    assert_eq!(met, json!(scene.shop.talk.connection));
    scene.start().await;
    pass_drains(&scene).await;
    assert_eq!(scene.of_contact(scene.contacts[0]).await, ("sent".to_owned(), Value::Null));
    for stranger in &scene.contacts[1..] {
        let told = scene.of_contact(*stranger).await;
        assert_eq!(told, ("failed".to_owned(), json!("CONNECTION_REQUIRED")));
    }
    let sent = scene.shop.kit().provider.sent();
    assert_eq!((sent.len(), sent[0].connection), (1, scene.shop.talk.connection));
    assert_ne!(sent[0].connection, second);
    assert_eq!((scene.status().await.0.as_str(), scene.shop.ledger().await.len()), ("finished", 1));
    scene.check().await;
}

#[tokio::test]
async fn five_messages_in_a_row_that_do_not_reach_the_gateway_pause_a_campaign() {
    let offline =
        SendFailure::Connection(Failure::new(DeliveryCode::ConnectionOffline, "off".to_owned()));
    for failure in [unreachable(), offline] {
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
            let told = scene.of_contact(scene.contacts[0]).await;
            assert_eq!(told, ("failed".to_owned(), json!("DELIVERY_UNCERTAIN")));
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
async fn an_intent_of_unknown_fate_is_settled_without_a_send_and_given_back() {
    let scene = Scene::of(2).await;
    scene.start().await;
    scene.shop.store.fail_nth(StoreOp::Commit, 0, StoreFailure::UnknownAfter);
    scene.shop.app().campaigns().drain().await;
    scene.shop.store.heal();
    scene.shop.app().sending().recover().await.unwrap();
    pass_drains(&scene).await;
    assert_eq!((scene.shop.calls(), scene.refunds().await), (1, 1));
    assert_eq!(scene.status().await.0, "finished");
    let mut told: BTreeMap<String, usize> = BTreeMap::new();
    for recipient in scene.recipients().await {
        *told.entry(json!(recipient.error_code).to_string()).or_default() += 1;
    }
    assert_eq!(told.get("\"UNKNOWN\""), Some(&1), "{told:?}");
    scene.check().await;
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
    assert!(scene.calls().values().all(|calls| *calls == 2));
    assert_eq!(scene.calls().len(), 5);
    assert_eq!(scene.shop.ledger().await.len(), 10);
}
