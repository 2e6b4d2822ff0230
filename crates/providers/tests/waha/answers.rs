//! Pressed buttons, choices from lists, filled forms, and what messages answer.

use recado_core::gateway::{Button, GatewayMessage};
use recado_core::messages::{Answer, AnswerKind, Interactive, MessageType};
use recado_testkit::gateways::WahaEngine;
use serde_json::{Value, json};

use super::support::{Scene, gows, inbound, noweb};

fn read(fields: Value) -> GatewayMessage {
    Scene::new(WahaEngine::Gows).message(&inbound(fields))
}

fn said(text: &str) -> Option<String> {
    Some(text.to_owned())
}

fn answer(fields: Value) -> (GatewayMessage, Answer) {
    let message = read(fields);
    assert_eq!((message.message_type, &message.content), (MessageType::Interactive, &None));
    match message.blocks.interactive.clone() {
        Some(Interactive::Answer(answer)) => (message, answer),
        other => panic!("no answer: {other:?}"),
    }
}

/// X2, D31a.
#[test]
fn presses_of_buttons_and_choices_of_lists_are_read_on_every_engine() {
    let button = |id: &str, title: &str| Button { id: said(id), payload: None, title: said(title) };
    for (fields, expected) in [
        (
            noweb(json!({"buttonsResponseMessage": {"selectedButtonId": "sim",
            "selectedDisplayText": "Sim"}})),
            button("sim", "Sim"),
        ),
        (
            gows(json!({"buttonsResponseMessage": {"selectedButtonID": "sim",
            "Response": {"SelectedDisplayText": "Sim"}}})),
            button("sim", "Sim"),
        ),
        (
            noweb(json!({"templateButtonReplyMessage": {"selectedId": "stop",
            "selectedDisplayText": "Parar promoções"}})),
            button("stop", "Parar promoções"),
        ),
        (
            gows(json!({"listResponseMessage": {"title": "Boleto",
            "singleSelectReply": {"selectedRowID": "op1"}}})),
            button("op1", "Boleto"),
        ),
        (
            noweb(json!({"interactiveResponseMessage": {"body": {"text": "Sim"},
            "nativeFlowResponseMessage": {"paramsJson": "{\"id\":\"sim\"}"}}})),
            button("sim", "Sim"),
        ),
        (
            json!({"body": "Sim", "_data": {"type": "buttons_response", "selectedButtonId": "sim"}}),
            button("sim", "Sim"),
        ),
        (
            json!({"body": "Boleto", "_data": {"type": "list_response",
            "listResponse": {"singleSelectReply": {"selectedRowId": "op1"}}}}),
            button("op1", "Boleto"),
        ),
    ] {
        let message = read(fields.clone());
        assert_eq!(message.message_type, MessageType::Interactive, "{fields}");
        assert_eq!(message.content, None, "{fields}");
        assert_eq!(message.blocks.content(), expected.title, "{fields}");
        assert_eq!(message.button, Some(expected), "{fields}");
    }
}

/// X2.
#[test]
fn a_choice_says_what_it_was_chosen_from() {
    let (_, list) = answer(gows(json!({"listResponseMessage": {"title": "Plano A",
        "description": "R$ 10 por mês", "singleSelectReply": {"selectedRowID": "a"}}})));
    let expected = Answer {
        id: said("a"),
        title: said("Plano A"),
        description: said("R$ 10 por mês"),
        ..Answer::new(AnswerKind::ListReply)
    };
    assert_eq!(list, expected);
    let (_, pressed) = answer(noweb(json!({"templateButtonReplyMessage": {"selectedId": "sim",
        "selectedDisplayText": "Sim", "selectedIndex": 0}})));
    let expected =
        Answer { id: said("sim"), title: said("Sim"), ..Answer::new(AnswerKind::ButtonReply) };
    assert_eq!(pressed, expected);
    let (_, listed) =
        answer(gows(json!({"interactiveResponseMessage": {"body": {"text": "Plano A"},
        "InteractiveResponseMessage": {"NativeFlowResponseMessage": {"name": "single_select",
            "paramsJSON": "{\"id\":\"a\",\"description\":\"R$ 10\"}"}}}})));
    assert_eq!((listed.kind, listed.id), (AnswerKind::ListReply, said("a")));
    assert_eq!(listed.description, said("R$ 10"));
}

/// X2, D43: a press without an id is no form, and is heard by its title.
#[test]
fn a_press_that_has_a_title_alone_is_a_button() {
    for body in [json!({"text": "Parar promoções"}), json!(null)] {
        let (message, pressed) = answer(noweb(json!({"interactiveResponseMessage": {"body": body,
            "nativeFlowResponseMessage": {"name": "quick_reply",
                "paramsJson": "{\"display_text\":\"Parar promoções\"}"}}})));
        assert_eq!(pressed.kind, AnswerKind::ButtonReply);
        let title = message.button.and_then(|button| button.title);
        assert_eq!(title, said("Parar promoções"));
    }
}

/// X2.
#[test]
fn a_form_is_the_object_that_was_filled_and_no_button() {
    let form = |name: &str, filled: &str| {
        noweb(json!({"interactiveResponseMessage": {"body": {"text": "Sent"},
            "nativeFlowResponseMessage": {"name": name, "paramsJson": filled}}}))
    };
    let (message, filled) = answer(form("flow", "{\"flow_token\":\"t\",\"nome\":\"Ana\"}"));
    assert_eq!(message.button, None);
    assert_eq!((filled.kind, filled.title), (AnswerKind::FlowReply, said("Sent")));
    assert_eq!(filled.response, Some(json!({"flow_token": "t", "nome": "Ana"})));
    assert_eq!(message.blocks.content(), said("nome: Ana"));
    let (_, other) = answer(form("address_message", "{\"values\":{\"cep\":\"38400\"}}"));
    assert_eq!(other.response, Some(json!({"values": {"cep": "38400"}})));
    let (_, broken) = answer(form("flow", "{nome"));
    assert_eq!(broken.response, Some(json!("{nome")));
}

/// D31a.
#[test]
fn a_button_without_a_title_is_the_messages_text() {
    let mut fields = noweb(json!({"buttonsResponseMessage": {"selectedButtonId": "sim"}}));
    fields["body"] = "Sim".into();
    let message = read(fields);
    assert_eq!((message.message_type, message.content), (MessageType::Interactive, said("Sim")));
    assert_eq!(message.button.and_then(|button| button.id), said("sim"));
}

/// D31a.
#[test]
fn what_is_answered_has_its_type_even_without_a_text() {
    let reply = |quoted: Value| {
        json!({"extendedTextMessage": {"text": "Quanto?",
        "contextInfo": {"stanzaId": "3EB0A1", "quotedMessage": quoted}}})
    };
    let photo = json!({"imageMessage": {"mimetype": "image/jpeg"}});
    for (fields, expected, text) in [
        (
            json!({"replyTo": {"id": "3EB0A1", "body": null, "media": {"url": "u",
            "mimetype": "image/jpeg"}}}),
            MessageType::Image,
            None,
        ),
        (json!({"replyTo": {"id": "3EB0A1", "_data": photo}}), MessageType::Image, None),
        (noweb(reply(photo.clone())), MessageType::Image, None),
        (
            gows(json!({"extendedTextMessage": {"text": "Quanto?", "contextInfo": {
            "stanzaID": "3EB0A1", "quotedMessage": {"videoMessage": {"caption": "Veja"}}}}})),
            MessageType::Video,
            said("Veja"),
        ),
        (noweb(reply(json!({"conversation": "Olá"}))), MessageType::Text, said("Olá")),
        (noweb(reply(json!({"locationMessage": {}}))), MessageType::Location, None),
        (noweb(reply(json!({"pollCreationMessageV3": {"name": "?"}}))), MessageType::Poll, None),
        (
            json!({"_data": {"type": "chat", "quotedStanzaID": "3EB0A1",
            "quotedMsg": {"type": "ptt"}}}),
            MessageType::Audio,
            None,
        ),
    ] {
        let message = read(fields.clone());
        assert_eq!(message.quoted.as_ref().map(|id| id.as_str()), Some("3EB0A1"), "{fields}");
        assert_eq!(message.quoted_type, Some(expected), "{fields}");
        assert_eq!(message.quoted_content, text, "{fields}");
        assert_eq!(message.message_type, MessageType::Text, "{fields}");
    }
}
