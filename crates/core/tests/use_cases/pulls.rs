//! Asking gateways what happened while the connection was off.

use std::time::Duration;

use recado_core::Clock as _;
use recado_core::Timestamp;
use recado_core::connections::PULL_AGAIN;
use recado_core::gateway::{Incoming, Missed, ProviderError};
use recado_core::ids::ConnectionId;
use recado_core::jobs::JobKind;
use recado_testkit::provider::Pulled;
use recado_testkit::{StoreFailure, StoreOp};
use serde_json::json;
use uuid::Uuid;

use super::code;
use super::gateway_scene::*;

const MINUTE: u64 = 60;

fn tells(events: Vec<Incoming>) -> Result<Missed, ProviderError> {
    Ok(Missed { events, more_from: None })
}

fn fails() -> Result<Missed, ProviderError> {
    Err(ProviderError::Failed("timeout".to_owned()))
}

fn once(scene: &Scene) -> usize {
    scene.waiting(|kind| matches!(kind, JobKind::PullMissedOnce { .. }))
}

/// From when on the gateway was asked, in seconds after the start, each time that it was.
fn pulled(scene: &Scene) -> Vec<i64> {
    let start = recado_testkit::TestClock::START.millis();
    let from = scene.kit.provider.pulled().into_iter().map(|pulled| pulled.from.millis() - start);
    from.map(|millis| millis / 1_000).collect()
}

async fn ids(scene: &Scene) -> Vec<String> {
    let messages = scene.messaging.messages().await;
    let mut ids: Vec<String> =
        messages.iter().map(|message| message["wamid"].as_str().unwrap().to_owned()).collect();
    ids.sort();
    ids
}

/// R109.
#[tokio::test]
async fn a_gateway_is_asked_every_quarter_of_an_hour_for_a_little_more_than_is_new() {
    let scene = scene("waha").await;
    scene.kit.provider.set_missed(tells(vec![heard("m1", PEER)]));
    scene.after(PULL_AGAIN.as_secs() - 1).await;
    assert_eq!(pulled(&scene), [0_i64; 0]);
    scene.after(1).await;
    assert_eq!(pulled(&scene), [0]);
    for _ in 0..2 {
        scene.after(PULL_AGAIN.as_secs()).await;
    }
    // Ten minutes are asked for twice: clocks differ, and gateways store late.
    assert_eq!(pulled(&scene), [0, 300, 1_200]);
    let now = scene.kit.clock.now();
    let last = scene.kit.provider.pulled()[2];
    assert_eq!(last, Pulled { connection: scene.connection(), from: last.from, to: now });
    assert_eq!(ids(&scene).await, ["m1"]);
    assert_eq!(scene.reported("message.received").len(), 1);
}

/// R109.
#[tokio::test]
async fn a_connection_that_comes_back_is_asked_once_what_it_missed() {
    let scene = scene("evolution").await;
    scene.after(20 * MINUTE).await;
    scene.kit.provider.set_missed(tells(vec![heard("m1", PEER), heard("m2", PEER)]));
    scene.messaging.set_connected(false).await;
    scene.kit.clock.advance(Duration::from_secs(30 * MINUTE));
    scene.messaging.set_connected(true).await;
    scene.messaging.set_connected(false).await;
    scene.messaging.set_connected(true).await;
    assert_eq!(once(&scene), 1);
    scene.work().await;
    // Since ten minutes before it went away, as the regular one does that is due too.
    assert_eq!(pulled(&scene), [0, 600, 600]);
    assert_eq!((once(&scene), ids(&scene).await), (0, vec!["m1".to_owned(), "m2".to_owned()]));
    scene.after(10 * MINUTE).await;
    assert_eq!(pulled(&scene).len(), 3, "once is enough");
}

#[tokio::test]
async fn what_a_webhook_reported_before_is_not_reported_again() {
    let scene = scene("waha").await;
    scene.call(here([heard("m1", PEER), heard("m2", PEER)])).await.unwrap();
    scene.kit.provider.set_missed(tells(vec![
        heard("m2", PEER),
        Err("unreadable".to_owned()),
        heard("m3", "553491230001@c.us"),
    ]));
    scene.after(PULL_AGAIN.as_secs()).await;
    assert_eq!(ids(&scene).await, ["m1", "m2", "m3"]);
    assert_eq!(scene.reported("message.received").len(), 3);
    assert_eq!(scene.reported("contact.created").len(), 1);
    // And the other way round.
    let taken = scene.call(here([heard("m3", PEER)])).await.unwrap();
    assert_eq!((taken.stored, taken.passed_over), (0, 1));
}

#[tokio::test]
async fn what_does_not_fit_into_one_answer_is_asked_for_at_once() {
    let scene = scene("waha").await;
    let later = |seconds| Some(recado_testkit::TestClock::START.plus(Duration::from_secs(seconds)));
    for (n, more_from) in [(1, later(100)), (2, later(200)), (3, later(200)), (4, None)] {
        let events = vec![heard(&format!("m{n}"), PEER)];
        scene.kit.provider.then_missed(Ok(Missed { events, more_from }));
    }
    scene.after(PULL_AGAIN.as_secs()).await;
    // The third answer is no further than it was asked from: the same again would lead nowhere.
    assert_eq!(pulled(&scene), [0, 100, 200, 201]);
    assert_eq!(ids(&scene).await, ["m1", "m2", "m3", "m4"]);
}

#[tokio::test]
async fn a_gateway_that_fails_is_asked_for_the_same_again() {
    let scene = scene("waha").await;
    scene.kit.provider.set_missed(fails());
    for _ in 0..3 {
        scene.after(PULL_AGAIN.as_secs()).await;
    }
    assert_eq!(pulled(&scene), [0, 0, 0]);
    scene.kit.provider.set_missed(tells(vec![heard("m1", PEER)]));
    scene.after(PULL_AGAIN.as_secs()).await;
    assert_eq!(ids(&scene).await, ["m1"]);
}

/// R109.
#[tokio::test]
async fn the_pull_after_a_connect_is_tried_four_times() {
    let scene = scene("waha").await;
    scene.kit.provider.set_missed(fails());
    scene.messaging.set_connected(false).await;
    scene.messaging.set_connected(true).await;
    for (wait, asked) in [(0, 1), (14, 1), (1, 2), (60, 3), (300, 4), (400, 4)] {
        scene.after(wait).await;
        assert_eq!(pulled(&scene).len(), asked, "{wait}");
    }
    assert_eq!(once(&scene), 0);
}

#[tokio::test]
async fn a_connection_that_is_off_is_not_asked() {
    for off in [json!({ "is_active": false }), json!({ "status": "disconnected" })] {
        let scene = scene("waha").await;
        let connections = scene.kit.app.connections();
        let off = recado_testkit::kit::body(off);
        connections.change(scene.kit.company.id, scene.connection(), &off).await.unwrap();
        scene.after(PULL_AGAIN.as_secs()).await;
        scene.after(PULL_AGAIN.as_secs()).await;
        assert_eq!(pulled(&scene), [0_i64; 0]);
    }
}

#[tokio::test]
async fn a_gateway_that_cannot_tell_is_never_asked() {
    for gateway in ["cloud_api", "simulated"] {
        let scene = scene(gateway).await;
        scene.messaging.set_connected(false).await;
        scene.messaging.set_connected(true).await;
        scene.after(2 * PULL_AGAIN.as_secs()).await;
        assert_eq!(pulled(&scene), [0_i64; 0], "{gateway}");
    }
}

#[tokio::test]
async fn a_pull_that_the_store_fails_is_made_again_and_loses_nothing() {
    for nth in 0..5 {
        let scene = scene("waha").await;
        let events = (0..150).map(|n| heard(&format!("m{n}"), PEER)).collect();
        scene.kit.provider.set_missed(tells(events));
        scene.kit.clock.advance(PULL_AGAIN);
        scene.store.fail_nth(StoreOp::Commit, nth, StoreFailure::Unavailable);
        while let Ok(true) = scene.kit.app.jobs().run_one().await {}
        scene.store.heal();
        scene.after(400).await;
        assert_eq!(scene.reported("message.received").len(), 150, "{nth}");
        assert_eq!(scene.waiting(|kind| matches!(kind, JobKind::PullMissed { .. })), 1);
    }
}

#[tokio::test]
async fn nobody_asks_for_more_than_three_days() {
    let scene = scene("waha").await;
    scene.kit.provider.set_missed(tells(vec![heard("m1", PEER)]));
    let pull = async |id: ConnectionId, since: Timestamp| {
        scene.kit.app.connections().pull_missed(scene.kit.company.id, id, since).await
    };
    assert_eq!(pull(scene.connection(), Timestamp::MIN).await.unwrap(), Some(None));
    let asked = scene.kit.provider.pulled()[0];
    assert_eq!(asked.to.since(asked.from), Duration::from_secs(3 * 24 * 60 * 60));
    assert_eq!(code(pull(ConnectionId::new(Uuid::nil()), Timestamp::MIN).await), "NOT_FOUND");
    let simulated = connect(&scene.kit, "simulated", json!({})).await;
    scene.kit.provider.set_missed(Err(ProviderError::Unsupported));
    assert_eq!(pull(simulated, Timestamp::MIN).await.unwrap(), Some(None));
    scene.kit.provider.set_missed(fails());
    assert_eq!(pull(scene.connection(), Timestamp::MIN).await.unwrap(), None);
}
