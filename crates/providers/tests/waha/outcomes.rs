//! The outcomes of sends (D38).

use std::time::Duration;

use recado_core::gateway::{Content, MessageKind, Provider, SendFailure};
use recado_core::messages::DeliveryCode;
use recado_core::transport::TransportError;
use recado_testkit::gateways::{SendBehaviour, WahaEngine};
use recado_testkit::{ScriptedTransport, contents};
use serde_json::{Value, json};

use super::support::{LISBON, Scene, failure_of};

/// The class of a failure, with its code.
fn class(failure: &SendFailure) -> (&'static str, DeliveryCode) {
    let class = match failure {
        SendFailure::Refused(_) => "refused",
        SendFailure::RecipientLimited(_) => "limited",
        SendFailure::TryLater { .. } => "later",
        SendFailure::Connection(_) => "connection",
        SendFailure::Unreachable(_) => "unreachable",
        SendFailure::Uncertain(_) => "uncertain",
    };
    (class, failure.failure().code)
}

/// A scene in which the engine is cached, so that the next request sends.
async fn ready() -> Scene {
    let scene = Scene::new(WahaEngine::Gows);
    scene.send(99, LISBON).await.expect("accepted");
    scene
}

#[tokio::test]
async fn errors_of_the_gateway_are_what_they_mean_for_the_message() {
    let offline = json!({"error": "Session status is not as expected. Try again later or restart \
        the session", "session": "loja1", "status": "SCAN_QR_CODE", "expected": ["WORKING"]});
    let server_error = json!({"statusCode": 500, "timestamp": "2026-01-01T00:00:00Z",
        "exception": {"message": "boom", "name": "Error", "stack": "at x"},
        "request": {"path": "/api/sendText", "body": {"text": "segredo"}}, "version": {}});
    for (status, body, expected) in [
        (
            400,
            json!({"statusCode": 400, "message": ["chatId must be a string"]}),
            ("refused", DeliveryCode::ContentRejected),
        ),
        (
            401,
            json!({"message": "Unauthorized", "statusCode": 401}),
            ("connection", DeliveryCode::Configuration),
        ),
        (403, json!({}), ("connection", DeliveryCode::Configuration)),
        (
            404,
            json!({"statusCode": 404, "message": "We didn't find a session", "error": "Not Found"}),
            ("connection", DeliveryCode::Configuration),
        ),
        (308, json!(null), ("connection", DeliveryCode::Configuration)),
        (422, offline, ("connection", DeliveryCode::ConnectionOffline)),
        (
            422,
            json!({"statusCode": 422, "message": "not supported"}),
            ("refused", DeliveryCode::ContentRejected),
        ),
        (
            422,
            json!({"statusCode": 422, "message": "Session \"loja1\" does not exist"}),
            ("connection", DeliveryCode::ConnectionOffline),
        ),
        (
            422,
            json!({"exception": {"message": "Session 'loja1' is not started"}}),
            ("connection", DeliveryCode::ConnectionOffline),
        ),
        (
            422,
            json!({"statusCode": 422, "message": ["session must be a string"]}),
            ("refused", DeliveryCode::ContentRejected),
        ),
        (429, json!({}), ("later", DeliveryCode::RateLimitedByProvider)),
        (500, server_error, ("uncertain", DeliveryCode::DeliveryUncertain)),
        (502, json!({}), ("uncertain", DeliveryCode::DeliveryUncertain)),
        (408, json!({}), ("uncertain", DeliveryCode::DeliveryUncertain)),
    ] {
        let scene = ready().await;
        scene.waha.script([SendBehaviour::Error(status, body)]);
        let failure = failure_of(scene.send(1, LISBON).await);
        assert_eq!(class(&failure), expected, "{status}");
        let text = failure.failure().message.clone().expect("a reason");
        assert!(!text.contains("segredo") && !text.contains("waha-api-key"), "{text}");
        scene.assert_clean();
    }
}

#[tokio::test]
async fn what_may_have_arrived_is_uncertain() {
    for behaviour in [
        SendBehaviour::AcceptThenDrop,
        SendBehaviour::AcceptLate(Duration::from_secs(600)),
        SendBehaviour::AcceptWithoutId,
        SendBehaviour::AcceptThenError(500, json!({"exception": {"message": "late"}})),
        SendBehaviour::Broken(500),
        SendBehaviour::Broken(201),
    ] {
        let scene = ready().await;
        scene.waha.script([behaviour.clone()]);
        let failure = failure_of(scene.send(1, LISBON).await);
        assert!(matches!(failure, SendFailure::Uncertain(_)), "{behaviour:?}: {failure:?}");
        assert!(failure.failure().is_uncertain());
    }
}

#[tokio::test]
async fn what_never_arrived_was_surely_not_sent() {
    for (error, expected) in [
        (TransportError::Refused, ("unreachable", DeliveryCode::Network)),
        (TransportError::Dns, ("unreachable", DeliveryCode::Network)),
        (TransportError::Tls, ("unreachable", DeliveryCode::Network)),
        (TransportError::TimedOut { after_sending: false }, ("unreachable", DeliveryCode::Network)),
        (TransportError::Broken { after_sending: false }, ("unreachable", DeliveryCode::Network)),
        (
            TransportError::TimedOut { after_sending: true },
            ("uncertain", DeliveryCode::DeliveryUncertain),
        ),
        (
            TransportError::Broken { after_sending: true },
            ("uncertain", DeliveryCode::DeliveryUncertain),
        ),
    ] {
        let transport = ScriptedTransport::new();
        transport.then_json(200, &json!({"status": "WORKING", "engine": {"engine": "GOWS"}}));
        transport.then(Err(error.clone()));
        let scene = Scene::new(WahaEngine::Gows);
        let outgoing = scene.outgoing(1, LISBON);
        let sent = scene.adapter.send(&transport, &scene.connection, &outgoing).await;
        assert_eq!(class(&failure_of(sent)), expected, "{error:?}");
    }
}

/// D38.
#[tokio::test]
async fn a_number_check_that_finds_no_session_stops_the_send() {
    let transport = ScriptedTransport::new();
    transport.then_json(200, &json!({"status": "WORKING", "engine": {"engine": "GOWS"}}));
    transport.then_json(422, &json!({"message": "Session \"loja1\" does not exist"}));
    let scene = Scene::new(WahaEngine::Gows);
    let outgoing = scene.outgoing(1, "5534991234567");
    let sent = scene.adapter.send(&transport, &scene.connection, &outgoing).await;
    assert_eq!(class(&failure_of(sent)), ("connection", DeliveryCode::ConnectionOffline));
    assert_eq!(transport.requests().len(), 2, "nothing was sent");
}

#[tokio::test]
async fn a_gateway_that_is_away_is_unreachable_and_nothing_is_sent() {
    let scene = Scene::new(WahaEngine::Gows);
    scene.waha.set_up(false);
    let failure = failure_of(scene.send(1, LISBON).await);
    assert_eq!(class(&failure), ("unreachable", DeliveryCode::Network));
    scene.waha.set_up(true);
    scene.send(1, LISBON).await.expect("accepted");
}

#[tokio::test]
async fn a_session_that_is_gone_or_not_ready_is_the_connections_trouble() {
    let scene = Scene::new(WahaEngine::Gows);
    scene.waha.set_session_there(false);
    let failure = failure_of(scene.send(1, LISBON).await);
    assert_eq!(class(&failure), ("connection", DeliveryCode::Configuration));
    scene.waha.set_session_there(true).set_status("SCAN_QR_CODE");
    let failure = failure_of(scene.send(1, LISBON).await);
    assert_eq!(class(&failure), ("connection", DeliveryCode::ConnectionOffline));
    assert!(failure.failure().message.as_deref().is_some_and(|text| text.contains("SCAN_QR_CODE")));
    scene.assert_clean();
}

#[tokio::test]
async fn every_send_makes_at_most_one_request_that_sends() {
    for behaviour in [
        SendBehaviour::Accept,
        SendBehaviour::AcceptThenDrop,
        SendBehaviour::AcceptWithoutId,
        SendBehaviour::Error(500, Value::Null),
        SendBehaviour::Error(422, json!({})),
        SendBehaviour::Broken(502),
    ] {
        let scene = ready().await;
        let before = scene.waha.requests().len();
        scene.waha.script([behaviour]);
        let _ = scene.send(1, "5534991234567").await;
        let requests = scene.waha.requests().into_iter().skip(before);
        assert_eq!(requests.filter(|request| request.method == "POST").count(), 1);
    }
}

#[tokio::test]
async fn after_a_refusal_the_engine_is_asked_for_again() {
    let scene = ready().await;
    scene.waha.set_engine(WahaEngine::Webjs);
    let failure = failure_of(scene.send(1, LISBON).await);
    assert!(matches!(failure, SendFailure::Refused(_)), "{failure:?}");
    scene.send(2, LISBON).await.expect("the engine is known now");
}

/// A message of every kind that NOWEB carries beside texts and reactions.
pub fn every_kind() -> Vec<Content> {
    let others = [
        MessageKind::Text,
        MessageKind::Template,
        MessageKind::Audio,
        MessageKind::LocationRequest,
        MessageKind::Reaction,
    ];
    let kinds = MessageKind::ALL.iter().filter(|kind| !others.contains(kind));
    kinds.filter_map(|kind| contents::of(*kind, LISBON)).collect()
}

#[tokio::test]
async fn what_becomes_of_a_send_does_not_depend_on_its_kind() {
    let uncertain = ("uncertain", DeliveryCode::DeliveryUncertain);
    let refused = ("refused", DeliveryCode::ContentRejected);
    for content in every_kind() {
        for (behaviour, expected) in [
            (SendBehaviour::AcceptThenDrop, uncertain),
            (SendBehaviour::AcceptLate(Duration::from_secs(600)), uncertain),
            (SendBehaviour::AcceptWithoutId, uncertain),
            (SendBehaviour::AcceptThenError(500, json!({})), uncertain),
            (SendBehaviour::Broken(201), uncertain),
            (SendBehaviour::Error(400, json!({"message": ["no"]})), refused),
            (SendBehaviour::Error(501, json!({"message": "not implemented"})), refused),
            (
                SendBehaviour::Error(401, json!({"message": "Unauthorized"})),
                ("connection", DeliveryCode::Configuration),
            ),
            (SendBehaviour::Error(429, json!({})), ("later", DeliveryCode::RateLimitedByProvider)),
            (SendBehaviour::Refuse, ("unreachable", DeliveryCode::Network)),
        ] {
            let scene = Scene::new(WahaEngine::Noweb);
            scene.waha.script([behaviour.clone()]);
            let failure = failure_of(scene.send_content(1, LISBON, content.clone()).await);
            assert_eq!(class(&failure), expected, "{content:?} {behaviour:?}");
            let sends = scene.paths().into_iter().filter(|path| path.starts_with("POST"));
            assert_eq!(sends.count(), 1, "{content:?} {behaviour:?}");
            scene.assert_clean();
        }
        let scene = Scene::new(WahaEngine::Noweb);
        scene.send_content(1, LISBON, content).await.expect("accepted");
    }
}
