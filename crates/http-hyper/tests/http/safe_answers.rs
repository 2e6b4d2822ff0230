//! Headers that keep a browser from running what an answer holds (R173).

use serde_json::{Value, json};

use crate::site::{Reply, Site, TOKEN};

fn is_safe(what: &str, reply: &Reply) {
    assert_eq!(reply.header("x-content-type-options"), Some("nosniff"), "{what}");
    let policy = reply.header("content-security-policy").expect("a policy");
    // The page at /docs runs its own files (R276).
    if reply.header("content-type").is_some_and(|kind| kind.starts_with("text/html")) {
        assert!(what.ends_with(" /docs") || what == "/docs", "{what} is a page");
        assert!(policy.starts_with("default-src 'none'; script-src 'self'; "), "{what}: {policy}");
        assert!(policy.ends_with("frame-ancestors 'none'"), "{what}: {policy}");
    } else {
        assert_eq!(policy, "default-src 'none'; frame-ancestors 'none'", "{what}");
    }
    let repeated = reply.headers.iter().filter(|(name, _)| name == "x-content-type-options");
    assert_eq!(repeated.count(), 1, "{what}");
}

/// The path of the document with a value for each parameter.
fn filled(template: &str, company: &str) -> String {
    let segments = template.split('/').map(|segment| match segment {
        "{company_id}" => company.to_owned(),
        parameter if parameter.starts_with('{') => {
            "01a19b82-28af-732f-8b12-24083fd22f89".to_owned()
        }
        fixed => fixed.to_owned(),
    });
    segments.collect::<Vec<_>>().join("/")
}

/// R173.
#[tokio::test]
async fn every_route_answers_with_them_whether_it_refuses_or_not() {
    let site = Site::new().await;
    let document: Value =
        serde_json::from_str(&recado_http_hyper::openapi(&[])).expect("a document");
    let company = site.kit.company.id.to_string();
    let operator = format!("Authorization: Bearer {TOKEN}\r\n");
    let mut statuses = std::collections::BTreeSet::new();
    for (template, methods) in document["paths"].as_object().expect("paths") {
        let path = filled(template, &company);
        let known = if path.starts_with("/operator") { &operator } else { &site.bearer() };
        for method in methods.as_object().expect("methods").keys() {
            let method = method.to_uppercase();
            if !["GET", "POST", "PUT", "PATCH", "DELETE"].contains(&method.as_str()) {
                continue;
            }
            for headers in ["", known] {
                let reply = site.send(&method, &path, headers, br#"{"name":"x"}"#).await;
                is_safe(&format!("{method} {path}"), &reply);
                statuses.insert(reply.status);
            }
        }
        is_safe(&path, &site.send("HEAD", &path, known, b"").await);
        is_safe(&path, &site.send("PUT", &path, "Content-Encoding: gzip\r\n", b"{").await);
    }
    is_safe("an unknown path", &site.send("GET", "/", "", b"").await);
    for status in [200, 201, 400, 401, 404, 422] {
        assert!(statuses.contains(&status), "{status} is not among {statuses:?}");
    }
}

/// R173.
#[tokio::test]
async fn a_file_is_never_a_page() {
    let site = Site::new().await;
    let body = json!({"phone": "+5511987654321"}).to_string();
    let contact = site.company("POST", "/contacts", &body).await.data();
    let id = contact["id"].as_str().expect("an id");
    let documents = format!("/contacts/{id}/documents");
    let page = "<html><script>alert(1)</script>";
    let attach = format!("{documents}?filename=a.html");
    let attached = site.company("POST", &attach, page).await.data();
    let path = format!("{documents}/{}", attached["id"].as_str().expect("an id"));
    let read = site.company("GET", &path, "").await;
    assert_eq!((read.status, read.body.as_slice()), (200, page.as_bytes()));
    is_safe("a document", &read);
    assert_eq!(read.header("content-type"), Some("application/octet-stream"));
    let disposition = read.header("content-disposition").expect("a disposition");
    assert!(disposition.starts_with("attachment;"), "{disposition}");
}
