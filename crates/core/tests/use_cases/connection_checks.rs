//! Asking gateways whether they reach their channel, and pairing phones.

use recado_core::connections::ConnectionStatus;
use recado_core::gateway::{
    GatewayEvent, GatewayStatus, Pairing, PairingCode, ProviderError, SendFailure,
};
use recado_core::ids::ConnectionId;
use recado_core::jobs::JobKind;
use recado_core::messages::{DeliveryCode, Failure};
use recado_core::{Error, Rejection};
use recado_testkit::kit::body;
use serde_json::json;
use uuid::Uuid;

use super::code;
use super::gateway_scene::*;

const CONNECTED: ConnectionStatus = ConnectionStatus::Connected;
const DISCONNECTED: ConnectionStatus = ConnectionStatus::Disconnected;

fn tells(status: ConnectionStatus) -> Result<GatewayStatus, ProviderError> {
    Ok(GatewayStatus { status, detail: None })
}

fn fails<T>() -> Result<T, ProviderError> {
    Err(ProviderError::Failed("timeout".to_owned()))
}

/// How often the gateway is asked for its state in so many seconds, with a step every second.
async fn asked_within(scene: &Scene, seconds: u64) -> usize {
    let before = scene.kit.provider.asked().status;
    for _ in 0..seconds {
        scene.after(1).await;
    }
    scene.kit.provider.asked().status - before
}

fn doubtful(scene: &Scene) -> usize {
    scene.waiting(|kind| matches!(kind, JobKind::CheckConnectionOnce { .. }))
}

#[tokio::test]
async fn a_gateway_is_asked_every_five_minutes_and_every_minute_while_it_is_off() {
    let scene = scene("waha").await;
    scene.kit.provider.set_status(tells(CONNECTED));
    // The first check comes soon, whatever status the operator has set.
    assert_eq!(asked_within(&scene, 59).await, 0);
    assert_eq!(asked_within(&scene, 1).await, 1);
    assert_eq!(asked_within(&scene, 299).await, 0);
    assert_eq!(asked_within(&scene, 1).await, 1);
    scene.kit.provider.set_status(tells(DISCONNECTED));
    assert_eq!(asked_within(&scene, 300).await, 1);
    assert_eq!(scene.status().await, DISCONNECTED);
    assert_eq!(asked_within(&scene, 180).await, 3);
    scene.kit.provider.set_status(tells(CONNECTED));
    assert_eq!(asked_within(&scene, 60).await, 1);
    assert_eq!(scene.status().await, CONNECTED);
    assert_eq!(asked_within(&scene, 600).await, 2);
}

/// R108.
#[tokio::test]
async fn a_gateway_without_an_answer_leaves_the_state_as_it_is() {
    for status in [CONNECTED, DISCONNECTED] {
        let scene = scene("evolution").await;
        scene.messaging.set_connected(status == CONNECTED).await;
        scene.kit.provider.set_status(fails());
        assert!(asked_within(&scene, 600).await > 1);
        assert_eq!(scene.status().await, status);
        let connections = scene.kit.app.connections();
        let reported = connections.check(scene.kit.company.id, scene.connection());
        assert_eq!(reported.await.unwrap(), None);
    }
}

#[tokio::test]
async fn an_operator_learns_the_state_at_once() {
    let scene = scene("waha").await;
    let detail = Some(json!({ "engine": "NOWEB" }));
    let reported = GatewayStatus { status: DISCONNECTED, detail };
    scene.kit.provider.set_status(Ok(reported.clone()));
    let check = async |id| scene.kit.app.connections().check(scene.kit.company.id, id).await;
    assert_eq!(check(scene.connection()).await.unwrap(), Some(reported));
    assert_eq!(scene.status().await, DISCONNECTED);
    assert_eq!(code(check(ConnectionId::new(Uuid::from_u128(1))).await), "NOT_FOUND");
    let simulated = connect(&scene.kit, "simulated", json!({})).await;
    assert_eq!(check(simulated).await.unwrap(), None);
    assert_eq!(scene.kit.provider.asked().status, 1, "the demonstration reaches nobody");
}

#[tokio::test]
async fn a_doubtful_state_is_asked_for_at_once_and_only_once() {
    let scene = scene("evolution").await;
    scene.kit.provider.set_status(fails());
    let doubt = || here([Ok(GatewayEvent::StateDoubtful), Ok(GatewayEvent::StateDoubtful)]);
    let taken = scene.call(doubt()).await.unwrap();
    assert_eq!((taken.stored, taken.passed_over, doubtful(&scene)), (1, 1, 1));
    assert_eq!(asked_within(&scene, 1).await, 1);
    assert_eq!(asked_within(&scene, 5).await, 1);
    scene.kit.provider.set_status(tells(DISCONNECTED));
    assert_eq!(asked_within(&scene, 15).await, 1);
    assert_eq!((scene.status().await, doubtful(&scene)), (DISCONNECTED, 0));
    // The next doubt is a new one.
    assert_eq!(scene.call(doubt()).await.unwrap().stored, 1);
}

#[tokio::test]
async fn a_word_that_the_phone_is_there_is_checked_half_a_minute_later() {
    let scene = scene("waha").await;
    scene.kit.provider.set_status(tells(DISCONNECTED));
    scene.messaging.set_connected(false).await;
    scene.work().await;
    let before = scene.kit.provider.asked().status;
    scene.call(here([Ok(GatewayEvent::Connection(CONNECTED))])).await.unwrap();
    assert_eq!(scene.status().await, CONNECTED);
    scene.after(29).await;
    assert_eq!((scene.status().await, scene.kit.provider.asked().status), (CONNECTED, before));
    scene.after(1).await;
    assert_eq!(scene.status().await, DISCONNECTED, "the word was late");
}

/// R127.
#[tokio::test]
async fn a_send_that_finds_the_connection_at_fault_has_it_looked_at() {
    let scene = scene("waha").await;
    scene.kit.provider.set_status(tells(DISCONNECTED));
    let failure = Failure::new(DeliveryCode::ConnectionOffline, "session is not ready".to_owned());
    scene.kit.provider.then(Err(SendFailure::Connection(failure)));
    scene.messaging.send(PHONE, "Oi").await.unwrap_err();
    assert_eq!(doubtful(&scene), 1);
    scene.work().await;
    assert_eq!((scene.status().await, doubtful(&scene)), (DISCONNECTED, 0));
    let refused = scene.messaging.send(PHONE, "Oi").await.unwrap_err();
    assert!(
        matches!(refused, Error::Rejected(error) if error.code().as_str() == "CONNECTION_REQUIRED")
    );
}

#[tokio::test]
async fn other_settings_are_tried_at_once() {
    let scene = scene("waha").await;
    scene.kit.provider.set_status(tells(DISCONNECTED));
    let change = async |change| {
        let connections = scene.kit.app.connections();
        let change = body(change);
        connections.change(scene.kit.company.id, scene.connection(), &change).await.unwrap();
    };
    change(json!({ "name": "Outra" })).await;
    assert_eq!(doubtful(&scene), 0, "a name says nothing about the state");
    change(json!({ "settings": { "session": "other" } })).await;
    scene.work().await;
    assert_eq!(scene.status().await, DISCONNECTED);
}

#[tokio::test]
async fn checks_end_with_their_connection() {
    let scene = scene("waha").await;
    scene.call(here([Ok(GatewayEvent::StateDoubtful)])).await.unwrap();
    scene.kit.app.connections().delete(scene.kit.company.id, scene.connection()).await.unwrap();
    scene.after(900).await;
    assert_eq!(scene.model.jobs(scene.kit.company.id), []);
    assert_eq!(scene.kit.provider.asked().status, 0);
}

#[tokio::test]
async fn a_phone_is_paired_with_the_code_of_the_gateway() {
    let scene = scene("waha").await;
    scene.messaging.set_connected(false).await;
    let connections = scene.kit.app.connections();
    let code_of = async |id| connections.pairing_code(scene.kit.company.id, id).await;
    let own = scene.connection();
    assert_eq!(code(code_of(own).await), "VALIDATION_ERROR", "the gateway pairs no phones");
    scene.kit.provider.set_pairing(fails());
    assert_eq!(code(code_of(own).await), "PROVIDER_ERROR");
    scene.kit.provider.set_pairing(Ok(Pairing::Preparing));
    match code_of(own).await {
        Err(Error::Rejected(error)) => {
            assert_eq!(error.code().as_str(), "UNAVAILABLE");
            assert!(error.retry_after().is_some());
        }
        other => panic!("{other:?}"),
    }
    let qr = PairingCode { text: "2@abc".to_owned(), png: Some(vec![1, 2]) };
    scene.kit.provider.set_pairing(Ok(Pairing::Code(qr.clone())));
    assert_eq!(code_of(own).await.unwrap(), qr);
    assert_eq!(scene.status().await, DISCONNECTED);
    scene.kit.provider.set_pairing(Ok(Pairing::Paired));
    assert_eq!(code(code_of(own).await), "ALREADY_PAIRED");
    assert_eq!(scene.status().await, CONNECTED, "what was found out is recorded");
    assert_eq!(code(code_of(ConnectionId::new(Uuid::from_u128(1))).await), "NOT_FOUND");
}
