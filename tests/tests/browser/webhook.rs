//! A webhook is debugged at its pages.

use std::time::Duration;

use recado_core::access::OperatorRole;
use recado_tests::{Hooks, Reply, Setup, StoreKind, mobile, on_sqlite};
use serde_json::json;

use crate::office::{person, signed_in};

/// An endpoint fails: its deliveries, attempts and bodies tell why; what it missed is sent again.
#[on_sqlite]
async fn a_webhook_that_fails_is_debugged(kind: StoreKind) {
    let second = Duration::from_secs(1);
    let retry_waits = Some([second; 4]);
    let setup = Setup { no_background: true, retry_waits, ..Setup::default() };
    let world = Hooks::with(kind, setup).await;
    let path = "/crm";
    world.hook(path, &["contact.created"]).await;
    world.receiver.answers(path, Reply::body(500, r#"{"error": "sem espaço em disco"}"#));
    world.create(json!({"phone": mobile(1), "name": "Maria Silva"})).await;
    let owner = person(&world, &world.us, OperatorRole::Owner, None).await;
    let browser = signed_in(&world, &owner).await;
    world.drain().await;
    browser.goto("/console/integration").await;
    browser.click_named("main td a", path).await;
    browser.sees_in("main td", "pending").await;
    browser.click_named("main td a", "contact.created").await;
    browser.sees_in("main pre", "Maria Silva").await;
    browser.sees_in("main section", "500").await;
    browser.click_named("main section summary", "Answer").await;
    browser.sees_in("main section", "sem espaço em disco").await;
    browser.has_no_barrier().await;
    // Until all attempts are used.
    for _ in 0..5 {
        world.pass(second * 2).await;
    }
    browser.reload().await;
    browser.sees_in("main dd", "failed").await;
    browser.sees_in("main", "Attempt 5").await;
    world.receiver.answers(path, Reply::status(200));
    browser.click_named("main button", "Send again").await;
    browser.sees_in("main dd", "pending").await;
    world.drain().await;
    browser.reload().await;
    browser.sees_in("main dd", "delivered").await;
    browser.sees_in("main section", "200").await;
    let last = world.receiver.to(path).pop().expect("a request");
    assert_eq!(last.event(), "contact.created");
}
