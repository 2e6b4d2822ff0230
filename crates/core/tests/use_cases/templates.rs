//! Templates over the store (4.10, D48).

use std::time::Duration;

use recado_core::ids::{ConnectionId, TemplateId};
use recado_testkit::Kit;
use recado_testkit::kit::body;
use serde_json::{Value, json};
use uuid::{Uuid, Version};

use super::shop::client;
use super::{code, refused};

async fn create(kit: &Kit, new: Value) -> Value {
    let template = kit.app.templates().create(kit.company.id, &body(new)).await;
    serde_json::to_value(template.expect("the template is acceptable")).expect("it is JSON")
}

/// A template as it is shown after it was made.
fn tokenless(made: &Value) -> Value {
    let mut shown = made.clone();
    shown.as_object_mut().unwrap().remove("token").unwrap();
    shown
}

fn id_of(template: &Value) -> TemplateId {
    TemplateId::parse(template["id"].as_str().expect("an id")).expect("a UUID")
}

#[tokio::test]
async fn a_template_is_pending_and_brazilian_and_has_a_random_token() {
    let kit = Kit::new().await;
    let new = json!({ "name": "boas_vindas", "category": "AUTH", "body": "Olá {{1}}" });
    let (a, b) = (create(&kit, new.clone()).await, create(&kit, new).await);
    assert_eq!((&a["status"], &a["language"]), (&json!("PENDING"), &json!("pt_BR")));
    assert_eq!((&a["category"], &a["variables"]), (&json!("AUTHENTICATION"), &json!([1])));
    assert_eq!(a["connection_id"], Value::Null);
    let token = |template: &Value| Uuid::parse_str(template["token"].as_str().unwrap()).unwrap();
    assert_eq!(token(&a).get_version(), Some(Version::Random));
    assert_ne!(token(&a), token(&b));
    let all = kit.app.templates().all(kit.company.id).await.unwrap();
    assert_eq!(serde_json::to_value(all).unwrap(), json!([tokenless(&a), tokenless(&b)]));
}

/// R223.
#[tokio::test]
async fn a_new_token_replaces_the_old_one_at_once() {
    let kit = Kit::new().await;
    let features = body(json!({ "features": { "template_dispatch": true } }));
    kit.app.access().change_company(kit.company.id, &features).await.unwrap();
    let made = create(&kit, json!({ "name": "a", "category": "UTILITY", "body": "Oi" })).await;
    let admitted = async |token: &Value| {
        let admit = kit.app.dispatches().admit(token.as_str().unwrap(), client(1)).await;
        admit.is_ok()
    };
    assert!(admitted(&made["token"]).await);
    kit.clock.advance(Duration::from_secs(1));
    let templates = kit.app.templates();
    let rotated = templates.rotate_token(kit.company.id, id_of(&made)).await.unwrap();
    let rotated = serde_json::to_value(rotated).unwrap();
    assert_ne!(rotated["token"], made["token"]);
    assert_ne!(rotated["updated_at"], made["updated_at"]);
    assert_eq!(rotated["id"], made["id"]);
    assert!(!admitted(&made["token"]).await);
    assert!(admitted(&rotated["token"]).await);
    let (other, _) = kit.another_company("Outra").await;
    let theirs = templates.rotate_token(other.id, id_of(&made)).await;
    assert_eq!(refused(theirs).0, "NOT_FOUND");
}

#[tokio::test]
async fn a_template_is_changed_and_keeps_its_token() {
    let kit = Kit::new().await;
    let made = create(&kit, json!({ "name": "a", "category": "MARKETING", "body": "Oi" })).await;
    kit.clock.advance(Duration::from_secs(1));
    let templates = kit.app.templates();
    let change = body(json!({ "status": "APPROVED", "body": "Oi {{2}}" }));
    let changed = templates.change(kit.company.id, id_of(&made), &change).await.unwrap();
    let changed = serde_json::to_value(changed).unwrap();
    assert_eq!((&changed["status"], &changed["variables"]), (&json!("APPROVED"), &json!([2])));
    assert_eq!((changed.get("token"), &changed["created_at"]), (None, &made["created_at"]));
    assert_ne!(changed["updated_at"], made["updated_at"]);
    kit.clock.advance(Duration::from_secs(1));
    let same = templates.change(kit.company.id, id_of(&made), &change).await.unwrap();
    assert_eq!(serde_json::to_value(same).unwrap(), changed);
}

#[tokio::test]
async fn a_template_of_another_company_is_as_good_as_missing() {
    let kit = Kit::new().await;
    let made = create(&kit, json!({ "name": "a", "category": "UTILITY", "body": "Oi" })).await;
    let (other, _) = kit.another_company("Outra").await;
    let (templates, id) = (kit.app.templates(), id_of(&made));
    let change = body(json!({ "status": "APPROVED" }));
    assert_eq!(code(templates.get(other.id, id).await), "NOT_FOUND");
    assert_eq!(code(templates.change(other.id, id, &change).await), "NOT_FOUND");
    assert_eq!(code(templates.delete(other.id, id).await), "NOT_FOUND");
    assert!(templates.all(other.id).await.unwrap().is_empty());
    templates.delete(kit.company.id, id).await.unwrap();
    assert_eq!(code(templates.get(kit.company.id, id).await), "NOT_FOUND");
}

#[tokio::test]
async fn a_template_is_bound_to_a_connection_of_its_company_only() {
    let kit = Kit::new().await;
    let unknown = ConnectionId::new(Uuid::from_u128(1));
    let new = json!({ "name": "a", "category": "UTILITY", "body": "Oi", "connection_id": unknown });
    let (code, details) = refused(kit.app.templates().create(kit.company.id, &body(new)).await);
    assert_eq!(
        (code.as_str(), &details["fields"]),
        ("VALIDATION_ERROR", &json!(["connection_id"]))
    );
}
