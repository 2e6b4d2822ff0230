//! Whole conversations with the gateway.

use std::time::Duration;

use recado_core::gateway::{GatewayEvent, Provider, SendFailure};
use recado_core::messages::{DeliveryCode, MessageStatus};
use recado_testkit::gateways::{EvolutionVersion, FakeEvolution, SendBehaviour};
use serde_json::{Value, json};

use crate::scene::{Scene, lookup, only, status, text_to, text_to_group};

const PHONE: &str = "5534991234567";
const LID: &str = "123456@lid";

#[tokio::test]
async fn a_text_goes_out_comes_far_and_is_answered() {
    let scene = Scene::with(FakeEvolution::at("http://gw.example/evo/"));
    let accepted = scene.send(&text_to(PHONE, "Olá")).await.expect("sent");
    let sent = scene.fake.accepted();
    assert_eq!((sent[0].number.as_str(), sent[0].text.as_str()), (PHONE, "Olá"));
    assert_eq!(accepted.provider_id.as_str(), sent[0].id);
    // The channel knows the number without its ninth digit.
    assert_eq!(accepted.recipient.as_deref(), Some("553491234567"));
    assert!(accepted.aliases.is_empty());
    for (word, expected) in [
        ("SERVER_ACK", MessageStatus::Sent),
        ("DELIVERY_ACK", MessageStatus::Delivered),
        ("READ", MessageStatus::Read),
    ] {
        let webhook = scene.fake.acknowledge(accepted.provider_id.as_str(), word);
        let reported = status(only(scene.receive(&webhook)));
        assert_eq!(
            (reported.provider_id, reported.status),
            (accepted.provider_id.clone(), expected)
        );
    }
    let answer = scene.fake.incoming(PHONE, "Oi!");
    match only(scene.receive(&scene.fake.webhook_message(&answer))) {
        GatewayEvent::Message(message) => {
            assert_eq!(Some(message.peer), accepted.recipient);
            assert_eq!(message.content.as_deref(), Some("Oi!"));
        }
        other => panic!("not a message: {other:?}"),
    }
    // Further sends use the channel's name for the person.
    scene.send(&text_to("553491234567", "Tudo bem?")).await.expect("sent");
    assert_eq!(scene.fake.accepted()[1].remote_jid, sent[0].remote_jid);
    assert_eq!(scene.fake.violations(), [""; 0]);
}

#[tokio::test]
async fn a_person_known_by_lid_is_sent_to_and_learnt() {
    let scene = Scene::new();
    scene.fake.version(EvolutionVersion::V2_4).add_lid(PHONE, LID);
    let accepted = scene.send(&text_to(LID, "Olá")).await.expect("sent");
    assert_eq!(scene.fake.accepted()[0].number, LID);
    assert_eq!(accepted.recipient.as_deref(), Some("553491234567"));
    assert_eq!(accepted.aliases, [LID]);
    let stranger = scene.send(&text_to("777@lid", "Olá")).await.expect("sent");
    assert_eq!((stranger.recipient.as_deref(), stranger.aliases.len()), (Some("777@lid"), 0));
    assert_eq!(scene.fake.violations(), [""; 0]);
}

#[tokio::test]
async fn a_group_is_sent_to_by_its_address_at_the_gateway() {
    let scene = Scene::new();
    scene.fake.add_group(json!({"id": "5534999-1400000000@g.us"}));
    let outgoing = text_to_group("5534999-1400000000@grupos.example", "Olá");
    let accepted = scene.send(&outgoing).await.expect("sent");
    assert_eq!(scene.fake.accepted()[0].remote_jid, "5534999-1400000000@g.us");
    assert_eq!((accepted.recipient, accepted.aliases.len()), (None, 0));
    assert_eq!(scene.fake.violations(), [""; 0]);
}

#[tokio::test]
async fn an_error_after_the_message_left_is_uncertain_until_its_webhook_proves_it() {
    let scene = Scene::new();
    let error = FakeEvolution::error(400, &json!(["Error: Timed Out"]));
    scene.fake.script([SendBehaviour::AcceptThenError(400, error)]);
    let failure = scene.send(&text_to(PHONE, "Olá")).await.expect_err("uncertain");
    assert!(matches!(failure, SendFailure::Uncertain(_)), "{failure:?}");
    let id = scene.fake.accepted()[0].id.clone();
    match only(scene.receive(&scene.fake.webhook_sent(&id))) {
        GatewayEvent::OwnSend(sent) => {
            assert_eq!(
                (sent.provider_id.as_str(), sent.peer.as_str()),
                (id.as_str(), "553491234567")
            );
            assert_eq!(sent.content.as_deref(), Some("Olá"));
        }
        other => panic!("not an own send: {other:?}"),
    }
    assert_eq!(scene.fake.accepted().len(), 1);
}

#[tokio::test]
async fn whatever_goes_wrong_after_the_message_left_is_uncertain_and_found() {
    let text = |status: u16, message: Value| {
        SendBehaviour::AcceptThenError(status, FakeEvolution::error(status, &message))
    };
    for behaviour in [
        SendBehaviour::AcceptThenDrop,
        SendBehaviour::AcceptLate(Duration::from_secs(20)),
        SendBehaviour::AcceptWithoutId,
        text(400, json!(["Error: Connection Closed"])),
        text(500, json!("Internal Server Error")),
    ] {
        let scene = Scene::new();
        scene.fake.script([behaviour.clone()]);
        let outgoing = text_to(PHONE, "Olá");
        let failure = scene.send(&outgoing).await.expect_err("uncertain");
        assert!(matches!(failure, SendFailure::Uncertain(_)), "{behaviour:?}: {failure:?}");
        let lookup = lookup(outgoing, 1_760_000_000_000);
        let found = scene.provider.find_sent(&scene.transport, &scene.connection, &lookup).await;
        let found = found.expect("an answer").expect("it was sent");
        assert_eq!(found.provider_id.as_str(), scene.fake.accepted()[0].id);
        assert_eq!(scene.fake.accepted().len(), 1, "{behaviour:?}");
    }
}

#[tokio::test]
async fn an_answer_just_in_time_is_an_answer() {
    let scene = Scene::new();
    scene.fake.script([SendBehaviour::AcceptLate(Duration::from_millis(19_999))]);
    assert!(scene.send(&text_to(PHONE, "Olá")).await.is_ok());
}

#[tokio::test]
async fn a_gateway_that_accepts_no_connection_sent_nothing() {
    let scene = Scene::new();
    scene.fake.script([SendBehaviour::Refuse]);
    let failure = scene.send(&text_to(PHONE, "Olá")).await.expect_err("unreachable");
    assert!(matches!(failure, SendFailure::Unreachable(_)), "{failure:?}");
    assert_eq!(failure.failure().code, DeliveryCode::Network);
    assert!(scene.fake.accepted().is_empty());
}

#[tokio::test]
async fn a_pairing_brings_the_history_before_it() {
    let scene = Scene::new();
    let records = [scene.fake.incoming(PHONE, "Oi"), scene.fake.typed(PHONE, "Olá")];
    let reported = scene.receive(&scene.fake.webhook_history(&records));
    let [Ok(GatewayEvent::Message(message)), Ok(GatewayEvent::Echo(echo))] = reported.as_slice()
    else {
        panic!("{reported:?}")
    };
    assert!(message.history && echo.history);
    let opened = only(scene.receive(&scene.fake.change_state("open")));
    assert!(matches!(opened, GatewayEvent::Connection(_)), "{opened:?}");
}

#[tokio::test]
async fn the_same_message_reported_twice_has_the_same_id() {
    let scene = Scene::new();
    let record = scene.fake.incoming(PHONE, "Oi");
    let webhook = scene.fake.webhook_message(&record);
    assert_eq!(scene.receive(&webhook), scene.receive(&webhook));
}
