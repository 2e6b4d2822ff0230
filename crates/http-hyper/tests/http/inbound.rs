//! Inbound endpoints: posting to them, and managing them.

use serde_json::{Value, json};

use crate::hooks::{Hooks, SECRET, from, refusal, secret};
use crate::site::{Reply, Site};

const INBOUND: &str = "/api/webhooks/incoming/leads";
const PERSON: &str = r#"{"telefone": "11 98765-4321", "nome": "Ana", "origem": "Indicação"}"#;

fn fields(reply: &Reply) -> Value {
    assert_eq!(reply.refusal(), refusal(422, "VALIDATION_ERROR"), "{}", reply.json());
    reply.json()["details"]["fields"].clone()
}

#[tokio::test]
async fn a_person_is_made_a_contact_and_then_brought_up_to_date() {
    let hooks = Hooks::new().await;
    let made = hooks.post(1, INBOUND, PERSON).await;
    assert_eq!(made.status, 200, "{}", made.json());
    let made = made.json();
    let mut names: Vec<&String> = made.as_object().expect("an object").keys().collect();
    names.sort();
    assert_eq!(
        names,
        ["action", "contact_id", "custom_fields_captured", "new_pending_definitions", "ok"]
    );
    assert_eq!((&made["ok"], &made["action"]), (&json!(true), &json!("created")));
    assert_eq!(made["custom_fields_captured"], 1);
    assert_eq!(made["new_pending_definitions"][0]["slug"], "origem");
    let contact = format!("/contacts/{}", made["contact_id"].as_str().expect("an id"));
    let read = hooks.site.api("GET", &contact, "").await.data();
    assert_eq!((&read["phone"], &read["name"]), (&json!("+5511987654321"), &json!("Ana")));

    let again = hooks.post(2, INBOUND, r#"{"telefone": "+5511987654321", "nome": "Bia"}"#).await;
    let again = again.json();
    assert_eq!((&again["action"], &again["contact_id"]), (&json!("updated"), &made["contact_id"]));
    assert_eq!(again["new_pending_definitions"], json!([]));
    assert_eq!(hooks.site.api("GET", &contact, "").await.data()["name"], "Bia");
}

#[tokio::test]
async fn warnings_stand_at_the_root_where_there_are_any() {
    let hooks = Hooks::new().await;
    let mapping = r#"{"variable_mapping": {"phone": "$.telefone", "email": "$.mail"}}"#;
    hooks.site.company("PATCH", &hooks.endpoint, mapping).await.data();
    let body = r#"{"telefone": "11987654321", "mail": "nowhere"}"#;
    let reply = hooks.post(1, INBOUND, body).await.json();
    assert_eq!(reply["ok"], true);
    let warning = &reply["warnings"][0];
    assert_eq!((&warning["code"], &warning["field"]), (&json!("INVALID_FIELD"), &json!("email")));
}

#[tokio::test]
async fn what_cannot_be_used_is_named() {
    let hooks = Hooks::new().await;
    for (body, code) in [
        ("", "INVALID_PAYLOAD"),
        ("{", "INVALID_PAYLOAD"),
        ("\u{feff}{}", "INVALID_PAYLOAD"),
        ("[]", "MISSING_PHONE"),
        (r#"{"telefone": "123"}"#, "MISSING_PHONE"),
        (r#"{"telefone": ["11987654321"]}"#, "MAPPING_FAILED"),
    ] {
        let reply = hooks.post(1, INBOUND, body).await;
        assert_eq!(reply.hook_refusal(), refusal(400, code), "{body}");
    }
}

#[tokio::test]
async fn only_the_one_right_secret_passes_and_a_public_endpoint_needs_none() {
    let hooks = Hooks::new().await;
    let ask = async |client: u8, headers: &str| {
        let headers = format!("{}{headers}", from(client));
        hooks.site.send("POST", INBOUND, &headers, PERSON.as_bytes()).await
    };
    for (client, headers) in [
        (1, String::new()),
        (2, "X-Service-Secret: \r\n".to_owned()),
        (3, format!("X-Service-Secret: {SECRET}x\r\n")),
        (4, format!("{0}{0}", secret())),
        (5, format!("Authorization: Bearer {SECRET}\r\n")),
    ] {
        let reply = ask(client, &headers).await;
        assert_eq!(reply.hook_refusal(), refusal(401, "INVALID_SECRET"), "{headers}");
        assert_eq!(reply.header("www-authenticate"), None);
    }
    assert_eq!(ask(6, &secret().to_lowercase()).await.status, 200);
    hooks.site.company("PATCH", &hooks.endpoint, r#"{"auth_mode":"public"}"#).await.data();
    for _ in 0..5 {
        assert_eq!(ask(7, "").await.status, 200);
    }
    assert_eq!(ask(7, "").await.hook_refusal(), refusal(429, "RATE_LIMITED"), "5 a minute");
}

#[tokio::test]
async fn the_allowance_of_an_endpoint_is_used_only_by_those_who_know_its_secret() {
    let hooks = Hooks::new().await;
    for n in 0..70 {
        let reply = hooks.site.send("POST", INBOUND, &from(100 + n / 7), b"{}").await;
        assert_eq!(reply.status, 401);
    }
    for n in 0..60 {
        assert_eq!(hooks.post(n / 10, INBOUND, PERSON).await.status, 200, "{n}");
    }
    let reply = hooks.post(50, INBOUND, PERSON).await;
    assert_eq!(reply.hook_refusal(), refusal(429, "RATE_LIMITED"));
    assert_eq!(reply.header("retry-after"), Some("1"));
}

#[tokio::test]
async fn an_endpoint_is_made_listed_read_changed_and_deleted() {
    let site = Site::new().await;
    let body = json!({"slug": "site", "variable_mapping": {"phone_number": "$.p"}});
    let made = site.company("POST", "/inbound-endpoints", &body.to_string()).await;
    assert_eq!(made.status, 201, "{}", made.json());
    let made = made.data();
    let secret = made["secret"].as_str().expect("a secret");
    assert!(secret.starts_with("ies_"), "{secret}");
    assert_eq!((&made["auth_mode"], &made["is_active"]), (&json!("secret_required"), &json!(true)));
    let at = format!("/inbound-endpoints/{}", made["id"].as_str().expect("an id"));
    let listed = site.company("GET", "/inbound-endpoints", "").await;
    let read = site.company("GET", &at, "").await;
    for reply in [&listed, &read] {
        let text = String::from_utf8(reply.body.clone()).expect("UTF-8");
        assert!(!text.contains(secret) && !text.contains(r#""secret":"#), "{text}");
    }
    assert_eq!(listed.data(), json!([read.data()]));

    let patch = json!({"slug": "other", "auth_mode": "public", "is_active": false});
    let changed = site.company("PATCH", &at, &patch.to_string()).await.data();
    for (name, value) in patch.as_object().expect("a patch") {
        assert_eq!(&changed[name], value);
    }
    let rotate = format!("{at}/rotate-secret");
    let rotated = site.company("POST", &rotate, "").await.data();
    assert_ne!(rotated["secret"], secret);
    let given = r#"{"secret":"chosen-by-somebody"}"#;
    assert_eq!(site.company("POST", &rotate, given).await.data()["secret"], "chosen-by-somebody");

    assert_eq!(site.company("DELETE", &at, "").await.json(), json!({"success": true}));
    for (method, path) in [("GET", &at), ("PATCH", &at), ("DELETE", &at), ("POST", &rotate)] {
        let reply = site.company(method, path, "{}").await;
        assert_eq!(reply.refusal(), refusal(404, "NOT_FOUND"), "{method} {path}");
    }
}

#[tokio::test]
async fn everything_that_is_wrong_with_an_endpoint_is_named() {
    let hooks = Hooks::new().await;
    let site = &hooks.site;
    let refused = async |body: Value| {
        fields(&site.company("POST", "/inbound-endpoints", &body.to_string()).await)
    };
    assert_eq!(refused(json!({})).await, json!(["slug", "variable_mapping"]));
    let wrong = json!({"slug": "X", "variable_mapping": {"phone": "p"}, "secret": "short", "x": 1});
    assert_eq!(refused(wrong).await, json!(["slug", "variable_mapping", "secret", "x"]));
    let patch = site.company("PATCH", &hooks.endpoint, r#"{"secret":"a-whole-new-secret"}"#).await;
    assert_eq!(fields(&patch), json!(["secret"]));
    // A slug is unique over all companies.
    let other = site.operator("POST", "/companies", r#"{"name":"B"}"#).await.data();
    let path = format!("/companies/{}/inbound-endpoints", other["id"].as_str().expect("an id"));
    let body = json!({"slug": "leads", "variable_mapping": {"phone": "$.p"}}).to_string();
    let reply = site.operator("POST", &path, &body).await;
    assert_eq!(reply.refusal(), refusal(409, "SLUG_TAKEN"));
    let id = hooks.endpoint.rsplit('/').next().expect("an id");
    let reply = site.operator("GET", &format!("{path}/{id}"), "").await;
    assert_eq!(reply.refusal(), refusal(404, "NOT_FOUND"), "another company's");
}
