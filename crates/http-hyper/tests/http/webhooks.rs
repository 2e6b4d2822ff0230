//! The operator API's webhooks and deliveries.

use recado_core::transport::OutboundResponse;
use serde_json::{Value, json};

use crate::site::{Reply, Site};

const URL: &str = "https://example.com/hook";
const NOBODY: &str = "01939b5e-0000-7000-8000-00000000dead";

fn id(record: &Value) -> &str {
    record["id"].as_str().expect("an id")
}

async fn registered(site: &Site, body: Value) -> Value {
    let reply = site.company("POST", "/webhooks", &body.to_string()).await;
    assert_eq!(reply.status, 201, "{}", reply.json());
    reply.data()
}

async fn webhook(site: &Site) -> String {
    let made = registered(site, json!({"url": URL, "events": ["*"]})).await;
    format!("/webhooks/{}", id(&made))
}

async fn act(site: &Site, at: &str, action: &str) -> Reply {
    site.company("POST", &format!("{at}/{action}"), "").await
}

/// The path of a test delivery.
async fn tested(site: &Site, webhook: &str) -> String {
    let reply = act(site, webhook, "test").await;
    assert_eq!(reply.status, 200, "{}", reply.json());
    format!("/deliveries/{}", id(&reply.data()))
}

/// Sets the status that receivers answer from now on.
fn receivers_answer(site: &Site, status: u16) {
    site.kit.transport.otherwise(Ok(OutboundResponse::new(status, b"Obrigado".to_vec())));
}

fn refusal(status: u16, code: &str) -> (u16, String) {
    (status, code.to_owned())
}

fn fields(reply: &Reply) -> Value {
    assert_eq!(reply.refusal(), refusal(422, "VALIDATION_ERROR"), "{}", reply.json());
    reply.json()["details"]["fields"].clone()
}

#[tokio::test]
async fn a_webhook_is_registered_listed_read_changed_and_deleted() {
    let site = Site::new().await;
    let made = registered(
        &site,
        json!({"url": URL, "events": ["message.sent", "contact.created", "message.sent"]}),
    )
    .await;
    assert_eq!(made["url"], URL);
    assert_eq!(made["events"], json!(["contact.created", "message.sent"]));
    assert_eq!((&made["is_active"], &made["standard_headers"]), (&json!(true), &json!(false)));
    let at = format!("/webhooks/{}", id(&made));
    let listed = site.company("GET", "/webhooks", "").await.data();
    assert_eq!(listed, json!([site.company("GET", &at, "").await.data()]));

    let patch = json!({"events": ["*"], "is_active": false, "standard_headers": true});
    let changed = site.company("PATCH", &at, &patch.to_string()).await.data();
    for (name, value) in patch.as_object().expect("a patch") {
        assert_eq!(&changed[name], value);
    }
    assert_eq!(changed["url"], URL);
    assert_eq!(site.company("GET", &at, "").await.data(), changed);

    assert_eq!(site.company("DELETE", &at, "").await.json(), json!({"success": true}));
    assert_eq!(site.company("GET", "/webhooks", "").await.data(), json!([]));
    for (method, path) in [
        ("GET", at.clone()),
        ("PATCH", at.clone()),
        ("DELETE", at.clone()),
        ("POST", format!("{at}/rotate-secret")),
        ("POST", format!("{at}/test")),
    ] {
        let reply = site.company(method, &path, "{}").await;
        assert_eq!(reply.refusal(), refusal(404, "NOT_FOUND"), "{method} {path}");
    }
}

#[tokio::test]
async fn a_secret_is_shown_once_when_it_is_made_and_once_when_it_is_rotated() {
    let site = Site::new().await;
    let given = "a secret of somebody else's";
    let made = registered(&site, json!({"url": URL, "events": ["*"], "secret": given})).await;
    assert_eq!(made["secret"], given);
    let own = registered(&site, json!({"url": URL, "events": ["*"]})).await;
    let own_secret = own["secret"].as_str().expect("a secret").to_owned();
    assert!(own_secret.starts_with("whsec_") && own_secret.len() == 49, "{own_secret}");

    let at = format!("/webhooks/{}", id(&own));
    let mut secrets = vec![given.to_owned(), own_secret];
    for body in ["", "{}", r#"{"secret": "another one, chosen by us"}"#] {
        let path = format!("{at}/rotate-secret");
        let rotated = site.company("POST", &path, body).await;
        assert_eq!(rotated.status, 200, "{}", rotated.json());
        let secret = rotated.data()["secret"].as_str().expect("a secret").to_owned();
        assert!(!secrets.contains(&secret), "a new one");
        assert!(rotated.data()["previous_secret_until"].is_string());
        secrets.push(secret);
    }
    assert_eq!(secrets.last().map(String::as_str), Some("another one, chosen by us"));

    let delivery = tested(&site, &at).await;
    receivers_answer(&site, 200);
    site.kit.app.deliveries().drain().await;
    for (method, path, body) in [
        ("GET", "/webhooks", ""),
        ("GET", &at, ""),
        ("PATCH", &at, r#"{"is_active": true}"#),
        ("POST", &format!("{at}/test"), ""),
        ("GET", "/deliveries", ""),
        ("GET", &delivery, ""),
        ("POST", &format!("{delivery}/redeliver"), ""),
        ("DELETE", &at, ""),
    ] {
        let reply = site.company(method, path, body).await;
        assert_eq!(reply.status, 200, "{method} {path}: {}", reply.json());
        let text = String::from_utf8(reply.body).expect("UTF-8");
        assert!(!secrets.iter().any(|secret| text.contains(secret)), "{method} {path}: {text}");
        assert!(!text.contains(r#""secret":"#), "{method} {path}: {text}");
    }
}

#[tokio::test]
async fn everything_that_is_wrong_with_a_webhook_is_named() {
    let site = Site::new().await;
    let refused =
        async |body: Value| fields(&site.company("POST", "/webhooks", &body.to_string()).await);
    assert_eq!(refused(json!({})).await, json!(["url", "events"]));
    let wrong = json!({"url": "ftp://example.com", "events": [], "secret": "short",
        "is_active": 1, "standard_headers": "no", "name": "x"});
    let named = refused(wrong).await;
    assert_eq!(named.as_array().map(Vec::len), Some(6), "{named}");
    for events in [json!("*"), json!(["message.read"]), json!(["webhook.test"])] {
        assert_eq!(refused(json!({"url": URL, "events": events})).await, json!(["events"]));
    }
    let at = webhook(&site).await;
    let patch = async |body: Value| fields(&site.company("PATCH", &at, &body.to_string()).await);
    assert_eq!(patch(json!({"secret": "a whole new secret"})).await, json!(["secret"]));
    assert_eq!(patch(json!({"url": null})).await, json!(["url"]));
    let rotate = format!("{at}/rotate-secret");
    for body in [json!({"secret": "short"}), json!({"secret": 1})] {
        let reply = site.company("POST", &rotate, &body.to_string()).await;
        assert_eq!(fields(&reply), json!(["secret"]));
    }
    assert_eq!(fields(&site.company("POST", &rotate, r#"{"x":1}"#).await), json!(["x"]));
    let reply = site.company("POST", &rotate, "[]").await;
    assert_eq!(reply.refusal(), refusal(400, "INVALID_BODY"));
    let reply = site.company("POST", "/webhooks", "").await;
    assert_eq!(reply.refusal(), refusal(400, "INVALID_BODY"));
}

#[tokio::test]
async fn an_address_that_must_not_be_called_or_does_not_resolve_is_refused() {
    let site = Site::new().await;
    let at = webhook(&site).await;
    site.kit.transport.forbid("10.0.0.1").unname("nowhere.example");
    for url in ["http://10.0.0.1/", "https://nowhere.example/"] {
        let body = json!({"url": url, "events": ["*"]}).to_string();
        assert_eq!(fields(&site.company("POST", "/webhooks", &body).await), json!(["url"]));
        let patch = json!({"url": url}).to_string();
        assert_eq!(fields(&site.company("PATCH", &at, &patch).await), json!(["url"]));
    }
    assert_eq!(site.company("GET", &at, "").await.data()["url"], URL);
}

#[tokio::test]
async fn the_company_comes_before_the_body_and_the_body_before_the_webhook() {
    let site = Site::new().await;
    let (other, _) = site.kit.another_company("Other").await;
    let at = webhook(&site).await;
    let delivery = tested(&site, &at).await;
    for path in ["/webhooks", "/deliveries", "/deliveries?status=x"] {
        for company in [NOBODY, "x"] {
            let reply = site.operator("GET", &format!("/companies/{company}{path}"), "").await;
            assert_eq!(reply.refusal(), refusal(404, "NOT_FOUND"), "{company}{path}");
        }
    }
    let reply = site.operator("POST", &format!("/companies/{NOBODY}/webhooks"), "{").await;
    assert_eq!(reply.refusal(), refusal(404, "NOT_FOUND"));

    for (method, path) in [
        ("PATCH", format!("/webhooks/{NOBODY}")),
        ("POST", format!("/webhooks/{NOBODY}/rotate-secret")),
        ("POST", format!("/webhooks/{NOBODY}/test")),
        ("POST", format!("/deliveries/{NOBODY}/redeliver")),
    ] {
        assert_eq!(site.company(method, &path, "[").await.refusal(), refusal(400, "INVALID_BODY"));
        assert_eq!(fields(&site.company(method, &path, r#"{"x":1}"#).await), json!(["x"]));
        let unknown = site.company(method, &path, "{}").await;
        assert_eq!(unknown.refusal(), refusal(404, "NOT_FOUND"), "{method} {path}");
        let malformed = site.company(method, &path.replace(NOBODY, "x"), "{}").await;
        assert_eq!(malformed.json(), unknown.json(), "{method} {path}");
    }
    // Another company's records are answered like missing ones.
    for path in [&at, &delivery] {
        let reply = site.operator("GET", &format!("/companies/{}{path}", other.id), "").await;
        assert_eq!(reply.refusal(), refusal(404, "NOT_FOUND"), "{path}");
    }
    let theirs = site.operator("GET", &format!("/companies/{}/deliveries", other.id), "").await;
    assert_eq!(theirs.json()["pagination"]["total"], 0);
}

#[tokio::test]
async fn a_test_goes_out_and_is_read_with_its_body_and_its_attempts() {
    let site = Site::new().await;
    let at = webhook(&site).await;
    let made = act(&site, &at, "test").await;
    assert_eq!(made.status, 200);
    let made = made.data();
    assert_eq!((&made["event"], &made["status"]), (&json!("webhook.test"), &json!("pending")));
    assert_eq!((&made["attempts"], &made["delivered_at"]), (&json!(0), &Value::Null));
    assert!(made["next_attempt_at"].is_string());

    receivers_answer(&site, 204);
    site.kit.app.deliveries().drain().await;
    let detail = site.company("GET", &format!("/deliveries/{}", id(&made)), "").await.data();
    assert_eq!((&detail["status"], &detail["attempts"]), (&json!("delivered"), &json!(1)));
    assert_eq!(detail["next_attempt_at"], Value::Null);
    let log = &detail["attempt_log"];
    assert_eq!((&log[0]["attempt"], &log[0]["status_code"]), (&json!(1), &json!(204)));
    assert_eq!((&log[0]["error"], &log[0]["response"]), (&Value::Null, &json!("Obrigado")));
    let body: Value =
        serde_json::from_str(detail["body"].as_str().expect("a string")).expect("JSON");
    assert_eq!((&body["event"], &body["delivery_id"]), (&json!("webhook.test"), &made["id"]));
    let webhook_id = at.rsplit('/').next().expect("an id");
    assert_eq!(body["data"], json!({"webhook_id": webhook_id}));

    let again = act(&site, &format!("/deliveries/{}", id(&made)), "redeliver").await;
    assert_eq!((again.status, &again.data()["status"]), (200, &json!("pending")));
    assert_eq!((&again.data()["id"], &again.data()["attempts"]), (&made["id"], &json!(1)));
}

#[tokio::test]
async fn a_test_needs_an_active_webhook_and_a_plan_with_webhooks() {
    let site = Site::new().await;
    let at = webhook(&site).await;
    site.company("PATCH", &at, r#"{"is_active": false}"#).await;
    assert_eq!(act(&site, &at, "test").await.refusal(), refusal(409, "WEBHOOK_INACTIVE"));

    let starter = site.operator("POST", "/companies", r#"{"name":"S","plan":"starter"}"#).await;
    let webhooks = format!("/companies/{}/webhooks", id(&starter.data()));
    let body = json!({"url": URL, "events": ["*"]}).to_string();
    let made = site.operator("POST", &webhooks, &body).await;
    assert_eq!(made.status, 201, "registration is allowed on any plan");
    let test = format!("{webhooks}/{}/test", id(&made.data()));
    let refused = site.operator("POST", &test, "").await;
    assert_eq!(refused.refusal(), refusal(403, "PLAN_REQUIRED"));
    assert_eq!(refused.json()["details"]["required_plan"], "professional");
}

#[tokio::test]
async fn deliveries_are_listed_newest_first_by_page_and_filter() {
    let site = Site::new().await;
    let (first, second) = (webhook(&site).await, webhook(&site).await);
    let mut made = Vec::new();
    for at in [&first, &second, &first] {
        made.push(tested(&site, at).await);
        site.kit.clock.advance(std::time::Duration::from_millis(5));
    }
    let listed = async |query: &str| {
        let reply = site.company("GET", &format!("/deliveries{query}"), "").await;
        assert_eq!(reply.status, 200, "{query}");
        let ids: Vec<String> = reply
            .data()
            .as_array()
            .expect("a list")
            .iter()
            .map(|delivery| format!("/deliveries/{}", id(delivery)))
            .collect();
        (ids, reply.json()["pagination"]["total"].as_u64().expect("a total"))
    };
    let newest_first: Vec<String> = made.iter().rev().cloned().collect();
    assert_eq!(listed("").await, (newest_first.clone(), 3));
    assert_eq!(listed("?limit=2&page=2").await, (newest_first[2..].to_vec(), 3));
    let of_second = format!("?webhook_id={}&status=pending", &second["/webhooks/".len()..]);
    assert_eq!(listed(&of_second).await, (vec![made[1].clone()], 1));
    assert_eq!(listed("?event=webhook.test&status=delivered").await, (Vec::new(), 0));
    assert_eq!(listed("?event=message.sent").await, (Vec::new(), 0));
    assert_eq!(listed(&format!("?webhook_id={NOBODY}")).await, (Vec::new(), 0));

    // A deleted webhook's deliveries stay, cancelled.
    site.company("DELETE", &second, "").await;
    assert_eq!(listed("?status=failed").await, (vec![made[1].clone()], 1));
}

#[tokio::test]
async fn a_parameter_of_the_listing_that_is_not_known_is_named() {
    let site = Site::new().await;
    for (query, parameter) in [
        ("status=sent", "status"),
        ("status=", "status"),
        ("webhook_id=x", "webhook_id"),
        ("event=message.read", "event"),
        ("event=*", "event"),
        ("page=0", "page"),
        ("limit=101", "limit"),
        ("status=failed&status=failed", "status"),
    ] {
        let reply = site.company("GET", &format!("/deliveries?{query}"), "").await;
        assert_eq!(reply.refusal(), refusal(400, "INVALID_PARAMETER"), "{query}");
        assert_eq!(reply.json()["details"]["parameter"], parameter, "{query}");
    }
    assert_eq!(site.company("GET", "/deliveries?sort=x", "").await.status, 200);
}

#[tokio::test]
async fn only_a_finished_delivery_of_a_webhook_that_is_there_is_redelivered() {
    let site = Site::new().await;
    let at = webhook(&site).await;
    let delivery = tested(&site, &at).await;
    let pending = act(&site, &delivery, "redeliver").await;
    assert_eq!(pending.refusal(), refusal(409, "DELIVERY_PENDING"));
    receivers_answer(&site, 200);
    site.kit.app.deliveries().drain().await;
    assert_eq!(act(&site, &delivery, "redeliver").await.status, 200);
    site.kit.app.deliveries().drain().await;
    let detail = site.company("GET", &delivery, "").await.data();
    assert_eq!((&detail["status"], &detail["attempts"]), (&json!("delivered"), &json!(2)));
    assert_eq!(detail["attempt_log"][1]["attempt"], 2);

    site.company("DELETE", &at, "").await;
    let deleted = act(&site, &delivery, "redeliver").await;
    assert_eq!(deleted.refusal(), refusal(409, "WEBHOOK_DELETED"));
}

#[tokio::test]
async fn the_body_of_a_deleted_contact_is_gone_and_cannot_be_redelivered() {
    let site = Site::new().await;
    webhook(&site).await;
    receivers_answer(&site, 200);
    let contact = site.api("POST", "/contacts", r#"{"phone":"+5511987654321"}"#).await.data();
    site.kit.app.deliveries().drain().await;
    let delivery = site.company("GET", "/deliveries?event=contact.created", "").await.data();
    let delivery = format!("/deliveries/{}", id(&delivery[0]));
    let before = site.company("GET", &delivery, "").await.data();
    assert!(before["body"].as_str().expect("a body").contains("+5511987654321"));

    let contact = format!("/contacts/{}", id(&contact["contact"]));
    assert_eq!(site.api("DELETE", &contact, "").await.status, 200);
    while site.kit.app.jobs().run_one().await.expect("the store works") {}
    let after = site.company("GET", &delivery, "").await.data();
    assert_eq!((&after["body"], &after["status"]), (&Value::Null, &json!("delivered")));
    let refused = act(&site, &delivery, "redeliver").await;
    assert_eq!(refused.refusal(), refusal(409, "BODY_ERASED"));
}
