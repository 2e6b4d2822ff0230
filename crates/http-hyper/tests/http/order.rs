//! The order of checks (D6) and the answer of each (D5).

use crate::site::{Setup, Site};

const UNKNOWN: &str = "/contacts/01939b5e-0000-7000-8000-00000000dead";

async fn limited_key(site: &Site, scopes: &str, plan: &str) -> String {
    let company = site
        .operator("POST", "/companies", &format!(r#"{{"name":"X","plan":"{plan}"}}"#))
        .await
        .data();
    let path = format!("/companies/{}/keys", company["id"].as_str().expect("an id"));
    let body = format!(
        r#"{{"name":"k","scopes":{scopes},"rate_per_minute":2,"export_rate_per_minute":1}}"#
    );
    let key = site.operator("POST", &path, &body).await.data()["key"].clone();
    format!("Authorization: Bearer {}\r\n", key.as_str().expect("a key"))
}

#[tokio::test]
async fn without_a_key_every_path_under_api_v1_answers_401() {
    let site = Site::new().await;
    for path in ["/api/v1", "/api/v1/", "/api/v1/contacts", "/api/v1/nothing", "/api/v1/contacts/"]
    {
        for (method, headers) in [
            ("GET", ""),
            ("PUT", "Authorization: Bearer rk_wrong\r\n"),
            ("POST", "Authorization: Basic cms6\r\n"),
        ] {
            let reply = site.send(method, path, headers, b"").await;
            assert_eq!(reply.refusal(), (401, "UNAUTHORIZED".to_owned()), "{method} {path}");
            assert_eq!(reply.header("www-authenticate"), Some("Bearer"));
        }
    }
}

#[tokio::test]
async fn two_authorization_headers_are_401_and_the_scheme_has_no_case() {
    let site = Site::new().await;
    let once = site.bearer();
    let reply = site.send("GET", "/api/v1/lists", &format!("{once}{once}"), b"").await;
    assert_eq!(reply.status, 401);
    let lower = once.replace("Bearer", "bEARER");
    assert_eq!(site.send("GET", "/api/v1/lists", &lower, b"").await.status, 200);
}

#[tokio::test]
async fn with_a_key_an_unknown_path_is_404_and_an_unknown_method_405() {
    let site = Site::new().await;
    for path in ["", "/nothing", "/contacts/", "/connections", "/contacts/x/y"] {
        let reply = site.api("GET", path, "").await;
        assert_eq!(reply.refusal(), (404, "NOT_FOUND".to_owned()), "{path}");
    }
    let reply = site.api("PUT", "/contacts", "{}").await;
    assert_eq!(reply.refusal(), (405, "METHOD_NOT_ALLOWED".to_owned()));
    assert_eq!(reply.header("allow"), Some("GET, HEAD, POST"));
    assert_eq!(
        site.api("POST", UNKNOWN, "{}").await.header("allow"),
        Some("GET, HEAD, PATCH, DELETE")
    );
}

#[tokio::test]
async fn the_plan_comes_before_the_scope_and_the_scope_before_the_rate() {
    let site = Site::new().await;
    let starter = limited_key(&site, "[]", "starter").await;
    let reply = site.send("GET", "/api/v1/contacts", &starter, b"").await;
    assert_eq!(reply.refusal(), (403, "PLAN_REQUIRED".to_owned()));
    assert_eq!(reply.json()["details"]["required_plan"], "enterprise");

    let reader = limited_key(&site, r#"["contacts:read"]"#, "enterprise").await;
    // Calls that are refused for lack of a scope are not charged.
    for _ in 0..5 {
        let reply = site.send("POST", "/api/v1/contacts", &reader, b"not json").await;
        assert_eq!(reply.refusal(), (403, "INSUFFICIENT_SCOPE".to_owned()));
        assert_eq!(reply.json()["details"]["required_scope"], "contacts:write");
    }
    assert_eq!(site.send("GET", "/api/v1/contacts", &reader, b"").await.status, 200);
}

#[tokio::test]
async fn the_rate_comes_before_size_and_body_and_later_refusals_are_charged() {
    let site = Site::new().await;
    let writer = limited_key(&site, r#"["contacts:write"]"#, "enterprise").await;
    for _ in 0..2 {
        let reply = site.send("POST", "/api/v1/contacts", &writer, b"not json").await;
        assert_eq!(reply.refusal(), (400, "INVALID_BODY".to_owned()));
    }
    let large = format!("{writer}Content-Encoding: gzip\r\n");
    let reply = site.send("POST", "/api/v1/contacts", &large, &[b' '; 2_000_000]).await;
    assert_eq!(reply.refusal(), (429, "RATE_LIMITED".to_owned()));
    // Two calls a minute: one refills in 30 seconds.
    assert_eq!(reply.header("retry-after"), Some("30"));
}

#[tokio::test]
async fn an_export_call_uses_both_allowances_and_a_listing_only_one() {
    let site = Site::new().await;
    let reader = limited_key(&site, r#"["contacts:read"]"#, "enterprise").await;
    let export = "/api/v1/contacts?order_by=created_at";
    assert_eq!(site.send("GET", export, &reader, b"").await.status, 200);
    let refused = site.send("GET", export, &reader, b"").await;
    assert_eq!((refused.status, refused.header("retry-after")), (429, Some("60")));
    // The refused export was charged to neither limit.
    assert_eq!(site.send("GET", "/api/v1/contacts", &reader, b"").await.status, 200);
    assert_eq!(site.send("GET", "/api/v1/contacts", &reader, b"").await.status, 429);
}

#[tokio::test]
async fn an_id_that_is_no_uuid_answers_like_one_that_never_existed() {
    let site = Site::new().await;
    for (method, body) in [("GET", ""), ("DELETE", ""), ("PATCH", "{}")] {
        let unknown = site.api(method, UNKNOWN, body).await;
        let malformed = site.api(method, "/contacts/x", body).await;
        assert_eq!(unknown.refusal(), (404, "NOT_FOUND".to_owned()), "{method}");
        assert_eq!(unknown.json(), malformed.json(), "{method}");
    }
    // The body comes before the record.
    for path in [UNKNOWN, "/contacts/x"] {
        assert_eq!(site.api("PATCH", path, r#"{"nmae":1}"#).await.status, 422);
        assert_eq!(site.api("PATCH", path, "[").await.status, 400);
    }
}

/// R6.
#[tokio::test]
async fn without_an_operator_token_no_operator_path_exists() {
    for token in [None, Some("")] {
        let site = Setup { token, ..Setup::new().await }.start().await;
        for path in ["/operator", "/operator/v1/companies", "/operator/v1/nothing"] {
            for headers in ["", "Authorization: Bearer x\r\n", "Authorization: Bearer \r\n"] {
                let reply = site.send("GET", path, headers, b"").await;
                assert_eq!(reply.refusal(), (404, "NOT_FOUND".to_owned()));
            }
        }
    }
}

/// R6.
#[tokio::test]
async fn a_wrong_operator_token_is_401_on_every_operator_path() {
    let site = Site::new().await;
    let key = site.bearer();
    for path in ["/operator", "/operator/v1/companies", "/operator/v1/nothing"] {
        for headers in ["", "Authorization: Bearer wrong\r\n", key.as_str()] {
            let reply = site.send("GET", path, headers, b"").await;
            assert_eq!(reply.refusal(), (401, "UNAUTHORIZED".to_owned()), "{path}");
        }
    }
    assert_eq!(site.operator("GET", "/nothing", "").await.status, 404);
}
