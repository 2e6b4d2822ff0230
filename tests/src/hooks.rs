//! A [`World`] with a [`Receiver`] beside it: webhooks, what is sent to them, and the journal.

use std::ops::Deref;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::task::JoinHandle;

use crate::backend::{Outside, Setup, StoreKind};
use crate::http::{Request, ScriptedAnswer, text};
use crate::messaging::with;
use crate::receiver::Receiver;
use crate::world::{FromStore, Tenant, World, eventually};

/// A webhook that leads to a path of the receiver.
#[derive(Clone, Debug)]
pub struct Hook {
    /// Its id.
    pub id: String,
    /// The secret it was made with.
    pub secret: String,
    /// The path at the receiver.
    pub path: String,
}

/// A world whose calls to the outside go over sockets, with a receiver for them. Nothing happens in
/// the background: what is due is sent by [`Hooks::drain`].
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
    /// A world with these settings, whose calls to the outside go over sockets.
    pub async fn with(kind: StoreKind, setup: Setup) -> Self {
        let world = World::with(kind, Setup { outside: Outside::Open, ..setup }).await;
        Self { world, receiver: Receiver::start().await }
    }

    /// A world whose background loops run: the delivery worker too.
    pub async fn live(kind: StoreKind) -> Self {
        Self::with(kind, Setup::default()).await
    }

    /// Registers a webhook of ours at a path of the receiver.
    pub async fn hook(&self, path: &str, events: &[&str]) -> Hook {
        self.hook_with(&self.us, path, events, json!({})).await
    }

    /// Registers a webhook of some company with more settings.
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

    /// Sends everything that is due now.
    pub async fn drain(&self) {
        self.server.drain().await;
    }

    /// Begins to send everything that is due now.
    pub fn draining(&self) -> JoinHandle<()> {
        self.server.draining()
    }

    /// Lets time pass, and sends what is due then.
    pub async fn pass(&self, time: Duration) {
        self.advance(time);
        self.drain().await;
    }

    /// Our deliveries, newest first.
    pub async fn deliveries(&self, query: &str) -> Vec<Value> {
        let answer = self.list_deliveries(query).await;
        answer.expect(200);
        answer.items()
    }

    /// The answer of our listing of deliveries.
    pub async fn list_deliveries(&self, query: &str) -> ScriptedAnswer {
        self.operator("GET", &format!("C/deliveries?{query}"), Value::Null).await
    }

    /// A delivery with its body and attempts.
    pub async fn delivery(&self, id: &str) -> Value {
        self.operator_get(&format!("C/deliveries/{id}")).await
    }

    /// The only delivery there is, with its body and attempts.
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

    /// Asks for a fresh series of attempts.
    pub async fn redeliver(&self, id: &str) -> ScriptedAnswer {
        self.operator("POST", &format!("C/deliveries/{id}/redeliver"), Value::Null).await
    }

    /// A key of ours that reads the journal and nothing else.
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
