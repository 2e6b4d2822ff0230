//! A company that uses inbound endpoints, template dispatch and campaigns, run by two processes on
//! one database.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use recado_core::access::{ClientNet, MemoryLimiter};
use recado_core::conversations::ActionName;
use recado_core::gateway::SendFailure;
use recado_core::ids::{ConnectionId, ContactId, ListId, TemplateId};
use recado_core::messages::{DeliveryCode, Failure};
use recado_core::prosas::LedgerFilter;
use recado_core::{Recado, Timestamp};
use recado_testkit::kit::body;
use recado_testkit::{FaultyStore, Kit, MemoryStore, SeededIds};
use serde_json::{Value, json};

use super::messaging::Messaging;

/// The first process is `talk.kit.app`, the second one `other`. Both yield to other tasks between
/// reads and commits, as with a real database.
pub(super) struct Shop {
    pub(super) messaging: Messaging,
    pub(super) model: MemoryStore,
    /// The store wrapper of the first process, which can fail.
    pub(super) store: FaultyStore,
    pub(super) other: Recado,
    pub(super) limiter: Arc<MemoryLimiter>,
}

/// A template as it was made.
#[derive(Clone)]
pub(super) struct Made {
    pub(super) id: TemplateId,
    pub(super) token: String,
}

impl Shop {
    pub(super) async fn new() -> Self {
        Self::seeded(1).await
    }

    pub(super) async fn seeded(seed: u64) -> Self {
        let model = MemoryStore::new();
        let store = FaultyStore::new(Arc::new(model.clone()));
        let limiter = Arc::new(MemoryLimiter::new());
        let builder = Kit::builder().store(Arc::new(store.clone())).ids(SeededIds::new(seed));
        let kit = builder.limiter(limiter.clone()).build().await;
        let features = json!({ "inbound_contacts": true, "template_dispatch": true });
        let change = body(json!({ "features": features }));
        kit.app.access().change_company(kit.company.id, &change).await.unwrap();
        let messaging = Messaging::on(kit).await;
        // The first send of a process registers it, and the first of all makes the media key.
        messaging.set_connected(false).await;
        messaging.send("+5534991239999", "Oi").await.unwrap_err();
        messaging.set_connected(true).await;
        let other = process(&messaging.kit, &model, &limiter, seed + 1_000).await;
        Self { messaging, model, store, other, limiter }
    }

    pub(super) fn kit(&self) -> &Kit {
        &self.messaging.kit
    }

    pub(super) fn app(&self) -> &Recado {
        &self.messaging.kit.app
    }

    /// Both processes.
    pub(super) fn apps(&self) -> [&Recado; 2] {
        [self.app(), &self.other]
    }

    /// One more process on the same data.
    pub(super) async fn process(&self, seed: u64) -> Recado {
        process(self.kit(), &self.model, &self.limiter, seed).await
    }

    pub(super) fn now(&self) -> Timestamp {
        self.app().now()
    }

    pub(super) fn advance(&self, by: Duration) {
        self.kit().clock.advance(by);
    }

    pub(super) async fn set_features(&self, features: Value) {
        let change = body(json!({ "features": features }));
        self.app().access().change_company(self.kit().company.id, &change).await.unwrap();
    }

    /// A template; approved unless `new` says otherwise.
    pub(super) async fn template(&self, mut new: Value) -> Made {
        if new.get("status").is_none() {
            new["status"] = json!("APPROVED");
        }
        let templates = self.app().templates();
        let made = templates.create(self.kit().company.id, &body(new)).await.unwrap();
        Made { id: made.template.id, token: made.token.to_string() }
    }

    pub(super) async fn change_template(&self, id: TemplateId, change: Value) {
        let company = self.kit().company.id;
        self.app().templates().change(company, id, &body(change)).await.unwrap();
    }

    /// A list with these contacts.
    pub(super) async fn list(&self, contacts: &[ContactId]) -> ListId {
        let (lists, company) = (self.app().lists(), self.kit().company.id);
        let list = lists.create(company, &body(json!({ "name": "VIP" }))).await.unwrap().id;
        for some in contacts.chunks(500) {
            let members = body(json!({ "contact_ids": some }));
            lists.add_contacts(company, list, &members).await.unwrap();
        }
        list
    }

    /// One more connection.
    pub(super) async fn connection(&self, gateway: &str, connected: bool) -> ConnectionId {
        let kind = if gateway == "cloud_api" { "official_cloud" } else { "qr" };
        let mut new = json!({
            "kind": kind, "name": gateway, "identifier": "5511940028933", "gateway": gateway,
        });
        new["settings"] = match gateway {
            "waha" => json!({
                "base_url": "http://waha", "session": "s", "api_key": "k", "webhook_hmac_key": "h",
            }),
            _ => json!({
                "phone_number_id": "1", "access_token": "t", "app_secret": "s",
                "verify_token": "v",
            }),
        };
        let new = body(new);
        let (connections, company) = (self.app().connections(), self.kit().company.id);
        let made = connections.create(company, &new).await.unwrap();
        let made = serde_json::to_value(made).unwrap();
        let id = ConnectionId::parse(made["id"].as_str().unwrap()).unwrap();
        let status = if connected { "connected" } else { "disconnected" };
        let status = recado_core::connections::ConnectionStatus::parse(status).unwrap();
        connections.set_status(company, id, status).await.unwrap();
        id
    }

    pub(super) async fn act(&self, contact: ContactId, action: ActionName, with: Value) {
        let conversations = self.app().conversations();
        conversations.act(self.kit().company.id, contact, action, &body(with)).await.unwrap();
    }

    pub(super) async fn block(&self, contact: ContactId) {
        self.act(contact, ActionName::Block, json!({})).await;
    }

    pub(super) async fn opt_out(&self, contact: ContactId) {
        let at = json!({ "source": "backfill", "opted_out_at": "2026-01-02T03:04:05.006Z" });
        self.act(contact, ActionName::OptOut, at).await;
    }

    /// The types of all events, in order.
    pub(super) fn events(&self) -> Vec<String> {
        let events = self.model.events(self.kit().company.id);
        events.iter().map(|event| event.event_type.as_str().to_owned()).collect()
    }

    pub(super) fn count_events(&self, event_type: &str) -> usize {
        self.events().iter().filter(|known| *known == event_type).count()
    }

    /// How often the provider was called.
    pub(super) fn calls(&self) -> usize {
        self.kit().provider.sent().len()
    }

    /// All lines of the ledger.
    pub(super) async fn ledger(&self) -> Vec<Value> {
        let (mut lines, ledger) = (Vec::new(), self.app().prosas());
        for page in 1.. {
            let request = recado_core::page::PageRequest { page, limit: 100 };
            let filter = LedgerFilter::default();
            let found = ledger.consumption(&self.kit().caller, &filter, request).await.unwrap();
            lines.extend(found.items.iter().map(|line| serde_json::to_value(line).unwrap()));
            if lines.len() as u64 >= found.total {
                break;
            }
        }
        lines
    }
}

/// A process on the same data.
async fn process(
    kit: &Kit,
    model: &MemoryStore,
    limiter: &Arc<MemoryLimiter>,
    seed: u64,
) -> Recado {
    Kit::builder()
        .store(Arc::new(FaultyStore::new(Arc::new(model.another_process()))))
        .ids(SeededIds::new(seed))
        .clock(kit.clock.clone())
        .provider(kit.provider.clone())
        .transport(kit.transport.clone())
        .limiter(limiter.clone())
        .start()
        .await
}

/// A client with an address of its own.
pub(super) fn client(n: u32) -> ClientNet {
    ClientNet::of(IpAddr::V4(Ipv4Addr::from_bits(0x0a00_0000 + n)))
}

/// A phone that nothing else in a test has.
pub(super) fn phone(n: usize) -> String {
    format!("+55349{:08}", 91_000_000 + n)
}

pub(super) fn refusal() -> SendFailure {
    SendFailure::refused(DeliveryCode::RecipientUnreachable, "not on WhatsApp")
}

/// The gateway accepts no more messages for now.
pub(super) fn limited() -> SendFailure {
    SendFailure::limited("slow down", None)
}

pub(super) fn unreachable() -> SendFailure {
    SendFailure::Unreachable(Failure::new(DeliveryCode::Network, "refused".to_owned()))
}

pub(super) fn uncertain() -> SendFailure {
    SendFailure::uncertain("timed out")
}

/// Runs a future for so many steps and then drops it, as when its process dies; returns its result
/// if it ended before.
pub(super) async fn cut_off<T>(work: impl Future<Output = T>, steps: usize) -> Option<T> {
    let mut work = Box::pin(work);
    let mut context = Context::from_waker(Waker::noop());
    for _ in 0..steps {
        if let Poll::Ready(done) = work.as_mut().poll(&mut context) {
            return Some(done);
        }
        // The runtime wakes tasks that yielded only once this test yields too.
        tokio::task::yield_now().await;
    }
    None
}
