//! Rows of webhooks and their deliveries, for use with those of [`Scene`].

use recado_core::Timestamp;
use recado_core::deliveries::{Delivery, DeliverySeq, DeliveryStatus, DueDelivery};
use recado_core::deliveries::{QueueKey, QueuePage, QueueRead, Shard, ShardNumber, Shards};
use recado_core::events::{Event, EventRecord, EventType, JournalPosition};
use recado_core::ids::{ContactId, DeliveryId, EventId, WebhookId};
use recado_core::store::{ChangeSet, RecordsExt, Stored};
use recado_core::webhooks::{
    EventRoute, Routes, SigningSecret, SigningSecrets, Topics, Webhook, WebhookState, WebhookUrl,
};

use super::call_site::CallSite;
use super::scene::{Scene, at};

/// A limit that no test reaches.
pub(super) const ALL: u32 = 10_000;

/// The read of a whole queue.
pub(super) const fn whole(key: QueueKey) -> QueueRead {
    QueueRead { key, after: DeliverySeq(0), fresh: ALL, due: Timestamp::MAX, again: ALL }
}

/// The ids of the deliveries that a read answered.
pub(super) fn ids_of(due: &[DueDelivery]) -> Vec<DeliveryId> {
    due.iter().map(|due| due.delivery.id).collect()
}

/// The number of a shard.
pub(super) fn shard_number(number: u16) -> ShardNumber {
    ShardNumber::new(number).expect("a shard")
}

/// The record of an event; its contact, if it has one, is not stored.
pub(super) fn record(event: &Event) -> EventRecord {
    EventRecord {
        id: event.id,
        company: event.company,
        event_type: event.event_type,
        contact: event.contact,
        at: event.at,
        data: Some(event.data.clone()),
        is_orphaned: event.contact.is_some(),
    }
}

impl Scene {
    /// How many shards there are.
    pub(super) async fn shards(&self) -> Shards {
        self.store.shards().await.expect("works")
    }

    /// An active webhook for all events.
    pub(super) fn webhook(&self) -> Webhook {
        let secret = SigningSecret::from_random(self.random());
        Webhook {
            id: WebhookId::new(self.uuid()),
            company: self.company,
            url: WebhookUrl::parse("https://example.com/hook").expect("a URL"),
            topics: Topics::All,
            state: WebhookState::Active,
            standard_headers: false,
            secrets: SigningSecrets::new(secret),
            created_at: at(0),
            updated_at: at(0),
        }
    }

    /// Routes to these webhooks.
    pub(super) fn routes(&self, webhooks: &[WebhookId]) -> Routes {
        let route = |webhook: &WebhookId| EventRoute { webhook: *webhook, topics: Topics::All };
        Routes { company: self.company, fires: true, routes: webhooks.iter().map(route).collect() }
    }

    /// A shard that is assigned to no process.
    pub(super) fn shard(&self, number: u16) -> Shard {
        Shard { number: shard_number(number), owner: None }
    }

    /// A queue of the company, without deliveries.
    pub(super) fn queue(&self) -> QueueKey {
        QueueKey { company: self.company, webhook: WebhookId::new(self.uuid()) }
    }

    /// An event without a contact.
    pub(super) fn reported(&self, event_type: EventType, millis: i64) -> Event {
        Event {
            id: EventId::new(self.uuid_at(at(millis))),
            company: self.company,
            event_type,
            contact: None,
            at: at(millis),
            data: format!("{{\"n\":{millis}}}"),
        }
    }

    /// An event of a contact that need not exist.
    pub(super) fn reported_of(&self, contact: ContactId, millis: i64) -> Event {
        Event { contact: Some(contact), ..self.reported(EventType::MessageReceived, millis) }
    }

    /// A delivery of an event, without attempts.
    pub(super) fn fresh(&self, key: QueueKey, event: &Event) -> Delivery {
        let id = DeliveryId::new(self.uuid_at(event.at));
        Delivery::new(id, key.company, key.webhook, event.id, event.event_type, event.at)
    }

    /// A delivery of an event that is not stored, without attempts.
    pub(super) fn fresh_at(&self, key: QueueKey, millis: i64) -> Delivery {
        self.fresh(key, &self.reported(EventType::ContactCreated, millis))
    }

    /// A delivery that had an attempt and is due again.
    pub(super) fn tried(&self, key: QueueKey, due: i64) -> Delivery {
        Delivery { attempts: 1, tries: 1, due_at: Some(at(due)), ..self.fresh_at(key, 0) }
    }

    /// A delivery that the receiver accepted.
    pub(super) fn delivered(&self, key: QueueKey, event: &Event) -> Delivery {
        Delivery {
            status: DeliveryStatus::Delivered,
            attempts: 1,
            tries: 1,
            due_at: None,
            delivered_at: Some(event.at),
            ..self.fresh(key, event)
        }
    }

    /// Stores events and deliveries.
    pub(super) async fn tell(&self, events: &[Event], deliveries: &[Delivery]) {
        let mut changes = ChangeSet::new();
        for event in events {
            changes = changes.emit(event.clone());
        }
        for delivery in deliveries {
            changes = changes.insert(delivery.clone());
        }
        self.store.commit(changes).await.expect("all can be stored");
    }

    /// What the store reads of a queue.
    #[track_caller]
    pub(super) fn read_queue(&self, read: QueueRead) -> impl Future<Output = QueuePage> {
        let caller = CallSite::here();
        async move { caller.works(self.store.read_queue(read).await) }
    }

    /// A delivery as it is stored now.
    #[track_caller]
    pub(super) fn delivery_now(
        &self,
        id: DeliveryId,
    ) -> impl Future<Output = Option<Stored<Delivery>>> {
        let caller = CallSite::here();
        async move { caller.works(self.store.get::<Delivery>((self.company, id)).await) }
    }

    /// An event as it is stored now.
    #[track_caller]
    pub(super) fn event_now(&self, id: EventId) -> impl Future<Output = Option<EventRecord>> {
        let caller = CallSite::here();
        async move { caller.works(self.store.event(self.company, id).await) }
    }

    /// A part of the journal, of all types.
    #[track_caller]
    pub(super) fn journal(
        &self,
        after: JournalPosition,
        limit: u32,
    ) -> impl Future<Output = Vec<(JournalPosition, EventRecord)>> {
        let caller = CallSite::here();
        async move {
            let types = EventType::ALL;
            caller.works(self.store.events_after(self.company, types, after, limit).await)
        }
    }

    /// The ids of the whole journal.
    pub(super) async fn journal_ids(&self) -> Vec<EventId> {
        let events = self.journal(JournalPosition::default(), ALL).await;
        events.into_iter().map(|(_, event)| event.id).collect()
    }
}
