//! Events: their journal, their erasure, and the sweep of old, finished rows.

use async_trait::async_trait;
use recado_core::deliveries::{Attempt, Delivery, DeliveryStatus};
use recado_core::events::{
    Erased, Event, EventReads, EventRecord, EventType, EventsAbout, JournalPosition, Outbox, Swept,
};
use recado_core::ids::{CompanyId, EventId, MessageId};
use recado_core::store::{Row, RowKey, StoreError, Stored};

use super::rows::VersionedRow;
use super::{MemoryStore, SequencedEvent, State};

/// The event of a record. An erased event has no data.
pub(super) fn as_written(record: &EventRecord) -> Event {
    Event {
        id: record.id,
        company: record.company,
        event_type: record.event_type,
        contact: record.contact,
        at: record.at,
        data: record.data.clone().unwrap_or_default(),
    }
}

impl State {
    /// Appends an event to the journal.
    pub(super) fn append(&mut self, event: Event) {
        self.newest_event += 1;
        let record = EventRecord {
            id: event.id,
            company: event.company,
            event_type: event.event_type,
            contact: event.contact,
            at: event.at,
            data: Some(event.data),
            is_orphaned: false,
        };
        self.events.push(SequencedEvent { sequence: self.newest_event, record });
    }

    /// The event with this id.
    pub(super) fn event(&self, company: CompanyId, id: EventId) -> Option<&EventRecord> {
        let mut records = self.events.iter().map(|event| &event.record);
        records.find(|record| record.company == company && record.id == id)
    }

    /// The event as it is read: with whether its contact is there now.
    fn as_read(&self, record: &EventRecord) -> EventRecord {
        let is_there = |id| {
            let key = RowKey::Contact { company: record.company, id };
            self.rows.entry(&key).is_some()
        };
        let is_orphaned = record.contact.is_some_and(|contact| !is_there(contact));
        EventRecord { is_orphaned, ..record.clone() }
    }

    /// Erases what receivers answered to the deliveries of these events.
    fn erase_answers(&mut self, company: CompanyId, events: &[EventId]) {
        let is_one = |delivery: &Delivery| {
            delivery.company == company
                && events.contains(&delivery.event)
                && delivery.log.iter().any(|attempt| attempt.response.is_some())
        };
        let answered: Vec<Stored<Delivery>> =
            self.rows.all_stored::<Delivery>().filter(|delivery| is_one(delivery)).collect();
        for stored in answered {
            let version = stored.version().next();
            let mut delivery = stored.into_value();
            delivery.log = delivery.log.into_iter().map(Attempt::without_answer).collect();
            let row = Row::from(delivery);
            let sequence = self.rows.entry(&row.key()).map_or(0, |entry| entry.sequence);
            self.rows.set(row.key(), Some(VersionedRow { row, version, sequence }));
        }
        self.rows.keep();
    }

    /// Whether a delivery that fulfils a condition refers to the event.
    fn is_named_by(&self, event: &EventRecord, wanted: impl Fn(&Delivery) -> bool) -> bool {
        let mut deliveries = self.rows.all::<Delivery>();
        deliveries.any(|d| d.company == event.company && d.event == event.id && wanted(d))
    }
}

#[async_trait]
impl EventReads for MemoryStore {
    async fn event(
        &self,
        company: CompanyId,
        id: EventId,
    ) -> Result<Option<EventRecord>, StoreError> {
        let state = self.state();
        Ok(state.event(company, id).map(|record| state.as_read(record)))
    }

    async fn events_after(
        &self,
        company: CompanyId,
        types: &[EventType],
        after: JournalPosition,
        limit: u32,
    ) -> Result<Vec<(JournalPosition, EventRecord)>, StoreError> {
        let state = self.state();
        let wanted = state.events.iter().filter(|event| {
            event.record.company == company
                && types.contains(&event.record.event_type)
                && event.sequence > after.0
        });
        let placed = wanted.map(|e| (JournalPosition(e.sequence), state.as_read(&e.record)));
        Ok(placed.take(limit as usize).collect())
    }

    async fn newest_events(
        &self,
        company: CompanyId,
        types: &[EventType],
        before: Option<JournalPosition>,
        limit: u32,
    ) -> Result<Vec<(JournalPosition, EventRecord)>, StoreError> {
        let state = self.state();
        let wanted = state.events.iter().rev().filter(|event| {
            event.record.company == company
                && types.contains(&event.record.event_type)
                && before.is_none_or(|before| event.sequence < before.0)
        });
        let placed = wanted.map(|e| (JournalPosition(e.sequence), state.as_read(&e.record)));
        Ok(placed.take(limit as usize).collect())
    }
}

/// Whether the data of an event is about a message as it was before its sender deleted it; of no
/// message in particular, any is.
fn holds(record: &EventRecord, data: &str, message: Option<MessageId>) -> bool {
    use EventType::{MessageReceived, MessageSent, MessageUpdated};
    let Some(message) = message else { return true };
    let data: serde_json::Value = serde_json::from_str(data).unwrap_or_default();
    matches!(record.event_type, MessageReceived | MessageSent | MessageUpdated)
        && data["message_id"] == message.to_string()
        && data["deleted_by_sender_at"].is_null()
}

#[async_trait]
impl Outbox for MemoryStore {
    async fn erase_events(
        &self,
        company: CompanyId,
        about: EventsAbout,
        limit: u32,
    ) -> Result<Erased, StoreError> {
        let mut state = self.state();
        let reported = |record: &EventRecord| {
            record.company == company
                && record.contact == Some(about.contact)
                && record.data.as_deref().is_some_and(|data| holds(record, data, about.message))
        };
        let is_pending = |delivery: &Delivery| delivery.status == DeliveryStatus::Pending;
        let erasable: Vec<u64> = state
            .events
            .iter()
            .filter(|event| {
                reported(&event.record) && !state.is_named_by(&event.record, is_pending)
            })
            .map(|event| event.sequence)
            .take(limit as usize)
            .collect();
        let mut erased = Vec::new();
        for event in &mut state.events {
            if erasable.contains(&event.sequence) {
                event.record.data = None;
                erased.push(event.record.id);
            }
        }
        state.erase_answers(company, &erased);
        let left = state.events.iter().any(|event| reported(&event.record));
        Ok(Erased { events: u32::try_from(erasable.len()).unwrap_or(u32::MAX), left })
    }

    async fn sweep_outbox(&self, swept: Swept, limit: u32) -> Result<u32, StoreError> {
        let mut state = self.state();
        let goes = |d: &Delivery| match swept {
            Swept::Before(time) => d.status != DeliveryStatus::Pending && d.created_at < time,
            Swept::Company(company) => d.company == company,
        };
        let mut old: Vec<Delivery> =
            state.rows.all::<Delivery>().filter(|delivery| goes(delivery)).cloned().collect();
        old.sort_by_key(|delivery| (delivery.created_at, delivery.id));
        old.truncate(limit as usize);
        for delivery in &old {
            state.rows.set(Row::from(delivery.clone()).key(), None);
        }
        state.rows.keep();
        let unnamed: Vec<u64> = state
            .events
            .iter()
            .filter(|event| match swept {
                Swept::Before(time) => {
                    event.record.at < time && !state.is_named_by(&event.record, |_| true)
                }
                Swept::Company(company) => event.record.company == company,
            })
            .map(|event| event.sequence)
            .take(limit as usize)
            .collect();
        state.events.retain(|event| !unnamed.contains(&event.sequence));
        Ok(u32::try_from(old.len() + unnamed.len()).unwrap_or(u32::MAX))
    }
}
