//! Late events: gateways repeat calls for hours, each event on its own and in any order, and an old
//! one must not undo a newer one.

use std::time::Duration;

use recado_core::Clock as _;
use recado_core::Timestamp;
use recado_core::connections::ConnectionStatus::{self, Connected, Disconnected};
use recado_core::gateway::{
    GatewayEvent, GatewayMessage, GatewayStatus, Preference, PreferenceReport,
};
use recado_core::ids::ContactId;
use recado_core::inbox::EventOutcome;
use recado_core::jobs::JobKind;
use recado_testkit::kit::body;
use serde_json::{Value, json};

use super::gateway_scene::*;
use super::{code, shown};

fn tells(status: ConnectionStatus) -> GatewayStatus {
    GatewayStatus { status, detail: None }
}

async fn wants(scene: &Scene, preference: Preference, at: Timestamp) -> EventOutcome {
    let report = PreferenceReport {
        peer: PEER.to_owned(),
        aliases: Vec::new(),
        preference,
        timestamp: Some(at),
        history: false,
    };
    scene.messaging.receive(vec![Ok(GatewayEvent::Preference(report))]).await.remove(0).result
}

async fn is_blocked(scene: &Scene) -> bool {
    let sent = scene.messaging.send(PHONE, "Oi").await;
    sent.is_err() && code(sent) == "CONTACT_OPTED_OUT"
}

/// R124.
#[tokio::test]
async fn an_old_wish_to_resume_lifts_no_newer_block() {
    let scene = scene("cloud_api").await;
    let now = scene.kit.clock.now();
    let later = now.plus(Duration::from_secs(3600));
    assert_eq!(wants(&scene, Preference::Stop, later).await, EventOutcome::Stored);
    assert_eq!(wants(&scene, Preference::Resume, now).await, EventOutcome::Ignored);
    assert!(is_blocked(&scene).await);
    let hour = Duration::from_secs(3600);
    let oldest = later.minus(7 * 24 * hour);
    assert_eq!(wants(&scene, Preference::Resume, oldest).await, EventOutcome::Ignored);
    let newest = later.plus(Duration::from_secs(1));
    assert_eq!(wants(&scene, Preference::Resume, newest).await, EventOutcome::Stored);
    assert!(!is_blocked(&scene).await);
}

/// R124.
#[tokio::test]
async fn a_wish_to_resume_of_an_impossible_time_is_one_of_today() {
    let scene = scene("cloud_api").await;
    let now = scene.kit.clock.now();
    let week = Duration::from_secs(7 * 24 * 3600);
    let constant = Timestamp::from_millis(1_760_000_000_000);
    for at in [now.minus(week + Duration::from_millis(1)), constant] {
        assert!(at < now.minus(week), "what the test is about");
        assert_eq!(wants(&scene, Preference::Stop, now).await, EventOutcome::Stored);
        assert!(is_blocked(&scene).await);
        assert_eq!(wants(&scene, Preference::Resume, at).await, EventOutcome::Stored);
        assert!(!is_blocked(&scene).await);
    }
}

/// R124.
#[tokio::test]
async fn a_request_to_stop_counts_when_it_comes_however_old_it_says_it_is() {
    let scene = scene("cloud_api").await;
    let first = scene.kit.clock.now();
    wants(&scene, Preference::Stop, first).await;
    wants(&scene, Preference::Resume, first.plus(Duration::from_secs(3600))).await;
    assert!(!is_blocked(&scene).await);
    let reported = scene.reported("contact.opted_out").len();
    let late = GatewayMessage { timestamp: Some(first), ..text("m1", PEER, "parar") };
    scene.messaging.receive(vec![Ok(GatewayEvent::Message(late))]).await;
    assert!(is_blocked(&scene).await, "only one from a history may be settled (D70)");
    assert_eq!(scene.reported("contact.opted_out").len(), reported + 1);
}

/// R33.
#[tokio::test]
async fn only_a_request_to_stop_makes_a_contact_of_somebody_unknown() {
    let scene = scene("cloud_api").await;
    let now = scene.kit.clock.now();
    assert_eq!(wants(&scene, Preference::Resume, now).await, EventOutcome::Ignored);
    assert_eq!(scene.reported("contact.created").len(), 0);
    assert_eq!(wants(&scene, Preference::Stop, now).await, EventOutcome::Stored);
    let reported =
        ["contact.created", "contact.opted_out"].map(|event| scene.reported(event).len());
    assert_eq!(reported, [1, 1]);
    assert!(is_blocked(&scene).await);
}

/// R124.
#[tokio::test]
async fn a_late_echo_leaves_unread_what_came_after_it() {
    let scene = scene("waha").await;
    let now = scene.kit.clock.now();
    let minutes = |n: u64| Some(now.plus(Duration::from_secs(60 * n)));
    let newer = GatewayMessage { timestamp: minutes(30), ..text("m1", PEER, "Oi?") };
    scene.messaging.receive(vec![Ok(GatewayEvent::Message(newer))]).await;
    let echo = |id: &str, n| GatewayMessage { timestamp: minutes(n), ..text(id, PEER, "Já vai") };
    scene.messaging.receive(vec![Ok(GatewayEvent::Echo(echo("e1", 0)))]).await;
    assert_eq!(unread(&scene).await, 1);
    scene.messaging.receive(vec![Ok(GatewayEvent::Echo(echo("e2", 31)))]).await;
    assert_eq!(unread(&scene).await, 0);
}

async fn unread(scene: &Scene) -> u64 {
    let message = scene.messaging.newest().await;
    let id = message["contact_id"].as_str().and_then(ContactId::parse).unwrap();
    shown(&scene.kit, id).await["connections"][0]["unread_count"].as_u64().unwrap()
}

/// R124.
#[tokio::test]
async fn a_word_that_the_phone_is_gone_is_checked_half_a_minute_later() {
    let scene = scene("waha").await;
    scene.kit.provider.set_status(Ok(tells(Connected)));
    scene.call(here([Ok(GatewayEvent::Connection(Disconnected))])).await.unwrap();
    scene.after(29).await;
    assert_eq!(scene.status().await, Disconnected);
    scene.after(1).await;
    assert_eq!(scene.status().await, Connected, "the gateway says what holds now");
}

/// R124.
#[tokio::test]
async fn groups_that_change_while_they_are_read_are_read_again() {
    let scene = scene("waha").await;
    scene.work().await;
    scene.call(here([Ok(GatewayEvent::GroupsChanged)])).await.unwrap();
    scene.kit.clock.advance(Duration::from_secs(3));
    // Another process reads the groups, and has not finished.
    let (store, now) = (&scene.kit.store, scene.kit.clock.now());
    let lease = now.plus(Duration::from_secs(80));
    let claimed = store.claim_jobs(now, lease, 10, &[]).await.unwrap();
    let read = |kind: &JobKind| matches!(kind, JobKind::SyncGroupsOnce { .. });
    let reading = claimed.iter().find(|job| read(&job.kind)).unwrap();
    let taken = scene.call(here([Ok(GatewayEvent::GroupsChanged)])).await.unwrap();
    assert_eq!(taken.stored, 1, "the reading may have been before the change");
    let done = recado_core::store::ChangeSet::new().with(reading.delete());
    assert!(store.commit(done).await.is_err());
    let asked = scene.kit.provider.asked().groups;
    scene.after(80).await;
    assert_eq!((scene.kit.provider.asked().groups, scene.waiting(read)), (asked + 1, 0));
}

/// R126.
#[tokio::test]
async fn a_connection_that_is_not_used_is_not_asked_after() {
    let scene = scene("waha").await;
    scene.kit.provider.set_status(Ok(tells(Connected)));
    let set = async |change: Value| {
        let connections = scene.kit.app.connections();
        let change = body(change);
        connections.change(scene.kit.company.id, scene.connection(), &change).await.unwrap();
    };
    set(json!({ "is_active": false })).await;
    scene.after(3600).await;
    assert_eq!(scene.kit.provider.asked().status, 0);
    set(json!({ "is_active": true })).await;
    scene.work().await;
    assert_eq!(scene.kit.provider.asked().status, 1);
}
