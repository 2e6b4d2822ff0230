//! Polls, products, orders, and what else is offered.

use recado_core::messages::MessageType;
use serde_json::{Value, json};

use crate::messages::{block, read, says};

/// The type, the offer and the text of a message whose text is made from its blocks.
fn offer(kind: &str, part: Value) -> (MessageType, Value, String) {
    let message = read(kind, json!({ kind: part }));
    assert_eq!((&message.content, &message.button), (&None, &None), "{kind}");
    let shown = block(&message, "interactive");
    let text = message.blocks.clone().tidied().content().unwrap_or_default();
    (message.message_type, shown, text)
}

fn interactive(kind: &str, part: Value) -> (Value, String) {
    let (message_type, shown, text) = offer(kind, part);
    assert_eq!(message_type, MessageType::Interactive, "{kind}");
    (shown, text)
}

/// X1, X2, X4.
#[test]
fn a_poll_is_its_question_and_its_options() {
    let options = json!([{"optionName": "Hoje"}, {"optionName": "Amanhã"}]);
    for kind in ["pollCreationMessage", "pollCreationMessageV2", "pollCreationMessageV3"] {
        for (count, selectable) in [(1, 1), (0, 2), (2, 2)] {
            let part = json!({"name": "Quando?", "options": options,
                "selectableOptionsCount": count, "encKey": ""});
            let shown = json!({"kind": "poll", "body": "Quando?", "selectable": selectable,
                "options": [{"option": "Hoje", "votes": 0}, {"option": "Amanhã", "votes": 0}]});
            let text = "Enquete: Quando?\n- Hoje\n- Amanhã".to_owned();
            assert_eq!(offer(kind, part), (MessageType::Poll, shown, text), "{kind}");
        }
    }
}

#[test]
fn a_poll_may_be_in_an_envelope_and_lack_its_number() {
    let part = json!({"name": "Quando?", "options": [{"optionName": "Hoje"}, {"optionName": ""}]});
    for number in ["V4", "V6"] {
        let message = json!({format!("pollCreationMessage{number}"): {"message":
            {"pollCreationMessage": part}}});
        let message = read("pollCreationMessage", message);
        let shown = json!({"kind": "poll", "body": "Quando?",
            "options": [{"option": "Hoje", "votes": 0}]});
        assert_eq!(
            (message.message_type, block(&message, "interactive")),
            (MessageType::Poll, shown)
        );
    }
}

/// X2.
#[test]
fn a_product_has_its_price() {
    let part = json!({"product": {"productId": "123", "title": "Caneca", "currencyCode": "BRL",
        "priceAmount1000": "10500", "retailerId": "sku-1", "productImage": {}},
        "businessOwnerJid": "551140028922@s.whatsapp.net", "body": "Tem azul?"});
    let message = read("productMessage", json!({ "productMessage": part }));
    assert_eq!(message.content, says("Tem azul?"));
    assert_eq!(message.message_type, MessageType::Text);
    let shown = json!({"catalog_id": null, "product_id": "sku-1", "name": "Caneca",
        "price": {"amount": "10.5", "currency": "BRL"}});
    assert_eq!(block(&message, "product"), shown);
}

/// X2, D43: the name of a product is not what the person said.
#[test]
fn a_product_without_a_text_asks_for_nothing() {
    let part = json!({"product": {"productId": "1", "title": "Stop"}});
    let message = read("productMessage", json!({ "productMessage": part }));
    assert_eq!(message.content, None);
    assert_eq!(block(&message, "product")["name"], "Stop");
}

/// X1, X2, X4.
#[test]
fn an_order_tells_how_many_things_and_what_they_cost() {
    for total in [json!("24990"), json!(24990), json!({"low": 24990, "high": 0})] {
        let part = json!({"orderId": "775", "thumbnail": "", "itemCount": 3, "status": "INQUIRY",
            "surface": "CATALOG", "orderTitle": "Loja", "message": "Entregam hoje?",
            "totalAmount1000": total, "totalCurrencyCode": "BRL", "token": "t"});
        let message = read("orderMessage", json!({ "orderMessage": part }));
        assert_eq!((message.message_type, &message.content), (MessageType::Order, &None));
        let shown = json!({"catalog_id": null, "text": "Loja\nEntregam hoje?",
            "items": [{"product_id": null, "name": null, "quantity": 3, "price": null}],
            "total": {"amount": "24.99", "currency": "BRL"}});
        assert_eq!(block(&message, "order"), shown);
        let text = "Loja\nEntregam hoje?\n3 x Produto\nTotal: R$ 24,99";
        assert_eq!(message.blocks.tidied().content(), says(text));
    }
}

/// X2.
#[test]
fn invitations_are_shown_by_their_texts() {
    let part = json!({"groupJid": "120363041234567890@g.us", "inviteCode": "abc",
        "inviteExpiration": "1760000000", "groupName": "Clientes", "caption": "Entre"});
    let shown = json!({"kind": "other", "header": {"text": "Clientes"}, "body": "Entre"});
    assert_eq!(interactive("groupInviteMessage", part), (shown, "Clientes\nEntre".to_owned()));
    let part = json!({"name": "Feira", "description": "Traga a família", "isCanceled": false,
        "startTime": "1760000000", "joinLink": "https://call.example/x",
        "location": {"degreesLatitude": -18.5, "degreesLongitude": -48.5, "name": "Praça"}});
    let text = "Feira\nTraga a família\nInício: 09/10/2025 08:53 (UTC)\nLocal: Praça\n\
        https://call.example/x";
    let (shown, said) = interactive("eventMessage", part);
    assert_eq!((said.as_str(), &shown["kind"]), (text, &json!("other")));
    assert_eq!(shown["url"], "https://call.example/x");
}

/// X2.
#[test]
fn buttons_and_lists_keep_their_choices() {
    let part = json!({"text": "Loja", "contentText": "Confirma?", "footerText": "Até já",
        "headerType": "TEXT", "buttons": [
            {"buttonId": "1", "buttonText": {"displayText": "Sim"}, "type": "RESPONSE"},
            {"buttonId": "2", "buttonText": {"displayText": "Não"}, "type": "RESPONSE"}]});
    let shown = json!({"kind": "buttons", "header": {"text": "Loja"}, "body": "Confirma?",
        "footer": "Até já",
        "buttons": [{"id": "1", "title": "Sim"}, {"id": "2", "title": "Não"}]});
    let text = "Loja\nConfirma?\n- Sim\n- Não\nAté já".to_owned();
    assert_eq!(interactive("buttonsMessage", part), (shown, text));
    let part = json!({"title": "Planos", "description": "Escolha", "buttonText": "Abrir",
        "listType": "SINGLE_SELECT", "sections": [{"title": "Casa", "rows": [
            {"title": "A", "description": "barato", "rowId": "r1"}]}]});
    let shown = json!({"kind": "list", "header": {"text": "Planos"}, "body": "Escolha",
        "button": "Abrir", "sections": [{"title": "Casa", "rows": [
            {"id": "r1", "title": "A", "description": "barato"}]}]});
    let text = "Planos\nEscolha\nCasa\n- A: barato".to_owned();
    assert_eq!(interactive("listMessage", part), (shown, text));
}

/// X2.
#[test]
fn templates_are_their_texts_and_their_buttons() {
    let reply = json!({"index": 0, "quickReplyButton": {"displayText": "Parar", "id": "p"}});
    let page = json!({"index": 1, "urlButton": {"displayText": "Site",
        "url": "https://loja.example"}});
    let call = json!({"index": 2, "callButton": {"displayText": "Ligar",
        "phoneNumber": "+551140028922"}});
    let template = |name: &str, buttons: Value| {
        let hydrated = json!({"hydratedTitleText": "Aviso", "hydratedContentText": "Seu pedido saiu",
            "hydratedFooterText": "Loja", "hydratedButtons": buttons, "templateId": "1"});
        interactive("templateMessage", json!({ name: hydrated }))
    };
    let (shown, text) = template("hydratedTemplate", json!([reply]));
    assert_eq!(
        (shown["kind"].as_str(), &shown["buttons"]),
        (Some("buttons"), &json!([{"id": "p", "title": "Parar"}]))
    );
    assert_eq!(text, "Aviso\nSeu pedido saiu\n- Parar\nLoja");
    let (shown, text) = template("hydratedFourRowTemplate", json!([page]));
    assert_eq!(
        (shown["kind"].as_str(), &shown["url"]),
        (Some("cta_url"), &json!("https://loja.example"))
    );
    assert_eq!(text, "Aviso\nSeu pedido saiu\nSite: https://loja.example\nLoja");
    let (shown, text) = template("hydratedTemplate", json!([page, call]));
    assert_eq!(shown["kind"], "other");
    assert_eq!(text, "Aviso\nSeu pedido saiu\n- Site\n- Ligar\nLoja");
    let (shown, text) = template("hydratedTemplate", json!([]));
    assert_eq!(
        (shown["kind"].as_str(), text.as_str()),
        (Some("other"), "Aviso\nSeu pedido saiu\nLoja")
    );
}

fn native(buttons: &[(&str, Value)]) -> Value {
    let button = |(name, parameters): &(&str, Value)| json!({"name": name, "buttonParamsJson": parameters.to_string()});
    let buttons: Vec<Value> = buttons.iter().map(button).collect();
    json!({"header": {"title": "Loja", "hasMediaAttachment": false}, "body": {"text": "Veja"},
        "footer": {"text": "Até já"},
        "nativeFlowMessage": {"buttons": buttons, "messageParamsJson": ""}})
}

/// X2.
#[test]
fn the_newer_buttons_are_read_from_their_parameters() {
    let reply = json!({"display_text": "Sim", "id": "1"});
    let page = json!({"display_text": "Site", "url": "https://loja.example", "merchant_url": ""});
    let list = json!({"title": "Abrir", "sections": [{"title": "Casa", "rows": [
        {"header": "", "title": "A", "description": "barato", "id": "r1"}]}]});
    let copy = json!({"display_text": "Copiar", "copy_code": "DESC10"});
    for (buttons, kind, middle) in [
        (vec![("quick_reply", reply.clone())], "buttons", "- Sim"),
        (vec![("cta_url", page.clone())], "cta_url", "Site: https://loja.example"),
        (vec![("single_select", list)], "list", "Casa\n- A: barato"),
        (vec![("quick_reply", reply), ("cta_url", page)], "other", "- Sim\n- Site"),
        (vec![("cta_copy", copy)], "other", "- Copiar"),
    ] {
        let (shown, text) = interactive("interactiveMessage", native(&buttons));
        assert_eq!(shown["kind"], kind);
        if kind != "cta_url" && kind != "list" {
            assert_eq!(text, format!("Loja\nVeja\n{middle}\nAté já"));
        } else {
            assert!(text.starts_with("Loja\nVeja\n") && text.contains(middle), "{text}");
        }
    }
    let (shown, _) = interactive("interactiveMessage", native(&[("send_location", json!({}))]));
    assert_eq!(shown["kind"], "location_request");
    let unreadable = json!({"body": {"text": "Veja"}, "nativeFlowMessage": {"buttons":
        [{"name": "quick_reply", "buttonParamsJson": "{"}, {"name": 7}, null]}});
    assert_eq!(interactive("interactiveMessage", unreadable).1, "Veja");
}

/// X2.
#[test]
fn a_request_for_payment_shows_where_to_pay_and_what_for() {
    let settings = json!([{"type": "pix_static_code", "pix_static_code": {
        "merchant_name": "Loja", "key": "loja@example.com", "key_type": "EMAIL"}}]);
    let pix = json!({"currency": "BRL", "total_amount": {"value": 0, "offset": 100},
        "reference_id": "R1", "type": "physical-goods", "payment_settings": settings,
        "order": {"status": "pending", "items": [{"name": "", "amount": {"value": 0,
            "offset": 100}, "quantity": 0}]}});
    let (shown, text) = interactive("interactiveMessage", native(&[("payment_info", pix)]));
    let button = json!([{"id": "loja@example.com",
        "title": "Pix: loja@example.com (Loja)"}]);
    assert_eq!(shown["buttons"], button);
    assert_eq!(text, "Loja\nVeja\n- Pix: loja@example.com (Loja)\nAté já");
    let review = json!({"currency": "BRL", "total_amount": {"value": 2100, "offset": 100},
        "reference_id": "R2", "payment_settings": settings, "order": {"items": [
            {"retailer_id": "sku-1", "name": "Caneca", "quantity": 2,
                "amount": {"value": 1050, "offset": 100}}]}});
    let part = native(&[("review_and_pay", review)]);
    let message = read("interactiveMessage", json!({ "interactiveMessage": part }));
    assert_eq!((message.message_type, &message.content), (MessageType::Interactive, &None));
    let shown = json!({"catalog_id": null, "text": "Veja", "items": [{"product_id": "sku-1",
        "name": "Caneca", "quantity": 2, "price": {"amount": "10.5", "currency": "BRL"}}],
        "total": {"amount": "21", "currency": "BRL"}});
    assert_eq!(block(&message, "order"), shown);
    assert_eq!(block(&message, "interactive")["buttons"][0]["id"], "loja@example.com");
    let text = message.blocks.tidied().content();
    assert_eq!(text, says("Veja\n2 x Caneca (R$ 10,50)\nTotal: R$ 21,00"));
}

#[test]
fn a_comment_is_what_it_says() {
    let part = json!({"message": {"extendedTextMessage": {"text": "Parabéns"}},
        "targetMessageKey": {"id": "3EB0A1"}});
    let message = read("commentMessage", json!({ "commentMessage": part }));
    assert_eq!((message.message_type, message.content), (MessageType::Text, says("Parabéns")));
}
