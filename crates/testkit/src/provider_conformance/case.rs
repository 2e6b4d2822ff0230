//! A gateway as the suite has to know it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use recado_core::Timestamp;
use recado_core::connections::{
    Capability, Connection, ConnectionKind, ConnectionSettings, ConnectionStatus,
    GatewayDescription,
};
use recado_core::contacts::Platform;
use recado_core::gateway::{
    Content, Outgoing, Provider, ProviderWebhook, Received, SendFailure, SendResult, WebhookRefused,
};
use recado_core::ids::{CompanyId, ConnectionId, MessageId};
use recado_core::transport::{OutboundRequest, OutboundResponse, Transport};
use serde_json::{Map, Value};
use uuid::Uuid;

use super::between::{Act, Between};

/// What an answer means for the message.
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

/// An adapter, the settings of a connection, and how its gateway answers and calls.
#[derive(Clone)]
pub struct ProviderCase {
    pub(super) provider: Arc<dyn Provider>,
    pub(super) settings: Map<String, Value>,
    pub(super) gateway: Arc<dyn Transport>,
    pub(super) sends: Sends,
    pub(super) recipient: String,
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
    /// An adapter whose connections have these settings, with a gateway that answers every request
    /// as it does when all is well. Secrets are best of 6 bytes or more: shorter ones are not
    /// masked.
    ///
    /// # Panics
    ///
    /// When the settings are no JSON object.
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
            answers: Vec::new(),
            limit: None,
            sign: None,
            events: Vec::new(),
            join: None,
            sent: Arc::default(),
        }
    }

    /// Which requests send a message, where others only ask: all of them unless this is said.
    #[must_use]
    pub fn sending(
        mut self,
        sends: impl Fn(&OutboundRequest) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.sends = Arc::new(sends);
        self
    }

    /// Whom messages are for: `5511987654321` unless this is said.
    #[must_use]
    pub fn to(mut self, recipient: impl Into<String>) -> Self {
        self.recipient = recipient.into();
        self
    }

    /// What an answer to the request that sends means.
    #[must_use]
    pub fn answering(mut self, status: u16, body: impl Into<Vec<u8>>, means: Expected) -> Self {
        self.answers.push((OutboundResponse::new(status, body), means));
        self
    }

    /// How the gateway answers when too much was sent: the suite adds `Retry-After` to it.
    #[must_use]
    pub fn limiting(mut self, status: u16, body: impl Into<Vec<u8>>) -> Self {
        self.limit = Some(OutboundResponse::new(status, body));
        self
    }

    /// How the gateway proves that a call of the webhook is its own: adds to a webhook that has a
    /// body the header or parameter that is made with these settings. A setting that is missing
    /// counts as empty.
    #[must_use]
    pub fn signing(
        mut self,
        sign: impl Fn(&ConnectionSettings, &mut ProviderWebhook) + Send + Sync + 'static,
    ) -> Self {
        self.sign = Some(Arc::new(sign));
        self
    }

    /// The body of a webhook that tells of a message. Give two or more with different ids where
    /// the gateway sends several in one call.
    #[must_use]
    pub fn event(mut self, body: Value) -> Self {
        self.events.push(body);
        self
    }

    /// How the bodies of several calls are written as one.
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
        let settings = ConnectionSettings::parse(&described, &self.settings);
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
        }
    }

    /// A message that was not sent before.
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
        }
    }

    /// Sends a message; `act` says what becomes of each request, and whether it is the one that
    /// sends.
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

    /// What the adapter says of a webhook: `admit` first, as the server does.
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
    ProviderWebhook { headers: Vec::new(), query: Vec::new(), body: body.into() }
}
