//! The public API's journal of events.

use serde_json::{Value, json};

use crate::site::{Reply, Site};

async fn contact(site: &Site, n: u32) -> Value {
    let body = json!({"phone": format!("+55119876543{n:02}")}).to_string();
    let reply = site.api("POST", "/contacts", &body).await;
    assert_eq!(reply.status, 201, "{}", reply.json());
    reply.data()["contact"].clone()
}

async fn read(site: &Site, query: &str) -> Value {
    let reply = site.api("GET", &format!("/events{query}"), "").await;
    assert_eq!(reply.status, 200, "{query}: {}", reply.json());
    reply.json()
}

fn named(reply: &Reply, parameter: &str) {
    assert_eq!(reply.refusal(), (400, "INVALID_PARAMETER".to_owned()));
    assert_eq!(reply.json()["details"]["parameter"], parameter);
}

fn contacts_of(page: &Value) -> Vec<Value> {
    let entries = page["data"].as_array().expect("a list");
    entries.iter().map(|entry| entry["data"]["id"].clone()).collect()
}

#[tokio::test]
async fn events_are_read_oldest_first_each_once_and_from_where_one_left_off() {
    let site = Site::new().await;
    let mut made = Vec::new();
    for n in 1..=3 {
        made.push(contact(&site, n).await["id"].clone());
    }
    let first = read(&site, "?limit=2").await;
    assert_eq!(contacts_of(&first), made[..2]);
    assert_eq!(
        (&first["pagination"]["limit"], &first["pagination"]["has_more"]),
        (&json!(2), &json!(true))
    );
    let entry = &first["data"][0];
    assert_eq!(
        (&entry["event"], &entry["company_id"]),
        (&json!("contact.created"), &json!(site.kit.company.id.to_string()))
    );
    assert!(entry["event_id"].is_string() && entry["timestamp"].is_string());

    let after = |page: &Value| {
        format!("?limit=2&after={}", page["pagination"]["position"].as_str().expect("a position"))
    };
    let second = read(&site, &after(&first)).await;
    assert_eq!(
        (contacts_of(&second), &second["pagination"]["has_more"]),
        (made[2..].to_vec(), &json!(false))
    );
    let nothing = read(&site, &after(&second)).await;
    assert_eq!((&nothing["data"], &nothing["pagination"]), (&json!([]), &second["pagination"]));
    let newest = contact(&site, 4).await;
    assert_eq!(contacts_of(&read(&site, &after(&nothing)).await), [newest["id"].clone()]);
}

#[tokio::test]
async fn the_journal_needs_no_webhook_and_reports_no_test() {
    let site = Site::new().await;
    assert_eq!(read(&site, "").await["data"], json!([]));
    let webhook = json!({"url": "https://example.com", "events": ["*"]}).to_string();
    let webhook = site.company("POST", "/webhooks", &webhook).await.data();
    let test = format!("/webhooks/{}/test", webhook["id"].as_str().expect("an id"));
    assert_eq!(site.company("POST", &test, "").await.status, 200);
    contact(&site, 1).await;
    let all = read(&site, "").await;
    assert_eq!(all["data"].as_array().map(Vec::len), Some(1), "{all}");
    assert_eq!(read(&site, "?event=contact.created").await["data"], all["data"]);
    assert_eq!(read(&site, "?event=message.sent").await["data"], json!([]));
}

#[tokio::test]
async fn what_is_wrong_is_named() {
    let site = Site::new().await;
    contact(&site, 1).await;
    for (query, parameter) in [
        ("after=", "after"),
        ("after=x", "after"),
        ("after=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "after"),
        ("event=webhook.test", "event"),
        ("event=*", "event"),
        ("event=", "event"),
        ("limit=0", "limit"),
        ("limit=101", "limit"),
        ("after=x&after=x", "after"),
    ] {
        named(&site.api("GET", &format!("/events?{query}"), "").await, parameter);
    }
    assert_eq!(read(&site, "?utm=1").await["data"].as_array().map(Vec::len), Some(1));
}

#[tokio::test]
async fn a_position_is_good_for_its_company_only() {
    let site = Site::new().await;
    contact(&site, 1).await;
    let position = read(&site, "").await["pagination"]["position"].clone();
    let (other, _) = site.kit.another_company("Other").await;
    let keys = format!("/companies/{}/keys", other.id);
    let key = site.operator("POST", &keys, r#"{"name":"k","scopes":["events:read"]}"#).await;
    let bearer =
        format!("Authorization: Bearer {}\r\n", key.data()["key"].as_str().expect("a key"));
    let theirs = site.send("GET", "/api/v1/events", &bearer, b"").await;
    assert_eq!((theirs.status, &theirs.data()), (200, &json!([])));
    let path = format!("/api/v1/events?after={}", position.as_str().expect("a position"));
    named(&site.send("GET", &path, &bearer, b"").await, "after");
}

#[tokio::test]
async fn the_scope_comes_before_the_parameters() {
    let site = Site::new().await;
    let keys = format!("/companies/{}/keys", site.kit.company.id);
    let body = r#"{"name":"k","scopes":["contacts:read","messages:read"],"rate_per_minute":1}"#;
    let key = site.operator("POST", &keys, body).await.data();
    let bearer = format!("Authorization: Bearer {}\r\n", key["key"].as_str().expect("a key"));
    for _ in 0..3 {
        let reply = site.send("GET", "/api/v1/events?after=x", &bearer, b"").await;
        assert_eq!(reply.refusal(), (403, "INSUFFICIENT_SCOPE".to_owned()));
        assert_eq!(reply.json()["details"]["required_scope"], "events:read");
    }
    assert_eq!(site.send("GET", "/api/v1/events", "", b"").await.status, 401);
    assert_eq!(site.api("POST", "/events", "{}").await.header("allow"), Some("GET, HEAD"));
}

#[tokio::test]
async fn what_a_deleted_contact_did_stays_without_its_data() {
    let site = Site::new().await;
    let made = contact(&site, 1).await;
    let path = format!("/contacts/{}", made["id"].as_str().expect("an id"));
    assert_eq!(site.api("DELETE", &path, "").await.status, 200);
    while site.kit.app.jobs().run_one().await.expect("the store works") {}
    let entry = read(&site, "").await["data"][0].clone();
    assert_eq!((&entry["event"], &entry["data"]), (&json!("contact.created"), &Value::Null));
}
