//! A [`World`] with a [`Receiver`]: webhooks, their deliveries, and the journal.

use std::ops::Deref;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::task::JoinHandle;

use crate::backend::{Outside, Setup, StoreKind};
use crate::http::{Request, ScriptedAnswer, text};
use crate::messaging::with;
use crate::receiver::Receiver;
use crate::world::{FromStore, Tenant, World, eventually};

/// A webhook to a path of the receiver.
#[derive(Clone, Debug)]
pub struct Hook {
    /// Its id.
    pub id: String,
    /// The secret it was created with.
    pub secret: String,
    /// The path at the receiver.
    pub path: String,
}

/// A world with outbound requests over sockets, and a receiver for them. There is no background
/// work: [`Hooks::drain`] attempts the deliveries that are due.
#[derive(Debug)]
pub struct Hooks {
    /// The world.
    pub world: World,
    /// The receiver.
    pub receiver: Receiver,
}

impl Deref for Hooks {
    type Target = World;

    fn deref(&self) -> &World {
        &self.world
    }
}

impl FromStore for Hooks {
    async fn from_store(kind: StoreKind) -> Self {
        Self::with(kind, Setup { no_background: true, ..Setup::default() }).await
    }
}

impl Hooks {
    /// A world with these settings and outbound requests over sockets.
    pub async fn with(kind: StoreKind, setup: Setup) -> Self {
        let world = World::with(kind, Setup { outside: Outside::Open, ..setup }).await;
        Self { world, receiver: Receiver::start().await }
    }

    /// A world whose background loops run, including the delivery worker.
    pub async fn live(kind: StoreKind) -> Self {
        Self::with(kind, Setup::default()).await
    }

    /// Registers a webhook of our company to a path of the receiver.
    pub async fn hook(&self, path: &str, events: &[&str]) -> Hook {
        self.hook_with(&self.us, path, events, json!({})).await
    }

    /// Registers a webhook of a given company with more settings.
    pub async fn hook_with(
        &self,
        tenant: &Tenant,
        path: &str,
        events: &[&str],
        more: Value,
    ) -> Hook {
        let body = with(json!({"url": self.receiver.url(path), "events": events}), more);
        let made = self.make_for(tenant, "C/webhooks", body).await;
        Hook { id: text(&made["id"]), secret: text(&made["secret"]), path: path.to_owned() }
    }

    /// Changes a webhook.
    pub async fn change_hook(&self, hook: &Hook, body: Value) -> Value {
        self.operator("PATCH", &format!("C/webhooks/{}", hook.id), body).await.expect(200)
    }

    /// Attempts every delivery that is due.
    pub async fn drain(&self) {
        self.server.drain().await;
    }

    /// Starts to attempt every delivery that is due.
    pub fn draining(&self) -> JoinHandle<()> {
        self.server.draining()
    }

    /// Advances the clock, and attempts the deliveries that are due then.
    pub async fn pass(&self, time: Duration) {
        self.advance(time);
        self.drain().await;
    }

    /// Our company's deliveries, newest first.
    pub async fn deliveries(&self, query: &str) -> Vec<Value> {
        let answer = self.list_deliveries(query).await;
        answer.expect(200);
        answer.items()
    }

    /// The answer to the listing of our company's deliveries.
    pub async fn list_deliveries(&self, query: &str) -> ScriptedAnswer {
        self.operator("GET", &format!("C/deliveries?{query}"), Value::Null).await
    }

    /// A delivery with its body and attempts.
    pub async fn delivery(&self, id: &str) -> Value {
        self.operator_get(&format!("C/deliveries/{id}")).await
    }

    /// The only delivery, with its body and attempts.
    pub async fn only_delivery(&self) -> Value {
        let all = self.deliveries("limit=100").await;
        assert_eq!(all.len(), 1, "one delivery was expected: {all:?}");
        self.delivery(&text(&all[0]["id"])).await
    }

    /// Waits until a delivery is finished, and returns it.
    pub async fn finished(&self, id: &str) -> Value {
        eventually("the delivery is settled", || async {
            let found = self.delivery(id).await;
            (found["status"] != "pending").then_some(found)
        })
        .await
    }

    /// Redelivers a delivery.
    pub async fn redeliver(&self, id: &str) -> ScriptedAnswer {
        self.operator("POST", &format!("C/deliveries/{id}/redeliver"), Value::Null).await
    }

    /// A key of our company that can only read the journal.
    pub async fn journal_key(&self) -> String {
        self.key_with(&["events:read"]).await
    }

    /// A part of the journal.
    pub async fn journal(&self, key: &str, query: &str) -> ScriptedAnswer {
        Request::new("GET", format!("/api/v1/events?{query}")).bearer(key).send(self.addr).await
    }
}

/// The entries and the position of a part of the journal.
pub fn part(answer: &ScriptedAnswer) -> (Vec<Value>, String) {
    answer.expect(200);
    (answer.items(), text(&answer.json()["pagination"]["position"]))
}
