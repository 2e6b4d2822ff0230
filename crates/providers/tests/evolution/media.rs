//! The files of messages.

use recado_core::gateway::{MediaFile, Provider, ProviderError};
use recado_testkit::ScriptedTransport;
use serde_json::json;

use crate::scene::Scene;

async fn media(scene: &Scene, source: &str, limit: usize) -> Result<MediaFile, ProviderError> {
    scene.provider.media(&scene.transport, &scene.connection, source, limit).await
}

#[tokio::test]
async fn the_file_of_a_message_is_asked_for_by_its_id() {
    let scene = Scene::new();
    let image = json!({"imageMessage": {"mimetype": "image/jpeg", "caption": "Veja"}});
    let record = scene.fake.incoming_message("5534991234567", "imageMessage", image);
    let id = record["key"]["id"].as_str().expect("an id").to_owned();
    scene.fake.add_file(&id, b"a picture");
    let source = scene.message(record).media.and_then(|media| media.url).expect("a source");
    let file = media(&scene, &source, 9).await;
    assert_eq!(file, Ok(MediaFile::Bytes(b"a picture".to_vec())));
    assert_eq!(media(&scene, &source, 8).await, Ok(MediaFile::Gone));
    assert_eq!(scene.fake.violations(), [""; 0]);
}

#[tokio::test]
async fn a_file_that_came_inside_the_webhook_is_not_asked_for() {
    let scene = Scene::new();
    let mut record = scene.fake.incoming_message(
        "5534991234567",
        "imageMessage",
        json!({"imageMessage": {"mimetype": "image/jpeg"}, "base64": "YSBwaWN0dXJl"}),
    );
    let source = scene.message(record.clone()).media.and_then(|media| media.url).expect("a source");
    let picture = Ok(MediaFile::Bytes(b"a picture".to_vec()));
    assert_eq!(media(&scene, &source, 9).await, picture);
    assert_eq!(scene.fake.requests(), 0);
    // The cache returns it only once; then it is requested from the gateway.
    assert_eq!(media(&scene, &source, 9).await, Ok(MediaFile::Gone));
    assert_eq!(scene.fake.requests(), 1);
    scene.message(record.clone());
    assert_eq!(media(&scene, &source, 8).await, Ok(MediaFile::Gone));
    for unreadable in ["%%%", ""] {
        record["message"]["base64"] = json!(unreadable);
        scene.message(record.clone());
    }
    assert_eq!(scene.fake.requests(), 1);
    media(&scene, &source, 9).await.expect("an answer");
    assert_eq!(scene.fake.requests(), 2, "what cannot be read is asked for");
}

#[tokio::test]
async fn a_file_too_large_to_be_answered_whole_is_gone() {
    let scene = Scene::new();
    scene.fake.add_file("3A0F", &vec![7; 200_000]);
    assert_eq!(media(&scene, "evolution-media:3A0F", 1_000).await, Ok(MediaFile::Gone));
}

#[tokio::test]
async fn a_message_that_the_gateway_does_not_have_has_no_file() {
    let scene = Scene::new();
    assert_eq!(media(&scene, "evolution-media:3A0F", 10).await, Ok(MediaFile::Gone));
}

#[tokio::test]
async fn an_address_elsewhere_is_fetched_like_any_other() {
    let scene = Scene::new();
    let elsewhere = "https://s3.example/evo/3A0F.jpeg";
    assert_eq!(media(&scene, elsewhere, 10).await, Ok(MediaFile::At(elsewhere.to_owned())));
    assert_eq!(scene.fake.requests(), 0);
}

#[tokio::test]
async fn any_other_answer_may_be_better_later() {
    let scene = Scene::new();
    let transport = ScriptedTransport::new();
    transport.then_json(400, &json!({"response": {"message": ["Error: Timed Out"]}}));
    transport.then_json(500, &json!({})).then_json(201, &json!({"base64": "%%%"}));
    transport.then_json(404, &json!({"response": {"message": ["instance does not exist"]}}));
    for _ in 0..4 {
        let source = "evolution-media:3A0F";
        let file = scene.provider.media(&transport, &scene.connection, source, 10).await;
        assert!(matches!(file, Err(ProviderError::Failed(_))), "{file:?}");
    }
}
