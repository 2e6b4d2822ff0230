//! A company with a connection of a real gateway, behind which a script answers.

use std::sync::Arc;
use std::time::Duration;

use recado_core::Error;
use recado_core::connections::ConnectionStatus;
use recado_core::gateway::{
    Addressee, FileKind, GatewayEvent, GatewayMessage, Incoming, ProviderWebhook, Received,
    SendFailure, StatusEvent,
};
use recado_core::ids::{ConnectionId, MessageId};
use recado_core::inbox::{ProviderWebhookError, ReceivedWebhook};
use recado_core::jobs::JobKind;
use recado_core::messages::{Blocks, MessageStatus, MessageType, ProviderMessageId};
use recado_core::transport::OutboundResponse;
use recado_testkit::kit::body;
use recado_testkit::{FaultyStore, Kit, MemoryStore, contents};
use serde_json::{Value, json};

use super::messaging::Messaging;

pub(super) const PHONE: &str = "+5534991230001";
/// The same number, as channels write it.
pub(super) const PEER: &str = "553491230001";

pub(super) struct Scene {
    pub(super) messaging: Messaging,
    pub(super) kit: Kit,
    pub(super) model: MemoryStore,
    pub(super) store: FaultyStore,
}

/// The settings that a gateway needs.
pub(super) fn settings(gateway: &str) -> Value {
    match gateway {
        "waha" => json!({ "base_url": "http://waha", "session": "s", "api_key": "top-secret",
            "webhook_hmac_key": "top-secret" }),
        "evolution" => json!({ "base_url": "http://evolution", "instance": "i",
            "api_key": "top-secret", "webhook_token": "top-secret" }),
        "cloud_api" => json!({ "phone_number_id": "11", "access_token": "top-secret",
            "app_secret": "top-secret", "verify_token": "top-secret" }),
        _ => json!({}),
    }
}

/// Makes a connection that is connected, unless `more` says otherwise.
pub(super) async fn connect(kit: &Kit, gateway: &str, more: Value) -> ConnectionId {
    let kind = if gateway == "cloud_api" { "official_cloud" } else { "qr" };
    let mut new = body(json!({ "kind": kind, "name": "Loja", "identifier": "5511900000000",
        "gateway": gateway, "settings": settings(gateway), "status": "connected" }));
    new.extend(body(more));
    let made = kit.app.connections().create(kit.company.id, &new).await.unwrap();
    let made = serde_json::to_value(made).unwrap();
    ConnectionId::parse(made["id"].as_str().unwrap()).unwrap()
}

/// A company with one connection of this gateway.
pub(super) async fn scene(gateway: &str) -> Scene {
    let model = MemoryStore::new();
    let store = FaultyStore::new(Arc::new(model.clone()));
    let kit = Kit::builder().store(Arc::new(store.clone())).build().await;
    let connection = connect(&kit, gateway, json!({})).await;
    Scene { messaging: Messaging { kit: kit.clone(), connection }, kit, model, store }
}

pub(super) fn wamid(id: &str) -> ProviderMessageId {
    ProviderMessageId::parse(id).unwrap()
}

/// A text that was received.
pub(super) fn text(id: &str, peer: &str, content: &str) -> GatewayMessage {
    GatewayMessage {
        provider_id: wamid(id),
        peer: peer.to_owned(),
        aliases: Vec::new(),
        participant: None,
        push_name: None,
        message_type: MessageType::Text,
        content: Some(content.to_owned()),
        media: None,
        blocks: Blocks::default(),
        quoted: None,
        quoted_content: None,
        quoted_type: None,
        button: None,
        history: false,
        is_late: false,
        timestamp: None,
        raw: None,
    }
}

/// The event of a text that was received.
pub(super) fn heard(id: &str, peer: &str) -> Incoming {
    Ok(GatewayEvent::Message(text(id, peer, "Oi")))
}

/// The event of a message's status.
pub(super) fn reported(id: &str, status: MessageStatus) -> Incoming {
    Ok(GatewayEvent::Status(StatusEvent {
        provider_id: wamid(id),
        reference: None,
        status,
        failure: None,
        timestamp: None,
        names: Vec::new(),
    }))
}

pub(super) fn here(events: impl IntoIterator<Item = Incoming>) -> Vec<Received> {
    events.into_iter().map(Received::here).collect()
}

pub(super) fn to_number(number: &str, event: Incoming) -> Received {
    Received { to: Addressee::Number(number.to_owned()), event }
}

pub(super) fn webhook() -> ProviderWebhook {
    ProviderWebhook::new("")
}

impl Scene {
    pub(super) const fn connection(&self) -> ConnectionId {
        self.messaging.connection
    }

    /// Makes the gateway call a connection's address; the script sets the events of the call.
    pub(super) async fn call_of(
        &self,
        id: &str,
    ) -> Result<ReceivedWebhook, Error<ProviderWebhookError>> {
        let inbox = self.kit.app.inbox();
        let called = inbox.called(id, &webhook()).await?;
        inbox.take_webhook(&called, &webhook()).await
    }

    /// Makes the gateway call with these events.
    pub(super) async fn call(
        &self,
        events: Vec<Received>,
    ) -> Result<ReceivedWebhook, Error<ProviderWebhookError>> {
        self.kit.provider.set_received(Ok(events));
        self.call_of(&self.connection().to_string()).await
    }

    /// Works on every job that is due and returns how many there were.
    pub(super) async fn work(&self) -> usize {
        let mut done = 0;
        while self.kit.app.jobs().run_one().await.unwrap() {
            done += 1;
        }
        done
    }

    /// Advances the clock, then works on due jobs.
    pub(super) async fn after(&self, seconds: u64) -> usize {
        self.kit.clock.advance(Duration::from_secs(seconds));
        self.work().await
    }

    /// The queued jobs for which `is` is true.
    pub(super) fn waiting(&self, is: impl Fn(&JobKind) -> bool) -> usize {
        self.model.jobs(self.kit.company.id).iter().filter(|job| is(&job.kind)).count()
    }

    pub(super) async fn status(&self) -> ConnectionStatus {
        self.shown_connection().await["status"].as_str().and_then(ConnectionStatus::parse).unwrap()
    }

    pub(super) async fn shown_connection(&self) -> Value {
        let connections = self.kit.app.connections();
        let shown = connections.get(self.kit.company.id, self.connection()).await.unwrap();
        serde_json::to_value(shown).unwrap()
    }

    /// All events of this type.
    pub(super) fn reported(&self, event: &str) -> Vec<Value> {
        let events = self.model.events(self.kit.company.id);
        let events = events.iter().filter(|known| known.event_type.as_str() == event);
        events.map(|known| serde_json::from_str(&known.data).unwrap()).collect()
    }

    /// Sends a text with an unknown outcome, and returns its id.
    pub(super) async fn send_uncertainly(&self, text: &str) -> MessageId {
        self.kit.provider.then(Err(SendFailure::uncertain("timed out")));
        self.messaging.send(PHONE, text).await.unwrap_err();
        self.kit.provider.sent().last().unwrap().outgoing.reference
    }

    /// Sends a file with an unknown outcome, and returns the id of its message.
    pub(super) async fn send_file_uncertainly(
        &self,
        kind: FileKind,
        caption: Option<&str>,
    ) -> MessageId {
        let file = contents::file(kind).stored.open().await.unwrap().read_to_end().await.unwrap();
        self.kit.transport.then(Ok(OutboundResponse::new(200, file)));
        self.kit.provider.then(Err(SendFailure::uncertain("timed out")));
        let fields = body(json!({"to": PHONE, "type": kind.as_str(), "caption": caption,
            "url": "https://files.example/a"}));
        self.kit.app.sending().send_media(&self.kit.caller, &fields, None).await.unwrap_err();
        self.kit.provider.sent().last().unwrap().outgoing.reference
    }

    /// A message as listings show it.
    pub(super) async fn message(&self, id: MessageId) -> Value {
        let messages = self.messaging.messages().await;
        messages.into_iter().find(|shown| shown["id"] == id.to_string()).unwrap()
    }

    /// The status of a message, why it failed, and its provider's id.
    pub(super) async fn outcome(&self, id: MessageId) -> (String, Option<String>, Option<String>) {
        let shown = self.message(id).await;
        let text = |name: &str| shown[name].as_str().map(str::to_owned);
        (text("status").unwrap(), text("error_type"), text("wamid"))
    }

    /// Whether the outcome of a message is unknown.
    pub(super) async fn is_uncertain(&self, id: MessageId) -> bool {
        let (status, why, wamid) = self.outcome(id).await;
        let uncertain = why.as_deref() == Some("delivery_uncertain");
        assert_eq!(uncertain, status == "failed", "{why:?}");
        assert!(!uncertain || wamid.is_none());
        uncertain
    }
}
