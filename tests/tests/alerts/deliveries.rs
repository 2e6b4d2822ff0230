//! Alerts about webhooks and background work.

use std::time::Duration;

use recado_tests::{Hooks, Reply, Setup, StoreKind, World, both_stores, phone};
use serde_json::json;

use crate::watched::{Scrapes, alone};

const MINUTE: Duration = Duration::from_secs(60);

async fn hooks(kind: StoreKind) -> Hooks {
    Hooks::with(kind, Setup { no_background: true, ..Setup::default() }).await
}

/// R282: no process runs the delivery worker.
#[both_stores]
async fn deliveries_that_nobody_makes_are_reported(kind: StoreKind) {
    let _alone = alone().await;
    let world = hooks(kind).await;
    world.hook("/hook", &["contact.created"]).await;
    let mut scrapes = Scrapes::of(&world.server).await;
    world.post_contact(json!({"phone": phone(1)})).await.expect(201);
    world.advance(6 * MINUTE);
    let scrape = scrapes.read(&world.server).await;
    assert_eq!(scrape.value("recado_deliveries_due", &[]), 1.0);
    assert_eq!(scrape.value("recado_deliveries_oldest_due_age_seconds", &[]), 360.0);
    scrapes.fires("RecadoDeliveriesLate");
}

/// R282: more is due than is delivered.
#[both_stores]
async fn a_backlog_of_deliveries_is_reported(kind: StoreKind) {
    let _alone = alone().await;
    let world = hooks(kind).await;
    for n in 0..20 {
        world.hook(&format!("/hook{n}"), &["contact.created"]).await;
    }
    let mut scrapes = Scrapes::of(&world.server).await;
    for n in 0..51 {
        world.post_contact(json!({"phone": phone(n)})).await.expect(201);
    }
    let scrape = scrapes.read(&world.server).await;
    assert_eq!(scrape.value("recado_deliveries_due", &[]), 1_020.0);
    assert_eq!(scrape.value("recado_deliveries_pending", &[]), 1_020.0);
    scrapes.fires("RecadoDeliveriesBacklog");
}

/// R282: a receiver is dead.
#[both_stores]
async fn attempts_that_fail_are_reported(kind: StoreKind) {
    let _alone = alone().await;
    let world = hooks(kind).await;
    world.hook("/hook", &["contact.created"]).await;
    world.receiver.answers("/hook", Reply::body(500, "broken"));
    let mut scrapes = Scrapes::of(&world.server).await;
    for n in 0..3 {
        world.post_contact(json!({"phone": phone(n)})).await.expect(201);
        world.drain().await;
        scrapes.read(&world.server).await;
    }
    scrapes.fires("RecadoDeliveriesFail");
}

/// R282, D75: an operator has forgotten to resume. What waits meanwhile is no further alert.
#[both_stores]
async fn an_installation_on_hold_is_reported(kind: StoreKind) {
    let _alone = alone().await;
    let world = hooks(kind).await;
    world.hook("/hook", &["contact.created"]).await;
    let mut scrapes = Scrapes::of(&world.server).await;
    world.post_contact(json!({"phone": phone(1)})).await.expect(201);
    world.server.hold("a test").await;
    world.advance(6 * MINUTE);
    let scrape = scrapes.read(&world.server).await;
    assert_eq!(scrape.value("recado_held", &[]), 1.0);
    assert_eq!(scrape.value("recado_deliveries_due", &[]), 1.0);
    scrapes.fires("RecadoHeld");
    scrapes.is_silent("RecadoDeliveriesLate");
}

/// R282: no process works on jobs.
#[both_stores]
async fn jobs_that_nobody_does_are_reported(kind: StoreKind) {
    let _alone = alone().await;
    let world = World::with(kind, Setup { no_background: true, ..Setup::default() }).await;
    let contact = world.create_id(json!({"phone": phone(1)})).await;
    let mut scrapes = Scrapes::of(&world.server).await;
    world.delete(&format!("/api/v1/contacts/{contact}")).await.expect_deleted();
    world.advance(6 * MINUTE);
    let scrape = scrapes.read(&world.server).await;
    assert!(scrape.value("recado_jobs_due", &[]) >= 1.0);
    scrapes.fires("RecadoJobsOverdue");
}
