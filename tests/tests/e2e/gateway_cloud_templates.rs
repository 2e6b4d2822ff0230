//! Templates of the official cloud API, and a campaign through it: D40, D66, D69.

use std::time::Duration;

use recado_testkit::gateways::{SendBehaviour, graph_failure};
use recado_tests::backend::TestServer;
use recado_tests::hooks_in::dispatching;
use recado_tests::{Clouded, Request, Setup, StoreKind, both_stores, mobile, text};
use serde_json::{Value, json};

fn listed(name: &str, status: &str, components: Value) -> Value {
    json!({
        "id": format!("92007035264{}", name.len()), "name": name, "language": "pt_BR",
        "status": status, "category": "UTILITY", "parameter_format": "POSITIONAL",
        "components": components,
    })
}

fn simple(name: &str, status: &str) -> Value {
    listed(
        name,
        status,
        json!([
            {"type": "BODY", "text": "Olá {{1}}", "example": {"body_text": [["Maria"]]}},
            {"type": "FOOTER", "text": "Loja"},
        ]),
    )
}

async fn sync(world: &Clouded) -> Vec<Value> {
    let path = format!("C/connections/{}/sync-templates", world.connection);
    let answer = world.operator("POST", &path, json!({})).await;
    let data = answer.expect(200);
    data.as_array().unwrap_or_else(|| panic!("no list in {}", answer.show())).clone()
}

fn named<'a>(templates: &'a [Value], name: &str) -> &'a Value {
    let found = templates.iter().find(|template| template["name"] == name);
    found.unwrap_or_else(|| panic!("{name} is not in {templates:?}"))
}

async fn template(world: &Clouded, name: &str) -> Value {
    let all = world.operator_get("C/templates").await;
    named(all.as_array().expect("a list"), name).clone()
}

async fn send(world: &Clouded, name: &str) -> recado_tests::ScriptedAnswer {
    let body = json!({"to": mobile(1), "template": name, "variables": {"1": "Ana"}});
    world.post("/api/v1/send/template", body).await
}

#[both_stores]
async fn templates_are_read_page_by_page_and_followed(world: Clouded) {
    let many: Vec<Value> = (0..7)
        .map(|n| simple(&format!("t{n}"), "APPROVED"))
        .chain([simple("nova", "PENDING"), simple("feia", "REJECTED"), simple("x", "IN_SPACE")])
        .collect();
    world.fake.set_templates(many.clone(), 3);
    let read = sync(&world).await;
    assert_eq!(read.len(), 10);
    assert_eq!(named(&read, "t0")["body"], "Olá {{1}}");
    assert_eq!(named(&read, "t0")["category"], "UTILITY");
    assert_eq!(named(&read, "t0")["language"], "pt_BR");
    assert_eq!(named(&read, "t0")["connection_id"], world.connection.as_str());
    for (name, status) in
        [("t0", "APPROVED"), ("nova", "PENDING"), ("feia", "REJECTED"), ("x", "PAUSED")]
    {
        assert_eq!(named(&read, name)["status"], status);
    }
    let ids = |all: &[Value]| -> Vec<String> { all.iter().map(|one| text(&one["id"])).collect() };
    let before = ids(&read);
    assert_eq!(ids(&sync(&world).await), before, "the same templates, not new ones");
    send(&world, "t6").await.expect(200);
    send(&world, "nova").await.expect_error(403, "TEMPLATE_NOT_APPROVED");
    // Templates that are no longer listed are paused, new ones are added.
    let mut fewer = many;
    fewer.retain(|one| one["name"] != "t6");
    fewer.push(simple("mais", "APPROVED"));
    world.fake.set_templates(fewer, 100);
    let read = sync(&world).await;
    assert_eq!(named(&read, "t6")["status"], "PAUSED");
    assert_eq!(named(&read, "mais")["status"], "APPROVED");
    send(&world, "t6").await.expect_error(403, "TEMPLATE_NOT_APPROVED");
    world.well_behaved();
}

#[both_stores]
async fn a_template_is_listed_with_what_it_needs_and_refused_where_that_lacks(world: Clouded) {
    let header = json!({"type": "HEADER", "format": "IMAGE",
        "example": {"header_handle": ["x"]}});
    let body = json!({"type": "BODY", "text": "Olá {{1}}"});
    let button = json!({"type": "BUTTONS", "buttons": [
        {"type": "URL", "text": "Abrir", "url": "https://x.example/{{1}}"}]});
    let quick = json!({"type": "BUTTONS", "buttons": [
        {"type": "QUICK_REPLY", "text": "Parar promoções"}]});
    world.fake.set_templates(
        vec![
            listed("imagem", "APPROVED", json!([header, body])),
            listed("abrir", "APPROVED", json!([body, button])),
            listed("rapida", "APPROVED", json!([body, quick])),
        ],
        100,
    );
    let read = sync(&world).await;
    assert_eq!(read.len(), 3);
    for (name, field, needed) in
        [("imagem", "header", "is needed: image"), ("abrir", "buttons", "button 0 (url)")]
    {
        assert_eq!(named(&read, name)["status"], "APPROVED");
        let answer = send(&world, name).await;
        assert_eq!(answer.status, 422, "{}", answer.show());
        assert_eq!(answer.json()["code"], "VALIDATION_ERROR");
        let reason = text(&answer.json()["details"]["reasons"][field]);
        assert!(reason.contains(needed), "{reason}");
    }
    let company = format!("/companies/{}", world.us.id);
    let features = json!({"features": {"template_dispatch": true}});
    world.operator("PATCH", &company, features).await.expect(200);
    // R223: it was shown to nobody.
    let rotate = format!("C/templates/{}/rotate-token", text(&named(&read, "imagem")["id"]));
    let token = text(&world.operator("POST", &rotate, json!({})).await.expect(200)["token"]);
    let body = json!({"phone_number": mobile(1), "variables": {"1": "Ana"}});
    let call = Request::new("POST", dispatching(&token)).json(&body);
    let answer = world.send(call).await;
    answer.expect_hook_error(400, "INVALID_PAYLOAD");
    assert!(
        text(&answer.json()["message"]).contains("header is needed: image"),
        "{}",
        answer.show()
    );
    // D48: a tag comes first, the phone afterwards.
    let tag = json!({"phone_number": "12", "variables": {"1": "{nome completo}"}});
    let answer = world.send(Request::new("POST", dispatching(&token)).json(&tag)).await;
    assert!(text(&answer.json()["message"]).contains("a tag"), "{}", answer.show());
    let no_phone = json!({"variables": {"1": "Ana"}});
    let answer = world.send(Request::new("POST", dispatching(&token)).json(&no_phone)).await;
    answer.expect_hook_error(400, "INVALID_PAYLOAD");
    assert!(world.fake.accepted().is_empty());
    assert!(world.all_messages().await.is_empty());
    send(&world, "rapida").await.expect(200);
    world.well_behaved();
}

#[both_stores]
async fn a_failed_reading_changes_nothing(world: Clouded) {
    world.fake.set_templates(vec![simple("a", "APPROVED")], 100);
    sync(&world).await;
    let path = format!("C/connections/{}/sync-templates", world.connection);
    world.gateway.stop().await;
    let answer = world.operator("POST", &path, json!({})).await;
    answer.expect_error(502, "PROVIDER_ERROR");
    world.gateway.resume().await;
    world.fake.revoke_token(true);
    let answer = world.operator("POST", &path, json!({})).await;
    answer.expect_error(502, "PROVIDER_ERROR");
    assert!(!answer.show().contains("EAA-token"), "{}", answer.show());
    assert_eq!(template(&world, "a").await["status"], "APPROVED");
    let simulated = world.qr().await;
    let path = format!("C/connections/{simulated}/sync-templates");
    let answer = world.operator("POST", &path, json!({})).await;
    assert_eq!(answer.status, 422, "{}", answer.show());
}

#[both_stores]
async fn reports_of_a_template_change_its_status_and_category(world: Clouded) {
    world.fake.set_templates(vec![simple("a", "PENDING")], 100);
    sync(&world).await;
    for (event, status) in [
        ("APPROVED", "APPROVED"),
        ("PAUSED", "PAUSED"),
        ("REINSTATED", "APPROVED"),
        ("REJECTED", "REJECTED"),
        ("APPROVED", "APPROVED"),
        ("DISABLED", "PAUSED"),
        ("NEVER_HEARD_OF", "PAUSED"),
    ] {
        world.takes(&world.fake.webhook_template("a", "pt_BR", event)).await;
        assert_eq!(template(&world, "a").await["status"], status, "{event}");
    }
    let soon = json!({"message_template_id": 1, "message_template_name": "a",
        "message_template_language": "pt_BR", "new_category": "UTILITY",
        "correct_category": "MARKETING", "category_update_timestamp": 1_760_000_000});
    world.changes(&[("template_category_update", soon)]).await;
    assert_eq!(template(&world, "a").await["category"], "UTILITY", "not yet");
    let done = json!({"message_template_id": 1, "message_template_name": "a",
        "message_template_language": "pt_BR", "previous_category": "UTILITY",
        "new_category": "MARKETING"});
    world.changes(&[("template_category_update", done)]).await;
    assert_eq!(template(&world, "a").await["category"], "MARKETING");
    let foreign = world.fake.webhook_body(&json!({"object": "whatsapp_business_account",
        "entry": [{"id": "WABA_ID", "changes": [{"field": "message_template_status_update",
            "value": {"event": "APPROVED", "message_template_name": "a",
                "message_template_language": "pt_BR", "reason": "NONE"}}]}]}));
    world.takes(&foreign).await;
    assert_eq!(template(&world, "a").await["status"], "APPROVED", "of an account nobody names");
    world.takes(&world.fake.webhook_template("a", "pt_BR", "PAUSED")).await;
    world.takes(&world.fake.webhook_template("nobody", "pt_BR", "APPROVED")).await;
    world.takes(&world.fake.webhook_template("a", "en_US", "APPROVED")).await;
    assert_eq!(template(&world, "a").await["status"], "PAUSED");
}

#[both_stores]
async fn a_campaign_goes_through_the_api_once_to_each(kind: StoreKind) {
    let world = Clouded::with(kind, Setup { no_background: true, ..Setup::default() }).await;
    world.fake.set_templates(vec![simple("promo", "APPROVED")], 100);
    let template = text(&named(&sync(&world).await, "promo")["id"]);
    let list = world.list("lista").await;
    let mut contacts = Vec::new();
    for n in 0..6 {
        contacts.push(world.import(json!({"phone": mobile(n)})).await);
    }
    let path = format!("C/lists/{list}/contacts");
    world.operator("POST", &path, json!({"contact_ids": contacts})).await.expect(200);
    world.fake.script([
        SendBehaviour::Accept,
        SendBehaviour::AcceptThenDrop,
        graph_failure(131_026, "Undeliverable"),
        SendBehaviour::AcceptWithoutId,
    ]);
    let body = json!({"name": "Novidades", "template_id": template, "list_id": list,
        "variables": {"1": "amigos"}, "messages_per_second": 1000});
    let campaign = text(&world.make("C/campaigns", body).await["id"]);
    let path = format!("C/campaigns/{campaign}");
    world.operator("POST", &format!("{path}/start"), Value::Null).await.expect(200);
    for _ in 0..200 {
        drain(&world.server).await;
        if world.operator_get(&path).await["status"] != "running" {
            break;
        }
        world.advance(Duration::from_millis(500));
    }
    assert_eq!(world.operator_get(&path).await["status"], "finished");
    let accepted = world.fake.accepted();
    let mut reached: Vec<String> = accepted.iter().map(|sent| sent.to.clone()).collect();
    reached.sort();
    reached.dedup();
    assert_eq!(accepted.len(), 5, "one was refused, and nobody got it twice");
    assert_eq!(reached.len(), 5);
    // Reports show that the two uncertain messages were sent.
    for sent in &accepted {
        world.reported(sent, "delivered").await;
    }
    let mut statuses: Vec<String> =
        world.all_messages().await.iter().map(|one| text(&one["status"])).collect();
    statuses.sort();
    assert_eq!(
        statuses,
        ["delivered", "delivered", "delivered", "delivered", "delivered", "failed"]
    );
    world.well_behaved();
}

async fn drain(server: &TestServer) {
    server.drain_campaigns().await;
}
