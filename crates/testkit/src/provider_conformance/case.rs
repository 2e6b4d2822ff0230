//! The description of a gateway that the suite needs.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use recado_core::Timestamp;
use recado_core::connections::{
    Capability, Connection, ConnectionKind, ConnectionSettings, ConnectionStatus,
    GatewayDescription,
};
use recado_core::contacts::Platform;
use recado_core::gateway::{
    Content, GatewayDestinations, Outgoing, Provider, ProviderWebhook, Received, SendFailure,
    SendResult, WebhookRefused,
};
use recado_core::ids::{CompanyId, ConnectionId, MessageId};
use recado_core::transport::{OutboundRequest, OutboundResponse, Transport};
use serde_json::{Map, Value};
use uuid::Uuid;

use super::between::{Act, Between};

/// What a gateway's answer means for the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// [`SendFailure::Refused`].
    Refused,
    /// [`SendFailure::TryLater`].
    TryLater,
    /// [`SendFailure::RecipientLimited`].
    RecipientLimited,
    /// [`SendFailure::Connection`].
    Connection,
    /// [`SendFailure::Unreachable`].
    Unreachable,
    /// [`SendFailure::Uncertain`].
    Uncertain,
}

impl Expected {
    pub(super) const fn of(failure: &SendFailure) -> Self {
        match failure {
            SendFailure::Refused(_) => Self::Refused,
            SendFailure::TryLater { .. } => Self::TryLater,
            SendFailure::RecipientLimited(_) => Self::RecipientLimited,
            SendFailure::Connection(_) => Self::Connection,
            SendFailure::Unreachable(_) => Self::Unreachable,
            SendFailure::Uncertain(_) => Self::Uncertain,
        }
    }
}

type Sends = Arc<dyn Fn(&OutboundRequest) -> bool + Send + Sync>;
type Sign = Arc<dyn Fn(&ConnectionSettings, &mut ProviderWebhook) + Send + Sync>;
type Join = fn(&[Value]) -> Value;

/// An adapter, the settings of a connection, the gateway's answers and its webhooks.
#[derive(Clone)]
pub struct ProviderCase {
    pub(super) provider: Arc<dyn Provider>,
    pub(super) settings: Map<String, Value>,
    pub(super) gateway: Arc<dyn Transport>,
    pub(super) sends: Sends,
    pub(super) recipient: String,
    pub(super) inbound: String,
    pub(super) answers: Vec<(OutboundResponse, Expected)>,
    pub(super) limit: Option<OutboundResponse>,
    pub(super) sign: Option<Sign>,
    pub(super) events: Vec<Value>,
    pub(super) join: Option<Join>,
    sent: Arc<AtomicU32>,
}

impl std::fmt::Debug for ProviderCase {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("ProviderCase").field(&self.provider.describe()).finish()
    }
}

impl ProviderCase {
    /// An adapter whose connections have these settings. The gateway answers every request with a
    /// success. Use secrets of 6 bytes or more, because shorter ones are not masked.
    ///
    /// # Panics
    ///
    /// If the settings are not a JSON object.
    pub fn new(
        provider: impl Provider + 'static,
        settings: Value,
        gateway: impl Transport + 'static,
    ) -> Self {
        let Value::Object(settings) = settings else { panic!("settings are a JSON object") };
        Self {
            provider: Arc::new(provider),
            settings,
            gateway: Arc::new(gateway),
            sends: Arc::new(|_| true),
            recipient: "5511987654321".to_owned(),
            inbound: "wamid.KNOWN".to_owned(),
            answers: Vec::new(),
            limit: None,
            sign: None,
            events: Vec::new(),
            join: None,
            sent: Arc::default(),
        }
    }

    /// Sets which requests send a message. By default all requests do.
    #[must_use]
    pub fn sending(
        mut self,
        sends: impl Fn(&OutboundRequest) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.sends = Arc::new(sends);
        self
    }

    /// Sets the recipient of messages. The default is `5511987654321`.
    #[must_use]
    pub fn to(mut self, recipient: impl Into<String>) -> Self {
        self.recipient = recipient.into();
        self
    }

    /// Sets the id of a message that the gateway received from the recipient: it is quoted, reacted
    /// to and marked as read. The default is `wamid.KNOWN`.
    #[must_use]
    pub fn having_received(mut self, provider_id: impl Into<String>) -> Self {
        self.inbound = provider_id.into();
        self
    }

    /// Adds an answer to a send, and its meaning.
    #[must_use]
    pub fn answering(mut self, status: u16, body: impl Into<Vec<u8>>, means: Expected) -> Self {
        self.answers.push((OutboundResponse::new(status, body), means));
        self
    }

    /// Sets the gateway's answer when too many messages were sent. The suite adds `Retry-After` to
    /// it.
    #[must_use]
    pub fn limiting(mut self, status: u16, body: impl Into<Vec<u8>>) -> Self {
        self.limit = Some(OutboundResponse::new(status, body));
        self
    }

    /// Sets how the gateway authenticates its webhooks: the function adds the header or parameter,
    /// made with these settings, to a webhook that has its body. A missing setting counts as empty.
    #[must_use]
    pub fn signing(
        mut self,
        sign: impl Fn(&ConnectionSettings, &mut ProviderWebhook) + Send + Sync + 'static,
    ) -> Self {
        self.sign = Some(Arc::new(sign));
        self
    }

    /// Adds the body of a webhook about a message. If the gateway sends several messages in one
    /// call, add two or more bodies with different ids.
    #[must_use]
    pub fn event(mut self, body: Value) -> Self {
        self.events.push(body);
        self
    }

    /// Sets how the bodies of several calls are combined in one.
    #[must_use]
    pub fn joining(mut self, join: Join) -> Self {
        self.join = Some(join);
        self
    }

    pub(super) fn description(&self) -> GatewayDescription {
        self.provider.describe()
    }

    pub(super) fn has_webhook(&self) -> bool {
        self.description().can(Capability::Webhook)
    }

    pub(super) fn connection(&self) -> Connection {
        let described = self.description();
        let settings =
            ConnectionSettings::parse(&described, &self.settings, &GatewayDestinations::default());
        self.connection_with(settings.expect("the settings of the case are acceptable"))
    }

    pub(super) fn connection_with(&self, settings: ConnectionSettings) -> Connection {
        let described = self.description();
        let at = Timestamp::from_millis(1_795_000_000_000);
        Connection {
            id: ConnectionId::new(Uuid::from_u128(1)),
            company: CompanyId::new(Uuid::from_u128(2)),
            kind: described.kind().unwrap_or(ConnectionKind::Qr),
            platform: Platform::whatsapp(),
            name: "Loja".to_owned(),
            identifier: "551140028922".to_owned(),
            gateway: described.name().clone(),
            settings,
            is_active: true,
            status: ConnectionStatus::Connected,
            created_at: at,
            updated_at: at,
            last_heard_at: None,
        }
    }

    /// A message with an id that was not used before.
    pub(super) fn outgoing(&self) -> Outgoing {
        let count = self.sent.fetch_add(1, Ordering::Relaxed);
        let mut bytes = [7; 10];
        bytes[6..].copy_from_slice(&count.to_be_bytes());
        let id = uuid::Builder::from_unix_timestamp_millis(1_795_000_000_000, &bytes).into_uuid();
        Outgoing {
            reference: MessageId::new(id),
            recipient: self.recipient.clone(),
            group: None,
            content: Content::Text("Olá, Maria".to_owned()),
            quoted: None,
        }
    }

    /// Sends a message. `act` decides how each request is handled; it is given whether the request
    /// sends the message.
    pub(super) async fn send(
        &self,
        act: impl Fn(&OutboundRequest, bool) -> Act + Send + Sync + 'static,
    ) -> (SendResult, Vec<(OutboundRequest, bool)>) {
        let between = Between::new(self, act);
        let sent = self.provider.send(&between, &self.connection(), &self.outgoing()).await;
        (sent, between.requests())
    }

    /// A webhook with this body, signed with these settings.
    pub(super) fn signed(
        &self,
        settings: &ConnectionSettings,
        body: impl Into<Vec<u8>>,
    ) -> ProviderWebhook {
        let mut webhook = unsigned(body);
        let sign = self.sign.as_ref().expect("a gateway with webhooks needs `signing`");
        sign(settings, &mut webhook);
        webhook
    }

    /// The adapter's answer to a webhook: `admit` first, as in the server.
    pub(super) fn take(
        &self,
        connection: &Connection,
        webhook: &ProviderWebhook,
    ) -> Result<Vec<Received>, WebhookRefused> {
        let head = ProviderWebhook { body: Vec::new(), ..webhook.clone() };
        self.provider.admit(connection, &head)?;
        self.provider.receive(connection, webhook)
    }
}

/// A webhook without signature and token.
pub(super) fn unsigned(body: impl Into<Vec<u8>>) -> ProviderWebhook {
    ProviderWebhook::new(body)
}
