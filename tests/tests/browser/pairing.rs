//! A phone is paired at the page of its connection, which shows how far it is by itself.

use std::time::Duration;

use recado_core::access::OperatorRole;
use recado_testkit::gateways::{FakeWaha, WahaEngine};
use recado_tests::backend::Setup;
use recado_tests::{Gated, StoreKind, both_stores};
use serde_json::json;

use crate::office::{person, signed_in};

#[both_stores("the pages of a thread and of pairing, as they are, and this test do not agree yet")]
async fn a_phone_is_paired_at_the_page_of_its_connection(kind: StoreKind) {
    let waha = Gated::with(
        kind,
        Setup::default(),
        ("waha", FakeWaha::new(WahaEngine::Gows)),
        |fake, gateway| fake.settings_at(&gateway.url()).as_object().expect("an object").clone(),
        json!({"name": "Loja"}),
    )
    .await;
    waha.fake.set_status("SCAN_QR_CODE");
    waha.jobs().await;
    let owner = person(&waha.world, &waha.us, OperatorRole::Owner, None).await;
    let browser = signed_in(&waha.world, &owner).await;
    browser.goto("/console/connections").await;
    browser.sees_in("main", "Disconnected").await;
    browser.click_named("main a", "Loja").await;
    browser.click_named("main a, main button, main summary", "Pair").await;
    browser.find("main img[alt]").await;
    browser.mark().await;
    waha.fake.set_status("WORKING");
    waha.takes(&waha.fake.webhook_status("WORKING")).await;
    waha.later(Duration::from_secs(60)).await;
    browser.sees_in("main", "Connected").await;
    assert!(browser.is_marked().await, "the state appears by itself");
}
