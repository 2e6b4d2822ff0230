//! The phone of a LID.

use recado_core::gateway::{Provider, ProviderError};
use recado_testkit::ScriptedTransport;
use recado_testkit::gateways::WahaEngine;
use serde_json::{Value, json};

use super::support::{Scene, inbound};

async fn names(scene: &Scene, name: &str) -> Result<Vec<String>, ProviderError> {
    scene.adapter.names(&scene.transport, &scene.connection, name).await
}

#[tokio::test]
async fn the_gateway_is_asked_for_the_phone_of_a_lid() {
    for engine in WahaEngine::ALL {
        let scene = Scene::new(engine);
        scene.waha.set_lid("553491234567", "123@lid").set_reports_names(false);
        let reported = scene.waha.receive("123@lid", "Maria", "Oi");
        let message = scene.message(&reported);
        assert_eq!((message.peer.as_str(), message.aliases.len()), ("123@lid", 0), "{engine:?}");
        assert_eq!(names(&scene, "123@lid").await, Ok(vec!["553491234567".to_owned()]));
        assert_eq!(scene.paths(), ["GET /api/loja1/lids/123%40lid"]);
        assert_eq!(names(&scene, "9@lid").await, Ok(Vec::new()));
        scene.assert_clean();
    }
}

async fn answered(answers: &[(u16, Value)]) -> (Result<Vec<String>, ProviderError>, Vec<String>) {
    let transport = ScriptedTransport::new();
    for (status, body) in answers {
        transport.then_json(*status, body);
    }
    let scene = Scene::new(WahaEngine::Gows);
    let reported = scene.adapter.names(&transport, &scene.connection, "123@lid").await;
    let asked = transport.requests().into_iter();
    let paths = asked.filter_map(|r| r.url.split_once("/lids/").map(|(_, lid)| lid.to_owned()));
    (reported, paths.collect())
}

#[tokio::test]
async fn a_gateway_that_wants_the_bare_number_is_asked_for_that() {
    let phone = json!({"lid": "123@lid", "pn": "553491234567@s.whatsapp.net"});
    for status in [400, 404] {
        let (reported, asked) = answered(&[(status, json!({})), (200, phone.clone())]).await;
        assert_eq!(reported, Ok(vec!["553491234567".to_owned()]));
        assert_eq!(asked, ["123%40lid", "123"]);
    }
    let (reported, _) = answered(&[(404, json!({})), (404, json!({}))]).await;
    assert_eq!(reported, Ok(Vec::new()));
}

#[tokio::test]
async fn what_is_no_phone_brings_no_name_and_trouble_is_reported() {
    for body in [
        json!({"lid": "123@lid", "pn": null}),
        json!({"lid": "123@lid"}),
        json!({"lid": "123@lid", "pn": "123@lid"}),
        json!({"lid": "123@lid", "pn": "12036@g.us"}),
        json!({"lid": "123@lid", "pn": ""}),
        json!([]),
    ] {
        assert_eq!(answered(&[(200, body.clone())]).await.0, Ok(Vec::new()), "{body}");
    }
    for status in [401, 422, 500] {
        let (reported, asked) = answered(&[(status, json!({}))]).await;
        assert!(matches!(reported, Err(ProviderError::Failed(_))), "{status}");
        assert_eq!(asked.len(), 1);
    }
    let (reported, _) = answered(&[(501, json!({}))]).await;
    assert_eq!(reported, Err(ProviderError::Unsupported));
}

#[tokio::test]
async fn only_a_lid_is_asked_for() {
    let scene = Scene::new(WahaEngine::Gows);
    for name in ["553491234567", "12036@g.us", ""] {
        assert_eq!(names(&scene, name).await, Err(ProviderError::Unsupported));
    }
    assert_eq!(scene.paths(), Vec::<String>::new());
    assert_eq!(scene.message(&inbound(json!({}))).aliases.len(), 0);
}
