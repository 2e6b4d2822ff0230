//! Native and custom fields that an inbound call sets: 4.9; D20–D22, D46, D46a, D47, D58.

use recado_testkit::transport::json_answer;
use recado_tests::hooks_in::{Endpoint, plain};
use recado_tests::{Intake, both_stores, eventually, keys, mobile, text, with};
use serde_json::{Value, json};

fn natives() -> Value {
    json!({
        "phone_number": "$.phone", "name": "$.name", "email": "$.email", "birthday": "$.birthday",
        "cpf": "$.cpf", "city": "$.city", "state": "$.state", "postal_code": "$.postal_code",
        "observation": "$.observation", "cnpj": "$.cnpj", "rg": "$.rg", "genero": "$.genero",
        "estado_civil": "$.estado_civil", "profissao": "$.profissao",
    })
}

/// Checks that the warnings name exactly these fields, and have the documented form.
#[track_caller]
fn assert_warned(taken: &Value, fields: &[&str]) {
    let warnings = taken["warnings"].as_array().unwrap_or_else(|| panic!("warnings in {taken}"));
    let mut named: Vec<String> = warnings.iter().map(|one| text(&one["field"])).collect();
    named.sort();
    assert_eq!(named, fields, "{taken}");
    for warning in warnings {
        assert_eq!(keys(warning), ["code", "field", "message"]);
        assert_eq!(warning["code"], "INVALID_FIELD");
        assert!(!text(&warning["message"]).is_empty());
    }
}

async fn definitions(world: &Intake) -> Vec<(String, String)> {
    let answer = world.get("/api/v1/custom-fields").await;
    let all = answer.items();
    all.iter().map(|one| (text(&one["slug"]), text(&one["status"]))).collect()
}

async fn with_plan(world: &Intake) -> Endpoint {
    world.endpoint("site-leads", with(plain(), json!({"plan": "$.plan"}))).await
}

#[both_stores]
async fn native_fields_are_stored_as_the_api_stores_them(world: Intake) {
    world.server.transport.otherwise(json_answer(200, &json!({"razao_social": "PADARIA LTDA"})));
    let site = world.endpoint("site-leads", natives()).await;
    let body = json!({
        "phone": mobile(1), "name": " Ana ", "email": " Ana@Example.COM ", "birthday": "1990-12-31",
        "cpf": "529.982.247-25", "city": "Recife", "state": "PE", "postal_code": "50030-230",
        "observation": "linha 1\nlinha 2", "cnpj": "19.131.243/0001-97", "rg": " 1.234-5 ",
        "genero": "feminino", "estado_civil": "casada", "profissao": 42,
    });
    let taken = world.taken(&site, body).await;
    assert!(taken.get("warnings").is_none(), "{taken}");
    assert_eq!(taken["custom_fields_captured"], 0, "native fields are no custom fields");
    let id = text(&taken["contact_id"]);
    let one = world.listed(&id).await;
    for (field, value) in [
        ("name", "Ana"),
        ("email", "ana@example.com"),
        ("birthday", "1990-12-31"),
        ("cpf", "52998224725"),
        ("city", "Recife"),
        ("state", "PE"),
        ("postal_code", "50030230"),
        ("observation", "linha 1\nlinha 2"),
        ("rg", "1.234-5"),
        ("genero", "feminino"),
        ("estado_civil", "casada"),
        ("profissao", "42"),
    ] {
        assert_eq!(one[field], value, "{field}");
    }
    assert_eq!(one["custom_fields"], json!({}));
    assert!(definitions(&world).await.is_empty(), "none is made for a native field");
    assert_eq!(one["organization"]["cnpj"], "19131243000197");
    eventually("the registry was asked", || async {
        (world.listed(&id).await["organization"]["razao_social"] == "PADARIA LTDA").then_some(())
    })
    .await;
}

#[both_stores]
async fn an_invalid_native_value_is_skipped_with_a_warning(world: Intake) {
    let site = world.endpoint("site-leads", natives()).await;
    let bad = json!({
        "phone": mobile(1), "name": "Ana", "email": "not-an-email", "birthday": "31/12/1990",
        "cpf": "111.111.111-11", "city": "c".repeat(201), "state": "PE", "postal_code": "5003",
        "observation": "o".repeat(10_001), "cnpj": "19131243000198", "rg": "r".repeat(201),
        "profissao": "a\u{0}b", "estado_civil": "s\r\n",
    });
    let fields = [
        "birthday",
        "city",
        "cnpj",
        "cpf",
        "email",
        "observation",
        "postal_code",
        "profissao",
        "rg",
    ];
    let taken = world.taken(&site, bad.clone()).await;
    assert_eq!(taken["action"], "created");
    assert_warned(&taken, &fields);
    let id = text(&taken["contact_id"]);
    let one = world.listed(&id).await;
    assert_eq!((one["name"].as_str(), one["state"].as_str()), (Some("Ana"), Some("PE")));
    assert_eq!(one["estado_civil"], "s");
    for field in fields {
        let field = if field == "cnpj" { "organization" } else { field };
        assert_eq!(one[field], Value::Null, "{field}");
    }
    let good = json!({
        "phone": mobile(1), "email": "ana@example.com", "birthday": "1990-12-31",
        "cpf": "52998224725", "city": "Recife", "postal_code": "50030230",
    });
    assert!(world.taken(&site, good).await.get("warnings").is_none());
    let taken = world.taken(&site, bad).await;
    assert_eq!(taken["action"], "updated");
    assert_warned(&taken, &fields);
    let one = world.listed(&id).await;
    assert_eq!(one["email"], "ana@example.com", "what was stored stays");
    assert_eq!(one["city"], "Recife");
}

// Custom fields.

#[both_stores]
async fn a_slug_without_a_definition_makes_a_pending_one(world: Intake) {
    let mapping = with(plain(), json!({"plan": "$.plan", "origem-do-lead": "$.utm.source"}));
    let site = world.endpoint("site-leads", mapping).await;
    let body = json!({"phone": mobile(1), "plan": "gold", "utm": {"source": "ads"}});
    let taken = world.taken(&site, body.clone()).await;
    assert_eq!(taken["custom_fields_captured"], 2);
    let mut made = taken["new_pending_definitions"].as_array().expect("a list").clone();
    made.sort_by_key(|one| text(&one["slug"]));
    let slugs: Vec<String> = made.iter().map(|one| text(&one["slug"])).collect();
    assert_eq!(slugs, ["origem-do-lead", "plan"]);
    let answer = world.get("/api/v1/custom-fields").await;
    for one in &made {
        assert_eq!(keys(one), ["id", "slug"]);
        let listed = answer.items();
        let found = listed.iter().find(|each| each["id"] == one["id"]).expect("it is listed");
        assert_eq!(found["slug"], one["slug"]);
        assert_eq!(found["status"], "pending");
    }
    let id = text(&taken["contact_id"]);
    let stored = json!({"plan": "gold", "origem-do-lead": "ads"});
    assert_eq!(world.listed(&id).await["custom_fields"], stored);
    assert_eq!(world.detail(&id).await["custom_fields"], json!({}), "active ones only");
    let again = world.taken(&site, body).await;
    assert_eq!(again["new_pending_definitions"], json!([]));
    assert_eq!(definitions(&world).await.len(), 2);
}

#[both_stores]
async fn a_pending_definition_that_becomes_active_shows_what_was_captured(world: Intake) {
    let site = with_plan(&world).await;
    let taken = world.taken(&site, json!({"phone": mobile(1), "plan": "gold"})).await;
    let field = text(&taken["new_pending_definitions"][0]["id"]);
    let path = format!("C/custom-fields/{field}");
    world.operator("PATCH", &path, json!({"status": "active"})).await.expect(200);
    let id = text(&taken["contact_id"]);
    assert_eq!(world.detail(&id).await["custom_fields"], json!({&field: "gold"}));
    let taken = world.taken(&site, json!({"phone": mobile(1), "plan": "silver"})).await;
    assert_eq!(taken["custom_fields_captured"], 1);
    assert_eq!(taken["new_pending_definitions"], json!([]));
    assert_eq!(world.detail(&id).await["custom_fields"], json!({&field: "silver"}));
}

#[both_stores]
async fn definitions_belong_to_the_company_of_the_endpoint(world: Intake) {
    let theirs = world.neighbour("Other").await;
    let body = json!({"label": "plan", "slug": "plan"});
    world.make_for(&theirs, "C/custom-fields", body).await;
    let site = with_plan(&world).await;
    let taken = world.taken(&site, json!({"phone": mobile(1), "plan": "gold"})).await;
    assert_eq!(taken["new_pending_definitions"].as_array().map(Vec::len), Some(1));
    assert_eq!(definitions(&world).await, [("plan".to_owned(), "pending".to_owned())]);
    let answer = world.get_as(&theirs.key, "/api/v1/custom-fields").await;
    assert_eq!(answer.column("status"), ["active"]);
}
