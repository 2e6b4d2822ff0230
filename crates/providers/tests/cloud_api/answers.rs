//! Answers, what was offered, and orders (X1, X2).

use recado_core::gateway::GatewayEvent;
use recado_core::messages::MessageType;
use serde_json::{Value, json};

use crate::blocks::{shown, worded};
use crate::support::*;

/// The interactive block of a message, and the text that the core makes of it.
fn interactive(content: Value) -> (Value, Option<String>) {
    let (blocks, text) = worded(message(content), MessageType::Interactive);
    (shown(&blocks)["interactive"].clone(), text)
}

fn answer(fields: Value) -> Value {
    let mut answer = json!({"id": null, "title": null, "description": null, "payload": null,
        "response": null, "in_reply_to": null});
    let own = answer.as_object_mut().expect("an object");
    own.extend(fields.as_object().cloned().expect("an object"));
    answer
}

/// X2, D31a.
#[test]
fn what_was_chosen_keeps_its_id_its_title_and_its_description() {
    for (content, expected, text) in [
        (
            json!({"type": "button", "button": {"payload": "STOP", "text": "Parar promoções"}}),
            json!({"kind": "button_reply", "title": "Parar promoções", "payload": "STOP"}),
            "Parar promoções",
        ),
        (
            json!({"type": "interactive", "interactive": {"type": "button_reply",
                "button_reply": {"id": "sim", "title": "Sim"}}}),
            json!({"kind": "button_reply", "id": "sim", "title": "Sim"}),
            "Sim",
        ),
        (
            json!({"type": "interactive", "interactive": {"type": "list_reply",
                "list_reply": {"id": "op1", "title": "Boleto", "description": "2ª via"}}}),
            json!({"kind": "list_reply", "id": "op1", "title": "Boleto", "description": "2ª via"}),
            "Boleto\n2ª via",
        ),
    ] {
        assert_eq!(interactive(content), (answer(expected), Some(text.to_owned())));
    }
}

/// X2.
#[test]
fn the_answer_of_a_form_is_an_object_or_else_its_raw_text() {
    let form = |body: &str, response: Value| {
        interactive(json!({"type": "interactive", "interactive": {"type": "nfm_reply",
            "nfm_reply": {"name": "flow", "body": body, "response_json": response}}}))
    };
    let (block, text) = form("Sent", json!("{\"flow_token\":\"t\",\"Nome\":\"Ana\"}"));
    assert_eq!(
        block,
        answer(json!({"kind": "flow_reply", "id": "flow",
            "response": {"flow_token": "t", "Nome": "Ana"}}))
    );
    assert_eq!(text.as_deref(), Some("Nome: Ana"));
    for raw in ["not JSON", "[1]", "\"a\"", "{\"cut\":"] {
        let (block, text) = form("Pedido enviado", json!(raw));
        assert_eq!((&block["title"], &block["response"]), (&json!("Pedido enviado"), &json!(raw)));
        assert_eq!(text.as_deref(), Some(raw));
    }
    let (block, text) = form("Agendar", json!(null));
    assert_eq!((block["response"].clone(), text.as_deref()), (json!(null), Some("Agendar")));
}

/// X2: it is no button, so that a refused call is no request to stop.
#[test]
fn whether_the_company_may_call_is_an_answer_without_a_button() {
    let content = json!({"type": "interactive", "interactive": {"type": "call_permission_reply",
        "call_permission_reply": {"response": "reject", "response_source": "user_action"}}});
    assert_eq!(message(content.clone()).button, None);
    let (block, text) = interactive(content);
    let response = json!({"response": "reject", "response_source": "user_action"});
    assert_eq!(
        block,
        answer(json!({"kind": "call_permission_reply", "title": "reject", "response": response}))
    );
    assert_eq!(text.as_deref(), Some("reject"));
}

/// X2.
#[test]
fn what_the_operator_offered_on_the_phone_is_kept_whole() {
    let product = json!({"catalog_id": "c1", "product_retailer_id": "sku-1"});
    for (kind, action, expected) in [
        (
            "button",
            json!({"buttons": [{"type": "reply", "reply": {"id": "1", "title": "Sim"}}]}),
            json!({"kind": "buttons", "buttons": [{"id": "1", "title": "Sim"}]}),
        ),
        (
            "list",
            json!({"button": "Abrir", "sections": [{"title": "Planos",
                "rows": [{"id": "a", "title": "A", "description": "barato"}]}]}),
            json!({"kind": "list", "button": "Abrir", "sections": [{"title": "Planos",
                "rows": [{"id": "a", "title": "A", "description": "barato"}]}]}),
        ),
        (
            "cta_url",
            json!({"name": "cta_url", "parameters": {"display_text": "Site",
                "url": "https://loja.example"}}),
            json!({"kind": "cta_url", "label": "Site", "url": "https://loja.example"}),
        ),
        (
            "location_request_message",
            json!({"name": "send_location"}),
            json!({"kind": "location_request"}),
        ),
        ("product", product, json!({"kind": "product"})),
        (
            "product_list",
            json!({"catalog_id": "c1", "sections": [{"title": "Novos",
                "product_items": [{"product_retailer_id": "sku-1"}]}]}),
            json!({"kind": "product_list", "sections": [{"title": "Novos",
                "rows": [{"id": "sku-1", "title": null, "description": null}]}]}),
        ),
    ] {
        let content = json!({"type": "interactive", "interactive": {"type": kind,
            "header": {"type": "text", "text": "Loja"}, "body": {"text": "Escolha"},
            "footer": {"text": "Até já"}, "action": action}});
        let (block, text) = interactive(content);
        let mut whole = expected;
        whole["header"] = json!({"text": "Loja"});
        whole["body"] = json!("Escolha");
        whole["footer"] = json!("Até já");
        assert_eq!(block, whole, "{kind}");
        let text = text.expect("a text");
        assert!(text.starts_with("Loja\nEscolha") && text.ends_with("Até já"), "{text}");
    }
}

/// X2, X9: nobody knows how to answer what a contact offers in a way that is new.
#[test]
fn an_offer_of_a_new_kind_is_the_operators_or_unsupported() {
    let new = json!({"from": "551140028922", "to": "553491234567", "id": "wamid.1",
        "type": "interactive", "interactive": {"type": "carousel", "body": {"text": "Escolha"},
        "action": {"name": "x"}}});
    let GatewayEvent::Echo(own) =
        event("smb_message_echoes", json!({"message_echoes": [new.clone()]}))
    else {
        panic!("no echo")
    };
    assert_eq!((own.message_type, own.raw), (MessageType::Interactive, None));
    let contacts = message(new.clone());
    assert_eq!(
        (contacts.message_type, contacts.content.as_deref()),
        (MessageType::Unsupported, Some("Escolha"))
    );
    assert_eq!(contacts.raw.expect("the change")["value"]["messages"][0]["id"], "wamid.1");
}

/// X2, X9.
#[test]
fn an_answer_in_which_nothing_can_be_read_is_kept_whole() {
    for content in [
        json!({"type": "button", "button": {"new": 1}}),
        json!({"type": "interactive", "interactive": {"type": "button_reply", "button_reply": {}}}),
        json!({"type": "interactive", "interactive": {"type": "list_reply",
            "list_reply": {"title": " "}}}),
        json!({"type": "interactive", "interactive": {"type": "nfm_reply",
            "nfm_reply": {"body": "Sent"}}}),
    ] {
        let told = message(content.clone());
        assert_eq!(told.message_type, MessageType::Unsupported, "{content}");
        assert!(told.raw.is_some() && told.blocks.interactive.is_none(), "{content}");
    }
}

/// X9.
#[test]
fn the_texts_of_a_kind_that_is_not_known_stay() {
    for (kind, part, said) in [
        ("event", json!({"title": "Festa", "description": "Sábado"}), "Festa\nSábado"),
        ("survey_reply", json!({"title": "Ótimo"}), "Ótimo"),
        ("poll", json!({"name": "Quando?"}), "Quando?"),
        ("hologram", json!({"note": "Veja"}), "Veja"),
    ] {
        let told = message(json!({"type": kind, kind: part}));
        assert_eq!(
            (told.message_type, told.content.as_deref()),
            (MessageType::Unsupported, Some(said))
        );
    }
}

/// X2.
#[test]
fn a_product_that_was_offered_is_named_even_without_a_text() {
    let reported = message(json!({"type": "interactive", "interactive": {"type": "product",
        "action": {"catalog_id": "c1", "product_retailer_id": "sku-1"}}}));
    assert_eq!(reported.message_type, MessageType::Interactive);
    assert_eq!(
        shown(&reported.blocks)["product"],
        json!({"catalog_id": "c1", "product_id": "sku-1", "name": null, "price": null})
    );
}

/// X1, X2.
#[test]
fn an_order_keeps_its_items_with_their_prices() {
    let reported = message(json!({"type": "order", "order": {"catalog_id": "c1",
        "text": "Quero este", "product_items": [
            {"product_retailer_id": "sku-1", "quantity": 2, "item_price": 10.5, "currency": "BRL"},
            {"product_retailer_id": 7, "quantity": "1", "item_price": "3.00", "currency": "BRL"}]}}));
    let (blocks, text) = worded(reported, MessageType::Order);
    let item = |id: &str, quantity: u64, price: &str| {
        json!({"product_id": id, "name": null, "quantity": quantity,
            "price": {"amount": price, "currency": "BRL"}})
    };
    assert_eq!(
        shown(&blocks)["order"],
        json!({"catalog_id": "c1", "text": "Quero este", "total": null,
            "items": [item("sku-1", 2, "10.5"), item("7", 1, "3.00")]})
    );
    assert_eq!(
        text.as_deref(),
        Some("Quero este\n2 x sku-1 (R$ 10,50)\n1 x 7 (R$ 3,00)\nTotal: R$ 24,00")
    );
}

/// X2.
#[test]
fn a_price_without_an_amount_or_a_currency_is_none() {
    for (amount, currency) in [
        (json!("cheap"), json!("BRL")),
        (json!(null), json!("BRL")),
        (json!("1e99"), json!("BRL")),
        (json!(1), json!(null)),
    ] {
        let reported = message(json!({"type": "order", "order": {"product_items": [
            {"product_retailer_id": "1", "quantity": -1, "item_price": amount,
                "currency": currency}]}}));
        let item = &shown(&reported.blocks)["order"]["items"][0];
        assert_eq!((&item["price"], &item["quantity"]), (&json!(null), &json!(null)), "{amount}");
    }
}
