//! What protects a session and a page, as HTTP shows it: R419, R420.

use recado_console::Access;
use recado_core::access::OperatorRole;
use recado_tests::{StoreKind, on_sqlite};

use crate::office::{Office, site};
use crate::routes;
use crate::visitor::{Visitor, escaped};

/// R419. Every answer forbids what is inline, other hosts and frames around it.
#[on_sqlite]
async fn every_answer_forbids_inline_scripts_and_frames(kind: StoreKind) {
    let office = Office::on(kind).await;
    let mut visitor = office.visitor(&office.member(OperatorRole::Owner).await).await;
    for route in routes::read().filter(|route| !routes::is_live(route)) {
        let answer = visitor.get(&routes::path(route, &office.ours)).await;
        let policy = answer.header("content-security-policy");
        for wanted in ["default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'"] {
            assert!(policy.contains(wanted), "{route:?}: {policy}");
        }
        for unwanted in ["unsafe", "*", "http:", "https:"] {
            assert!(!policy.contains(unwanted), "{route:?}: {policy}");
        }
        assert_eq!(answer.header("x-frame-options"), "DENY", "{route:?}");
        assert_eq!(answer.header("x-content-type-options"), "nosniff", "{route:?}");
        let kept = answer.header("cache-control");
        assert!(kept.contains("no-store") || kept.contains("private"), "{route:?}: {kept}");
    }
}

/// R420. A form from another site changes nothing, whatever it lacks.
#[on_sqlite]
async fn a_forged_form_is_refused(kind: StoreKind) {
    let office = Office::on(kind).await;
    let mut visitor = office.visitor(&office.member(OperatorRole::Owner).await).await;
    visitor.get("/console/account").await;
    assert!(!visitor.csrf.is_empty(), "a page has the token of its forms");
    let before = office.world.database.rows_of(&office.ours.tenant.id).await;
    let with_token = |token: &str| Visitor { csrf: token.to_owned(), ..visitor.clone() };
    for route in routes::write() {
        let path = routes::path(route, &office.ours);
        let own = visitor.whatever(route, &path);
        let from = |headers: &[(&str, &str)]| {
            let mut request = own.clone();
            let told = ["origin", "sec-fetch-site"];
            request.headers.retain(|(known, _)| !told.contains(&known.as_str()));
            let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).into()));
            request.headers.extend(headers);
            request
        };
        let mut all = vec![
            from(&[]),
            from(&[("sec-fetch-site", "cross-site")]),
            from(&[("sec-fetch-site", "same-site")]),
            from(&[("origin", "https://evil.example")]),
            from(&[("origin", "null")]),
        ];
        if route.access() != Access::Open {
            all.push(with_token("").whatever(route, &path));
            all.push(with_token(&"A".repeat(43)).whatever(route, &path));
        }
        for request in all {
            let answer = request.send(site(&office.world)).await;
            assert_eq!(answer.status, 403, "{route:?}: {}", answer.show());
        }
    }
    assert_eq!(visitor.get("/console/account").await.status, 200, "the session goes on");
    assert_eq!(office.world.database.rows_of(&office.ours.tenant.id).await, before);
}

/// R420. Another session's token does not serve.
#[on_sqlite]
async fn the_token_of_another_session_is_refused(kind: StoreKind) {
    let office = Office::on(kind).await;
    let person = office.member(OperatorRole::Owner).await;
    let (mut one, mut other) = (office.visitor(&person).await, office.visitor(&person).await);
    one.get("/console/account").await;
    other.get("/console/account").await;
    assert_ne!(one.csrf, other.csrf);
    one.csrf.clone_from(&other.csrf);
    assert_eq!(one.post("/console/sign-out", &[]).await.status, 403);
    assert_eq!(one.get("/console/account").await.status, 200);
}

/// R420. Signing in begins a session of its own: what somebody planted before is no session.
#[on_sqlite]
async fn a_planted_session_is_not_taken_over(kind: StoreKind) {
    let office = Office::on(kind).await;
    let person = office.member(OperatorRole::Agent).await;
    let own = office.visitor(&person).await;
    let (name, first) = own.cookies.iter().find(|(name, _)| name.contains("session")).expect("one");
    let mut planted = Visitor::at(site(&office.world));
    planted.cookies.insert(name.clone(), "A".repeat(43));
    let answer = office.signs_in(&mut planted, &person).await;
    assert_eq!(answer.status, 303, "{}", answer.show());
    let second = &planted.cookies[name];
    assert!(*second != "A".repeat(43) && second != first, "a session is new with each sign-in");
    let mut thief = Visitor::at(site(&office.world));
    thief.cookies.insert(name.clone(), "A".repeat(43));
    assert_ne!(thief.get("/console/account").await.status, 200);
}

/// R420. Signing out ends the session at the server, not only in the browser.
#[on_sqlite]
async fn a_session_that_was_signed_out_of_is_over(kind: StoreKind) {
    let office = Office::on(kind).await;
    let mut visitor = office.visitor(&office.member(OperatorRole::Agent).await).await;
    visitor.get("/console/account").await;
    let kept = visitor.clone();
    assert_eq!(visitor.post("/console/sign-out", &[]).await.status, 303);
    let mut thief = kept;
    assert_ne!(thief.get("/console/account").await.status, 200);
}

/// R420, R421. Cookies are out of the reach of scripts and of other sites.
#[on_sqlite]
async fn cookies_are_protected(kind: StoreKind) {
    for (public, secure) in [(None, false), (Some("https://crm.example.com"), true)] {
        let office = Office::reached_at(kind, public).await;
        let person = office.member(OperatorRole::Agent).await;
        let answer = office.signs_in(&mut Visitor::at(site(&office.world)), &person).await;
        let lines = answer.headers.get_all("set-cookie").iter().filter_map(|one| one.to_str().ok());
        let line = lines.into_iter().find(|line| line.contains("session")).expect("a cookie");
        for wanted in ["HttpOnly", "SameSite=", "Path=/"] {
            assert!(line.contains(wanted), "{line}");
        }
        assert!(!line.contains("Domain") && !line.contains("SameSite=None"), "{line}");
        assert_eq!(line.starts_with("__Host-"), secure, "{line}");
        assert_eq!(line.contains("; Secure"), secure, "{line}");
        let mut visitor = Visitor::at(site(&office.world));
        let choice = [("language", "pt-BR"), ("theme", "dark")];
        let answer = visitor.post("/console/choices", &choice).await;
        let lines = answer.headers.get_all("set-cookie").iter().filter_map(|one| one.to_str().ok());
        let lines: Vec<&str> = lines.collect();
        assert_eq!(lines.len(), 2, "{}", answer.show());
        for line in lines {
            assert!(line.contains("HttpOnly") && line.contains("SameSite=Lax"), "{line}");
            assert_eq!(line.contains("; Secure"), secure, "{line}");
        }
    }
}

/// R420. After signing in one is led to a page of the console, and to no other site.
#[on_sqlite]
async fn signing_in_leads_to_no_other_site(kind: StoreKind) {
    let office = Office::on(kind).await;
    let person = office.member(OperatorRole::Agent).await;
    for next in [
        "https://evil.example/console/",
        "//evil.example/console",
        "/\\evil.example",
        "/console/../..//evil.example",
        "/console\r\nLocation: https://evil.example",
        "javascript:alert(1)",
        "/consoleevil",
    ] {
        let mut visitor = Visitor::at(site(&office.world));
        visitor.get(&format!("/console/sign-in?next={}", escaped(next))).await;
        let answer = office.signs_in_to(&mut visitor, &person, next).await;
        let to = answer.header("location");
        assert_eq!(answer.status, 303, "{next}: {}", answer.show());
        let is_own = to.starts_with("/console") && !to.starts_with("/consoleevil");
        assert!(is_own && !to.contains("\\"), "{next} leads to {to}");
        assert!(answer.headers.get_all("location").iter().count() == 1, "{next}");
    }
}
