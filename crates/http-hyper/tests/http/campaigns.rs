//! Campaigns: managed by the operator, read by the company.

use serde_json::{Value, json};

use crate::hooks::{Hooks, refusal};

const NOBODY: &str = "01939b5e-0000-7000-8000-00000000dead";

/// A list with so many contacts.
async fn list_of(hooks: &Hooks, count: usize) -> String {
    let list = hooks.site.company("POST", "/lists", r#"{"name":"Clientes"}"#).await.data();
    let id = list["id"].as_str().expect("an id").to_owned();
    for n in 0..count {
        let phone = format!("+551198765{:04}", 1000 + n);
        let body = json!({"phone": phone, "list_ids": [id]}).to_string();
        assert_eq!(hooks.site.api("POST", "/contacts", &body).await.status, 201);
    }
    id
}

async fn made(hooks: &Hooks, list: &str) -> Value {
    let body = json!({"name": "Maio", "template_id": hooks.template, "list_id": list,
        "connection_id": hooks.connection, "variables": {"1": "cliente", "2": "7"},
        "cost_brl_per_message": 0.35, "messages_per_second": 1000});
    let reply = hooks.site.company("POST", "/campaigns", &body.to_string()).await;
    assert_eq!(reply.status, 201, "{}", reply.json());
    reply.data()
}

#[tokio::test]
async fn a_campaign_is_made_started_followed_and_deleted() {
    let hooks = Hooks::new().await;
    let site = &hooks.site;
    let list = list_of(&hooks, 3).await;
    let campaign = made(&hooks, &list).await;
    assert_eq!((&campaign["status"], &campaign["started_at"]), (&json!("draft"), &Value::Null));
    let at = format!("/campaigns/{}", campaign["id"].as_str().expect("an id"));
    assert_eq!(site.company("GET", &at, "").await.data(), campaign);
    assert_eq!(site.company("GET", "/campaigns", "").await.data(), json!([campaign]));

    let started = site.company("POST", &format!("{at}/start"), "").await;
    assert_eq!((started.status, &started.data()["status"]), (200, &json!("running")));
    assert_eq!(started.data()["counts"]["total"], 3);
    let paused = site.company("POST", &format!("{at}/pause"), "{}").await;
    assert_eq!(paused.data()["pause_reason"], "operator");
    assert_eq!(site.company("POST", &format!("{at}/start"), "{}").await.status, 200);
    let running = site.company("DELETE", &at, "").await;
    assert_eq!(running.refusal(), refusal(409, "CAMPAIGN_RUNNING"));
    let other = json!({"list_id": list_of(&hooks, 0).await}).to_string();
    let moved = site.company("PATCH", &at, &other).await;
    assert_eq!(moved.refusal(), refusal(409, "CAMPAIGN_STARTED"));

    site.kit.app.campaigns().drain().await;
    let listed = site.api("GET", "/campaigns", "").await.data();
    let mut names: Vec<&String> = listed[0].as_object().expect("an object").keys().collect();
    names.sort();
    assert_eq!(
        names,
        [
            "consumption",
            "counts",
            "created_at",
            "finished_at",
            "id",
            "list_id",
            "name",
            "started_at",
            "status",
            "template_id"
        ]
    );
    assert_eq!(listed[0]["status"], "finished", "{listed}");
    assert_eq!(
        listed[0]["counts"],
        json!({"total": 3, "sent": 3, "delivered": 0, "read": 0, "failed": 0, "skipped": 0})
    );
    assert_eq!(site.company("DELETE", &at, "").await.json(), json!({"success": true}));
    assert_eq!(site.api("GET", "/campaigns", "").await.data(), json!([]));
}

#[tokio::test]
async fn recipients_are_listed_flat_by_page_and_status() {
    let hooks = Hooks::new().await;
    let site = &hooks.site;
    let list = list_of(&hooks, 3).await;
    let campaign = made(&hooks, &list).await;
    let at = format!("/campaigns/{}", campaign["id"].as_str().expect("an id"));
    site.company("POST", &format!("{at}/start"), "").await.data();
    let listed = async |query: &str| {
        let public = site.api("GET", &format!("{at}/recipients{query}"), "").await;
        assert_eq!(public.status, 200, "{query}");
        let operators = site.company("GET", &format!("{at}/recipients{query}"), "").await;
        assert_eq!(operators.json(), public.json());
        public.json()
    };
    let waiting = listed("?status=waiting&limit=2&page=2").await;
    let mut names: Vec<&String> = waiting.as_object().expect("an object").keys().collect();
    names.sort();
    assert_eq!(names, ["data", "limit", "page", "success", "total"]);
    assert_eq!(
        (&waiting["total"], &waiting["page"], &waiting["limit"]),
        (&json!(3), &json!(2), &json!(2))
    );
    let recipient = &waiting["data"][0];
    assert_eq!(waiting["data"].as_array().map(Vec::len), Some(1));
    assert!(recipient["phone"].as_str().is_some_and(|phone| phone.starts_with("+55")));
    assert_eq!((&recipient["message_id"], &recipient["sent_at"]), (&Value::Null, &Value::Null));

    site.kit.app.campaigns().drain().await;
    assert_eq!(listed("?status=waiting").await["total"], 0);
    let sent = listed("?status=sent").await;
    assert_eq!((&sent["total"], &sent["limit"]), (&json!(3), &json!(50)));
    assert!(sent["data"][0]["message_id"].is_string() && sent["data"][0]["sent_at"].is_string());

    for (query, parameter) in
        [("status=gone", "status"), ("page=0", "page"), ("limit=101", "limit")]
    {
        let reply = site.api("GET", &format!("{at}/recipients?{query}"), "").await;
        assert_eq!(reply.refusal(), refusal(400, "INVALID_PARAMETER"), "{query}");
        assert_eq!(reply.json()["details"]["parameter"], parameter);
    }
}

#[tokio::test]
async fn a_campaign_that_is_not_there_is_404_and_a_wrong_one_named() {
    let hooks = Hooks::new().await;
    let site = &hooks.site;
    for id in [NOBODY, "x"] {
        let at = format!("/campaigns/{id}");
        for (method, path) in [
            ("GET", at.clone()),
            ("PATCH", at.clone()),
            ("DELETE", at.clone()),
            ("POST", format!("{at}/start")),
            ("POST", format!("{at}/pause")),
            ("GET", format!("{at}/recipients")),
        ] {
            let reply = site.company(method, &path, "{}").await;
            assert_eq!(reply.refusal(), refusal(404, "NOT_FOUND"), "{method} {path}");
        }
        let reply = site.api("GET", &format!("{at}/recipients"), "").await;
        assert_eq!(reply.refusal(), refusal(404, "NOT_FOUND"));
    }
    let fields = async |method: &str, path: &str, body: Value| {
        let reply = site.company(method, path, &body.to_string()).await;
        assert_eq!(reply.refusal(), refusal(422, "VALIDATION_ERROR"), "{}", reply.json());
        reply.json()["details"]["fields"].clone()
    };
    let required = json!(["name", "template_id", "list_id"]);
    assert_eq!(fields("POST", "/campaigns", json!({})).await, required);
    let unknown = json!({"name": "A", "template_id": NOBODY, "list_id": NOBODY});
    assert_eq!(fields("POST", "/campaigns", unknown).await, json!(["list_id", "template_id"]));
    let list = list_of(&hooks, 0).await;
    let campaign = made(&hooks, &list).await;
    let start = format!("/campaigns/{}/start", campaign["id"].as_str().expect("an id"));
    assert_eq!(fields("POST", &start, json!({"now": true})).await, json!(["now"]));
}
