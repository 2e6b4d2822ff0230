//! The public API's paths: what each passes to the core, and how its answer is written.

use serde_json::{Value, json};

use crate::site::Site;

async fn created(site: &Site, body: Value) -> Value {
    let reply = site.api("POST", "/contacts", &body.to_string()).await;
    assert_eq!(reply.status, 201, "{}", reply.json());
    reply.data()["contact"].clone()
}

fn path(contact: &Value) -> String {
    format!("/contacts/{}", contact["id"].as_str().expect("an id"))
}

#[tokio::test]
async fn a_contact_is_created_read_changed_and_deleted() {
    let site = Site::new().await;
    let contact = created(&site, json!({"phone": "11 98765-4321", "name": "Ana"})).await;
    assert_eq!(contact["phone"], "+5511987654321");
    assert_eq!(contact["shared_email"], Value::Null);

    let detail = site.api("GET", &path(&contact), "").await;
    assert_eq!(detail.header("content-type"), Some("application/json"));
    assert_eq!(detail.data()["custom_fields"], json!({}));
    assert_eq!(detail.data().get("observation"), None);

    let changed = site.api("PATCH", &path(&contact), r#"{"name":"Bia"}"#).await;
    assert_eq!((changed.status, &changed.data()["contact"]["name"]), (200, &json!("Bia")));
    assert_eq!(changed.json().get("warnings"), None);

    let deleted = site.api("DELETE", &path(&contact), "").await;
    assert_eq!(deleted.json(), json!({"success": true}));
    assert_eq!(site.api("GET", &path(&contact), "").await.status, 404);
}

#[tokio::test]
async fn a_known_phone_is_409_with_the_id_at_the_root() {
    let site = Site::new().await;
    let contact = created(&site, json!({"phone": "+5511987654321"})).await;
    let again = site.api("POST", "/contacts", r#"{"phone":"(11) 8765-4321"}"#).await;
    assert_eq!(again.refusal(), (409, "CONTACT_EXISTS".to_owned()));
    assert_eq!(again.json()["contact_id"], contact["id"]);
}

#[tokio::test]
async fn everything_that_is_wrong_is_named_in_one_422() {
    let site = Site::new().await;
    let body = json!({"phone": "x", "email": "y", "cpf": "1", "nmae": 1, "list_ids": ["z"]});
    let reply = site.api("POST", "/contacts", &body.to_string()).await;
    assert_eq!(reply.refusal(), (422, "VALIDATION_ERROR".to_owned()));
    let details = reply.json()["details"].clone();
    let mut fields: Vec<&str> =
        details["fields"].as_array().expect("fields").iter().filter_map(Value::as_str).collect();
    fields.sort_unstable();
    assert_eq!(fields, ["cpf", "email", "list_ids", "nmae", "phone"]);
    assert_eq!(details["reasons"].as_object().expect("reasons").len(), 5);
}

#[tokio::test]
async fn a_taken_email_is_a_warning_at_the_root() {
    let site = Site::new().await;
    created(&site, json!({"phone": "+5511987654321", "email": "a@example.com"})).await;
    let body = json!({"phone": "+5511987654322", "email": "A@example.com"});
    let reply = site.api("POST", "/contacts", &body.to_string()).await;
    assert_eq!(reply.status, 201);
    assert_eq!(reply.json()["warnings"][0]["code"], "EMAIL_BELONGS_TO_ANOTHER_CONTACT");
    assert_eq!(reply.data()["contact"]["shared_email"], "a@example.com");
}

/// 4.11.
#[tokio::test]
async fn a_listing_has_pages_and_an_export_has_a_cursor() {
    let site = Site::new().await;
    for n in 1..=3 {
        created(&site, json!({"phone": format!("+551198765432{n}")})).await;
    }
    let page = site.api("GET", "/contacts?limit=2&page=2&utm=1&utm=2", "").await.json();
    assert_eq!(page["data"].as_array().expect("a list").len(), 1);
    assert_eq!(page["pagination"], json!({"page": 2, "limit": 2, "total": 3, "total_pages": 2}));
    assert_eq!(page["data"][0].get("link_clicks"), None);

    let first = site.api("GET", "/contacts?order_by=created_at&limit=2", "").await.json();
    let cursor = first["pagination"]["next_cursor"].as_str().expect("a cursor").to_owned();
    assert_eq!(first["pagination"]["total"], 3);
    let next = format!("/contacts?order_by=created_at&limit=2&include=link_clicks&cursor={cursor}");
    let last = site.api("GET", &next, "").await.json();
    assert_eq!(last["pagination"], json!({"limit": 2, "total": 3, "next_cursor": null}));
    assert_eq!(last["data"][0]["link_clicks"], json!({"total": 0, "last_at": null}));
}

#[tokio::test]
async fn a_bad_parameter_is_400_and_named() {
    let site = Site::new().await;
    for (query, parameter) in [
        ("limit=0", "limit"),
        ("limit=101", "limit"),
        ("page=0", "page"),
        ("page=+1", "page"),
        ("page=1&page=1", "page"),
        ("is_group=yes", "is_group"),
        ("pipeline_stage_id=1", "pipeline_stage_id"),
        ("inbox_status=closed", "inbox_status"),
        ("include=clicks", "include"),
        ("order_by=name", "order_by"),
        ("cursor=abc", "cursor"),
        ("order_by=created_at&cursor=abc", "cursor"),
        ("order_by=created_at&page=1", "page"),
        ("search=%ff", "search"),
    ] {
        let reply = site.api("GET", &format!("/contacts?{query}"), "").await;
        assert_eq!(reply.refusal(), (400, "INVALID_PARAMETER".to_owned()), "{query}");
        assert_eq!(reply.json()["details"]["parameter"], parameter, "{query}");
    }
}

#[tokio::test]
async fn search_is_decoded() {
    let site = Site::new().await;
    created(&site, json!({"phone": "+5511987654321", "name": "João da Silva"})).await;
    for search in ["jo%C3%A3o+da", "JOAO%20DA", "%2B55%2011"] {
        let page = site.api("GET", &format!("/contacts?search={search}"), "").await.json();
        assert_eq!(page["pagination"]["total"], 1, "{search}");
    }
}

/// R15.
#[tokio::test]
async fn include_profile_adds_to_the_detail_and_nothing_else_is_known() {
    let site = Site::new().await;
    let contact = created(&site, json!({"phone": "+5511987654321", "city": "Recife"})).await;
    let with = site.api("GET", &format!("{}?include=profile", path(&contact)), "").await.data();
    assert_eq!(with["city"], "Recife");
    let reply = site.api("GET", &format!("{}?include=link_clicks", path(&contact)), "").await;
    assert_eq!(reply.json()["details"]["parameter"], "include");
}

#[tokio::test]
async fn head_answers_as_get_does_but_for_the_body() {
    let site = Site::new().await;
    created(&site, json!({"phone": "+5511987654321"})).await;
    for path in ["/contacts", "/lists", "/contacts/x"] {
        let get = site.api("GET", path, "").await;
        let head = site.api("HEAD", path, "").await;
        assert_eq!(head.status, get.status, "{path}");
        assert_eq!(head.header("content-length"), get.header("content-length"), "{path}");
        assert_eq!(head.header("content-type"), get.header("content-type"), "{path}");
        assert!(head.body.is_empty());
    }
}

/// 4.12.
#[tokio::test]
async fn custom_fields_and_lists_are_listed_whole() {
    let site = Site::new().await;
    site.company("POST", "/custom-fields", r#"{"label":"Time","slug":"time"}"#).await;
    site.company("POST", "/lists", r#"{"name":"VIP","is_active":false}"#).await;
    let fields = site.api("GET", "/custom-fields", "").await.json();
    assert_eq!(fields["data"][0]["slug"], "time");
    assert_eq!(fields["data"][0]["type"], "text");
    assert_eq!(fields.get("pagination"), None);
    let lists = site.api("GET", "/lists", "").await.data();
    assert_eq!((&lists[0]["is_active"], &lists[0]["contacts_count"]), (&json!(false), &json!(0)));
}

#[tokio::test]
async fn a_request_id_is_kept_or_made() {
    let site = Site::new().await;
    let kept = site.send("GET", "/api/v1/x", "X-Request-Id: abc-1\r\n", b"").await;
    assert_eq!(kept.header("x-request-id"), Some("abc-1"));
    let made = site.send("GET", "/api/v1/x", "X-Request-Id: a b\r\n", b"").await;
    assert_eq!(made.header("x-request-id").map(|id| id.contains(' ')), Some(false));
}
