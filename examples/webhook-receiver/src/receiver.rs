//! The HTTP side: verify, deduplicate, queue, answer.

use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use serde::Deserialize;
use tokio::sync::mpsc::Sender;
use tokio::sync::mpsc::error::TrySendError;

use crate::{Secrets, Seen};

/// The largest body that is read, in bytes. Before its verification a body is not trusted, so its
/// size is limited.
pub const MAX_BODY: usize = 2 * 1_024 * 1_024;

/// The signed body: the envelope of every delivery. Fields of later versions are ignored.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Event {
    /// The type of the event, such as `message.received`.
    pub event: String,
    /// The time of the event.
    pub timestamp: String,
    /// The company of the event.
    pub company_id: String,
    /// The same in every attempt at this delivery.
    pub delivery_id: String,
    /// The data of the event.
    pub data: serde_json::Value,
}

/// The state of the receiver.
#[derive(Clone, Debug)]
pub struct Receiver {
    secrets: Arc<Secrets>,
    seen: Arc<Mutex<Seen>>,
    events: Sender<Event>,
}

impl Receiver {
    /// A receiver that trusts these secrets, remembers `remembered` deliveries and sends new events
    /// to `events`.
    pub fn new(secrets: Secrets, remembered: usize, events: Sender<Event>) -> Self {
        let seen = Arc::new(Mutex::new(Seen::new(remembered)));
        Self { secrets: Arc::new(secrets), seen, events }
    }

    /// Handles a delivery: 2xx means that it was accepted, any other status that it will be sent
    /// again.
    fn take(&self, headers: &HeaderMap, body: &[u8]) -> StatusCode {
        // Verify first, over the raw bytes, never over JSON that was serialized again.
        if !self.secrets.verify(headers, body) {
            return StatusCode::UNAUTHORIZED;
        }
        let Ok(event) = serde_json::from_slice::<Event>(body) else {
            return StatusCode::BAD_REQUEST;
        };
        // The id in the body is signed; the one in X-Service-Delivery is the same, but not signed.
        let id = event.delivery_id.clone();
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.contains(&id) {
            return StatusCode::OK;
        }
        match self.events.try_send(event) {
            Ok(()) => {
                seen.insert(&id);
                StatusCode::OK
            }
            // The queue is full: the delivery is not remembered, and is sent again after half a
            // minute.
            Err(TrySendError::Full(_) | TrySendError::Closed(_)) => StatusCode::SERVICE_UNAVAILABLE,
        }
    }
}

/// The receiver as a router, at `/`.
pub fn receiver(receiver: Receiver) -> Router {
    let take = |State(receiver): State<Receiver>, headers: HeaderMap, body: Bytes| async move {
        receiver.take(&headers, &body)
    };
    Router::new().route("/", post(take)).layer(DefaultBodyLimit::max(MAX_BODY)).with_state(receiver)
}
