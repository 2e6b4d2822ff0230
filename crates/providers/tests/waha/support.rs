//! A connection, a gateway and an adapter.

use recado_core::Timestamp;
use recado_core::connections::{
    Connection, ConnectionKind, ConnectionSettings, ConnectionStatus, GatewayName,
};
use recado_core::contacts::Platform;
use recado_core::gateway::{
    Content, GatewayDestinations, GatewayEvent, GatewayMessage, Incoming, Lookup, Outgoing,
    Provider, Received, SendFailure, SendResult, StatusEvent, WebhookRefused,
};
use recado_core::groups::GroupCode;
use recado_core::ids::{CompanyId, ConnectionId, MessageId};
use recado_core::messages::MessageType;
use recado_providers::waha::Waha;
use recado_testkit::gateways::{FakeWaha, InProcess, SignedWebhook, WahaEngine};
use serde_json::{Value, json};
use uuid::Uuid;

/// The time of both clocks.
pub const NOW: Timestamp = Timestamp::from_millis(1_795_000_000_000);
/// The suffix of group codes in these tests: not that of the channel.
pub const SUFFIX: &str = "groups.example";
/// A phone that is not Brazilian, which needs no check.
pub const LISBON: &str = "351912345678";

pub struct Scene {
    pub waha: FakeWaha,
    pub adapter: Waha,
    pub connection: Connection,
    pub transport: InProcess<FakeWaha>,
}

/// A connection with the settings given.
pub fn connection(settings: &Value) -> Connection {
    let settings = settings.as_object().expect("an object");
    Connection {
        id: ConnectionId::new(Uuid::from_u128(7)),
        company: CompanyId::new(Uuid::from_u128(8)),
        kind: ConnectionKind::Qr,
        platform: Platform::whatsapp(),
        name: "Loja".to_owned(),
        identifier: "551140028922".to_owned(),
        gateway: GatewayName::new("waha"),
        settings: ConnectionSettings::parse(
            &Waha::description(),
            settings,
            &GatewayDestinations::default(),
        )
        .expect("valid"),
        is_active: true,
        status: ConnectionStatus::Connected,
        created_at: NOW,
        updated_at: NOW,
        last_heard_at: None,
    }
}

/// A message id that was made at [`NOW`].
pub fn message_id(n: u8) -> MessageId {
    let millis = u64::try_from(NOW.millis()).expect("after 1970");
    MessageId::new(uuid::Builder::from_unix_timestamp_millis(millis, &[n; 10]).into_uuid())
}

/// A message id in the form that the gateway gets.
pub fn raw_id(n: u8) -> String {
    message_id(n).uuid().simple().to_string().to_uppercase()
}

impl Scene {
    pub fn new(engine: WahaEngine) -> Self {
        Self::over(FakeWaha::new(engine))
    }

    pub fn over(waha: FakeWaha) -> Self {
        Self {
            adapter: Waha::new(SUFFIX),
            connection: connection(&waha.settings()),
            transport: InProcess(waha.clone()),
            waha,
        }
    }

    pub fn outgoing(&self, n: u8, recipient: &str) -> Outgoing {
        Outgoing {
            reference: message_id(n),
            recipient: recipient.to_owned(),
            group: None,
            content: Content::Text("Olá".to_owned()),
            quoted: None,
        }
    }

    pub async fn send(&self, n: u8, recipient: &str) -> SendResult {
        self.deliver(&self.outgoing(n, recipient)).await
    }

    pub async fn send_to_group(&self, n: u8, code: &str) -> SendResult {
        let group = GroupCode::parse(code, SUFFIX);
        assert!(group.is_some(), "{code} is no code");
        self.deliver(&Outgoing { group, ..self.outgoing(n, code) }).await
    }

    pub async fn deliver(&self, outgoing: &Outgoing) -> SendResult {
        self.adapter.send(&self.transport, &self.connection, outgoing).await
    }

    pub fn lookup(&self, n: u8, recipient: &str) -> Lookup {
        Lookup::new(self.outgoing(n, recipient), MessageType::Text, NOW)
    }

    pub fn take(&self, webhook: &SignedWebhook) -> Result<Vec<Received>, WebhookRefused> {
        let webhook = webhook.webhook();
        self.adapter.admit(&self.connection, &webhook)?;
        self.adapter.receive(&self.connection, &webhook)
    }

    /// The neutral events of a webhook with this event.
    pub fn events(&self, event: &str, payload: &Value) -> Vec<Incoming> {
        let received = self.take(&self.waha.webhook(event, payload)).expect("signed");
        received.into_iter().map(|received| received.event).collect()
    }

    /// The only neutral event of a webhook with this event.
    pub fn event(&self, event: &str, payload: &Value) -> GatewayEvent {
        let mut events = self.events(event, payload);
        assert_eq!(events.len(), 1, "{events:?}");
        events.remove(0).expect("readable")
    }

    /// The message of a contact in this payload.
    pub fn message(&self, payload: &Value) -> GatewayMessage {
        match self.event("message.any", payload) {
            GatewayEvent::Message(message) => message,
            other => panic!("no message: {other:?}"),
        }
    }

    /// The paths that were requested, without their common prefix and without queries.
    pub fn paths(&self) -> Vec<String> {
        let requests = self.waha.requests().into_iter();
        requests.map(|request| format!("{} {}", request.method, request.path)).collect()
    }

    /// Asserts that no request was wrong.
    pub fn assert_clean(&self) {
        assert_eq!(self.waha.violations(), Vec::<String>::new());
    }
}

pub fn status_of(event: GatewayEvent) -> StatusEvent {
    match event {
        GatewayEvent::Status(status) => status,
        other => panic!("no status: {other:?}"),
    }
}

pub fn failure_of(result: SendResult) -> SendFailure {
    result.expect_err("it is not accepted")
}

/// A message from a person as GOWS reports it, with other fields written over it.
pub fn inbound(fields: Value) -> Value {
    let mut payload = json!({"id": "false_553491234567@c.us_3A0F", "timestamp": 1_760_000_000,
        "from": "553491234567@c.us", "to": "551140028922@c.us", "fromMe": false, "source": "app",
        "participant": null, "body": "Oi", "hasMedia": false, "media": null, "ack": 2,
        "ackName": "DEVICE", "replyTo": null, "vCards": [],
        "_data": {"Info": {"PushName": "Maria"}}});
    let Value::Object(fields) = fields else { panic!("an object") };
    for (name, value) in fields {
        payload[name] = value;
    }
    payload
}

/// Fields of a message in the channel's own form, as GOWS reports it.
pub fn gows(message: Value) -> Value {
    json!({"body": null, "_data": {"Info": {}, "Message": message}})
}

/// The same, as NOWEB reports it.
pub fn noweb(message: Value) -> Value {
    json!({"body": null, "_data": {"key": {}, "message": message}})
}
