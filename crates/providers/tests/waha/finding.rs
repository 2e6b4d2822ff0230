//! Searching for messages whose sends have an unknown outcome.

use std::time::Duration;

use recado_core::gateway::{Content, FileKind, Lookup, Provider, SendFailure};
use recado_core::messages::MessageType;
use recado_testkit::ScriptedTransport;
use recado_testkit::gateways::{SendBehaviour, WahaEngine};
use serde_json::json;

use super::support::{LISBON, NOW, Scene, failure_of, file, media, raw_id};

async fn found(scene: &Scene, lookup: &Lookup) -> Option<String> {
    let found = scene.adapter.find_sent(&scene.transport, &scene.connection, lookup).await;
    found.expect("it answers").map(|accepted| accepted.provider_id.as_str().to_owned())
}

#[tokio::test]
async fn an_uncertain_send_is_found_on_every_engine() {
    for engine in WahaEngine::ALL {
        let scene = Scene::new(engine);
        scene.waha.set_number("5534991234567", Some("553491234567"));
        scene.waha.script([SendBehaviour::AcceptThenDrop]);
        let failure = failure_of(scene.send(1, "5534991234567").await);
        assert!(matches!(failure, SendFailure::Uncertain(_)));
        let raw = scene.waha.accepted()[0].raw_id.clone();
        assert_eq!(found(&scene, &scene.lookup(1, "5534991234567")).await, Some(raw), "{engine:?}");
        scene.assert_clean();
    }
}

#[tokio::test]
async fn what_was_not_sent_is_not_found() {
    for engine in WahaEngine::ALL {
        let scene = Scene::new(engine);
        scene.waha.receive("351912345678@c.us", "Ana", "Olá");
        assert_eq!(found(&scene, &scene.lookup(1, LISBON)).await, None, "{engine:?}");
        scene.assert_clean();
    }
}

#[tokio::test]
async fn our_id_finds_our_message_and_no_other_of_the_same_text() {
    let scene = Scene::new(WahaEngine::Noweb);
    scene.send(1, LISBON).await.expect("accepted");
    assert_eq!(found(&scene, &scene.lookup(2, LISBON)).await, None);
    assert_eq!(found(&scene, &scene.lookup(1, LISBON)).await, Some(raw_id(1)));
}

#[tokio::test]
async fn without_an_id_text_time_and_sender_have_to_fit() {
    let scene = Scene::new(WahaEngine::Webjs);
    scene.waha.type_on_phone("351912345678@c.us", "Olá");
    assert_eq!(found(&scene, &scene.lookup(1, LISBON)).await, None, "typed on the phone");
    for (at, why) in [
        (NOW.plus(Duration::from_secs(601)), "too late"),
        (NOW.minus(Duration::from_secs(61)), "made before ours, so another program's"),
    ] {
        scene.waha.set_now(at);
        scene.send(1, LISBON).await.expect("accepted");
        assert_eq!(found(&scene, &scene.lookup(1, LISBON)).await, None, "{why}");
    }
    for (at, why) in [
        (NOW.plus(Duration::from_secs(600)), "late"),
        (NOW.minus(Duration::from_secs(60)), "by a clock that is behind"),
        (NOW.plus(Duration::from_secs(5)), "the nearest"),
    ] {
        scene.waha.set_now(at);
        scene.send(1, LISBON).await.expect("accepted");
        let last = scene.waha.accepted().pop().expect("a message").raw_id;
        assert_eq!(found(&scene, &scene.lookup(1, LISBON)).await, Some(last), "{why}");
    }
    scene.assert_clean();
}

/// R132.
#[tokio::test]
async fn what_the_gateway_has_was_sent_unless_it_failed() {
    for engine in WahaEngine::ALL {
        let scene = Scene::new(engine);
        scene.send(1, LISBON).await.expect("accepted");
        let raw = scene.waha.accepted()[0].raw_id.clone();
        // An acceptance only means that the message waits, with ack 0.
        for (ack, is_proof) in [(0, true), (-1, false), (1, true), (3, true)] {
            let _ = scene.waha.webhook_ack(&raw, ack);
            let expected = is_proof.then(|| raw.clone());
            let found = found(&scene, &scene.lookup(1, LISBON)).await;
            assert_eq!(found, expected, "{engine:?} {ack}");
        }
        scene.assert_clean();
    }
}

#[tokio::test]
async fn a_message_is_found_where_the_session_reports_nothing_of_itself() {
    let message = json!({"id": format!("true_351912345678@c.us_{}", raw_id(1)), "fromMe": true,
        "ack": 0, "body": "Olá", "timestamp": NOW.millis() / 1000});
    let not_by_id = json!({"message": "'all' is not supported by this engine"});
    for (answers, why) in [
        (vec![(200, message.clone())], "by its id"),
        (vec![(404, json!({})), (200, json!([message.clone()]))], "by what it says"),
        (vec![(422, not_by_id), (200, json!([message.clone()]))], "on an engine without ids"),
    ] {
        for session in [(404, json!({})), (200, json!({"status": "WORKING", "engine": {}}))] {
            let transport = ScriptedTransport::new();
            transport.then_json(session.0, &session.1);
            for (status, body) in &answers {
                transport.then_json(*status, body);
            }
            let scene = Scene::new(WahaEngine::Gows);
            let lookup = scene.lookup(1, LISBON);
            let found = scene.adapter.find_sent(&transport, &scene.connection, &lookup).await;
            let found = found.expect("it answers").map(|found| found.provider_id);
            assert_eq!(found.expect(why).as_str(), raw_id(1), "{why}");
        }
    }
}

#[tokio::test]
async fn a_gateway_that_cannot_be_asked_proves_nothing() {
    let scene = Scene::new(WahaEngine::Gows);
    scene.waha.set_status("FAILED");
    let lookup = scene.lookup(1, LISBON);
    let asked = scene.adapter.find_sent(&scene.transport, &scene.connection, &lookup).await;
    assert!(asked.is_err());
    scene.waha.set_up(false);
    let asked = scene.adapter.find_sent(&scene.transport, &scene.connection, &lookup).await;
    assert!(asked.is_err());
}

/// A lookup of a file with this caption.
fn of_file(scene: &Scene, kind: MessageType, caption: &str) -> Lookup {
    let content = Content::Text(caption.to_owned());
    Lookup::new(scene.outgoing_content(1, LISBON, content), kind, NOW)
}

#[tokio::test]
async fn a_file_is_found_by_our_id_or_by_its_type_and_caption() {
    for engine in WahaEngine::ALL {
        for caption in [Some("Veja"), None] {
            let scene = Scene::new(engine);
            scene.waha.script([SendBehaviour::AcceptThenDrop]);
            let picture = file("foto", "image/png", None).await;
            let content = media(FileKind::Image, picture, caption);
            let failure = failure_of(scene.send_content(1, LISBON, content).await);
            assert!(matches!(failure, SendFailure::Uncertain(_)), "{failure:?}");
            let raw = scene.waha.accepted()[0].raw_id.clone();
            let lookup = of_file(&scene, MessageType::Image, caption.unwrap_or_default());
            // Without an id and a caption it cannot be told from another picture.
            let is_known = engine.takes_ids() || caption.is_some();
            assert_eq!(found(&scene, &lookup).await, is_known.then_some(raw), "{engine:?}");
            scene.assert_clean();
        }
    }
}

#[tokio::test]
async fn a_file_is_not_taken_for_a_text_nor_for_another_sort_of_file() {
    let scene = Scene::new(WahaEngine::Webjs);
    let picture = file("foto", "image/png", None).await;
    let content = media(FileKind::Image, picture, Some("Olá"));
    scene.send_content(1, LISBON, content).await.expect("accepted");
    assert_eq!(found(&scene, &scene.lookup(1, LISBON)).await, None, "a text of the same words");
    for kind in [MessageType::Document, MessageType::Audio, MessageType::Location] {
        assert_eq!(found(&scene, &of_file(&scene, kind, "Olá")).await, None, "{kind:?}");
    }
    let lookup = of_file(&scene, MessageType::Image, "Olá");
    assert!(found(&scene, &lookup).await.is_some());
}
