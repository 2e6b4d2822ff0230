//! GET /custom-fields: 4.11, 4.12; D58; and the operator's side of the definitions.

use std::time::Duration;

use recado_tests::{World, both_stores, phone, text, unknown_id};
use serde_json::{Value, json};

#[both_stores]
async fn definitions_have_exactly_the_documented_fields(world: World) {
    let made = world
        .make("C/custom-fields", json!({"label": "Plano", "slug": "plano", "type": "select"}))
        .await;
    let answer = world.get("/api/v1/custom-fields").await;
    let fields = answer.expect(200);
    let expected = json!([{
        "id": made["id"], "slug": "plano", "label": "Plano", "type": "select", "status": "active",
        "created_at": made["created_at"],
    }]);
    assert_eq!(fields, expected);
    assert!(answer.json().get("pagination").is_none());
}

#[both_stores]
async fn all_definitions_are_listed_whatever_their_status_by_creation(world: World) {
    let mut ids = Vec::new();
    for (n, status) in ["inactive", "active", "pending", "active"].into_iter().enumerate() {
        let body = json!({"label": "x", "slug": format!("slug-{n}"), "status": status});
        ids.push(text(&world.make("C/custom-fields", body).await["id"]));
        world.advance(Duration::from_millis(1));
    }
    let answer = world.get("/api/v1/custom-fields").await;
    assert_eq!(answer.ids(), ids);
    assert_eq!(answer.column("status"), ["inactive", "active", "pending", "active"]);
}

#[both_stores]
async fn more_than_a_page_of_definitions_comes_at_once(world: World) {
    for n in 0..105 {
        world.field(&format!("slug-{n}")).await;
    }
    assert_eq!(world.get("/api/v1/custom-fields?limit=1&page=2").await.items().len(), 105);
}

#[both_stores]
async fn definitions_of_another_company_do_not_show(world: World) {
    let other = world.tenant("Other").await;
    world.make_for(&other, "C/custom-fields", json!({"label": "x", "slug": "xxx"})).await;
    assert_eq!(world.get("/api/v1/custom-fields").await.expect(200), json!([]));
}

#[both_stores]
async fn the_type_defaults_to_text_and_is_one_of_five(world: World) {
    assert_eq!(
        world.make("C/custom-fields", json!({"label": "x", "slug": "xxx"})).await["type"],
        "text"
    );
    for kind in ["text", "number", "date", "boolean", "select"] {
        world
            .make(
                "C/custom-fields",
                json!({"label": "x", "slug": format!("of-{kind}"), "type": kind}),
            )
            .await;
    }
    let answer = world
        .operator("POST", "C/custom-fields", json!({"label": "x", "slug": "yyy", "type": "money"}))
        .await;
    assert_eq!(answer.expect_invalid(), ["type"]);
}

#[both_stores]
async fn a_slug_is_unique_per_company(world: World) {
    world.field("plano").await;
    let again =
        world.operator("POST", "C/custom-fields", json!({"label": "x", "slug": "plano"})).await;
    assert!([409, 422].contains(&again.status), "{}", again.show());
    assert_eq!(again.json()["success"], false);
    let other = world.tenant("Other").await;
    world.make_for(&other, "C/custom-fields", json!({"label": "x", "slug": "plano"})).await;
}

#[both_stores]
async fn values_are_not_checked_against_the_type(world: World) {
    let body = json!({"label": "n", "slug": "nnn", "type": "number"});
    let field = text(&world.make("C/custom-fields", body).await["id"]);
    let id = world
        .create_id(json!({"phone": phone(1), "custom_fields": {&field: "not a number"}}))
        .await;
    assert_eq!(world.detail(&id).await["custom_fields"][&field], "not a number");
}

#[both_stores]
async fn a_renamed_definition_keeps_its_values(world: World) {
    let field = world.field("plano").await;
    let id = world.create_id(json!({"phone": phone(1), "custom_fields": {&field: "x"}})).await;
    world
        .operator("PATCH", &format!("C/custom-fields/{field}"), json!({"label": "Novo"}))
        .await
        .expect(200);
    assert_eq!(world.get("/api/v1/custom-fields").await.column("label"), ["Novo"]);
    assert_eq!(world.listed(&id).await["custom_fields"], json!({"plano": "x"}));
}

#[both_stores]
async fn every_missing_or_wrong_field_of_a_definition_is_named(world: World) {
    let answer = world
        .operator("POST", "C/custom-fields", json!({"type": 1, "status": "x", "nope": 1}))
        .await;
    assert_eq!(answer.expect_invalid(), ["label", "nope", "slug", "status", "type"]);
    let unknown = unknown_id();
    world
        .operator("PATCH", &format!("C/custom-fields/{unknown}"), json!({"label": "x"}))
        .await
        .expect_error(404, "NOT_FOUND");
    world
        .operator("GET", &format!("C/custom-fields/{unknown}"), Value::Null)
        .await
        .expect_error(404, "NOT_FOUND");
}
