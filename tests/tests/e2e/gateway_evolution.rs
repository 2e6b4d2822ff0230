//! Connections to Evolution: their state, the pairing of a phone, and sends:
//! docs/gateways/evolution.md; D15, D30, D38, D67, D68.

use std::ops::Deref;
use std::time::Duration;

use recado_testkit::gateways::{FakeEvolution, SendBehaviour};
use recado_tests::backend::Setup;
use recado_tests::{
    FromStore, Gated, GatewayServer, OPERATOR, Request, ScriptedAnswer, StoreKind, both_stores,
    digits, mobile, text,
};
use serde_json::{Map, Value, json};

const MINUTE: Duration = Duration::from_secs(60);
/// A number whose form on the channel has no ninth digit.
const MINAS: &str = "+5534991234567";

/// A world with a connection to a fake of Evolution on a socket.
#[derive(Debug)]
pub(crate) struct Evolution(Gated<FakeEvolution>);

impl Deref for Evolution {
    type Target = Gated<FakeEvolution>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl FromStore for Evolution {
    async fn from_store(kind: StoreKind) -> Self {
        Self::with(kind, Setup::default(), json!({"status": "connected"})).await
    }
}

impl Evolution {
    /// A connection with more fields, in a world with these settings.
    pub(crate) async fn with(kind: StoreKind, setup: Setup, more: Value) -> Self {
        let fake = ("evolution", FakeEvolution::new());
        Self(Gated::with(kind, setup, fake, settings, more).await)
    }

    /// Posts the webhook of a message, and returns the message.
    pub(crate) async fn brings(&self, record: &Value) -> Value {
        self.takes(&self.fake.webhook_message(record)).await;
        self.known(&id(record)).await
    }

    /// Receives a text, and returns the message.
    pub(crate) async fn hears(&self, phone: &str, words: &str) -> Value {
        self.brings(&self.fake.incoming(&digits(phone), words)).await
    }
}

/// The settings of a connection to this gateway.
pub(crate) fn settings(fake: &FakeEvolution, gateway: &GatewayServer) -> Map<String, Value> {
    let mut settings = fake.settings();
    settings.insert("base_url".to_owned(), json!(gateway.url()));
    settings
}

/// The id of a record.
pub(crate) fn id(record: &Value) -> String {
    text(&record["key"]["id"])
}

async fn code(world: &Evolution, accept: &str) -> ScriptedAnswer {
    let path =
        format!("/operator/v1/companies/{}/connections/{}/qr", world.us.id, world.connection);
    let request = Request::new("GET", path).bearer(OPERATOR);
    world.send(request.header("accept", accept)).await
}

/// Sends, and asserts that the message was certainly not sent, for this reason.
async fn refused(world: &Evolution, to: &str, error_type: &str, delivery_error: &str) {
    let answer = world.send_text(to, "oi").await;
    let details = answer.expect_error(502, "PROVIDER_ERROR");
    assert_eq!(details["error_type"], error_type, "{}", answer.show());
    assert_eq!(details["delivery_error"], delivery_error, "{}", answer.show());
    let message = world.message(&text(&details["message_id"])).await;
    assert_eq!(message["status"], "failed");
    assert_eq!(message["error_type"], error_type);
    assert_eq!(message["delivery_error"]["code"], delivery_error);
    for secret in ["T-1", "hook-token"] {
        assert!(!answer.show().contains(secret), "{}", answer.show());
    }
}

#[both_stores]
async fn a_new_connection_is_disconnected_until_its_instance_is_looked_at(kind: StoreKind) {
    let world = Evolution::with(kind, Setup::default(), json!({})).await;
    assert_eq!(world.status().await, "disconnected");
    world.send_text(&mobile(1), "oi").await.expect_error(422, "CONNECTION_REQUIRED");
    world.jobs().await;
    assert_eq!(world.status().await, "connected");
    world.sent(&mobile(1), "oi").await;
    let view = world.connection_view(&world.connection).await;
    let shown = view.to_string();
    assert!(!shown.contains("T-1") && !shown.contains("hook-token"), "{shown}");
    let path = format!("/api/webhooks/provider/{}", world.connection);
    assert!(text(&view["webhook_url"]).ends_with(&path), "{shown}");
    world.well_behaved();
}

#[both_stores]
async fn the_operator_can_have_it_looked_at_now(world: Evolution) {
    for (state, status) in
        [("close", "disconnected"), ("open", "connected"), ("connecting", "disconnected")]
    {
        world.fake.set_state(state);
        let reported = world.asks("check").await.expect(200);
        assert_eq!(reported["answered"], true);
        assert_eq!(reported["connection"]["status"], status, "{state}");
        assert_eq!(reported["detail"]["state"], state);
    }
    world.fake.set_state("open");
    world.asks("check").await.expect(200);
    world.fake.remove_instance();
    let reported = world.asks("check").await.expect(200);
    assert_eq!(
        (&reported["answered"], &reported["connection"]["status"]),
        (&json!(true), &json!("disconnected"))
    );
    world.well_behaved();
}

#[both_stores]
async fn a_gateway_that_cannot_be_reached_changes_nothing(world: Evolution) {
    world.gateway.stop().await;
    let reported = world.asks("check").await.expect(200);
    assert_eq!((&reported["answered"], &reported["detail"]), (&json!(false), &Value::Null));
    for _ in 0..12 {
        world.later(MINUTE).await;
    }
    assert_eq!(world.status().await, "connected");
    world.gateway.resume().await;
    world.fake.set_state("close");
    for _ in 0..6 {
        world.later(MINUTE).await;
    }
    assert_eq!(world.status().await, "disconnected");
    world.fake.set_state("open");
    world.later(MINUTE).await;
    assert_eq!(world.status().await, "connected");
}

#[both_stores]
async fn the_instance_reports_its_state_by_webhook(world: Evolution) {
    for (state, status) in [
        ("close", "disconnected"),
        ("connecting", "disconnected"),
        ("open", "connected"),
        ("connecting", "connected"),
        ("close", "disconnected"),
        ("open", "connected"),
    ] {
        world.takes(&world.fake.change_state(state)).await;
        assert_eq!(world.status().await, status, "{state}");
    }
    for event in ["logout.instance", "remove.instance"] {
        world.takes(&world.fake.change_state("open")).await;
        world.takes(&world.fake.webhook(event, json!({"instance": "loja1"}))).await;
        assert_eq!(world.status().await, "disconnected", "{event}");
    }
    world.send_text(&mobile(1), "oi").await.expect_error(422, "CONNECTION_REQUIRED");
}

#[both_stores]
async fn a_phone_is_paired_by_a_code_in_three_forms(world: Evolution) {
    world.fake.set_state("close");
    let json = code(&world, "application/json").await.expect(200);
    assert_eq!(json["text"], "2@1");
    assert!(json["png"].is_string(), "{json}");
    let picture = code(&world, "image/png").await;
    assert_eq!((picture.status, picture.header("content-type")), (200, "image/png".to_owned()));
    assert!(picture.body.as_ref().starts_with(b"\x89PNG\r\n\x1a\n"), "{picture:?}");
    let plain = code(&world, "text/plain").await;
    assert!(plain.header("content-type").starts_with("text/plain"), "{}", plain.show());
    assert_eq!(plain.body.as_ref(), b"2@3");
    world.takes(&world.fake.change_state("open")).await;
    code(&world, "application/json").await.expect_error(409, "ALREADY_PAIRED");
    assert_eq!(world.status().await, "connected");
    world.well_behaved();
}

#[both_stores]
async fn a_paired_phone_counts_as_connected(kind: StoreKind) {
    let world = Evolution::with(kind, Setup::default(), json!({})).await;
    assert_eq!(world.status().await, "disconnected");
    code(&world, "image/png").await.expect_error(409, "ALREADY_PAIRED");
    assert_eq!(world.status().await, "connected");
}

#[both_stores]
async fn a_code_that_is_not_ready_is_503_and_one_that_never_comes_is_502(world: Evolution) {
    world.fake.set_state("close").no_code_yet();
    let answer = code(&world, "application/json").await;
    answer.expect_error(503, "UNAVAILABLE");
    assert!(!answer.header("retry-after").is_empty(), "{}", answer.show());
    world.fake.fail_pairing();
    code(&world, "application/json").await.expect_error(502, "PROVIDER_ERROR");
    world.fake.reach_code_limit();
    code(&world, "application/json").await.expect_error(502, "PROVIDER_ERROR");
    world.fake.remove_instance();
    code(&world, "text/plain").await.expect_error(502, "PROVIDER_ERROR");
    world.gateway.stop().await;
    code(&world, "image/png").await.expect_error(502, "PROVIDER_ERROR");
    world.well_behaved();
}

#[both_stores]
async fn the_number_that_the_gateway_found_is_learnt_and_used(world: Evolution) {
    let contact = world.create_id(json!({"phone": MINAS})).await;
    let data = world.sent(MINAS, "bom dia").await;
    assert_eq!(data["contact_id"], contact.as_str());
    assert_eq!(data["provider"], "qr");
    let first = &world.fake.accepted()[0];
    assert_eq!(data["wamid"], first.id.as_str());
    assert_eq!((first.number.as_str(), first.text.as_str()), ("5534991234567", "bom dia"));
    let detail = world.detail(&contact).await;
    assert_eq!(detail["connections"][0]["identifier"], "553491234567");
    assert_eq!((&detail["phone"], &detail["identifier"]), (&json!(MINAS), &json!("5534991234567")));
    world.sent(MINAS, "de novo").await;
    assert_eq!(world.fake.accepted()[1].number, "553491234567");
    let heard = world.hears(MINAS, "opa").await;
    assert_eq!(heard["contact_id"], contact.as_str());
    assert_eq!(world.list_ids("limit=10").await, [contact]);
    world.well_behaved();
}

/// D15.
#[both_stores]
async fn a_mexican_and_an_argentine_are_one_contact_under_the_form_of_the_channel(
    world: Evolution,
) {
    for (plan, channel) in [("+525512341234", "5215512341234"), ("+541123451234", "5491123451234")]
    {
        let heard = world.hears(channel, "hola").await;
        let contact = text(&heard["contact_id"]);
        assert_eq!(world.sent(plan, "hola").await["contact_id"], contact.as_str());
        let sent = world.fake.accepted();
        assert_eq!(sent.last().map(|sent| sent.number.as_str()), Some(channel));
        world.hears(channel, "parar").await;
        world.send_text(plan, "hola").await.expect_error(403, "CONTACT_OPTED_OUT");
    }
    assert_eq!(world.list_ids("limit=10").await.len(), 2);
    world.well_behaved();
}

#[both_stores]
async fn trouble_of_the_connection_is_reported_as_such(world: Evolution) {
    world.set(json!({"api_key": "another"})).await;
    refused(&world, &mobile(1), "config", "CONFIGURATION").await;
    world.set(json!({"api_key": "T-1", "instance": "loja9"})).await;
    refused(&world, &mobile(1), "config", "CONFIGURATION").await;
    world.jobs().await;
    assert_eq!(world.status().await, "disconnected", "the failure has it looked at");
    world.set(json!({"instance": "loja1"})).await;
    world.jobs().await;
    world.sent(&mobile(1), "oi").await;
    world.fake.lose_license();
    refused(&world, &mobile(2), "config", "CONFIGURATION").await;
    let reported = world.asks("check").await.expect(200);
    assert_eq!(reported["connection"]["status"], "disconnected");
    assert!(reported["detail"].to_string().contains("LICENSE_REQUIRED"), "{reported}");
    assert_eq!(world.fake.accepted().len(), 1);
    world.well_behaved();
}

#[both_stores]
async fn a_refused_connection_is_the_networks_fault(world: Evolution) {
    world.gateway.stop().await;
    refused(&world, &mobile(1), "network", "NETWORK").await;
    world.gateway.resume().await;
    world.sent(&mobile(1), "de novo").await;
    assert_eq!(world.fake.accepted().len(), 1);
}

#[both_stores]
async fn a_refusal_is_reported_as_such(world: Evolution) {
    world.fake.remove_number(&digits(&mobile(1)));
    refused(&world, &mobile(1), "provider", "RECIPIENT_UNREACHABLE").await;
    let reported = |status: u16, message: Value| {
        SendBehaviour::Error(status, FakeEvolution::error(status, &message))
    };
    let invalid = json!([["instance requires property \"number\""]]);
    for (behaviour, code) in [
        (reported(400, invalid), "CONTENT_REJECTED"),
        (reported(413, json!("Payload Too Large")), "CONTENT_REJECTED"),
        (reported(429, json!("Too Many Requests")), "RATE_LIMITED_BY_PROVIDER"),
    ] {
        world.fake.script([behaviour]);
        refused(&world, &mobile(2), "provider", code).await;
    }
    assert!(world.fake.accepted().is_empty());
    world.well_behaved();
}
