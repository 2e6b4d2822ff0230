//! What is pulled after an outage.

use std::time::Duration;

use recado_core::Timestamp;
use recado_core::gateway::{GatewayEvent, Missed, Provider, ProviderError};
use recado_core::messages::MessageStatus;
use recado_testkit::gateways::WahaEngine;

use super::support::{LISBON, NOW, Scene, message_id, raw_id};

const HOUR: Duration = Duration::from_secs(3600);

async fn missed(scene: &Scene, from: Timestamp) -> Result<Missed, ProviderError> {
    scene.adapter.missed(&scene.transport, &scene.connection, from, NOW.plus(HOUR)).await
}

#[tokio::test]
async fn both_sides_of_every_chat_are_told_oldest_first_as_if_live() {
    for engine in [WahaEngine::Noweb, WahaEngine::Gows] {
        let scene = Scene::new(engine);
        scene.waha.set_now(NOW.minus(HOUR));
        scene.waha.receive("351912345678@c.us", "Ana", "cedo demais");
        for (n, second) in (1..).zip([1, 2, 3, 4_u64]) {
            scene.waha.set_now(NOW.plus(Duration::from_secs(second)));
            match n {
                1 => drop(scene.waha.receive("553491234567@c.us", "Maria", "Oi")),
                2 => drop(scene.waha.type_on_phone("553491234567@c.us", "Bom dia")),
                3 => drop(scene.send(1, LISBON).await.expect("accepted")),
                _ => drop(scene.waha.receive_in_group("12036@g.us", "9@lid", "Bia", "Eu")),
            }
        }
        let _ = scene.waha.webhook_ack(&raw_id(1), 3);
        let told = missed(&scene, NOW).await.expect("it answers");
        assert_eq!(told.more_from, None);
        let events: Vec<_> =
            told.events.into_iter().map(|event| event.expect("readable")).collect();
        let [
            GatewayEvent::Message(first),
            GatewayEvent::Echo(typed),
            GatewayEvent::Status(sent),
            GatewayEvent::Message(last),
        ] = events.as_slice()
        else {
            panic!("{engine:?}: {events:?}")
        };
        assert_eq!((first.content.as_deref(), first.history), (Some("Oi"), false));
        assert_eq!(typed.content.as_deref(), Some("Bom dia"));
        assert_eq!((sent.reference, sent.status), (Some(message_id(1)), MessageStatus::Read));
        assert_eq!(last.participant.as_deref(), Some("9@lid"));
        scene.assert_clean();
    }
}

#[tokio::test]
async fn what_is_pulled_is_what_the_webhook_brought() {
    let scene = Scene::new(WahaEngine::Gows);
    let message = scene.waha.receive("553491234567@c.us", "Maria", "Oi");
    let by_webhook = scene.events("message.any", &message);
    assert_eq!(missed(&scene, NOW).await.expect("it answers").events, by_webhook);
}

#[tokio::test]
async fn a_pull_is_bounded_and_says_where_the_next_begins() {
    let scene = Scene::new(WahaEngine::Gows);
    for second in 0..503_u64 {
        scene.waha.set_now(NOW.plus(Duration::from_secs(second)));
        scene.waha.receive("553491234567@c.us", "Maria", &second.to_string());
    }
    let told = missed(&scene, NOW).await.expect("it answers");
    assert_eq!(told.events.len(), 500);
    let more = told.more_from.expect("there is more");
    assert_eq!(more, NOW.plus(Duration::from_secs(499)));
    let rest = missed(&scene, more).await.expect("it answers");
    assert_eq!((rest.events.len(), rest.more_from), (4, None), "the last one again");
    scene.assert_clean();
}

#[tokio::test]
async fn a_second_with_too_much_is_left_behind_in_the_end() {
    let scene = Scene::new(WahaEngine::Gows);
    for n in 0..501 {
        scene.waha.receive("553491234567@c.us", "Maria", &n.to_string());
    }
    let told = missed(&scene, NOW).await.expect("it answers");
    assert!(told.more_from.is_some_and(|more| more > NOW));
}

#[tokio::test]
async fn files_are_not_fetched_by_the_gateway_for_a_pull() {
    let scene = Scene::new(WahaEngine::Gows);
    missed(&scene, NOW).await.expect("it answers");
    let request = scene.waha.requests().pop().expect("a request");
    assert_eq!(request.parameter("downloadMedia"), Some("false"));
    assert_eq!(request.parameter("sortOrder"), Some("asc"));
    let seconds = (NOW.millis() / 1000).to_string();
    assert_eq!(request.parameter("filter.timestamp.gte"), Some(seconds.as_str()));
}

#[tokio::test]
async fn an_engine_that_cannot_tell_is_not_asked_for_ever_and_others_are_asked_later() {
    let scene = Scene::new(WahaEngine::Webjs);
    assert_eq!(missed(&scene, NOW).await, Err(ProviderError::Unsupported));
    let scene = Scene::new(WahaEngine::Gows);
    scene.waha.set_status("STARTING");
    assert!(matches!(missed(&scene, NOW).await, Err(ProviderError::Failed(_))));
    scene.waha.set_up(false);
    assert!(matches!(missed(&scene, NOW).await, Err(ProviderError::Failed(_))));
}
