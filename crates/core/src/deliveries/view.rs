//! A delivery as the operator sees it.

use serde::Serialize;

use super::{Attempt, Delivery, DeliveryStatus};
use crate::Timestamp;
use crate::events::EventType;
use crate::ids::{DeliveryId, WebhookId};

/// A delivery in listings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct DeliveryView {
    /// Its id, the same in every attempt.
    pub id: DeliveryId,
    /// The webhook it goes to.
    pub webhook_id: WebhookId,
    /// What happened.
    pub event: EventType,
    /// Its status.
    pub status: DeliveryStatus,
    /// How often it was tried.
    pub attempts: u32,
    /// When it is tried next; null once it is finished.
    pub next_attempt_at: Option<Timestamp>,
    /// The time of the event.
    pub created_at: Timestamp,
    /// When the receiver accepted it.
    pub delivered_at: Option<Timestamp>,
}

impl DeliveryView {
    /// The delivery in listings.
    pub fn new(delivery: &Delivery) -> Self {
        let is_pending = delivery.status == DeliveryStatus::Pending;
        Self {
            id: delivery.id,
            webhook_id: delivery.webhook,
            event: delivery.event_type,
            status: delivery.status,
            attempts: delivery.attempts,
            next_attempt_at: delivery.due_at.filter(|_| is_pending),
            created_at: delivery.created_at,
            delivered_at: delivery.delivered_at,
        }
    }
}

/// An attempt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct AttemptView {
    /// Its number, from 1.
    pub attempt: u32,
    /// When it began.
    pub started_at: Timestamp,
    /// How long it took, in milliseconds.
    pub duration_ms: u32,
    /// The status of the answer, if there was one.
    pub status_code: Option<u16>,
    /// Why there was none.
    pub error: Option<String>,
    /// The beginning of the answer's body; null once `body` is.
    pub response: Option<String>,
}

impl AttemptView {
    /// An attempt; without the answer's body where nothing of its delivery is told any more: a
    /// receiver may have answered what it was sent (D74).
    fn new(attempt: &Attempt, is_shown: bool) -> Self {
        Self {
            attempt: attempt.attempt,
            started_at: Timestamp::from_millis(attempt.started_at),
            duration_ms: attempt.duration_ms,
            status_code: attempt.status_code,
            error: attempt.error.clone(),
            response: attempt.response.clone().filter(|_| is_shown),
        }
    }
}

/// A delivery with its body and its attempts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct DeliveryDetail {
    /// The delivery.
    #[serde(flatten)]
    pub delivery: DeliveryView,
    /// The exact body of every attempt; null once its contact was deleted (D74).
    pub body: Option<String>,
    /// The attempts, oldest first.
    pub attempt_log: Vec<AttemptView>,
}

impl DeliveryDetail {
    /// The delivery with this body.
    pub fn new(delivery: &Delivery, body: Option<String>) -> Self {
        let shown = |attempt| AttemptView::new(attempt, body.is_some());
        let attempt_log = delivery.log.iter().map(shown).collect();
        Self { delivery: DeliveryView::new(delivery), body, attempt_log }
    }
}
