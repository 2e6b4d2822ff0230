//! Messages that a gateway reports having sent for a program: proof of a send whose answer was
//! lost, and never stored as new messages (D28, D42a).

use std::time::Duration;

use recado_core::Clock as _;
use recado_core::Timestamp;
use recado_core::gateway::{FileKind, GatewayEvent, Missed, OwnSend, SendFailure};
use recado_core::inbox::{EventOutcome, EventResult};
use recado_core::messages::{DeliveryCode, Failure, MessageStatus, MessageType};

use super::gateway_scene::*;

fn sent(id: &str, text: &str) -> OwnSend {
    OwnSend {
        provider_id: wamid(id),
        reference: None,
        peer: PEER.to_owned(),
        aliases: Vec::new(),
        message_type: None,
        content: Some(text.to_owned()),
        timestamp: None,
    }
}

async fn tell(scene: &Scene, sent: OwnSend) -> EventResult {
    scene.messaging.receive(vec![Ok(GatewayEvent::OwnSend(sent))]).await.remove(0)
}

async fn total(scene: &Scene) -> usize {
    scene.messaging.messages().await.len()
}

#[tokio::test]
async fn a_message_that_is_known_by_its_id_is_no_news() {
    let scene = scene("waha").await;
    scene.kit.provider.then_accept("w1");
    let known = scene.messaging.send(PHONE, "Oi").await.unwrap().message_id;
    let reported = tell(&scene, sent("w1", "Oi")).await;
    assert_eq!((reported.result, reported.message_id), (EventOutcome::Duplicate, Some(known)));
    scene.messaging.status("w1", "read").await;
    tell(&scene, sent("w1", "Oi")).await;
    assert_eq!((scene.outcome(known).await.0.as_str(), total(&scene).await), ("read", 1));
}

#[tokio::test]
async fn a_reference_proves_its_message_whatever_it_says() {
    let scene = scene("waha").await;
    let ids = [scene.send_uncertainly("Oi").await, scene.send_uncertainly("Oi").await];
    let proof = OwnSend { reference: Some(ids[1]), ..sent("w1", "algo mais") };
    assert_eq!(tell(&scene, proof).await.message_id, Some(ids[1]));
    assert!(scene.is_uncertain(ids[0]).await);
    let (status, why, id) = scene.outcome(ids[1]).await;
    assert_eq!((status.as_str(), why, id.as_deref()), ("sent", None, Some("w1")));
}

/// R111.
#[tokio::test]
async fn the_same_text_to_the_same_person_proves_an_uncertain_send() {
    let scene = scene("evolution").await;
    let id = scene.send_uncertainly("Oi").await;
    assert_eq!(tell(&scene, sent("w1", "Oi")).await.message_id, Some(id));
    assert_eq!(scene.outcome(id).await.2.as_deref(), Some("w1"));
    assert_eq!(tell(&scene, sent("w1", "Oi")).await.result, EventOutcome::Duplicate);
    // The next one is another message, of which nothing is known here.
    tell(&scene, sent("w2", "Oi")).await;
    assert_eq!((scene.outcome(id).await.2.as_deref(), total(&scene).await), (Some("w1"), 1));
}

/// R111, R341.
#[tokio::test]
async fn a_file_is_proved_by_its_type_and_caption() {
    let scene = scene("evolution").await;
    let id = scene.send_file_uncertainly(FileKind::Image, Some("Veja")).await;
    let bare = scene.send_file_uncertainly(FileKind::Video, None).await;
    let of = |kind, caption: Option<&str>| OwnSend {
        message_type: Some(kind),
        content: caption.map(str::to_owned),
        ..sent("w1", "")
    };
    for other in [
        of(MessageType::Text, Some("Veja")),
        of(MessageType::Video, Some("Veja")),
        of(MessageType::Image, Some("Outra")),
        of(MessageType::Image, None),
        of(MessageType::Video, None),
    ] {
        tell(&scene, other.clone()).await;
        assert!(scene.is_uncertain(id).await && scene.is_uncertain(bare).await, "{other:?}");
    }
    let proof = OwnSend { provider_id: wamid("w2"), ..of(MessageType::Image, Some("Veja")) };
    assert_eq!(tell(&scene, proof).await.message_id, Some(id));
    assert_eq!(scene.outcome(id).await.2.as_deref(), Some("w2"));
    assert!(scene.is_uncertain(bare).await);
}

/// R111.
#[tokio::test]
async fn what_is_not_the_same_proves_nothing() {
    let scene = scene("evolution").await;
    let id = scene.send_uncertainly("Oi").await;
    let now = scene.kit.clock.now();
    let apart = Duration::from_secs(601);
    let others = [
        sent("w1", "oi"),
        OwnSend { content: None, ..sent("w2", "Oi") },
        OwnSend { peer: "5534999999999".to_owned(), ..sent("w3", "Oi") },
        OwnSend { timestamp: Some(now.plus(apart)), ..sent("w4", "Oi") },
        // Another program's, from before ours was sent.
        OwnSend { timestamp: Some(now.minus(Duration::from_secs(61))), ..sent("w5", "Oi") },
    ];
    for other in others {
        tell(&scene, other.clone()).await;
        assert!(scene.is_uncertain(id).await, "{other:?}");
    }
    assert_eq!(total(&scene).await, 1, "none of them is a message of the company's software");
    let close = Some(now.plus(Duration::from_secs(600)));
    tell(&scene, OwnSend { timestamp: close, ..sent("w6", "Oi") }).await;
    assert_eq!(scene.outcome(id).await.2.as_deref(), Some("w6"));
}

/// R111.
#[tokio::test]
async fn a_time_that_no_live_call_can_tell_is_none() {
    let days = |days: u64| Duration::from_secs(days * 24 * 60 * 60);
    for far in [|now: Timestamp, by| now.minus(by), |now: Timestamp, by| now.plus(by)] {
        let scene = scene("evolution").await;
        let id = scene.send_uncertainly("Oi").await;
        let now = now_of(&scene);
        // Yesterday's call may be late, and is then of another message.
        let late = OwnSend { timestamp: Some(far(now, days(1) / 2)), ..sent("w1", "Oi") };
        tell(&scene, late).await;
        assert!(scene.is_uncertain(id).await);
        let wrong = OwnSend { timestamp: Some(far(now, days(400))), ..sent("w2", "Oi") };
        tell(&scene, wrong.clone()).await;
        assert_eq!(scene.outcome(id).await.2.as_deref(), Some("w2"));
        scene.call(here([reported("w2", MessageStatus::Delivered)])).await.unwrap();
        assert_eq!(scene.outcome(id).await.0, "delivered");
    }
}

/// R111.
#[tokio::test]
async fn what_a_gateway_was_asked_for_proves_nothing_by_coming_now() {
    let scene = scene("evolution").await;
    let id = scene.send_uncertainly("Oi").await;
    let now = now_of(&scene);
    let at =
        |timestamp, id: &str| Ok(GatewayEvent::OwnSend(OwnSend { timestamp, ..sent(id, "Oi") }));
    let year = Duration::from_secs(365 * 24 * 60 * 60);
    let pull = async |events| {
        let reported = Missed { events, more_from: None };
        scene.kit.provider.set_missed(Ok(reported));
        let connections = scene.kit.app.connections();
        connections.pull_missed(scene.kit.company.id, scene.connection(), now).await.unwrap();
    };
    pull(vec![at(None, "w1"), at(Some(now.minus(year)), "w2"), at(Some(now.plus(year)), "w3")])
        .await;
    assert!(scene.is_uncertain(id).await);
    pull(vec![at(Some(now), "w4")]).await;
    assert_eq!(scene.outcome(id).await.2.as_deref(), Some("w4"));
}

#[tokio::test]
async fn another_connection_proves_nothing() {
    let scene = scene("waha").await;
    let id = scene.send_uncertainly("Oi").await;
    let other = connect(&scene.kit, "waha", serde_json::json!({})).await;
    let events = vec![
        Ok(GatewayEvent::OwnSend(sent("w1", "Oi"))),
        Ok(GatewayEvent::OwnSend(OwnSend { reference: Some(id), ..sent("w2", "Oi") })),
    ];
    scene.kit.app.inbox().receive(scene.kit.company.id, other, events).await.unwrap();
    assert!(scene.is_uncertain(id).await);
}

/// R111.
#[tokio::test]
async fn of_several_uncertain_messages_each_proof_proves_one_the_oldest_first() {
    let scene = scene("evolution").await;
    let mut ids = Vec::new();
    for _ in 0..3 {
        ids.push(scene.send_uncertainly("Oi").await);
        scene.kit.clock.advance(Duration::from_secs(1));
    }
    for (n, proof) in ["w1", "w2", "w3"].into_iter().enumerate() {
        assert_eq!(tell(&scene, sent(proof, "Oi")).await.message_id, Some(ids[n]));
        for (m, id) in ids.iter().enumerate() {
            assert_eq!(scene.is_uncertain(*id).await, m > n, "{m} after {n}");
        }
    }
    tell(&scene, sent("w4", "Oi")).await;
    assert_eq!(total(&scene).await, 3);
}

#[tokio::test]
async fn several_proofs_in_one_call_prove_as_many_messages() {
    let scene = scene("evolution").await;
    let ids = [scene.send_uncertainly("Oi").await, scene.send_uncertainly("Oi").await];
    let events = ["w1", "w2"].map(|id| Ok(GatewayEvent::OwnSend(sent(id, "Oi"))));
    scene.call(here(events)).await.unwrap();
    let mut found = [scene.outcome(ids[0]).await.2, scene.outcome(ids[1]).await.2];
    found.sort();
    assert_eq!(found, [Some("w1".to_owned()), Some("w2".to_owned())]);
}

/// R111.
#[tokio::test]
async fn between_a_message_on_its_way_and_an_uncertain_one_nothing_is_guessed() {
    let scene = scene("evolution").await;
    let old = scene.send_uncertainly("Oi").await;
    let gate = scene.kit.provider.hold();
    scene.kit.provider.then_accept("w2");
    let send = scene.messaging.send(PHONE, "Oi");
    let proof = async {
        gate.reached(2).await;
        tell(&scene, sent("w2", "Oi")).await;
        assert!(scene.is_uncertain(old).await);
        gate.open();
    };
    let (answer, ()) = tokio::join!(send, proof);
    let answer = answer.unwrap();
    assert_eq!(scene.outcome(answer.message_id).await.2.as_deref(), Some("w2"));
    assert!(scene.is_uncertain(old).await);
}

/// The outcome of a send that the gateway has reported before it answered.
async fn proved_on_its_way(answer: recado_core::gateway::SendResult) -> (Scene, bool) {
    let scene = scene("evolution").await;
    let gate = scene.kit.provider.hold();
    scene.kit.provider.then(answer);
    let send = scene.messaging.send(PHONE, "Oi");
    let proof = async {
        gate.reached(1).await;
        tell(&scene, sent("w1", "Oi")).await;
        gate.open();
    };
    let (answer, ()) = tokio::join!(send, proof);
    let is_ok = answer.is_ok();
    (scene, is_ok)
}

/// R112.
#[tokio::test]
async fn an_answer_that_is_lost_never_undoes_what_is_proved() {
    let (scene, _) = proved_on_its_way(Err(SendFailure::uncertain("timed out"))).await;
    let id = scene.kit.provider.sent()[0].outgoing.reference;
    let (status, why, provider_id) = scene.outcome(id).await;
    assert_eq!((status.as_str(), why, provider_id.as_deref()), ("sent", None, Some("w1")));
    assert_eq!(scene.reported("message.sent").len(), 1);
    assert_eq!(scene.reported("message.status_updated").len(), 0);
    scene.after(900).await;
    assert_eq!(scene.kit.provider.looked_up(), [], "there is nothing to look for");
}

#[tokio::test]
async fn an_answer_after_the_proof_is_no_news() {
    let accepted = recado_core::gateway::Accepted {
        provider_id: wamid("w1"),
        recipient: None,
        aliases: Vec::new(),
    };
    let (scene, is_ok) = proved_on_its_way(Ok(accepted)).await;
    assert!(is_ok);
    let id = scene.kit.provider.sent()[0].outgoing.reference;
    assert_eq!(scene.outcome(id).await.0, "sent");
    assert_eq!(scene.reported("message.sent").len(), 1);
    assert_eq!(total(&scene).await, 1);
}

#[tokio::test]
async fn a_process_that_dies_after_the_proof_leaves_a_sent_message() {
    let scene = scene("evolution").await;
    let gate = scene.kit.provider.hold();
    assert!(super::run_until_it_hangs(scene.messaging.send(PHONE, "Oi")).is_none());
    tell(&scene, sent("w1", "Oi")).await;
    let id = scene.kit.provider.sent()[0].outgoing.reference;
    scene.kit.clock.advance(recado_core::workers::LEASE + Duration::from_secs(1));
    while scene.kit.app.sending().recover().await.unwrap() {}
    assert_eq!(scene.outcome(id).await.0, "sent");
    drop(gate);
}

#[tokio::test]
async fn what_another_program_sent_makes_no_message_and_no_contact() {
    let scene = scene("waha").await;
    let reported = tell(&scene, sent("w1", "de outro sistema")).await;
    assert_ne!(reported.result, EventOutcome::Refused);
    assert_eq!(total(&scene).await, 0);
    assert_eq!(scene.reported("contact.created").len(), 0);
    // A later send that is answered with this id becomes `sent`, and no more.
    scene.kit.provider.then_accept("w1");
    let id = scene.messaging.send(PHONE, "Oi").await.unwrap().message_id;
    assert_eq!(scene.outcome(id).await.0, "sent");
}

#[tokio::test]
async fn a_message_that_surely_failed_is_not_what_was_sent() {
    let scene = scene("waha").await;
    scene.kit.provider.then(Err(SendFailure::refused(DeliveryCode::Payment, "pague")));
    scene.messaging.send(PHONE, "Oi").await.unwrap_err();
    let id = scene.kit.provider.sent()[0].outgoing.reference;
    tell(&scene, sent("w1", "Oi")).await;
    let (status, why, provider_id) = scene.outcome(id).await;
    assert_eq!((status.as_str(), provider_id), ("failed", None));
    assert_ne!(why.as_deref(), Some("delivery_uncertain"));
}

#[tokio::test]
async fn a_proof_is_kept_with_what_came_of_the_message() {
    let scene = scene("waha").await;
    let id = scene.send_uncertainly("Oi").await;
    // First a status of an unknown id, then the message.
    scene.call(here([reported("w1", MessageStatus::Delivered)])).await.unwrap();
    assert!(scene.is_uncertain(id).await);
    tell(&scene, OwnSend { timestamp: Some(now_of(&scene)), ..sent("w1", "Oi") }).await;
    assert_eq!(scene.outcome(id).await.2.as_deref(), Some("w1"));
    assert_eq!(scene.outcome(id).await.0, "delivered");
}

#[tokio::test]
async fn a_failure_that_was_reported_first_is_reported_after_the_send() {
    let scene = scene("waha").await;
    let id = scene.send_uncertainly("Oi").await;
    scene.call(here([reported_failed("w1")])).await.unwrap();
    tell(&scene, sent("w1", "Oi")).await;
    let (status, why, provider_id) = scene.outcome(id).await;
    assert_eq!((status.as_str(), provider_id.as_deref()), ("failed", Some("w1")));
    assert_ne!(why.as_deref(), Some("delivery_uncertain"));
    let reported = scene.reported("message.status_updated");
    let reported: Vec<&str> =
        reported.iter().map(|event| event["status"].as_str().unwrap()).collect();
    assert_eq!(reported, ["failed", "sent", "failed"]);
}

fn reported_failed(id: &str) -> recado_core::gateway::Incoming {
    let mut report = reported(id, MessageStatus::Failed);
    if let Ok(GatewayEvent::Status(status)) = &mut report {
        status.failure = Some(Failure::new(DeliveryCode::Media, None));
    }
    report
}

fn now_of(scene: &Scene) -> Timestamp {
    scene.kit.clock.now()
}
