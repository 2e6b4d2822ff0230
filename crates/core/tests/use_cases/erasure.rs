//! Erasing the data of a deleted contact from events (D26), and the sweep by retention.

use std::sync::Arc;
use std::time::Duration;

use recado_core::Settings;
use recado_core::deliveries::{DeliveryRequest, DeliveryStatus, PendingDeliveries};
use recado_core::events::JournalRequest;
use recado_core::jobs::JobKind;
use recado_core::query::Params;
use recado_core::transport::OutboundResponse;
use recado_testkit::kit::body;
use recado_testkit::{FaultyStore, Kit, MemoryStore, SeededIds, StoreFailure, StoreOp};
use serde_json::json;

use super::outbound::{OTHER_URL, Outbound, URL};
use super::{code, create_phone};

const PHONE: &str = "+5534991230001";

async fn work(outbound: &Outbound) {
    while outbound.kit.app.jobs().run_one().await.unwrap() {}
}

fn erasures(outbound: &Outbound) -> usize {
    let jobs = outbound.model.jobs(outbound.kit.company.id);
    jobs.iter().filter(|job| matches!(job.kind, JobKind::EraseEvents { .. })).count()
}

/// Whether the first event is still stored with its data.
fn is_kept(outbound: &Outbound) -> bool {
    !outbound.model.events(outbound.kit.company.id)[0].data.is_empty()
}

/// The data of the first event in the journal.
async fn reported(outbound: &Outbound) -> serde_json::Value {
    let request = JournalRequest::parse(&Params::new(Vec::new())).unwrap();
    let events = outbound.kit.app.events();
    let journal = events.journal(&outbound.kit.caller, &request).await.unwrap();
    serde_json::to_value(&journal.entries[0]).unwrap()["data"].clone()
}

#[tokio::test]
async fn what_was_reported_of_a_deleted_contact_is_erased() {
    let outbound = Outbound::new().await;
    outbound.webhook(URL, &["*"]).await;
    let contact = create_phone(&outbound.kit, PHONE).await;
    create_phone(&outbound.kit, "+5534991230002").await;
    outbound.drain().await;
    outbound.kit.app.contacts().delete(&outbound.kit.caller, contact).await.unwrap();
    assert_eq!(erasures(&outbound), 1, "recorded with the deletion");
    work(&outbound).await;
    assert_eq!(erasures(&outbound), 0);
    let mut all = outbound.all().await;
    all.sort_by_key(|delivery| delivery.id);
    let (gone, stays) = (&all[0], &all[1]);
    let detail = outbound.detail(gone.id).await;
    assert_eq!((detail.body, detail.attempt_log.len()), (None, 1));
    let deliveries = outbound.kit.app.deliveries();
    let company = outbound.kit.company.id;
    assert_eq!(code(deliveries.redeliver(company, gone.id).await), "BODY_ERASED");
    assert!(outbound.detail(stays.id).await.body.is_some());
    deliveries.redeliver(company, stays.id).await.unwrap();
    assert!(!is_kept(&outbound));
    let request = JournalRequest::parse(&Params::new(Vec::new())).unwrap();
    let journal = outbound.kit.app.events().journal(&outbound.kit.caller, &request).await.unwrap();
    assert_eq!(journal.entries.len(), 2, "an erased event stays in the journal");
    let entry = serde_json::to_value(&journal.entries[0]).unwrap();
    assert_eq!(entry["data"], serde_json::Value::Null);
}

/// R64.
#[tokio::test]
async fn what_is_still_pending_is_delivered_whole_and_then_erased() {
    let outbound = Outbound::new().await;
    outbound.webhook(URL, &["*"]).await;
    outbound.webhook(OTHER_URL, &["*"]).await;
    outbound.receiver(URL).then_status(500);
    let contact = create_phone(&outbound.kit, PHONE).await;
    outbound.drain().await;
    outbound.kit.app.contacts().delete(&outbound.kit.caller, contact).await.unwrap();
    work(&outbound).await;
    assert!(is_kept(&outbound));
    assert_eq!(reported(&outbound).await, serde_json::Value::Null, "and handed out no more");
    assert_eq!(erasures(&outbound), 1, "it waits");
    outbound.advance(30);
    outbound.drain().await;
    let bodies = outbound.receiver(URL).bodies();
    assert_eq!((bodies.len(), &bodies[0]), (2, &bodies[1]));
    assert_eq!(outbound.count(DeliveryStatus::Delivered).await, 2);
    // The wait grows, and has an end.
    let mut waited = 0;
    while erasures(&outbound) > 0 {
        work(&outbound).await;
        outbound.advance(10);
        waited += 10;
        assert!(waited <= 600, "the job never comes back");
    }
    assert!(!is_kept(&outbound));
}

/// D74.
#[tokio::test]
async fn what_waits_for_an_inactive_webhook_is_given_up_and_erased_with_its_contact() {
    let outbound = Outbound::new().await;
    let webhook = outbound.webhook(URL, &["*"]).await;
    let contact = create_phone(&outbound.kit, PHONE).await;
    outbound.change(webhook, json!({ "is_active": false })).await;
    outbound.kit.app.contacts().delete(&outbound.kit.caller, contact).await.unwrap();
    assert_eq!(outbound.only().await.status, DeliveryStatus::Failed, "with the deletion");
    outbound.change(webhook, json!({ "is_active": true })).await;
    outbound.drain().await;
    assert_eq!(outbound.receiver(URL).arrived(), 0);
    work(&outbound).await;
    assert_eq!((erasures(&outbound), is_kept(&outbound)), (0, false));
}

/// D74.
#[tokio::test]
async fn a_webhook_that_becomes_inactive_after_the_deletion_keeps_nothing() {
    let outbound = Outbound::new().await;
    let webhook = outbound.webhook(URL, &["*"]).await;
    let contact = create_phone(&outbound.kit, PHONE).await;
    outbound.kit.app.contacts().delete(&outbound.kit.caller, contact).await.unwrap();
    work(&outbound).await;
    assert_eq!(outbound.only().await.status, DeliveryStatus::Pending, "it goes on");
    outbound.change(webhook, json!({ "is_active": false })).await;
    outbound.advance(600);
    work(&outbound).await;
    assert_eq!(outbound.only().await.status, DeliveryStatus::Failed);
    assert_eq!((erasures(&outbound), is_kept(&outbound)), (0, false));
}

/// D74.
#[tokio::test]
async fn a_contact_with_more_deliveries_than_one_commit_cancels_is_deleted_with_all_of_them() {
    let outbound = Outbound::new().await;
    let inactive = outbound.webhook(URL, &["message.received"]).await;
    let messaging = super::messaging::Messaging::on(outbound.kit.clone()).await;
    let contact = create_phone(&outbound.kit, PHONE).await;
    for n in 0..450 {
        messaging.hear(&format!("m{n}"), "5534991230001", "Oi").await;
    }
    outbound.change(inactive, json!({ "is_active": false })).await;
    outbound.kit.app.contacts().delete(&outbound.kit.caller, contact).await.unwrap();
    let store = outbound.kit.app.store();
    let company = outbound.kit.company.id;
    assert_eq!(
        store.pending_deliveries(company, PendingDeliveries::Of(inactive), 1).await.unwrap(),
        []
    );
}

/// D74.
#[tokio::test]
async fn a_redelivery_that_the_worker_has_already_read_is_not_sent_after_the_deletion() {
    let outbound = Outbound::new().await;
    outbound.webhook(URL, &["*"]).await;
    let receiver = outbound.receiver(URL);
    let mut contacts = Vec::new();
    for n in 0..20 {
        contacts.push(create_phone(&outbound.kit, &format!("+55349912300{n:02}")).await);
    }
    outbound.drain().await;
    for delivery in outbound.all().await {
        let company = outbound.kit.company.id;
        outbound.kit.app.deliveries().redeliver(company, delivery.id).await.unwrap();
    }
    receiver.hold();
    let app = outbound.kit.app.clone();
    let draining = tokio::spawn(async move { app.deliveries().drain().await });
    receiver.has_got(20 + 16).await;
    // Sixteen are in flight, and four wait in memory.
    for contact in contacts {
        outbound.kit.app.contacts().delete(&outbound.kit.caller, contact).await.unwrap();
    }
    receiver.open();
    draining.await.unwrap();
    assert_eq!(receiver.arrived(), 20 + 16);
    assert_eq!(outbound.count(DeliveryStatus::Failed).await, 4);
    assert_eq!(outbound.count(DeliveryStatus::Delivered).await, 16, "their attempts are kept");
}

/// D74.
#[tokio::test]
async fn before_the_erasure_was_there_nothing_is_handed_out_either() {
    let outbound = Outbound::new().await;
    outbound.webhook(URL, &["*"]).await;
    let contact = create_phone(&outbound.kit, PHONE).await;
    outbound.drain().await;
    let delivery = outbound.all().await[0].id;
    assert!(reported(&outbound).await.is_object());
    outbound.kit.app.contacts().delete(&outbound.kit.caller, contact).await.unwrap();
    assert!(is_kept(&outbound), "nobody has erased it");
    assert_eq!(reported(&outbound).await, serde_json::Value::Null);
    let detail = outbound.detail(delivery).await;
    assert_eq!((detail.body, &detail.attempt_log[0].response), (None, &None));
    let again = outbound.kit.app.deliveries().redeliver(outbound.kit.company.id, delivery).await;
    assert_eq!(code(again), "BODY_ERASED");
}

/// D74.
#[tokio::test]
async fn a_redelivery_during_the_deletion_is_refused() {
    let store = FaultyStore::new(Arc::new(MemoryStore::new()));
    let kit = Kit::on(Arc::new(store)).await;
    kit.transport.otherwise(Ok(OutboundResponse::new(200, Vec::new())));
    let webhook = json!({"url": URL, "events": ["*"]});
    kit.app.webhooks().create(kit.company.id, &body(webhook)).await.unwrap();
    let contact = create_phone(&kit, PHONE).await;
    kit.app.deliveries().drain().await;
    let request = DeliveryRequest::parse(&Params::new(Vec::new())).unwrap();
    let all = kit.app.deliveries().list(kit.company.id, &request).await.unwrap();
    let (contacts, deliveries) = (kit.app.contacts(), kit.app.deliveries());
    // Both have read before one of them writes.
    let (deleted, again) = tokio::join!(contacts.delete(&kit.caller, contact), async {
        // A deletion reads more often than a redelivery.
        for _ in 0..3 {
            tokio::task::yield_now().await;
        }
        deliveries.redeliver(kit.company.id, all.items[0].id).await
    },);
    deleted.unwrap();
    assert_eq!(code(again), "BODY_ERASED");
}

#[tokio::test]
async fn an_erasure_of_many_events_takes_several_steps() {
    let outbound = Outbound::new().await;
    let messaging = super::messaging::Messaging::on(outbound.kit.clone()).await;
    let contact = create_phone(&outbound.kit, PHONE).await;
    for n in 0..700 {
        messaging.hear(&format!("m{n}"), "5534991230001", "Oi").await;
    }
    outbound.kit.app.contacts().delete(&outbound.kit.caller, contact).await.unwrap();
    work(&outbound).await;
    assert_eq!(erasures(&outbound), 0);
    let events = outbound.model.events(outbound.kit.company.id);
    assert!(events.len() > 700 && events.iter().all(|event| event.data.is_empty()));
}

/// R64.
#[tokio::test]
async fn an_erasure_that_fails_is_done_later() {
    let outbound = Outbound::new().await;
    let faulty = FaultyStore::new(Arc::new(outbound.model.clone()));
    let app = Kit::builder()
        .store(Arc::new(faulty.clone()))
        .ids(SeededIds::new(9))
        .clock(outbound.kit.clock.clone())
        .start()
        .await;
    let contact = create_phone(&outbound.kit, PHONE).await;
    outbound.kit.app.contacts().delete(&outbound.kit.caller, contact).await.unwrap();
    for failure in [StoreFailure::Unavailable, StoreFailure::UnknownAfter] {
        faulty.fail_nth(StoreOp::Outbox, 0, failure);
        let _failed = app.jobs().run_one().await;
        assert_eq!(erasures(&outbound), 1, "{failure:?}");
        outbound.advance(3_600);
    }
    faulty.heal();
    while app.jobs().run_one().await.unwrap() {}
    assert_eq!(erasures(&outbound), 0);
    assert!(!is_kept(&outbound));
}

/// R70.
#[tokio::test]
async fn what_is_older_than_the_retention_is_swept_and_what_is_pending_stays() {
    let model = MemoryStore::new();
    let mut settings = Settings::new("http://127.0.0.1:8080");
    settings.retention = Duration::from_secs(100);
    let builder = Kit::builder().store(Arc::new(model.clone())).settings(settings);
    let outbound = Outbound { kit: builder.build().await, model };
    let done = outbound.webhook(URL, &["*"]).await;
    let waits = outbound.webhook(OTHER_URL, &["*"]).await;
    create_phone(&outbound.kit, PHONE).await;
    outbound.change(waits, serde_json::json!({ "is_active": false })).await;
    outbound.advance(60);
    create_phone(&outbound.kit, "+5534991230002").await;
    outbound.drain().await;
    let sweep = async || while outbound.kit.app.deliveries().sweep().await.unwrap() {};
    outbound.advance(40);
    sweep().await;
    assert_eq!(outbound.all().await.len(), 3, "100 seconds are not over");
    outbound.advance(1);
    sweep().await;
    let left = outbound.all().await;
    assert_eq!(left.len(), 2);
    assert_eq!((left[0].webhook_id, left[0].status), (done, DeliveryStatus::Delivered));
    assert_eq!((left[1].webhook_id, left[1].status), (waits, DeliveryStatus::Pending));
    assert_eq!(outbound.model.events(outbound.kit.company.id).len(), 2, "one is still needed");
    outbound.kit.app.webhooks().delete(outbound.kit.company.id, waits).await.unwrap();
    outbound.advance(1_000);
    sweep().await;
    assert_eq!(outbound.all().await, []);
    assert_eq!(outbound.model.events(outbound.kit.company.id), []);
}

#[tokio::test]
async fn a_sweep_of_many_goes_in_steps_that_say_when_they_are_done() {
    let outbound = Outbound::new().await;
    outbound.webhook(URL, &["*"]).await;
    let messaging = super::messaging::Messaging::on(outbound.kit.clone()).await;
    for n in 0..600 {
        messaging.hear(&format!("m{n}"), "5534991230001", "Oi").await;
    }
    outbound.drain().await;
    outbound.advance(31 * 24 * 3600);
    let mut steps = 0;
    while outbound.kit.app.deliveries().sweep().await.unwrap() {
        steps += 1;
    }
    assert!((2..10).contains(&steps), "{steps}");
    assert_eq!(outbound.all().await, []);
    assert_eq!(outbound.model.events(outbound.kit.company.id), []);
}
