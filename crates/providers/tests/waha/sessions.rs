//! The state of a session, and pairing a phone with it.

use std::time::Duration;

use recado_core::connections::ConnectionStatus;
use recado_core::gateway::{GatewayEvent, Pairing, PairingCode, Provider, ProviderError};
use recado_core::ids::ConnectionId;
use recado_core::transport::OutboundResponse;
use recado_testkit::ScriptedTransport;
use recado_testkit::gateways::{FakeWaha, SignedWebhook, WahaEngine};
use serde_json::json;

use super::support::{NOW, Scene, connection};

async fn status(scene: &Scene) -> Result<(ConnectionStatus, String), ProviderError> {
    let reported = scene.adapter.status(&scene.transport, &scene.connection).await?;
    let detail = reported.detail.expect("it says why");
    Ok((reported.status, detail["status"].as_str().expect("a text").to_owned()))
}

async fn pairing(scene: &Scene) -> Result<Pairing, ProviderError> {
    scene.adapter.pairing(&scene.transport, &scene.connection).await
}

#[tokio::test]
async fn only_a_working_session_is_connected() {
    let scene = Scene::new(WahaEngine::Gows);
    for word in [
        "STOPPED",
        "STARTING",
        "SCAN_QR_CODE",
        "PASSKEY_REQUIRED",
        "PASSKEY_CONFIRMATION_REQUIRED",
        "FAILED",
        "SOMETHING_NEW",
    ] {
        scene.waha.set_status(word);
        let expected = Ok((ConnectionStatus::Disconnected, word.to_owned()));
        assert_eq!(status(&scene).await, expected);
    }
    scene.waha.set_status("WORKING");
    assert_eq!(status(&scene).await, Ok((ConnectionStatus::Connected, "WORKING".to_owned())));
    scene.assert_clean();
}

#[tokio::test]
async fn an_unknown_session_and_a_wrong_key_are_disconnected_and_say_so() {
    let scene = Scene::new(WahaEngine::Gows);
    scene.waha.set_session_there(false);
    let (state, why) = status(&scene).await.expect("it answers");
    assert_eq!(state, ConnectionStatus::Disconnected);
    assert!(why.contains("no such session"), "{why}");
    let mut settings = scene.waha.settings();
    settings["api_key"] = "another".into();
    let wrong = Scene { connection: connection(&settings), ..scene };
    let (state, why) = status(&wrong).await.expect("it answers");
    assert_eq!(state, ConnectionStatus::Disconnected);
    assert!(why.contains("API key"), "{why}");
}

#[tokio::test]
async fn a_gateway_that_does_not_answer_reports_nothing() {
    let scene = Scene::new(WahaEngine::Gows);
    scene.waha.set_up(false);
    assert!(matches!(status(&scene).await, Err(ProviderError::Failed(_))));
}

#[tokio::test]
async fn pairing_starts_a_session_waits_for_its_code_and_ends() {
    for stopped in ["STOPPED", "FAILED"] {
        let scene = Scene::new(WahaEngine::Noweb);
        scene.waha.set_status(stopped);
        assert_eq!(pairing(&scene).await, Ok(Pairing::Preparing));
        assert!(scene.paths().contains(&"POST /api/sessions/loja1/start".to_owned()));
        assert_eq!(pairing(&scene).await, Ok(Pairing::Preparing), "it is starting");
        scene.waha.set_status("SCAN_QR_CODE");
        let code = PairingCode {
            text: "2@pairing,code".to_owned(),
            png: Some(b"\x89PNG\r\n\x1a\n".to_vec()),
        };
        assert_eq!(pairing(&scene).await, Ok(Pairing::Code(code)));
        scene.waha.set_status("WORKING");
        assert_eq!(pairing(&scene).await, Ok(Pairing::Paired));
        scene.assert_clean();
    }
}

#[tokio::test]
async fn a_picture_of_the_code_is_read_as_it_is_too() {
    let png = b"\x89PNG\r\n\x1a\nx".to_vec();
    for (status, body, expected) in [
        (200, png.clone(), Some(png.clone())),
        (200, b"GIF89a".to_vec(), None),
        (500, png.clone(), None),
    ] {
        let transport = ScriptedTransport::new();
        transport.then_json(200, &json!({"status": "SCAN_QR_CODE"}));
        transport.then_json(200, &json!({"value": "2@x"}));
        transport.then(Ok(OutboundResponse::new(status, body)));
        let scene = Scene::new(WahaEngine::Gows);
        let code = scene.adapter.pairing(&transport, &scene.connection).await;
        let expected = PairingCode { text: "2@x".to_owned(), png: expected };
        assert_eq!(code, Ok(Pairing::Code(expected)));
    }
}

#[tokio::test]
async fn pairing_without_a_session_or_with_a_passkey_says_what_is_missing() {
    let scene = Scene::over(FakeWaha::default());
    scene.waha.set_status("PASSKEY_REQUIRED");
    let Err(ProviderError::Failed(why)) = pairing(&scene).await else { panic!("it cannot pair") };
    assert!(why.contains("PASSKEY_REQUIRED"), "{why}");
    scene.waha.set_session_there(false);
    let Err(ProviderError::Failed(why)) = pairing(&scene).await else { panic!("it cannot pair") };
    assert!(why.contains("no session"), "{why}");
}

#[test]
fn changes_of_the_session_are_reported() {
    let scene = Scene::new(WahaEngine::Gows);
    let reported = |word: &str| {
        let received = scene.take(&scene.waha.webhook_status(word)).expect("signed");
        let events = received.into_iter().map(|received| received.event.expect("readable"));
        events.collect::<Vec<_>>()
    };
    let connected = GatewayEvent::Connection(ConnectionStatus::Connected);
    let disconnected = GatewayEvent::Connection(ConnectionStatus::Disconnected);
    assert_eq!(reported("WORKING"), [connected]);
    for word in
        ["STOPPED", "FAILED", "SCAN_QR_CODE", "PASSKEY_REQUIRED", "PASSKEY_CONFIRMATION_REQUIRED"]
    {
        assert_eq!(reported(word), std::slice::from_ref(&disconnected), "{word}");
    }
    assert_eq!(reported("STARTING"), []);
    assert_eq!(reported("SOMETHING_NEW"), [GatewayEvent::StateDoubtful]);
    let event = scene.event("session.status", &json!({}));
    assert!(matches!(event, GatewayEvent::Unknown(_)), "{event:?}");
}

/// R131.
#[test]
fn a_change_that_is_reported_late_or_again_is_doubted() {
    let scene = Scene::new(WahaEngine::Gows);
    let reported = |webhook: &SignedWebhook| {
        let received = scene.take(webhook).expect("signed").remove(0);
        received.event.expect("readable")
    };
    let at = |seconds: u64, word: &str| {
        scene.waha.set_now(NOW.plus(Duration::from_secs(seconds)));
        scene.waha.webhook_status(word)
    };
    let [failed, working, later] = [at(1, "FAILED"), at(3, "WORKING"), at(5, "FAILED")];
    assert_eq!(reported(&working), GatewayEvent::Connection(ConnectionStatus::Connected));
    assert_eq!(reported(&failed), GatewayEvent::StateDoubtful, "older than what is known");
    assert_eq!(reported(&working), GatewayEvent::StateDoubtful, "told before");
    assert_eq!(reported(&later), GatewayEvent::Connection(ConnectionStatus::Disconnected));
    // If a gateway's clock does not advance, changed states are accepted.
    let same = at(5, "WORKING");
    assert_eq!(reported(&same), GatewayEvent::Connection(ConnectionStatus::Connected));
    // Each connection has its own session.
    let mut other = connection(&scene.waha.settings());
    other.id = ConnectionId::new(uuid::Uuid::from_u128(9));
    let received = scene.adapter.receive(&other, &failed.webhook()).expect("signed");
    let lost = GatewayEvent::Connection(ConnectionStatus::Disconnected);
    assert_eq!(received[0].event, Ok(lost));
}
