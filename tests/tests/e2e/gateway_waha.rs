//! Connections to WAHA: their state, and the pairing of a phone: docs/gateways/waha.md; D67, D68.

use std::ops::{Deref, DerefMut};
use std::time::Duration;

use recado_testkit::gateways::{FakeWaha, WahaEngine};
use recado_tests::backend::Setup;
use recado_tests::{
    FromStore, Gated, GatewayServer, Request, StoreKind, both_stores, digits, mobile, text,
};
use serde_json::{Map, Value, json};

/// A world with a connection to a fake of WAHA on a socket.
#[derive(Debug)]
pub(crate) struct Waha(Gated<FakeWaha>);

impl Deref for Waha {
    type Target = Gated<FakeWaha>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl DerefMut for Waha {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

impl FromStore for Waha {
    async fn from_store(kind: StoreKind) -> Self {
        Self::on(kind, WahaEngine::Gows).await
    }
}

impl Waha {
    /// A connection that the operator has set to connected, with a session on this engine.
    pub(crate) async fn on(kind: StoreKind, engine: WahaEngine) -> Self {
        Self::reported(kind, engine, json!({"status": "connected"})).await
    }

    /// A connection whose status was not set.
    pub(crate) async fn unknown(kind: StoreKind) -> Self {
        Self::reported(kind, WahaEngine::Gows, json!({})).await
    }

    async fn reported(kind: StoreKind, engine: WahaEngine, more: Value) -> Self {
        Self::with(kind, engine, Setup::default(), more).await
    }

    /// A connection with more fields, in a world with these settings.
    pub(crate) async fn with(
        kind: StoreKind,
        engine: WahaEngine,
        setup: Setup,
        more: Value,
    ) -> Self {
        let fake = ("waha", FakeWaha::new(engine));
        Self(Gated::with(kind, setup, fake, settings, more).await)
    }

    /// Posts the webhook of a message, and returns the message.
    pub(crate) async fn brings(&self, message: &Value) -> Value {
        self.takes(&self.fake.webhook_message(message)).await;
        self.known(&raw(message)).await
    }

    /// Receives a text, and returns the message.
    pub(crate) async fn hears(&self, from: &str, words: &str) -> Value {
        self.brings(&self.fake.receive(from, "Maria", words)).await
    }
}

/// The settings of a connection to this WAHA.
pub(crate) fn settings(fake: &FakeWaha, gateway: &GatewayServer) -> Map<String, Value> {
    let settings = fake.settings_at(&gateway.url());
    settings.as_object().expect("an object").clone()
}

/// The raw id of a message in WAHA's form.
pub(crate) fn raw(message: &Value) -> String {
    let id = message["id"].as_str().expect("an id");
    id.split('_').nth(2).expect("a raw id").to_owned()
}

/// WAHA's address of a phone.
pub(crate) fn chat(phone: &str) -> String {
    format!("{}@c.us", digits(phone))
}

/// Requests the pairing code in a format.
async fn code(waha: &Waha, accept: &str) -> recado_tests::ScriptedAnswer {
    let path = format!("/operator/v1/companies/{}/connections/{}/qr", waha.us.id, waha.connection);
    let request = Request::new("GET", path).bearer(recado_tests::OPERATOR);
    waha.send(request.header("accept", accept)).await
}

const MINUTE: Duration = Duration::from_secs(60);

#[both_stores]
async fn a_new_connection_is_disconnected_until_its_session_is_looked_at(kind: StoreKind) {
    let waha = Waha::unknown(kind).await;
    assert_eq!(waha.status().await, "disconnected");
    waha.send_text(&mobile(1), "oi").await.expect_error(422, "CONNECTION_REQUIRED");
    waha.jobs().await;
    assert_eq!(waha.status().await, "connected");
    waha.sent(&mobile(1), "oi").await;
    waha.well_behaved();
}

#[both_stores]
async fn the_operator_can_have_it_looked_at_now(kind: StoreKind) {
    let waha = Waha::unknown(kind).await;
    let reported = waha.asks("check").await.expect(200);
    assert_eq!(reported["connection"]["status"], "connected");
    assert_eq!(reported["answered"], true);
    assert_eq!(reported["detail"]["status"], "WORKING");
    for word in ["STOPPED", "STARTING", "SCAN_QR_CODE", "FAILED", "PASSKEY_REQUIRED"] {
        waha.fake.set_status(word);
        let reported = waha.asks("check").await.expect(200);
        assert_eq!(reported["connection"]["status"], "disconnected", "{word}");
        assert_eq!(reported["detail"]["status"], word);
    }
    waha.fake.set_session_there(false);
    let reported = waha.asks("check").await.expect(200);
    assert_eq!(
        (&reported["answered"], &reported["connection"]["status"]),
        (&json!(true), &json!("disconnected"))
    );
    waha.well_behaved();
}

#[both_stores]
async fn a_gateway_that_cannot_be_reached_changes_nothing(waha: Waha) {
    waha.gateway.stop().await;
    let reported = waha.asks("check").await.expect(200);
    assert_eq!(reported["answered"], false);
    assert_eq!(reported["detail"], Value::Null);
    assert_eq!(reported["connection"]["status"], "connected");
    for _ in 0..12 {
        waha.later(MINUTE).await;
    }
    assert_eq!(waha.status().await, "connected");
    waha.gateway.resume().await;
    waha.fake.set_status("FAILED");
    for _ in 0..6 {
        waha.later(MINUTE).await;
    }
    assert_eq!(waha.status().await, "disconnected");
    // While the session does not work, its state is read every minute.
    waha.fake.set_status("WORKING");
    waha.later(MINUTE).await;
    assert_eq!(waha.status().await, "connected");
}

#[both_stores]
async fn a_wrong_key_is_no_connection(waha: Waha) {
    waha.set(json!({"api_key": "another"})).await;
    let reported = waha.asks("check").await.expect(200);
    assert_eq!(
        (&reported["answered"], &reported["connection"]["status"]),
        (&json!(true), &json!("disconnected"))
    );
    waha.set(json!({"api_key": "waha-api-key"})).await;
    waha.jobs().await;
    assert_eq!(waha.status().await, "connected", "new settings are tried at once");
}

#[both_stores]
async fn the_session_reports_its_state_by_webhook(waha: Waha) {
    for (word, status) in [
        ("FAILED", "disconnected"),
        ("SCAN_QR_CODE", "disconnected"),
        ("WORKING", "connected"),
        ("STARTING", "connected"),
        ("STOPPED", "disconnected"),
        ("STARTING", "disconnected"),
        ("WORKING", "connected"),
    ] {
        waha.takes(&waha.fake.webhook_status(word)).await;
        assert_eq!(waha.status().await, status, "{word}");
    }
    waha.sent(&mobile(1), "oi").await;
    waha.takes(&waha.fake.webhook_status("FAILED")).await;
    waha.send_text(&mobile(1), "oi").await.expect_error(422, "CONNECTION_REQUIRED");
    waha.well_behaved();
}

#[both_stores]
async fn a_phone_is_paired_by_a_code_in_three_forms(waha: Waha) {
    waha.fake.set_status("SCAN_QR_CODE");
    let json = code(&waha, "application/json").await.expect(200);
    assert_eq!(json, json!({"text": "2@pairing,code", "png": "iVBORw0KGgo="}));
    let any = waha.about("qr").await;
    assert_eq!(any, json);
    let picture = code(&waha, "image/png").await;
    assert_eq!((picture.status, picture.header("content-type")), (200, "image/png".to_owned()));
    assert_eq!(picture.body.as_ref(), b"\x89PNG\r\n\x1a\n");
    let plain = code(&waha, "text/plain").await;
    assert_eq!(plain.status, 200, "{}", plain.show());
    assert!(plain.header("content-type").starts_with("text/plain"), "{}", plain.show());
    assert_eq!(plain.body.as_ref(), b"2@pairing,code");
    for answer in [&picture, &plain] {
        assert!(answer.header("cache-control").contains("no-store"), "{}", answer.show());
    }
    waha.well_behaved();
}

#[both_stores]
async fn a_session_that_stands_still_is_started_for_the_code(waha: Waha) {
    for word in ["STOPPED", "FAILED"] {
        waha.fake.set_status(word);
        for _ in 0..2 {
            let answer = code(&waha, "application/json").await;
            answer.expect_error(503, "UNAVAILABLE");
            assert!(!answer.header("retry-after").is_empty(), "{}", answer.show());
        }
        let asked = waha.fake.requests();
        let starts = asked.iter().filter(|request| request.path.ends_with("/start")).count();
        assert_eq!(starts, if word == "STOPPED" { 1 } else { 2 }, "each is started once");
        waha.fake.set_status("SCAN_QR_CODE");
        code(&waha, "application/json").await.expect(200);
    }
    waha.well_behaved();
}

#[both_stores]
async fn a_paired_phone_is_409_and_counts_as_connected(kind: StoreKind) {
    let waha = Waha::unknown(kind).await;
    waha.fake.set_status("SCAN_QR_CODE");
    waha.jobs().await;
    code(&waha, "application/json").await.expect(200);
    assert_eq!(waha.status().await, "disconnected");
    waha.fake.set_status("WORKING");
    for accept in ["application/json", "image/png", "text/plain"] {
        code(&waha, accept).await.expect_error(409, "ALREADY_PAIRED");
    }
    assert_eq!(waha.status().await, "connected");
    waha.well_behaved();
}

#[both_stores]
async fn a_code_that_the_gateway_will_not_give_is_502(waha: Waha) {
    waha.fake.set_session_there(false);
    code(&waha, "application/json").await.expect_error(502, "PROVIDER_ERROR");
    waha.gateway.stop().await;
    code(&waha, "application/json").await.expect_error(502, "PROVIDER_ERROR");
    let simulated = waha.qr().await;
    let path = format!("C/connections/{simulated}/qr");
    let answer = waha.operator("GET", &path, Value::Null).await;
    answer.expect_error(422, "VALIDATION_ERROR");
}

#[both_stores]
async fn secrets_are_in_no_view_of_a_connection(waha: Waha) {
    for path in ["C/connections".to_owned(), format!("C/connections/{}", waha.connection)] {
        let shown = waha.operator("GET", &path, Value::Null).await.show();
        assert!(!shown.contains("waha-api-key") && !shown.contains("waha-hmac-key"), "{shown}");
    }
    let view = waha.connection_view(&waha.connection).await;
    assert_eq!(view["settings"]["session"], "loja1");
    let address = text(&view["webhook_url"]);
    let path = format!("/api/webhooks/provider/{}", waha.connection);
    assert!(address.ends_with(&path), "{address}");
}
