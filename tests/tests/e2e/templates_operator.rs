//! Templates in the operator API: docs/operator-api.md; D3, D40, D48.

use recado_tests::hooks_in::dispatching;
use recado_tests::{Request, World, both_stores, text, unknown_id, with};
use serde_json::{Value, json};

fn ola() -> Value {
    json!({"name": "ola", "category": "MARKETING", "body": "Olá {{1}}"})
}

#[both_stores]
async fn a_template_gets_a_random_token_and_the_default_language(world: World) {
    let made = world.make("C/templates", ola()).await;
    let token = text(&made["token"]);
    assert_eq!(token.len(), 36, "{token}");
    assert_eq!(token.as_bytes()[14], b'4', "a UUID of version 4: {token}");
    assert!(b"89ab".contains(&token.as_bytes()[19]), "{token}");
    assert_eq!(made["language"], "pt_BR");
    assert_eq!(made["name"], "ola");
    assert_eq!(made["body"], "Olá {{1}}");
    assert_eq!(made["category"], "MARKETING");
    let one = format!("C/templates/{}", text(&made["id"]));
    let read = world.operator_get(&one).await;
    for name in ["id", "name", "body", "category", "language", "status"] {
        assert_eq!(read[name], made[name], "{name}");
    }
    assert_eq!(read.get("token"), None, "R223: it is shown once");
    let other = world.make("C/templates", with(ola(), json!({"name": "outra"}))).await;
    assert_ne!(other["token"], made["token"]);
    assert_eq!(world.operator_get("C/templates").await.as_array().expect("a list").len(), 2);
}

#[both_stores]
async fn auth_is_another_word_for_authentication(world: World) {
    for (n, (given, shown)) in [
        ("MARKETING", "MARKETING"),
        ("UTILITY", "UTILITY"),
        ("AUTHENTICATION", "AUTHENTICATION"),
        ("AUTH", "AUTHENTICATION"),
    ]
    .into_iter()
    .enumerate()
    {
        let body = with(ola(), json!({"category": given, "name": format!("t{n}")}));
        assert_eq!(world.make("C/templates", body).await["category"], shown);
    }
}

#[both_stores]
async fn a_status_is_given_and_changed(world: World) {
    for (n, status) in ["PENDING", "APPROVED", "REJECTED", "PAUSED"].into_iter().enumerate() {
        let body = with(ola(), json!({"status": status, "name": format!("t{n}")}));
        let made = world.make("C/templates", body).await;
        assert_eq!(made["status"], status);
        let one = format!("C/templates/{}", text(&made["id"]));
        let changed = world.operator("PATCH", &one, json!({"status": "APPROVED"})).await;
        assert_eq!(changed.expect(200)["status"], "APPROVED");
        let refused = world.operator("PATCH", &one, json!({"status": "LOVELY"})).await;
        assert_eq!(refused.expect_invalid(), ["status"]);
        assert_eq!(world.operator_get(&one).await["status"], "APPROVED");
    }
}

#[both_stores]
async fn what_is_missing_unknown_or_wrong_is_named(world: World) {
    let missing = world.operator("POST", "C/templates", json!({})).await;
    assert_eq!(missing.expect_invalid(), ["body", "category", "name"]);
    let wrong = with(ola(), json!({"category": "FUN", "status": "NICE", "nope": 1}));
    let wrong = world.operator("POST", "C/templates", wrong).await;
    assert_eq!(wrong.expect_invalid(), ["category", "nope", "status"]);
}

#[both_stores]
async fn a_template_may_belong_to_a_connection_of_ours_only(world: World) {
    let cloud = world.cloud().await;
    let made = world.make("C/templates", with(ola(), json!({"connection_id": cloud}))).await;
    assert_eq!(made["connection_id"], cloud.as_str());
    let other = world.tenant("Other").await;
    let theirs = world.connection_of(&other, "official_cloud", json!({})).await;
    for connection in [theirs, unknown_id()] {
        let body = with(ola(), json!({"connection_id": connection, "name": "b"}));
        let answer = world.operator("POST", "C/templates", body).await;
        assert!([404, 422].contains(&answer.status), "{}", answer.show());
    }
}

#[both_stores]
async fn a_template_is_deleted(world: World) {
    let one = format!("C/templates/{}", text(&world.make("C/templates", ola()).await["id"]));
    assert_eq!(world.operator("DELETE", &one, Value::Null).await.status, 200);
    world.operator("GET", &one, Value::Null).await.expect_error(404, "NOT_FOUND");
}

/// R223.
#[both_stores]
async fn a_token_is_replaced_and_the_old_one_is_unknown_at_once(world: World) {
    let features = json!({"features": {"template_dispatch": true}});
    world.operator("PATCH", &format!("/companies/{}", world.us.id), features).await.expect(200);
    let made = world.make("C/templates", ola()).await;
    let rotate = format!("C/templates/{}/rotate-token", text(&made["id"]));
    let rotated = world.operator("POST", &rotate, Value::Null).await.expect(200);
    assert_eq!(rotated["id"], made["id"]);
    // The template is not approved, which is judged after the token.
    for (token, code) in
        [(&made["token"], "TEMPLATE_NOT_FOUND"), (&rotated["token"], "INVALID_PAYLOAD")]
    {
        let call = Request::new("POST", dispatching(&text(token))).json(&json!({}));
        let answer = world.send(call).await;
        assert_eq!(answer.json()["code"], code, "{}", answer.show());
    }
    let surplus = world.operator("POST", &rotate, json!({"token": text(&made["token"])})).await;
    assert_eq!(surplus.expect_invalid(), ["token"]);
    let nobody = format!("C/templates/{}/rotate-token", unknown_id());
    world.operator("POST", &nobody, Value::Null).await.expect_error(404, "NOT_FOUND");
}
