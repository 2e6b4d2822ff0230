//! A connection to the gateway, and helper functions for calls.

use recado_core::Timestamp;
use recado_core::connections::{
    Connection, ConnectionKind, ConnectionSettings, ConnectionStatus, GatewayName,
};
use recado_core::contacts::Platform;
use recado_core::gateway::{
    Content, GatewayDestinations, GatewayEvent, GatewayMessage, Incoming, Lookup, Outgoing,
    Provider, ProviderWebhook, SendResult, StatusEvent,
};
use recado_core::groups::GroupCode;
use recado_core::ids::{CompanyId, ConnectionId, MessageId};
use recado_core::messages::MessageType;
use recado_providers::evolution::Evolution;
use recado_testkit::gateways::{FakeEvolution, InProcess, SignedWebhook};
use serde_json::{Map, Value};
use uuid::Uuid;

/// The own number of the connection, as a person writes it.
const OWN: &str = "+55 (11) 98765-4000";
/// The suffix of the installation's group codes: not the gateway's.
pub(crate) const SUFFIX: &str = "grupos.example";

pub(crate) struct Scene {
    pub(crate) fake: FakeEvolution,
    pub(crate) connection: Connection,
    pub(crate) provider: Evolution,
    pub(crate) transport: InProcess<FakeEvolution>,
}

impl Scene {
    pub(crate) fn new() -> Self {
        Self::with(FakeEvolution::new())
    }

    pub(crate) fn with(fake: FakeEvolution) -> Self {
        Self {
            connection: connection(&fake.settings()),
            provider: Evolution::new(SUFFIX),
            transport: InProcess(fake.clone()),
            fake,
        }
    }

    pub(crate) async fn send(&self, outgoing: &Outgoing) -> SendResult {
        self.provider.send(&self.transport, &self.connection, outgoing).await
    }

    pub(crate) fn receive(&self, webhook: &SignedWebhook) -> Vec<Incoming> {
        self.receive_webhook(&webhook.webhook())
    }

    pub(crate) fn receive_webhook(&self, webhook: &ProviderWebhook) -> Vec<Incoming> {
        let received = self.provider.receive(&self.connection, webhook);
        received.expect("verified").into_iter().map(|one| one.event).collect()
    }

    /// The neutral events of an event of the gateway.
    pub(crate) fn reported(&self, event: &str, data: Value) -> Vec<Incoming> {
        self.receive(&self.fake.webhook(event, data))
    }

    /// The only neutral event of an event of the gateway.
    pub(crate) fn event(&self, event: &str, data: Value) -> GatewayEvent {
        only(self.reported(event, data))
    }

    /// The only message of an event of the gateway.
    pub(crate) fn message(&self, data: Value) -> GatewayMessage {
        match self.event("messages.upsert", data) {
            GatewayEvent::Message(message) => message,
            other => panic!("not a message: {other:?}"),
        }
    }
}

pub(crate) fn connection(settings: &Map<String, Value>) -> Connection {
    let at = Timestamp::from_millis(1_760_000_000_000);
    Connection {
        id: ConnectionId::new(Uuid::from_u128(1)),
        company: CompanyId::new(Uuid::from_u128(2)),
        kind: ConnectionKind::Qr,
        platform: Platform::parse("whatsapp").expect("a platform"),
        name: "Loja".to_owned(),
        identifier: OWN.to_owned(),
        gateway: GatewayName::new("evolution"),
        settings: ConnectionSettings::parse(
            &Evolution::description(),
            settings,
            &GatewayDestinations::default(),
        )
        .expect("settings"),
        is_active: true,
        status: ConnectionStatus::Connected,
        created_at: at,
        updated_at: at,
        last_heard_at: None,
    }
}

pub(crate) fn text_to(recipient: &str, text: &str) -> Outgoing {
    Outgoing {
        reference: MessageId::new(Uuid::from_u128(7)),
        recipient: recipient.to_owned(),
        group: None,
        content: Content::Text(text.to_owned()),
        quoted: None,
    }
}

pub(crate) fn text_to_group(code: &str, text: &str) -> Outgoing {
    let group = Some(GroupCode::parse(code, SUFFIX).expect("a code"));
    Outgoing { group, ..text_to(code, text) }
}

pub(crate) fn lookup(outgoing: Outgoing, sent_at: i64) -> Lookup {
    Lookup::new(outgoing, MessageType::Text, Timestamp::from_millis(sent_at))
}

pub(crate) fn only(events: Vec<Incoming>) -> GatewayEvent {
    let [event] = <[Incoming; 1]>::try_from(events).expect("one event");
    event.expect("readable")
}

pub(crate) fn status(event: GatewayEvent) -> StatusEvent {
    match event {
        GatewayEvent::Status(status) => status,
        other => panic!("not a status: {other:?}"),
    }
}
