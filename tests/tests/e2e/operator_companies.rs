//! The operator API itself, companies and keys: docs/operator-api.md; D10–D12, D70.

use recado_tests::{OPERATOR, Request, Tenant, World, both_stores, text, unknown_id};
use serde_json::{Value, json};

#[both_stores]
async fn a_wrong_or_missing_token_is_401(world: World) {
    let path = format!("/operator/v1/companies/{}/contacts", world.us.id);
    for path in [path.as_str(), "/operator/v1/companies", "/operator/v1/nothing"] {
        for request in [
            Request::new("GET", path),
            Request::new("GET", path).bearer("wrong"),
            Request::new("GET", path).bearer(&world.us.key),
            Request::new("GET", path).bearer(""),
            Request::new("GET", path).bearer(OPERATOR).bearer(OPERATOR),
            Request::new("GET", path).bearer(&OPERATOR[1..]),
            Request::new("GET", path).bearer(&format!("{OPERATOR}x")),
        ] {
            // A proxy may refuse two of one header itself.
            let answer = world.send(request.direct()).await;
            answer.expect_error(401, "UNAUTHORIZED");
            assert_eq!(answer.header("www-authenticate"), "Bearer");
        }
    }
}

#[both_stores]
async fn unknown_paths_and_methods_are_404_and_405(world: World) {
    for path in [
        "/operator/v1",
        "/operator/v1/",
        "/operator/v1/nothing",
        "/operator/v1/companies/x",
        "/operator/v2/companies",
    ] {
        let answer = world.send(Request::new("GET", path).bearer(OPERATOR)).await;
        answer.expect_error(404, "NOT_FOUND");
    }
    let answer = world.send(Request::new("PUT", "/operator/v1/companies").bearer(OPERATOR)).await;
    answer.expect_error(405, "METHOD_NOT_ALLOWED");
    assert!(answer.header("allow").contains("POST"));
}

#[both_stores]
async fn the_operator_needs_no_plan_and_has_no_rate(world: World) {
    world
        .operator("PATCH", &format!("/companies/{}", world.us.id), json!({"plan": "starter"}))
        .await
        .expect(200);
    for _ in 0..700 {
        world.operator("GET", "C/lists", Value::Null).await.expect(200);
    }
}

#[both_stores]
async fn a_company_has_its_documented_defaults(world: World) {
    let company =
        world.operator("POST", "/companies", json!({"name": "Padaria"})).await.expect(201);
    assert_eq!(company["name"], "Padaria");
    assert_eq!(company["plan"], "enterprise");
    assert_eq!(company["features"], json!({"inbound_contacts": false, "template_dispatch": false}));
    assert_eq!(company["default_region"], "BR", "D14");
    assert_eq!(company["time_zone"], "America/Sao_Paulo", "X16");
    let id = text(&company["id"]);
    assert_eq!(
        world.operator("GET", &format!("/companies/{id}"), Value::Null).await.expect(200),
        company
    );
    let all = world.operator("GET", "/companies", Value::Null).await;
    assert_eq!(all.ids().len(), 2);
    let abroad = json!({"name": "Pastelaria", "time_zone": "Europe/Lisbon"});
    let abroad = world.operator("POST", "/companies", abroad).await.expect(201);
    assert_eq!(abroad["time_zone"], "Europe/Lisbon", "X16");
}

#[both_stores]
async fn patch_changes_any_field_and_merges_features(world: World) {
    let path = format!("/companies/{}", world.us.id);
    world
        .operator("PATCH", &path, json!({"features": {"inbound_contacts": true}}))
        .await
        .expect(200);
    let company = world.operator("PATCH", &path, json!({
        "name": "Nova", "plan": "professional", "default_region": "PT", "features": {"template_dispatch": true},
    })).await.expect(200);
    assert_eq!(
        company["features"],
        json!({"inbound_contacts": true, "template_dispatch": true}),
        "D70"
    );
    assert_eq!(company["name"], "Nova");
    assert_eq!(company["plan"], "professional");
    assert_eq!(company["default_region"], "PT");
}

#[both_stores]
async fn every_wrong_field_of_a_company_is_named(world: World) {
    let answer = world
        .operator(
            "POST",
            "/companies",
            json!({
                "plan": "gold", "features": {"x": true}, "default_region": "XX", "nope": 1,
                "time_zone": "BRT",
            }),
        )
        .await;
    let wrong = ["default_region", "features", "name", "nope", "plan", "time_zone"];
    assert_eq!(answer.expect_invalid(), wrong);
    for features in [json!([]), json!({"inbound_contacts": "yes"})] {
        let answer =
            world.operator("POST", "/companies", json!({"name": "x", "features": features})).await;
        assert_eq!(answer.expect_invalid(), ["features"]);
    }
}

#[both_stores]
async fn records_under_an_unknown_company_are_404(world: World) {
    let nobody = Tenant { id: unknown_id(), key: String::new() };
    for (method, path, body) in [
        ("GET", "C/contacts", Value::Null),
        ("GET", "C/lists", Value::Null),
        ("GET", "C/keys", Value::Null),
        ("POST", "C/tags", json!({"name": "x", "color": "#111111"})),
        ("POST", "C/keys", json!({"name": "k", "scopes": ["contacts:read"]})),
        ("POST", "C/contacts", json!({"phone": "+5511987654321"})),
    ] {
        let answer = world.operator_for(&nobody, method, path, body).await;
        answer.expect_error(404, "NOT_FOUND");
    }
    let path = format!("/companies/{}", nobody.id);
    world.operator("GET", &path, Value::Null).await.expect_error(404, "NOT_FOUND");
    world.operator("PATCH", &path, json!({"name": "x"})).await.expect_error(404, "NOT_FOUND");
}

#[both_stores]
async fn bodies_that_are_no_json_object_are_400(world: World) {
    for body in ["", "[]", "{", "1", "\u{feff}{}"] {
        let request = Request::new("POST", "/operator/v1/companies").bearer(OPERATOR).body(body);
        world.send(request).await.expect_error(400, "INVALID_BODY");
    }
    let gzip = Request::new("POST", "/operator/v1/companies")
        .bearer(OPERATOR)
        .header("content-encoding", "gzip")
        .body("{}");
    world.send(gzip).await.expect_error(415, "UNSUPPORTED_MEDIA_TYPE");
}

#[both_stores]
async fn operator_bodies_may_have_16_mebibytes(world: World) {
    let body = |size: usize| {
        let mut body = json!({"name": "big"}).to_string().into_bytes();
        body.resize(size, b' ');
        Request::new("POST", "/operator/v1/companies").bearer(OPERATOR).body(body)
    };
    world.send(body(16 * 1024 * 1024)).await.expect(201);
    world.send(body(16 * 1024 * 1024 + 1)).await.expect_error(413, "PAYLOAD_TOO_LARGE");
}

// Keys

#[both_stores]
async fn keys_are_listed_with_their_scopes_and_rates(world: World) {
    let made = world.make("C/keys", json!({
        "name": "CRM", "scopes": ["contacts:read", "lead_memory:read"], "rate_per_minute": 30, "export_rate_per_minute": 5,
    })).await;
    assert_eq!(made["rate_per_minute"], 30);
    assert_eq!(made["export_rate_per_minute"], 5);
    let keys = world.operator("GET", "C/keys", Value::Null).await;
    let listed = keys.items().into_iter().find(|key| key["id"] == made["id"]).expect("listed");
    assert_eq!(listed["name"], "CRM");
    assert_eq!(listed["scopes"], json!(["contacts:read", "lead_memory:read"]));
    assert!(listed.get("key").is_none());
}

#[both_stores]
async fn every_wrong_field_of_a_key_is_named(world: World) {
    let answer = world.operator("POST", "C/keys", json!({"rate_per_minute": "x", "nope": 1})).await;
    assert_eq!(answer.expect_invalid(), ["name", "nope", "rate_per_minute", "scopes"]);
    for scopes in [json!("contacts:read"), json!(["contacts:delete"]), json!([1])] {
        let answer = world.operator("POST", "C/keys", json!({"name": "k", "scopes": scopes})).await;
        assert_eq!(answer.expect_invalid(), ["scopes"], "{scopes}");
    }
}

#[both_stores]
async fn a_change_of_scopes_holds_at_once(world: World) {
    let made = world.make("C/keys", json!({"name": "k", "scopes": ["contacts:write"]})).await;
    let key = text(&made["key"]);
    world.get_as(&key, "/api/v1/lists").await.expect_error(403, "INSUFFICIENT_SCOPE");
    let path = format!("C/keys/{}", text(&made["id"]));
    world.operator("PATCH", &path, json!({"scopes": ["contacts:read"]})).await.expect(200);
    world.get_as(&key, "/api/v1/lists").await.expect(200);
}

#[both_stores]
async fn members_default_to_agent(world: World) {
    assert_eq!(world.make("C/members", json!({"display_name": "Bia"})).await["role"], "agent");
    assert_eq!(
        world.make("C/members", json!({"display_name": "Leo", "role": "admin"})).await["role"],
        "admin"
    );
    let answer = world.operator("POST", "C/members", json!({"role": "boss"})).await;
    assert_eq!(answer.expect_invalid(), ["display_name", "role"]);
}
