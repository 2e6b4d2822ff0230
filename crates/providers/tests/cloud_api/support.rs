//! A connection, its adapter and short ways to call it.

use std::sync::Arc;

use recado_core::Timestamp;
use recado_core::connections::{Connection, ConnectionDraft};
use recado_core::gateway::{
    Addressee, Content, GatewayDestinations, GatewayEvent, GatewayMessage, Incoming, Outgoing,
    Provider, Providers, Received, SendResult,
};
use recado_core::ids::{CompanyId, ConnectionId, MessageId};
use recado_core::transport::{OutboundRequest, Transport};
use recado_providers::cloud_api::CloudApi;
use recado_testkit::ScriptedTransport;
use recado_testkit::gateways::{FakeCloud, InProcess};
use serde_json::{Map, Value, json};
use uuid::Uuid;

pub const NUMBER: &str = "106540352242922";
pub const ACCOUNT: &str = "102290129340398";
pub const TOKEN: &str = "EAAJB-secret";
pub const SECRET: &str = "app-secret";
pub const REFERENCE: &str = "0193a5c0-0000-7000-8000-000000000001";

fn providers() -> Providers {
    Providers::none().with(Arc::new(CloudApi::new()))
}

pub fn connection_with(settings: &Map<String, Value>) -> Connection {
    let body = json!({"kind": "official_cloud", "name": "Loja", "identifier": "551140028922",
        "gateway": "cloud_api", "settings": settings});
    let draft = ConnectionDraft::parse(
        body.as_object().expect("an object"),
        &providers(),
        &GatewayDestinations::default(),
    )
    .expect("fits");
    let (id, company) = (ConnectionId::new(Uuid::from_u128(1)), CompanyId::new(Uuid::from_u128(2)));
    draft.connection(id, company, Timestamp::from_millis(0))
}

/// A connection with only the required settings, and these.
pub fn connection(more: Value) -> Connection {
    let mut settings = json!({"phone_number_id": NUMBER, "access_token": TOKEN,
        "app_secret": SECRET, "verify_token": "verify-token"});
    let fields = settings.as_object_mut().expect("an object");
    fields.extend(more.as_object().cloned().unwrap_or_default());
    connection_with(fields)
}

pub fn plain() -> Connection {
    connection(json!({}))
}

pub fn reference() -> MessageId {
    MessageId::parse(REFERENCE).expect("an id")
}

pub fn to(recipient: &str, content: Content) -> Outgoing {
    Outgoing::new(reference(), recipient, content)
}

pub fn text(recipient: &str) -> Outgoing {
    to(recipient, Content::Text("Olá, Maria!".to_owned()))
}

pub fn template(recipient: &str, variables: &[&str]) -> Outgoing {
    let content = Content::Template {
        name: "pedido_enviado".to_owned(),
        language: "pt_BR".to_owned(),
        variables: variables.iter().map(|value| (*value).to_owned()).collect(),
        rendered: "never sent".to_owned(),
    };
    to(recipient, content)
}

pub async fn send(
    transport: &dyn Transport,
    connection: &Connection,
    out: &Outgoing,
) -> SendResult {
    CloudApi::new().send(transport, connection, out).await
}

/// Sends through a transport with this answer; returns the result and the one request.
pub async fn send_to(status: u16, body: &Value, out: &Outgoing) -> (SendResult, OutboundRequest) {
    let transport = ScriptedTransport::new();
    transport.then_json(status, body);
    let result = send(&transport, &plain(), out).await;
    let mut requests = transport.requests();
    assert_eq!(requests.len(), 1);
    (result, requests.remove(0))
}

pub fn body_of(request: &OutboundRequest) -> Value {
    serde_json::from_slice(&request.body).expect("JSON")
}

/// The events of a body with a valid signature.
pub fn receive(body: &Value) -> Vec<Received> {
    let webhook = FakeCloud::new().webhook_body(body).webhook();
    CloudApi::new().receive(&plain(), &webhook).expect("rightly signed")
}

/// An envelope with one change.
pub fn change(field: &str, value: &Value) -> Value {
    json!({"object": "whatsapp_business_account", "entry": [{"id": ACCOUNT, "time": 1_760_000_000,
        "changes": [{"field": field, "value": value}]}]})
}

/// A value with the fields of every change of a number.
pub fn of_number(fields: Value) -> Value {
    let mut value = json!({"messaging_product": "whatsapp", "metadata": {
        "display_phone_number": "551140028922", "phone_number_id": NUMBER}});
    let own = value.as_object_mut().expect("an object");
    own.extend(fields.as_object().cloned().expect("an object"));
    value
}

/// The events of one change of the number, which all go to it.
pub fn events(field: &str, fields: Value) -> Vec<Incoming> {
    let received = receive(&change(field, &of_number(fields)));
    let number = Addressee::Number(NUMBER.to_owned());
    assert!(received.iter().all(|received| received.to == number), "{received:?}");
    received.into_iter().map(|received| received.event).collect()
}

/// The one event of one change.
pub fn event(field: &str, fields: Value) -> GatewayEvent {
    let mut events = events(field, fields);
    assert_eq!(events.len(), 1, "{events:?}");
    events.remove(0).expect("readable")
}

/// A message of Maria with this content.
pub fn message(content: Value) -> GatewayMessage {
    let mut message = json!({"from": "553491234567", "from_user_id": "BR.13491208655302741918",
        "id": "wamid.IN1", "timestamp": "1760000000"});
    let fields = message.as_object_mut().expect("an object");
    fields.extend(content.as_object().cloned().expect("an object"));
    let reported = event("messages", json!({"contacts": [maria()], "messages": [message]}));
    match reported {
        GatewayEvent::Message(message) => message,
        other => panic!("no message: {other:?}"),
    }
}

pub fn maria() -> Value {
    json!({"profile": {"name": "Maria Souza", "username": "maria.s"}, "wa_id": "553491234567",
        "user_id": "BR.13491208655302741918"})
}

pub const fn at(seconds: i64) -> Timestamp {
    Timestamp::from_millis(seconds * 1_000)
}

/// Maria, as she is written to.
pub const MARIA: &str = "553491234567";

/// Sends to Maria through a fake, which must be content with every request.
pub async fn send_by(fake: &FakeCloud, content: Content) -> SendResult {
    let connection = connection_with(&fake.settings(&FakeCloud::base()));
    let sent = send(&InProcess(fake.clone()), &connection, &to(MARIA, content)).await;
    assert_eq!(fake.violations(), Vec::<String>::new());
    sent
}
