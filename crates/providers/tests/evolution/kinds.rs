//! Messages of every kind, and what is done about messages (X10, X12–X14; R340).

use recado_core::gateway::{
    Content, Edit, InteractiveContent, MessageKind, Outgoing, Provider, SendFailure, SendResult,
    Typing, TypingIn,
};
use recado_core::messages::{Offer, SharedContact, SharedPhone};
use recado_testkit::contents;
use serde_json::{Value, json};

use crate::scene::{Scene, text_to};

const PHONE: &str = "5534991234567";
const JID: &str = "5534991234567@s.whatsapp.net";

/// Sends a content; its requests, by operation with their bodies.
async fn asked(scene: &Scene, content: Content) -> (SendResult, Vec<(String, Value)>) {
    let before = scene.fake.orders().len();
    let sent = scene.send(&Outgoing { content, ..text_to(PHONE, "") }).await;
    (sent, scene.fake.orders().split_off(before))
}

async fn one(scene: &Scene, kind: MessageKind) -> (String, Value) {
    let content = contents::of(kind, PHONE).expect("a kind of message");
    let (sent, mut requests) = asked(scene, content).await;
    sent.unwrap_or_else(|failure| panic!("{kind}: {failure:?}"));
    assert_eq!(requests.len(), 1, "{kind}");
    assert_eq!(scene.fake.violations(), [""; 0], "{kind}");
    requests.remove(0)
}

/// X10.
#[tokio::test]
async fn each_file_goes_in_base64_to_its_own_operation() {
    let scene = Scene::new();
    let (operation, body) = one(&scene, MessageKind::Image).await;
    assert_eq!((operation.as_str(), &body["mediatype"]), ("sendMedia", &json!("image")));
    assert_eq!((&body["mimetype"], &body["caption"]), (&json!("image/jpeg"), &json!("A foto")));
    assert!(body["media"].as_str().expect("base64").starts_with("/9j/"), "{body}");
    for (kind, mediatype) in [
        (MessageKind::Video, "video"),
        (MessageKind::Audio, "audio"),
        (MessageKind::Document, "document"),
    ] {
        let (operation, body) = one(&scene, kind).await;
        assert_eq!((operation.as_str(), &body["mediatype"]), ("sendMedia", &json!(mediatype)));
    }
    let (operation, body) = one(&scene, MessageKind::Sticker).await;
    assert!(operation == "sendSticker" && body["sticker"].is_string(), "{operation}");
    let (operation, body) = one(&scene, MessageKind::Voice).await;
    // It is OGG with Opus already: the gateway must not convert it.
    assert_eq!((operation.as_str(), &body["encoding"]), ("sendWhatsAppAudio", &json!(false)));
}

/// X12.
#[tokio::test]
async fn offers_have_their_operations_with_a_title_above() {
    let scene = Scene::new();
    let (operation, body) = one(&scene, MessageKind::Buttons).await;
    assert_eq!((operation.as_str(), &body["buttons"][0]["type"]), ("sendButtons", &json!("reply")));
    let (operation, body) = one(&scene, MessageKind::CtaUrl).await;
    assert_eq!((operation.as_str(), &body["buttons"][0]["type"]), ("sendButtons", &json!("url")));
    let (operation, body) = one(&scene, MessageKind::List).await;
    assert_eq!(operation, "sendList");
    assert!(body["sections"][0]["rows"][0]["rowId"].is_string(), "{body}");
    let (operation, body) = one(&scene, MessageKind::Poll).await;
    assert_eq!(operation, "sendPoll");
    assert!(body["values"].is_array() && body["selectableCount"].is_number(), "{body}");
}

/// X13.
#[tokio::test]
async fn a_place_needs_its_texts_and_a_card_becomes_one_for_each_phone() {
    let scene = Scene::new();
    let (operation, body) = one(&scene, MessageKind::Location).await;
    assert_eq!(operation, "sendLocation");
    assert!(body["name"].is_string() && body["address"].is_string(), "{body}");
    let phone = |number: &str| SharedPhone { number: number.to_owned(), kind: None };
    let phones = vec![phone("+55 11 98765-4321"), phone("+55 11 91234-5678")];
    let card = SharedContact { name: Some("Ana".into()), phones, ..SharedContact::default() };
    let (sent, requests) = asked(&scene, Content::Contacts(vec![card])).await;
    sent.expect("sent");
    let cards = requests[0].1["contact"].as_array().expect("cards").clone();
    let wuids: Vec<&Value> = cards.iter().map(|card| &card["wuid"]).collect();
    assert_eq!(wuids, ["5511987654321", "5511912345678"]);
}

/// X7, R340: the gateway takes nothing but emojis.
#[tokio::test]
async fn a_reaction_names_its_message_and_cannot_be_withdrawn() {
    let scene = Scene::new();
    let (operation, body) = one(&scene, MessageKind::Reaction).await;
    assert_eq!((operation.as_str(), &body["key"]["remoteJid"]), ("sendReaction", &json!(JID)));
    assert_eq!(body["key"]["fromMe"], false);
    let Some(Content::Reaction(mut reaction)) = contents::of(MessageKind::Reaction, PHONE) else {
        panic!("no reaction")
    };
    reaction.emoji = None;
    let (sent, requests) = asked(&scene, Content::Reaction(reaction)).await;
    assert!(matches!(sent, Err(SendFailure::Refused(_))), "{sent:?}");
    assert!(requests.is_empty());
}

/// R340.
#[tokio::test]
async fn what_the_gateway_would_refuse_is_refused_before_any_request() {
    let scene = Scene::new();
    let poll = Offer::poll("Qual?", (0..11).map(|n| n.to_string()));
    let poll = InteractiveContent { offer: poll, header_file: None };
    let phone = SharedPhone { number: "190".to_owned(), kind: None };
    let card =
        SharedContact { name: Some("P".into()), phones: vec![phone], ..SharedContact::default() };
    for content in [Content::Interactive(Box::new(poll)), Content::Contacts(vec![card])] {
        let (sent, requests) = asked(&scene, content).await;
        assert!(matches!(sent, Err(SendFailure::Refused(_))), "{sent:?}");
        assert!(requests.is_empty());
    }
}

/// X10.
#[tokio::test]
async fn a_quote_names_its_message_with_what_it_says() {
    let scene = Scene::new();
    let quoted = Some(contents::received("3A0F", PHONE));
    let outgoing = Outgoing { quoted, ..text_to(PHONE, "Sim") };
    scene.send(&outgoing).await.expect("sent");
    let (_, body) = scene.fake.orders().remove(0);
    let key = json!({"id": "3A0F", "remoteJid": JID, "fromMe": false});
    assert_eq!(body["quoted"], json!({"key": key, "message": {"conversation": "Oi"}}));
    assert_eq!(scene.fake.violations(), [""; 0]);
}

/// X14.
#[tokio::test]
async fn messages_are_changed_withdrawn_and_marked_and_typing_is_shown() {
    let scene = Scene::new();
    let (ours, theirs) = (contents::sent("3EB0", PHONE), contents::received("3A0F", PHONE));
    let (transport, connection) = (&scene.transport, &scene.connection);
    let edit = Edit { text: "Olá".to_owned(), is_caption: false };
    scene.provider.edit(transport, connection, &ours, &edit).await.expect("changed");
    scene.provider.revoke(transport, connection, &ours).await.expect("withdrawn");
    scene.provider.mark_read(transport, connection, &theirs).await.expect("marked");
    let whose = TypingIn { recipient: PHONE.to_owned(), group: None, last_inbound: None };
    for state in [Typing::Text, Typing::Recording, Typing::Paused] {
        scene.provider.typing(transport, connection, &whose, state).await.expect("shown");
    }
    let marks = scene.fake.marks();
    let names: Vec<&str> = marks.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names[..3], ["updateMessage", "deleteMessageForEveryone", "markMessageAsRead"]);
    assert_eq!(names[3..], ["sendPresence"; 3]);
    assert_eq!(marks[0].1["key"]["id"], "3EB0");
    assert_eq!(marks[2].1["readMessages"][0]["remoteJid"], JID);
    let shown: Vec<&Value> = marks[3..].iter().map(|(_, body)| &body["presence"]).collect();
    assert_eq!(shown, ["composing", "recording", "paused"]);
    assert_eq!(scene.fake.violations(), [""; 0]);

    scene.fake.refuse_marks();
    let refused = scene.provider.edit(transport, connection, &ours, &edit).await;
    assert!(matches!(refused, Err(SendFailure::Uncertain(_))), "{refused:?}");
}
