//! The reference as a page (R276).

use crate::site::Site;

/// The addresses that a page loads by itself.
fn loaded(page: &str) -> Vec<&str> {
    let marks = ["src=\"", "href=\"", "url(", "@import"];
    marks.iter().flat_map(|mark| page.split(mark).skip(1)).collect()
}

/// R276.
#[tokio::test]
async fn the_reference_is_a_page_that_loads_its_own_files_only() {
    let site = Site::new().await;
    let page = site.send("GET", "/docs", "", b"").await;
    assert_eq!(page.status, 200);
    assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"));
    let html = String::from_utf8(page.body.clone()).expect("text");
    assert!(!html.contains("<style") && !html.contains("<script>"), "{html}");
    let mut files = 0;
    for address in loaded(&html) {
        let address = address.split('"').next().expect("an address");
        assert!(!address.contains("//"), "{address} may be elsewhere");
        if let Some(name) = address.strip_prefix("docs/") {
            files += 1;
            let file = site.send("GET", &format!("/docs/{name}"), "", b"").await;
            assert_eq!(file.status, 200, "{name}");
            let kind = if name.ends_with(".css") { "text/css" } else { "text/javascript" };
            let kind = format!("{kind}; charset=utf-8");
            assert_eq!(file.header("content-type"), Some(kind.as_str()), "{name}");
            let compressed = file.header("content-encoding") == Some("gzip");
            assert_eq!(compressed, name.starts_with("swagger-ui"), "{name}");
            assert!(compressed || !String::from_utf8_lossy(&file.body).contains("://"), "{name}");
        }
    }
    assert_eq!(files, 4);
    assert_eq!(site.send("GET", "/docs/", "", b"").await.status, 404);
    assert_eq!(site.send("GET", "/docs/index.html", "", b"").await.status, 404);
    assert_eq!(site.send("POST", "/docs", "", b"").await.status, 405);
}

/// R276.
#[tokio::test]
async fn a_browser_loads_nothing_from_elsewhere_for_the_reference() {
    let site = Site::new().await;
    let page = site.send("GET", "/docs", "", b"").await;
    let policy = page.header("content-security-policy").expect("a policy");
    let mut allowed = Vec::new();
    for directive in policy.split("; ") {
        let (name, sources) = directive.split_once(' ').expect("a directive");
        for source in sources.split(' ') {
            assert!(["'none'", "'self'", "data:"].contains(&source), "{directive}");
            allowed.push((name, source));
        }
    }
    assert!(allowed.contains(&("default-src", "'none'")), "{policy}");
    assert!(allowed.contains(&("script-src", "'self'")), "{policy}");
    assert_eq!(allowed.iter().filter(|(_, source)| *source == "data:").count(), 1, "{policy}");
}
