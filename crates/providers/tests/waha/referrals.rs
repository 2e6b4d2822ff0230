//! Advertisements that led to a message, and what else its parts say.

use recado_core::gateway::{GatewayEvent, GatewayMessage};
use recado_core::messages::{MessageType, OfferKind, Referral};
use recado_testkit::gateways::WahaEngine;
use serde_json::{Value, json};

use super::support::{Scene, gows, inbound, noweb};

fn read(fields: Value) -> GatewayMessage {
    Scene::new(WahaEngine::Gows).message(&inbound(fields))
}

fn some(text: &str) -> Option<String> {
    Some(text.to_owned())
}

/// X2.
#[test]
fn a_message_says_which_advertisement_led_to_it_on_every_engine() {
    let expected = Referral {
        source_type: some("ad"),
        source_id: some("120"),
        source_url: some("https://fb.example/1"),
        headline: some("Oferta"),
        body: some("Só hoje"),
        media_url: some("https://fb.example/1.mp4"),
        click_id: some("ARAk"),
    };
    let text =
        |context: Value| json!({"extendedTextMessage": {"text": "Oi", "contextInfo": context}});
    for fields in [
        noweb(text(json!({"externalAdReply": {"title": "Oferta", "body": "Só hoje",
            "sourceType": "ad", "sourceId": "120", "sourceUrl": "https://fb.example/1",
            "mediaUrl": "https://fb.example/1.mp4", "ctwaClid": "ARAk"}}))),
        gows(text(json!({"externalAdReply": {"title": "Oferta", "body": "Só hoje",
            "sourceType": "ad", "sourceID": "120", "sourceURL": "https://fb.example/1",
            "mediaURL": "https://fb.example/1.mp4"}, "ctwaClid": "ARAk"}))),
        json!({"body": "Oi", "_data": {"type": "chat", "ctwaContext": {"title": "Oferta",
            "description": "Só hoje", "sourceType": "ad", "sourceId": "120",
            "sourceUrl": "https://fb.example/1", "mediaUrl": "https://fb.example/1.mp4",
            "ctwaClid": "ARAk"}}}),
    ] {
        assert_eq!(read(fields.clone()).blocks.referral, Some(expected.clone()), "{fields}");
    }
    let preview = json!({"externalAdReply": {"title": "Página", "sourceUrl": "https://x.example"}});
    assert_eq!(read(noweb(text(preview))).blocks.referral, None, "the preview of a link");
}

/// X1, X2.
#[test]
fn a_poll_of_a_future_version_is_a_poll() {
    let poll = json!({"name": "Quando?", "options": [{"optionName": "Hoje"}]});
    for message in [
        json!({"pollCreationMessageV6": {"message": {"pollCreationMessageV3": poll}}}),
        json!({"pollCreationMessageV9": {"message": {"pollCreationMessage": poll}}}),
        json!({"pollCreationMessageV12": poll}),
    ] {
        assert_eq!(read(gows(message.clone())).message_type, MessageType::Poll, "{message}");
    }
}

/// X2.
#[test]
fn a_request_for_a_place_and_the_cards_of_a_carousel_are_read() {
    let ask = read(noweb(json!({"interactiveMessage": {"body": {"text": "Onde?"},
        "nativeFlowMessage": {"buttons": [{"name": "send_location", "buttonParamsJson": "{}"}]}}})));
    let offered = serde_json::to_value(ask.blocks.interactive).expect("JSON");
    assert_eq!(offered, json!({"kind": OfferKind::LocationRequest, "body": "Onde?"}));
    let reply = json!({"display_text": "Quero", "id": "q"}).to_string();
    let card = json!({"header": {"title": "A"}, "body": {"text": "barato"}, "nativeFlowMessage": {
        "buttons": [{"name": "quick_reply", "buttonParamsJson": reply}]}});
    let cards = read(noweb(json!({"interactiveMessage": {"body": {"text": "Veja"},
        "carouselMessage": {"cards": [card]}}})));
    assert_eq!(cards.blocks.content().as_deref(), Some("Veja\nA\nbarato\n- Quero"));
}

/// X2.
#[test]
fn an_order_keeps_its_title_and_amounts_fit_their_currency() {
    let order = read(gows(json!({"orderMessage": {"itemCount": 1, "orderTitle": "Loja",
        "message": "Para hoje", "totalAmount1000": 21_005, "totalCurrencyCode": "BRL"}})));
    let order = order.blocks.order.expect("an order");
    assert_eq!(order.text.as_deref(), Some("Loja\nPara hoje"));
    assert_eq!(order.total.map(|total| total.amount.to_string()).as_deref(), Some("21.01"));
}

/// X2: an address is a form.
#[test]
fn an_address_that_has_an_id_is_a_form_and_a_reply_of_a_list_a_choice() {
    let answered = |name: &str, written: &str| {
        let message = read(noweb(json!({"interactiveResponseMessage": {
            "nativeFlowResponseMessage": {"name": name, "paramsJson": written}}})));
        serde_json::to_value(message.blocks.interactive).expect("JSON")["kind"].take()
    };
    assert_eq!(answered("address_message", "{\"id\":\"1\",\"cep\":\"38400\"}"), "flow_reply");
    assert_eq!(answered("list_reply", "{\"id\":\"1\",\"title\":\"A\"}"), "list_reply");
}

/// R111: what a program sent is known by what its blocks say.
#[test]
fn what_a_program_sent_says_what_its_blocks_say() {
    let mut fields = noweb(json!({"locationMessage": {"degreesLatitude": -1.5,
        "degreesLongitude": 2.5, "name": "Loja"}}));
    fields["id"] = "true_553491234567@c.us_3EB0".into();
    fields["fromMe"] = true.into();
    fields["source"] = "api".into();
    fields["ack"] = 1.into();
    let sent = |fields: &Value| match Scene::new(WahaEngine::Webjs)
        .event("message.any", &inbound(fields.clone()))
    {
        GatewayEvent::OwnSend(sent) => sent.content,
        other => panic!("{other:?}"),
    };
    assert_eq!(sent(&fields).as_deref(), Some("-1.5,2.5 Loja"));
    fields["_data"] = json!({"message": {"imageMessage": {}}});
    assert_eq!(sent(&fields), None, "a file is not known by a text");
}
