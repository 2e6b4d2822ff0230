//! Events about known messages, and events that are ignored or unknown.

use recado_core::Timestamp;
use recado_core::gateway::GatewayEvent;
use recado_core::messages::{DeliveryCode, MessageStatus, MessageType};
use recado_testkit::gateways::WahaEngine;
use serde_json::{Value, json};

use super::support::{LISBON, NOW, SUFFIX, Scene, inbound, message_id, raw_id, status_of};

fn ack(fields: Value) -> Value {
    let mut payload = json!({"id": "true_553491234567@c.us_3EB0", "from": "551140028922@c.us",
        "to": "553491234567@c.us", "participant": null, "fromMe": true, "ack": 3,
        "ackName": "READ", "_data": {}});
    let Value::Object(fields) = fields else { panic!("an object") };
    for (name, value) in fields {
        payload[name] = value;
    }
    payload
}

#[test]
fn acks_tell_how_far_a_message_came() {
    let scene = Scene::new(WahaEngine::Gows);
    for (number, name, expected) in [
        (1, "SERVER", MessageStatus::Sent),
        (2, "DEVICE", MessageStatus::Delivered),
        (3, "READ", MessageStatus::Read),
        (4, "PLAYED", MessageStatus::Read),
    ] {
        for payload in [ack(json!({"ack": number})), ack(json!({"ack": null, "ackName": name}))] {
            let status = status_of(scene.event("message.ack", &payload));
            assert_eq!((status.status, status.provider_id.as_str()), (expected, "3EB0"));
            assert_eq!((status.failure, status.reference), (None, None));
            assert_eq!(status.timestamp, Some(NOW), "the time of the event");
        }
    }
    assert_eq!(scene.events("message.ack", &ack(json!({"ack": 0}))), []);
}

#[test]
fn an_error_without_a_reason_is_a_certain_failure() {
    let scene = Scene::new(WahaEngine::Gows);
    let status =
        status_of(scene.event("message.ack", &ack(json!({"ack": -1, "ackName": "ERROR"}))));
    assert_eq!(status.status, MessageStatus::Failed);
    let failure = status.failure.expect("it failed");
    assert_eq!(failure.code, DeliveryCode::Unknown);
    assert!(!failure.is_uncertain());
}

#[tokio::test]
async fn acks_lead_back_to_our_message_by_the_id_that_we_chose() {
    let scene = Scene::new(WahaEngine::Noweb);
    scene.send(1, LISBON).await.expect("accepted");
    let received = scene.take(&scene.waha.webhook_ack(&raw_id(1), 2)).expect("signed");
    let status = status_of(received[0].event.clone().expect("readable"));
    assert_eq!((status.reference, status.status), (Some(message_id(1)), MessageStatus::Delivered));
}

/// R122.
#[test]
fn receipts_of_single_members_and_of_others_messages_are_left_out() {
    let scene = Scene::new(WahaEngine::Gows);
    let member = json!({"id": "true_12036@g.us_3EB0_9@lid", "to": "12036@g.us",
        "participant": "9@lid"});
    assert_eq!(scene.events("message.ack", &ack(member.clone())), []);
    assert_eq!(scene.events("message.ack.group", &ack(member)), []);
    let of_raw_id = json!({"id": "3EB0", "to": "12036@g.us", "participant": "9@lid"});
    assert_eq!(scene.events("message.ack", &ack(of_raw_id)), []);
    for participant in [json!(null), json!("")] {
        let by_id = json!({"id": "true_12036@g.us_3EB0_9@lid", "participant": participant});
        assert_eq!(scene.events("message.ack", &ack(by_id)), []);
    }
    let others = json!({"id": "false_553491234567@c.us_3A0F", "fromMe": false});
    assert_eq!(scene.events("message.ack", &ack(others)), []);
    let status = json!({"id": "true_status@broadcast_3EB0", "to": "status@broadcast"});
    assert_eq!(scene.events("message.ack", &ack(status)), []);
    for (id, participant) in [
        ("true_12036@g.us_3EB0_551140028922@c.us", json!(null)),
        ("true_12036@g.us_3EB0_777@lid", json!("551140028922@c.us")),
        ("true_12036@g.us_3EB0", json!("777@lid")),
    ] {
        let whole_group = json!({"id": id, "to": "12036@g.us", "participant": participant});
        let status = status_of(scene.event("message.ack", &ack(whole_group)));
        assert_eq!((status.provider_id.as_str(), status.status), ("3EB0", MessageStatus::Read));
    }
}

#[test]
fn an_ack_that_cannot_be_read_is_kept() {
    let scene = Scene::new(WahaEngine::Gows);
    for fields in [
        json!({"ack": 9, "ackName": "?"}),
        json!({"ack": null, "ackName": null}),
        json!({"id": null}),
    ] {
        let events = scene.events("message.ack", &ack(fields.clone()));
        assert!(
            matches!(events.as_slice(), [Ok(GatewayEvent::Unknown(_))]),
            "{fields}: {events:?}"
        );
    }
}

#[test]
fn a_reaction_is_a_message_that_points_to_another() {
    let scene = Scene::new(WahaEngine::Gows);
    let payload = json!({"id": "false_553491234567@c.us_3A1B", "from": "553491234567@c.us",
        "to": "551140028922@c.us", "fromMe": false, "participant": null,
        "timestamp": 1_760_000_000.25, "_data": {"Info": {"PushName": "Maria"}},
        "reaction": {"text": "👍", "messageId": "true_553491234567@c.us_3EB0"}});
    let event = scene.event("message.reaction", &payload);
    let GatewayEvent::Message(message) = event else { panic!("{event:?}") };
    assert_eq!((message.message_type, message.content), (MessageType::Reaction, None));
    let reaction = message.blocks.reaction.expect("a reaction");
    assert_eq!(
        (reaction.emoji.as_deref(), reaction.provider_message_id.as_deref()),
        (Some("👍"), Some("3EB0"))
    );
    assert_eq!(message.quoted.expect("the target").as_str(), "3EB0");
    assert_eq!(message.provider_id.as_str(), "3A1B");
    assert_eq!(message.timestamp, Some(Timestamp::from_millis(1_760_000_000_250)));
}

#[test]
fn reactions_in_groups_and_own_ones_are_read() {
    let scene = Scene::new(WahaEngine::Gows);
    let reaction = |fields: Value| {
        let mut payload = inbound(fields);
        payload["reaction"]["messageId"] = "true_12036@g.us_3EB0_551140028922@c.us".into();
        payload
    };
    let in_group = reaction(json!({"id": "false_12036@g.us_3A_9@lid", "from": "12036@g.us",
        "participant": "9@lid", "reaction": {"text": "👍"}}));
    let GatewayEvent::Message(message) = scene.event("message.reaction", &in_group) else {
        panic!("a message")
    };
    assert_eq!(
        (message.peer, message.participant),
        (format!("12036@{SUFFIX}"), Some("9@lid".to_owned()))
    );
    let own = |source: &str| {
        reaction(json!({"id": "true_553491234567@c.us_3A", "fromMe": true, "source": source,
            "ack": 1, "reaction": {"text": "👍"}}))
    };
    assert_eq!(scene.events("message.reaction", &own("api")), [], "another program's");
    let events = scene.events("message.reaction", &own("app"));
    assert!(matches!(events.as_slice(), [Ok(GatewayEvent::Echo(_))]), "{events:?}");
    let event = scene.event("message.reaction", &inbound(json!({})));
    assert!(matches!(event, GatewayEvent::Unknown(_)), "{event:?}");
}

#[test]
fn a_change_of_a_text_names_the_message_that_was_changed() {
    let scene = Scene::new(WahaEngine::Gows);
    let payload = inbound(json!({"id": "false_553491234567@c.us_3AFF", "body": "novo",
        "editedMessageId": "3A0F"}));
    let event = scene.event("message.edited", &payload);
    let GatewayEvent::Edit { provider_id, content, timestamp } = event else { panic!("{event:?}") };
    assert_eq!((provider_id.as_str(), content.as_str()), ("3A0F", "novo"));
    assert_eq!(timestamp, Some(NOW), "the time of the change, not of the message");
    for fields in [json!({"body": "novo"}), json!({"editedMessageId": "3A0F", "body": null})] {
        let events = scene.events("message.edited", &inbound(fields));
        assert!(matches!(events.as_slice(), [Ok(GatewayEvent::Unknown(_))]), "{events:?}");
    }
}

#[test]
fn known_events_that_mean_nothing_here_are_left_out() {
    let scene = Scene::new(WahaEngine::Gows);
    let payload = json!({"id": "false_553491234567@c.us_3A", "from": "553491234567@c.us"});
    for event in [
        "presence.update",
        "call.received",
        "chat.archive",
        "label.upsert",
        "label.deleted",
        "label.chat.added",
        "label.chat.deleted",
        "engine.event",
        "state.change",
        "message.ack.group",
        "webhook.test",
    ] {
        assert_eq!(scene.events(event, &payload), [], "{event}");
    }
}

#[test]
fn an_unknown_event_is_reported_by_its_name() {
    let scene = Scene::new(WahaEngine::Gows);
    let event = scene.event("something.new", &json!({"x": 1}));
    let GatewayEvent::Unknown(report) = event else { panic!("{event:?}") };
    assert_eq!(report.kind, "something.new");
    assert_eq!(report.body["payload"], json!({"x": 1}));
}
