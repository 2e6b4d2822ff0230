//! The result of each event (D67).

use serde::Serialize;

use crate::gateway::{UnknownEvent, UnknownReason};
use crate::ids::MessageId;
use crate::words::words;

words! {
    /// The outcome of an event.
    EventOutcome {
        /// It was stored, and everything it causes is durable.
        Stored = "stored",
        /// It was stored already.
        Duplicate = "duplicate",
        /// It changes nothing.
        Ignored = "ignored",
        /// It cannot be accepted; `reason` says why.
        Refused = "refused",
    }
}

/// The result of one event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct EventResult {
    /// The outcome.
    pub result: EventOutcome,
    /// The message it is about, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message_id: Option<MessageId>,
    /// Why it was ignored or refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What is kept of it because it was not understood (X9); not answered.
    #[serde(skip)]
    pub(crate) kept: Option<NotUnderstood>,
}

/// Why, and of which kind, an event was not understood and is kept now (X9).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct NotUnderstood {
    /// Why.
    pub reason: UnknownReason,
    /// What the gateway calls it; of one that could not be read, why.
    pub kind: String,
}

impl From<&UnknownEvent> for NotUnderstood {
    fn from(event: &UnknownEvent) -> Self {
        Self { reason: event.reason, kind: event.kind.clone() }
    }
}

impl EventResult {
    pub(crate) const fn of(result: EventOutcome) -> Self {
        Self { result, message_id: None, reason: None, kept: None }
    }

    pub(crate) const fn about(result: EventOutcome, message: MessageId) -> Self {
        Self { result, message_id: Some(message), reason: None, kept: None }
    }

    pub(crate) fn ignored(reason: &str) -> Self {
        Self { reason: Some(reason.to_owned()), ..Self::of(EventOutcome::Ignored) }
    }

    /// What is kept of the event since this call, because it was not understood (X9).
    pub fn not_understood(&self) -> Option<&NotUnderstood> {
        self.kept.as_ref()
    }

    pub(crate) fn refused(reason: impl Into<String>) -> Self {
        Self { reason: Some(reason.into()), ..Self::of(EventOutcome::Refused) }
    }
}
