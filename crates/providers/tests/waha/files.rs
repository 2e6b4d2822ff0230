//! The files of received messages.

use recado_core::gateway::{MediaFile, Provider, ProviderError};
use recado_testkit::ScriptedTransport;
use recado_testkit::gateways::{FakeWaha, WahaEngine};
use serde_json::json;

use super::support::{Scene, connection};

async fn fetch(scene: &Scene, source: &str, limit: usize) -> Result<MediaFile, ProviderError> {
    scene.adapter.media(&scene.transport, &scene.connection, source, limit).await
}

fn is_failed(fetched: &Result<MediaFile, ProviderError>) -> bool {
    matches!(fetched, Err(ProviderError::Failed(_)))
}

/// The id of a message in the gateway, and the source of its file.
fn of_message(scene: &Scene) -> (String, String) {
    let message = scene.waha.receive("553491234567@c.us", "Maria", "");
    let id = message["id"].as_str().expect("an id").to_owned();
    let source = format!("waha-message:{id}");
    (id, source)
}

/// D31a.
#[tokio::test]
async fn a_file_that_the_gateway_could_not_fetch_is_fetched_later() {
    let scene = Scene::new(WahaEngine::Gows);
    let (id, source) = of_message(&scene);
    scene.waha.fail_file(&id);
    assert!(is_failed(&fetch(&scene, &source, 7).await));
    scene.waha.attach_file(&id, "x.jpg", b"picture");
    assert_eq!(fetch(&scene, &source, 7).await, Ok(MediaFile::Bytes(b"picture".to_vec())));
    scene.assert_clean();
}

/// D31a.
#[tokio::test]
async fn a_file_waits_for_its_session() {
    let scene = Scene::new(WahaEngine::Gows);
    let (id, source) = of_message(&scene);
    scene.waha.attach_file(&id, "x.jpg", b"picture");
    scene.waha.set_session_there(false);
    assert!(is_failed(&fetch(&scene, &source, 7).await));
    scene.waha.set_session_there(true);
    assert_eq!(fetch(&scene, &source, 7).await, Ok(MediaFile::Bytes(b"picture".to_vec())));
    scene.assert_clean();
}

/// D31a.
#[tokio::test]
async fn only_a_message_that_is_missing_or_has_no_file_is_given_up() {
    let scene = Scene::new(WahaEngine::Gows);
    let picture = "waha-message:false_553491234567@c.us_3A0F";
    for (status, answer, is_gone) in [
        (200, json!({"hasMedia": false, "media": null}), true),
        (200, json!({"hasMedia": true, "media": null}), false),
        (200, json!({"hasMedia": true, "media": {"url": null, "error": null}}), false),
        (200, json!({"hasMedia": true, "media": {"url": ""}}), false),
        (404, json!({"statusCode": 404, "message": "Message not found"}), true),
        (404, json!({"message": "We didn't find a session with name 'loja1'"}), false),
        (404, json!({"message": "Cannot GET /api/loja1/chats/1/messages/2"}), false),
        (404, json!({"message": "Session of the message not found"}), false),
        (404, json!("not found"), false),
    ] {
        let transport = ScriptedTransport::new();
        transport.then_json(status, &answer);
        let fetched = scene.adapter.media(&transport, &scene.connection, picture, 7).await;
        assert_eq!(fetched == Ok(MediaFile::Gone), is_gone, "{answer}: {fetched:?}");
        assert_eq!(is_failed(&fetched), !is_gone, "{answer}: {fetched:?}");
    }
}

#[tokio::test]
async fn a_file_is_fetched_with_the_key_from_where_the_gateway_is_reached() {
    let waha = FakeWaha::default();
    waha.set_prefix("/waha");
    let scene = Scene::over(waha);
    let url = scene.waha.add_file("loja1/x.jpg", b"picture");
    assert!(url.starts_with("http://localhost:3000/"), "the address it gives itself");
    assert_eq!(fetch(&scene, &url, 7).await, Ok(MediaFile::Bytes(b"picture".to_vec())));
    scene.assert_clean();
}

#[tokio::test]
async fn a_file_that_is_too_large_or_gone_is_given_up() {
    let scene = Scene::new(WahaEngine::Gows);
    let url = scene.waha.add_file("x.jpg", b"picture");
    assert_eq!(fetch(&scene, &url, 6).await, Ok(MediaFile::Gone));
    scene.waha.expire_files();
    assert_eq!(fetch(&scene, &url, 7).await, Ok(MediaFile::Gone));
}

#[tokio::test]
async fn a_file_that_the_gateway_has_deleted_is_asked_for_once_by_its_message() {
    let scene = Scene::new(WahaEngine::Gows);
    let mut message = scene.waha.receive("553491234567@c.us", "Maria", "");
    let url = scene.waha.add_file("x.jpg", b"picture");
    message["hasMedia"] = true.into();
    message["media"] = json!({"url": url, "mimetype": "image/jpeg"});
    let source = scene.message(&message).media.expect("a file").url.expect("a source");
    assert_eq!(fetch(&scene, &source, 7).await, Ok(MediaFile::Bytes(b"picture".to_vec())));
    assert_eq!(fetch(&scene, &source, 6).await, Ok(MediaFile::Gone), "too large");
    assert_eq!(scene.waha.requests().len(), 2, "the file alone");
    scene.waha.expire_files();
    assert_eq!(fetch(&scene, &source, 7).await, Ok(MediaFile::Gone), "gone from the channel too");
    let asked = scene.waha.requests().pop().expect("a request");
    assert!(asked.path.contains("/messages/"), "{}", asked.path);
    assert_eq!(asked.parameter("downloadMedia"), Some("true"));
    assert_eq!(scene.waha.requests().len(), 4);
    scene.waha.attach_file(message["id"].as_str().expect("an id"), "y.jpg", b"picture");
    assert_eq!(fetch(&scene, &source, 7).await, Ok(MediaFile::Bytes(b"picture".to_vec())));
    scene.waha.expire_files();
    assert!(is_failed(&fetch(&scene, &source, 7).await), "it can be fetched again");
    scene.assert_clean();
}

#[test]
fn a_source_names_the_message_only_where_the_gateway_can_be_asked_for_it() {
    let scene = Scene::new(WahaEngine::Gows);
    let source = |id: &str, url: &str| {
        let mut message = scene.waha.receive("553491234567@c.us", "Maria", "");
        message["id"] = id.into();
        message["hasMedia"] = true.into();
        message["media"] = json!({"url": url, "mimetype": "image/jpeg"});
        scene.message(&message).media.expect("a file").url.expect("a source")
    };
    let (id, file) = ("false_553491234567@c.us_3A0F", "http://w/api/files/x.jpg");
    assert_eq!(source(id, file), format!("waha-file:{id} {file}"));
    assert_eq!(source("3A0F", file), file, "its chat is not known");
    assert_eq!(source(id, "https://bucket.example/x.jpg"), "https://bucket.example/x.jpg");
    let long = format!("http://w/api/files/{}", "x".repeat(4_096 - 19));
    assert_eq!(source(id, &long), long, "no longer than is kept");
}

/// R107.
#[tokio::test]
async fn a_file_that_lies_elsewhere_never_gets_the_key() {
    let scene = Scene::new(WahaEngine::Gows);
    // At the gateway's own address it gets the key, except below the gateway's own operations.
    let url = "http://waha.test:3000/media/x.jpg";
    assert!(fetch(&scene, url, 10).await.is_ok());
    let asked = scene.waha.requests().remove(0);
    assert_eq!((asked.path.as_str(), asked.header("x-api-key").is_some()), ("/media/x.jpg", true));
    for url in [
        "https://bucket.example/x.jpg?signature=1",
        "http://waha.test:3000/api/sessions/loja1",
        "http://waha.test:3000/api/files/../sessions/loja1",
    ] {
        assert_eq!(fetch(&scene, url, 10).await, Ok(MediaFile::At(url.to_owned())));
    }
    assert_eq!(scene.waha.requests().len(), 1);
}

#[tokio::test]
async fn a_failure_may_pass_and_is_tried_again() {
    let scene = Scene::new(WahaEngine::Gows);
    let url = scene.waha.add_file("x.jpg", b"picture");
    let mut settings = scene.waha.settings();
    settings["api_key"] = "another".into();
    let wrong = Scene { connection: connection(&settings), ..Scene::over(scene.waha.clone()) };
    assert!(is_failed(&fetch(&wrong, &url, 7).await));
    scene.waha.set_up(false);
    assert!(is_failed(&fetch(&scene, &url, 7).await));
}

#[tokio::test]
async fn a_file_of_a_pulled_message_is_asked_for_by_its_message() {
    let scene = Scene::new(WahaEngine::Noweb);
    let mut message = scene.waha.receive("553491234567@c.us", "Maria", "");
    let picture = json!({"imageMessage": {"mimetype": "image/jpeg"}});
    message["hasMedia"] = true.into();
    message["_data"]["message"] = picture.clone();
    let source = scene.message(&message).media.expect("a file").url.expect("a source");
    assert!(source.starts_with("waha-message:"), "{source}");
    scene.waha.attach_file(message["id"].as_str().expect("an id"), "x.jpg", b"picture");
    assert_eq!(fetch(&scene, &source, 7).await, Ok(MediaFile::Bytes(b"picture".to_vec())));
    let unknown = "waha-message:false_553491234567@c.us_NONE";
    assert_eq!(fetch(&scene, unknown, 7).await, Ok(MediaFile::Gone));
    assert_eq!(fetch(&scene, "waha-message:NONE", 7).await, Ok(MediaFile::Gone));
    scene.assert_clean();
}
