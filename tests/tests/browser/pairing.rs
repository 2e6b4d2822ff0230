//! A phone is paired at the page of its connection, and what it hears is answered: R422 to R425,
//! R428.

use recado_core::access::OperatorRole;
use recado_testkit::gateways::{FakeWaha, WahaEngine};
use recado_tests::backend::Setup;
use recado_tests::{Gated, StoreKind, digits, mobile, on_sqlite, text};
use serde_json::json;

use crate::office::{person, signed_in};

/// What WAHA reports of a message that was read.
const READ: i64 = 3;

/// Pair, receive, answer, see it read, close, and see it open again.
#[on_sqlite]
async fn from_pairing_a_phone_to_a_conversation_that_opens_again(kind: StoreKind) {
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
    browser.click_named("main a", "Pair a phone").await;
    browser.find("#pairing [role=img][aria-label]").await;
    browser.has_no_barrier().await;
    browser.mark().await;
    waha.takes(&waha.fake.webhook_status("WORKING")).await;
    browser.sees_in("#pairing", "A phone is paired.").await;
    assert!(browser.is_marked().await, "the state appears by itself");
    browser.goto("/console/connections").await;
    browser.sees_in("main", "Connected").await;

    browser.goto("/console/inbox").await;
    browser.mark().await;
    let hears = async |words: &str| {
        let message = waha.fake.receive(&digits(&mobile(1)), "Maria Silva", words);
        waha.takes(&waha.fake.webhook_message(&message)).await;
    };
    hears("Bom dia! O pedido já saiu?").await;
    browser.sees_in("main", "Maria Silva").await;
    assert!(browser.is_marked().await, "a new conversation appears by itself");
    browser.open_conversation("Maria Silva").await;
    browser.sees_in("#messages", "O pedido já saiu?").await;
    browser.answer("Saiu hoje cedo.").await;
    browser.loses("#messages", "Read").await;
    browser.mark().await;
    let sent = waha.all_messages().await;
    let sent = sent.iter().find(|one| one["direction"] == "outbound").expect("the answer");
    waha.takes(&waha.fake.webhook_ack(&text(&sent["wamid"]), READ)).await;
    browser.sees_in("#messages", "Read").await;
    assert!(browser.is_marked().await, "states appear by themselves");
    browser.click("#panel form[action$='/close'] button").await;
    browser.sees_in("#panel", "Closed").await;
    browser.has_no_barrier().await;
    browser.mark().await;
    hears("Obrigada!").await;
    browser.sees_in("#messages", "Obrigada!").await;
    browser.loses("#panel", "Closed").await;
    assert!(browser.is_marked().await, "it opens by itself");
    waha.well_behaved();
}
