//! The operator API's paths.

use serde_json::{Value, json};

use crate::site::{Site, TOKEN};

async fn made(site: &Site, path: &str, body: Value) -> Value {
    let reply = site.company("POST", path, &body.to_string()).await;
    assert_eq!(reply.status, 201, "{path}: {}", reply.json());
    reply.data()
}

fn one(path: &str, record: &Value) -> String {
    format!("{path}/{}", record["id"].as_str().expect("an id"))
}

#[tokio::test]
async fn every_kind_of_record_is_made_listed_read_changed_and_deleted() {
    let site = Site::new().await;
    let contact = made(&site, "/contacts", json!({"phone": "+5511987654321"})).await;
    for (path, body, patch) in [
        ("/keys", json!({"name": "k", "scopes": []}), json!({"name": "l"})),
        ("/members", json!({"display_name": "Bia"}), json!({"role": "admin"})),
        ("/pipelines", json!({"name": "p", "stages": []}), json!({"name": "q"})),
        ("/deals", json!({"contact_id": contact["id"], "title": "t"}), json!({"status": "won"})),
        ("/tags", json!({"name": "t", "color": "#fff"}), json!({"color": "#000"})),
        ("/custom-fields", json!({"label": "l", "slug": "s"}), json!({"status": "inactive"})),
        ("/lists", json!({"name": "l"}), json!({"is_active": false})),
        ("/close-reasons", json!({"name": "r"}), json!({"name": "s"})),
    ] {
        let record = made(&site, path, body).await;
        let listed = site.company("GET", path, "").await.data();
        let listed = listed.as_array().expect("a list");
        assert!(listed.iter().any(|other| other["id"] == record["id"]), "{path}");

        let at = one(path, &record);
        assert_eq!(site.company("GET", &at, "").await.data()["id"], record["id"], "{path}");
        let changed = site.company("PATCH", &at, &patch.to_string()).await.data();
        for (name, value) in patch.as_object().expect("a patch") {
            assert_eq!(&changed[name], value, "{path}");
        }
        assert_eq!(site.company("PATCH", &at, r#"{"x":1}"#).await.status, 422, "{path}");
        assert_eq!(site.company("DELETE", &at, "").await.json(), json!({"success": true}));
        assert_eq!(site.company("GET", &at, "").await.status, 404, "{path}");
        assert_eq!(site.company("DELETE", &at, "").await.status, 404, "{path}");
    }
}

/// R174.
#[tokio::test]
async fn a_name_that_changes_the_direction_of_writing_is_422_with_its_field() {
    let site = Site::new().await;
    let name = "Ana\u{202E}fdp";
    let refused = |what: &str, reply: crate::site::Reply, field: &str| {
        assert_eq!(reply.refusal(), (422, "VALIDATION_ERROR".to_owned()), "{what}");
        assert_eq!(reply.json()["details"]["fields"], json!([field]), "{what}");
    };
    for (path, body, field) in [
        ("/contacts", json!({"phone": "+5511987654321", "name": name}), "name"),
        ("/members", json!({"display_name": name}), "display_name"),
        ("/pipelines", json!({"name": name, "stages": []}), "name"),
        ("/tags", json!({"name": name, "color": "#fff"}), "name"),
        ("/custom-fields", json!({"label": name, "slug": "s"}), "label"),
        ("/lists", json!({"name": name}), "name"),
        ("/close-reasons", json!({"name": name}), "name"),
        ("/keys", json!({"name": name, "scopes": []}), "name"),
        (
            "/connections",
            json!({"kind": "qr", "name": name, "identifier": "5511987654321", "gateway": "simulated"}),
            "name",
        ),
    ] {
        refused(path, site.company("POST", path, &body.to_string()).await, field);
    }
    let body = json!({"name": name}).to_string();
    refused("a company", site.operator("POST", "/companies", &body).await, "name");
    let body = json!({"phone": "+5511987654321", "name": name}).to_string();
    refused("by API", site.api("POST", "/contacts", &body).await, "name");
}

#[tokio::test]
async fn a_company_is_made_listed_read_changed_and_deleted() {
    let site = Site::new().await;
    let reply = site.operator("POST", "/companies", r#"{"name":"Nova"}"#).await;
    let company = reply.data();
    assert_eq!((reply.status, &company["plan"]), (201, &json!("enterprise")));
    let at = one("/companies", &company);
    let changed = site.operator("PATCH", &at, r#"{"features":{"inbound_contacts":true}}"#).await;
    assert_eq!(
        changed.data()["features"],
        json!({"inbound_contacts": true, "template_dispatch": false})
    );
    assert_eq!(site.operator("GET", &at, "").await.data(), changed.data());
    let all = site.operator("GET", "/companies", "").await.data();
    assert_eq!(all.as_array().expect("a list").len(), 2);
    assert_eq!(site.operator("PUT", &at, "{}").await.status, 405);
    assert_eq!(site.operator("DELETE", &at, "").await.status, 200);
    assert_eq!(site.operator("GET", &at, "").await.status, 404);
}

#[tokio::test]
async fn an_unknown_company_is_404_on_every_path() {
    let site = Site::new().await;
    for company in ["01939b5e-0000-7000-8000-00000000dead", "x"] {
        for path in ["", "/keys", "/contacts", "/tags", "/links", "/organizations"] {
            let reply = site.operator("GET", &format!("/companies/{company}{path}"), "").await;
            assert_eq!(reply.refusal(), (404, "NOT_FOUND".to_owned()), "{path}");
        }
        let reply = site.operator("POST", &format!("/companies/{company}/tags"), "{").await;
        assert_eq!(reply.status, 404);
    }
}

#[tokio::test]
async fn a_key_is_shown_once_and_revoked_at_once() {
    let site = Site::new().await;
    let key = made(&site, "/keys", json!({"name": "k", "scopes": ["contacts:read"]})).await;
    let secret = key["key"].as_str().expect("the key").to_owned();
    let at = one("/keys", &key);
    assert_eq!(site.company("GET", &at, "").await.data().get("key"), None);
    let bearer = format!("Authorization: Bearer {secret}\r\n");
    assert_eq!(site.send("GET", "/api/v1/lists", &bearer, b"").await.status, 200);
    site.company("DELETE", &at, "").await;
    assert_eq!(site.send("GET", "/api/v1/lists", &bearer, b"").await.status, 401);
}

#[tokio::test]
async fn a_contact_is_imported_and_everything_of_it_read_back() {
    let site = Site::new().await;
    let tag = made(&site, "/tags", json!({"name": "VIP", "color": "gold"})).await;
    let contact = made(
        &site,
        "/contacts",
        json!({
            "identifier": "120363@g.us", "is_group": true, "name": "Grupo",
            "opted_out_at": "2026-01-02T03:04:05Z", "tag_ids": [tag["id"]],
            "created_at": "2025-01-01T00:00:00.000Z",
        }),
    )
    .await;
    assert_eq!(contact["opted_out_at"], "2026-01-02T03:04:05.000Z");
    assert_eq!(contact["tags"][0]["name"], "VIP");
    assert_eq!(contact["lists"], json!([]));
    let again = site.company("POST", "/contacts", r#"{"identifier":"120363@g.us"}"#).await;
    assert_eq!(again.refusal(), (409, "CONTACT_EXISTS".to_owned()));
    assert_eq!(again.json()["contact_id"], contact["id"]);

    let at = one("/contacts", &contact);
    let changed = site.company("PATCH", &at, r#"{"priority":"high","tag_ids":[]}"#).await.data();
    assert_eq!((&changed["priority"], &changed["tags"]), (&json!("high"), &json!([])));

    let page = site.company("GET", "/contacts?is_group=true&include=link_clicks", "").await.json();
    assert_eq!(page["pagination"]["total"], 1);
    assert_eq!(page["data"][0]["link_clicks"]["total"], 0);
    assert_eq!(site.company("GET", "/contacts?limit=0", "").await.status, 400);
    assert_eq!(site.company("DELETE", &at, "").await.json(), json!({"success": true}));
}

#[tokio::test]
async fn contacts_join_a_list() {
    let site = Site::new().await;
    let contact = made(&site, "/contacts", json!({"phone": "+5511987654321"})).await;
    let list = made(&site, "/lists", json!({"name": "l"})).await;
    let at = format!("{}/contacts", one("/lists", &list));
    let body = json!({"contact_ids": [contact["id"]]}).to_string();
    let first = site.company("POST", &at, &body).await;
    assert_eq!((first.status, first.data()), (200, json!({"added": 1, "already_in_list": 0})));
    assert_eq!(site.company("POST", &at, &body).await.data()["already_in_list"], 1);
}

#[tokio::test]
async fn a_document_comes_back_byte_for_byte() {
    let site = Site::new().await;
    let contact = made(&site, "/contacts", json!({"phone": "+5511987654321"})).await;
    let at = format!("{}/documents", one("/contacts", &contact));
    let path = format!("/operator/v1/companies/{}{at}", site.kit.company.id);
    let headers = format!("Authorization: Bearer {TOKEN}\r\nContent-Type: application/pdf\r\n");
    let bytes = [0, 159, 146, 150, b'\r', b'\n'];
    let named = format!("{path}?filename=relat%C3%B3rio+1.pdf");
    let reply = site.send("POST", &named, &headers, &bytes).await;
    assert_eq!((reply.status, &reply.data()["filename"]), (201, &json!("relatório 1.pdf")));
    assert_eq!(reply.data()["size"], 6);

    let read = site.company("GET", &one(&at, &reply.data()), "").await;
    assert_eq!(read.body, bytes);
    assert_eq!(read.header("content-type"), Some("application/octet-stream"));
    assert_eq!(read.header("x-content-type-options"), Some("nosniff"));
    let disposition = read.header("content-disposition").expect("a disposition");
    assert!(disposition.starts_with("attachment; "), "{disposition}");

    assert_eq!(site.company("GET", &at, "").await.data().as_array().expect("a list").len(), 1);
    assert_eq!(site.company("POST", &at, "x").await.status, 422);
    let unknown = at.replace(contact["id"].as_str().expect("an id"), "x");
    assert_eq!(site.company("GET", &unknown, "").await.status, 404);
}

#[tokio::test]
async fn a_document_over_25_mib_and_an_operator_body_over_16_mib_are_413() {
    let site = Site::new().await;
    let contact = made(&site, "/contacts", json!({"phone": "+5511987654321"})).await;
    let at = format!("{}/documents?filename=a", one("/contacts", &contact));
    let company = site.kit.company.id;
    for (path, limit) in [(at.as_str(), 25 * 1024 * 1024), ("/tags", 16 * 1024 * 1024)] {
        let head = format!(
            "POST /operator/v1/companies/{company}{path} HTTP/1.1\r\nHost: t\r\nAuthorization: \
             Bearer {TOKEN}\r\nContent-Length: {}\r\n\r\n",
            limit + 1
        );
        let reply = site.raw(head.as_bytes()).await.expect("an answer");
        assert_eq!(reply.refusal(), (413, "PAYLOAD_TOO_LARGE".to_owned()), "{path}");
    }
}

#[tokio::test]
async fn a_tracked_link_leads_on_and_counts_people_only() {
    let site = Site::new().await;
    let contact = made(&site, "/contacts", json!({"phone": "+5511987654321"})).await;
    let url = "https://example.com/oferta?a=1&b=%20";
    let link = made(&site, "/links", json!({"contact_id": contact["id"], "url": url})).await;
    let code = link["code"].as_str().expect("a code");
    assert!(link["short_url"].as_str().expect("a URL").ends_with(&format!("/l/{code}")));
    let browser =
        "User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0\r\n";
    let path = format!("/l/{code}");
    let reply = site.send("GET", &path, browser, b"").await;
    assert_eq!((reply.status, reply.header("location")), (302, Some(url)));
    assert_eq!(reply.header("cache-control"), Some("no-store"));
    // A preview, a prefetch and a HEAD are redirected too, but not counted.
    assert_eq!(site.send("GET", &path, "User-Agent: WhatsApp/2.23\r\n", b"").await.status, 302);
    let prefetch = format!("{browser}Sec-Purpose: prefetch\r\n");
    assert_eq!(site.send("GET", &path, &prefetch, b"").await.status, 302);
    assert_eq!(site.send("HEAD", &path, browser, b"").await.status, 302);
    let page = site.company("GET", "/contacts?include=link_clicks", "").await.json();
    assert_eq!(page["data"][0]["link_clicks"]["total"], 1);

    site.company("DELETE", &one("/links", &link), "").await;
    assert_eq!(site.send("GET", &path, browser, b"").await.refusal().0, 404);
    assert_eq!(site.send("POST", &path, browser, b"").await.status, 405);
}

#[tokio::test]
async fn an_organization_made_by_a_cnpj_is_there_to_see() {
    let site = Site::new().await;
    let body = r#"{"phone":"+5511987654321","cnpj":"19.131.243/0001-97"}"#;
    assert_eq!(site.api("POST", "/contacts", body).await.status, 201);
    let all = site.company("GET", "/organizations", "").await.data();
    assert_eq!(all[0]["cnpj"], "19131243000197");
    let one = site.company("GET", &one("/organizations", &all[0]), "").await.data();
    assert_eq!(one, all[0]);
    assert_eq!(site.company("GET", "/organizations/x", "").await.status, 404);
}
