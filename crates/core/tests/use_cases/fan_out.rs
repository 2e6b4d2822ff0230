//! From events to deliveries, in the commit that causes them (6.1, D52, D52a).

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use recado_core::deliveries::DeliveryStatus;
use recado_core::ids::WebhookId;
use recado_core::{Ids, Recado, Timestamp};
use recado_testkit::kit::body;
use recado_testkit::{FaultyStore, Kit, MemoryStore, SeededIds, StoreFailure, StoreOp};
use serde_json::json;
use uuid::Uuid;

use super::create_phone;
use super::messaging::Messaging;
use super::outbound::{OTHER_URL, Outbound, URL};

const NONE: &[&str] = &[];

#[tokio::test]
async fn each_event_goes_to_each_webhook_that_is_subscribed_to_it() {
    let outbound = Outbound::new().await;
    let events = [
        "contact.created",
        "message.received",
        "message.sent",
        "message.status_updated",
        "contact.opted_out",
    ];
    let mut only: Vec<(WebhookId, &str)> = Vec::new();
    for event in events {
        only.push((outbound.webhook(URL, &[event]).await, event));
    }
    let all = outbound.webhook(URL, &["*"]).await;
    let two = outbound.webhook(URL, &["message.sent", "contact.opted_out"]).await;
    let messaging = Messaging::on(outbound.kit.clone()).await;
    messaging.hear("m1", "5534991230001", "Oi").await;
    let sent = messaging.send("+5534991230001", "Olá").await.unwrap();
    messaging.status(sent.wamid.as_deref().unwrap(), "read").await;
    messaging.hear("m2", "5534991230001", "parar").await;
    let events_of_all = outbound.types_for(all).await;
    let mut seen = events_of_all.clone();
    seen.sort_unstable();
    seen.dedup();
    let mut expected = events.to_vec();
    expected.sort_unstable();
    assert_eq!(seen, expected, "everything happened");
    for (webhook, event) in only {
        let wanted: Vec<&str> = events_of_all.iter().copied().filter(|e| *e == event).collect();
        assert_eq!(outbound.types_for(webhook).await, wanted);
    }
    assert_eq!(outbound.types_for(two).await, ["message.sent", "contact.opted_out"]);
    let written: Vec<&str> = outbound
        .model
        .events(outbound.kit.company.id)
        .iter()
        .map(|event| event.event_type.as_str())
        .collect();
    assert_eq!(events_of_all, written, "each event once, in order");
}

#[tokio::test]
async fn a_delivery_reports_its_event_at_the_time_of_the_change() {
    let outbound = Outbound::new().await;
    let webhook = outbound.webhook(URL, &["*"]).await;
    outbound.advance(7);
    create_phone(&outbound.kit, "+5534991230001").await;
    let event = outbound.model.events(outbound.kit.company.id).pop().unwrap();
    let delivery = outbound.only().await;
    assert_eq!((delivery.webhook_id, delivery.event), (webhook, event.event_type));
    assert_eq!((delivery.created_at, delivery.next_attempt_at), (event.at, Some(event.at)));
    assert_eq!((delivery.attempts, delivery.delivered_at), (0, None));
}

/// R59.
#[tokio::test]
async fn inactive_webhooks_and_small_plans_make_no_deliveries() {
    let outbound = Outbound::new().await;
    let id = outbound.webhook(URL, &["*"]).await;
    let new = async |n: u32| create_phone(&outbound.kit, &format!("+553499123000{n}")).await;
    new(1).await;
    outbound.change(id, json!({ "is_active": false })).await;
    new(2).await;
    assert_eq!(outbound.all().await.len(), 1);
    outbound.change(id, json!({ "is_active": true })).await;
    new(3).await;
    assert_eq!(outbound.all().await.len(), 2, "nothing is made up for");
    outbound.set_plan("starter").await;
    new(4).await;
    assert_eq!(outbound.all().await.len(), 2);
    outbound.set_plan("professional").await;
    new(5).await;
    assert_eq!(outbound.all().await.len(), 3);
    // Every event is in the journal all the same.
    assert_eq!(outbound.model.events(outbound.kit.company.id).len(), 5);
}

#[tokio::test]
async fn a_webhook_made_on_a_small_plan_fires_once_the_plan_grows() {
    let outbound = Outbound::new().await;
    outbound.set_plan("starter").await;
    let id = outbound.webhook(URL, &["*"]).await;
    create_phone(&outbound.kit, "+5534991230001").await;
    assert_eq!(outbound.types_for(id).await, NONE);
    outbound.set_plan("enterprise").await;
    create_phone(&outbound.kit, "+5534991230002").await;
    assert_eq!(outbound.types_for(id).await, ["contact.created"]);
}

#[tokio::test]
async fn a_change_of_subscription_counts_from_the_next_event_on() {
    let outbound = Outbound::new().await;
    let id = outbound.webhook(URL, &["message.sent"]).await;
    create_phone(&outbound.kit, "+5534991230001").await;
    outbound.change(id, json!({ "events": ["contact.created"] })).await;
    create_phone(&outbound.kit, "+5534991230002").await;
    outbound.change(id, json!({ "events": ["message.sent"] })).await;
    create_phone(&outbound.kit, "+5534991230003").await;
    assert_eq!(outbound.types_for(id).await.len(), 1);
}

#[tokio::test]
async fn webhooks_of_one_company_hear_nothing_of_another() {
    let outbound = Outbound::new().await;
    let id = outbound.webhook(URL, &["*"]).await;
    let (_, caller) = outbound.kit.another_company("Outra").await;
    let new = body(json!({ "phone": "+5534991230001" }));
    outbound.kit.app.contacts().create(&caller, &new).await.unwrap();
    assert_eq!(outbound.types_for(id).await, NONE);
}

/// A core of its own on the same data, as another process has.
async fn another_process(outbound: &Outbound, seed: u64) -> Recado {
    let store = Arc::new(outbound.model.another_process());
    let builder = Kit::builder().store(store).ids(SeededIds::new(seed));
    let kit = &outbound.kit;
    builder.clock(kit.clock.clone()).transport(kit.transport.clone()).start().await
}

#[tokio::test]
async fn what_another_process_does_to_webhooks_counts_from_the_next_commit_on() {
    let outbound = Outbound::new().await;
    let other = another_process(&outbound, 9).await;
    let company = outbound.kit.company.id;
    let new = async |n: u32| create_phone(&outbound.kit, &format!("+553499123000{n}")).await;
    let made = async |expected: usize| assert_eq!(outbound.all().await.len(), expected);
    // Both have cached that there is no route.
    new(0).await;
    made(0).await;
    let webhook = body(json!({ "url": OTHER_URL, "events": ["*"] }));
    let id = other.webhooks().create(company, &webhook).await.unwrap().webhook.id;
    new(1).await;
    made(1).await;
    other.webhooks().create(company, &webhook).await.unwrap();
    new(2).await;
    made(3).await;
    let inactive = body(json!({ "is_active": false }));
    other.webhooks().change(company, id, &inactive).await.unwrap();
    new(3).await;
    made(4).await;
    other.access().change_company(company, &body(json!({ "plan": "starter" }))).await.unwrap();
    new(4).await;
    made(4).await;
    assert_eq!(outbound.model.events(company).len(), 5, "no event is lost or doubled");
}

/// R73.
#[tokio::test]
async fn webhooks_that_change_while_events_happen_lose_no_event() {
    let outbound = Outbound::new().await;
    let store = Arc::new(FaultyStore::new(Arc::new(outbound.model.another_process())));
    let writer =
        Kit::builder().store(store).ids(SeededIds::new(9)).clock(outbound.kit.clock.clone());
    let writer = writer.start().await;
    let always = outbound.webhook(URL, &["*"]).await;
    let creates = async {
        for n in 0..60 {
            let new = body(json!({ "phone": format!("+55349912300{n:02}") }));
            writer.contacts().create(&outbound.kit.caller, &new).await.unwrap();
        }
    };
    let changes = async {
        for _ in 0..40 {
            outbound.webhook(OTHER_URL, &["message.sent"]).await;
            tokio::task::yield_now().await;
        }
    };
    tokio::join!(creates, changes);
    assert_eq!(outbound.types_for(always).await.len(), 60);
    assert_eq!(outbound.all().await.len(), 60);
}

/// D52.
#[tokio::test]
async fn what_is_not_committed_is_not_delivered() {
    let outbound = Outbound::new().await;
    let faulty = FaultyStore::new(Arc::new(outbound.model.clone()));
    let app = Kit::builder().store(Arc::new(faulty.clone())).ids(SeededIds::new(9)).start().await;
    outbound.webhook(URL, &["*"]).await;
    for (failure, made) in [
        (StoreFailure::Unavailable, 0),
        (StoreFailure::UnknownBefore, 0),
        (StoreFailure::UnknownAfter, 1),
    ] {
        faulty.fail_nth(StoreOp::Commit, 0, failure);
        let new = body(json!({ "phone": format!("+553499123000{made}") }));
        assert!(app.contacts().create(&outbound.kit.caller, &new).await.is_err());
        assert_eq!(outbound.all().await.len(), made, "{failure:?}");
        assert_eq!(outbound.model.events(outbound.kit.company.id).len(), made, "{failure:?}");
    }
}

/// Ids that count how many were asked for at each time.
#[derive(Debug)]
struct CountedIds(SeededIds, Arc<AtomicU32>);

impl Ids for CountedIds {
    fn uuid(&self, now: Timestamp) -> Uuid {
        self.1.fetch_add(1, Ordering::SeqCst);
        self.0.uuid(now)
    }

    fn fill(&self, bytes: &mut [u8]) {
        self.0.fill(bytes);
    }
}

#[tokio::test]
async fn the_id_of_a_delivery_carries_the_time_of_its_event() {
    let made = Arc::new(AtomicU32::new(0));
    let model = MemoryStore::new();
    let ids = CountedIds(SeededIds::new(3), made.clone());
    let kit = Kit::builder().store(Arc::new(model.clone())).ids(ids).build().await;
    let outbound = Outbound { kit, model };
    outbound.webhook(URL, &["*"]).await;
    outbound.webhook(URL, &["*"]).await;
    outbound.advance(61);
    let before = made.load(Ordering::SeqCst);
    create_phone(&outbound.kit, "+5534991230001").await;
    assert!(made.load(Ordering::SeqCst) >= before + 2);
    for delivery in outbound.all().await {
        let (seconds, nanos) = delivery.id.uuid().get_timestamp().unwrap().to_unix();
        let millis = seconds as i64 * 1_000 + i64::from(nanos) / 1_000_000;
        assert_eq!(millis, delivery.created_at.millis());
    }
}

/// R59.
#[tokio::test]
async fn what_is_pending_goes_on_when_the_plan_falls() {
    let outbound = Outbound::new().await;
    outbound.receiver(URL).otherwise_status(200);
    outbound.webhook(URL, &["*"]).await;
    create_phone(&outbound.kit, "+5534991230001").await;
    outbound.set_plan("starter").await;
    outbound.drain().await;
    assert_eq!(outbound.only().await.status, DeliveryStatus::Delivered);
}
