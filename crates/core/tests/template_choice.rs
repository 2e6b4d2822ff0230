//! Which template is meant, and what a body may say about one (D40, D48).

use recado_core::Timestamp;
use recado_core::ids::{CompanyId, ConnectionId, TemplateId};
use recado_core::templates::{
    Components, Template, TemplateCategory, TemplateDraft, TemplateNeeds, TemplatePatch,
    TemplateStatus, TemplateTokenHash, TemplateView, choose,
};
use serde_json::json;
use uuid::Uuid;

fn connection(n: u128) -> ConnectionId {
    ConnectionId::new(Uuid::from_u128(n))
}

fn template(n: u128, name: &str, language: &str, bound: Option<u128>) -> Template {
    Template {
        id: TemplateId::new(Uuid::from_u128(n)),
        company: CompanyId::new(Uuid::nil()),
        name: name.to_owned(),
        category: TemplateCategory::Utility,
        language: language.to_owned(),
        body: "Olá {{1}}, {{3}}".to_owned(),
        components: Components::default(),
        status: TemplateStatus::Approved,
        connection: bound.map(connection),
        provider_id: None,
        needs: TemplateNeeds::default(),
        token_hash: TemplateTokenHash::from_bytes([77; 32]),
        created_at: Timestamp::from_millis(0),
        updated_at: Timestamp::from_millis(0),
    }
}

fn chosen(
    templates: &[Template],
    wanted: &str,
    language: Option<&str>,
    through: Option<u128>,
) -> Option<u128> {
    let templates: Vec<&Template> = templates.iter().collect();
    let found = choose(&templates, wanted, language, through.map(connection));
    found.map(|template| template.id.uuid().as_u128())
}

#[test]
fn a_name_means_its_brazilian_template_else_its_oldest() {
    let templates = [
        template(1, "aviso", "en", None),
        template(2, "aviso", "pt_BR", None),
        template(3, "oferta", "es", None),
        template(4, "oferta", "en", None),
    ];
    assert_eq!(chosen(&templates, "aviso", None, None), Some(2));
    assert_eq!(chosen(&templates, "oferta", None, None), Some(3));
    assert_eq!(chosen(&templates, "oferta", Some("en"), None), Some(4));
    assert_eq!(chosen(&templates, "oferta", Some("pt_BR"), None), None);
    assert_eq!(chosen(&templates, "Aviso", None, None), None);
}

#[test]
fn an_id_means_one_template_whatever_its_language() {
    let named_like_an_id = Uuid::from_u128(1).to_string();
    let templates = [template(1, "a", "en", None), template(2, &named_like_an_id, "en", None)];
    assert_eq!(chosen(&templates, &named_like_an_id, None, None), Some(1));
    assert_eq!(chosen(&templates[1..], &named_like_an_id, None, None), Some(2));
}

#[test]
fn a_template_of_another_connection_is_passed_over_when_one_is_named() {
    let templates = [template(1, "a", "pt_BR", Some(8)), template(2, "a", "pt_BR", Some(9))];
    assert_eq!(chosen(&templates, "a", None, None), Some(1));
    assert_eq!(chosen(&templates, "a", None, Some(9)), Some(2));
    assert_eq!(chosen(&templates, "a", None, Some(7)), None);
}

#[test]
fn a_template_shows_its_variables_and_neither_its_token_nor_the_hash() {
    let template = template(1, "a", "en", None);
    let view = TemplateView::new(&template);
    let shown = serde_json::to_value(&view).unwrap();
    assert_eq!(shown["variables"], json!([1, 3]));
    assert!(shown.as_object().unwrap().keys().all(|name| !name.contains("token")), "{shown}");
    for printed in [format!("{template:?}"), format!("{view:?}")] {
        assert!(!printed.contains("77, 77"), "{printed}");
    }
}

#[test]
fn everything_that_is_wrong_with_a_template_is_named() {
    let wrong = |body: serde_json::Value, patch: bool| {
        let body = body.as_object().unwrap().clone();
        let read = match patch {
            true => TemplatePatch::parse(&body).map(drop),
            false => TemplateDraft::parse(&body).map(drop),
        };
        let problems = read.err().unwrap_or_default();
        let mut fields: Vec<String> = problems.fields().map(str::to_owned).collect();
        fields.sort();
        fields
    };
    let good = json!({ "name": "a", "category": "AUTH", "body": "Código {{1}}", "language": "en" });
    assert!(wrong(good, false).is_empty());
    assert_eq!(wrong(json!({}), false), ["body", "category", "name"]);
    let bad = json!({
        "name": "", "category": "auth", "body": "Olá {{nome}} {{1}}", "language": "português", "status": "OK",
        "token": "x", "connection_id": "x",
    });
    let fields = ["body", "category", "connection_id", "language", "name", "status", "token"];
    assert_eq!(wrong(bad.clone(), false), fields);
    assert_eq!(wrong(bad, true), fields);
    assert!(wrong(json!({ "status": "PAUSED", "connection_id": null }), true).is_empty());
    assert_eq!(wrong(json!({ "body": " ", "category": null }), true), ["body", "category"]);
    assert_eq!(wrong(json!({ "body": "Olá {{0}}" }), true), ["body"]);
    assert!(wrong(json!({ "body": "Olá {{nome}}" }), true).is_empty());
}

/// X15.
#[test]
fn the_components_of_a_template_are_within_what_the_channel_allows() {
    let is_fine = |components: serde_json::Value| {
        let body = json!({ "components": components }).as_object().unwrap().clone();
        TemplatePatch::parse(&body).is_ok()
    };
    let header = |header: serde_json::Value| json!({ "header": header });
    let button = |button: serde_json::Value| json!({ "buttons": [button] });
    let url = |url: &str| button(json!({ "type": "url", "text": "Ver", "url": url }));
    let many = |count: usize| json!({ "buttons": vec![json!({ "type": "quick_reply", "text": "Sim" }); count] });
    for fine in [
        json!(null),
        json!({}),
        json!({ "header": null, "footer": null, "buttons": null }),
        header(json!({ "type": "text", "text": "Pedido {{pedido}}" })),
        header(json!({ "type": "image" })),
        header(json!({ "type": "location", "text": null })),
        json!({ "footer": "a".repeat(60) }),
        url("https://loja.example"),
        url("http://loja.example/?a=1&p={{1}}"),
        url("https://loja.example/{{pedido}}"),
        button(json!({ "type": "phone", "text": "Ligar" })),
        button(json!({ "type": "copy_code", "text": "Copiar" })),
        button(json!({ "type": "otp", "text": "a".repeat(25) })),
        many(10),
    ] {
        assert!(is_fine(fine.clone()), "{fine}");
    }
    for wrong in [
        json!([]),
        json!({ "body": "Olá" }),
        header(json!({})),
        header(json!({ "type": "text" })),
        header(json!({ "type": "text", "text": "a".repeat(61) })),
        header(json!({ "type": "text", "text": "{{1}} {{2}}" })),
        header(json!({ "type": "text", "text": "{{ nome }}" })),
        header(json!({ "type": "image", "text": "Foto" })),
        header(json!({ "type": "gif" })),
        json!({ "footer": "a".repeat(61) }),
        json!({ "footer": "Olá {{1}}" }),
        url("loja.example"),
        url("https://"),
        url("https://{{1}}"),
        url("https://loja.example/{{1}}/x"),
        url("https://loja.example/{{1}}{{2}}"),
        url("https://loja.example/{{}}"),
        button(json!({ "type": "url", "text": "Ver" })),
        button(json!({ "type": "phone", "text": "Ligar", "url": "https://loja.example" })),
        button(json!({ "type": "quick_reply" })),
        button(json!({ "type": "quick_reply", "text": "a".repeat(26) })),
        button(json!({ "type": "other", "text": "Ver" })),
        many(11),
    ] {
        assert!(!is_fine(wrong.clone()), "{wrong}");
    }
}
