//! What is pulled after an outage.

use std::time::Duration;

use recado_core::Timestamp;
use recado_core::gateway::{GatewayEvent, Missed, Provider, ProviderError};
use recado_core::messages::MessageStatus;
use recado_core::transport::OutboundResponse;
use recado_testkit::ScriptedTransport;
use recado_testkit::gateways::WahaEngine;
use serde_json::{Value, json};

use super::support::{LISBON, NOW, Scene, message_id, raw_id};

const HOUR: Duration = Duration::from_secs(3600);

async fn missed(scene: &Scene, from: Timestamp) -> Result<Missed, ProviderError> {
    scene.adapter.missed(&scene.transport, &scene.connection, from, NOW.plus(HOUR)).await
}

#[tokio::test]
async fn both_sides_of_every_chat_are_reported_oldest_first_as_if_live() {
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
        let reported = missed(&scene, NOW).await.expect("it answers");
        assert_eq!(reported.more_from, None);
        let events: Vec<_> =
            reported.events.into_iter().map(|event| event.expect("readable")).collect();
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
    let reported = missed(&scene, NOW).await.expect("it answers");
    assert_eq!(reported.events.len(), 500);
    let more = reported.more_from.expect("there is more");
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
    let reported = missed(&scene, NOW).await.expect("it answers");
    assert!(reported.more_from.is_some_and(|more| more > NOW));
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

/// The result of a pull with these answers to its requests for messages, and the limits of those
/// requests.
async fn asked(answers: &[(u16, Value)]) -> (Result<Missed, ProviderError>, Vec<String>) {
    let scene = Scene::new(WahaEngine::Gows);
    let transport = ScriptedTransport::new();
    transport.then_json(200, &json!({"status": "WORKING", "engine": {"engine": "GOWS"}}));
    for (status, body) in answers {
        match body {
            // The beginning of an answer, as far as it was read.
            Value::String(part) => {
                transport.then(Ok(OutboundResponse::new(*status, part.clone())));
            }
            body => {
                transport.then_json(*status, body);
            }
        }
    }
    let reported = scene.adapter.missed(&transport, &scene.connection, NOW, NOW.plus(HOUR)).await;
    let bounds = transport.requests().into_iter().skip(1).map(|request| {
        let query = request.url.split_once('?').expect("a query").1.to_owned();
        query.split('&').take(2).collect::<Vec<_>>().join("&")
    });
    (reported, bounds.collect())
}

fn rows(count: usize) -> Value {
    let row = |n| {
        json!({"id": format!("false_351912345678@c.us_3A{n:04}"), "timestamp": 1_795_000_001,
            "from": "351912345678@c.us", "fromMe": false, "body": "Oi"})
    };
    (0..count).map(row).collect()
}

#[tokio::test]
async fn a_page_that_is_too_long_is_asked_for_in_smaller_ones() {
    let cut = || json!("[{\"id\": \"false_351912345678@c.us_3A0");
    let (reported, bounds) =
        asked(&[(200, rows(100)), (200, cut()), (200, rows(20)), (200, rows(3))]).await;
    let reported = reported.expect("it answers");
    assert_eq!((reported.events.len(), reported.more_from), (123, None));
    let expected = [
        "limit=100&offset=0",
        "limit=100&offset=100",
        "limit=20&offset=100",
        "limit=20&offset=120",
    ];
    assert_eq!(bounds, expected);
    let (reported, bounds) = asked(&[(200, cut()), (200, cut()), (200, rows(1))]).await;
    assert!(matches!(reported, Err(ProviderError::Failed(_))), "{reported:?}");
    assert_eq!(bounds.len(), 2, "not for ever");
}

#[tokio::test]
async fn small_pages_are_bounded_too() {
    let mut answers = vec![(200, json!("[{"))];
    answers.extend((0..5).map(|_| (200, rows(20))));
    let reported = asked(&answers).await.0.expect("it answers");
    assert_eq!(reported.events.len(), 100);
    assert!(reported.more_from.is_some(), "the rest is asked for later");
}

#[tokio::test]
async fn only_what_the_engine_cannot_do_is_given_up() {
    let engine = json!({"message": "The method is not implemented by 'WPP' engine."});
    for (status, body) in [(501, json!({})), (422, engine.clone()), (500, engine)] {
        let (reported, _) = asked(&[(status, body)]).await;
        assert_eq!(reported, Err(ProviderError::Unsupported), "{status}");
    }
    for status in [400, 404, 422, 500, 502] {
        let (reported, _) = asked(&[(status, json!({"message": "Not Found"}))]).await;
        assert!(matches!(reported, Err(ProviderError::Failed(_))), "{status}: {reported:?}");
    }
}
