//! The HTTP side: verify, deduplicate, hand over, answer.

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

/// The largest body that is read, in bytes. Nothing is known of a body before it was verified, so
/// reading is bounded.
pub const MAX_BODY: usize = 2 * 1_024 * 1_024;

/// What is signed: the envelope of every delivery. Fields that come with later versions are ignored.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Event {
    /// What happened, such as `message.received`.
    pub event: String,
    /// When.
    pub timestamp: String,
    /// In which company.
    pub company_id: String,
    /// The same in every attempt at this delivery.
    pub delivery_id: String,
    /// What there is to tell.
    pub data: serde_json::Value,
}

/// What the receiver works with.
#[derive(Clone, Debug)]
pub struct Receiver {
    secrets: Arc<Secrets>,
    seen: Arc<Mutex<Seen>>,
    events: Sender<Event>,
}

impl Receiver {
    /// A receiver that trusts these secrets, remembers `remembered` deliveries and hands new events
    /// over to `events`.
    pub fn new(secrets: Secrets, remembered: usize, events: Sender<Event>) -> Self {
        let seen = Arc::new(Mutex::new(Seen::new(remembered)));
        Self { secrets: Arc::new(secrets), seen, events }
    }

    /// Takes a delivery: 2xx means that it is ours now, anything else that it will come again.
    fn take(&self, headers: &HeaderMap, body: &[u8]) -> StatusCode {
        // Before anything else, and over the bytes as they came: never over JSON written anew.
        if !self.secrets.verify(headers, body) {
            return StatusCode::UNAUTHORIZED;
        }
        let Ok(event) = serde_json::from_slice::<Event>(body) else {
            return StatusCode::BAD_REQUEST;
        };
        // The id of the body is signed; the one in X-Service-Delivery is the same, but is not.
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
            // Too much at once: it is not remembered, and comes again in half a minute.
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
