//! The time and the event of a new contact.

use super::{Contact, ContactSummary};
use crate::Timestamp;
use crate::events::{Event, EventType};
use crate::ids::EventId;

/// The `created_at` of a new contact: now, or just after the position that exports of the company
/// have reached, if this clock is behind (D25).
pub fn creation_stamp(now: Timestamp, export_frontier: Option<Timestamp>) -> Timestamp {
    match export_frontier {
        Some(frontier) if frontier >= now => Timestamp::from_millis(frontier.millis() + 1),
        _ => now,
    }
}

/// The event `contact.created`: its data is the contact as the create answer shows it (D57).
pub(crate) fn contact_created(id: EventId, contact: &Contact) -> Event {
    Event {
        id,
        company: contact.company,
        event_type: EventType::ContactCreated,
        contact: Some(contact.id),
        at: contact.created_at,
        data: serde_json::to_string(&ContactSummary::created(contact))
            .expect("a summary holds nothing that JSON cannot write"),
    }
}
