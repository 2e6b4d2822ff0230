//! Listing templates, and requesting the state of the number.

use recado_core::connections::ConnectionStatus;
use recado_core::gateway::{Provider, ProviderError, ProviderTemplate};
use recado_core::templates::{
    ButtonKind, ButtonNeed, ButtonPart, Components, HeaderKind, HeaderPart, TemplateCategory,
    TemplateNeeds, TemplateStatus,
};
use recado_core::transport::{Method, TransportError};
use recado_providers::cloud_api::CloudApi;
use recado_testkit::ScriptedTransport;
use recado_testkit::gateways::{FakeCloud, InProcess, graph_error};
use recado_testkit::transport::header;
use serde_json::{Value, json};

use crate::support::*;

fn listed(name: &str, components: &Value) -> Value {
    json!({"id": "920070352646140", "name": name, "language": "pt_BR", "status": "APPROVED",
        "category": "UTILITY", "parameter_format": "POSITIONAL", "components": components})
}

fn body(text: &str) -> Value {
    json!({"type": "BODY", "text": text, "example": {"body_text": [["Maria", "A-123"]]}})
}

async fn list(templates: Vec<Value>, page: usize) -> Vec<ProviderTemplate> {
    let fake = FakeCloud::new();
    fake.set_templates(templates, page);
    let connection = connection_with(&fake.settings(&FakeCloud::base()));
    let listed = CloudApi::new().templates(&InProcess(fake.clone()), &connection).await;
    assert_eq!(fake.violations(), Vec::<String>::new());
    listed.expect("listed")
}

fn button(kind: ButtonKind, text: &str, url: Option<&str>) -> ButtonPart {
    ButtonPart { kind, text: text.to_owned(), url: url.map(str::to_owned) }
}

#[tokio::test]
async fn a_template_is_listed_with_its_text_and_its_parts() {
    let components = json!([body("Olá {{1}}, pedido {{2}}"), {"type": "FOOTER", "text": "Loja"},
        {"type": "HEADER", "format": "TEXT", "text": "Pedido"},
        {"type": "BUTTONS", "buttons": [{"type": "QUICK_REPLY", "text": "Parar promoções"},
            {"type": "PHONE_NUMBER", "text": "Ligar", "phone_number": "+551140028922"},
            {"type": "URL", "text": "Site", "url": "https://loja.example/"}]}]);
    let templates = list(vec![listed("pedido_enviado", &components)], 100).await;
    assert_eq!(
        templates,
        [ProviderTemplate {
            provider_id: Some("920070352646140".to_owned()),
            name: "pedido_enviado".to_owned(),
            language: "pt_BR".to_owned(),
            category: TemplateCategory::Utility,
            status: TemplateStatus::Approved,
            body: "Olá {{1}}, pedido {{2}}".to_owned(),
            components: Components {
                header: Some(HeaderPart {
                    kind: HeaderKind::Text,
                    text: Some("Pedido".to_owned()),
                }),
                footer: Some("Loja".to_owned()),
                buttons: vec![
                    button(ButtonKind::QuickReply, "Parar promoções", None),
                    button(ButtonKind::Phone, "Ligar", None),
                    button(ButtonKind::Url, "Site", Some("https://loja.example/")),
                ],
            },
            needs: TemplateNeeds::default(),
        }]
    );
}

#[tokio::test]
async fn all_pages_are_read() {
    let all = (0..250).map(|n| listed(&format!("t{n}"), &json!([body("x")]))).collect();
    let templates = list(all, 100).await;
    assert_eq!(templates.len(), 250);
    assert_eq!(templates[249].name, "t249");
    assert!(list(Vec::new(), 100).await.is_empty());
}

/// X15.
#[tokio::test]
async fn variables_by_name_and_codes_can_be_given() {
    let otp = "https://www.whatsapp.com/otp/code/?otp_type=COPY_CODE&code=otp{{1}}";
    let components = json!([body("Olá {{nome}}"),
        {"type": "HEADER", "format": "TEXT", "text": "Pedido {{pedido}}"},
        {"type": "BUTTONS", "buttons": [{"type": "URL", "text": "Copiar", "url": otp},
            {"type": "OTP", "otp_type": "ONE_TAP"}, {"type": "VOICE_CALL", "text": "Ligar"}]}]);
    let mut named = listed("t", &components);
    named["parameter_format"] = json!("NAMED");
    let listed = list(vec![named], 9).await.remove(0);
    let kinds: Vec<_> = listed.components.buttons.iter().map(|button| button.kind).collect();
    assert_eq!(kinds, [ButtonKind::Otp, ButtonKind::Otp, ButtonKind::Other]);
    assert_eq!(listed.needs.to_string(), "a header (text), button 0 (otp), button 1 (otp)");
}

/// D69.
#[tokio::test]
async fn what_a_template_needs_is_named() {
    let url = json!({"type": "URL", "url": "https://loja.example/{{1}}"});
    let components = json!([body("Olá {{1}}"), {"type": "HEADER", "format": "IMAGE"},
        {"type": "FOOTER", "text": "Loja {{1}}"}, {"type": "CAROUSEL", "cards": []},
        {"type": "BUTTONS", "buttons": [{"type": "QUICK_REPLY"}, url, {"type": "COPY_CODE"}]}]);
    let listed = list(vec![listed("t", &components)], 9).await.remove(0);
    let button = |index, kind: &str| ButtonNeed { index, kind: kind.to_owned() };
    let expected = TemplateNeeds {
        header: Some("image".to_owned()),
        buttons: vec![button(1, "url"), button(2, "copy_code")],
        other: vec!["variables of the footer".to_owned(), "carousel".to_owned()],
    };
    assert_eq!(listed.needs, expected);
}

#[tokio::test]
async fn what_needs_more_than_its_text_says_so() {
    let with = |more: Value| json!([body("Olá {{1}}"), more]);
    let button = |button: Value| with(json!({"type": "BUTTONS", "buttons": [button]}));
    let mut complex = vec![
        json!([]),
        json!([body("")]),
        json!([body("Olá {{nome}}")]),
        json!([body("Olá {{ nome }}")]),
        json!([body("Olá {{2}}")]),
        with(json!({"type": "HEADER", "format": "TEXT", "text": "{{nome}}"})),
        with(json!({"type": "HEADER", "format": "TEXT", "text": "{{2}}"})),
        with(json!({"type": "HEADER", "format": "TEXT", "text": "{{1}} {{2}}"})),
        button(json!({"type": "URL", "url": "https://loja.example/{{1}}/x"})),
        json!([body("a"), body("b")]),
        json!([{"type": "BODY"}]),
        with(json!({"type": "HEADER", "format": "TEXT", "text": "Olá {{1}}"})),
        with(json!({"type": "CAROUSEL", "cards": []})),
        with(json!({"type": "LIMITED_TIME_OFFER"})),
        with(json!({"type": "SOMETHING_NEW"})),
        with(json!({})),
        button(json!({"type": "URL", "url": "https://loja.example/{{1}}"})),
        button(json!({"type": "URL"})),
    ];
    for format in ["IMAGE", "VIDEO", "DOCUMENT", "LOCATION", "NEW"] {
        complex.push(with(json!({"type": "HEADER", "format": format})));
    }
    for kind in ["OTP", "COPY_CODE", "FLOW", "CATALOG", "MPM", "SPM", "NEW"] {
        complex.push(button(json!({ "type": kind })));
    }
    for components in &complex {
        assert!(!list(vec![listed("t", components)], 9).await[0].needs.is_empty(), "{components}");
    }
    let mut named = listed("t", &json!([body("Olá {{1}}")]));
    named["parameter_format"] = json!("NAMED");
    let otherwise = "variables that are called otherwise";
    assert_eq!(list(vec![named], 9).await[0].needs.to_string(), otherwise);
    let mut plain = listed("t", &json!([body("Olá {{1}} {{2}} {{1}}")]));
    plain.as_object_mut().expect("an object").remove("parameter_format");
    assert!(list(vec![plain], 9).await[0].needs.is_empty());
}

#[tokio::test]
async fn statuses_and_categories_that_are_not_known_are_the_strictest() {
    for (status, category, expected) in [
        ("APPROVED", "MARKETING", (TemplateStatus::Approved, TemplateCategory::Marketing)),
        ("PENDING", "AUTHENTICATION", (TemplateStatus::Pending, TemplateCategory::Authentication)),
        ("IN_APPEAL", "utility", (TemplateStatus::Paused, TemplateCategory::Utility)),
        ("REJECTED", "NEW", (TemplateStatus::Rejected, TemplateCategory::Marketing)),
        ("PAUSED", "UTILITY", (TemplateStatus::Paused, TemplateCategory::Utility)),
        ("DISABLED", "UTILITY", (TemplateStatus::Paused, TemplateCategory::Utility)),
        ("NEW", "", (TemplateStatus::Paused, TemplateCategory::Marketing)),
    ] {
        let mut template = listed("t", &json!([body("x")]));
        template["status"] = json!(status);
        template["category"] = json!(category);
        let template = &list(vec![template], 9).await[0];
        assert_eq!((template.status, template.category), expected, "{status} {category}");
    }
}

async fn templates_of(answers: &[(u16, Value)]) -> Result<Vec<ProviderTemplate>, ProviderError> {
    let transport = ScriptedTransport::new();
    for (status, body) in answers {
        transport.then_json(*status, body);
    }
    let connection = connection(json!({ "business_account_id": ACCOUNT }));
    CloudApi::new().templates(&transport, &connection).await
}

#[tokio::test]
async fn a_list_that_is_not_complete_is_a_failure() {
    let page = |after: Value| {
        json!({"data": [listed("t", &json!([body("x")]))],
        "paging": {"cursors": {"after": after}, "next": "https://graph.facebook.com/next"}})
    };
    let circle = [(200, page(json!("a"))), (200, page(json!("b"))), (200, page(json!("a")))];
    let (status, error) = graph_error(190, "expired");
    for answers in [
        circle.to_vec(),
        vec![(200, page(json!(null)))],
        vec![(200, page(json!("a"))), (status, error)],
        vec![(200, page(json!("a"))), (500, json!({}))],
        vec![(200, page(json!("a")))],
        vec![(200, json!({}))],
        vec![(200, json!({"data": {}}))],
    ] {
        let failed = templates_of(&answers).await;
        assert!(matches!(failed, Err(ProviderError::Failed(_))), "{answers:?} {failed:?}");
    }
}

#[tokio::test]
async fn a_page_without_cursors_is_followed_by_its_next_address() {
    let page = |name: &str, paging: Value| json!({"data": [listed(name, &json!([body("x")]))], "paging": paging});
    let transport = ScriptedTransport::new();
    let next = "https://graph.facebook.com/v23.0/1/message_templates?limit=100&after=MjQ%3D";
    transport
        .then_json(200, &page("a", json!({ "next": next })))
        .then_json(
            200,
            &page("b", json!({"cursors": {"after": ""}, "next": next.replace("MjQ", "Mzk")})),
        )
        .then_json(200, &page("c", json!({"cursors": {"after": "x"}, "next": ""})));
    let connection = connection(json!({ "business_account_id": ACCOUNT }));
    let listed = CloudApi::new().templates(&transport, &connection).await.expect("listed");
    let names: Vec<&str> = listed.iter().map(|template| template.name.as_str()).collect();
    assert_eq!(names, ["a", "b", "c"]);
    let requests = transport.requests();
    assert!(requests[1].url.ends_with("&after=MjQ%3D"), "{}", requests[1].url);
    assert!(requests[2].url.ends_with("&after=Mzk%3D"), "{}", requests[2].url);
}

#[tokio::test]
async fn templates_need_the_account() {
    let transport = ScriptedTransport::new();
    let failed = CloudApi::new().templates(&transport, &plain()).await.expect_err("no account");
    assert!(failed.to_string().contains("business_account_id"), "{failed}");
    assert!(transport.requests().is_empty());
}

#[tokio::test]
async fn a_number_that_answers_is_connected() {
    let fake = FakeCloud::new();
    let connection = connection_with(&fake.settings(&FakeCloud::base()));
    let reported =
        CloudApi::new().status(&InProcess(fake.clone()), &connection).await.expect("told");
    assert_eq!(reported.status, ConnectionStatus::Connected);
    assert_eq!(
        reported.detail,
        Some(json!({"display_phone_number": "551140028922",
        "verified_name": "Loja", "quality_rating": "GREEN"}))
    );
    assert_eq!(fake.violations(), Vec::<String>::new());
    fake.revoke_token(true);
    let reported = CloudApi::new().status(&InProcess(fake), &connection).await.expect("told");
    assert_eq!(reported.status, ConnectionStatus::Disconnected);
    assert_eq!(reported.detail.expect("a reason")["code"], 190);
}

/// R127.
#[tokio::test]
async fn only_a_definite_error_is_disconnected() {
    for code in [0, 3, 10, 33, 190, 200, 368, 131_031, 133_010] {
        let (status, body) = graph_error(code, "x");
        let transport = ScriptedTransport::new();
        transport.then_json(status, &body);
        let reported = CloudApi::new().status(&transport, &plain()).await.expect("told");
        assert_eq!(reported.status, ConnectionStatus::Disconnected, "{code}");
        let request = &transport.requests()[0];
        assert_eq!((request.method, request.repeatable), (Method::Get, true));
        let url = "https://graph.facebook.com/v23.0/106540352242922?fields=\
            display_phone_number%2Cverified_name%2Cquality_rating";
        assert_eq!(request.url, url);
        assert_eq!(header(request, "authorization"), Some("Bearer EAAJB-secret"));
    }
    let no_such_object = json!({"error": {"code": 100, "error_subcode": 33, "message": "x"}});
    for (status, body) in [
        (401, json!({})),
        (403, json!("x")),
        (403, json!({"error": {"code": 999_999, "message": "new"}})),
        (400, no_such_object),
    ] {
        let transport = ScriptedTransport::new();
        transport.then_json(status, &body);
        let reported = CloudApi::new().status(&transport, &plain()).await.expect("told");
        assert_eq!(reported.status, ConnectionStatus::Disconnected, "{status} {body}");
    }
    let transport = ScriptedTransport::new();
    for code in [1, 2, 4, 80_007, 131_000, 999_999] {
        let (status, body) = graph_error(code, "x");
        transport.then_json(status, &body);
    }
    transport.then_json(502, &json!("x")).then_json(404, &json!({})).then_json(200, &json!("x"));
    // A rate limit, which the API may answer as forbidden.
    transport.then_json(403, &graph_error(4, "limit").1);
    // The answer for a path that does not exist.
    transport.then_json(400, &graph_error(100, "Unsupported get request").1);
    transport.then_json(404, &graph_error(100, "Unsupported get request").1);
    transport.then(Err(TransportError::TimedOut { after_sending: true }));
    for _ in 0..13 {
        let reported = CloudApi::new().status(&transport, &plain()).await;
        assert!(matches!(reported, Err(ProviderError::Failed(_))), "{reported:?}");
    }
    assert_eq!(transport.requests().len(), 13);
}
