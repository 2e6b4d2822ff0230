use http::Request;
use http::header::{COOKIE, HOST, SET_COOKIE};
use recado_core::access::OperatorRole;

use super::own_path;
use crate::harness::{PASSWORD, Shown, Site};

async fn sign_in(site: &Site, next: &str, session: &str) -> Shown {
    let fields = [("email", "member-0@example.com"), ("password", PASSWORD), ("next", next)];
    let form = form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
    let request = Request::post("/console/sign-in").header(HOST, "crm.example");
    let request = request.header("sec-fetch-site", "same-origin");
    site.send(request.header(COOKIE, format!("recado-session={session}")), form).await
}

/// R420.
#[test]
fn a_sign_in_leads_to_no_other_host() {
    assert_eq!(own_path(Some("/console/contacts?q=a")), "/console/contacts?q=a");
    for wrong in [
        "https://evil.example/console/",
        "//evil.example/console/",
        "/console/\\evil",
        "/consoleevil",
        "/console/\r\nset-cookie: a=b",
        "javascript:alert(1)",
        "",
    ] {
        assert_eq!(own_path(Some(wrong)), "/console", "{wrong:?}");
    }
}

/// R420.
#[tokio::test]
async fn signing_in_makes_a_session_of_its_own_and_leads_back() {
    let site = Site::new().await;
    site.owner().await;
    let shown = sign_in(&site, "//evil.example", "fixed-by-somebody").await;
    assert_eq!(shown.location(), "/console");
    let cookie = shown.headers[SET_COOKIE].to_str().expect("a text");
    assert!(!cookie.contains("fixed-by-somebody"), "{cookie}");
    for part in ["HttpOnly", "SameSite=Lax", "Path=/"] {
        assert!(cookie.contains(part), "{cookie}");
    }
    assert_eq!(sign_in(&site, "/console/contacts", "").await.location(), "/console/contacts");
}

/// R420.
#[tokio::test]
async fn a_write_without_the_token_or_from_elsewhere_is_refused() {
    let site = Site::new().await;
    let browser = site.as_role(OperatorRole::Owner).await;
    let path = "/console/sign-out";
    let own = browser.request(http::Method::POST, path).header("sec-fetch-site", "same-origin");
    assert_eq!(site.send(own, String::new()).await.status, 403);
    let other = browser.request(http::Method::POST, path).header("sec-fetch-site", "cross-site");
    assert_eq!(site.send(other, format!("csrf={}", browser.csrf())).await.status, 403);
    assert_eq!(browser.post(path, &[]).await.status, 303);
}

/// R419.
#[tokio::test]
async fn every_answer_has_the_headers_that_protect_it() {
    let site = Site::new().await;
    let browser = site.owner().await;
    for shown in [
        site.get("/console/sign-in").await,
        site.get("/console/contacts").await,
        site.get("/console/welcome").await,
        browser.get("/console/nothing").await,
        browser.get("/console/account").await,
    ] {
        let policy = shown.headers["content-security-policy"].to_str().expect("a text");
        assert!(policy.contains("frame-ancestors 'none'"), "{policy}");
        assert!(!policy.contains("unsafe"), "{policy}");
        assert_eq!(shown.headers["x-content-type-options"], "nosniff");
        assert_eq!(shown.headers["cache-control"], "no-store");
    }
}

/// R421.
#[tokio::test]
async fn a_choice_leads_back_to_its_page() {
    let site = Site::new().await;
    let request = Request::post("/console/choices").header(HOST, "crm.example");
    let request = request.header("sec-fetch-site", "same-origin");
    let request = request.header("referer", "http://crm.example/console/contacts?q=a");
    let shown = site.send(request, "language=pt-BR".to_owned()).await;
    assert_eq!(shown.location(), "/console/contacts?q=a");
    assert!(shown.headers[SET_COOKIE].to_str().expect("a text").contains("pt-BR"));
}
