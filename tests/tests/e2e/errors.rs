//! The form of errors and the codes: 7; D4, D5.

use recado_tests::{Request, World, both_stores, phone, unknown_id};
use serde_json::json;

fn keys(answer: &recado_tests::ScriptedAnswer) -> Vec<String> {
    let mut keys: Vec<String> =
        answer.json().as_object().expect("an object").keys().cloned().collect();
    keys.sort();
    keys
}

/// D4.
#[both_stores]
async fn an_error_without_details_has_exactly_success_code_and_message(world: World) {
    for answer in [
        world.get("/api/v1/nothing").await,
        world.get(&format!("/api/v1/contacts/{}", unknown_id())).await,
        world.send(Request::new("GET", "/api/v1/contacts")).await,
    ] {
        assert_eq!(keys(&answer), ["code", "message", "success"], "{}", answer.show());
    }
}

#[both_stores]
async fn contact_exists_carries_contact_id_at_the_root(world: World) {
    let contact = world.create(json!({"phone": phone(1)})).await;
    let answer = world.post_contact(json!({"phone": phone(1)})).await;
    answer.expect_error(409, "CONTACT_EXISTS");
    assert_eq!(keys(&answer), ["code", "contact_id", "message", "success"]);
    assert_eq!(answer.json()["contact_id"], contact["id"]);
}

#[both_stores]
async fn every_answer_has_a_request_id(world: World) {
    for answer in [
        world.get("/api/v1/contacts").await,
        world.get("/api/v1/nothing").await,
        world.send(Request::new("GET", "/healthz")).await,
        world.send(Request::new("GET", "/nothing")).await,
    ] {
        assert!(!answer.header("x-request-id").is_empty(), "{}", answer.show());
    }
}

#[both_stores]
async fn a_request_id_of_the_caller_is_kept_when_it_is_sane(world: World) {
    let request = Request::new("GET", "/api/v1/contacts").header("x-request-id", "abc-123_X.9");
    assert_eq!(world.call(request).await.header("x-request-id"), "abc-123_X.9");
    let long = "x".repeat(10_000);
    let request = Request::new("GET", "/api/v1/contacts").header("x-request-id", long.clone());
    assert_ne!(world.call(request).await.header("x-request-id"), long);
}

#[both_stores]
async fn successes_have_success_true_and_json_content_type(world: World) {
    world.create(json!({"phone": phone(1)})).await;
    for path in [
        "/api/v1/contacts",
        "/api/v1/contacts?order_by=created_at",
        "/api/v1/lists",
        "/api/v1/custom-fields",
    ] {
        world.get(path).await.expect(200);
    }
}

#[both_stores]
async fn the_error_form_is_the_same_for_head_without_its_body(world: World) {
    let answer = world.call(Request::new("HEAD", "/api/v1/nothing")).await;
    assert_eq!(answer.status, 404);
    assert!(answer.body.is_empty());
}
