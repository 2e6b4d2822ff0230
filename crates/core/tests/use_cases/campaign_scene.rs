//! A campaign in a company with contacts.

use std::collections::{BTreeMap, BTreeSet};

use recado_core::Recado;
use recado_core::campaigns::{CampaignRecord, RecipientFilter, RecipientView};
use recado_core::ids::{CampaignId, ContactId, ListId, MessageId};
use recado_core::messages::DeliveryCode;
use recado_core::page::PageRequest;
use recado_testkit::kit::body;
use serde_json::{Value, json};

use super::create_phone;
use super::shop::{Made, Shop, phone};

/// Prosas and money of each message.
pub(super) const PRICE: (f64, f64) = (1.5, 0.042);

pub(super) struct Scene {
    pub(super) shop: Shop,
    pub(super) contacts: Vec<ContactId>,
    pub(super) list: ListId,
    pub(super) template: Made,
    pub(super) id: CampaignId,
}

impl Scene {
    /// A campaign, not started, to `count` contacts.
    pub(super) async fn of(count: usize) -> Self {
        Self::with(Shop::new().await, count, json!({})).await
    }

    /// The same with other values.
    pub(super) async fn with(shop: Shop, count: usize, with: Value) -> Self {
        let mut contacts = Vec::new();
        for n in 0..count {
            contacts.push(create_phone(shop.kit(), &phone(n)).await);
        }
        let list = shop.list(&contacts).await;
        let new = json!({ "name": "promo", "category": "MARKETING", "body": "Olá {{1}}" });
        let template = shop.template(new).await;
        let mut new = json!({
            "name": "Natal", "template_id": template.id, "list_id": list,
            "variables": { "1": "você" }, "prosas_per_message": PRICE.0,
            "cost_brl_per_message": PRICE.1, "messages_per_second": 1_000,
        });
        new.as_object_mut().unwrap().extend(body(with));
        let campaigns = shop.app().campaigns();
        let made = campaigns.create(shop.kit().company.id, &body(new)).await.unwrap();
        let id = made.campaign.id;
        Self { shop, contacts, list, template, id }
    }

    pub(super) async fn start(&self) -> CampaignRecord {
        let company = self.shop.kit().company.id;
        self.shop.app().campaigns().start(company, self.id).await.unwrap()
    }

    pub(super) async fn pause(&self) -> CampaignRecord {
        let company = self.shop.kit().company.id;
        self.shop.app().campaigns().pause(company, self.id).await.unwrap()
    }

    pub(super) async fn change(&self, change: Value) {
        let company = self.shop.kit().company.id;
        self.shop.app().campaigns().change(company, self.id, &body(change)).await.unwrap();
    }

    /// Sends all that may be sent at the rate of the campaign, in one process.
    pub(super) async fn drain_in(&self, app: &Recado) {
        for _ in 0..2_000 {
            let before = self.counts().await;
            app.campaigns().drain().await;
            self.shop.advance(std::time::Duration::from_millis(100));
            let (status, _) = self.status().await;
            if status != "running" || before == self.counts().await {
                return;
            }
        }
        panic!("the campaign never ends");
    }

    pub(super) async fn drain(&self) {
        self.drain_in(self.shop.app()).await;
    }

    pub(super) async fn shown(&self) -> Value {
        let company = self.shop.kit().company.id;
        let shown = self.shop.app().campaigns().get(company, self.id).await.unwrap();
        serde_json::to_value(shown).unwrap()
    }

    /// Its status, and why it is paused.
    pub(super) async fn status(&self) -> (String, Option<String>) {
        let shown = self.shown().await;
        let reason = shown["pause_reason"].as_str().map(str::to_owned);
        (shown["status"].as_str().unwrap().to_owned(), reason)
    }

    pub(super) async fn counts(&self) -> Value {
        self.shown().await["counts"].clone()
    }

    pub(super) async fn recipients(&self) -> Vec<RecipientView> {
        let (mut all, company) = (Vec::new(), self.shop.kit().company.id);
        for page in 1.. {
            let request = PageRequest { page, limit: 100 };
            let filter = RecipientFilter::default();
            let campaigns = self.shop.app().campaigns();
            let found = campaigns.recipients(company, self.id, filter, request).await.unwrap();
            all.extend(found.data);
            if all.len() as u64 >= found.total {
                break;
            }
        }
        all
    }

    /// How many recipients have which status.
    pub(super) async fn statuses(&self) -> BTreeMap<&'static str, usize> {
        let mut statuses = BTreeMap::new();
        for recipient in self.recipients().await {
            *statuses.entry(recipient.status.as_str()).or_default() += 1;
        }
        statuses
    }

    /// The status and error code of the recipient that is a contact.
    pub(super) async fn of_contact(&self, contact: ContactId) -> (String, Value) {
        let all = self.recipients().await;
        let recipient = all.iter().find(|known| known.contact_id == Some(contact));
        let recipient = recipient.expect("it is a recipient");
        (recipient.status.as_str().to_owned(), json!(recipient.error_code))
    }

    /// The messages that were refused for the gateway's rate, and are no recipient's any more.
    pub(super) async fn put_off(&self) -> BTreeSet<MessageId> {
        let of_recipients: BTreeSet<_> =
            self.recipients().await.iter().filter_map(|known| known.message_id).collect();
        let answers = self.shop.kit().provider.answers().into_iter();
        let limit = DeliveryCode::RateLimitedByProvider;
        let refused = answers.filter(|(_, answer)| {
            answer.as_ref().is_err_and(|failure| failure.failure().code == limit)
        });
        refused.map(|(id, _)| id).filter(|id| !of_recipients.contains(id)).collect()
    }

    /// How often the provider was called for each recipient, without the calls that it refused for
    /// its rate.
    pub(super) async fn calls(&self) -> BTreeMap<String, usize> {
        let put_off = self.put_off().await;
        let mut calls = BTreeMap::new();
        for sent in self.shop.kit().provider.sent() {
            if !put_off.contains(&sent.outgoing.reference) {
                *calls.entry(sent.outgoing.recipient).or_default() += 1;
            }
        }
        calls
    }

    /// What must always hold: no recipient gets two messages, the counts add up, and the ledger is
    /// the sum of the messages' debits less the refunds of those that surely failed.
    pub(super) async fn check(&self) {
        let (calls, put_off) = (self.calls().await, self.put_off().await.len());
        assert!(
            calls.values().all(|calls| *calls == 1),
            "somebody was written to twice: {calls:?}"
        );
        let (counts, statuses) = (self.counts().await, self.statuses().await);
        let of = |status: &str| statuses.get(status).copied().unwrap_or_default();
        assert_eq!(counts["total"], statuses.values().sum::<usize>());
        for status in ["sent", "delivered", "read", "failed", "skipped"] {
            assert_eq!(counts[status], of(status), "{status}");
        }
        let ledger = self.shop.ledger().await;
        let of_kind = |kind: &str| ledger.iter().filter(|line| line["kind"] == kind).count();
        let recipients = self.recipients().await;
        let with_message = recipients.iter().filter(|known| known.message_id.is_some()).count();
        assert_eq!(of_kind("debit"), with_message + put_off, "one debit for each message");
        for line in &ledger {
            assert_eq!(line["scope"], "message");
            assert_eq!(line["campaign_id"], json!(self.id));
            let sign = if line["kind"] == "refund" { -1.0 } else { 1.0 };
            assert_eq!(line["prosas"], json!(sign * PRICE.0));
            assert_eq!(line["cost_brl"], json!(sign * PRICE.1));
        }
        let refunded: BTreeSet<String> = ledger
            .iter()
            .filter(|line| line["kind"] == "refund")
            .map(|line| line["consumption_id"].to_string())
            .collect();
        assert_eq!(refunded.len(), of_kind("refund"), "nothing is given back twice");
    }

    /// How many debits were refunded.
    pub(super) async fn refunds(&self) -> usize {
        self.shop.ledger().await.iter().filter(|line| line["kind"] == "refund").count()
    }
}
