//! Reads of webhooks, of their deliveries and queues, and of the processes that dispatch them.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use recado_core::Timestamp;
use recado_core::deliveries::{
    Delivery, DeliveryFilter, DeliveryReads, DeliverySeq, DeliveryStatus, DueDelivery, DueReads,
    PendingDeliveries, PendingQueue, QueueKey, QueuePage, QueueRead, ShardNumber, Shards,
};
use recado_core::ids::CompanyId;
use recado_core::page::{Page, PageRequest};
use recado_core::store::{Record, Row, RowKey, StoreError, Stored};
use recado_core::webhooks::{Webhook, WebhookReads, WebhookState};

use super::messages::page_of;
use super::rows::VersionedRow;
use super::{MemoryStore, State};

fn passes(delivery: &Delivery, filter: &DeliveryFilter) -> bool {
    filter.status.is_none_or(|status| delivery.status == status)
        && filter.webhook.is_none_or(|webhook| delivery.webhook == webhook)
        && filter.event.is_none_or(|event| delivery.event_type == event)
}

const fn queue_of(delivery: &Delivery) -> QueueKey {
    QueueKey { company: delivery.company, webhook: delivery.webhook }
}

impl State {
    /// All pending deliveries of a queue, with their positions, in the order of the queue.
    pub(super) fn queue(&self, key: QueueKey) -> Vec<(Timestamp, DeliverySeq, Stored<Delivery>)> {
        let placed = |entry: &VersionedRow| {
            let Row::Delivery(delivery) = &entry.row else { return None };
            let queued_at = delivery.queued_at().filter(|_| queue_of(delivery) == key)?;
            let stored = Stored::new(delivery.clone(), entry.version);
            Some((queued_at, DeliverySeq(entry.sequence), stored))
        };
        let mut queue: Vec<_> = self.rows.entries(Delivery::KIND).filter_map(placed).collect();
        queue.sort_by_key(|(queued_at, seq, _)| (*queued_at, *seq));
        queue
    }

    fn due(&self, seq: DeliverySeq, delivery: Stored<Delivery>) -> DueDelivery {
        let event = self.event(delivery.company, delivery.event);
        DueDelivery {
            seq,
            contact: event.and_then(|event| event.contact),
            data: event.and_then(|event| event.data.clone()),
            delivery,
        }
    }
}

#[async_trait]
impl WebhookReads for MemoryStore {
    async fn webhooks(&self, company: CompanyId) -> Result<Vec<Stored<Webhook>>, StoreError> {
        Ok(self.state().sorted_stored(
            |webhook: &Webhook| {
                webhook.company == company && webhook.state != WebhookState::Deleted
            },
            |webhook| (webhook.created_at, webhook.id),
        ))
    }
}

#[async_trait]
impl DeliveryReads for MemoryStore {
    async fn shards(&self) -> Result<Shards, StoreError> {
        Ok(Shards::USUAL)
    }

    async fn deliveries(
        &self,
        company: CompanyId,
        filter: &DeliveryFilter,
        page: PageRequest,
    ) -> Result<Page<Delivery>, StoreError> {
        let all = self.state().sorted(
            |delivery: &Delivery| delivery.company == company && passes(delivery, filter),
            |delivery| Reverse((delivery.created_at, delivery.id)),
        );
        Ok(page_of(all, page))
    }

    async fn pending_deliveries(
        &self,
        company: CompanyId,
        which: PendingDeliveries,
        limit: u32,
    ) -> Result<Vec<Stored<Delivery>>, StoreError> {
        let (contact, after) = match which {
            PendingDeliveries::About { contact, after } => (contact, after),
            PendingDeliveries::Of(webhook) => {
                let queue = self.state().queue(QueueKey { company, webhook }).into_iter();
                return Ok(queue.map(|(_, _, delivery)| delivery).take(limit as usize).collect());
            }
        };
        let state = self.state();
        let is_about = |delivery: &Delivery| {
            let event = state.event(company, delivery.event);
            event.is_some_and(|event| event.contact == Some(contact) && event.data.is_some())
        };
        let mut found = state.sorted_stored(
            |delivery: &Delivery| {
                delivery.company == company
                    && delivery.status == DeliveryStatus::Pending
                    && after.is_none_or(|after| delivery.id > after)
                    && is_about(delivery)
            },
            |delivery| delivery.id,
        );
        found.truncate(limit as usize);
        Ok(found)
    }
}

#[async_trait]
impl DueReads for MemoryStore {
    async fn pending_queues(
        &self,
        shards: &BTreeSet<ShardNumber>,
        after: Option<QueueKey>,
        limit: u32,
    ) -> Result<Vec<PendingQueue>, StoreError> {
        let state = self.state();
        let mut lowest: BTreeMap<QueueKey, Timestamp> = BTreeMap::new();
        for delivery in state.rows.all::<Delivery>() {
            let Some(queued_at) = delivery.queued_at() else { continue };
            if !shards.contains(&Shards::USUAL.of_webhook(delivery.webhook)) {
                continue;
            }
            let known = lowest.entry(queue_of(delivery)).or_insert(queued_at);
            *known = queued_at.min(*known);
        }
        let next = lowest.into_iter().filter(|(key, _)| after.is_none_or(|after| *key > after));
        let next = next.map(|(key, queued_at)| PendingQueue { key, queued_at });
        Ok(next.take(limit as usize).collect())
    }

    async fn read_queue(&self, read: QueueRead) -> Result<QueuePage, StoreError> {
        let state = self.state();
        let QueueKey { company, webhook } = read.key;
        let (fresh, again): (Vec<_>, Vec<_>) =
            state.queue(read.key).into_iter().partition(|(_, _, delivery)| delivery.is_fresh());
        let due = |(_, seq, delivery)| state.due(seq, delivery);
        Ok(QueuePage {
            webhook: state.rows.get(&RowKey::Webhook { company, id: webhook }),
            fresh: fresh
                .into_iter()
                .filter(|(_, seq, _)| *seq > read.after)
                .take(read.fresh as usize)
                .map(due)
                .collect(),
            again: again
                .into_iter()
                .filter(|(queued_at, ..)| *queued_at <= read.due)
                .take(read.again as usize)
                .map(due)
                .collect(),
        })
    }
}
