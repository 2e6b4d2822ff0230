//! Answers to what was offered.

use recado_core::gateway::Button;
use recado_core::messages::MessageType;
use serde_json::{Value, json};

use crate::messages::{block, read, says};

/// The block, the text and the button of an answer.
fn answer(kind: &str, part: Value) -> (Value, Option<String>, Button) {
    let message = read(kind, json!({ kind: part }));
    assert_eq!(message.message_type, MessageType::Interactive, "{kind}");
    assert_eq!(message.content, None, "{kind}");
    let shown = block(&message, "interactive");
    (shown, message.blocks.tidied().content(), message.button.expect("a button"))
}

fn button(id: &str, payload: Option<&str>, title: &str) -> Button {
    Button { id: says(id), payload: payload.map(str::to_owned), title: says(title) }
}

fn shown(kind: &str, id: Option<&str>, title: &str, description: Option<&str>) -> Value {
    json!({"kind": kind, "id": id, "title": title, "description": description, "payload": null,
        "response": null, "in_reply_to": null})
}

/// X2, D31a.
#[test]
fn a_pressed_button_is_its_title() {
    let part = json!({"selectedButtonId": "b1", "selectedDisplayText": "Sim", "type": 1});
    let expected = shown("button_reply", Some("b1"), "Sim", None);
    assert_eq!(
        answer("buttonsResponseMessage", part),
        (expected, says("Sim"), button("b1", None, "Sim"))
    );
    let part = json!({"selectedId": "parar", "selectedDisplayText": "Parar promoções",
        "selectedIndex": 1});
    let expected = shown("button_reply", Some("parar"), "Parar promoções", None);
    assert_eq!(
        answer("templateButtonReplyMessage", part),
        (expected, says("Parar promoções"), button("parar", None, "Parar promoções"))
    );
}

/// X2, D31a.
#[test]
fn a_choice_of_a_list_has_its_description() {
    let part = json!({"title": "Plano A", "listType": 1,
        "singleSelectReply": {"selectedRowId": "r1"}, "description": "O menor"});
    let expected = shown("list_reply", Some("r1"), "Plano A", Some("O menor"));
    assert_eq!(
        answer("listResponseMessage", part),
        (expected, says("Plano A\nO menor"), button("r1", None, "Plano A"))
    );
}

/// X2.
#[test]
fn answers_of_the_newer_kind_are_presses_and_choices_too() {
    let written = "{\"id\":\"q1\",\"version\":3}";
    let part = json!({"body": {"text": "Quero"}, "nativeFlowResponseMessage":
        {"name": "quick_reply", "paramsJson": written, "version": 3}});
    let expected = shown("button_reply", Some("q1"), "Quero", None);
    assert_eq!(
        answer("interactiveResponseMessage", part),
        (expected, says("Quero"), button("q1", Some(written), "Quero"))
    );
    let written = "{\"id\":\"r1\",\"title\":\"Plano A\",\"description\":\"O menor\"}";
    let part = json!({"body": {"text": "Plano A"}, "nativeFlowResponseMessage":
        {"name": "menu_options", "paramsJson": written, "version": 3}});
    let expected = shown("list_reply", Some("r1"), "Plano A", Some("O menor"));
    assert_eq!(
        answer("interactiveResponseMessage", part),
        (expected, says("Plano A\nO menor"), button("r1", Some(written), "Plano A"))
    );
}

/// X2, D43: a press is heard by the title that only its parameters have.
#[test]
fn a_press_without_a_text_has_the_title_of_its_parameters() {
    for (written, id) in [
        ("{\"id\":\"b2\",\"display_text\":\"Parar promoções\"}", "b2"),
        ("{\"display_text\":\"Parar promoções\"}", "quick_reply"),
    ] {
        let part = json!({"nativeFlowResponseMessage":
            {"name": "quick_reply", "paramsJson": written}});
        let expected = shown("button_reply", Some(id), "Parar promoções", None);
        assert_eq!(
            answer("interactiveResponseMessage", part),
            (expected, says("Parar promoções"), button(id, Some(written), "Parar promoções"))
        );
    }
}

/// X2, X4.
#[test]
fn a_filled_form_is_its_answers() {
    let form = |written: &str| {
        let part = json!({"body": {"text": "Sent"}, "nativeFlowResponseMessage":
            {"name": "flow", "paramsJson": written, "version": 3}});
        let (shown, text, button) = answer("interactiveResponseMessage", part);
        assert_eq!((&shown["kind"], &shown["title"]), (&json!("flow_reply"), &json!("Sent")));
        assert_eq!(button.payload.as_deref(), Some(written));
        (shown["response"].clone(), text)
    };
    let written = "{\"flow_token\":\"t\",\"Nome\":\"Ana\"}";
    let response = json!({"flow_token": "t", "Nome": "Ana"});
    assert_eq!(form(written), (response, says("Nome: Ana")));
    assert_eq!(form("Nome: Ana"), (json!("Nome: Ana"), says("Nome: Ana")));
    assert_eq!(form("[1]"), (json!("[1]"), says("[1]")));
}

#[test]
fn whether_the_company_may_call_is_an_answer_of_its_own() {
    let written = "{\"response\":\"accept\"}";
    let part = json!({"body": {"text": "Pode ligar"}, "nativeFlowResponseMessage":
        {"name": "call_permission_request", "paramsJson": written}});
    let (shown, text, _) = answer("interactiveResponseMessage", part);
    assert_eq!((&shown["kind"], text), (&json!("call_permission_reply"), says("Pode ligar")));
    assert_eq!(shown["response"], json!({"response": "accept"}));
}
