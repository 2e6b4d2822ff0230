//! Who may post to an inbound endpoint, and the order of the checks: 4.9, 5, 7.2; D4, D8a, D13.

use recado_tests::hooks_in::{SECRET, incoming, plain};
use recado_tests::{Intake, Request, both_stores, keys, mobile, text, unknown_id};
use serde_json::{Value, json};

const WRONG: &str = "not-the-secret-at-all-0000";

fn ana() -> Value {
    json!({"phone": mobile(1), "name": "Ana"})
}

#[both_stores]
async fn a_call_makes_a_contact_and_the_next_one_updates_it(world: Intake) {
    let site = world.endpoint("site-leads", plain()).await;
    let first = world.taken(&site, ana()).await;
    assert_eq!(
        keys(&first),
        ["action", "contact_id", "custom_fields_captured", "new_pending_definitions", "ok"]
    );
    assert_eq!(first["action"], "created");
    assert_eq!(first["custom_fields_captured"], 0);
    assert_eq!(first["new_pending_definitions"], json!([]));
    let id = text(&first["contact_id"]);
    let shown = world.detail(&id).await;
    assert_eq!(shown["phone"], mobile(1));
    assert_eq!(shown["name"], "Ana");
    let again = world.taken(&site, json!({"phone": mobile(1), "name": "Bia"})).await;
    assert_eq!(again["action"], "updated");
    assert_eq!(again["contact_id"], id.as_str());
    assert_eq!(world.detail(&id).await["name"], "Bia");
    assert_eq!(world.list_ids("").await, [id]);
}

#[both_stores]
async fn an_unknown_slug_is_404(world: Intake) {
    let site = world.endpoint("site-leads", plain()).await;
    for slug in ["site-lead", "site-leadsx", "Site-Leads", "x", "site_leads", "%73ite-lead", "ç"] {
        let request = Request::new("POST", incoming(&slug.replace('ç', "%C3%A7")));
        let answer = world.knock(request.header(SECRET, &site.secret).json(&ana())).await;
        answer.expect_hook_error(404, "ENDPOINT_NOT_FOUND");
    }
    let path = format!("C/inbound-endpoints/{}", site.id);
    assert_eq!(world.operator("DELETE", &path, Value::Null).await.status, 200);
    world.hand_in(&site, &ana()).await.expect_hook_error(404, "ENDPOINT_NOT_FOUND");
    assert!(world.list_ids("").await.is_empty());
}

#[both_stores]
async fn without_the_feature_every_call_is_403(world: Intake) {
    let site = world.endpoint("site-leads", plain()).await;
    let open = world.public("site-open").await;
    let off = world.endpoint("site-off", plain()).await;
    world.change_endpoint(&off, json!({"is_active": false})).await;
    world.features(&world.us, false, true).await;
    for endpoint in [&site, &open, &off] {
        let answer = world.hand_in(endpoint, &ana()).await;
        answer.expect_hook_error(403, "FEATURE_DISABLED");
        let answer = world.knock(Request::new("POST", endpoint.path()).body("{")).await;
        answer.expect_hook_error(403, "FEATURE_DISABLED");
    }
    assert!(world.list_ids("").await.is_empty());
    world.features(&world.us, true, false).await;
    world.taken(&site, ana()).await;
}

#[both_stores]
async fn a_company_begins_without_the_feature(world: Intake) {
    let other = world.tenant("Other").await;
    let site = world.endpoint_of(&other, "other-leads", plain(), json!({})).await;
    world.hand_in(&site, &ana()).await.expect_hook_error(403, "FEATURE_DISABLED");
}

/// The plan does not matter (9, D10).
#[both_stores]
async fn the_plan_of_the_company_does_not_matter(world: Intake) {
    let site = world.endpoint("site-leads", plain()).await;
    let path = format!("/companies/{}", world.us.id);
    world.operator("PATCH", &path, json!({"plan": "starter"})).await.expect(200);
    world.taken(&site, ana()).await;
}

#[both_stores]
async fn a_deactivated_endpoint_is_410_until_it_is_active_again(world: Intake) {
    let site = world.endpoint("site-leads", plain()).await;
    world.change_endpoint(&site, json!({"is_active": false})).await;
    world.hand_in(&site, &ana()).await.expect_hook_error(410, "ENDPOINT_INACTIVE");
    let unknown_client = world.knock(Request::new("POST", site.path()).json(&ana())).await;
    unknown_client.expect_hook_error(410, "ENDPOINT_INACTIVE");
    world.change_endpoint(&site, json!({"is_active": true})).await;
    world.taken(&site, ana()).await;
}

#[both_stores]
async fn a_missing_or_wrong_secret_is_401(world: Intake) {
    let site = world.endpoint("site-leads", plain()).await;
    let other = world.endpoint("other-leads", plain()).await;
    let none = world.knock(Request::new("POST", site.path()).json(&ana())).await;
    none.expect_hook_error(401, "INVALID_SECRET");
    let longer = format!("{}x", site.secret);
    let shorter = &site.secret[..site.secret.len() - 1];
    let swapped: String =
        site.secret
            .chars()
            .map(|c| {
                if c.is_ascii_lowercase() { c.to_ascii_uppercase() } else { c.to_ascii_lowercase() }
            })
            .collect();
    for secret in [WRONG, "", &longer, shorter, &swapped, &other.secret, "Bearer"] {
        let request = Request::new("POST", site.path()).header(SECRET, secret).json(&ana());
        world.knock(request).await.expect_hook_error(401, "INVALID_SECRET");
    }
    let bearer = Request::new("POST", site.path()).bearer(&site.secret).json(&ana());
    world.knock(bearer).await.expect_hook_error(401, "INVALID_SECRET");
    let key = Request::new("POST", site.path()).bearer(&world.us.key).json(&ana());
    world.knock(key).await.expect_hook_error(401, "INVALID_SECRET");
    assert!(world.list_ids("").await.is_empty());
}

#[both_stores]
async fn a_public_endpoint_needs_no_secret_and_minds_none(world: Intake) {
    let open = world.public("site-open").await;
    let bare = world.knock(Request::new("POST", open.path()).json(&ana())).await;
    assert_eq!(bare.expect_ok()["action"], "created");
    let wrong = Request::new("POST", open.path()).header(SECRET, WRONG).json(&ana());
    assert_eq!(world.knock(wrong).await.expect_ok()["action"], "updated");
}

#[both_stores]
async fn the_content_type_is_not_looked_at(world: Intake) {
    let site = world.endpoint("site-leads", plain()).await;
    world.hand_in_bytes(&site, ana().to_string()).await.expect_ok();
    for kind in ["text/plain", "application/x-www-form-urlencoded", "nonsense"] {
        let request = site.request().header("content-type", kind).body(ana().to_string());
        world.knock(request).await.expect_ok();
    }
}

#[both_stores]
async fn other_methods_are_405_and_say_which_is_allowed(world: Intake) {
    let site = world.endpoint("site-leads", plain()).await;
    let token = world.token("ola", "UTILITY", "Olá").await;
    for path in [
        site.path(),
        incoming("nobody-has-this"),
        recado_tests::hooks_in::dispatching(&token),
        recado_tests::hooks_in::dispatching(&unknown_id()),
    ] {
        for method in ["GET", "PUT", "PATCH", "DELETE", "OPTIONS"] {
            let request = Request::new(method, &path).header(SECRET, &site.secret);
            let answer = world.knock(request).await;
            answer.expect_hook_error(405, "METHOD_NOT_ALLOWED");
            assert_eq!(answer.header("allow"), "POST", "{}", answer.show());
        }
        let head = world.knock(Request::new("HEAD", &path)).await;
        assert_eq!(head.status, 405);
        assert_eq!(head.header("allow"), "POST");
        assert!(head.body.is_empty());
    }
    assert!(world.list_ids("").await.is_empty());
}

#[both_stores]
async fn an_api_key_is_neither_needed_nor_charged(world: Intake) {
    let site = world.endpoint("site-leads", plain()).await;
    let request = site.request().bearer("rk_nonsense").json(&ana());
    world.knock(request).await.expect_ok();
}
