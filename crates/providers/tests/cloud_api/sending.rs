//! The requests of sends, and the interpretation of their answers.

use std::time::Duration;

use recado_core::gateway::{Accepted, Content, SendFailure};
use recado_core::groups::GroupCode;
use recado_core::messages::{DeliveryCode, Location, ProviderMessageId};
use recado_core::templates::{Parameter, SentButton, SentHeader, TemplateContent};
use recado_core::transport::{Method, TransportError};
use recado_testkit::ScriptedTransport;
use recado_testkit::transport::header;
use serde_json::{Number, json};

use crate::support::*;

fn accepted() -> serde_json::Value {
    json!({"messaging_product": "whatsapp",
        "contacts": [{"input": "+5534991234567", "wa_id": "553491234567"}],
        "messages": [{"id": "wamid.HBgMNTUzNDkxMjM0NTY3FQIAERgS"}]})
}

/// R29.
#[tokio::test]
async fn a_text_is_one_post_with_plus_and_reference() {
    let (result, request) = send_to(200, &accepted(), &text("553491234567")).await;
    let id = ProviderMessageId::parse("wamid.HBgMNTUzNDkxMjM0NTY3FQIAERgS").expect("an id");
    let recipient = Some("553491234567".to_owned());
    assert_eq!(result, Ok(Accepted { provider_id: id, recipient, aliases: Vec::new() }));
    assert_eq!(request.method, Method::Post);
    assert_eq!(request.url, "https://graph.facebook.com/v23.0/106540352242922/messages");
    assert_eq!(header(&request, "authorization"), Some("Bearer EAAJB-secret"));
    assert_eq!(header(&request, "content-type"), Some("application/json"));
    assert_eq!(
        body_of(&request),
        json!({"messaging_product": "whatsapp",
        "recipient_type": "individual", "to": "+553491234567", "type": "text",
        "text": {"body": "Olá, Maria!", "preview_url": false},
        "biz_opaque_callback_data": REFERENCE})
    );
    assert!(!request.repeatable);
    assert_eq!(request.max_idle, Some(Duration::from_secs(2)));
    assert_eq!(request.timeout, Duration::from_secs(20));
}

#[tokio::test]
async fn settings_say_where_and_how_long() {
    let transport = ScriptedTransport::new();
    transport.then_json(200, &accepted());
    let connection = connection(json!({"api_base": "http://127.0.0.1:9/graph/",
        "api_version": "v25.0", "timeout_ms": 1500, "phone_number_id": "../1"}));
    send(&transport, &connection, &text("1")).await.expect("accepted");
    let request = transport.requests().remove(0);
    assert_eq!(request.url, "http://127.0.0.1:9/graph/v25.0/..%2F1/messages");
    assert_eq!(request.timeout, Duration::from_millis(1500));
}

#[tokio::test]
async fn a_base_address_may_end_with_the_version() {
    for (settings, expected) in [
        (json!({"api_base": "http://127.0.0.1:9/v24.0"}), "http://127.0.0.1:9/v24.0"),
        (json!({"api_base": "http://127.0.0.1:9/v24.0/"}), "http://127.0.0.1:9/v24.0"),
        (json!({"api_base": "http://127.0.0.1:9"}), "http://127.0.0.1:9/v23.0"),
        (
            json!({"api_base": "http://127.0.0.1:9/v24.0", "api_version": "v25.0"}),
            "http://127.0.0.1:9/v25.0",
        ),
    ] {
        let transport = ScriptedTransport::new();
        transport.then_json(200, &accepted());
        send(&transport, &connection(settings), &text("1")).await.expect("accepted");
        let expected = format!("{expected}/{NUMBER}/messages");
        assert_eq!(transport.requests().remove(0).url, expected);
    }
}

#[tokio::test]
async fn a_template_has_its_variables_in_order_and_no_empty_component() {
    let (_, request) =
        send_to(200, &accepted(), &template("553491234567", &["Maria", "A-1"])).await;
    let body = body_of(&request);
    assert_eq!(body["type"], "template");
    assert_eq!(
        body["template"],
        json!({"name": "pedido_enviado", "language": {"code": "pt_BR"},
        "components": [{"type": "body", "parameters": [
            {"type": "text", "text": "Maria"}, {"type": "text", "text": "A-1"}]}]})
    );
    assert!(body.get("text").is_none());
    let (_, request) = send_to(200, &accepted(), &template("553491234567", &[])).await;
    let template = json!({"name": "pedido_enviado", "language": {"code": "pt_BR"}});
    assert_eq!(body_of(&request)["template"], template);
}

/// X15.
#[tokio::test]
async fn header_and_buttons_of_a_template_are_components_with_parameters() {
    let place = |name: Option<&str>| Location {
        latitude: Number::from_f64(-23.5).expect("a number"),
        longitude: Number::from(-46),
        name: name.map(str::to_owned),
        address: name.map(|_| "Rua A, 1".to_owned()),
        url: None,
        is_live: false,
    };
    let text = Parameter { name: Some("pedido".to_owned()), text: "77".to_owned() };
    for (header, expected) in [
        (SentHeader::Text(text), json!({"type": "text", "text": "77", "parameter_name": "pedido"})),
        (
            SentHeader::Location(place(None)),
            json!({"type": "location", "location": {"latitude": "-23.5", "longitude": "-46"}}),
        ),
        (
            SentHeader::Location(place(Some("Loja"))),
            json!({"type": "location", "location": {"latitude": "-23.5", "longitude": "-46",
                "name": "Loja", "address": "Rua A, 1"}}),
        ),
    ] {
        let mut content = TemplateContent::new("pedido", "pt_BR", [], "never sent");
        content.header = Some(header);
        let out = to("553491234567", Content::Template(content));
        let (_, request) = send_to(200, &accepted(), &out).await;
        assert_eq!(
            body_of(&request)["template"]["components"],
            json!([{"type": "header", "parameters": [expected]}])
        );
    }
    let mut content = TemplateContent::new("pedido", "pt_BR", [], "never sent");
    content.buttons = vec![
        (0, SentButton::Payload("certo".to_owned())),
        (1, SentButton::UrlSuffix("p/77".to_owned())),
        (2, SentButton::CopyCode("PROMO".to_owned())),
        (3, SentButton::Otp("123456".to_owned())),
    ];
    let out = to("553491234567", Content::Template(content));
    let (_, request) = send_to(200, &accepted(), &out).await;
    let button = |index: &str, sub_type: &str, parameter: serde_json::Value| json!({"type": "button", "sub_type": sub_type, "index": index, "parameters": [parameter]});
    assert_eq!(
        body_of(&request)["template"]["components"],
        json!([
            button("0", "quick_reply", json!({"type": "payload", "payload": "certo"})),
            button("1", "url", json!({"type": "text", "text": "p/77"})),
            button("2", "copy_code", json!({"type": "coupon_code", "coupon_code": "PROMO"})),
            button("3", "url", json!({"type": "text", "text": "123456"})),
        ])
    );
}

#[tokio::test]
async fn every_name_of_a_recipient_goes_where_it_belongs() {
    for (name, field, written) in [
        ("5534991234567", "to", "+5534991234567"),
        ("+5534991234567", "to", "+5534991234567"),
        ("553491234567@c.us", "to", "+553491234567"),
        ("BR.13491208655302741918", "recipient", "BR.13491208655302741918"),
        ("BR.ENT.13491208655302741918", "recipient", "BR.ENT.13491208655302741918"),
    ] {
        let (_, request) = send_to(200, &accepted(), &text(name)).await;
        let body = body_of(&request);
        assert_eq!(body[field], written, "{name}");
        assert!(!(body.get("to").is_some() && body.get("recipient").is_some()), "{name}");
    }
}

#[tokio::test]
async fn groups_and_names_of_other_channels_are_refused_without_a_request() {
    let transport = ScriptedTransport::new();
    let mut to_group = text("120363000000000001@g.us");
    to_group.group = GroupCode::parse("120363000000000001@g.us", "g.us");
    for (outgoing, code) in [
        (to_group, DeliveryCode::Group),
        (text("123@lid"), DeliveryCode::RecipientUnreachable),
        (text(""), DeliveryCode::RecipientUnreachable),
        (text("maria"), DeliveryCode::RecipientUnreachable),
    ] {
        let failure = send(&transport, &plain(), &outgoing).await.expect_err("refused");
        assert!(matches!(failure, SendFailure::Refused(_)), "{failure:?}");
        assert_eq!(failure.failure().code, code);
    }
    assert!(transport.requests().is_empty());
}

#[tokio::test]
async fn the_names_in_the_answer_are_the_recipients() {
    for (contact, recipient, aliases) in [
        (json!({"wa_id": "553491234567", "user_id": "BR.1"}), Some("553491234567"), vec!["BR.1"]),
        (json!({"input": "BR.1", "user_id": "BR.1"}), Some("BR.1"), vec![]),
        (json!({"input": "+1"}), None, vec![]),
    ] {
        let body = json!({"contacts": [contact], "messages": [{"id": "wamid.1"}]});
        let (result, _) = send_to(200, &body, &text("1")).await;
        let accepted = result.expect("accepted");
        assert_eq!(accepted.recipient.as_deref(), recipient);
        assert_eq!(accepted.aliases, aliases);
    }
}

#[tokio::test]
async fn only_a_paused_template_is_not_taken_although_it_has_an_id() {
    for status in ["accepted", "held_for_quality_assessment", "ACCEPTED", "something new", ""] {
        let body = json!({"messages": [{"id": "wamid.1", "message_status": status}]});
        assert!(send_to(200, &body, &template("1", &[])).await.0.is_ok(), "{status}");
    }
    for status in ["paused", "PAUSED"] {
        let body = json!({"messages": [{"id": "wamid.1", "message_status": status}]});
        let failure = send_to(200, &body, &template("1", &[])).await.0.expect_err("refused");
        assert!(matches!(failure, SendFailure::Refused(_)));
        assert_eq!(failure.failure().code, DeliveryCode::TemplateRejected);
    }
}

#[tokio::test]
async fn a_success_without_an_id_is_uncertain() {
    for body in [
        json!({}),
        json!({"messages": []}),
        json!({"messages": [{"id": ""}]}),
        json!({"messages": [{"id": 5}]}),
        json!({"messages": {"id": "wamid.1"}}),
        json!([1]),
        json!(null),
        json!({"error": {"code": 100, "message": "x"}}),
    ] {
        let failure = send_to(200, &body, &text("1")).await.0.expect_err("uncertain");
        assert!(matches!(failure, SendFailure::Uncertain(_)), "{body} {failure:?}");
    }
}

#[tokio::test]
async fn what_was_not_written_is_surely_not_sent() {
    for (error, is_uncertain) in [
        (TransportError::Refused, false),
        (TransportError::Dns, false),
        (TransportError::Tls, false),
        (TransportError::TimedOut { after_sending: false }, false),
        (TransportError::TimedOut { after_sending: true }, true),
        (TransportError::Broken { after_sending: false }, false),
        (TransportError::Broken { after_sending: true }, true),
    ] {
        let transport = ScriptedTransport::new();
        transport.then(Err(error.clone()));
        let failure = send(&transport, &plain(), &text("1")).await.expect_err("no answer");
        match failure {
            SendFailure::Uncertain(failure) => assert!(is_uncertain && failure.is_uncertain()),
            SendFailure::Unreachable(failure) => {
                assert!(!is_uncertain, "{error:?}");
                assert_eq!(failure.code, DeliveryCode::Network);
            }
            other => panic!("{error:?} is {other:?}"),
        }
        assert_eq!(transport.requests().len(), 1, "a send is never repeated");
    }
}

#[tokio::test]
async fn a_text_with_anything_in_it_arrives_as_it_is() {
    let written = "\"\\\n\u{1F600} {{1}} ção";
    let (_, request) = send_to(200, &accepted(), &to("1", Content::Text(written.to_owned()))).await;
    assert_eq!(body_of(&request)["text"]["body"], written);
}
