//! A company with webhooks, and scripted receivers.

use std::sync::Arc;
use std::time::Duration;

use recado_core::deliveries::{
    DeliveryDetail, DeliveryFilter, DeliveryRequest, DeliveryStatus, DeliveryView,
};
use recado_core::ids::{DeliveryId, WebhookId};
use recado_core::page::PageRequest;
use recado_testkit::kit::body;
use recado_testkit::{Kit, MemoryStore, ScriptedReceiver};
use serde_json::{Value, json};

pub(super) const URL: &str = "https://receiver.example/hook";
pub(super) const OTHER_URL: &str = "https://other.example/hook";

pub(super) struct Outbound {
    pub(super) kit: Kit,
    pub(super) model: MemoryStore,
}

impl Outbound {
    pub(super) async fn new() -> Self {
        let model = MemoryStore::new();
        Self { kit: Kit::on(Arc::new(model.clone())).await, model }
    }

    /// The receiver at a URL; it accepts everything unless configured otherwise.
    pub(super) fn receiver(&self, url: &str) -> ScriptedReceiver {
        self.kit.transport.at(url)
    }

    /// A webhook for these events, with a receiver that takes everything.
    pub(super) async fn webhook(&self, url: &str, events: &[&str]) -> WebhookId {
        self.receiver(url).otherwise_status(200);
        let new = json!({ "url": url, "events": events });
        self.create(new).await.0
    }

    /// A webhook and its secret.
    pub(super) async fn create(&self, new: Value) -> (WebhookId, String) {
        let made = self.kit.app.webhooks().create(self.kit.company.id, &body(new)).await.unwrap();
        (made.webhook.id, made.secret)
    }

    pub(super) async fn change(&self, id: WebhookId, change: Value) {
        let webhooks = self.kit.app.webhooks();
        webhooks.change(self.kit.company.id, id, &body(change)).await.unwrap();
    }

    pub(super) async fn set_plan(&self, plan: &str) {
        let change = body(json!({ "plan": plan }));
        self.kit.app.access().change_company(self.kit.company.id, &change).await.unwrap();
    }

    pub(super) async fn listed(&self, filter: DeliveryFilter) -> Vec<DeliveryView> {
        let page = PageRequest { page: 1, limit: 100 };
        let request = DeliveryRequest { filter, page };
        let page = self.kit.app.deliveries().list(self.kit.company.id, &request).await.unwrap();
        assert_eq!(page.total, page.items.len() as u64, "one page is enough");
        page.items
    }

    /// All deliveries, newest first.
    pub(super) async fn all(&self) -> Vec<DeliveryView> {
        self.listed(DeliveryFilter::default()).await
    }

    /// The only delivery there is.
    pub(super) async fn only(&self) -> DeliveryView {
        let all = self.all().await;
        assert_eq!(all.len(), 1, "{all:?}");
        all[0].clone()
    }

    pub(super) async fn detail(&self, id: DeliveryId) -> DeliveryDetail {
        self.kit.app.deliveries().get(self.kit.company.id, id).await.unwrap()
    }

    /// The types of the deliveries of a webhook, oldest first.
    pub(super) async fn types_for(&self, webhook: WebhookId) -> Vec<&'static str> {
        let filter = DeliveryFilter { webhook: Some(webhook), ..DeliveryFilter::default() };
        let mut listed = self.listed(filter).await;
        listed.sort_by_key(|delivery| delivery.id);
        listed.iter().map(|delivery| delivery.event.as_str()).collect()
    }

    pub(super) async fn count(&self, status: DeliveryStatus) -> usize {
        let filter = DeliveryFilter { status: Some(status), ..DeliveryFilter::default() };
        self.listed(filter).await.len()
    }

    /// Sends everything that is due.
    pub(super) async fn drain(&self) {
        self.kit.app.deliveries().drain().await;
    }

    pub(super) fn advance(&self, seconds: u64) {
        self.kit.clock.advance(Duration::from_secs(seconds));
    }
}
