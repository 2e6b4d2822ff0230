//! What can be answered: polls, buttons, lists, invitations; products and orders.

use recado_core::gateway::GatewayMessage;
use recado_core::messages::MessageType;
use recado_testkit::gateways::WahaEngine;
use serde_json::{Value, json};

use super::support::{Scene, gows, inbound, noweb};

fn read(fields: Value) -> GatewayMessage {
    Scene::new(WahaEngine::Gows).message(&inbound(fields))
}

fn offer(fields: Value) -> (MessageType, Value) {
    let message = read(fields);
    assert_eq!(message.content, None, "the blocks say it");
    let offered = message.blocks.interactive.expect("an offer");
    (message.message_type, serde_json::to_value(offered).expect("JSON"))
}

/// X1, X2, X4.
#[test]
fn a_poll_is_its_question_with_its_options_on_every_engine() {
    let options = json!([{"optionName": "Hoje"}, {"optionName": "Amanhã"}]);
    let expected = |selectable: Value| {
        let mut poll = json!({"kind": "poll", "body": "Quando?", "options": [
            {"option": "Hoje", "votes": 0}, {"option": "Amanhã", "votes": 0}]});
        if !selectable.is_null() {
            poll["selectable"] = selectable;
        }
        (MessageType::Poll, poll)
    };
    for (fields, selectable) in [
        (
            noweb(json!({"pollCreationMessageV3": {"name": "Quando?", "options": options,
            "selectableOptionsCount": 1}})),
            json!(1),
        ),
        (
            gows(json!({"pollCreationMessage": {"name": "Quando?", "options": options,
            "selectableOptionsCount": 0}})),
            json!(2),
        ),
        (
            gows(json!({"pollCreationMessageV4": {"message": {"pollCreationMessageV3": {
            "name": "Quando?", "options": options}}}})),
            json!(null),
        ),
        (
            json!({"body": "Quando?", "_data": {"type": "poll_creation", "pollName": "Quando?",
            "pollOptions": [{"name": "Hoje", "localId": 0}, {"name": "Amanhã", "localId": 1}],
            "pollSelectableOptionsCount": 1}}),
            json!(1),
        ),
        (
            json!({"body": "Quando?", "pollName": "Quando?", "pollOptions": ["Hoje", "Amanhã"]}),
            json!(null),
        ),
    ] {
        assert_eq!(offer(fields.clone()), expected(selectable), "{fields}");
    }
    let (kind, bare) = offer(json!({"body": "Quando?", "_data": {"type": "poll_creation"}}));
    assert_eq!((kind, &bare["body"]), (MessageType::Poll, &json!("Quando?")));
    let poll = read(noweb(json!({"pollCreationMessage": {"name": "Quando?", "options": options}})));
    let shown = poll.blocks.content();
    assert_eq!(shown.as_deref(), Some("Enquete: Quando?\n- Hoje\n- Amanhã"));
}

/// X2.
#[test]
fn buttons_and_lists_are_their_texts_with_their_choices() {
    let buttons = json!({"kind": "buttons", "header": {"text": "Loja"}, "body": "Confirma?",
        "footer": "Até já", "buttons": [{"id": "s", "title": "Sim"}, {"id": "n", "title": "Não"}]});
    let native = |id: &str, title: &str| json!({"id": id, "display_text": title}).to_string();
    for fields in [
        noweb(json!({"buttonsMessage": {"text": "Loja", "contentText": "Confirma?",
            "footerText": "Até já", "buttons": [
                {"buttonId": "s", "buttonText": {"displayText": "Sim"}, "type": 1},
                {"buttonId": "n", "buttonText": {"displayText": "Não"}, "type": 1}]}})),
        gows(json!({"buttonsMessage": {"Header": {"Text": "Loja"}, "contentText": "Confirma?",
            "footerText": "Até já", "buttons": [
                {"buttonID": "s", "buttonText": {"displayText": "Sim"}},
                {"buttonID": "n", "buttonText": {"displayText": "Não"}}]}})),
        noweb(json!({"interactiveMessage": {"header": {"title": "Loja"},
            "body": {"text": "Confirma?"}, "footer": {"text": "Até já"},
            "nativeFlowMessage": {"buttons": [
                {"name": "quick_reply", "buttonParamsJson": native("s", "Sim")},
                {"name": "quick_reply", "buttonParamsJson": native("n", "Não")}]}}})),
        gows(json!({"interactiveMessage": {"header": {"title": "Loja"},
            "body": {"text": "Confirma?"}, "footer": {"text": "Até já"},
            "InteractiveMessage": {"NativeFlowMessage": {"buttons": [
                {"name": "quick_reply", "buttonParamsJSON": native("s", "Sim")},
                {"name": "quick_reply", "buttonParamsJSON": native("n", "Não")}]}}}})),
        noweb(json!({"templateMessage": {"hydratedTemplate": {"hydratedTitleText": "Loja",
            "hydratedContentText": "Confirma?", "hydratedFooterText": "Até já",
            "hydratedButtons": [
                {"index": 0, "quickReplyButton": {"displayText": "Sim", "id": "s"}},
                {"index": 1, "quickReplyButton": {"displayText": "Não", "id": "n"}}]}}})),
        gows(json!({"templateMessage": {"Format": {"HydratedFourRowTemplate": {
            "Title": {"HydratedTitleText": "Loja"}, "hydratedContentText": "Confirma?",
            "hydratedFooterText": "Até já", "hydratedButtons": [
                {"HydratedButton": {"QuickReplyButton": {"displayText": "Sim", "ID": "s"}}},
                {"HydratedButton": {"QuickReplyButton": {"displayText": "Não", "ID": "n"}}}]}}}})),
    ] {
        assert_eq!(offer(fields.clone()), (MessageType::Interactive, buttons.clone()), "{fields}");
    }
    let sections = |id: &str| {
        json!([{"title": "Planos", "rows": [
        {id: "a", "title": "A", "description": "barato"}]}])
    };
    let details = json!({"title": "Abrir", "sections": sections("id")}).to_string();
    let list = json!({"kind": "list", "body": "Escolha", "button": "Abrir", "sections":
        sections("id")});
    for fields in [
        gows(json!({"listMessage": {"description": "Escolha", "buttonText": "Abrir",
            "sections": sections("rowID")}})),
        noweb(json!({"listMessage": {"description": "Escolha", "buttonText": "Abrir",
            "sections": sections("rowId")}})),
        noweb(json!({"viewOnceMessage": {"message": {"interactiveMessage": {
            "body": {"text": "Escolha"}, "nativeFlowMessage": {"buttons": [
                {"name": "single_select", "buttonParamsJson": details}]}}}}})),
    ] {
        assert_eq!(offer(fields.clone()), (MessageType::Interactive, list.clone()), "{fields}");
    }
}

/// X2.
#[test]
fn a_page_a_key_of_pix_and_a_bill_say_what_they_are() {
    let with = |name: &str, details: Value| {
        noweb(json!({"interactiveMessage": {"body": {"text": "Veja"}, "nativeFlowMessage":
            {"buttons": [{"name": name, "buttonParamsJson": details.to_string()}]}}}))
    };
    let page = with("cta_url", json!({"display_text": "Site", "url": "https://l.example"}));
    let expected = json!({"kind": "cta_url", "body": "Veja", "label": "Site",
        "url": "https://l.example"});
    assert_eq!(offer(page), (MessageType::Interactive, expected));
    let pix = with(
        "payment_info",
        json!({"payment_settings": [{"type": "pix_static_code",
        "pix_static_code": {"merchant_name": "Loja", "key": "loja@example.com",
            "key_type": "EMAIL"}}]}),
    );
    let expected = json!({"kind": "other", "body": "Veja", "buttons": [
        {"id": "loja@example.com", "title": "Pix: loja@example.com (Loja)"}]});
    assert_eq!(offer(pix), (MessageType::Interactive, expected));
    let bill = read(with(
        "review_and_pay",
        json!({"reference_id": "p1", "currency": "BRL",
        "total_amount": {"value": 2100, "offset": 100}, "order": {"items": [
            {"name": "Caneca", "quantity": 2, "amount": {"value": 1050, "offset": 100}}]}}),
    ));
    assert_eq!(bill.message_type, MessageType::Interactive);
    let shown = bill.blocks.content();
    assert_eq!(shown.as_deref(), Some("Veja\n2 x Caneca (R$ 10,50)\nTotal: R$ 21,00"));
}

/// X2.
#[test]
fn invitations_events_and_comments_are_their_texts() {
    let (_, group) = offer(gows(json!({"groupInviteMessage": {"groupJID": "1@g.us",
        "inviteCode": "c", "groupName": "Obra", "caption": "Entre"}})));
    assert_eq!(group, json!({"kind": "other", "header": {"text": "Obra"}, "body": "Entre"}));
    for (place, written) in [
        (json!({"name": "Praça", "address": "Rua A, 1"}), "Praça, Rua A, 1"),
        (json!({"degreesLatitude": -18.5, "degreesLongitude": -48.5}), "-18.5,-48.5"),
    ] {
        let (_, event) = offer(noweb(json!({"eventMessage": {"name": "Festa", "location": place,
            "description": "Traga algo", "startTime": {"low": 1_760_000_000, "high": 0}}})));
        let body = format!("Traga algo\nInício: 09/10/2025 08:53 (UTC)\nLocal: {written}");
        let expected = json!({"kind": "other", "header": {"text": "Festa"}, "body": body});
        assert_eq!(event, expected);
    }
    let (_, products) = offer(gows(json!({"listMessage": {"title": "Novos", "productListInfo": {
        "productSections": [{"title": "Copos", "products": [{"productID": "sku-1"}]}]}}})));
    let expected = json!({"kind": "product_list", "header": {"text": "Novos"}, "sections": [
        {"title": "Copos", "rows": [{"id": "sku-1", "title": null, "description": null}]}]});
    assert_eq!(products, expected);
    let comment = read(noweb(json!({"commentMessage": {"message": {"conversation": "Boa"},
        "targetMessageKey": {"id": "3EB0"}}})));
    assert_eq!(
        (comment.message_type, comment.content.as_deref()),
        (MessageType::Text, Some("Boa"))
    );
    let carousel = read(gows(json!({"interactiveMessage": {"body": {"text": "Veja"},
        "InteractiveMessage": {"CarouselMessage": {"cards": [{"header": {"title": "A"},
            "body": {"text": "barato"}}]}}}})));
    assert_eq!(carousel.blocks.content().as_deref(), Some("Veja\nA\nbarato"));
}

/// X2.
#[test]
fn a_picture_with_buttons_stays_a_picture_and_has_them() {
    let mut fields = noweb(json!({"buttonsMessage": {"contentText": "Confirma?",
        "imageMessage": {}, "buttons": [{"buttonId": "s", "buttonText": {"displayText": "Sim"}}]}}));
    fields["hasMedia"] = true.into();
    fields["media"] = json!({"url": "http://w/api/files/x", "mimetype": "image/jpeg"});
    let message = read(fields);
    assert_eq!(message.message_type, MessageType::Image);
    assert!(message.media.is_some() && message.blocks.interactive.is_some());
}

/// X1, X2.
#[test]
fn products_and_orders_have_their_prices() {
    let product = json!({"productId": "7", "retailerId": "sku-1", "title": "Caneca",
        "currencyCode": "BRL", "priceAmount1000": "10500"});
    let asked = json!({"catalog_id": null, "product_id": "sku-1", "name": "Caneca",
        "price": {"amount": "10.5", "currency": "BRL"}});
    for (fields, content) in [
        (noweb(json!({"productMessage": {"product": product, "businessOwnerJid": "x"}})), None),
        (
            noweb(json!({"extendedTextMessage": {"text": "Tem?", "contextInfo": {"stanzaId": "3E",
            "quotedMessage": {"productMessage": {"product": product}}}}})),
            Some("Tem?"),
        ),
        (
            json!({"body": "Tem?", "_data": {"type": "product", "retailerId": "sku-1",
            "title": "Caneca", "currencyCode": "BRL",
            "priceAmount1000": {"low": 10500, "high": 0}}}),
            Some("Tem?"),
        ),
    ] {
        let message = read(fields.clone());
        assert_eq!(
            (message.message_type, message.content.as_deref()),
            (MessageType::Text, content)
        );
        let read = serde_json::to_value(message.blocks.product).expect("JSON");
        assert_eq!(read, asked, "{fields}");
    }
    let order = read(gows(json!({"orderMessage": {"orderID": "1", "itemCount": 3,
        "message": "Para hoje", "totalAmount1000": 21000, "totalCurrencyCode": "BRL"}})));
    assert_eq!((order.message_type, &order.content), (MessageType::Order, &None));
    let shown = order.blocks.content();
    assert_eq!(shown.as_deref(), Some("Para hoje\n3 x Produto\nTotal: R$ 21,00"));
}
