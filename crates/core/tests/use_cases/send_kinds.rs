//! Sends of other kinds than text: what they store, what refuses them, and the fallback (X7,
//! X10–X13).

use std::time::Duration;

use recado_core::gateway::{Content, MessageKind, SendFailure};
use recado_core::messages::DeliveryCode;
use recado_core::sending::{KindSentView, SendError};
use recado_core::transport::OutboundResponse;
use recado_core::{Error, Rejection};
use recado_testkit::Kit;
use recado_testkit::kit::body;
use serde_json::{Value, json};

use super::messaging::Messaging;
use super::send_marks::{events, with_model};

const PHONE: &str = "+5534991230001";

type Sent = Result<KindSentView, Error<SendError>>;

pub(super) async fn messaging() -> Messaging {
    Messaging::on(Kit::new().await).await
}

async fn offer(messaging: &Messaging, offer: Value) -> Sent {
    let mut offer = offer;
    offer["to"] = json!(PHONE);
    messaging.kit.app.sending().send_interactive(&messaging.kit.caller, &body(offer)).await
}

fn buttons() -> Value {
    json!({"kind": "buttons", "body": "Vamos?",
        "buttons": [{"id": "y", "title": "Sim"}, {"id": "n", "title": "Não"}]})
}

async fn react(messaging: &Messaging, message: &Value, emoji: Value) -> Sent {
    let reaction = body(json!({"message_id": message["id"], "emoji": emoji}));
    messaging.kit.app.sending().send_reaction(&messaging.kit.caller, &reaction).await
}

/// The code and the details of a refusal.
fn refusal(sent: Sent) -> (String, Value) {
    match sent.expect_err("refused") {
        Error::Rejected(refused) => {
            let details = refused.details().map_or(Value::Null, Value::Object);
            (refused.code().as_str().to_owned(), details)
        }
        other => panic!("{other:?}"),
    }
}

/// X2, X12.
#[tokio::test]
async fn an_offer_is_read_back_as_it_was_sent() {
    let messaging = messaging().await;
    let sent = offer(&messaging, buttons()).await.unwrap();
    assert_eq!(serde_json::to_value(&sent).unwrap()["type"], "interactive");
    let message = messaging.newest().await;
    assert_eq!(message["type"], "interactive");
    assert_eq!(message["status"], "sent");
    let block = json!({"kind": "buttons", "body": "Vamos?",
        "buttons": [{"id": "y", "title": "Sim"}, {"id": "n", "title": "Não"}]});
    assert_eq!(message["interactive"], block);
    assert!(message["content"].as_str().unwrap().starts_with("Vamos?"), "{message}");
}

/// X1, X12.
#[tokio::test]
async fn a_poll_has_a_type_of_its_own_and_no_votes_yet() {
    let messaging = messaging().await;
    let poll = json!({"kind": "poll", "body": "Qual?", "options": ["a", "b"], "selectable": 2});
    offer(&messaging, poll).await.unwrap();
    let message = messaging.newest().await;
    assert_eq!(
        (&message["type"], &message["interactive"]["selectable"]),
        (&json!("poll"), &json!(2))
    );
    assert_eq!(message["interactive"]["options"][1], json!({"option": "b", "votes": 0}));
}

/// X13.
#[tokio::test]
async fn places_and_cards_are_read_back_as_received_ones_are() {
    let messaging = messaging().await;
    let (app, caller) = (&messaging.kit.app, &messaging.kit.caller);
    let place = json!({"to": PHONE, "latitude": -23.5, "longitude": -46.6, "name": "MASP"});
    app.sending().send_location(caller, &body(place)).await.unwrap();
    let message = messaging.newest().await;
    assert_eq!(
        (&message["type"], &message["location"]["name"]),
        (&json!("location"), &json!("MASP"))
    );
    messaging.kit.clock.advance(Duration::from_secs(1));
    let cards =
        json!({"to": PHONE, "contacts": [{"name": "Ana", "phones": ["+55 11 98765-4321"]}]});
    app.sending().send_contacts(caller, &body(cards)).await.unwrap();
    let message = messaging.newest().await;
    assert_eq!(message["type"], "contacts");
    assert_eq!(message["shared_contacts"][0]["phones"][0]["number"], "+55 11 98765-4321");
}

/// X10.
#[tokio::test]
async fn a_kind_that_the_connection_does_not_carry_is_refused_by_name_and_nothing_is_stored() {
    let messaging = messaging().await;
    messaging.kit.provider.set_kinds(Some(vec![MessageKind::Text, MessageKind::Location]));
    let (code, details) = refusal(offer(&messaging, buttons()).await);
    assert_eq!(code, "NOT_SUPPORTED_BY_CONNECTION");
    let named = json!({"kind": "buttons", "provider": "qr", "supported": ["text", "location"]});
    assert_eq!(details, named);
    assert_eq!((messaging.kit.provider.sent(), messaging.messages().await), (vec![], vec![]));
}

/// X12.
#[tokio::test]
async fn with_a_fallback_what_cannot_be_shown_is_a_numbered_text_that_keeps_its_block() {
    let messaging = messaging().await;
    messaging.kit.provider.set_kinds(Some(vec![MessageKind::Text]));
    let mut wanted = buttons();
    wanted["fallback"] = json!("text");
    let sent = offer(&messaging, wanted.clone()).await.unwrap();
    assert_eq!(serde_json::to_value(&sent).unwrap()["type"], "text");
    let given = messaging.kit.provider.sent().pop().unwrap().outgoing.content;
    assert_eq!(given, Content::Text("Vamos?\n\n1. Sim\n2. Não".to_owned()));
    let message = messaging.newest().await;
    assert_eq!(
        (&message["type"], &message["content"]),
        (&json!("text"), &json!("Vamos?\n\n1. Sim\n2. Não"))
    );
    assert_eq!(message["interactive"]["kind"], "buttons");

    messaging.kit.provider.set_kinds(Some(vec![MessageKind::Text, MessageKind::Buttons]));
    messaging.kit.clock.advance(Duration::from_secs(1));
    offer(&messaging, wanted).await.unwrap();
    assert_eq!(messaging.newest().await["type"], "interactive");
}

/// X12: even a fallback needs a connection that sends texts.
#[tokio::test]
async fn a_fallback_that_cannot_be_sent_either_is_refused() {
    let messaging = messaging().await;
    messaging.kit.provider.set_kinds(Some(vec![MessageKind::Location]));
    let mut wanted = buttons();
    wanted["fallback"] = json!("text");
    assert_eq!(refusal(offer(&messaging, wanted).await).0, "NOT_SUPPORTED_BY_CONNECTION");
}

/// R320.
#[tokio::test]
async fn where_no_connection_is_named_one_that_carries_the_kind_is_preferred() {
    let messaging = messaging().await;
    messaging.kit.connection("official_cloud").await;
    // Of two connections one would have to be named; polls go by QR-code connections only.
    let poll = || json!({"kind": "poll", "body": "Qual?", "options": ["a", "b"]});
    assert_eq!(refusal(offer(&messaging, buttons()).await).0, "CONNECTION_REQUIRED");
    offer(&messaging, poll()).await.unwrap();
    assert_eq!(messaging.newest().await["connection_id"], json!(messaging.connection));
}

/// D33, X10.
#[tokio::test]
async fn the_connection_is_missed_before_its_kinds_are_asked_for() {
    let messaging = messaging().await;
    messaging.kit.provider.set_kinds(Some(vec![MessageKind::Text]));
    messaging.set_connected(false).await;
    assert_eq!(refusal(offer(&messaging, buttons()).await).0, "CONNECTION_REQUIRED");
}

async fn put_group(messaging: &Messaging, group: Value) {
    let (company, groups) = (messaging.kit.company.id, vec![group]);
    messaging.kit.app.groups().replace(company, messaging.connection, &groups).await.unwrap();
}

/// D33, X10: whether the connection carries the kind, then the file, then announce-only.
#[tokio::test]
async fn a_kind_that_no_connection_in_a_group_carries_is_refused_before_who_may_write_there() {
    let messaging = messaging().await;
    let (provider, caller) = (&messaging.kit.provider, &messaging.kit.caller);
    let sending = messaging.kit.app.sending();
    put_group(&messaging, json!({"code": "1@g.us", "subject": "Avisos", "announce_only": true}))
        .await;
    let place = body(json!({"to": "1@g.us", "latitude": -23.5, "longitude": -46.6}));
    let send = async || refusal(sending.send_location(caller, &place).await).0;
    assert_eq!(send().await, "GROUP_ANNOUNCE_ONLY");
    provider.set_kinds(Some(vec![MessageKind::Text]));
    let (code, details) = refusal(sending.send_location(caller, &place).await);
    assert_eq!(code, "NOT_SUPPORTED_BY_CONNECTION");
    let named = json!({"kind": "location", "provider": "qr", "supported": ["text"]});
    assert_eq!(details, named);

    // A text may stand for an offer: then it is who may write that refuses it.
    let mut wanted = buttons();
    wanted["to"] = json!("1@g.us");
    let refused = async |offer: &Value| {
        refusal(sending.send_interactive(caller, &body(offer.clone())).await).0
    };
    assert_eq!(refused(&wanted).await, "NOT_SUPPORTED_BY_CONNECTION");
    wanted["fallback"] = json!("text");
    assert_eq!(refused(&wanted).await, "GROUP_ANNOUNCE_ONLY");

    // No connection at all comes before both.
    messaging.set_connected(false).await;
    assert_eq!(send().await, "CONNECTION_REQUIRED");
    assert_eq!((provider.sent(), messaging.messages().await), (vec![], vec![]));
}

/// D33, X10: of a file it is asked what it is before who may write.
#[tokio::test]
async fn what_is_wrong_with_a_file_comes_before_that_only_administrators_write() {
    let messaging = messaging().await;
    put_group(&messaging, json!({"code": "1@g.us", "subject": "Avisos", "announce_only": true}))
        .await;
    let (app, caller) = (&messaging.kit.app, &messaging.kit.caller);
    let nobody = "01939b5e-0000-7000-8000-000000000001";
    let media = body(json!({"to": "1@g.us", "type": "image", "media_id": nobody}));
    let refused = async || refusal(app.sending().send_media(caller, &media, None).await).0;
    assert_eq!(refused().await, "MEDIA_NOT_FOUND");
    messaging.kit.provider.set_kinds(Some(vec![MessageKind::Text]));
    assert_eq!(refused().await, "NOT_SUPPORTED_BY_CONNECTION");
}

/// 4.8 rule 3, X10.
#[tokio::test]
async fn every_kind_is_free_text_for_opt_outs_and_the_external_ai() {
    let messaging = messaging().await;
    messaging.hear("in.1", "5534991230001", "Oi").await;
    let message = messaging.newest().await;
    messaging.hear("in.2", "5534991230001", "PARAR").await;
    for sent in [offer(&messaging, buttons()).await, react(&messaging, &message, json!("👍")).await]
    {
        assert_eq!(refusal(sent).0, "CONTACT_OPTED_OUT");
    }
    assert_eq!(messaging.kit.provider.sent(), []);
}

/// X10: `MISSING_FIELD` before everything else, unknown and foreign fields after it.
#[tokio::test]
async fn what_is_missing_of_a_send_is_named_at_first() {
    let messaging = messaging().await;
    let (app, caller) = (&messaging.kit.app, &messaging.kit.caller);
    let missing = |sent: Sent| {
        let (code, details) = refusal(sent);
        assert_eq!(code, "MISSING_FIELD");
        details["fields"].clone()
    };
    let sending = app.sending();
    let nothing = body(json!({"wrong": 1}));
    let fields = missing(sending.send_interactive(caller, &nothing).await);
    assert_eq!(fields, json!(["to", "kind", "body"]));
    let fields = missing(sending.send_location(caller, &nothing).await);
    assert_eq!(fields, json!(["to", "latitude", "longitude"]));
    assert_eq!(missing(sending.send_contacts(caller, &nothing).await), json!(["to", "contacts"]));
    let fields = missing(sending.send_reaction(caller, &nothing).await);
    assert_eq!(fields, json!(["message_id", "emoji"]));
}

/// D38, X10.
#[tokio::test]
async fn refusals_and_lost_answers_of_other_kinds_end_as_those_of_texts() {
    let messaging = messaging().await;
    messaging.kit.provider.then(Err(SendFailure::uncertain("timed out")));
    let refused = offer(&messaging, buttons()).await.unwrap_err();
    assert!(refused.may_have_arrived());
    let message = messaging.newest().await;
    assert_eq!(message["error_type"], "delivery_uncertain");
    while messaging.kit.app.sending().recover().await.unwrap() {}
    assert_eq!(messaging.kit.provider.sent().len(), 1);
    messaging.kit.provider.then(Err(SendFailure::refused(DeliveryCode::ContentRejected, "no")));
    messaging.kit.clock.advance(Duration::from_secs(1));
    assert_eq!(refusal(offer(&messaging, buttons()).await).0, "PROVIDER_ERROR");
    assert_eq!(messaging.newest().await["status"], "failed");
}

/// X10, R324.
#[tokio::test]
async fn a_quote_names_a_message_of_the_same_contact() {
    let messaging = messaging().await;
    messaging.hear("in.1", "5534991230001", "Quando?").await;
    let asked = messaging.newest().await;
    messaging.hear("in.2", "5534991230002", "Onde?").await;
    let theirs = messaging.newest().await;
    let quoting = |message: &Value| {
        let mut offer = buttons();
        offer["quoted_message_id"] = message["id"].clone();
        offer
    };
    assert_eq!(refusal(offer(&messaging, quoting(&theirs)).await).0, "NOT_FOUND");
    let nobody = json!({"id": "01939b5e-0000-7000-8000-000000000001"});
    assert_eq!(refusal(offer(&messaging, quoting(&nobody)).await).0, "NOT_FOUND");
    messaging.kit.clock.advance(Duration::from_secs(1));
    offer(&messaging, quoting(&asked)).await.unwrap();
    let message = messaging.newest().await;
    assert_eq!(
        (&message["quoted_message_id"], &message["quoted_content"]),
        (&asked["id"], &json!("Quando?"))
    );
    let given = messaging.kit.provider.sent().pop().unwrap().outgoing.quoted.expect("quoted");
    assert_eq!((given.provider_id.as_str(), given.is_ours), ("in.1", false));
    assert_eq!(given.content.as_deref(), Some("Quando?"));
}

/// X10: a phone that no contact has yet has no messages.
#[tokio::test]
async fn somebody_new_is_not_shown_what_another_contact_wrote() {
    let messaging = messaging().await;
    messaging.hear("in.1", "5534991230002", "Um segredo").await;
    let theirs = messaging.newest().await;
    let mut quoting = buttons();
    quoting["quoted_message_id"] = theirs["id"].clone();
    assert_eq!(refusal(offer(&messaging, quoting).await).0, "NOT_FOUND");
    assert_eq!(messaging.kit.contact_by_phone(PHONE).await, None);
    assert_eq!((messaging.kit.provider.sent(), messaging.messages().await.len()), (vec![], 1));
}

/// X10.
#[tokio::test]
async fn a_message_that_never_reached_its_channel_cannot_be_quoted_or_reacted_to() {
    let messaging = messaging().await;
    messaging.kit.provider.then(Err(SendFailure::refused(DeliveryCode::ContentRejected, "no")));
    messaging.send(PHONE, "Oi").await.unwrap_err();
    let failed = messaging.newest().await;
    let (code, details) = refusal(react(&messaging, &failed, json!("👍")).await);
    assert_eq!((code.as_str(), &details["fields"]), ("VALIDATION_ERROR", &json!(["message_id"])));
}

/// X7, X13, R321.
#[tokio::test]
async fn our_reaction_to_a_message_is_one_message_which_the_next_one_changes() {
    let messaging = messaging().await;
    messaging.hear("in.1", "5534991230001", "Pronto").await;
    let heard = messaging.newest().await;
    let first = react(&messaging, &heard, json!("👍")).await.unwrap();
    messaging.kit.clock.advance(Duration::from_secs(1));
    let second = react(&messaging, &heard, json!("❤️")).await.unwrap();
    assert_eq!(first.sent.message_id, second.sent.message_id);
    let reactions = messaging.of_type("reaction").await;
    assert_eq!(reactions.len(), 1);
    let block = json!({"emoji": "❤️", "message_id": heard["id"], "provider_message_id": "in.1"});
    assert_eq!((&reactions[0]["reaction"], &reactions[0]["content"]), (&block, &json!("❤️")));
    messaging.kit.clock.advance(Duration::from_secs(1));
    react(&messaging, &heard, Value::Null).await.unwrap();
    let reactions = messaging.of_type("reaction").await;
    assert_eq!(
        (&reactions[0]["reaction"]["emoji"], &reactions[0]["content"]),
        (&Value::Null, &Value::Null)
    );
    assert_eq!((reactions.len(), messaging.kit.provider.sent().len()), (1, 3));
}

/// X7, R321: the channel has the first one all the same.
#[tokio::test]
async fn a_change_of_a_reaction_that_fails_is_answered_as_failed() {
    let messaging = messaging().await;
    messaging.hear("in.1", "5534991230001", "Pronto").await;
    let heard = messaging.newest().await;
    react(&messaging, &heard, json!("👍")).await.unwrap();
    for (failure, error_type) in [
        (SendFailure::refused(DeliveryCode::ContentRejected, "no"), "provider"),
        (SendFailure::uncertain("timed out"), "delivery_uncertain"),
    ] {
        messaging.kit.clock.advance(Duration::from_secs(1));
        messaging.kit.provider.then(Err(failure));
        let (code, details) = refusal(react(&messaging, &heard, json!("❤️")).await);
        assert_eq!((code.as_str(), &details["error_type"]), ("PROVIDER_ERROR", &json!(error_type)));
        let shown = messaging.of_type("reaction").await.pop().expect("one");
        assert_eq!(
            (&shown["status"], &shown["error_type"]),
            (&json!("failed"), &json!(error_type))
        );
    }
}

/// X5a, X7, R321: `message.sent` is told once of a message.
#[tokio::test]
async fn a_changed_reaction_is_reported_as_a_change_and_the_same_one_again_not_at_all() {
    let (messaging, model) = with_model().await;
    messaging.hear("in.1", "5534991230001", "Pronto").await;
    let heard = messaging.newest().await;
    let no = SendFailure::refused(DeliveryCode::ContentRejected, "no");
    messaging.kit.provider.then(Err(no));
    react(&messaging, &heard, json!("😀")).await.unwrap_err();
    for emoji in [json!("👍"), json!("👍"), json!("❤️"), Value::Null] {
        messaging.kit.clock.advance(Duration::from_secs(1));
        react(&messaging, &heard, emoji).await.unwrap();
    }
    let sent = events(&model, &messaging, "message.sent");
    assert_eq!(sent.len(), 1, "{sent:?}");
    assert_eq!(sent[0]["content"], "👍");
    let updated = events(&model, &messaging, "message.updated");
    let shown: Vec<(&Value, &Value)> =
        updated.iter().map(|data| (&data["changed"], &data["reaction"]["emoji"])).collect();
    let changed = json!(["content", "reaction"]);
    assert_eq!(shown, [(&changed, &json!("❤️")), (&changed, &Value::Null)]);
    assert_eq!(updated[1]["message_id"], sent[0]["message_id"]);
}

/// X5a, R31, R321: a report proves the change before the gateway has answered.
#[tokio::test]
async fn a_report_of_a_changed_reaction_is_no_second_message_sent() {
    let (messaging, model) = with_model().await;
    messaging.hear("in.1", "5534991230001", "Pronto").await;
    let heard = messaging.newest().await;
    let first = react(&messaging, &heard, json!("👍")).await.unwrap();
    messaging.kit.clock.advance(Duration::from_secs(1));
    let gate = messaging.kit.provider.hold();
    let reacting = react(&messaging, &heard, json!("❤️"));
    let reporting = async {
        gate.reached(2).await;
        let reference = first.sent.message_id;
        messaging
            .tell(json!({
                "kind": "status", "provider_message_id": "other.1", "reference": reference,
                "status": "delivered",
            }))
            .await;
        gate.open();
    };
    let (reacted, ()) = tokio::join!(reacting, reporting);
    reacted.unwrap();
    assert_eq!(events(&model, &messaging, "message.sent").len(), 1);
    let updated = events(&model, &messaging, "message.updated");
    assert_eq!((updated.len(), &updated[0]["content"]), (1, &json!("❤️")));
}

/// X7, R321: the gateway reports our own reaction again.
#[tokio::test]
async fn the_echo_of_our_reaction_is_no_second_one() {
    let messaging = messaging().await;
    messaging.hear("in.1", "5534991230001", "Pronto").await;
    let heard = messaging.newest().await;
    let sent = react(&messaging, &heard, json!("👍")).await.unwrap();
    messaging
        .tell(json!({
            "kind": "echo", "provider_message_id": sent.sent.wamid, "to": "5534991230001",
            "type": "reaction", "reaction": {"emoji": "👍", "provider_message_id": "in.1"},
        }))
        .await;
    assert_eq!(messaging.of_type("reaction").await.len(), 1);
}

/// R321.
#[tokio::test]
async fn two_reactions_at_once_leave_one_message_and_call_at_most_once_each() {
    let messaging = messaging().await;
    messaging.hear("in.1", "5534991230001", "Pronto").await;
    let heard = messaging.newest().await;
    let (one, other) = tokio::join!(
        react(&messaging, &heard, json!("👍")),
        react(&messaging, &heard, json!("❤️"))
    );
    let sent = [one, other].into_iter().filter(Result::is_ok).count();
    assert_eq!(messaging.kit.provider.sent().len(), sent);
    assert!(sent >= 1);
    assert_eq!(messaging.of_type("reaction").await.len(), 1);
}

/// D33, X10: first that nobody in the group can carry the kind, then the file, then that only
/// administrators write.
#[tokio::test]
async fn that_only_administrators_write_comes_after_the_kind_and_the_file() {
    let messaging = messaging().await;
    let group = json!({
        "code": "1@g.us", "subject": "Avisos", "is_community": false, "community_code": null,
        "is_announcement": false, "announce_only": true, "is_admin": false, "participates": true,
    });
    messaging.tell(json!({"kind": "groups", "groups": [group]})).await;
    let (app, caller) = (&messaging.kit.app, &messaging.kit.caller);
    let send = async |more: Value| {
        let mut media = body(json!({"to": "1@g.us", "type": "image"}));
        media.extend(body(more));
        refusal(app.sending().send_media(caller, &media, None).await).0
    };
    let url = || json!({"url": "https://files.example/a.png"});
    messaging.kit.provider.set_kinds(Some(vec![MessageKind::Text]));
    assert_eq!(send(url()).await, "NOT_SUPPORTED_BY_CONNECTION");
    assert_eq!(messaging.kit.transport.requests().len(), 0);
    let place = body(json!({"to": "1@g.us", "latitude": 1, "longitude": 2}));
    let placed = app.sending().send_location(caller, &place).await;
    assert_eq!(refusal(placed).0, "NOT_SUPPORTED_BY_CONNECTION");
    messaging.kit.provider.set_kinds(None);
    let placed = app.sending().send_location(caller, &place).await;
    assert_eq!(refusal(placed).0, "GROUP_ANNOUNCE_ONLY");
    let unknown = json!({"media_id": messaging.kit.company.id});
    assert_eq!(send(unknown).await, "MEDIA_NOT_FOUND");
    let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
    messaging.kit.transport.then(Ok(OutboundResponse::new(200, png)));
    assert_eq!(send(url()).await, "GROUP_ANNOUNCE_ONLY");
    assert_eq!(messaging.kit.provider.sent(), []);
}
