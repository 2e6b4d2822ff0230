//! Sending files.

use recado_core::gateway::{Content, FileKind, Provider, SendFailure};
use recado_core::messages::DeliveryCode;
use recado_core::transport::FileEncoding;
use recado_testkit::ScriptedTransport;
use recado_testkit::gateways::WahaEngine;
use serde_json::{Value, json};

use super::support::{LISBON, Scene, failure_of, file, media, raw_id, voice};

/// A file of each kind: the operation, and the fields that only it has.
async fn each() -> Vec<(Content, &'static str, Value)> {
    let picture = file("foto", "image/png", None).await;
    let contract = file("contrato", "application/pdf", Some("a \"b\".pdf")).await;
    let fields = |mimetype: &str| json!({"mimetype": mimetype, "data": null});
    vec![
        (
            media(FileKind::Image, picture.clone(), Some("Veja \"isto\"\n")),
            "sendImage",
            json!({"file": fields("image/png"), "caption": "Veja \"isto\"\n"}),
        ),
        (media(FileKind::Image, picture, None), "sendImage", json!({"file": fields("image/png")})),
        (
            media(FileKind::Video, file("v", "video/mp4", None).await, None),
            "sendVideo",
            json!({"file": fields("video/mp4"), "caption": "", "convert": false}),
        ),
        (
            media(FileKind::Document, contract, Some("Contrato")),
            "sendFile",
            json!({"file": {"mimetype": "application/pdf", "filename": "a \"b\".pdf",
                "data": null}, "caption": "Contrato"}),
        ),
        (
            voice("som").await,
            "sendVoice",
            json!({"file": fields("audio/ogg; codecs=opus"), "convert": false}),
        ),
        (
            media(FileKind::Sticker, file("s", "image/webp", None).await, None),
            "sendSticker",
            json!({"file": fields("image/webp")}),
        ),
    ]
}

/// R337.
#[tokio::test]
async fn a_file_of_each_kind_reaches_a_person_on_every_engine() {
    for engine in WahaEngine::ALL {
        for (content, route, expected) in each().await {
            let scene = Scene::new(engine);
            let accepted = scene.send_content(1, LISBON, content).await.expect("accepted");
            let sent = scene.waha.accepted().remove(0);
            assert_eq!((&*sent.route, &*sent.chat), (route, "351912345678@c.us"), "{engine:?}");
            assert_eq!(accepted.provider_id.as_str(), sent.raw_id, "{engine:?} {route}");
            assert_eq!(sent.is_callers_id, engine.takes_ids(), "{engine:?} {route}");
            let mut body = json!({"session": "loja1", "chatId": "351912345678@c.us"});
            if engine.takes_ids() {
                body["id"] = raw_id(1).into();
            }
            for (name, value) in expected.as_object().expect("an object") {
                body[name] = value.clone();
            }
            assert_eq!(sent.body, body, "{engine:?} {route}");
            assert!(sent.file.is_some_and(|bytes| !bytes.is_empty()), "{route}");
            scene.assert_clean();
        }
    }
}

#[tokio::test]
async fn the_bytes_arrive_as_they_are_and_are_not_held() {
    let scene = Scene::new(WahaEngine::Gows);
    let bytes: String = (0..70_001).map(|n| char::from(b'a' + (n % 23) as u8)).collect();
    let content = media(FileKind::Document, file(&bytes, "text/plain", Some("a.txt")).await, None);
    scene.send_content(1, LISBON, content.clone()).await.expect("accepted");
    assert_eq!(scene.waha.accepted()[0].file.as_deref(), Some(bytes.as_bytes()));
    let transport = ScriptedTransport::new();
    transport.then_json(201, &json!({"id": "true_351912345678@c.us_3EB0"}));
    let outgoing = scene.outgoing_content(2, LISBON, content);
    let sent = scene.adapter.send(&transport, &scene.connection, &outgoing).await;
    sent.expect("accepted");
    let request = transport.requests().remove(0);
    assert!(request.body.len() < 1_000, "the file is not in the body");
    let attached = request.attached.expect("a file");
    assert_eq!((attached.encoding, attached.file.size()), (FileEncoding::Base64, 70_001));
}

#[tokio::test]
async fn sound_that_is_no_voice_note_is_not_sent_as_one() {
    let scene = Scene::new(WahaEngine::Noweb);
    let content = media(FileKind::Audio, file("som", "audio/mpeg", None).await, None);
    let failure = failure_of(scene.send_content(1, LISBON, content).await);
    assert!(matches!(failure, SendFailure::Refused(_)), "{failure:?}");
    assert_eq!(scene.paths(), ["GET /api/sessions/loja1"], "the engine alone was asked for");
}

#[tokio::test]
async fn a_version_without_stickers_refuses_the_sticker_and_stays_connected() {
    let scene = Scene::new(WahaEngine::Gows);
    scene.waha.set_has_stickers(false);
    let content = media(FileKind::Sticker, file("s", "image/webp", None).await, None);
    let SendFailure::Refused(failure) = failure_of(scene.send_content(1, LISBON, content).await)
    else {
        panic!("refused")
    };
    assert_eq!(failure.code, DeliveryCode::ContentRejected);
    assert!(failure.message.is_some_and(|text| text.contains("sendSticker")));
    scene.assert_clean();
}

#[tokio::test]
async fn a_body_that_waha_does_not_read_was_surely_not_sent() {
    let scene = Scene::new(WahaEngine::Gows);
    let bytes = "x".repeat(40 * 1024 * 1024);
    let content = media(FileKind::Document, file(&bytes, "text/plain", Some("a.txt")).await, None);
    let failure = failure_of(scene.send_content(1, LISBON, content).await);
    assert!(matches!(failure, SendFailure::Refused(_)), "{failure:?}");
    assert_eq!(scene.waha.accepted(), []);
}
