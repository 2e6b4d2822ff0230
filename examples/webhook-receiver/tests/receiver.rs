//! The receiver, called with deliveries as they are sent.

use axum::Router;
use axum::body::Body;
use axum::http::{Request, StatusCode};
use recado_core::Timestamp;
use recado_core::deliveries::{envelope, headers};
use recado_core::events::EventType;
use recado_core::ids::{CompanyId, DeliveryId};
use recado_core::webhooks::{SigningSecret, SigningSecrets};
use tokio::sync::mpsc::{Receiver as Events, channel};
use tower::ServiceExt;
use uuid::Uuid;
use webhook_receiver::{Event, Receiver, Secrets, receiver};

const AT: Timestamp = Timestamp::from_millis(1_763_000_000_000);

fn secrets() -> SigningSecrets {
    SigningSecrets::new(SigningSecret::from_random([1; 32]))
}

/// A receiver with room for `waiting` events.
fn started(waiting: usize) -> (Router, Events<Event>) {
    let (sender, events) = channel(waiting);
    let held = Secrets::new([secrets().current.expose().to_owned()]);
    (receiver(Receiver::new(held, 100, sender)), events)
}

fn delivery(number: u128) -> (String, Vec<(String, String)>) {
    let (company, id) = (CompanyId::new(Uuid::nil()), DeliveryId::new(Uuid::from_u128(number)));
    let body = envelope(EventType::MessageReceived, AT, company, id, r#"{"content":"Olá"}"#);
    let headers = headers(&secrets(), false, EventType::MessageReceived, id, &body, AT);
    (body, headers)
}

async fn post(app: &Router, body: &str, headers: &[(String, String)]) -> StatusCode {
    let mut request = Request::post("/");
    for (name, value) in headers {
        request = request.header(name, value);
    }
    let request = request.body(Body::from(body.to_owned())).expect("a request");
    app.clone().oneshot(request).await.expect("infallible").status()
}

#[tokio::test]
async fn a_delivery_is_handed_over_once_however_often_it_comes() {
    let (app, mut events) = started(10);
    let (body, headers) = delivery(1);
    for _ in 0..3 {
        assert_eq!(post(&app, &body, &headers).await, StatusCode::OK);
    }
    let event = events.try_recv().expect("an event");
    assert_eq!((event.event.as_str(), &event.data["content"]), ("message.received", &"Olá".into()));
    assert!(events.try_recv().is_err(), "it came twice");
}

#[tokio::test]
async fn the_signed_id_counts_and_not_the_one_of_the_header() {
    let (app, mut events) = started(10);
    let (body, mut headers) = delivery(1);
    assert_eq!(post(&app, &body, &headers).await, StatusCode::OK);
    headers.retain(|(name, _)| name != "x-service-delivery");
    headers.push(("x-service-delivery".to_owned(), Uuid::from_u128(2).to_string()));
    assert_eq!(post(&app, &body, &headers).await, StatusCode::OK);
    assert!(events.try_recv().is_ok() && events.try_recv().is_err());
}

#[tokio::test]
async fn what_is_not_signed_is_not_read() {
    let (app, mut events) = started(10);
    let (body, headers) = delivery(1);
    for changed in [body.replace("Olá", "Ola"), format!("{body} "), "no JSON".to_owned()] {
        assert_eq!(post(&app, &changed, &headers).await, StatusCode::UNAUTHORIZED);
    }
    assert_eq!(post(&app, &body, &[]).await, StatusCode::UNAUTHORIZED);
    assert!(events.try_recv().is_err());
}

#[tokio::test]
async fn what_finds_no_room_is_taken_when_it_comes_again() {
    let (app, mut events) = started(1);
    let ((first, its), (second, theirs)) = (delivery(1), delivery(2));
    assert_eq!(post(&app, &first, &its).await, StatusCode::OK);
    assert_eq!(post(&app, &second, &theirs).await, StatusCode::SERVICE_UNAVAILABLE);
    let taken = events.try_recv().expect("the first");
    assert_eq!(taken.delivery_id, Uuid::from_u128(1).to_string());
    assert_eq!(post(&app, &second, &theirs).await, StatusCode::OK);
    assert_eq!(events.try_recv().expect("the second").delivery_id, Uuid::from_u128(2).to_string());
}

#[tokio::test]
async fn a_body_too_large_to_be_one_is_not_read_to_its_end() {
    let (app, _events) = started(1);
    let body = "x".repeat(webhook_receiver::MAX_BODY + 1);
    assert_eq!(post(&app, &body, &[]).await, StatusCode::PAYLOAD_TOO_LARGE);
}
