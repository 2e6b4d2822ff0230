//! Webhooks through the core, and the operations of a delivery worker.

use std::time::Duration;

use recado_core::access::Caller;
use recado_core::deliveries::{
    AttemptOutcome, DeliveryFilter, DeliveryRequest, DeliverySeq, DeliveryStatus,
    PendingDeliveries, PendingQueue, QueueKey, QueueRead, ShardNumber, after_attempt, cancelled,
};
use recado_core::events::{EventType, EventsAbout, JournalRequest, Swept};
use recado_core::ids::{CompanyId, ContactId, DeliveryId, MessageId, WebhookId};
use recado_core::page::PageRequest;
use recado_core::query::Params;
use recado_core::store::{ChangeSet, CommitError, Conflict, RecordsExt};
use recado_core::transport::{OutboundResponse, TransportError};
use recado_core::webhooks::Routes;
use recado_core::{Clock as _, Timestamp};
use serde_json::{Value, json};

use super::command::{Command, Verb};
use super::side::{Side, nil, show};
use super::world::World;
use crate::kit::body;

/// A limit that no run reaches.
const ALL: u32 = 100_000;
/// Subscriptions of webhooks.
const TOPICS: &[&[&str]] = &[
    &["*"],
    &["contact.created"],
    &["message.received", "message.sent"],
    &["message.status_updated", "contact.opted_out", "contact.created"],
    &["nothing.known"],
];

fn topics(command: &Command, n: usize) -> &'static [&'static str] {
    TOPICS[command.number(n) % TOPICS.len()]
}

fn outcome(outcome: Result<(), CommitError>) -> &'static str {
    match outcome {
        Ok(()) => "applied",
        Err(CommitError::Conflict(Conflict::Stale(_))) => "stale",
        Err(CommitError::Conflict(_)) => "conflict",
        Err(CommitError::Store(_)) => "failed",
    }
}

impl Side<'_> {
    /// Runs a command about webhooks; answers its result as JSON.
    pub(super) async fn outbound(&self, command: &Command, world: &World) -> Value {
        let (company, caller) = self.company(command);
        let (app, company) = (&self.app, company.id);
        let webhook = WebhookId::new(nil(world.id("webhook", command, 0)));
        let delivery = DeliveryId::new(nil(world.id("delivery", command, 0)));
        match command.verb {
            Verb::CreateWebhook => {
                let new = json!({
                    "url": format!("https://r{}.example/hook", command.number(1) % 3),
                    "events": topics(command, 2),
                    "is_active": !command.once_in(3, 5),
                    "standard_headers": command.once_in(4, 2),
                });
                show(app.webhooks().create(company, &body(new)).await.map(|made| {
                    let mut shown = json!(made.webhook);
                    shown["secret"] = json!(made.secret);
                    shown
                }))
            }
            Verb::ChangeWebhook => {
                let mut change = json!({});
                if command.once_in(1, 2) {
                    change["is_active"] = json!(!command.once_in(2, 3));
                }
                if command.once_in(3, 2) {
                    change["events"] = json!(topics(command, 4));
                }
                show(app.webhooks().change(company, webhook, &body(change)).await)
            }
            Verb::DeleteWebhook => show(app.webhooks().delete(company, webhook).await),
            Verb::RotateSecret => {
                let rotated =
                    app.webhooks().rotate_secret(company, webhook, &body(json!({}))).await;
                show(rotated.map(|made| json!([made.webhook, made.secret])))
            }
            Verb::TestWebhook => show(app.webhooks().test(company, webhook).await),
            Verb::ChangePlan => {
                let plan =
                    command.pick(1, &["starter", "professional", "enterprise", "enterprise"]);
                let changed =
                    app.access().change_company(company, &body(json!({ "plan": plan }))).await;
                show(changed.map(|company| json!(company.plan)))
            }
            Verb::Attempt => self.attempt(command, QueueKey { company, webhook }).await,
            Verb::Redeliver => show(app.deliveries().redeliver(company, delivery).await),
            Verb::ReadDelivery => show(app.deliveries().get(company, delivery).await),
            Verb::Forget => {
                let contact = ContactId::new(nil(world.id("contact", command, 1)));
                let message = command
                    .once_in(2, 2)
                    .then(|| MessageId::new(nil(world.id("message", command, 3))));
                let about = EventsAbout { contact, message };
                let erased = self.store.erase_events(company, about, ALL).await;
                json!({ "ok": format!("{erased:?}") })
            }
            Verb::Sweep => {
                let back = Duration::from_millis(command.number(1) as u64 % 3_000);
                json!({ "ok": self.sweep(self.clock.now().minus(back)).await })
            }
            Verb::ReadQueues => self.queues(command, QueueKey { company, webhook }).await,
            Verb::ReadJournal => {
                let event = command.once_in(1, 2).then(|| {
                    let public: Vec<EventType> = EventType::public().collect();
                    public[command.number(2) % public.len()]
                });
                let limit = 1 + command.number(3) % 40;
                json!({ "ok": self.journal(caller, event, limit).await })
            }
            _ => {
                let one = |n: usize| command.once_in(n, 2);
                let statuses = DeliveryStatus::ALL;
                let filter = DeliveryFilter {
                    status: one(1).then(|| statuses[command.number(2) % statuses.len()]),
                    webhook: one(3).then_some(webhook),
                    event: one(4).then(|| EventType::ALL[command.number(5) % EventType::ALL.len()]),
                };
                let page = 1 + command.number(6) as u32 % 3;
                let page = PageRequest { page, limit: 1 + command.number(7) as u32 % 30 };
                self.listed(company, filter, page).await
            }
        }
    }

    async fn listed(&self, company: CompanyId, filter: DeliveryFilter, page: PageRequest) -> Value {
        let request = DeliveryRequest { filter, page };
        let page = self.app.deliveries().list(company, &request).await.expect("the store works");
        json!({ "ok": { "items": page.items, "total": page.total } })
    }

    /// Makes attempts at the head of a queue, as a delivery worker does, and records their
    /// outcomes.
    async fn attempt(&self, command: &Command, key: QueueKey) -> Value {
        let (store, now) = (&self.store, self.clock.now());
        let count = 1 + command.number(1) as u32 % 4;
        let read = QueueRead { key, after: DeliverySeq(0), fresh: count, due: now, again: count };
        let page = store.read_queue(read).await.expect("the store works");
        let mut changes = ChangeSet::new();
        let mut attempts = 0;
        let mut due: Vec<_> = page.fresh.iter().chain(&page.again).collect();
        due.sort_by_key(|due| due.delivery.id);
        for (n, due) in due.into_iter().enumerate() {
            let answer = match command.number(2 + n) % 4 {
                0 => Err(TransportError::TimedOut { after_sending: true }),
                1 => Ok(OutboundResponse::new(503, "não\0")),
                _ => Ok(OutboundResponse::new(200, Vec::new())),
            };
            let ended_at = now.plus(Duration::from_millis(n as u64));
            let outcome = AttemptOutcome { started_at: now, ended_at, answer };
            let waits = &self.app.settings().retry_waits;
            let after = match command.once_in(10 + n, 9) {
                true => cancelled(&due.delivery),
                false => after_attempt(&due.delivery, &outcome, waits),
            };
            changes = changes.with(due.delivery.update(after));
            attempts += 1;
        }
        if command.once_in(20, 3) {
            self.clock.advance(Duration::from_secs(30));
        }
        let outcome = outcome(store.commit(changes).await);
        json!({ "found": (attempts > 0).then_some(attempts), "outcome": outcome })
    }

    async fn sweep(&self, before: Timestamp) -> u32 {
        let mut swept = 0;
        loop {
            let gone =
                self.store.sweep_outbox(Swept::Before(before), 50).await.expect("the store works");
            if gone == 0 {
                return swept;
            }
            swept += gone;
        }
    }

    async fn queues(&self, command: &Command, key: QueueKey) -> Value {
        let (store, limit) = (&self.store, 1 + command.number(1) as u32 % 3);
        let mut queues: Vec<PendingQueue> = Vec::new();
        let (part, parts) = (command.number(5) % 3, 1 + command.number(6) % 3);
        // All shards, or each second or third one.
        let is_chosen = |shard: &ShardNumber| usize::from(shard.number()) % parts == part % parts;
        let every = store.shards().await.expect("the store works");
        let shards = every.all().filter(is_chosen).collect();
        loop {
            let after = queues.last().map(|queue| queue.key);
            let part = store.pending_queues(&shards, after, limit).await.expect("the store works");
            if part.is_empty() {
                break;
            }
            queues.extend(part);
        }
        queues.sort_by_key(|queue| queue.key);
        // Chooses one of the existing queues, or the named one.
        let pick = queues.get(command.number(2) % (queues.len() + 1));
        let key = pick.map_or(key, |queue| queue.key);
        let read = QueueRead {
            key,
            after: DeliverySeq(0),
            fresh: command.number(3) as u32 % 20,
            due: self.clock.now(),
            again: command.number(4) as u32 % 20,
        };
        let page = store.read_queue(read).await.expect("the store works");
        // Each store has its own positions; only their order is compared.
        let shown = |due: &recado_core::deliveries::DueDelivery| {
            format!("{:?} {:?} {:?}", due.delivery, due.contact, due.data)
        };
        let fresh: Vec<String> = page.fresh.iter().map(shown).collect();
        let again: Vec<String> = page.again.iter().map(shown).collect();
        let pending =
            store.pending_deliveries(key.company, PendingDeliveries::Of(key.webhook), ALL).await;
        let mut pending = pending.expect("the store works");
        pending.sort_by_key(|delivery| delivery.id);
        json!({
            "found": (!queues.is_empty()).then(|| format!("{queues:?}")),
            "webhook": format!("{:?}", page.webhook),
            "fresh": fresh,
            "again": again,
            "pending": format!("{pending:?}"),
        })
    }

    /// The whole journal, read in parts. Positions are left out, because each store has its own.
    async fn journal(&self, caller: &Caller, event: Option<EventType>, limit: usize) -> Value {
        let (mut entries, mut after) = (Vec::new(), None);
        loop {
            let mut params = vec![("limit".to_owned(), limit.to_string())];
            params.extend(after.map(|after| ("after".to_owned(), after)));
            params.extend(event.map(|event| ("event".to_owned(), event.as_str().to_owned())));
            let request = JournalRequest::parse(&Params::new(params)).expect("acceptable");
            let part = match self.app.events().journal(caller, &request).await {
                Ok(part) => part,
                Err(error) => return show::<(), _>(Err(error)),
            };
            entries.extend(part.entries.iter().map(|entry| json!(entry)));
            if !part.has_more {
                return json!(entries);
            }
            after = Some(part.position);
        }
    }

    /// The answers of all reads about the webhooks of a company.
    pub(super) async fn all_outbound(&self, company: CompanyId, caller: &Caller) -> Vec<Value> {
        let store = self.app.store();
        let mut everything = vec![
            show(self.app.webhooks().all(company).await),
            json!(format!("{:?}", store.get::<Routes>(company).await.expect("works"))),
            self.journal(caller, None, 100).await,
        ];
        for page in 1..6 {
            let page = PageRequest { page, limit: 100 };
            everything.push(self.listed(company, DeliveryFilter::default(), page).await);
        }
        everything
    }
}
