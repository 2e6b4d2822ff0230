//! Webhooks of gateways: verified, routed, and stored once (D68).

use recado_core::connections::ConnectionStatus;
use recado_core::gateway::{Addressee, GatewayEvent, Received, WebhookRefused};
use recado_core::inbox::ProviderWebhookError;
use recado_core::messages::MessageStatus;
use recado_core::{Error, Rejection};
use recado_testkit::kit::body;
use recado_testkit::{Kit, StoreFailure, StoreOp};
use serde_json::{Value, json};
use uuid::Uuid;

use super::code;
use super::gateway_scene::*;

/// So many messages of one person.
fn many(count: usize) -> Vec<Received> {
    here((0..count).map(|n| heard(&format!("m{n}"), PEER)))
}

async fn total(scene: &Scene) -> u64 {
    let params = recado_core::query::Params::default();
    let listed = scene.kit.app.messages().list(&scene.kit.caller, &params).await.unwrap();
    listed.pagination.total
}

#[tokio::test]
async fn what_a_call_reports_is_taken_in_its_order() {
    let scene = scene("waha").await;
    let sent = scene.messaging.send(PHONE, "Oi").await.unwrap();
    let events = vec![
        heard("m1", PEER),
        reported(sent.wamid.as_deref().unwrap(), MessageStatus::Delivered),
        Ok(GatewayEvent::Connection(ConnectionStatus::Disconnected)),
        Err("a message without an id".to_owned()),
        heard("m1", PEER),
    ];
    let taken = scene.call(here(events)).await.unwrap();
    assert_eq!((taken.stored, taken.passed_over, taken.refused_in_all), (3, 1, 1));
    assert_eq!(taken.refused, ["a message without an id"]);
    assert_eq!(scene.message(sent.message_id).await["status"], "delivered");
    assert_eq!(scene.status().await, ConnectionStatus::Disconnected);
    assert_eq!(scene.reported("message.received").len(), 1);
}

#[tokio::test]
async fn a_call_that_cannot_be_verified_changes_nothing() {
    let scene = scene("waha").await;
    let id = scene.connection().to_string();
    let rows = scene.model.row_count();
    for (refused, code_of) in [
        (WebhookRefused::Unauthorized, "UNAUTHORIZED"),
        (WebhookRefused::Malformed, "INVALID_PAYLOAD"),
    ] {
        scene.kit.provider.set_received(Err(refused));
        assert_eq!(code(scene.call_of(&id).await), code_of);
    }
    scene.kit.provider.set_admit(Err(WebhookRefused::Unauthorized));
    scene.kit.provider.set_received(Ok(many(1)));
    let refused = scene.kit.app.inbox().called(&id, &webhook()).await;
    assert_eq!(code(refused), "UNAUTHORIZED");
    assert_eq!(scene.model.row_count(), rows);
}

#[tokio::test]
async fn an_address_that_no_gateway_calls_is_not_there() {
    let scene = scene("waha").await;
    let simulated = connect(&scene.kit, "simulated", json!({})).await.to_string();
    scene.kit.provider.set_received(Ok(many(1))).set_handshake(Ok("hello".to_owned()));
    let nobody = Uuid::from_u128(1).to_string();
    for id in ["", "x", "../etc", &nobody, &simulated] {
        assert_eq!(code(scene.call_of(id).await), "NOT_FOUND", "{id}");
    }
    for id in ["", &nobody] {
        let verified = scene.kit.app.inbox().verify_address(id, &webhook()).await;
        assert_eq!(code(verified), "NOT_FOUND", "{id}");
    }
    assert_eq!(total(&scene).await, 0);
}

#[tokio::test]
async fn an_address_is_verified_as_its_gateway_wants_it() {
    let scene = scene("cloud_api").await;
    let inbox = scene.kit.app.inbox();
    let id = scene.connection().to_string();
    assert_eq!(code(inbox.verify_address(&id, &webhook()).await), "NOT_FOUND");
    scene.kit.provider.set_handshake(Err(WebhookRefused::Unauthorized));
    assert_eq!(code(inbox.verify_address(&id, &webhook()).await), "UNAUTHORIZED");
    scene.kit.provider.set_handshake(Ok("1158201444".to_owned()));
    assert_eq!(inbox.verify_address(&id, &webhook()).await.unwrap(), "1158201444");
}

/// A connection of the official API with this number.
async fn numbered(scene: &Scene, number: &str, secret: &str) -> String {
    let mut own = body(settings("cloud_api"));
    own.insert("phone_number_id".to_owned(), json!(number));
    own.insert("app_secret".to_owned(), json!(secret));
    connect(&scene.kit, "cloud_api", json!({ "settings": own })).await.to_string()
}

/// The connection of each message, oldest first.
async fn through(scene: &Scene) -> Vec<(Value, Value)> {
    let messages = scene.messaging.messages().await.into_iter().rev();
    messages.map(|message| (message["wamid"].clone(), message["connection_id"].clone())).collect()
}

/// R120.
#[tokio::test]
async fn one_address_serves_all_the_numbers_of_an_app() {
    let scene = scene("cloud_api").await;
    let second = numbered(&scene, "22", "top-secret").await;
    numbered(&scene, "33", "another").await;
    let taken = scene.call(vec![
        to_number("11", heard("m1", PEER)),
        to_number("22", heard("m2", PEER)),
        to_number("33", heard("m3", PEER)),
        to_number("44", heard("m4", PEER)),
        Received::here(heard("m5", PEER)),
    ]);
    let taken = taken.await.unwrap();
    assert_eq!((taken.stored, taken.refused_in_all), (3, 2));
    let first = scene.connection().to_string();
    let mut through = through(&scene).await;
    through.sort_by_key(|(id, _)| id.to_string());
    let wanted = [("m1", &first), ("m2", &second), ("m5", &first)];
    assert_eq!(through, wanted.map(|(id, connection)| (json!(id), json!(connection))));
}

#[tokio::test]
async fn nothing_is_routed_to_another_company() {
    let scene = scene("cloud_api").await;
    let (other, caller) = scene.kit.another_company("Outra").await;
    let theirs = Kit { company: other, caller, ..scene.kit.clone() };
    let mut own = body(settings("cloud_api"));
    own.insert("phone_number_id".to_owned(), json!("22"));
    connect(&theirs, "cloud_api", json!({ "settings": own })).await;
    let account = Addressee::Account("a".to_owned());
    let state = Ok(GatewayEvent::Connection(ConnectionStatus::Disconnected));
    let events = vec![to_number("22", heard("m1", PEER)), Received { to: account, event: state }];
    let taken = scene.call(events).await.unwrap();
    assert_eq!((taken.stored, taken.refused_in_all), (1, 1));
    let params = recado_core::query::Params::default();
    let listed = theirs.app.messages().list(&theirs.caller, &params).await.unwrap();
    assert_eq!(listed.pagination.total, 0);
    let connections = theirs.app.connections().all(theirs.company.id).await.unwrap();
    let shown = serde_json::to_value(connections).unwrap();
    assert_eq!(shown[0]["status"], "connected");
    assert_eq!(scene.status().await, ConnectionStatus::Disconnected);
}

#[tokio::test]
async fn hundreds_of_events_are_taken_whatever_is_among_them() {
    let scene = scene("waha").await;
    let mut events = many(250);
    for n in (0..250).step_by(10) {
        events[n] = Received::here(Err(format!("no {n}")));
    }
    events[101] = Received::here(Ok(GatewayEvent::GroupsChanged));
    let taken = scene.call(events).await.unwrap();
    assert_eq!((taken.stored, taken.refused_in_all, taken.refused.len()), (225, 25, 20));
    assert_eq!(total(&scene).await, 224);
    let newest = scene.messaging.messages().await;
    let ids: Vec<&str> = newest.iter().take(3).map(|m| m["wamid"].as_str().unwrap()).collect();
    assert_eq!(ids, ["m249", "m248", "m247"]);
}

#[tokio::test]
async fn a_call_that_the_store_fails_is_answered_as_failed_and_taken_whole_when_it_comes_again() {
    for failure in [StoreFailure::Unavailable, StoreFailure::UnknownAfter] {
        for nth in 0..3 {
            let scene = scene("waha").await;
            scene.store.fail_nth(StoreOp::Commit, nth, failure);
            let failed = scene.call(many(250)).await;
            assert!(matches!(failed, Err(Error::Store(_))), "{failed:?}");
            let before = total(&scene).await;
            assert!(before < 250 || failure == StoreFailure::UnknownAfter, "{before}");
            scene.store.heal();
            let taken = scene.call(many(250)).await.unwrap();
            assert_eq!(taken.passed_over as u64, before, "{failure:?} {nth}");
            assert_eq!(total(&scene).await, 250);
            assert_eq!(scene.reported("message.received").len(), 250);
            assert_eq!(scene.reported("contact.created").len(), 1);
        }
    }
}

#[tokio::test]
async fn a_call_whose_reading_fails_is_answered_as_failed() {
    for read in ["connection_anywhere", "row of Connection", "referred"] {
        let scene = scene("waha").await;
        scene.store.fail_read(read);
        let failed = scene.call(many(3)).await;
        assert!(matches!(failed, Err(Error::Store(_))), "{read}: {failed:?}");
        scene.store.heal();
        assert_eq!(scene.call(many(3)).await.unwrap().stored, 3);
    }
}

#[tokio::test]
async fn a_call_about_contacts_that_cannot_be_read_is_answered_as_that_and_keeps_nothing() {
    let scene = scene("waha").await;
    scene.store.fail_read("channel_contacts");
    let failed = scene.call(many(3)).await;
    let expected = ProviderWebhookError::ContactStateUnavailable;
    assert!(matches!(failed, Err(Error::Rejected(e)) if e == expected), "{failed:?}");
    assert_eq!(total(&scene).await, 0);
    scene.store.heal();
    assert_eq!(scene.call(many(3)).await.unwrap().stored, 3);
}

#[tokio::test]
async fn calls_that_come_at_once_with_the_same_are_taken_once() {
    let scene = scene("waha").await;
    scene.kit.provider.set_received(Ok(many(120)));
    let id = scene.connection().to_string();
    let calls = (0..8).map(|_| scene.call_of(&id));
    let taken = futures_util::future::join_all(calls).await;
    let stored: usize = taken.iter().map(|taken| taken.as_ref().unwrap().stored).sum();
    assert_eq!((stored, total(&scene).await), (120, 120));
    assert_eq!(scene.reported("message.received").len(), 120);
}

#[tokio::test]
async fn a_connection_that_is_deleted_while_it_is_called_is_not_there() {
    let scene = scene("waha").await;
    let inbox = scene.kit.app.inbox();
    let called = inbox.called(&scene.connection().to_string(), &webhook()).await.unwrap();
    scene.kit.app.connections().delete(scene.kit.company.id, scene.connection()).await.unwrap();
    scene.kit.provider.set_received(Ok(many(1)));
    let refused = inbox.take_webhook(&called, &webhook()).await;
    match refused {
        Err(Error::Rejected(error)) => assert_eq!(error.code().as_str(), "NOT_FOUND"),
        other => panic!("{other:?}"),
    }
}

/// R106.
#[tokio::test]
async fn a_connection_that_is_off_still_hears() {
    let scene = scene("waha").await;
    let off = body(json!({ "is_active": false, "status": "disconnected" }));
    let connections = scene.kit.app.connections();
    connections.change(scene.kit.company.id, scene.connection(), &off).await.unwrap();
    assert_eq!(scene.call(many(2)).await.unwrap().stored, 2);
}
