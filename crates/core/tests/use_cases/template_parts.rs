//! Templates with headers and buttons (X15).

use recado_core::gateway::Content;
use recado_core::messages::Location;
use recado_core::query::Params;
use recado_core::templates::{Parameter, SentButton, SentHeader, TemplateContent};
use recado_testkit::kit::body;
use serde_json::{Value, json};

use super::campaign_scene::Scene;
use super::dispatches::admit;
use super::shop::Shop;
use super::{code, create_phone, refused};

const PHONE: &str = "+5534991230001";

/// A template that has one of everything.
fn whole() -> Value {
    json!({
        "name": "pedido", "category": "UTILITY", "body": "Olá {{nome}}",
        "components": {
            "header": {"type": "text", "text": "Pedido {{pedido}}"},
            "footer": "Responda SAIR para sair",
            "buttons": [
                {"type": "quick_reply", "text": "Certo"},
                {"type": "url", "text": "Ver", "url": "https://loja.example/{{1}}"},
                {"type": "copy_code", "text": "Copiar"},
            ],
        },
    })
}

/// What it needs.
fn given() -> Value {
    json!({
        "variables": {"nome": "Ana"},
        "header": {"text": "77"},
        "buttons": [{"index": 1, "url_suffix": "p/77"}, {"index": 2, "code": "PROMO"}],
    })
}

fn with(mut body: Value, more: Value) -> Value {
    let (Some(body_), Value::Object(more)) = (body.as_object_mut(), more) else {
        panic!("objects")
    };
    body_.extend(more);
    body
}

/// The template that was sent last.
fn sent(shop: &Shop) -> TemplateContent {
    let outgoing = shop.kit().provider.sent().pop().expect("a send").outgoing;
    let Content::Template(content) = outgoing.content else { panic!("no template") };
    content
}

#[track_caller]
fn assert_whole(content: &TemplateContent) {
    let parameter =
        |name: &str, text: &str| Parameter { name: Some(name.to_owned()), text: text.to_owned() };
    assert_eq!(content.variables, [parameter("nome", "Ana")]);
    assert_eq!(content.header, Some(SentHeader::Text(parameter("pedido", "77"))));
    let buttons = [
        (1, SentButton::UrlSuffix("p/77".to_owned())),
        (2, SentButton::CopyCode("PROMO".to_owned())),
    ];
    assert_eq!(content.buttons, buttons);
}

#[tokio::test]
async fn the_record_names_the_components_and_what_has_to_be_given() {
    let shop = Shop::new().await;
    let (templates, company) = (shop.app().templates(), shop.kit().company.id);
    let made = shop.template(whole()).await;
    let shown =
        async || serde_json::to_value(templates.get(company, made.id).await.unwrap()).unwrap();
    let first = shown().await;
    let buttons = json!([{"index": 1, "type": "url"}, {"index": 2, "type": "copy_code"}]);
    assert_eq!(
        first["needs"],
        json!({"variables": ["nome"], "header": "text", "buttons": buttons, "other": []})
    );
    assert_eq!(first["components"]["header"]["text"], "Pedido {{pedido}}");
    assert_eq!(first["components"]["buttons"][1]["url"], "https://loja.example/{{1}}");
    assert_eq!((&first["variables"], first.get("is_complex")), (&json!([]), None));
    let image = json!({"components": {"header": {"type": "image"}}});
    shop.change_template(made.id, image).await;
    let changed = shown().await;
    assert_eq!(
        (&changed["needs"]["header"], &changed["needs"]["buttons"]),
        (&json!("image"), &json!([]))
    );
    shop.change_template(made.id, json!({"body": "Olá {{1}}", "components": null})).await;
    let plain = json!({"variables": ["1"], "header": null, "buttons": [], "other": []});
    assert_eq!(shown().await["needs"], plain);
    // The text and the header have one sort of variables, whichever is changed.
    for wrong in [
        json!({"components": {"header": {"type": "text", "text": "{{nome}}"}}}),
        json!({"body": "{{nome}}", "components": {"header": {"type": "text", "text": "{{1}}"}}}),
    ] {
        let refusal = refused(templates.change(company, made.id, &body(wrong)).await);
        assert_eq!(refusal.1["fields"], json!(["components"]));
    }
}

#[tokio::test]
async fn a_template_goes_out_whole_and_is_read_back_with_its_parts() {
    let shop = Shop::new().await;
    shop.template(whole()).await;
    let said = with(given(), json!({"to": PHONE, "template": "pedido"}));
    let sending = shop.app().sending();
    sending.send_template(&shop.kit().caller, &body(said.clone())).await.unwrap();
    assert_whole(&sent(&shop));
    let message = shop.messaging.newest().await;
    assert_eq!((&message["type"], &message["content"]), (&json!("template"), &json!("Olá Ana")));
    let shown = &message["interactive"];
    assert_eq!((&shown["kind"], &shown["header"]["text"]), (&json!("other"), &json!("Pedido 77")));
    assert_eq!(shown["footer"], "Responda SAIR para sair");
    assert_eq!(shown["buttons"][1]["title"], "Ver");
    let contact = create_phone(shop.kit(), "+5534991230009").await;
    let reply = with(given(), json!({"template": "pedido"}));
    let conversations = shop.app().conversations();
    conversations.reply_template(shop.kit().company.id, contact, &body(reply)).await.unwrap();
    assert_whole(&sent(&shop));
}

#[tokio::test]
async fn what_lacks_is_named_before_anything_is_stored_or_sent() {
    let shop = Shop::new().await;
    let made = shop.template(whole()).await;
    let rows = shop.model.row_count();
    let to_ana = json!({"to": PHONE, "template": "pedido"});
    let send = async |more: Value| {
        let said = body(with(to_ana.clone(), more));
        refused(shop.app().sending().send_template(&shop.kit().caller, &said).await)
    };
    for (more, fields) in [
        (json!({}), json!(["variables", "header", "buttons"])),
        (with(given(), json!({"header": null})), json!(["header"])),
        (with(given(), json!({"buttons": [{"index": 2, "code": "X"}]})), json!(["buttons"])),
        (with(given(), json!({"header": {"text": "{{x}}"}})), json!(["header"])),
        (with(given(), json!({"header": {"url": "https://x.example/a.png"}})), json!(["header"])),
    ] {
        let (code, details) = send(more.clone()).await;
        assert_eq!((code.as_str(), &details["fields"]), ("VALIDATION_ERROR", &fields), "{more}");
    }
    let features = json!({"template_dispatch": true});
    shop.set_features(features).await;
    let admitted = admit(&shop, &made).await;
    let payload = json!({"phone_number": PHONE, "variables": {"nome": "Ana"}}).to_string();
    let none = Params::new(Vec::new());
    let dispatched = shop.app().dispatches().send(&admitted, payload.as_bytes(), &none).await;
    assert_eq!(code(dispatched), "INVALID_PAYLOAD");
    assert_eq!((shop.model.row_count(), shop.calls()), (rows, 0));
}

/// R309.
#[tokio::test]
async fn a_dispatch_with_another_header_is_not_the_same_within_its_window() {
    let shop = Shop::new().await;
    shop.set_features(json!({"template_dispatch": true})).await;
    let made = shop.template(whole()).await;
    let admitted = admit(&shop, &made).await;
    let none = Params::new(Vec::new());
    let dispatch = async |more: Value| {
        let payload = with(with(given(), json!({"phone_number": PHONE})), more).to_string();
        shop.app().dispatches().send(&admitted, payload.as_bytes(), &none).await
    };
    dispatch(json!({})).await.unwrap();
    assert_whole(&sent(&shop));
    let swapped = json!([{"index": 2, "code": "PROMO"}, {"index": 1, "url_suffix": "p/77"}]);
    assert_eq!(code(dispatch(json!({"buttons": swapped})).await), "DUPLICATE_SEND");
    dispatch(json!({"header": {"text": "78"}})).await.unwrap();
    assert_eq!(shop.calls(), 2);
}

#[tokio::test]
async fn a_place_in_the_header_is_sent_and_shown() {
    let shop = Shop::new().await;
    let components = json!({"header": {"type": "location"}});
    shop.template(with(whole(), json!({"components": components, "body": "Chegamos"}))).await;
    let place =
        json!({"latitude": -23.55, "longitude": -46.63, "name": "Loja", "address": "Rua A"});
    let said = json!({"to": PHONE, "template": "pedido", "header": {"location": place}});
    shop.app().sending().send_template(&shop.kit().caller, &body(said)).await.unwrap();
    let Some(SentHeader::Location(Location { name, .. })) = sent(&shop).header else {
        panic!("no place")
    };
    assert_eq!(name.as_deref(), Some("Loja"));
    let message = shop.messaging.newest().await;
    assert_eq!(message["location"]["latitude"], -23.55);
    assert_eq!((&message["content"], &message["interactive"]), (&json!("Chegamos"), &Value::Null));
}

#[tokio::test]
async fn a_campaign_gives_everybody_the_same_header_and_buttons() {
    let shop = Shop::new().await;
    let template = shop.template(whole()).await;
    let scene = Scene::with(shop, 3, json!({})).await;
    let (campaigns, company) = (scene.shop.app().campaigns(), scene.shop.kit().company.id);
    let lacking = json!({"template_id": template.id, "variables": null});
    let refusal = refused(campaigns.change(company, scene.id, &body(lacking.clone())).await);
    assert_eq!(refusal.1["fields"], json!(["variables", "header", "buttons"]));
    scene.change(with(lacking, given())).await;
    assert_eq!(scene.shown().await["header"], json!({"text": "77"}));
    scene.start().await;
    scene.drain().await;
    assert_eq!(scene.shown().await["counts"]["sent"], 3);
    assert_whole(&sent(&scene.shop));
    let no_buttons =
        refused(campaigns.change(company, scene.id, &body(json!({"buttons": null}))).await);
    assert_eq!(no_buttons.1["fields"], json!(["buttons"]));
}
