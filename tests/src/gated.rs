//! A world with a connection to a fake gateway on a socket.

use std::ops::{Deref, DerefMut};
use std::time::Duration;

use recado_core::Timestamp;
use recado_testkit::gateways::{FakeEvolution, FakeWaha, SignedWebhook};
use serde_json::{Map, Value, json};

use crate::backend::{Setup, StoreKind};
use crate::gateways::GatewayServer;
use crate::http::{ScriptedAnswer, text};
use crate::world::World;

/// The functions that every fake gateway has for [`Gated`].
pub trait Fake: recado_testkit::gateways::Gateway + Clone + 'static {
    /// Sets the clock of the fake.
    fn tell_time(&self, now: Timestamp);

    /// The requests that no adapter should make.
    fn complaints(&self) -> Vec<String>;
}

impl Fake for FakeWaha {
    fn tell_time(&self, now: Timestamp) {
        self.set_now(now);
    }

    fn complaints(&self) -> Vec<String> {
        self.violations()
    }
}

impl Fake for FakeEvolution {
    fn tell_time(&self, now: Timestamp) {
        self.set_now(now);
    }

    fn complaints(&self) -> Vec<String> {
        self.violations()
    }
}

/// A world with a QR connection to a fake gateway, without background work: [`Gated::jobs`] runs
/// what is due.
#[derive(Debug)]
pub struct Gated<F> {
    /// The world.
    pub world: World,
    /// The fake. It shares its state with the one behind the socket.
    pub fake: F,
    /// The socket.
    pub gateway: GatewayServer,
    /// The connection.
    pub connection: String,
}

impl<F> Deref for Gated<F> {
    type Target = World;

    fn deref(&self) -> &World {
        &self.world
    }
}

impl<F> DerefMut for Gated<F> {
    fn deref_mut(&mut self) -> &mut World {
        &mut self.world
    }
}

impl<F: Fake> Gated<F> {
    /// A connection of `kind` to `fake`, with these settings and more fields, in a new world.
    pub async fn with(
        kind: StoreKind,
        setup: Setup,
        (gateway, fake): (&str, F),
        settings: fn(&F, &GatewayServer) -> Map<String, Value>,
        more: Value,
    ) -> Self {
        let world = World::with(kind, Setup { no_background: true, ..setup }).await;
        fake.tell_time(world.server.clock.now());
        let server = GatewayServer::start(fake.clone()).await;
        let settings = settings(&fake, &server);
        let connection = world.gateway_connection("qr", gateway, settings, more).await;
        Self { world, fake, gateway: server, connection }
    }

    /// Advances the clocks of the server and the gateway.
    pub fn pass(&self, by: Duration) {
        self.advance(by);
        self.fake.tell_time(self.server.clock.now());
    }

    /// Runs the background work that is due.
    pub async fn jobs(&self) {
        self.server.run_due_jobs().await;
    }

    /// Advances the clocks, and runs the background work that is due then.
    pub async fn later(&self, by: Duration) {
        self.pass(by);
        self.jobs().await;
    }

    /// Posts a webhook that must be accepted.
    pub async fn takes(&self, webhook: &SignedWebhook) {
        self.hooked(&self.connection, webhook).await;
    }

    /// The message with this id of the gateway, as the listing shows it.
    pub async fn known(&self, id: &str) -> Value {
        let all = self.all_messages().await;
        let found: Vec<&Value> = all.iter().filter(|message| message["wamid"] == id).collect();
        assert_eq!(found.len(), 1, "{id} once in {all:?}");
        found[0].clone()
    }

    /// Sends a text to a phone and returns the gateway's id of the message.
    pub async fn sends(&self, to: &str, words: &str) -> String {
        text(&self.sent(to, words).await["wamid"])
    }

    /// The status of the connection.
    pub async fn status(&self) -> Value {
        self.connection_view(&self.connection).await["status"].clone()
    }

    /// GET of the operator API below the connection's path.
    pub async fn about(&self, what: &str) -> Value {
        self.operator_get(&format!("C/connections/{}/{what}", self.connection)).await
    }

    /// POST of the operator API below the connection's path.
    pub async fn asks(&self, what: &str) -> ScriptedAnswer {
        let path = format!("C/connections/{}/{what}", self.connection);
        self.operator("POST", &path, json!({})).await
    }

    /// Changes settings of the connection.
    pub async fn set(&self, settings: Value) {
        let path = format!("C/connections/{}", self.connection);
        self.operator("PATCH", &path, json!({ "settings": settings })).await.expect(200);
    }

    /// Asserts that the fake recorded no violation.
    #[track_caller]
    pub fn well_behaved(&self) {
        assert_eq!(self.fake.complaints(), Vec::<String>::new());
    }
}
