//! Reads of deliveries: the records for the operator, the queues for the delivery worker.

use std::collections::BTreeSet;

use async_trait::async_trait;

use super::{Delivery, DeliveryFilter, ShardNumber, Shards};
use crate::Timestamp;
use crate::ids::{CompanyId, ContactId, DeliveryId, WebhookId};
use crate::page::{Page, PageRequest};
use crate::store::{StoreError, Stored};
use crate::webhooks::Webhook;

/// The position of a delivery in the order in which deliveries were stored; from 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeliverySeq(pub u64);

/// Which pending deliveries to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PendingDeliveries {
    /// Those of a webhook, in any order.
    Of(WebhookId),
    /// Those of events about a contact whose data is not erased, whether the contact is there or
    /// not, by id.
    About {
        /// The contact.
        contact: ContactId,
        /// Only those with ids after this one.
        after: Option<DeliveryId>,
    },
}

/// Reads of deliveries for use cases.
#[async_trait]
pub trait DeliveryReads: Send + Sync {
    /// How many shards the installation has: [`Shards::USUAL`] in a store that only one process
    /// uses. Another one may keep a number that was chosen when the database was made (R464). It
    /// never changes.
    async fn shards(&self) -> Result<Shards, StoreError>;

    /// A page of the company's deliveries, newest first: `created_at` descending, then `id`
    /// descending (D56a).
    async fn deliveries(
        &self,
        company: CompanyId,
        filter: &DeliveryFilter,
        page: PageRequest,
    ) -> Result<Page<Delivery>, StoreError>;

    /// At most `limit` pending deliveries.
    async fn pending_deliveries(
        &self,
        company: CompanyId,
        which: PendingDeliveries,
        limit: u32,
    ) -> Result<Vec<Stored<Delivery>>, StoreError>;
}

/// The queue of one webhook.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QueueKey {
    /// The company.
    pub company: CompanyId,
    /// The webhook.
    pub webhook: WebhookId,
}

/// A queue with pending deliveries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PendingQueue {
    /// The queue.
    pub key: QueueKey,
    /// The lowest [`Delivery::queued_at`] in it: [`Timestamp::MIN`] while something was never
    /// tried.
    pub queued_at: Timestamp,
}

/// What to read of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueRead {
    /// The queue.
    pub key: QueueKey,
    /// Deliveries that were never tried: those with positions after this one.
    pub after: DeliverySeq,
    /// At most this many of them.
    pub fresh: u32,
    /// Deliveries that were tried: those due at or before this.
    pub due: Timestamp,
    /// At most this many of them.
    pub again: u32,
}

/// A delivery with the data that an attempt at it needs.
#[derive(Clone, Debug, PartialEq)]
pub struct DueDelivery {
    /// Its position.
    pub seq: DeliverySeq,
    /// The delivery.
    pub delivery: Stored<Delivery>,
    /// The contact of its event.
    pub contact: Option<ContactId>,
    /// The data of its event; `None` once it was erased.
    pub data: Option<String>,
}

/// What was read of a queue.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QueuePage {
    /// The webhook, deleted or not.
    pub webhook: Option<Stored<Webhook>>,
    /// Deliveries that were never tried, by sequence number.
    pub fresh: Vec<DueDelivery>,
    /// Deliveries that are due again, by the time they are due, then by sequence number.
    pub again: Vec<DueDelivery>,
}

/// Reads of the queues, over all companies: for the delivery worker only.
#[async_trait]
pub trait DueReads: Send + Sync {
    /// The queues of `shards` with pending deliveries, those after `after`, at most `limit`. Their
    /// order is the store's own; the last one of an answer is the `after` of the next, even if
    /// nothing is pending in it any more.
    ///
    /// The cost grows with the answer, not with the number of pending deliveries, and in a store
    /// that processes share by a network not with the queues of other shards either (R67).
    async fn pending_queues(
        &self,
        shards: &BTreeSet<ShardNumber>,
        after: Option<QueueKey>,
        limit: u32,
    ) -> Result<Vec<PendingQueue>, StoreError>;

    /// The head of a queue, and its webhook.
    async fn read_queue(&self, read: QueueRead) -> Result<QueuePage, StoreError>;
}

/// Notifications between processes on one database. Losing one costs time, never a delivery.
#[async_trait]
pub trait Signals: Send + Sync {
    /// Notifies the other processes that these queues have new deliveries or, without any queue,
    /// that they should poll all of theirs. Does not wait until they are notified.
    fn notify(&self, queues: &[QueueKey]);

    /// Waits for a notification of another process, and answers its queues; `None` when the queues
    /// have to be polled. A store that only one process uses never notifies.
    async fn notified(&self) -> Option<Vec<QueueKey>>;
}
