//! Figures of the whole installation (R280).

use recado_core::campaigns::{Campaign, CampaignStatus};
use recado_core::connections::{Connection, ConnectionKind, ConnectionStatus, GatewayName};
use recado_core::deliveries::QueueKey;
use recado_core::events::EventType;
use recado_core::figures::{ConnectionFigures, DueFigures, FigureQuery, Figures};
use recado_core::jobs::Job;
use recado_core::store::ChangeSet;
use recado_core::webhooks::{Webhook, WebhookState};

use super::Harness;
use super::scene::{Scene, at, first};

async fn figures(scene: &Scene, query: FigureQuery) -> Figures {
    scene.store.figures(&query).await.expect("the store works")
}

async fn at_time(scene: &Scene, millis: i64) -> Figures {
    figures(scene, FigureQuery::at(at(millis))).await
}

/// A stored webhook, and its queue.
async fn hooked(scene: &Scene, state: WebhookState) -> QueueKey {
    let webhook = Webhook { state, ..scene.webhook() };
    scene.add(webhook.clone()).await;
    QueueKey { company: scene.company, webhook: webhook.id }
}

const fn due(pending: u64, due: u64, oldest: Option<i64>) -> (u64, u64, Option<i64>) {
    (pending, due, oldest)
}

fn shown(figures: DueFigures) -> (u64, u64, Option<i64>) {
    let oldest = figures.oldest.map(|oldest| oldest.millis() - at(0).millis());
    (figures.pending, figures.due, oldest)
}

/// A company without anything else.
pub async fn an_empty_installation_has_nothing(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let empty = at_time(&scene, 0).await;
    assert_eq!(Figures { journal: empty.journal, ..Figures::default() }, empty);
}

/// Over all companies, by gateway, kind, whether they are active, and status.
pub async fn connections_are_counted_by_what_they_are_with_the_oldest_of_each(
    harness: &dyn Harness,
) {
    let scene = Scene::of(harness).await;
    let other = scene.another_company().await;
    let changed =
        |scene: &Scene, millis| Connection { updated_at: at(millis), ..scene.connection() };
    let usual = || changed(&scene, 50);
    let heard = Connection { last_heard_at: Some(at(70)), ..changed(&scene, 20) };
    let (unheard, theirs) = (changed(&scene, 40), changed(&other, 30));
    scene.add_all([heard, unheard, theirs]).await;
    let others = [
        Connection { gateway: GatewayName::new("waha"), ..usual() },
        Connection { kind: ConnectionKind::OfficialCloud, ..usual() },
        Connection { is_active: false, ..usual() },
        Connection { status: ConnectionStatus::Disconnected, ..usual() },
    ];
    scene.add_all(others.clone()).await;
    let of = |connection: &Connection| ConnectionFigures {
        gateway: connection.gateway.clone(),
        kind: connection.kind,
        is_active: connection.is_active,
        status: connection.status,
        count: 1,
        changed_at: connection.updated_at,
        heard_at: connection.updated_at,
    };
    let alike =
        ConnectionFigures { count: 3, changed_at: at(20), heard_at: at(30), ..of(&usual()) };
    let mut found = at_time(&scene, 0).await.connections;
    let position = found.iter().position(|known| *known == alike);
    found.remove(position.unwrap_or_else(|| panic!("{alike:?} is not in {found:?}")));
    for expected in others.iter().map(of) {
        assert!(found.contains(&expected), "{expected:?} is not in {found:?}");
    }
    assert_eq!(found.len(), others.len(), "{found:?}");
}

/// What waits for a webhook that is not active, and what is settled, does not count.
pub async fn deliveries_of_active_webhooks_are_counted_and_the_oldest_due_one_is_found(
    harness: &dyn Harness,
) {
    let scene = Scene::of(harness).await;
    let other = scene.another_company().await;
    let idle = hooked(&scene, WebhookState::Inactive).await;
    let gone = hooked(&scene, WebhookState::Deleted).await;
    for key in [idle, gone, scene.queue()] {
        scene.add_all([scene.fresh_at(key, 1), scene.tried(key, 2)]).await;
    }
    let (here, there) =
        (hooked(&scene, WebhookState::Active).await, hooked(&other, WebhookState::Active).await);
    let event = scene.reported(EventType::ContactCreated, 1);
    scene.add(scene.delivered(here, &event)).await;
    let found = async |millis| shown(at_time(&scene, millis).await.deliveries);
    assert_eq!(found(100).await, due(0, 0, None));
    scene.add(scene.tried(here, 90)).await;
    assert_eq!(found(89).await, due(1, 0, None));
    assert_eq!(found(90).await, due(1, 1, Some(90)));
    // The first of a queue by its position, whatever its time.
    scene.add(scene.fresh_at(here, 60)).await;
    scene.add(scene.fresh_at(here, 40)).await;
    assert_eq!(found(80).await, due(3, 2, Some(60)));
    assert_eq!(found(100).await, due(3, 3, Some(60)));
    other.add(other.tried(there, 95)).await;
    other.add(other.tried(there, 50)).await;
    assert_eq!(found(94).await, due(5, 4, Some(50)));
    assert_eq!(found(95).await, due(5, 5, Some(50)));
}

/// Deliveries and jobs are counted up to the limit; those that are due first.
pub async fn what_is_counted_is_bounded(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let key = hooked(&scene, WebhookState::Active).await;
    scene.add_all((0..4).map(|n| scene.tried(key, 100 + n))).await;
    scene.add_all((0..3).map(|n| scene.fresh_at(key, n))).await;
    scene.add_all((0..4).map(|n| Job { due_at: at(n), ..scene.job() })).await;
    for (most, deliveries, jobs) in [
        (0, due(0, 0, Some(0)), due(0, 0, None)),
        (2, due(2, 2, Some(0)), due(2, 2, Some(0))),
        (5, due(5, 3, Some(0)), due(4, 4, Some(0))),
        (9, due(7, 3, Some(0)), due(4, 4, Some(0))),
    ] {
        let found = figures(&scene, FigureQuery { most, ..FigureQuery::at(at(50)) }).await;
        assert_eq!((shown(found.deliveries), shown(found.jobs)), (deliveries, jobs), "{most}");
    }
}

/// A leased job is being worked on.
pub async fn jobs_are_overdue_until_they_are_claimed(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let other = scene.another_company().await;
    let found = async |millis| shown(at_time(&scene, millis).await.jobs);
    for (scene, millis) in [(&scene, 20), (&other, 10), (&scene, 30)] {
        scene.add(Job { due_at: at(millis), ..scene.job() }).await;
    }
    assert_eq!(found(9).await, due(0, 0, None));
    assert_eq!(found(10).await, due(1, 1, Some(10)));
    assert_eq!(found(30).await, due(3, 3, Some(10)));
    scene.store.claim_jobs(at(30), at(50), 2, &[]).await.expect("the store works");
    assert_eq!(found(40).await, due(1, 1, Some(30)));
    assert_eq!(found(50).await, due(3, 3, Some(10)));
}

/// Running ones only, over all companies.
pub async fn campaigns_are_counted_while_they_run(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let other = scene.another_company().await;
    for status in CampaignStatus::ALL {
        scene.add(Campaign { status: *status, ..scene.campaign() }).await;
    }
    let running = Campaign { status: CampaignStatus::Running, ..other.campaign() };
    scene.add(running.clone()).await;
    assert_eq!(at_time(&scene, 0).await.campaigns, 2);
    let paused = Campaign { status: CampaignStatus::Paused, ..running.clone() };
    scene.apply(first(running).update(paused)).await;
    assert_eq!(at_time(&scene, 0).await.campaigns, 1);
}

/// The position is that of the newest event or one after it, also when events are swept.
pub async fn the_journal_only_grows(harness: &dyn Harness) {
    let scene = Scene::of(harness).await;
    let before = at_time(&scene, 0).await.journal;
    let event = scene.reported(EventType::ContactCreated, 1);
    let changes = ChangeSet::new().emit(event.clone());
    scene.store.commit(changes).await.expect("the store works");
    let after = at_time(&scene, 0).await.journal;
    assert!(after > before, "{before:?} {after:?}");
    let types = [event.event_type];
    let read = scene.store.events_after(scene.company, &types, before, 10).await;
    let [(position, _)] = read.expect("the store works").try_into().expect("one event");
    assert!(position <= after, "{position:?} {after:?}");
    let swept = recado_core::events::Swept::Before(at(1_000));
    scene.store.sweep_outbox(swept, 10).await.expect("the store works");
    assert!(at_time(&scene, 0).await.journal >= after);
}
