//! A delivery of one event to one webhook (3.3).

use super::Attempt;
use crate::Timestamp;
use crate::events::EventType;
use crate::ids::{CompanyId, DeliveryId, EventId, WebhookId};
use crate::words::words;

words! {
    /// The status of a delivery (3.3).
    DeliveryStatus {
        /// It will be tried, or tried again.
        Pending = "pending",
        /// The receiver accepted it.
        Delivered = "delivered",
        /// It was given up: it failed five times, or was cancelled.
        Failed = "failed",
    }
}

/// A delivery of one event to one webhook. Every attempt contains its id (D52).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// Its id; its time part is `created_at`.
    pub id: DeliveryId,
    /// Its company.
    pub company: CompanyId,
    /// The webhook it goes to.
    pub webhook: WebhookId,
    /// The event that it sends.
    pub event: EventId,
    /// The event's type.
    pub event_type: EventType,
    /// Its status.
    pub status: DeliveryStatus,
    /// How often it was tried in all.
    pub attempts: u32,
    /// How often it was tried in the current or last series.
    pub tries: u32,
    /// When it is due; `None` once finished.
    pub due_at: Option<Timestamp>,
    /// The time of the event.
    pub created_at: Timestamp,
    /// When the receiver accepted it.
    pub delivered_at: Option<Timestamp>,
    /// The attempts, oldest first; at most [`MAX_LOG`](super::MAX_LOG), the newest.
    pub log: Vec<Attempt>,
}

impl Delivery {
    /// A delivery that was never tried.
    pub const fn new(
        id: DeliveryId,
        company: CompanyId,
        webhook: WebhookId,
        event: EventId,
        event_type: EventType,
        at: Timestamp,
    ) -> Self {
        Self {
            id,
            company,
            webhook,
            event,
            event_type,
            status: DeliveryStatus::Pending,
            attempts: 0,
            tries: 0,
            due_at: Some(at),
            created_at: at,
            delivered_at: None,
            log: Vec::new(),
        }
    }

    /// Whether it waits for its very first attempt: those keep the order of a contact's events
    /// (D55).
    pub const fn is_fresh(&self) -> bool {
        matches!(self.status, DeliveryStatus::Pending) && self.attempts == 0
    }

    /// How many attempts were made in earlier series.
    pub const fn earlier_attempts(&self) -> u32 {
        self.attempts.saturating_sub(self.tries)
    }

    /// Whether an operator has begun its current series: a finished delivery has had an attempt
    /// (D56a).
    pub const fn is_redelivery(&self) -> bool {
        self.earlier_attempts() > 0
    }

    /// Its position in the queue of its webhook: deliveries that were never tried come first, in
    /// the order of their sequence numbers, then the others by their due time. `None` once
    /// finished.
    pub fn queued_at(&self) -> Option<Timestamp> {
        match (self.status, self.attempts) {
            (DeliveryStatus::Pending, 0) => Some(Timestamp::MIN),
            (DeliveryStatus::Pending, _) => Some(self.due_at.unwrap_or(self.created_at)),
            (DeliveryStatus::Delivered | DeliveryStatus::Failed, _) => None,
        }
    }
}
