//! Reports with further consequences: a certain failure, an opt-out of the recipient, or proof of a
//! send (D28, D35, D43).

use recado_core::conversations::ActionName;
use recado_core::gateway::{GatewayEvent, Incoming, SendFailure, StatusEvent};
use recado_core::ids::{ContactId, MessageId};
use recado_core::inbox::EventOutcome;
use recado_core::messages::{DeliveryCode, Failure, MessageStatus};
use recado_testkit::kit::body;
use serde_json::{Value, json};

use super::gateway_scene::*;
use super::{code, create_phone, shown};

fn status(id: &str, reference: Option<MessageId>, code: Option<DeliveryCode>) -> StatusEvent {
    StatusEvent {
        provider_id: wamid(id),
        reference,
        status: code.map_or(MessageStatus::Sent, |_| MessageStatus::Failed),
        failure: code.map(|code| Failure::new(code, None)),
        timestamp: None,
        names: Vec::new(),
    }
}

fn event(status: StatusEvent) -> Incoming {
    Ok(GatewayEvent::Status(status))
}

async fn tell(scene: &Scene, status: StatusEvent) -> EventOutcome {
    scene.messaging.receive(vec![event(status)]).await.remove(0).result
}

async fn act(scene: &Scene, contact: ContactId, action: ActionName) {
    let conversations = scene.kit.app.conversations();
    conversations.act(scene.kit.company.id, contact, action, &body(json!({}))).await.unwrap();
}

async fn is_blocked(scene: &Scene) -> bool {
    let sent = scene.messaging.send(PHONE, "Oi").await;
    sent.is_err() && code(sent) == "CONTACT_OPTED_OUT"
}

#[tokio::test]
async fn a_sure_failure_finishes_an_uncertain_message_whatever_comes_after() {
    let scene = scene("cloud_api").await;
    let id = scene.send_uncertainly("Oi").await;
    let reported = scene.reported("message.status_updated").len();
    let failed = status("w1", Some(id), Some(DeliveryCode::RecipientUnreachable));
    assert_eq!(tell(&scene, failed.clone()).await, EventOutcome::Stored);
    let outcome = ("failed".to_owned(), Some("provider".to_owned()), Some("w1".to_owned()));
    assert_eq!(scene.outcome(id).await, outcome);
    assert_eq!(scene.message(id).await["delivery_error"]["code"], "RECIPIENT_UNREACHABLE");
    assert_eq!(tell(&scene, failed).await, EventOutcome::Duplicate);
    assert_eq!(tell(&scene, status("w1", Some(id), None)).await, EventOutcome::Ignored);
    assert_eq!(scene.outcome(id).await, outcome);
    assert_eq!(scene.reported("message.status_updated").len(), reported, "it was failed all along");
}

#[tokio::test]
async fn an_uncertain_message_that_was_delivered_moves_on_and_an_older_failure_is_late() {
    let scene = scene("cloud_api").await;
    let id = scene.send_uncertainly("Oi").await;
    let delivered =
        StatusEvent { status: MessageStatus::Delivered, ..status("w1", Some(id), None) };
    assert_eq!(tell(&scene, delivered).await, EventOutcome::Stored);
    let failed = status("w1", Some(id), Some(DeliveryCode::RecipientUnreachable));
    assert_eq!(tell(&scene, failed).await, EventOutcome::Ignored);
    assert_eq!(scene.outcome(id).await, ("delivered".to_owned(), None, Some("w1".to_owned())));
}

/// R114.
#[tokio::test]
async fn a_refusal_because_the_recipient_wants_none_opts_them_out() {
    let scene = scene("cloud_api").await;
    let refused = || SendFailure::refused(DeliveryCode::RecipientOptedOut, "131050");
    scene.kit.provider.then(Err(refused()));
    assert_eq!(code(scene.messaging.send(PHONE, "Oi").await), "PROVIDER_ERROR");
    let reported = scene.reported("contact.opted_out");
    let contact = scene.messaging.newest().await["contact_id"].clone();
    assert_eq!(reported.len(), 1);
    assert_eq!(reported[0]["source"], "official_cloud_inbound");
    assert_eq!((&reported[0]["contact_id"], &reported[0]["phone"]), (&contact, &json!(PHONE)));
    assert_eq!(reported[0]["connection_id"], json!(scene.connection()));
    assert_eq!(
        reported[0]["opted_out_at"].as_str(),
        scene.reported("message.status_updated")[0]["contact"]["opted_out_at"].as_str()
    );
    assert!(reported[0]["opted_out_at"].is_string());
    assert!(is_blocked(&scene).await);

    // Again after it was lifted: a new block. While there is one: nothing.
    let contact = contact.as_str().and_then(ContactId::parse).unwrap();
    act(&scene, contact, ActionName::OptIn).await;
    act(&scene, contact, ActionName::EnableExternalAi).await;
    scene.kit.provider.then(Err(refused()));
    scene.messaging.send(PHONE, "Oi").await.unwrap_err();
    assert_eq!(scene.reported("contact.opted_out").len(), 2);
    let sent = scene.messaging.newest().await["id"].as_str().and_then(MessageId::parse).unwrap();
    let same = status("w9", Some(sent), Some(DeliveryCode::RecipientOptedOut));
    assert_ne!(tell(&scene, same).await, EventOutcome::Stored);
    assert_eq!(scene.reported("contact.opted_out").len(), 2);
}

/// R114.
#[tokio::test]
async fn a_report_that_the_recipient_wants_none_opts_them_out_once_per_block() {
    let scene = scene("cloud_api").await;
    let mut contact = None;
    for n in 0..2 {
        let (one, two) = (format!("w{n}.1"), format!("w{n}.2"));
        for id in [&one, &two] {
            scene.kit.provider.then_accept(id);
            contact = Some(scene.messaging.send(PHONE, "Oi").await.unwrap().contact_id);
        }
        for id in [&one, &two, &one] {
            tell(&scene, status(id, None, Some(DeliveryCode::RecipientOptedOut))).await;
        }
        assert!(is_blocked(&scene).await);
        assert_eq!(scene.reported("contact.opted_out").len(), n + 1);
        let contact = contact.unwrap();
        act(&scene, contact, ActionName::OptIn).await;
        act(&scene, contact, ActionName::EnableExternalAi).await;
        // An opt-out that was recorded is not recorded again.
        tell(&scene, status(&one, None, Some(DeliveryCode::RecipientOptedOut))).await;
        assert!(!is_blocked(&scene).await);
    }
}

#[tokio::test]
async fn a_report_that_overtakes_the_answer_opts_out_too() {
    let scene = scene("cloud_api").await;
    scene.kit.provider.then_accept("w1");
    let gate = scene.kit.provider.hold();
    let overtake = async {
        gate.reached(1).await;
        let failed = status("w1", None, Some(DeliveryCode::RecipientOptedOut));
        assert_eq!(tell(&scene, failed).await, EventOutcome::Stored);
        gate.open();
    };
    let (sent, ()) = tokio::join!(scene.messaging.send(PHONE, "Oi"), overtake);
    sent.unwrap();
    assert_eq!(scene.messaging.newest().await["status"], "failed");
    assert!(is_blocked(&scene).await);
    let events = scene.model.events(scene.kit.company.id);
    let events: Vec<&str> = events.iter().map(|event| event.event_type.as_str()).collect();
    let expected =
        ["contact.created", "message.sent", "message.status_updated", "contact.opted_out"];
    assert_eq!(events, expected);
}

#[tokio::test]
async fn a_report_that_the_recipient_wants_none_is_not_taken_while_contacts_cannot_be_read() {
    let scene = scene("cloud_api").await;
    scene.kit.provider.then_accept("w1");
    scene.messaging.send(PHONE, "Oi").await.unwrap();
    let failed = || here([event(status("w1", None, Some(DeliveryCode::RecipientOptedOut)))]);
    scene.store.fail_contact_reads();
    scene.call(failed()).await.unwrap_err();
    scene.store.heal();
    scene.call(failed()).await.unwrap();
    assert!(is_blocked(&scene).await);
}

/// R114.
#[tokio::test]
async fn on_a_paired_phone_such_a_failure_is_just_one() {
    let scene = scene("waha").await;
    scene.kit.provider.then(Err(SendFailure::refused(DeliveryCode::RecipientOptedOut, "no")));
    scene.messaging.send(PHONE, "Oi").await.unwrap_err();
    scene.kit.provider.then_accept("w1");
    scene.messaging.send(PHONE, "Oi").await.unwrap();
    tell(&scene, status("w1", None, Some(DeliveryCode::RecipientOptedOut))).await;
    assert!(!is_blocked(&scene).await);
    assert_eq!(scene.reported("contact.opted_out"), Vec::<Value>::new());
}

/// Sends a template with an unknown outcome.
async fn template(scene: &Scene) -> MessageId {
    let templates = scene.kit.app.templates();
    let new =
        json!({ "name": "hello", "category": "MARKETING", "body": "Oi", "status": "APPROVED" });
    let _ = templates.create(scene.kit.company.id, &body(new)).await;
    scene.kit.provider.then(Err(SendFailure::uncertain("timed out")));
    let said = body(json!({ "to": PHONE, "template": "hello" }));
    scene.kit.app.sending().send_template(&scene.kit.caller, &said).await.unwrap_err();
    scene.kit.provider.sent().last().unwrap().outgoing.reference
}

#[tokio::test]
async fn an_uncertain_template_that_was_sent_reopens_as_an_accepted_one_does() {
    for proof in [MessageStatus::Sent, MessageStatus::Delivered] {
        let scene = scene("cloud_api").await;
        let contact = create_phone(&scene.kit, PHONE).await;
        act(&scene, contact, ActionName::Close).await;
        let id = template(&scene).await;
        let before = shown(&scene.kit, contact).await;
        assert_eq!(before["inbox_status"], "resolved");
        assert_eq!(before["last_connection_id"], Value::Null);
        tell(&scene, StatusEvent { status: proof, ..status("w1", Some(id), None) }).await;
        let after = shown(&scene.kit, contact).await;
        assert_eq!(after["inbox_status"], "open");
        assert_eq!(after["last_connection_id"], json!(scene.connection()));
    }
}

#[tokio::test]
async fn a_late_proof_undoes_nothing_that_came_after_the_message() {
    let scene = scene("cloud_api").await;
    let contact = create_phone(&scene.kit, PHONE).await;
    let id = template(&scene).await;
    scene.after(60).await;
    act(&scene, contact, ActionName::Close).await;
    let other = connect(&scene.kit, "waha", json!({})).await;
    let heard = vec![heard("m1", PEER)];
    scene.kit.app.inbox().receive(scene.kit.company.id, other, heard).await.unwrap();
    act(&scene, contact, ActionName::Close).await;
    tell(&scene, status("w1", Some(id), None)).await;
    assert_eq!(scene.outcome(id).await.0, "sent");
    let after = shown(&scene.kit, contact).await;
    assert_eq!(after["inbox_status"], "resolved");
    assert_eq!(after["last_connection_id"], json!(other));
}

#[tokio::test]
async fn a_text_that_was_sent_after_all_reopens_nothing() {
    let scene = scene("cloud_api").await;
    let contact = create_phone(&scene.kit, PHONE).await;
    act(&scene, contact, ActionName::Close).await;
    let id = scene.send_uncertainly("Oi").await;
    tell(&scene, status("w1", Some(id), None)).await;
    let after = shown(&scene.kit, contact).await;
    assert_eq!(after["inbox_status"], "resolved");
    assert_eq!(after["last_connection_id"], json!(scene.connection()));
}
