//! Signing in and out in a browser: R420.

use std::time::Duration;

use recado_core::access::OperatorRole;
use recado_core::accounts::TotpSecret;
use recado_core::secret::SecretBytes;
use recado_tests::{StoreKind, World, on_sqlite};
use serde_json::json;

use crate::harness::{Browser, ENTER, Language, Theme};
use crate::office::{PASSWORD, person, sign_in, site};

/// R420. Who has not signed in is led to the form, and from there to the page that was wanted.
#[on_sqlite]
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
#[on_sqlite]
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

/// R400, R420. With a second factor, a password alone signs nobody in, and no code serves twice.
#[on_sqlite]
async fn one_signs_in_with_a_second_factor(kind: StoreKind) {
    let world = World::start(kind).await;
    let ana = person(&world, &world.us, OperatorRole::Agent, Some("Ana")).await;
    let browser = Browser::at(site(&world)).await;
    sign_in(&browser, &ana).await;
    browser.goto("/console/account").await;
    browser.fill("input[name=factor_password]", PASSWORD).await;
    browser.click_named("main button", "Set up").await;
    browser.find("main svg[role=img]").await;
    browser.has_no_barrier().await;
    let secret = browser.find("pre.secret").await;
    let secret = browser.js("return arguments[0].innerText", json!([secret.reference()])).await;
    let app = TotpSecret::new(decoded(secret.as_str().expect("a text")));
    let code = || {
        let step = world.server.clock.now().millis() / 30_000;
        app.code(u64::try_from(step).expect("after 1970"))
    };
    browser.fill("input[name=code]", &code()).await;
    browser.click_named("main button", "Switch on").await;
    browser.sees("Recovery codes").await;
    browser.has_no_barrier().await;
    browser.click_named("header button", "Sign out").await;
    let try_with = async |code: &str| {
        browser.fill("input[name=email]", &ana.email).await;
        browser.fill("input[name=password]", PASSWORD).await;
        browser.fill("input[name=code]", code).await;
        browser.click("main button[type=submit]").await;
    };
    try_with("").await;
    browser.sees_in("[role=alert]", "authenticator").await;
    browser.has_no_barrier().await;
    try_with(&code()).await;
    browser.sees_in("[role=alert]", "not right").await;
    world.advance(Duration::from_secs(30));
    try_with(&code()).await;
    browser.find("header nav").await;
    browser.sees_in("header", "Ana").await;
}

/// The bytes of a text in Base32.
fn decoded(text: &str) -> SecretBytes {
    let mut bytes = Vec::new();
    let (mut bits, mut count) = (0_u32, 0);
    for letter in text.bytes().filter(u8::is_ascii_alphanumeric) {
        let value = match letter {
            b'2'..=b'7' => letter - b'2' + 26,
            _ => letter.to_ascii_uppercase() - b'A',
        };
        (bits, count) = ((bits << 5) | u32::from(value), count + 5);
        if count >= 8 {
            count -= 8;
            bytes.push(u8::try_from((bits >> count) & 0xff).expect("a byte"));
            bits &= (1 << count) - 1;
        }
    }
    SecretBytes::new(bytes)
}

/// R419. The language is that of the browser, until somebody picks one.
#[on_sqlite]
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
