//! Marks on messages that are stored: read, changed, taken back; and typing (X14).

use std::time::Duration;

use recado_core::gateway::{MessageKind, ProviderError, SendFailure, Typing};
use recado_core::ids::MessageId;
use recado_core::messages::{DeliveryCode, MessageListItem};
use recado_core::sending::SendError;
use recado_core::transport::OutboundResponse;
use recado_core::{Error, Rejection};
use recado_testkit::MemoryStore;
use recado_testkit::kit::body;
use recado_testkit::provider::Act;
use serde_json::{Value, json};

use super::messaging::Messaging;
use super::send_kinds::messaging;

const PHONE: &str = "+5534991230001";
const DIGITS: &str = "5534991230001";

fn id(message: &Value) -> MessageId {
    MessageId::parse(message["id"].as_str().unwrap()).unwrap()
}

fn code<T: std::fmt::Debug>(answer: Result<T, Error<SendError>>) -> String {
    match answer.expect_err("refused") {
        Error::Rejected(refused) => refused.code().as_str().to_owned(),
        other => panic!("{other:?}"),
    }
}

async fn edit(
    messaging: &Messaging,
    message: &Value,
    text: &str,
) -> Result<MessageListItem, Error<SendError>> {
    let (app, caller) = (&messaging.kit.app, &messaging.kit.caller);
    app.sending().edit_by(caller, id(message), &body(json!({ "message": text }))).await
}

async fn revoke(
    messaging: &Messaging,
    message: &Value,
) -> Result<MessageListItem, Error<SendError>> {
    let (app, caller) = (&messaging.kit.app, &messaging.kit.caller);
    app.sending().revoke_by(caller, id(message)).await
}

/// A company that has sent one text.
async fn sent(messaging: &Messaging) -> Value {
    messaging.send(PHONE, "Oi").await.unwrap();
    messaging.newest().await
}

/// The events of this type, oldest first.
pub(super) fn events(model: &MemoryStore, messaging: &Messaging, event_type: &str) -> Vec<Value> {
    let all = model.events(messaging.kit.company.id);
    let named = all.into_iter().filter(|event| event.event_type.to_string() == event_type);
    named.map(|event| serde_json::from_str(&event.data).unwrap()).collect()
}

pub(super) async fn with_model() -> (Messaging, MemoryStore) {
    let model = MemoryStore::new();
    let store = std::sync::Arc::new(model.clone());
    let kit = recado_testkit::Kit::builder().store(store).build().await;
    (Messaging::on(kit).await, model)
}

/// X5a, X14, R322.
#[tokio::test]
async fn an_edit_is_told_to_the_channel_and_reported_once() {
    let (messaging, model) = with_model().await;
    let message = sent(&messaging).await;
    messaging.kit.clock.advance(Duration::from_secs(60));
    let shown = edit(&messaging, &message, "Olá").await.unwrap();
    assert_eq!(shown.message.content.as_deref(), Some("Olá"));
    assert!(shown.message.is_edited);
    let asked = messaging.kit.provider.acts().pop().unwrap();
    let Act::Edit(name, change) = asked.act else { panic!("no edit") };
    assert_eq!((name.is_ours, change.text.as_str(), change.is_caption), (true, "Olá", false));
    edit(&messaging, &message, "Olá").await.unwrap();
    let updated = events(&model, &messaging, "message.updated");
    assert_eq!(updated.len(), 1, "{updated:?}");
    assert_eq!(updated[0]["content"], "Olá");
}

/// X14.
#[tokio::test]
async fn a_message_is_changed_for_fifteen_minutes() {
    let messaging = messaging().await;
    let message = sent(&messaging).await;
    messaging.kit.clock.advance(Duration::from_secs(15 * 60));
    edit(&messaging, &message, "Olá").await.unwrap();
    messaging.kit.clock.advance(Duration::from_millis(1));
    assert_eq!(code(edit(&messaging, &message, "Ei").await), "TOO_LATE");
    assert_eq!(messaging.kit.provider.acts().len(), 1);
}

/// X3, X14.
#[tokio::test]
async fn a_message_is_taken_back_for_48_hours_and_stays_with_its_mark() {
    let (messaging, model) = with_model().await;
    let message = sent(&messaging).await;
    messaging.kit.clock.advance(Duration::from_secs(48 * 60 * 60));
    let shown = revoke(&messaging, &message).await.unwrap().message;
    assert_eq!(shown.content.as_deref(), Some("Oi"));
    assert!(shown.blocks.deleted_by_sender_at.is_some());
    messaging.kit.clock.advance(Duration::from_secs(60));
    revoke(&messaging, &message).await.unwrap();
    assert_eq!(messaging.kit.provider.acts().len(), 1, "it was taken back already");
    assert_eq!(events(&model, &messaging, "message.updated").len(), 1);
    messaging.send(PHONE, "Ei").await.unwrap();
    let other = messaging.newest().await;
    messaging.kit.clock.advance(Duration::from_secs(48 * 60 * 60 + 1));
    assert_eq!(code(revoke(&messaging, &other).await), "TOO_LATE");
}

/// X14.
#[tokio::test]
async fn only_what_we_sent_is_changed_and_only_what_was_received_is_marked_read() {
    let messaging = messaging().await;
    let (app, caller) = (&messaging.kit.app, &messaging.kit.caller);
    let ours = sent(&messaging).await;
    messaging.kit.clock.advance(Duration::from_secs(1));
    messaging.hear("in.1", DIGITS, "Oi").await;
    let theirs = messaging.newest().await;
    assert_eq!(code(edit(&messaging, &theirs, "x").await), "VALIDATION_ERROR");
    assert_eq!(code(revoke(&messaging, &theirs).await), "VALIDATION_ERROR");
    assert_eq!(code(app.sending().mark_read_by(caller, id(&ours)).await), "VALIDATION_ERROR");
    let nobody = json!({"id": "01939b5e-0000-7000-8000-000000000001"});
    assert_eq!(code(edit(&messaging, &nobody, "x").await), "NOT_FOUND");
    assert_eq!(code(revoke(&messaging, &nobody).await), "NOT_FOUND");
    assert_eq!(messaging.kit.provider.acts(), []);
}

/// X14.
#[tokio::test]
async fn what_the_gateway_cannot_do_with_a_message_is_refused_by_name() {
    let messaging = messaging().await;
    let message = sent(&messaging).await;
    messaging.kit.provider.set_kinds(Some(vec![MessageKind::Text]));
    assert_eq!(code(edit(&messaging, &message, "x").await), "NOT_SUPPORTED_BY_CONNECTION");
    assert_eq!(code(revoke(&messaging, &message).await), "NOT_SUPPORTED_BY_CONNECTION");
}

/// X14.
#[tokio::test]
async fn a_place_has_no_text_to_change() {
    let messaging = messaging().await;
    let place = body(json!({"to": PHONE, "latitude": 1, "longitude": 2}));
    messaging.kit.app.sending().send_location(&messaging.kit.caller, &place).await.unwrap();
    let message = messaging.newest().await;
    assert_eq!(code(edit(&messaging, &message, "x").await), "VALIDATION_ERROR");
}

/// X10, X14: sound and stickers show no caption, and a caption is shorter than a text.
#[tokio::test]
async fn of_files_only_a_caption_is_changed() {
    let messaging = messaging().await;
    let (app, caller) = (&messaging.kit.app, &messaging.kit.caller);
    let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
    let webp = b"RIFF\x10\0\0\0WEBPVP8 ....".to_vec();
    for (kind, bytes) in [("image", png), ("audio", b"ID3\x04\0\0\0\0".to_vec()), ("sticker", webp)]
    {
        messaging.kit.clock.advance(Duration::from_secs(1));
        messaging.kit.transport.then(Ok(OutboundResponse::new(200, bytes)));
        let media = body(json!({"to": PHONE, "type": kind, "url": "https://files.example/a"}));
        app.sending().send_media(caller, &media, None).await.unwrap();
        let message = messaging.newest().await;
        if kind == "image" {
            let shown = edit(&messaging, &message, &"é".repeat(1_024)).await.unwrap().message;
            assert_eq!((shown.content, shown.media_caption), (None, Some("é".repeat(1_024))));
            let long = edit(&messaging, &message, &"é".repeat(1_025)).await;
            assert_eq!(code(long), "VALIDATION_ERROR");
        } else {
            assert_eq!(code(edit(&messaging, &message, "x").await), "VALIDATION_ERROR", "{kind}");
        }
    }
    assert_eq!(messaging.kit.provider.acts().len(), 1);
}

/// X14: counted from when it was sent, not from when we heard of it.
#[tokio::test]
async fn what_was_written_on_the_phone_long_ago_is_not_changed_any_more() {
    let messaging = messaging().await;
    let written = messaging.kit.app.now();
    messaging.kit.clock.advance(Duration::from_secs(48 * 60 * 60 + 1));
    messaging
        .tell(json!({
            "kind": "echo", "provider_message_id": "out.1", "to": DIGITS, "type": "text",
            "content": "Oi", "timestamp": written, "history": true,
        }))
        .await;
    let message = messaging.newest().await;
    assert_eq!(code(edit(&messaging, &message, "x").await), "TOO_LATE");
    assert_eq!(code(revoke(&messaging, &message).await), "TOO_LATE");
    assert_eq!(messaging.kit.provider.acts(), []);
}

/// X14.
#[tokio::test]
async fn an_edit_that_the_gateway_refuses_changes_nothing() {
    let messaging = messaging().await;
    let message = sent(&messaging).await;
    let no = SendFailure::refused(DeliveryCode::ContentRejected, "no");
    messaging.kit.provider.then_change(Err(no));
    assert_eq!(code(edit(&messaging, &message, "x").await), "PROVIDER_ERROR");
    assert_eq!(messaging.newest().await["content"], "Oi");
}

/// R322.
#[tokio::test]
async fn who_asked_to_stop_gets_no_edit_but_a_message_can_be_taken_back() {
    let messaging = messaging().await;
    let message = sent(&messaging).await;
    messaging.hear("in.1", DIGITS, "PARAR").await;
    assert_eq!(code(edit(&messaging, &message, "x").await), "CONTACT_OPTED_OUT");
    revoke(&messaging, &message).await.unwrap();
}

/// X14.
#[tokio::test]
async fn a_message_is_marked_read_with_what_came_before_it_and_not_what_came_after() {
    let messaging = messaging().await;
    let (app, caller) = (&messaging.kit.app, &messaging.kit.caller);
    for n in 1..=3 {
        messaging.kit.clock.advance(Duration::from_secs(1));
        messaging.hear(&format!("in.{n}"), DIGITS, "Oi").await;
    }
    let all = messaging.messages().await;
    app.sending().mark_read_by(caller, id(&all[1])).await.unwrap();
    let unread = async || {
        let contact = messaging.kit.contact_by_phone(PHONE).await.unwrap();
        messaging.kit.stored_contact(contact).await.has_unread
    };
    assert!(unread().await, "the third one was not read");
    let asked = messaging.kit.provider.acts().pop().unwrap();
    let Act::Read(name) = asked.act else { panic!("not marked") };
    assert_eq!((name.provider_id.as_str(), name.is_ours), ("in.2", false));
    app.sending().mark_read_by(caller, id(&all[0])).await.unwrap();
    assert!(!unread().await);
    app.sending().mark_read_by(caller, id(&all[2])).await.unwrap();
    assert!(!unread().await, "an older one was read already");
}

/// X14.
#[tokio::test]
async fn what_the_channel_did_not_take_stays_unread() {
    let messaging = messaging().await;
    let (app, caller) = (&messaging.kit.app, &messaging.kit.caller);
    messaging.hear("in.1", DIGITS, "Oi").await;
    let heard = messaging.newest().await;
    messaging.kit.provider.then_sign(Err(ProviderError::Failed("away".to_owned())));
    assert_eq!(code(app.sending().mark_read_by(caller, id(&heard)).await), "PROVIDER_ERROR");
    let contact = messaging.kit.contact_by_phone(PHONE).await.unwrap();
    assert!(messaging.kit.stored_contact(contact).await.has_unread);
}

/// X14, R361: marking again is safe, so its failure is never uncertain.
#[tokio::test]
async fn a_mark_that_failed_is_no_message_that_may_have_arrived() {
    let kit = recado_testkit::Kit::builder().build().await;
    let messaging = Messaging::of_kind(kit, "official_cloud").await;
    let (app, caller) = (&messaging.kit.app, &messaging.kit.caller);
    messaging.hear("in.1", DIGITS, "Oi").await;
    let heard = messaging.newest().await;
    messaging.kit.provider.then_sign(Err(ProviderError::Failed("away".to_owned())));
    let refused = app.sending().mark_read_by(caller, id(&heard)).await.unwrap_err();
    assert!(!refused.may_have_arrived());
    assert_eq!(code::<()>(Err(refused)), "PROVIDER_ERROR");
}

/// X14.
#[tokio::test]
async fn typing_is_shown_once_a_second_and_at_best_effort() {
    let messaging = messaging().await;
    let (app, caller) = (&messaging.kit.app, &messaging.kit.caller);
    messaging.hear("in.1", DIGITS, "Oi").await;
    let contact = messaging.kit.contact_by_phone(PHONE).await.unwrap();
    let show = async |state: &str| {
        let typing = body(json!({ "state": state }));
        app.sending().show_typing_by(caller, contact, &typing).await.unwrap().done
    };
    assert!(show("typing").await);
    assert!(!show("typing").await);
    messaging.kit.clock.advance(Duration::from_secs(1));
    assert!(show("paused").await);
    let shown: Vec<Act> =
        messaging.kit.provider.acts().into_iter().map(|asked| asked.act).collect();
    let wanted = [Typing::Text, Typing::Paused].map(|state| Act::Type(DIGITS.to_owned(), state));
    assert_eq!(shown, wanted);
    messaging.kit.clock.advance(Duration::from_secs(1));
    messaging.kit.provider.then_sign(Err(ProviderError::Unsupported));
    assert!(!show("recording").await);
    messaging.kit.clock.advance(Duration::from_secs(1));
    messaging.kit.provider.set_kinds(Some(vec![MessageKind::Text]));
    assert!(!show("typing").await);
}

/// X14.
#[tokio::test]
async fn typing_names_a_contact_and_a_connection_of_the_company() {
    let messaging = messaging().await;
    let (app, caller) = (&messaging.kit.app, &messaging.kit.caller);
    messaging.hear("in.1", DIGITS, "Oi").await;
    let contact = messaging.kit.contact_by_phone(PHONE).await.unwrap();
    let elsewhere = json!({"state": "typing",
        "connection_id": "01939b5e-0000-7000-8000-000000000001"});
    let shown = app.sending().show_typing_by(caller, contact, &body(elsewhere)).await;
    assert_eq!(code(shown), "NOT_FOUND");
    let wrong = body(json!({"state": "singing"}));
    let shown = app.sending().show_typing_by(caller, contact, &wrong).await;
    assert_eq!(code(shown), "VALIDATION_ERROR");
    let (_, other) = messaging.kit.another_company("Outra").await;
    let typing = body(json!({"state": "typing"}));
    let shown = app.sending().show_typing_by(&other, contact, &typing).await;
    assert_eq!(code(shown), "NOT_FOUND");
}
