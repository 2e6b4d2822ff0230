//! Template dispatch by its token, and template sends by key.

use std::time::Duration;

use serde_json::{Value, json};

use crate::hooks::{Hooks, refusal};

const ANA: &str = r#"{"phone_number":"11 98765-4321","variables":{"1":"Ana","2":"7"}}"#;

/// The texts that went out.
async fn sent(hooks: &Hooks) -> Vec<String> {
    let listed = hooks.site.api("GET", "/messages", "").await.data();
    let listed = listed.as_array().expect("a list").iter().rev();
    listed.map(|message| message["content"].as_str().expect("a text").to_owned()).collect()
}

#[tokio::test]
async fn a_dispatch_comes_in_the_body_or_in_the_query() {
    let hooks = Hooks::new().await;
    let made = hooks.post(1, &hooks.dispatch, ANA).await;
    assert_eq!(made.status, 200, "{}", made.json());
    let made = made.json();
    let mut names: Vec<&String> = made.as_object().expect("an object").keys().collect();
    names.sort();
    assert_eq!(names, ["action", "contact_id", "message_id", "ok", "wamid"]);
    assert_eq!((&made["ok"], &made["action"]), (&json!(true), &json!("created")));
    assert_eq!(made["wamid"], "fake.1");

    for (query, body) in [
        ("?phone=11987654321&v1=Ana&v2=8", ""),
        ("?phone_number=%2B55%2011%2098765-4321&v1=Jo%C3%A3o&v2=9", "no json"),
        ("?phone=11987654321&v1=x&utm=%ff&utm=2&vx=%ff", r#"{"variables":{"1":"Bia","2":"10"}}"#),
    ] {
        let reply = hooks.post(1, &format!("{}{query}", hooks.dispatch), body).await;
        assert_eq!(reply.status, 200, "{query}: {}", reply.json());
        assert_eq!(reply.json()["action"], "existing");
    }
    assert_eq!(
        sent(&hooks).await,
        ["Olá Ana, pedido 7.", "Olá Ana, pedido 8.", "Olá João, pedido 9.", "Olá Bia, pedido 10."]
    );
    let upper = hooks.dispatch.to_uppercase().replace("/API/WEBHOOKS/TEMPLATE-DISPATCH", "");
    let path = format!("/api/webhooks/template-dispatch{upper}?phone=11987654321&v1=A&v2=B");
    assert_eq!(hooks.post(1, &path, "").await.status, 200, "a token matches without case");
}

#[tokio::test]
async fn what_cannot_be_used_is_refused_and_nothing_sent() {
    let hooks = Hooks::new().await;
    for (query, body, code) in [
        ("", "[]", "INVALID_PAYLOAD"),
        ("", "\u{feff}{}", "INVALID_PAYLOAD"),
        ("?phone=%ff", ANA, "INVALID_PAYLOAD"),
        ("?v2=%ff", ANA, "INVALID_PAYLOAD"),
        ("?v999=%c3%28", ANA, "INVALID_PAYLOAD"),
        ("?phone=11987654321&phone=11987654321&v1=a&v2=b", "", "INVALID_PAYLOAD"),
        ("?v1=%7B%7Bnome%7D%7D&v2=b&phone=x", "", "INVALID_PAYLOAD"),
        ("?v1=a&phone=11987654321", "", "INVALID_PAYLOAD"),
        ("?v1=a&v2=b", "", "MISSING_PHONE"),
        ("?v1=a&v2=b&phone=%2B12025550123", "", "INVALID_PHONE"),
    ] {
        // Each call from a client of its own.
        hooks.site.kit.clock.advance(Duration::from_secs(60));
        let reply = hooks.post(1, &format!("{}{query}", hooks.dispatch), body).await;
        assert_eq!(reply.hook_refusal(), refusal(400, code), "{query} {body}");
    }
    let path = format!("/templates/{}", hooks.template);
    hooks.site.company("PATCH", &path, r#"{"status":"PAUSED"}"#).await.data();
    let reply = hooks.post(2, &hooks.dispatch, ANA).await;
    assert_eq!(reply.hook_refusal(), refusal(403, "TEMPLATE_NOT_APPROVED"));
    assert!(hooks.site.kit.provider.sent().is_empty());
}

#[tokio::test]
async fn the_same_again_is_409_with_what_exists() {
    let hooks = Hooks::new().await;
    let first = hooks.post(1, &hooks.dispatch, ANA).await.json();
    let reply = hooks.post(2, &hooks.dispatch, ANA).await;
    assert_eq!(reply.hook_refusal(), refusal(409, "DUPLICATE_SEND"));
    let existing = reply.json()["existing"].clone();
    assert_eq!(existing["message_id"], first["message_id"]);
    assert!(existing["sent_at"].is_string() && existing["next_eligible_at"].is_string());
    hooks.site.kit.clock.advance(Duration::from_secs(600));
    assert_eq!(hooks.post(1, &hooks.dispatch, ANA).await.status, 200);
}

#[tokio::test]
async fn a_template_is_sent_by_key_and_repeated_calls_send_it_once() {
    let hooks = Hooks::new().await;
    let body = json!({"to": "+5511987654321", "template": "boas_vindas",
        "variables": {"1": "Ana", "2": "7"}})
    .to_string();
    let headers = format!("{}Idempotency-Key: abc\r\n", hooks.site.bearer());
    let ask =
        async || hooks.site.send("POST", "/api/v1/send/template", &headers, body.as_bytes()).await;
    let first = ask().await;
    assert_eq!(first.status, 200, "{}", first.json());
    assert_eq!(first.data()["template_id"], json!(hooks.template));
    assert!(first.data()["message_id"].is_string() && first.data()["contact_id"].is_string());
    let again = ask().await;
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    assert_eq!(again.json(), first.json());
    assert_eq!(hooks.site.kit.provider.sent().len(), 1);
    // There is no window here.
    assert_eq!(hooks.site.api("POST", "/send/template", &body).await.status, 200);
    assert_eq!(hooks.site.kit.provider.sent().len(), 2);
}

#[tokio::test]
async fn a_template_send_names_what_is_wrong() {
    let hooks = Hooks::new().await;
    let ask = async |change: Value| {
        let mut body = json!({"to": "+5511987654321", "template": "boas_vindas",
            "variables": {"1": "Ana", "2": "7"}});
        for (name, value) in change.as_object().expect("fields") {
            body[name] = value.clone();
        }
        hooks.site.api("POST", "/send/template", &body.to_string()).await.refusal()
    };
    assert_eq!(ask(json!({"to": null})).await, refusal(400, "MISSING_FIELD"));
    assert_eq!(ask(json!({"x": 1})).await, refusal(422, "VALIDATION_ERROR"));
    assert_eq!(ask(json!({"to": "123"})).await, refusal(400, "INVALID_PHONE"));
    let nobody = "01939b5e-0000-7000-8000-00000000dead";
    assert_eq!(ask(json!({"connection_id": nobody})).await, refusal(404, "NOT_FOUND"));
    assert_eq!(ask(json!({"template": "nothing"})).await, refusal(404, "TEMPLATE_NOT_FOUND"));
    assert_eq!(ask(json!({"variables": {"1": "a"}})).await, refusal(422, "VALIDATION_ERROR"));
    assert!(hooks.site.kit.provider.sent().is_empty());
}
