//! A company with one connection, and what its gateway reports.

use recado_core::Error;
use recado_core::connections::ConnectionStatus;
use recado_core::gateway::Incoming;
use recado_core::ids::ConnectionId;
use recado_core::inbox::{EventResult, parse_event};
use recado_core::page::PageRequest;
use recado_core::prosas::LedgerFilter;
use recado_core::query::Params;
use recado_core::sending::{SendError, SentView};
use recado_testkit::Kit;
use recado_testkit::kit::body;
use serde_json::{Value, json};

pub(super) struct Messaging {
    pub(super) kit: Kit,
    pub(super) connection: ConnectionId,
}

impl Messaging {
    /// A company with a QR-code connection.
    pub(super) async fn on(kit: Kit) -> Self {
        Self::of_kind(kit, "qr").await
    }

    pub(super) async fn of_kind(kit: Kit, kind: &str) -> Self {
        let connection = body(json!({
            "kind": kind, "name": "Loja", "identifier": "5511940028922", "gateway": "simulated",
        }));
        let made = kit.app.connections().create(kit.company.id, &connection).await.unwrap();
        let made = serde_json::to_value(made).unwrap();
        let connection = ConnectionId::parse(made["id"].as_str().unwrap()).unwrap();
        Self { kit, connection }
    }

    pub(super) async fn set_connected(&self, connected: bool) {
        let status =
            if connected { ConnectionStatus::Connected } else { ConnectionStatus::Disconnected };
        let connections = self.kit.app.connections();
        connections.set_status(self.kit.company.id, self.connection, status).await.unwrap();
    }

    pub(super) async fn send(&self, to: &str, message: &str) -> Result<SentView, Error<SendError>> {
        let text = body(json!({ "to": to, "message": message }));
        self.kit.app.sending().send_text(&self.kit.caller, &text).await
    }

    pub(super) async fn receive(&self, events: Vec<Incoming>) -> Vec<EventResult> {
        let inbox = self.kit.app.inbox();
        inbox.receive(self.kit.company.id, self.connection, events).await.unwrap()
    }

    pub(super) async fn tell(&self, event: Value) -> EventResult {
        self.receive(vec![parse_event(&event, "g.us")]).await.pop().unwrap()
    }

    pub(super) async fn status(&self, id: &str, status: &str) -> EventResult {
        self.tell(json!({ "kind": "status", "provider_message_id": id, "status": status })).await
    }

    pub(super) async fn echo(&self, id: &str, to: &str, text: &str) -> EventResult {
        self.tell(json!({
            "kind": "echo", "provider_message_id": id, "to": to, "type": "text", "content": text,
        }))
        .await
    }

    pub(super) async fn hear(&self, id: &str, from: &str, text: &str) -> EventResult {
        self.tell(json!({
            "kind": "message", "provider_message_id": id, "from": from, "type": "text",
            "content": text,
        }))
        .await
    }

    /// All messages, newest first.
    pub(super) async fn messages(&self) -> Vec<Value> {
        let params = Params::new(vec![("limit".to_owned(), "100".to_owned())]);
        let listed = self.kit.app.messages().list(&self.kit.caller, &params).await.unwrap();
        listed.items.iter().map(|item| serde_json::to_value(item).unwrap()).collect()
    }

    pub(super) async fn newest(&self) -> Value {
        self.messages().await.into_iter().next().unwrap()
    }

    /// The messages of a type, newest first.
    pub(super) async fn of_type(&self, message_type: &str) -> Vec<Value> {
        let all = self.messages().await;
        all.into_iter().filter(|message| message["type"] == message_type).collect()
    }

    pub(super) async fn ledger(&self) -> Vec<Value> {
        let ledger = self.kit.app.prosas();
        let filter = LedgerFilter::default();
        let listed =
            ledger.consumption(&self.kit.caller, &filter, PageRequest::FIRST).await.unwrap();
        listed.items.iter().map(|line| serde_json::to_value(line).unwrap()).collect()
    }
}
