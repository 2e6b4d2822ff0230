//! The deliveries of a dataset: events of the past, most of them delivered, some that wait.

use recado_core::Timestamp;
use recado_core::deliveries::{Attempt, Delivery, DeliveryStatus};
use recado_core::events::{Event, EventType};
use recado_core::ids::{CompanyId, DeliveryId, EventId, WebhookId};
use recado_core::store::ChangeSet;

use super::company::uuid;
use super::messages::Partner;

/// The span of their times, which ends now.
const SPAN_MILLIS: u64 = 30 * 24 * 3600 * 1000;
/// One of so many waits.
const WAITING: u64 = 10;
const SEED: u64 = 20_261_123;

/// Makes deliveries with their events, oldest first. Their webhook is gone.
pub(crate) struct Maker {
    company: CompanyId,
    webhook: WebhookId,
    partners: Vec<Partner>,
    now: Timestamp,
    random: fastrand::Rng,
}

impl Maker {
    pub(crate) fn new(company: CompanyId, partners: Vec<Partner>, now: Timestamp) -> Self {
        let mut random = fastrand::Rng::with_seed(SEED);
        let webhook = WebhookId::new(uuid(now, &mut random));
        Self { company, webhook, partners, now, random }
    }

    /// Adds the delivery with this index, of `of` deliveries.
    pub(crate) fn delivery(&mut self, index: u64, of: u64, changes: ChangeSet) -> ChangeSet {
        let age = SPAN_MILLIS / of.max(1) * (of - index);
        let at = Timestamp::from_millis(self.now.millis() - i64::try_from(age).unwrap_or(0));
        let contact = self.partners[self.random.usize(..self.partners.len())].contact;
        let event = Event {
            id: EventId::new(uuid(at, &mut self.random)),
            company: self.company,
            event_type: EventType::MessageReceived,
            contact: Some(contact),
            at,
            data: format!(
                r#"{{"message_id":"{}","contact_id":"{contact}","direction":"inbound","message_type":"text","content":"Bom dia! Vocês têm entrega hoje?","status":"received"}}"#,
                uuid(at, &mut self.random)
            ),
        };
        let id = DeliveryId::new(uuid(at, &mut self.random));
        let waiting = Delivery::new(id, self.company, self.webhook, event.id, event.event_type, at);
        let delivery = match index % WAITING {
            0 => waiting,
            _ => Delivery {
                status: DeliveryStatus::Delivered,
                attempts: 1,
                tries: 1,
                due_at: None,
                delivered_at: Some(at),
                log: vec![Attempt {
                    attempt: 1,
                    started_at: at.millis(),
                    duration_ms: 87,
                    status_code: Some(200),
                    error: None,
                    response: Some("{\"ok\":true}".to_owned()),
                }],
                ..waiting
            },
        };
        changes.emit(event).insert(delivery)
    }
}
