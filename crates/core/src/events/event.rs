//! Events and their types (6.2).

use crate::Timestamp;
use crate::ids::{CompanyId, ContactId, EventId};
use crate::words::words;

words! {
    /// The type of an event (6.1).
    EventType {
        /// A new contact was created.
        ContactCreated = "contact.created",
        /// An inbound message arrived.
        MessageReceived = "message.received",
        /// An outbound message was accepted by the channel.
        MessageSent = "message.sent",
        /// A message changed: an edit, a deletion, a reaction, a vote, content that came late
        /// (X5a).
        MessageUpdated = "message.updated",
        /// The status of a message changed.
        MessageStatusUpdated = "message.status_updated",
        /// A contact began to block messages.
        ContactOptedOut = "contact.opted_out",
        /// An operator tests a webhook (D56a).
        WebhookTest = "webhook.test",
    }
}

impl EventType {
    /// Whether it is one of the company's events, which can be subscribed to and which the journal
    /// lists: all but a test.
    pub const fn is_public(self) -> bool {
        !matches!(self, Self::WebhookTest)
    }

    /// The company's events.
    pub fn public() -> impl Iterator<Item = Self> {
        Self::ALL.iter().copied().filter(|event| event.is_public())
    }
}

/// An event. `data` is written once, so that every delivery of it carries the same bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Its id.
    pub id: EventId,
    /// The company it happened in.
    pub company: CompanyId,
    /// What happened.
    pub event_type: EventType,
    /// The contact it is about, so that its data can be erased with the contact (D26).
    pub contact: Option<ContactId>,
    /// The time of the change (D52a).
    pub at: Timestamp,
    /// The `data` of the envelope, as JSON text.
    pub data: String,
}
