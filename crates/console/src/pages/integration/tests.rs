use http::StatusCode;
use recado_core::access::OperatorRole;
use recado_core::ids::CompanyId;
use recado_testkit::kit::body;
use serde_json::json;

use crate::harness::Site;

const HOSTILE: &str = "<script>alert(1)</script>";

/// A webhook of the company, by its path.
async fn webhook(site: &Site) -> String {
    webhook_of(site, site.kit.company.id).await
}

async fn webhook_of(site: &Site, company: CompanyId) -> String {
    let new = json!({ "url": "https://receiver.example/hook", "events": ["*"] });
    let made = site.kit.app.webhooks().create(company, &body(new)).await;
    format!("/console/integration/webhooks/{}", made.expect("a webhook").webhook.id)
}

/// An endpoint of the company, by its path.
async fn endpoint(site: &Site) -> String {
    let company = site.kit.company.id;
    let on = body(json!({ "features": { "inbound_contacts": true } }));
    site.kit.app.access().change_company(company, &on).await.expect("a feature");
    endpoint_of(site, company).await
}

async fn endpoint_of(site: &Site, company: CompanyId) -> String {
    let new = json!({ "slug": "site", "variable_mapping": { "phone": "$.p", "name": "$.n" } });
    let made = site.kit.app.inbound().create(company, &body(new)).await;
    format!("/console/integration/endpoints/{}", made.expect("an endpoint").endpoint.id)
}

#[tokio::test]
async fn a_webhook_is_made_with_a_secret_that_is_shown_this_once() {
    let site = Site::new().await;
    let owner = site.owner().await;
    owner.get("/console/integration").await.has("There is no webhook yet.");
    let fields = [("url", "https://receiver.example/hook"), ("events", "*"), ("is_active", "on")];
    let made = owner.post("/console/integration/webhooks", &fields).await;
    assert_eq!(made.status, StatusCode::OK);
    let all = site.kit.app.webhooks().all(site.kit.company.id).await.expect("webhooks");
    let secret = made.html.split("<code>").nth(1).and_then(|it| it.split('<').next());
    let secret = secret.expect("a secret");
    assert!(secret.len() > 20, "{secret}");
    let path = format!("/console/integration/webhooks/{}", all[0].id);
    let page = owner.get(&path).await;
    page.has("https://receiver.example/hook").lacks(secret);
    let rotated = owner.post(&format!("{path}/rotate"), &[]).await;
    rotated.has("Copy it now").lacks(secret);
}

#[tokio::test]
async fn what_is_wrong_with_a_webhook_stands_at_its_fields() {
    let site = Site::new().await;
    let owner = site.owner().await;
    let fields = [("url", "ftp://x"), ("is_active", "on")];
    let refused = owner.post("/console/integration/webhooks", &fields).await;
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
    refused.has("id=\"field-url-error\"").has("id=\"events-error\"").has("value=\"ftp://x\"");
}

#[tokio::test]
async fn a_webhook_is_switched_changed_and_deleted() {
    let site = Site::new().await;
    let owner = site.owner().await;
    let path = webhook(&site).await;
    let off = owner.post(&format!("{path}/state"), &[]).await;
    assert_eq!((off.status, off.location()), (StatusCode::SEE_OTHER, path.as_str()));
    owner.get(&path).await.has("Inactive");
    let fields =
        [("url", "https://other.example/"), ("events", "contact.created"), ("is_active", "on")];
    let changed = owner.post(&path, &fields).await;
    assert_eq!(changed.status, StatusCode::SEE_OTHER);
    owner.get(&path).await.has("https://other.example/").has("contact.created");
    owner.post(&format!("{path}/delete"), &[]).await;
    assert_eq!(owner.get(&path).await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_test_leads_to_its_delivery_and_deliveries_are_filtered() {
    let site = Site::new().await;
    let owner = site.owner().await;
    let path = webhook(&site).await;
    let sent = owner.post(&format!("{path}/test"), &[]).await;
    let delivery = sent.location().to_owned();
    owner.get(&delivery).await.has("webhook.test").has("delivery_id").has("pending");
    let list = "/console/integration/deliveries";
    owner.get(&format!("{list}?status=pending&event=&webhook_id=")).await.has(&delivery);
    owner.get(&format!("{list}?status=failed")).await.lacks(&delivery);
    let wrong = owner.get(&format!("{list}?status=x")).await;
    assert!(wrong.status.is_client_error());
    let again = owner.post(&format!("{delivery}/redeliver"), &[]).await;
    assert_eq!(again.status, StatusCode::CONFLICT);
}

/// R437.
#[tokio::test]
async fn a_mapping_is_tried_before_it_is_saved() {
    let site = Site::new().await;
    let owner = site.owner().await;
    let path = endpoint(&site).await;
    let trial = format!("{path}/trial");
    let body = format!(r#"{{"q": "34991230001", "n": "{HOSTILE}"}}"#);
    let fields = [("variable_mapping", "phone = $.q\nname = $.n"), ("body", body.as_str())];
    let tried = owner.post(&trial, &fields).await;
    tried.has("would create a contact").has("&lt;script&gt;").lacks(HOSTILE);
    let refused = owner.post(&trial, &[("variable_mapping", "phone = $.x"), ("body", "{}")]).await;
    refused.has("MISSING_PHONE");
    let wrong = owner.post(&trial, &[("variable_mapping", "phone = $["), ("body", "{}")]).await;
    wrong.has("id=\"field-variable_mapping-error\"");
    owner.get(&path).await.has("phone = $.p").has("There was no call");
}

#[tokio::test]
async fn an_endpoint_is_made_of_lines_and_its_errors_stand_at_its_fields() {
    let site = Site::new().await;
    let owner = site.owner().await;
    let list = "/console/integration/endpoints";
    let fields = |mapping| [("slug", "leads"), ("variable_mapping", mapping), ("is_active", "on")];
    let refused = owner.post(list, &fields("phone")).await;
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
    refused.has("id=\"field-variable_mapping-error\"");
    let made = owner.post(list, &fields("phone = $[?@.k == 'p'].v")).await;
    made.has("X-Service-Secret");
    let all = site.kit.app.inbound().all(site.kit.company.id).await.expect("endpoints");
    assert_eq!(all[0].variable_mapping["phone"], "$[?@.k == 'p'].v");
    let taken = owner.post(list, &fields("phone = $.p")).await;
    assert_eq!(taken.status, StatusCode::UNPROCESSABLE_ENTITY);
}

#[tokio::test]
async fn a_key_is_shown_once_and_revoked_at_once() {
    let site = Site::new().await;
    let owner = site.owner().await;
    let fields = [
        ("name", HOSTILE),
        ("scopes", "contacts:read"),
        ("rate_per_minute", "30"),
        ("expires_at", "2999-01-01"),
    ];
    let made = owner.post("/console/integration/keys", &fields).await;
    made.has("rk_").lacks(HOSTILE);
    let list = owner.get("/console/integration/keys").await;
    list.has("30 / 60").has("not yet").has("2999-01-01").lacks("rk_").lacks(HOSTILE);
    let keys = site.kit.app.access().keys(site.kit.company.id).await.expect("keys");
    let key = keys.iter().find(|key| key.rate_per_minute == 30).expect("the key");
    owner.post(&format!("/console/integration/keys/{}/revoke", key.id), &[]).await;
    owner.get("/console/integration/keys").await.lacks("30 / 60");
    let wrong = [("name", ""), ("rate_per_minute", "many"), ("expires_at", "2001-01-01")];
    let refused = owner.post("/console/integration/keys", &wrong).await;
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
    refused.has("id=\"field-rate_per_minute-error\"");
}

#[tokio::test]
async fn the_journal_lists_the_newest_events_and_shows_one() {
    let site = Site::new().await;
    let owner = site.owner().await;
    owner.get("/console/integration/journal").await.has("There are no such events.");
    for n in 0..3 {
        let new = json!({ "phone": format!("+553499123000{n}"), "name": HOSTILE });
        let contacts = site.kit.app.contacts();
        contacts.create(&site.kit.caller, &body(new)).await.expect("a contact");
    }
    let first = owner.get("/console/integration/journal?limit=2").await;
    first.has("contact.created").has("Older");
    let older = first.html.split("rel=\"next\" href=\"").nth(1).and_then(|it| it.split('"').next());
    let older = older.expect("a way on").replace("&amp;", "&");
    let rest = owner.get(&older).await;
    rest.lacks("Older").has("Newest");
    let event = rest.html.split("/console/integration/journal/").nth(1);
    let event = event.and_then(|it| it.split('"').next()).expect("an event");
    let one = owner.get(&format!("/console/integration/journal/{event}")).await;
    one.has("event_id").has("&lt;script&gt;").lacks(HOSTILE);
    owner.get("/console/integration/journal?event=message.sent").await.has("no such events");
}

#[tokio::test]
async fn another_companys_records_look_missing() {
    let site = Site::new().await;
    let owner = site.owner().await;
    let other = site.kit.app.access().create_company(&body(json!({ "name": "Other" }))).await;
    let other = other.expect("a company").id;
    for path in [webhook_of(&site, other).await, endpoint_of(&site, other).await] {
        assert_eq!(owner.get(&path).await.status, StatusCode::NOT_FOUND);
        assert_eq!(owner.post(&format!("{path}/delete"), &[]).await.status, StatusCode::NOT_FOUND);
    }
}

#[tokio::test]
async fn who_may_only_look_cannot_change_anything() {
    let site = Site::new().await;
    let path = webhook(&site).await;
    let manager = site.as_role(OperatorRole::Manager).await;
    manager.get(&path).await.has("Send a test").lacks("New secret");
    assert_eq!(manager.post(&format!("{path}/rotate"), &[]).await.status, StatusCode::FORBIDDEN);
    let viewer = site.as_role(OperatorRole::Viewer).await;
    for page in ["", "/deliveries", "/endpoints", "/keys", "/journal"] {
        let path = format!("/console/integration{page}");
        assert_eq!(viewer.get(&path).await.status, StatusCode::FORBIDDEN, "{path}");
    }
}
