//! Signing in and out in a browser: R420.

use recado_core::access::OperatorRole;
use recado_tests::{StoreKind, World, both_stores};

use crate::harness::{Browser, ENTER, Language, Theme};
use crate::office::{PASSWORD, person, sign_in, site};

/// R420. Who has not signed in is led to the form, and from there to the page that was wanted.
#[both_stores]
async fn one_signs_in_and_out(kind: StoreKind) {
    let world = World::start(kind).await;
    let ana = person(&world, &world.us, OperatorRole::Agent, Some("Ana")).await;
    let browser = Browser::at(site(&world)).await;
    browser.goto("/console/contacts").await;
    assert!(browser.path().await.starts_with("/console/sign-in?next="));
    browser.fill("input[name=email]", &ana.email).await;
    browser.fill("input[name=password]", "wrong-password-0123").await;
    browser.click("main button[type=submit]").await;
    browser.find("[role=alert]").await;
    assert!(browser.path().await.starts_with("/console/sign-in"));
    assert_eq!(browser.value("input[name=password]").await, "", "a password is not shown again");
    browser.fill("input[name=email]", &ana.email).await;
    browser.type_in("input[name=password]", PASSWORD).await;
    browser.press(&[ENTER]).await;
    browser.find("header nav").await;
    assert_eq!(browser.path().await, "/console/contacts");
    browser.sees_in("header", "Ana").await;
    browser.click_named("header button", "Sign out").await;
    browser.find("input[name=password]").await;
    browser.goto("/console/contacts").await;
    assert!(browser.path().await.starts_with("/console/sign-in"));
}

/// R420. The same is said of a wrong password and of an address that nobody has.
#[both_stores]
async fn an_unknown_address_is_refused_as_a_wrong_password_is(kind: StoreKind) {
    let world = World::start(kind).await;
    let ana = person(&world, &world.us, OperatorRole::Agent, Some("Ana")).await;
    let browser = Browser::at(site(&world)).await;
    let mut said = Vec::new();
    for email in [ana.email.as_str(), "nobody@example.com"] {
        browser.goto("/console/sign-in").await;
        browser.fill("input[name=email]", email).await;
        browser.fill("input[name=password]", "wrong-password-0123").await;
        browser.click("main button[type=submit]").await;
        browser.find("[role=alert]").await;
        said.push(browser.text().await);
    }
    assert_eq!(said[0], said[1]);
}

/// R419. The language is that of the browser, until somebody picks one.
#[both_stores]
async fn the_language_is_the_browsers(kind: StoreKind) {
    let world = World::start(kind).await;
    let ana = person(&world, &world.us, OperatorRole::Agent, Some("Ana")).await;
    let browser = Browser::at(site(&world)).await;
    browser.prefers(Language::Portuguese, Theme::Dark).await;
    sign_in(&browser, &ana).await;
    browser.sees_in("header", "Sair").await;
    browser.prefers(Language::English, Theme::Dark).await;
    browser.reload().await;
    browser.sees_in("header", "Sign out").await;
}
