//! The instance's state, and pairing a phone with it.

use recado_core::connections::ConnectionStatus;
use recado_core::gateway::{GatewayStatus, Pairing, Provider, ProviderError};
use recado_core::transport::TransportError;
use recado_testkit::ScriptedTransport;
use serde_json::json;

use crate::scene::{Scene, connection};

async fn status(scene: &Scene) -> Result<GatewayStatus, ProviderError> {
    scene.provider.status(&scene.transport, &scene.connection).await
}

async fn pairing(scene: &Scene) -> Result<Pairing, ProviderError> {
    scene.provider.pairing(&scene.transport, &scene.connection).await
}

#[tokio::test]
async fn a_phone_is_paired_with_the_code_that_is_shown() {
    let scene = Scene::new();
    scene.fake.set_state("close");
    let first = match pairing(&scene).await {
        Ok(Pairing::Code(code)) => code,
        other => panic!("no code: {other:?}"),
    };
    assert_eq!(first.text, "2@1");
    assert_eq!(first.png.as_deref(), Some(&b"\x89PNG\r\n\x1a\n1"[..]));
    let reported = status(&scene).await.expect("an answer");
    assert_eq!(reported.status, ConnectionStatus::Disconnected);
    assert_eq!(reported.detail, Some(json!({"state": "connecting"})));
    assert!(matches!(pairing(&scene).await, Ok(Pairing::Code(next)) if next.text == "2@2"));
    scene.fake.set_state("open");
    assert_eq!(pairing(&scene).await, Ok(Pairing::Paired));
    assert_eq!(
        status(&scene).await.map(|reported| reported.status),
        Ok(ConnectionStatus::Connected)
    );
    assert_eq!(scene.fake.violations(), [""; 0]);
}

#[tokio::test]
async fn a_gateway_without_a_code_yet_is_asked_again_and_one_that_gave_up_is_not() {
    let scene = Scene::new();
    scene.fake.set_state("close").no_code_yet();
    assert_eq!(pairing(&scene).await, Ok(Pairing::Preparing));
    scene.fake.reach_code_limit();
    let reported = pairing(&scene).await;
    assert!(matches!(&reported, Err(ProviderError::Failed(why)) if why.contains("no more codes")));
}

#[tokio::test]
async fn a_failure_that_is_called_a_success_is_reported_with_the_gateways_word() {
    let scene = Scene::new();
    scene.fake.set_state("close").fail_pairing();
    let reported = pairing(&scene).await;
    assert_eq!(reported, Err(ProviderError::Failed("Error: Timed Out".to_owned())));
    let transport = ScriptedTransport::new();
    transport.then_json(200, &json!({"error": true}));
    let reported = scene.provider.pairing(&transport, &scene.connection).await;
    assert!(matches!(reported, Err(ProviderError::Failed(_))), "{reported:?}");
}

#[tokio::test]
async fn a_code_without_a_readable_picture_is_a_code() {
    let transport = ScriptedTransport::new();
    let scene = Scene::new();
    // The last one is base64, and of no picture.
    let none = [json!(null), json!("data:image/png;base64,%%%"), json!(7), json!("aGVsbG8=")];
    for picture in none {
        transport.then_json(200, &json!({"code": "2@x", "base64": picture, "count": 1}));
        match scene.provider.pairing(&transport, &scene.connection).await {
            Ok(Pairing::Code(code)) => assert_eq!((code.text.as_str(), code.png), ("2@x", None)),
            other => panic!("no code: {other:?}"),
        }
    }
}

/// R134.
#[tokio::test]
async fn a_gateway_that_will_not_serve_the_connection_leaves_it_disconnected() {
    for is_licensed in [true, false] {
        let scene = Scene::new();
        if is_licensed {
            scene.fake.remove_instance()
        } else {
            scene.fake.lose_license()
        };
        let reported = status(&scene).await.expect("an answer");
        assert_eq!(reported.status, ConnectionStatus::Disconnected);
        assert!(reported.detail.expect("a reason")["reason"].is_string());
        assert!(matches!(pairing(&scene).await, Err(ProviderError::Failed(_))));
    }
    let scene = Scene::new();
    let mut settings = scene.fake.settings();
    settings.insert("api_key".to_owned(), json!("wrong"));
    let reported = scene.provider.status(&scene.transport, &connection(&settings)).await;
    assert_eq!(reported.map(|reported| reported.status), Ok(ConnectionStatus::Disconnected));
}

/// R134.
#[tokio::test]
async fn a_gateway_that_cannot_be_asked_reports_nothing() {
    let scene = Scene::new();
    let transport = ScriptedTransport::new();
    transport.then(Err(TransportError::Refused)).then_json(500, &json!({}));
    transport.then_json(503, &json!({"error": "busy"})).then_json(200, &json!({"instance": 7}));
    transport.then_json(200, &json!({"instance": {"state": "asleep"}}));
    // Answers of another server, or of a gateway without this operation.
    transport.then_json(404, &json!({"message": "Cannot GET /instance"}));
    transport.then_json(301, &json!(null)).then_json(405, &json!({})).then_json(403, &json!({}));
    for _ in 0..9 {
        let reported = scene.provider.status(&transport, &scene.connection).await;
        assert!(matches!(reported, Err(ProviderError::Failed(_))), "{reported:?}");
    }
    assert!(transport.requests().iter().all(|request| request.repeatable));
}
