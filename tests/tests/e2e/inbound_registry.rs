//! Endpoints in the operator API: docs/operator-api.md; D4–D8, D46a.

use recado_tests::backend::TestServer;
use recado_tests::hooks_in::{SECRET, incoming, plain};
use recado_tests::{
    Intake, Request, Setup, both_stores, keys, mobile, on_postgres, text, unknown_id, with,
};
use serde_json::{Value, json};

const ALL: &str = "C/inbound-endpoints";

fn site() -> Value {
    json!({"slug": "site-leads", "variable_mapping": plain()})
}

async fn register(world: &Intake, more: Value) -> recado_tests::ScriptedAnswer {
    world.operator("POST", ALL, with(site(), more)).await
}

#[both_stores]
async fn an_endpoint_needs_a_secret_and_is_active_unless_reported_otherwise(world: Intake) {
    let made = register(&world, json!({})).await.expect(201);
    assert_eq!(made["slug"], "site-leads");
    assert_eq!(made["variable_mapping"], plain());
    assert_eq!(made["auth_mode"], "secret_required");
    assert_eq!(made["is_active"], true);
    assert!(text(&made["secret"]).len() >= 32, "a secret that nobody guesses");
    let other = register(&world, json!({"slug": "other-leads"})).await.expect(201);
    assert_ne!(other["secret"], made["secret"]);
}

#[both_stores]
async fn the_secret_is_shown_once(world: Intake) {
    let given = "a-secret-of-our-own-choice";
    let made = register(&world, json!({})).await.expect(201);
    let chosen = json!({"slug": "other-leads", "secret": given});
    let chosen = register(&world, chosen).await.expect(201);
    assert_eq!(chosen["secret"], given);
    for endpoint in [&made, &chosen] {
        let one = format!("{ALL}/{}", text(&endpoint["id"]));
        let secret = text(&endpoint["secret"]);
        for (method, path, body) in [
            ("GET", one.as_str(), Value::Null),
            ("GET", ALL, Value::Null),
            ("PATCH", &one, json!({"is_active": false})),
            ("PATCH", &one, json!({"is_active": true})),
        ] {
            let answer = world.operator(method, path, body).await;
            answer.expect(200);
            assert!(!answer.show().contains(&secret), "{}", answer.show());
            assert!(!answer.show().contains("\"secret\""), "{}", answer.show());
        }
    }
    let shown = world.operator_get(&format!("{ALL}/{}", text(&made["id"]))).await;
    let mut expected = keys(&made);
    expected.retain(|key| key != "secret");
    assert_eq!(keys(&shown), expected);
}

#[both_stores]
async fn a_given_secret_opens_the_endpoint(world: Intake) {
    let given = "a-secret-of-our-own-choice";
    register(&world, json!({"secret": given})).await.expect(201);
    let request = Request::new("POST", incoming("site-leads")).header(SECRET, given);
    world.knock(request.json(&json!({"phone": mobile(1)}))).await.expect_ok();
}

#[both_stores]
async fn a_slug_is_taken_over_all_companies(world: Intake) {
    let theirs = world.neighbour("Other").await;
    let made = register(&world, json!({})).await.expect(201);
    register(&world, json!({})).await.expect_error(409, "SLUG_TAKEN");
    let answer = world.operator_for(&theirs, "POST", ALL, site()).await;
    answer.expect_error(409, "SLUG_TAKEN");
    assert!(!answer.show().contains(&text(&made["id"])), "it tells nothing of the other one");
    let other = register(&world, json!({"slug": "other-leads"})).await.expect(201);
    let path = format!("{ALL}/{}", text(&other["id"]));
    let answer = world.operator("PATCH", &path, json!({"slug": "site-leads"})).await;
    answer.expect_error(409, "SLUG_TAKEN");
    world.operator("PATCH", &path, json!({"slug": "other-leads"})).await.expect(200);
    let path = format!("{ALL}/{}", text(&made["id"]));
    assert_eq!(world.operator("DELETE", &path, Value::Null).await.status, 200);
    world.make_for(&theirs, ALL, site()).await;
}

#[both_stores]
async fn everything_that_is_wrong_is_named_at_once(world: Intake) {
    let missing = world.operator("POST", ALL, json!({})).await;
    assert_eq!(missing.expect_invalid(), ["slug", "variable_mapping"]);
    let wrong = json!({
        "slug": "No", "variable_mapping": {}, "auth_mode": "open", "is_active": "yes", "more": 1,
    });
    let wrong = world.operator("POST", ALL, wrong).await;
    let expected = ["auth_mode", "is_active", "more", "slug", "variable_mapping"];
    assert_eq!(wrong.expect_invalid(), expected);
    let made = register(&world, json!({})).await.expect(201);
    let path = format!("{ALL}/{}", text(&made["id"]));
    let wrong = json!({"auth_mode": "", "is_active": null, "id": unknown_id()});
    let wrong = world.operator("PATCH", &path, wrong).await;
    assert_eq!(wrong.expect_invalid(), ["auth_mode", "id", "is_active"]);
    let shown = world.operator_get(&path).await;
    assert_eq!(shown["auth_mode"], "secret_required");
    assert_eq!(shown["is_active"], true);
}

#[both_stores]
async fn an_endpoint_can_be_made_inactive_and_public(world: Intake) {
    let more = json!({"auth_mode": "public", "is_active": false});
    let made = register(&world, more).await.expect(201);
    assert_eq!(made["auth_mode"], "public");
    assert_eq!(made["is_active"], false);
    let request = Request::new("POST", incoming("site-leads")).json(&json!({}));
    world.knock(request).await.expect_hook_error(410, "ENDPOINT_INACTIVE");
}

#[both_stores]
async fn endpoints_are_listed_by_creation_and_deleted(world: Intake) {
    let mut ids = Vec::new();
    for slug in ["ccc", "aaa", "bbb"] {
        ids.push(world.endpoint(slug, plain()).await.id);
        world.advance(std::time::Duration::from_millis(1));
    }
    assert_eq!(world.operator("GET", ALL, Value::Null).await.ids(), ids);
    let path = format!("{ALL}/{}", ids[1]);
    assert_eq!(world.operator("DELETE", &path, Value::Null).await.status, 200);
    world.operator("GET", &path, Value::Null).await.expect_error(404, "NOT_FOUND");
    world.operator("DELETE", &path, Value::Null).await.expect_error(404, "NOT_FOUND");
    assert_eq!(world.operator("GET", ALL, Value::Null).await.ids(), [&*ids[0], &ids[2]]);
}

#[both_stores]
async fn an_endpoint_of_another_company_is_not_there(world: Intake) {
    let theirs = world.neighbour("Other").await;
    let endpoint = world.endpoint_of(&theirs, "their-leads", plain(), json!({})).await;
    assert!(world.operator("GET", ALL, Value::Null).await.ids().is_empty());
    let path = format!("{ALL}/{}", endpoint.id);
    for (method, path, body) in [
        ("GET", path.clone(), Value::Null),
        ("PATCH", path.clone(), json!({"is_active": false})),
        ("DELETE", path.clone(), Value::Null),
        ("POST", format!("{path}/rotate-secret"), json!({})),
    ] {
        world.operator(method, &path, body).await.expect_error(404, "NOT_FOUND");
    }
    world.taken(&endpoint, json!({"phone": mobile(1)})).await;
    assert!(world.list_ids("").await.is_empty());
    let listed = world.get_as(&theirs.key, "/api/v1/contacts").await;
    assert_eq!(listed.items().len(), 1);
}

#[both_stores]
async fn only_the_operator_manages_endpoints(world: Intake) {
    let path = format!("/operator/v1/companies/{}/inbound-endpoints", world.us.id);
    for request in [Request::new("GET", &path), Request::new("GET", &path).bearer(&world.us.key)] {
        world.send(request).await.expect_error(401, "UNAUTHORIZED");
    }
}

#[on_postgres]
async fn what_changes_at_one_process_holds_at_the_other_at_once(world: Intake) {
    let setup = Setup {
        clock: Some(world.server.clock.clone()),
        trusted_proxies: &["127.0.0.0/8"],
        ..Setup::default()
    };
    let second = TestServer::start(&world.database, setup).await;
    let site = world.endpoint("site-leads", plain()).await;
    let there = |secret: String| {
        let from = recado_tests::hooks_in::unknown_client();
        let request = Request::new("POST", site.path()).header(SECRET, secret);
        let request = request.header(recado_tests::hooks_in::FORWARDED, from);
        request.json(&json!({"phone": mobile(1), "tel": mobile(2)})).send(second.addr)
    };
    assert_eq!(there(site.secret.clone()).await.expect_ok()["action"], "created");
    let path = format!("{ALL}/{}", site.id);
    let rotated = world.operator("POST", &format!("{path}/rotate-secret"), json!({})).await;
    let new = text(&rotated.expect(200)["secret"]);
    there(site.secret.clone()).await.expect_hook_error(401, "INVALID_SECRET");
    world.change_endpoint(&site, json!({"variable_mapping": {"phone": "$.tel"}})).await;
    assert_eq!(there(new.clone()).await.expect_ok()["action"], "created");
    world.change_endpoint(&site, json!({"is_active": false})).await;
    there(new.clone()).await.expect_hook_error(410, "ENDPOINT_INACTIVE");
    world.features(&world.us, false, false).await;
    there(new.clone()).await.expect_hook_error(403, "FEATURE_DISABLED");
    world.operator("DELETE", &path, Value::Null).await;
    there(new).await.expect_hook_error(404, "ENDPOINT_NOT_FOUND");
}
