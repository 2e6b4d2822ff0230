//! Messages that the paired number sent: by a program, or by the operator on the phone.

use recado_core::Timestamp;
use recado_core::gateway::{GatewayEvent, OwnSend};
use recado_core::messages::{MessageStatus, MessageType};
use recado_testkit::gateways::{SignedWebhook, WahaEngine};
use serde_json::{Value, json};

use super::outcomes::every_kind;
use super::support::{LISBON, NOW, SUFFIX, Scene, inbound, message_id, raw_id, status_of};

fn reported(scene: &Scene, webhook: &SignedWebhook) -> Vec<GatewayEvent> {
    let received = scene.take(webhook).expect("signed");
    received.into_iter().map(|received| received.event.expect("readable")).collect()
}

/// An own message, with other fields written over it.
fn own(fields: Value) -> Value {
    let mut payload = inbound(json!({"id": "true_553491234567@c.us_3EB0",
        "from": "551140028922@c.us", "to": "553491234567@c.us", "fromMe": true, "ack": 1,
        "_data": {}}));
    let Value::Object(fields) = fields else { panic!("an object") };
    for (name, value) in fields {
        payload[name] = value;
    }
    payload
}

#[tokio::test]
async fn a_message_of_ours_is_proved_by_the_id_that_we_chose() {
    for engine in [WahaEngine::Noweb, WahaEngine::Gows] {
        let scene = Scene::new(engine);
        scene.send(1, LISBON).await.expect("accepted");
        let sent = scene.waha.sent_message(&raw_id(1)).expect("kept");
        let events = reported(&scene, &scene.waha.webhook_message(&sent));
        assert_eq!(events.len(), 1, "{events:?}");
        let status = status_of(events[0].clone());
        assert_eq!(status.reference, Some(message_id(1)));
        assert_eq!(
            (status.provider_id.as_str(), status.status),
            (raw_id(1).as_str(), MessageStatus::Sent)
        );
    }
}

#[tokio::test]
async fn a_message_of_ours_without_our_id_is_reported_with_all_that_may_prove_it() {
    let scene = Scene::new(WahaEngine::Webjs);
    let accepted = scene.send(1, "5534991234567").await.expect("accepted");
    let sent = scene.waha.sent_message(accepted.provider_id.as_str()).expect("kept");
    let expected = GatewayEvent::OwnSend(OwnSend {
        provider_id: accepted.provider_id,
        reference: None,
        peer: "5534991234567".to_owned(),
        aliases: Vec::new(),
        message_type: Some(MessageType::Text),
        content: Some("Olá".to_owned()),
        timestamp: Some(NOW),
    });
    assert_eq!(reported(&scene, &scene.waha.webhook_message(&sent)), [expected]);
}

#[test]
fn what_another_program_sent_is_reported_as_such_and_how_far_it_came() {
    let scene = Scene::new(WahaEngine::Gows);
    let events = scene.events("message.any", &own(json!({"source": "api", "ack": 3})));
    let [Ok(GatewayEvent::OwnSend(sent)), Ok(GatewayEvent::Status(status))] = events.as_slice()
    else {
        panic!("{events:?}")
    };
    assert_eq!((sent.reference, status.reference), (None, None));
    assert_eq!((status.status, status.provider_id.as_str()), (MessageStatus::Read, "3EB0"));
    let failed = scene.events("message.any", &own(json!({"source": "api", "ack": -1})));
    let [Ok(GatewayEvent::Status(status))] = failed.as_slice() else { panic!("{failed:?}") };
    assert_eq!(status.status, MessageStatus::Failed);
    assert!(status.failure.as_ref().is_some_and(|failure| !failure.is_uncertain()));
}

#[test]
fn a_message_of_ours_that_is_not_out_yet_is_reported_with_its_reference() {
    let scene = Scene::new(WahaEngine::Gows);
    let id = format!("true_553491234567@c.us_{}", raw_id(3));
    let event = scene.event("message.any", &own(json!({"source": "api", "id": id, "ack": 0})));
    let GatewayEvent::OwnSend(sent) = event else { panic!("{event:?}") };
    assert_eq!(sent.reference, Some(message_id(3)));
}

#[test]
fn what_the_operator_typed_is_an_echo() {
    for engine in WahaEngine::ALL {
        let scene = Scene::new(engine);
        let typed = scene.waha.type_on_phone("553491234567@c.us", "Bom dia");
        let events = reported(&scene, &scene.waha.webhook_message(&typed));
        let [GatewayEvent::Echo(echo)] = events.as_slice() else { panic!("{events:?}") };
        assert_eq!((echo.peer.as_str(), echo.message_type), ("553491234567", MessageType::Text));
        assert_eq!(echo.content.as_deref(), Some("Bom dia"));
        assert_eq!((&echo.push_name, &echo.participant), (&None, &None), "not the own name");
    }
}

#[test]
fn an_echo_is_sent_however_far_it_came_unless_it_failed() {
    let scene = Scene::new(WahaEngine::Gows);
    for ack in 1..=4 {
        let events = scene.events("message.any", &own(json!({"source": "app", "ack": ack})));
        assert!(matches!(events.as_slice(), [Ok(GatewayEvent::Echo(_))]), "{ack}: {events:?}");
    }
    let events = scene.events("message.any", &own(json!({"source": "app", "ack": -1})));
    let [Ok(GatewayEvent::Echo(_)), Ok(GatewayEvent::Status(status))] = events.as_slice() else {
        panic!("{events:?}")
    };
    assert_eq!((status.status, status.reference), (MessageStatus::Failed, None));
}

#[test]
fn an_echo_in_a_group_is_of_the_group() {
    let scene = Scene::new(WahaEngine::Noweb);
    let typed = scene.waha.type_on_phone("12036300@g.us", "Bom dia");
    let events = reported(&scene, &scene.waha.webhook_message(&typed));
    let [GatewayEvent::Echo(echo)] = events.as_slice() else { panic!("{events:?}") };
    assert_eq!((&echo.peer, &echo.participant), (&format!("12036300@{SUFFIX}"), &None));
}

#[test]
fn the_phone_behind_the_lid_of_an_own_message_is_reported() {
    for engine in [WahaEngine::Noweb, WahaEngine::Gows] {
        let scene = Scene::new(engine);
        scene.waha.set_lid("553491234567", "123@lid");
        let typed = scene.waha.type_on_phone("123@lid", "Bom dia");
        let events = reported(&scene, &scene.waha.webhook_message(&typed));
        let [GatewayEvent::Echo(echo)] = events.as_slice() else { panic!("{events:?}") };
        assert_eq!(
            (echo.peer.as_str(), &echo.aliases),
            ("123@lid", &vec!["553491234567".to_owned()])
        );
    }
}

#[test]
fn the_phone_that_an_own_message_went_to_is_reported_beside_the_lid_in_its_id() {
    let scene = Scene::new(WahaEngine::Webjs);
    for (to, aliases) in [
        ("553491234567@c.us", vec!["553491234567".to_owned()]),
        ("9@lid", vec![]),
        ("551140028922@c.us", vec![]),
    ] {
        let payload = own(json!({"id": "true_123456@lid_3EB0", "to": to, "source": "app"}));
        let GatewayEvent::Echo(echo) = scene.event("message.any", &payload) else { panic!("{to}") };
        assert_eq!((echo.peer.as_str(), echo.aliases), ("123456@lid", aliases), "{to}");
    }
}

#[test]
fn an_own_message_that_does_not_say_who_wrote_it_may_be_ours_by_its_id() {
    let scene = Scene::new(WahaEngine::Gows);
    let payload = |raw: &str| {
        own(json!({"id": format!("true_553491234567@c.us_{raw}"), "source": null,
            "timestamp": 1_600_000_000}))
    };
    let events = scene.events("message.any", &payload(&raw_id(5)));
    let [Ok(GatewayEvent::OwnSend(sent)), Ok(GatewayEvent::Echo(echo))] = events.as_slice() else {
        panic!("{events:?}")
    };
    assert_eq!((sent.reference, &sent.content), (Some(message_id(5)), &None));
    assert_eq!(sent.provider_id, echo.provider_id);
    let events = scene.events("message.any", &payload("3EB0"));
    assert!(matches!(events.as_slice(), [Ok(GatewayEvent::Echo(_))]), "{events:?}");
}

#[test]
fn our_own_id_proves_a_message_that_the_gateway_has_forgotten_to_be_a_programs() {
    let scene = Scene::new(WahaEngine::Gows);
    let payload = |at: Timestamp| {
        own(json!({"id": format!("true_553491234567@c.us_{}", raw_id(5)), "source": "app",
            "ack": 2, "timestamp": at.millis() / 1000}))
    };
    let status = status_of(scene.event("message.any", &payload(NOW)));
    assert_eq!(status.reference, Some(message_id(5)));
    // A phone may make an id of the form of assigned ones, but not with the time of its message.
    let long_ago = Timestamp::from_millis(1_600_000_000_000);
    let events = scene.events("message.any", &payload(long_ago));
    assert!(matches!(events[0], Ok(GatewayEvent::Echo(_))), "{events:?}");
}

#[test]
fn notes_to_oneself_and_own_statuses_are_left_out() {
    let scene = Scene::new(WahaEngine::Gows);
    for chat in ["551140028922@c.us", "777@lid", "status@broadcast", "12@newsletter"] {
        let payload = own(json!({"id": format!("true_{chat}_3EB0"), "to": chat, "source": "app"}));
        assert_eq!(scene.events("message.any", &payload), [], "{chat}");
    }
}

#[tokio::test]
async fn a_message_of_any_kind_that_comes_back_is_no_second_one() {
    for engine in [WahaEngine::Noweb, WahaEngine::Webjs] {
        for content in every_kind() {
            let scene = Scene::new(engine);
            let kind = format!("{engine:?} {content:?}");
            let Ok(accepted) = scene.send_content(1, LISBON, content).await else {
                assert_eq!(engine, WahaEngine::Webjs, "{kind}");
                continue;
            };
            let sent = scene.waha.sent_message(accepted.provider_id.as_str()).expect("kept");
            let events = reported(&scene, &scene.waha.webhook_message(&sent));
            let named = match &events[..] {
                [GatewayEvent::Status(status)] => &status.provider_id,
                [GatewayEvent::OwnSend(own)] => &own.provider_id,
                other => panic!("{kind}: {other:?}"),
            };
            assert_eq!(*named, accepted.provider_id, "{kind}");
        }
    }
}
