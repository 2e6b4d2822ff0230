//! A [`World`] with a connection to a fake of the official cloud API on a socket.

use std::ops::Deref;
use std::time::Duration;

use recado_core::Timestamp;
use recado_testkit::gateways::{AcceptedSend, FakeCloud, SignedWebhook};
use serde_json::{Map, Value, json};

use crate::backend::{Setup, StoreKind};
use crate::gateways::GatewayServer;
use crate::http::text;
use crate::messaging::wamid;
use crate::world::{FromStore, World, eventually};

/// A world with one connection: a connected one of the official cloud API.
#[derive(Debug)]
pub struct Clouded {
    /// The world.
    pub world: World,
    /// The fake. It shares its state with the one behind the socket.
    pub fake: FakeCloud,
    /// The socket.
    pub gateway: GatewayServer,
    /// The connection.
    pub connection: String,
}

impl Deref for Clouded {
    type Target = World;

    fn deref(&self) -> &World {
        &self.world
    }
}

impl FromStore for Clouded {
    async fn from_store(kind: StoreKind) -> Self {
        Self::with(kind, Setup::default()).await
    }
}

impl Clouded {
    /// A world with these settings.
    pub async fn with(kind: StoreKind, setup: Setup) -> Self {
        let world = World::with(kind, setup).await;
        let fake = FakeCloud::new();
        let gateway = GatewayServer::start(fake.clone()).await;
        let settings = fake.settings(&gateway.url());
        let reported = json!({"status": "connected"});
        let connection =
            world.gateway_connection("official_cloud", "cloud_api", settings, reported).await;
        Self { world, fake, gateway, connection }
    }

    /// The settings of a connection with this time limit for answers.
    pub fn impatient(&self, wait: Duration) -> Map<String, Value> {
        let mut settings = self.fake.settings(&self.gateway.url());
        let millis = u64::try_from(wait.as_millis()).expect("a reasonable time");
        settings.insert("timeout_ms".to_owned(), json!(millis));
        settings
    }

    /// The current time.
    pub fn now(&self) -> Timestamp {
        self.server.clock.now()
    }

    /// Posts a webhook that must be accepted.
    pub async fn takes(&self, webhook: &SignedWebhook) {
        self.hooked(&self.connection, webhook).await;
    }

    /// Posts changes that must be accepted.
    pub async fn changes(&self, changes: &[(&str, Value)]) {
        self.takes(&self.fake.webhook_changes(changes)).await;
    }

    /// Receives a message with this content, and returns it as the listing shows it.
    pub async fn writes(&self, from: &str, content: Value) -> Value {
        let id = wamid();
        let change = self.fake.message(from, &id, &content, self.now());
        self.changes(&[("messages", change)]).await;
        self.message_with(&id).await
    }

    /// Receives a text, and returns it as the listing shows it.
    pub async fn says(&self, from: &str, words: &str) -> Value {
        self.writes(from, json!({"type": "text", "text": {"body": words}})).await
    }

    /// Receives a text, and returns the id of the contact.
    pub async fn receives_from(&self, from: &str) -> String {
        text(&self.says(from, "oi").await["contact_id"])
    }

    /// The message with a provider's id, as the listing shows it.
    pub async fn message_with(&self, wamid: &str) -> Value {
        let all = self.all_messages().await;
        let found = all.iter().find(|message| message["wamid"] == wamid).cloned();
        found.unwrap_or_else(|| panic!("{wamid} is not in {all:?}"))
    }

    /// The only message that the API accepted. Waits until there is one.
    pub async fn only_send(&self) -> AcceptedSend {
        eventually("a send arrives", || async {
            let mut accepted = self.fake.accepted();
            assert!(accepted.len() <= 1, "one send was expected: {accepted:?}");
            accepted.pop()
        })
        .await
    }

    /// Posts a status of a message that the API accepted.
    pub async fn reported(&self, sent: &AcceptedSend, status: &str) {
        self.takes(&self.fake.webhook_status(sent, status, self.now())).await;
    }

    /// Asserts that the fake recorded no violation.
    #[track_caller]
    pub fn well_behaved(&self) {
        assert_eq!(self.fake.violations(), Vec::<String>::new());
    }
}

impl Clouded {
    /// A world whose connection waits 500 ms for an answer.
    pub async fn from_impatient(kind: StoreKind) -> Self {
        let mut world = Self::from_store(kind).await;
        let settings = world.impatient(Duration::from_millis(500));
        let path = format!("C/connections/{}", world.connection);
        world.operator("DELETE", &path, Value::Null).await;
        let reported = json!({"status": "connected"});
        world.connection =
            world.gateway_connection("official_cloud", "cloud_api", settings, reported).await;
        world
    }
}
