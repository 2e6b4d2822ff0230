//! Order and limits of deliveries: a contact's are sent in order, a webhook's within its bound, and
//! all others independently (D55).

use std::collections::BTreeMap;

use recado_core::deliveries::DeliveryStatus;
use recado_testkit::transport::status_answer;
use serde_json::Value;
use tokio::task::JoinHandle;

use super::create_phone;
use super::messaging::Messaging;
use super::outbound::{OTHER_URL, Outbound, URL};

/// Runs all tasks until none can go on.
pub(super) async fn quiet() {
    for _ in 0..500 {
        tokio::task::yield_now().await;
    }
}

fn drain(outbound: &Outbound) -> JoinHandle<()> {
    let app = outbound.kit.app.clone();
    tokio::spawn(async move { app.deliveries().drain().await })
}

/// The texts that each person wrote, in the order in which they were delivered.
pub(super) fn texts(bodies: &[String]) -> BTreeMap<String, Vec<String>> {
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for body in bodies {
        let body: Value = serde_json::from_str(body).unwrap();
        let who = body["data"]["contact"]["id"].as_str().unwrap().to_owned();
        texts.entry(who).or_default().push(body["data"]["content"].as_str().unwrap().to_owned());
    }
    texts
}

/// A webhook for messages, and what a few people write in turn.
async fn written(people: usize, each: usize) -> Outbound {
    let outbound = Outbound::new().await;
    outbound.webhook(URL, &["message.received"]).await;
    let messaging = Messaging::on(outbound.kit.clone()).await;
    for n in 0..each {
        for who in 0..people {
            let from = format!("55349912300{who:02}");
            messaging.hear(&format!("m{who}-{n}"), &from, &n.to_string()).await;
        }
    }
    outbound
}

fn in_order(each: usize) -> Vec<String> {
    (0..each).map(|n| n.to_string()).collect()
}

/// R69.
#[tokio::test]
async fn events_of_one_contact_go_one_after_another_and_contacts_beside_each_other() {
    let outbound = written(3, 5).await;
    let receiver = outbound.receiver(URL);
    receiver.hold();
    let draining = drain(&outbound);
    for round in 1..=5 {
        receiver.has_got(3 * round).await;
        quiet().await;
        assert_eq!(receiver.arrived(), 3 * round, "one of each contact at a time");
        receiver.let_go(3);
    }
    draining.await.unwrap();
    let texts = texts(&receiver.bodies());
    assert_eq!(texts.len(), 3);
    assert!(texts.values().all(|texts| *texts == in_order(5)), "{texts:?}");
}

/// R69.
#[tokio::test]
async fn a_failed_first_attempt_releases_the_contacts_next_event_at_once() {
    let outbound = written(1, 3).await;
    let receiver = outbound.receiver(URL);
    receiver.then(status_answer(500));
    outbound.drain().await;
    assert_eq!(texts(&receiver.bodies()).into_values().next().unwrap(), ["0", "1", "2"]);
    assert_eq!(outbound.count(DeliveryStatus::Delivered).await, 2);
    outbound.advance(30);
    outbound.drain().await;
    assert_eq!(texts(&receiver.bodies()).into_values().next().unwrap(), ["0", "1", "2", "0"]);
}

#[tokio::test]
async fn a_retry_in_flight_holds_up_no_first_attempt() {
    let outbound = written(1, 1).await;
    let receiver = outbound.receiver(URL);
    receiver.then(status_answer(500));
    outbound.drain().await;
    outbound.advance(30);
    receiver.hold();
    let draining = drain(&outbound);
    receiver.has_got(2).await;
    let messaging = Messaging::on(outbound.kit.clone()).await;
    messaging.hear("late", "5534991230000", "later").await;
    receiver.has_got(3).await;
    receiver.open();
    draining.await.unwrap();
    assert_eq!(outbound.count(DeliveryStatus::Delivered).await, 2);
}

/// D55.
#[tokio::test]
async fn at_most_sixteen_attempts_are_in_flight_to_one_webhook() {
    let outbound = Outbound::new().await;
    outbound.webhook(URL, &["*"]).await;
    let receiver = outbound.receiver(URL);
    receiver.hold();
    for n in 0..40 {
        create_phone(&outbound.kit, &format!("+55349912300{n:02}")).await;
    }
    let draining = drain(&outbound);
    receiver.has_got(16).await;
    quiet().await;
    assert_eq!((receiver.in_flight(), receiver.arrived()), (16, 16));
    receiver.let_go(5);
    receiver.has_got(21).await;
    quiet().await;
    assert_eq!((receiver.in_flight(), receiver.arrived()), (16, 21));
    receiver.open();
    draining.await.unwrap();
    assert_eq!((receiver.most_in_flight(), receiver.arrived()), (16, 40));
    assert_eq!(outbound.count(DeliveryStatus::Delivered).await, 40);
}

#[tokio::test]
async fn webhooks_at_one_address_have_bounds_of_their_own() {
    let outbound = Outbound::new().await;
    outbound.webhook(URL, &["*"]).await;
    outbound.webhook(URL, &["*"]).await;
    let receiver = outbound.receiver(URL);
    receiver.hold();
    for n in 0..20 {
        create_phone(&outbound.kit, &format!("+55349912300{n:02}")).await;
    }
    let draining = drain(&outbound);
    receiver.has_got(32).await;
    quiet().await;
    assert_eq!(receiver.in_flight(), 32);
    receiver.open();
    draining.await.unwrap();
    assert_eq!(receiver.arrived(), 40);
}

/// D55.
#[tokio::test]
async fn receivers_that_never_answer_hold_up_no_other() {
    let outbound = Outbound::new().await;
    let silent: Vec<String> = (0..20).map(|n| format!("https://silent-{n}.example/")).collect();
    for url in &silent {
        outbound.webhook(url, &["*"]).await;
        outbound.receiver(url).hold();
    }
    outbound.webhook(OTHER_URL, &["*"]).await;
    for n in 0..25 {
        create_phone(&outbound.kit, &format!("+55349912300{n:02}")).await;
    }
    let draining = drain(&outbound);
    outbound.receiver(OTHER_URL).has_got(25).await;
    for n in 25..50 {
        create_phone(&outbound.kit, &format!("+55349912300{n:02}")).await;
    }
    outbound.receiver(OTHER_URL).has_got(50).await;
    for url in &silent {
        assert!((1..=16).contains(&outbound.receiver(url).in_flight()), "{url}");
        outbound.receiver(url).open();
    }
    draining.await.unwrap();
    for url in &silent {
        assert_eq!(outbound.receiver(url).arrived(), 50, "{url}");
    }
}

#[tokio::test]
async fn deliveries_due_again_are_not_starved_by_new_ones() {
    let outbound = written(1, 1).await;
    let receiver = outbound.receiver(URL);
    receiver.then(status_answer(500));
    outbound.drain().await;
    outbound.advance(30);
    let messaging = Messaging::on(outbound.kit.clone()).await;
    for n in 0..60 {
        messaging.hear(&format!("n{n}"), &format!("55349914300{n:02}"), "new").await;
    }
    outbound.drain().await;
    let bodies = receiver.bodies();
    let again = bodies.iter().skip(1).position(|body| *body == bodies[0]).unwrap();
    assert!(again < 30, "it came as number {again}");
}

#[tokio::test]
async fn a_long_queue_is_sent_whole_and_in_order() {
    let outbound = written(7, 100).await;
    outbound.drain().await;
    let texts = texts(&outbound.receiver(URL).bodies());
    assert_eq!(texts.len(), 7);
    assert!(texts.values().all(|texts| *texts == in_order(100)));
    assert_eq!(outbound.model.events(outbound.kit.company.id).len(), 7 + 700);
}
