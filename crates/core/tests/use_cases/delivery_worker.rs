//! Times, signatures and outcomes of deliveries (3.3, 6.2, 6.3, 8, D52–D56).

use recado_core::deliveries::{DeliveryStatus, headers, sign, standard_signatures};
use recado_core::transport::{Method, OutboundResponse, TransportError};
use recado_core::webhooks::{SigningSecret, SigningSecrets};
use recado_testkit::kit::body;
use recado_testkit::transport::header;
use serde_json::json;

use super::delivery_worker_order::quiet;
use super::outbound::{OTHER_URL, Outbound, URL};
use super::{create_phone, update};

const PHONE: &str = "+5534991230001";

fn secret(text: &str) -> SigningSecret {
    SigningSecret::parse(text).unwrap()
}

/// 6.3.
#[tokio::test]
async fn a_delivery_is_tried_five_times_with_the_waits_of_the_schedule_and_then_given_up() {
    let outbound = Outbound::new().await;
    outbound.webhook(URL, &["*"]).await;
    let receiver = outbound.receiver(URL);
    receiver.otherwise_status(500);
    create_phone(&outbound.kit, PHONE).await;
    outbound.drain().await;
    for (n, wait) in [30, 120, 600, 1_800].into_iter().enumerate() {
        let attempts = n + 1;
        let delivery = outbound.only().await;
        assert_eq!((delivery.status, delivery.attempts), (DeliveryStatus::Pending, n as u32 + 1));
        let next = delivery.next_attempt_at.unwrap();
        assert_eq!(next.since(outbound.kit.app.now()).as_secs(), wait);
        outbound.advance(wait - 1);
        outbound.drain().await;
        assert_eq!(receiver.arrived(), attempts, "a second too early");
        outbound.advance(1);
        outbound.drain().await;
        assert_eq!(receiver.arrived(), attempts + 1);
    }
    let delivery = outbound.only().await;
    assert_eq!((delivery.status, delivery.attempts), (DeliveryStatus::Failed, 5));
    assert_eq!((delivery.next_attempt_at, delivery.delivered_at), (None, None));
    outbound.advance(100_000);
    outbound.drain().await;
    assert_eq!(receiver.arrived(), 5, "given up for good");
}

#[tokio::test]
async fn any_attempt_may_be_the_one_that_succeeds() {
    for failures in 0..5 {
        let outbound = Outbound::new().await;
        outbound.webhook(URL, &["*"]).await;
        for _ in 0..failures {
            outbound.receiver(URL).then(Err(TransportError::Refused));
        }
        create_phone(&outbound.kit, PHONE).await;
        for wait in [0, 30, 120, 600, 1_800] {
            outbound.advance(wait);
            outbound.drain().await;
        }
        let delivery = outbound.only().await;
        assert_eq!((delivery.status, delivery.attempts), (DeliveryStatus::Delivered, failures + 1));
        assert_eq!(outbound.receiver(URL).arrived(), failures as usize + 1);
    }
}

#[tokio::test]
async fn waits_count_from_the_end_of_the_failed_attempt() {
    let outbound = Outbound::new().await;
    outbound.webhook(URL, &["*"]).await;
    let clock = outbound.kit.clock.clone();
    outbound
        .receiver(URL)
        .otherwise_status(500)
        .on_request(move |_| clock.advance(std::time::Duration::from_secs(9)));
    create_phone(&outbound.kit, PHONE).await;
    let created = outbound.kit.app.now();
    outbound.drain().await;
    let delivery = outbound.only().await;
    assert_eq!(delivery.next_attempt_at.unwrap().since(created).as_secs(), 9 + 30);
    assert_eq!(delivery.created_at, created);
}

/// D53.
#[tokio::test]
async fn the_status_line_alone_decides() {
    for (status, delivered) in [
        (200, true),
        (201, true),
        (204, true),
        (299, true),
        (199, false),
        (300, false),
        (301, false),
        (304, false),
        (308, false),
        (400, false),
        (404, false),
        (410, false),
        (429, false),
        (500, false),
        (599, false),
    ] {
        let outbound = Outbound::new().await;
        outbound.webhook(URL, &["*"]).await;
        let body = b"{\"error\": \"no\"}".to_vec();
        outbound.receiver(URL).then(Ok(OutboundResponse::new(status, body)));
        create_phone(&outbound.kit, PHONE).await;
        outbound.drain().await;
        let expected = if delivered { DeliveryStatus::Delivered } else { DeliveryStatus::Pending };
        assert_eq!(outbound.only().await.status, expected, "{status}");
        assert_eq!(outbound.kit.transport.requests().len(), 1, "{status}: nothing is followed");
    }
}

/// D53.
#[tokio::test]
async fn every_failure_of_the_transport_is_a_failed_attempt() {
    for error in [
        TransportError::Dns,
        TransportError::Refused,
        TransportError::Tls,
        TransportError::TimedOut { after_sending: false },
        TransportError::TimedOut { after_sending: true },
        TransportError::Broken { after_sending: false },
        TransportError::Broken { after_sending: true },
    ] {
        let outbound = Outbound::new().await;
        outbound.webhook(URL, &["*"]).await;
        outbound.receiver(URL).then(Err(error.clone()));
        create_phone(&outbound.kit, PHONE).await;
        outbound.drain().await;
        let delivery = outbound.detail(outbound.only().await.id).await;
        let view = delivery.delivery;
        assert_eq!((view.status, view.attempts), (DeliveryStatus::Pending, 1), "{error}");
        assert_eq!(delivery.attempt_log[0].error, Some(error.to_string()));
    }
}

#[tokio::test]
async fn an_address_that_became_forbidden_is_not_called() {
    let outbound = Outbound::new().await;
    outbound.webhook(URL, &["*"]).await;
    outbound.kit.transport.forbid("receiver.example");
    create_phone(&outbound.kit, PHONE).await;
    outbound.drain().await;
    assert_eq!(outbound.kit.transport.requests(), []);
    let delivery = outbound.detail(outbound.only().await.id).await;
    assert_eq!(delivery.delivery.attempts, 1);
    assert_eq!(delivery.attempt_log[0].error.as_deref(), Some("the address is not allowed"));
    outbound.kit.transport.allow_all();
    outbound.advance(30);
    outbound.drain().await;
    assert_eq!(outbound.only().await.status, DeliveryStatus::Delivered);
}

/// D1.
#[tokio::test]
async fn an_attempt_is_a_post_with_the_headers_of_the_contract() {
    let outbound = Outbound::new().await;
    outbound.receiver(URL).otherwise_status(200);
    let (_, text) = outbound.create(json!({ "url": URL, "events": ["*"] })).await;
    create_phone(&outbound.kit, PHONE).await;
    outbound.drain().await;
    let request = outbound.receiver(URL).requests().pop().unwrap();
    let sent = String::from_utf8(request.body.clone()).unwrap();
    let id = outbound.only().await.id;
    assert_eq!((request.method, request.url.as_str()), (Method::Post, URL));
    assert_eq!(header(&request, "content-type"), Some("application/json"));
    assert!(header(&request, "user-agent").unwrap().starts_with("Recado-Webhooks/"));
    assert_eq!(header(&request, "x-service-event"), Some("contact.created"));
    assert_eq!(header(&request, "x-service-delivery"), Some(id.to_string().as_str()));
    let signature = sign(&secret(&text), &sent);
    assert_eq!(header(&request, "x-service-signature"), Some(signature.as_str()));
    for absent in ["x-service-signature-previous", "webhook-id", "webhook-signature"] {
        assert_eq!(header(&request, absent), None);
    }
    assert_eq!(request.timeout, outbound.kit.app.settings().webhook_timeout);
    assert_eq!(request.answer_limit, 64 * 1024);
    assert!(request.status_decides && !request.repeatable);
}

#[tokio::test]
async fn every_attempt_carries_the_same_bytes_whatever_happens_to_the_contact() {
    let outbound = Outbound::new().await;
    outbound.webhook(URL, &["contact.created"]).await;
    outbound.receiver(URL).otherwise_status(500);
    let contact = create_phone(&outbound.kit, PHONE).await;
    for (n, wait) in [0, 30, 120, 600, 1_800].into_iter().enumerate() {
        outbound.advance(wait);
        outbound.drain().await;
        update(&outbound.kit, contact, json!({ "name": format!("Ana {n}") })).await;
    }
    let bodies = outbound.receiver(URL).bodies();
    assert_eq!(bodies.len(), 5);
    assert!(bodies.iter().all(|body| *body == bodies[0]));
    let ids: Vec<Option<String>> = outbound
        .receiver(URL)
        .requests()
        .iter()
        .map(|request| header(request, "x-service-delivery").map(str::to_owned))
        .collect();
    assert!(ids.iter().all(|id| *id == ids[0] && id.is_some()));
}

#[tokio::test]
async fn after_a_rotation_both_secrets_sign_for_a_day_and_a_retry_goes_by_its_own_time() {
    let outbound = Outbound::new().await;
    let receiver = outbound.receiver(URL);
    receiver.otherwise_status(500);
    let (id, first) = outbound.create(json!({ "url": URL, "events": ["*"] })).await;
    create_phone(&outbound.kit, PHONE).await;
    outbound.drain().await;
    let (webhooks, company) = (outbound.kit.app.webhooks(), outbound.kit.company.id);
    let second = webhooks.rotate_secret(company, id, &body(json!({}))).await.unwrap().secret;
    outbound.advance(30);
    outbound.drain().await;
    let third = webhooks.rotate_secret(company, id, &body(json!({}))).await.unwrap().secret;
    outbound.advance(120);
    outbound.drain().await;
    outbound.advance(24 * 3_600);
    outbound.drain().await;
    let signed: Vec<(Option<String>, Option<String>)> = receiver
        .requests()
        .iter()
        .map(|request| {
            let of = |name| header(request, name).map(str::to_owned);
            (of("x-service-signature"), of("x-service-signature-previous"))
        })
        .collect();
    let sent = receiver.bodies().pop().unwrap();
    let by = |text: &str| Some(sign(&secret(text), &sent));
    let expected = [
        (by(&first), None),
        (by(&second), by(&first)),
        (by(&third), by(&second)),
        (by(&third), None),
    ];
    assert_eq!(signed, expected);
}

/// R62.
#[tokio::test]
async fn a_webhook_may_ask_for_the_standard_headers_beside_ours() {
    let outbound = Outbound::new().await;
    let receiver = outbound.receiver(URL);
    receiver.otherwise_status(500);
    let new = json!({ "url": URL, "events": ["*"], "standard_headers": true });
    let (_, text) = outbound.create(new).await;
    create_phone(&outbound.kit, PHONE).await;
    outbound.drain().await;
    outbound.advance(30);
    outbound.drain().await;
    let id = outbound.only().await.id;
    let requests = receiver.requests();
    assert_eq!(requests.len(), 2);
    let mut times = Vec::new();
    for request in &requests {
        assert_eq!(header(request, "webhook-id"), Some(id.to_string().as_str()));
        let seconds: i64 = header(request, "webhook-timestamp").unwrap().parse().unwrap();
        let sent = String::from_utf8(request.body.clone()).unwrap();
        let expected = standard_signatures(&secret(&text), id, seconds, &sent);
        let signatures = header(request, "webhook-signature").unwrap();
        assert_eq!(signatures.split(' ').collect::<Vec<_>>(), expected);
        assert!(header(request, "x-service-signature").is_some());
        times.push(seconds);
    }
    assert_eq!(times[1] - times[0], 30, "the time of the attempt, so that replays can be refused");
    let secrets = SigningSecrets::new(secret(&text));
    let now = outbound.kit.app.now();
    let sent = receiver.bodies().pop().unwrap();
    let event = recado_core::events::EventType::ContactCreated;
    assert_eq!(requests[1].headers, headers(&secrets, true, event, id, &sent, now));
}

#[tokio::test]
async fn a_retry_goes_where_the_webhook_leads_by_then() {
    let outbound = Outbound::new().await;
    let id = outbound.webhook(URL, &["*"]).await;
    outbound.receiver(URL).otherwise_status(500);
    outbound.receiver(OTHER_URL).otherwise_status(200);
    create_phone(&outbound.kit, PHONE).await;
    outbound.drain().await;
    outbound.change(id, json!({ "url": OTHER_URL, "events": ["message.sent"] })).await;
    outbound.advance(30);
    outbound.drain().await;
    assert_eq!((outbound.receiver(URL).arrived(), outbound.receiver(OTHER_URL).arrived()), (1, 1));
    assert_eq!(outbound.only().await.status, DeliveryStatus::Delivered);
}

#[tokio::test]
async fn what_waits_for_an_inactive_webhook_is_sent_once_it_is_active_again() {
    let outbound = Outbound::new().await;
    let id = outbound.webhook(URL, &["*"]).await;
    outbound.receiver(URL).then_status(500);
    create_phone(&outbound.kit, PHONE).await;
    outbound.drain().await;
    create_phone(&outbound.kit, "+5534991230002").await;
    outbound.change(id, json!({ "is_active": false })).await;
    for _ in 0..3 {
        outbound.advance(3_600);
        outbound.drain().await;
    }
    assert_eq!(outbound.receiver(URL).arrived(), 1);
    assert_eq!(outbound.count(DeliveryStatus::Pending).await, 2);
    outbound.change(id, json!({ "is_active": true })).await;
    outbound.drain().await;
    assert_eq!(outbound.count(DeliveryStatus::Delivered).await, 2);
    let attempts: Vec<u32> = outbound.all().await.iter().map(|d| d.attempts).collect();
    assert_eq!(attempts, [1, 2], "waiting counts for nothing");
}

#[tokio::test]
async fn nothing_more_is_sent_to_a_deleted_webhook() {
    let outbound = Outbound::new().await;
    let id = outbound.webhook(URL, &["*"]).await;
    let receiver = outbound.receiver(URL);
    receiver.hold();
    for n in 0..30 {
        create_phone(&outbound.kit, &format!("+55349912300{n:02}")).await;
    }
    let app = outbound.kit.app.clone();
    let draining = tokio::spawn(async move { app.deliveries().drain().await });
    receiver.has_got(16).await;
    outbound.kit.app.webhooks().delete(outbound.kit.company.id, id).await.unwrap();
    quiet().await;
    receiver.open();
    draining.await.unwrap();
    outbound.advance(100_000);
    outbound.drain().await;
    assert_eq!(receiver.arrived(), 16);
    assert_eq!(outbound.count(DeliveryStatus::Pending).await, 0);
    for delivery in outbound.all().await {
        assert!(delivery.attempts <= 1, "{delivery:?}");
    }
}

#[tokio::test]
async fn a_test_is_delivered_like_everything_else() {
    let outbound = Outbound::new().await;
    let id = outbound.webhook(URL, &["message.sent"]).await;
    outbound.kit.app.webhooks().test(outbound.kit.company.id, id).await.unwrap();
    outbound.drain().await;
    let request = outbound.receiver(URL).requests().pop().unwrap();
    assert_eq!(header(&request, "x-service-event"), Some("webhook.test"));
    assert_eq!(outbound.only().await.status, DeliveryStatus::Delivered);
}
