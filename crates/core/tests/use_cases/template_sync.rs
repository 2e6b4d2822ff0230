//! Templates of gateways (D69): syncs and reports.

use std::time::Duration;

use recado_core::gateway::{GatewayEvent, ProviderError, ProviderTemplate, TemplateReport};
use recado_core::ids::{ConnectionId, TemplateId};
use recado_core::inbox::EventOutcome;
use recado_core::templates::{Components, TemplateCategory, TemplateNeeds, TemplateStatus};
use recado_core::{Error, Rejection};
use recado_testkit::kit::body;
use recado_testkit::{StoreFailure, StoreOp};
use serde_json::{Value, json};
use uuid::Uuid;

use super::code;
use super::gateway_scene::*;
use super::shop::client;

fn listed(name: &str, text: &str) -> ProviderTemplate {
    ProviderTemplate {
        provider_id: Some(format!("id of {name}")),
        name: name.to_owned(),
        language: "pt_BR".to_owned(),
        category: TemplateCategory::Marketing,
        status: TemplateStatus::Approved,
        body: text.to_owned(),
        components: Components::default(),
        needs: TemplateNeeds::default(),
    }
}

/// Reads the templates from the gateway; answers them by name.
async fn sync(scene: &Scene, templates: Vec<ProviderTemplate>) -> Vec<Value> {
    scene.kit.provider.set_templates(Ok(templates));
    let templates = scene.kit.app.templates();
    let synced = templates.sync(scene.kit.company.id, scene.connection()).await.unwrap();
    by_name(serde_json::to_value(synced).unwrap())
}

fn by_name(templates: Value) -> Vec<Value> {
    let mut templates = templates.as_array().unwrap().clone();
    templates.sort_by_key(|template| template["name"].to_string());
    templates
}

async fn all(scene: &Scene) -> Vec<Value> {
    let all = scene.kit.app.templates().all(scene.kit.company.id).await.unwrap();
    by_name(serde_json::to_value(all).unwrap())
}

/// The name and the status of each.
fn statuses(templates: &[Value]) -> Vec<(&str, &str)> {
    templates
        .iter()
        .map(|template| (template["name"].as_str().unwrap(), template["status"].as_str().unwrap()))
        .collect()
}

/// D69.
#[tokio::test]
async fn what_the_gateway_lists_is_made_and_kept_up_to_date() {
    let scene = scene("cloud_api").await;
    let first = sync(&scene, vec![listed("aviso", "Oi"), listed("promo", "Olá {{1}}")]).await;
    assert_eq!(statuses(&first), [("aviso", "APPROVED"), ("promo", "APPROVED")]);
    assert_eq!(first[1]["connection_id"], json!(scene.connection()));
    assert_eq!((&first[1]["variables"], &first[1]["category"]), (&json!([1]), &json!("MARKETING")));
    scene.kit.clock.advance(Duration::from_secs(1));
    let changed = ProviderTemplate {
        status: TemplateStatus::Rejected,
        category: TemplateCategory::Utility,
        ..listed("promo", "Olá {{1}} e {{2}}")
    };
    let second = sync(&scene, vec![listed("aviso", "Oi"), changed]).await;
    assert_eq!(second[0], first[0], "what is as it was is not touched");
    assert_eq!(second[1]["status"], "REJECTED");
    assert_eq!(second[1]["variables"], json!([1, 2]));
    for kept in ["id", "created_at"] {
        assert_eq!(second[1][kept], first[1][kept], "{kept}");
    }
    assert_ne!(second[1]["updated_at"], first[1]["updated_at"]);
}

/// R117.
#[tokio::test]
async fn what_is_listed_no_more_is_paused_until_it_is_listed_again() {
    let scene = scene("cloud_api").await;
    let own = json!({ "name": "manual", "category": "UTILITY", "body": "Oi",
        "status": "APPROVED", "connection_id": scene.connection() });
    scene.kit.app.templates().create(scene.kit.company.id, &body(own)).await.unwrap();
    sync(&scene, vec![listed("promo", "Olá")]).await;
    let gone = sync(&scene, Vec::new()).await;
    assert_eq!(statuses(&gone), [("manual", "APPROVED"), ("promo", "PAUSED")]);
    let back = sync(&scene, vec![listed("promo", "Olá")]).await;
    assert_eq!(statuses(&back), [("manual", "APPROVED"), ("promo", "APPROVED")]);
    assert_eq!(back[1]["id"], gone[1]["id"]);
}

/// R223: nobody was shown the token that a template had when it was read.
#[tokio::test]
async fn a_template_that_was_read_gets_its_token_by_rotation_and_keeps_it() {
    let scene = scene("cloud_api").await;
    let first = sync(&scene, vec![listed("promo", "Olá")]).await;
    assert_eq!(first[0].get("token"), None);
    let id = TemplateId::parse(first[0]["id"].as_str().unwrap()).unwrap();
    let company = scene.kit.company.id;
    let features = body(json!({ "features": { "template_dispatch": true } }));
    scene.kit.app.access().change_company(company, &features).await.unwrap();
    let token = scene.kit.app.templates().rotate_token(company, id).await.unwrap().token;
    let admit = async || scene.kit.app.dispatches().admit(&token.to_string(), client(1)).await;
    admit().await.unwrap();
    sync(&scene, vec![listed("promo", "Oi")]).await;
    admit().await.unwrap();
}

/// R117.
#[tokio::test]
async fn a_template_that_was_made_here_becomes_the_gateways() {
    let scene = scene("cloud_api").await;
    let own = json!({ "name": "promo", "category": "UTILITY", "body": "Oi",
        "connection_id": scene.connection() });
    let made = scene.kit.app.templates().create(scene.kit.company.id, &body(own)).await.unwrap();
    let synced = sync(&scene, vec![listed("promo", "Olá")]).await;
    assert_eq!(synced.len(), 1);
    assert_eq!((&synced[0]["id"], &synced[0]["body"]), (&json!(made.template.id), &json!("Olá")));
    assert_eq!(synced[0]["status"], "APPROVED");
}

#[tokio::test]
async fn other_connections_and_languages_are_other_templates() {
    let scene = scene("cloud_api").await;
    let second = connect(&scene.kit, "cloud_api", json!({})).await;
    scene.kit.provider.set_templates(Ok(vec![listed("promo", "de outra")]));
    scene.kit.app.templates().sync(scene.kit.company.id, second).await.unwrap();
    let english = ProviderTemplate { language: "en_US".to_owned(), ..listed("promo", "Hello") };
    let synced = sync(&scene, vec![listed("promo", "Olá"), english]).await;
    assert_eq!(synced.len(), 2);
    assert_eq!(all(&scene).await.len(), 3);
    sync(&scene, Vec::new()).await;
    let approved = all(&scene).await.into_iter().filter(|t| t["status"] == "APPROVED").count();
    assert_eq!(approved, 1, "that of the other connection");
}

#[tokio::test]
async fn what_cannot_be_kept_is_left_out_and_the_last_of_equals_counts() {
    let scene = scene("cloud_api").await;
    let synced = sync(
        &scene,
        vec![
            listed("", "Oi"),
            listed(&"x".repeat(1_000), "Oi"),
            listed("a\u{0}b", "Oi"),
            ProviderTemplate { language: String::new(), ..listed("muda", "Oi") },
            listed("promo", "a primeira"),
            listed("promo", "a última"),
        ],
    );
    let synced = synced.await;
    assert_eq!(statuses(&synced), [("promo", "APPROVED")]);
    assert_eq!(synced[0]["body"], "a última");
}

#[tokio::test]
async fn a_gateway_that_fails_changes_nothing() {
    let scene = scene("cloud_api").await;
    let before = sync(&scene, vec![listed("promo", "Olá")]).await;
    let templates = scene.kit.app.templates();
    let company = scene.kit.company.id;
    scene.kit.provider.set_templates(Err(ProviderError::Failed("timeout".to_owned())));
    assert_eq!(code(templates.sync(company, scene.connection()).await), "PROVIDER_ERROR");
    scene.kit.provider.set_templates(Err(ProviderError::Unsupported));
    assert_eq!(code(templates.sync(company, scene.connection()).await), "VALIDATION_ERROR");
    assert_eq!(all(&scene).await, before);
    let nobody = ConnectionId::new(Uuid::from_u128(1));
    assert_eq!(code(templates.sync(company, nobody).await), "NOT_FOUND");
    let (other, _) = scene.kit.another_company("Outra").await;
    assert_eq!(code(templates.sync(other.id, scene.connection()).await), "NOT_FOUND");
    let qr = connect(&scene.kit, "waha", json!({})).await;
    scene.kit.provider.set_templates(Ok(Vec::new()));
    assert_eq!(code(templates.sync(company, qr).await), "VALIDATION_ERROR");
}

#[tokio::test]
async fn a_reading_that_the_store_fails_writes_nothing() {
    let scene = scene("cloud_api").await;
    sync(&scene, vec![listed("aviso", "Oi")]).await;
    let before = all(&scene).await;
    scene.kit.provider.set_templates(Ok(vec![listed("promo", "Olá"), listed("nova", "Oi")]));
    scene.store.fail_nth(StoreOp::Commit, 0, StoreFailure::Unavailable);
    let templates = scene.kit.app.templates();
    assert!(templates.sync(scene.kit.company.id, scene.connection()).await.is_err());
    assert_eq!(all(&scene).await, before);
}

#[tokio::test]
async fn readings_at_once_make_each_template_once() {
    let scene = scene("cloud_api").await;
    scene.kit.provider.set_templates(Ok(vec![listed("aviso", "Oi"), listed("promo", "Olá")]));
    let templates = scene.kit.app.templates();
    let syncs = (0..6).map(|_| templates.sync(scene.kit.company.id, scene.connection()));
    for synced in futures_util::future::join_all(syncs).await {
        assert_eq!(synced.unwrap().len(), 2);
    }
    assert_eq!(all(&scene).await.len(), 2);
}

/// D69, R118.
#[tokio::test]
async fn a_template_of_which_something_lacks_is_shown_and_not_sent() {
    let scene = scene("cloud_api").await;
    let needs = TemplateNeeds { header: Some("image".to_owned()), ..TemplateNeeds::default() };
    sync(&scene, vec![ProviderTemplate { needs, ..listed("promo", "Olá {{1}}") }]).await;
    let shown = all(&scene).await;
    assert_eq!(shown[0].get("is_complex"), None);
    assert_eq!(
        shown[0]["needs"],
        json!({"variables": ["1"], "header": "image", "buttons": [], "other": []})
    );
    let said = body(json!({ "to": PHONE, "template": "promo" }));
    let refused = scene.kit.app.sending().send_template(&scene.kit.caller, &said).await;
    let Err(Error::Rejected(refused)) = refused else { panic!("not refused") };
    assert_eq!(refused.code().as_str(), "VALIDATION_ERROR");
    let reasons = refused.details().expect("details")["reasons"].clone();
    let named = |field: &str, part: &str| {
        let reason = reasons[field].as_str().expect("a reason");
        assert!(reason.contains(part), "{reason}");
    };
    named("header", "is needed: image");
    named("variables", "the positions 1");
    assert_eq!(scene.kit.provider.sent(), []);
    sync(&scene, vec![listed("promo", "Olá")]).await;
    scene.kit.app.sending().send_template(&scene.kit.caller, &said).await.unwrap();
}

fn report(name: &str, status: Option<TemplateStatus>) -> TemplateReport {
    let (name, language) = (Some(name.to_owned()), Some("pt_BR".to_owned()));
    TemplateReport { provider_id: None, name, language, status, category: None }
}

/// D69.
#[tokio::test]
async fn what_the_gateway_reports_of_a_template_is_followed() {
    let scene = scene("cloud_api").await;
    sync(&scene, vec![listed("promo", "Olá")]).await;
    let tell = async |report: TemplateReport| {
        scene.messaging.receive(vec![Ok(GatewayEvent::Template(report))]).await.remove(0).result
    };
    let paused = report("promo", Some(TemplateStatus::Paused));
    assert_eq!(tell(paused.clone()).await, EventOutcome::Stored);
    assert_eq!(tell(paused).await, EventOutcome::Duplicate);
    assert_eq!(statuses(&all(&scene).await), [("promo", "PAUSED")]);
    let moved =
        TemplateReport { category: Some(TemplateCategory::Utility), ..report("promo", None) };
    assert_eq!(tell(moved).await, EventOutcome::Stored);
    let now = all(&scene).await;
    assert_eq!((&now[0]["category"], &now[0]["status"]), (&json!("UTILITY"), &json!("PAUSED")));
    assert_eq!(tell(report("promo", None)).await, EventOutcome::Duplicate);
    assert_eq!(tell(report("outra", None)).await, EventOutcome::Ignored);
    let english = TemplateReport {
        language: Some("en_US".to_owned()),
        ..report("promo", Some(TemplateStatus::Rejected))
    };
    assert_eq!(tell(english).await, EventOutcome::Ignored);
    assert_eq!(all(&scene).await, now);
}

#[tokio::test]
async fn a_template_of_which_only_the_id_is_reported_is_found_by_it() {
    let scene = scene("cloud_api").await;
    let known = ProviderTemplate { provider_id: Some("77".to_owned()), ..listed("promo", "Olá") };
    let other = ProviderTemplate { provider_id: Some("78".to_owned()), ..listed("aviso", "Oi") };
    sync(&scene, vec![known, other]).await;
    let tell = async |report: TemplateReport| {
        scene.messaging.receive(vec![Ok(GatewayEvent::Template(report))]).await.remove(0).result
    };
    let paused = |provider_id: Option<&str>, name: Option<&str>| TemplateReport {
        provider_id: provider_id.map(str::to_owned),
        name: name.map(str::to_owned),
        language: None,
        status: Some(TemplateStatus::Paused),
        category: None,
    };
    assert_eq!(tell(paused(Some("79"), None)).await, EventOutcome::Ignored);
    assert_eq!(tell(paused(None, Some("promo"))).await, EventOutcome::Ignored);
    assert_eq!(tell(paused(Some("77"), Some("aviso"))).await, EventOutcome::Ignored);
    assert_eq!(tell(paused(Some("77"), None)).await, EventOutcome::Stored);
    let after = all(&scene).await;
    let mut now = statuses(&after);
    now.sort_unstable();
    assert_eq!(now, [("aviso", "APPROVED"), ("promo", "PAUSED")]);
    // A template that was created again has another id; it is found by name and language.
    let anew = TemplateReport {
        provider_id: Some("99".to_owned()),
        ..report("promo", Some(TemplateStatus::Approved))
    };
    assert_eq!(tell(anew).await, EventOutcome::Stored);
}

#[tokio::test]
async fn a_body_that_cannot_be_kept_as_it_is_costs_no_template() {
    let scene = scene("cloud_api").await;
    sync(&scene, vec![listed("promo", "Olá"), listed("longa", "Oi")]).await;
    let long = "ã".repeat(5_000);
    sync(&scene, vec![listed("promo", "Olá\r\n{{1}}\u{0}"), listed("longa", &long)]).await;
    let now = all(&scene).await;
    let of = |name: &str| now.iter().find(|template| template["name"] == name).expect("listed");
    assert_eq!(
        (&of("promo")["body"], &of("promo")["status"]),
        (&json!("Olá\n{{1}}"), &json!("APPROVED"))
    );
    assert_eq!(of("promo")["needs"]["other"], json!([]));
    let kept = of("longa")["body"].as_str().expect("a text").chars().count();
    assert_eq!(
        (kept, &of("longa")["needs"]["other"], &of("longa")["status"]),
        (4_096, &json!(["a shorter text"]), &json!("APPROVED"))
    );
}
