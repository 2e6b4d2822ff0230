//! Deliveries as the operator sees them: listing, reading, redelivering (D56a).

use recado_core::deliveries::{DeliveryFilter, DeliveryRequest, DeliveryStatus};
use recado_core::events::EventType;
use recado_core::ids::{DeliveryId, WebhookId};
use recado_core::page::PageRequest;
use recado_core::query::Params;
use recado_core::store::RecordsExt;
use recado_core::webhooks::{Webhook, WebhookState};
use serde_json::{Value, json};

use super::outbound::{OTHER_URL, Outbound, URL};
use super::{code, create_phone};

/// A webhook that fails, with one delivery that was given up after five attempts.
async fn given_up() -> (Outbound, WebhookId, DeliveryId) {
    let outbound = Outbound::new().await;
    let webhook = outbound.webhook(URL, &["*"]).await;
    outbound.receiver(URL).otherwise_status(500);
    create_phone(&outbound.kit, "+5534991230001").await;
    for wait in [0, 30, 120, 600, 1_800] {
        outbound.advance(wait);
        outbound.drain().await;
    }
    let delivery = outbound.only().await;
    assert_eq!((delivery.status, delivery.attempts), (DeliveryStatus::Failed, 5));
    (outbound, webhook, delivery.id)
}

/// 6.1.
#[tokio::test]
async fn the_body_is_the_envelope_around_the_events_own_bytes() {
    let outbound = Outbound::new().await;
    outbound.webhook(URL, &["*"]).await;
    super::create(&outbound.kit, json!({ "phone": "+5534991230001", "name": "João \"é\" 👩‍👩‍👧" }))
        .await;
    let event = outbound.model.events(outbound.kit.company.id).pop().unwrap();
    let delivery = outbound.only().await;
    let body = outbound.detail(delivery.id).await.body.unwrap();
    let timestamp = serde_json::to_value(event.at).unwrap();
    let expected = format!(
        "{{\"event\":\"contact.created\",\"timestamp\":{timestamp},\"company_id\":\"{}\",\
         \"delivery_id\":\"{}\",\"data\":{}}}",
        outbound.kit.company.id, delivery.id, event.data
    );
    assert_eq!(body, expected);
    outbound.drain().await;
    assert_eq!(outbound.receiver(URL).bodies(), [body]);
}

#[tokio::test]
async fn a_listing_is_newest_first_and_filters_go_together() {
    let outbound = Outbound::new().await;
    let one = outbound.webhook(URL, &["*"]).await;
    let two = outbound.webhook(OTHER_URL, &["contact.created"]).await;
    outbound.receiver(OTHER_URL).otherwise_status(500);
    for n in 1..=3 {
        outbound.advance(1);
        create_phone(&outbound.kit, &format!("+553499123000{n}")).await;
    }
    outbound.kit.app.webhooks().test(outbound.kit.company.id, one).await.unwrap();
    outbound.drain().await;
    let all = outbound.all().await;
    assert_eq!(all.len(), 7);
    assert!(all.windows(2).all(|p| (p[0].created_at, p[0].id) > (p[1].created_at, p[1].id)));
    let count = async |status, webhook, event| {
        outbound.listed(DeliveryFilter { status, webhook, event }).await.len()
    };
    let (pending, delivered) = (Some(DeliveryStatus::Pending), Some(DeliveryStatus::Delivered));
    assert_eq!(count(pending, None, None).await, 3);
    assert_eq!(count(delivered, None, None).await, 4);
    assert_eq!(count(delivered, Some(two), None).await, 0);
    assert_eq!(count(None, Some(one), None).await, 4);
    assert_eq!(count(None, None, Some(EventType::WebhookTest)).await, 1);
    assert_eq!(count(delivered, Some(one), Some(EventType::ContactCreated)).await, 3);
    let page = PageRequest { page: 2, limit: 4 };
    let request = DeliveryRequest { filter: DeliveryFilter::default(), page };
    let page = outbound.kit.app.deliveries().list(outbound.kit.company.id, &request).await.unwrap();
    assert_eq!((page.items.as_slice(), page.total), (&all[4..], 7));
}

#[test]
fn parameters_that_mean_nothing_are_refused() {
    for (name, value) in [
        ("status", "sent"),
        ("webhook_id", "x"),
        ("event", "nothing"),
        ("page", "0"),
        ("limit", "101"),
    ] {
        let params = Params::new(vec![(name.to_owned(), value.to_owned())]);
        assert!(DeliveryRequest::parse(&params).is_err(), "{name}={value}");
    }
    let params = [("status", "failed"), ("event", "webhook.test")];
    let params = params.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let request = DeliveryRequest::parse(&Params::new(params.to_vec())).unwrap();
    assert_eq!(request.filter.status, Some(DeliveryStatus::Failed));
    assert_eq!(request.filter.event, Some(EventType::WebhookTest));
}

#[tokio::test]
async fn a_delivery_of_another_company_is_missing() {
    let (outbound, _, id) = given_up().await;
    let (other, _) = outbound.kit.another_company("Outra").await;
    let deliveries = outbound.kit.app.deliveries();
    assert_eq!(code(deliveries.get(other.id, id).await), "NOT_FOUND");
    assert_eq!(code(deliveries.redeliver(other.id, id).await), "NOT_FOUND");
    let unknown = DeliveryId::new(uuid::Uuid::from_u128(1));
    assert_eq!(code(deliveries.get(outbound.kit.company.id, unknown).await), "NOT_FOUND");
}

#[tokio::test]
async fn what_is_pending_is_not_redelivered() {
    let outbound = Outbound::new().await;
    outbound.webhook(URL, &["*"]).await;
    create_phone(&outbound.kit, "+5534991230001").await;
    let id = outbound.only().await.id;
    let again = outbound.kit.app.deliveries().redeliver(outbound.kit.company.id, id).await;
    assert_eq!(code(again), "DELIVERY_PENDING");
}

/// R74, D56a.
#[tokio::test]
async fn a_redelivery_is_a_fresh_series_with_the_same_id_and_bytes() {
    let (outbound, _, id) = given_up().await;
    let deliveries = outbound.kit.app.deliveries();
    let created_at = outbound.detail(id).await.delivery.created_at;
    outbound.advance(1);
    let view = deliveries.redeliver(outbound.kit.company.id, id).await.unwrap();
    assert_eq!((view.id, view.status, view.attempts), (id, DeliveryStatus::Pending, 5));
    assert_eq!(view.created_at, created_at, "its place in the listing");
    assert_eq!(view.next_attempt_at, Some(outbound.kit.app.now()));
    // Five attempts more, with the same waits.
    for (n, wait) in [0, 30, 120, 600, 1_800].into_iter().enumerate() {
        if wait > 0 {
            outbound.advance(wait - 1);
            outbound.drain().await;
            assert_eq!(outbound.receiver(URL).arrived(), 5 + n, "not before its time");
            outbound.advance(1);
        }
        outbound.drain().await;
        assert_eq!(outbound.receiver(URL).arrived(), 6 + n);
    }
    let delivery = outbound.detail(id).await;
    let view = &delivery.delivery;
    assert_eq!((view.status, view.attempts), (DeliveryStatus::Failed, 10));
    let numbers: Vec<u32> = delivery.attempt_log.iter().map(|entry| entry.attempt).collect();
    assert_eq!(numbers, (1..=10).collect::<Vec<u32>>());
    let bodies = outbound.receiver(URL).bodies();
    assert!(bodies.iter().all(|body| *body == bodies[0]), "byte for byte");
    // A third time, with success, and then once more.
    outbound.receiver(URL).otherwise_status(204);
    for attempts in [11, 12] {
        deliveries.redeliver(outbound.kit.company.id, id).await.unwrap();
        outbound.drain().await;
        let view = outbound.only().await;
        assert_eq!((view.status, view.attempts), (DeliveryStatus::Delivered, attempts));
        assert_eq!(view.delivered_at, Some(outbound.kit.app.now()));
    }
}

/// R57.
#[tokio::test]
async fn what_a_deleted_webhook_was_owed_is_not_redelivered() {
    let (outbound, webhook, id) = given_up().await;
    let company = outbound.kit.company.id;
    outbound.kit.app.webhooks().delete(company, webhook).await.unwrap();
    assert_eq!(code(outbound.kit.app.deliveries().redeliver(company, id).await), "WEBHOOK_DELETED");
    assert!(outbound.detail(id).await.body.is_some(), "it can still be read");
    let kept = outbound.kit.app.store().get::<Webhook>((company, webhook)).await.unwrap().unwrap();
    assert_eq!(kept.state, WebhookState::Deleted);
}

/// R74.
#[tokio::test]
async fn a_redelivery_to_an_inactive_webhook_waits() {
    let (outbound, webhook, id) = given_up().await;
    outbound.receiver(URL).otherwise_status(200);
    outbound.change(webhook, json!({ "is_active": false })).await;
    outbound.kit.app.deliveries().redeliver(outbound.kit.company.id, id).await.unwrap();
    outbound.drain().await;
    assert_eq!(outbound.only().await.status, DeliveryStatus::Pending);
    outbound.change(webhook, json!({ "is_active": true })).await;
    outbound.drain().await;
    assert_eq!(outbound.only().await.status, DeliveryStatus::Delivered);
}

#[tokio::test]
async fn the_log_keeps_the_newest_fifty_attempts() {
    let (outbound, _, id) = given_up().await;
    for _ in 0..10 {
        outbound.kit.app.deliveries().redeliver(outbound.kit.company.id, id).await.unwrap();
        for wait in [0, 30, 120, 600, 1_800] {
            outbound.advance(wait);
            outbound.drain().await;
        }
    }
    let delivery = outbound.detail(id).await;
    assert_eq!(delivery.delivery.attempts, 55);
    let numbers: Vec<u32> = delivery.attempt_log.iter().map(|entry| entry.attempt).collect();
    assert_eq!(numbers, (6..=55).collect::<Vec<u32>>());
}

#[tokio::test]
async fn each_attempt_is_logged_with_what_came_back() {
    use recado_core::transport::{OutboundResponse, TransportError};
    let outbound = Outbound::new().await;
    outbound.webhook(URL, &["*"]).await;
    let long = "é".repeat(1_000).into_bytes();
    let receiver = outbound.receiver(URL);
    receiver
        .then(Ok(OutboundResponse::new(503, b"not now".to_vec())))
        .then(Err(TransportError::TimedOut { after_sending: true }))
        .then(Ok(OutboundResponse::new(301, vec![0xff, b'a', 0])))
        .then(Ok(OutboundResponse::new(200, long)));
    create_phone(&outbound.kit, "+5534991230001").await;
    let clock = outbound.kit.clock.clone();
    receiver.on_request(move |_| clock.advance(std::time::Duration::from_millis(250)));
    let began = outbound.kit.app.now();
    for wait in [0, 30, 120, 600] {
        outbound.advance(wait);
        outbound.drain().await;
    }
    let log: Value =
        serde_json::to_value(outbound.detail(outbound.only().await.id).await.attempt_log).unwrap();
    let log = log.as_array().unwrap();
    assert_eq!(log.len(), 4);
    assert_eq!(log[0]["started_at"], serde_json::to_value(began).unwrap());
    assert!(log.iter().all(|entry| entry["duration_ms"] == 250));
    assert_eq!((&log[0]["status_code"], &log[0]["response"]), (&json!(503), &json!("not now")));
    assert_eq!(log[0]["error"], Value::Null);
    assert_eq!((&log[1]["status_code"], &log[1]["response"]), (&Value::Null, &Value::Null));
    assert_eq!(log[1]["error"], "timed out");
    assert_eq!(
        (&log[2]["status_code"], &log[2]["response"]),
        (&json!(301), &json!("\u{fffd}a\u{fffd}"))
    );
    assert_eq!(log[3]["response"].as_str().unwrap().len(), 1_024);
    assert_eq!(outbound.only().await.status, DeliveryStatus::Delivered);
}

/// D56a.
#[tokio::test]
async fn all_failed_deliveries_of_a_webhook_are_sent_again_and_no_others() {
    let (outbound, webhook, failed) = given_up().await;
    let other = outbound.webhook(OTHER_URL, &["*"]).await;
    outbound.receiver(URL).otherwise_status(200);
    create_phone(&outbound.kit, "+5534991230002").await;
    outbound.drain().await;
    let (deliveries, company) = (outbound.kit.app.deliveries(), outbound.kit.company.id);
    let none = deliveries.redeliver_failed(company, other).await.unwrap();
    assert_eq!((none.redelivered, none.passed_over, none.left), (0, 0, 0));
    let done = deliveries.redeliver_failed(company, webhook).await.unwrap();
    assert_eq!((done.redelivered, done.passed_over, done.left), (1, 0, 0));
    outbound.drain().await;
    assert_eq!(outbound.detail(failed).await.delivery.status, DeliveryStatus::Delivered);
}
