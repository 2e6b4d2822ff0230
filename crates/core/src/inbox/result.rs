//! The result of each event (D67).

use serde::Serialize;

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
}

impl EventResult {
    pub(crate) const fn of(result: EventOutcome) -> Self {
        Self { result, message_id: None, reason: None }
    }

    pub(crate) const fn about(result: EventOutcome, message: MessageId) -> Self {
        Self { result, message_id: Some(message), reason: None }
    }

    pub(crate) fn ignored(reason: &str) -> Self {
        Self { reason: Some(reason.to_owned()), ..Self::of(EventOutcome::Ignored) }
    }

    pub(crate) fn refused(reason: impl Into<String>) -> Self {
        Self { reason: Some(reason.into()), ..Self::of(EventOutcome::Refused) }
    }
}
