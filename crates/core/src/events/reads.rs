//! Reads of the outbox, and the removal of old rows.

use async_trait::async_trait;

use super::{EventType, JournalPosition};
use crate::Timestamp;
use crate::ids::{CompanyId, ContactId, EventId, MessageId};
use crate::store::StoreError;

/// An event as it is stored: as it was written, except that its data may have been erased (D26).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventRecord {
    /// Its id.
    pub id: EventId,
    /// The company it happened in.
    pub company: CompanyId,
    /// What happened.
    pub event_type: EventType,
    /// The contact it is about.
    pub contact: Option<ContactId>,
    /// The time of the change.
    pub at: Timestamp,
    /// The `data` of the envelope, as JSON text; `None` once it was erased.
    pub data: Option<String>,
    /// Whether the contact it is about was deleted, as of the same state of the database.
    pub is_orphaned: bool,
}

impl EventRecord {
    /// The `data` of the envelope as long as it may be handed out: nothing of a contact that was
    /// deleted is, whether or not it was erased already (D74).
    pub fn shown_data(&self) -> Option<&str> {
        self.data.as_deref().filter(|_| !self.is_orphaned)
    }
}

/// Reads of events.
#[async_trait]
pub trait EventReads: Send + Sync {
    /// An event of the company.
    async fn event(
        &self,
        company: CompanyId,
        id: EventId,
    ) -> Result<Option<EventRecord>, StoreError>;

    /// The company's events of these types after a position, in the order of their positions, at
    /// most `limit`. No event is skipped or repeated while events are being written: in no process
    /// does an event become visible at or before the position of one that this read has returned.
    async fn events_after(
        &self,
        company: CompanyId,
        types: &[EventType],
        after: JournalPosition,
        limit: u32,
    ) -> Result<Vec<(JournalPosition, EventRecord)>, StoreError>;

    /// The company's newest events of these types, newest first, at most `limit`; only those before
    /// a position where one is given. It is for people who look: an event that is committed late
    /// may appear between events that were read before.
    async fn newest_events(
        &self,
        company: CompanyId,
        types: &[EventType],
        before: Option<JournalPosition>,
        limit: u32,
    ) -> Result<Vec<(JournalPosition, EventRecord)>, StoreError>;
}

/// The events whose data is erased.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventsAbout {
    /// Those about this contact (D26).
    pub contact: ContactId,
    /// Of these only the ones with the content of this message from before its sender deleted it
    /// (X3): `message.received`, `message.sent` and `message.updated` whose data has this
    /// `message_id` and no `deleted_by_sender_at`.
    pub message: Option<MessageId>,
}

impl EventsAbout {
    /// All events about a contact.
    pub const fn contact(contact: ContactId) -> Self {
        Self { contact, message: None }
    }
}

/// The result of an erasure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Erased {
    /// How many events were erased now.
    pub events: u32,
    /// Whether data is left: more than the limit, or of events with a pending delivery.
    pub left: bool,
}

/// Which deliveries and events are removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Swept {
    /// Deliveries that are not pending and were made before this time, and events from before it
    /// that no delivery names any more.
    Before(Timestamp),
    /// All of this company, which was deleted (R208).
    Company(CompanyId),
}

/// Removal of what is finished, in bounded steps.
#[async_trait]
pub trait Outbox: Send + Sync {
    /// Erases the data of at most `limit` of these events that have no pending delivery (D26, X3),
    /// and what the receivers of their deliveries answered (R195), which raises the versions of
    /// these deliveries. The events and deliveries stay.
    async fn erase_events(
        &self,
        company: CompanyId,
        about: EventsAbout,
        limit: u32,
    ) -> Result<Erased, StoreError>;

    /// Removes at most `limit` deliveries and at most `limit` events. Returns how many rows were
    /// removed; 0 when nothing is left to remove.
    async fn sweep_outbox(&self, swept: Swept, limit: u32) -> Result<u32, StoreError>;
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    /// D74.
    #[test]
    fn nothing_is_reported_of_a_contact_that_was_deleted_whether_it_was_erased_or_not() {
        let told = |data: Option<&str>, is_orphaned| {
            let record = EventRecord {
                id: EventId::new(Uuid::from_u128(1)),
                company: CompanyId::new(Uuid::from_u128(2)),
                event_type: EventType::ContactCreated,
                contact: Some(ContactId::new(Uuid::from_u128(3))),
                at: Timestamp::from_millis(0),
                data: data.map(str::to_owned),
                is_orphaned,
            };
            record.shown_data().map(str::to_owned)
        };
        assert_eq!(told(Some("{}"), false).as_deref(), Some("{}"));
        for (data, is_orphaned) in [(Some("{}"), true), (None, true), (None, false)] {
            assert_eq!(told(data, is_orphaned), None);
        }
    }
}
