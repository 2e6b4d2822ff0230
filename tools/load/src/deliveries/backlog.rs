//! A server that has many due deliveries when it starts.

use std::collections::HashSet;
use std::time::Duration;

use recado_core::Timestamp;
use recado_core::deliveries::Delivery;
use recado_core::events::{Event, EventType};
use recado_core::ids::{DeliveryId, EventId};
use recado_core::store::ChangeSet;
use serde::Serialize;
use serde_json::json;

use super::rates::PEOPLE;
use super::receivers::Receivers;
use super::stage::{self, Company, Hook};
use super::{Order, finished};
use crate::baseline::cpu::Meter;
use crate::clock::micros;
use crate::dataset::company::uuid;
use crate::dataset::{now, write};
use crate::receiver::{self, text_of_mark};
use crate::stores::{self, AnyError};

/// The span of the times of the backlog's events, which ends now.
const SPAN: Duration = Duration::from_secs(3600);

/// The result of one backlog.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Drained {
    pub(super) webhooks: u64,
    pub(super) deliveries: u64,
    /// Deliveries per second, from the first arrival to the last.
    pub(super) per_second: f64,
    /// The time from the start of the process to the first arrival, in milliseconds.
    pub(super) first_ms: u64,
    /// The number of deliveries that arrived more than once.
    pub(super) repeated: u64,
    /// Processor time of server and database for one delivery, in milliseconds.
    pub(super) server_ms: f64,
    pub(super) receiver_ms: f64,
    /// The greatest resident memory of the server, in KiB.
    pub(super) peak: u64,
}

/// Measures the same number of deliveries to one webhook and to ten.
///
/// # Errors
///
/// When something fails or a delivery is lost.
pub(super) async fn measure(order: &Order) -> Result<Vec<Drained>, AnyError> {
    Ok(vec![drain(order, 1).await?, drain(order, 10).await?])
}

async fn drain(order: &Order, webhooks: u16) -> Result<Drained, AnyError> {
    let receivers = receiver::Order { healthy: webhooks, ..receiver::Order::default() };
    let mut receivers = Receivers::start(receivers).await?;
    let store = stores::open(&order.database).await?;
    let hooks = Hook::active(&receivers.addresses.healthy);
    let company = stage::company(&*store, "backlog", PEOPLE, &hooks).await?;
    let webhooks = u64::from(webhooks);
    let events = order.backlog / webhooks;
    let mut maker = Maker { company: &company, now: now(), random: fastrand::Rng::new() };
    write(&*store, "events", events, |index, changes| maker.event(index, events, changes)).await?;
    drop((hooks, store));
    stores::finish(&order.database).await?;

    let deliveries = events * webhooks;
    let (started, received_before) = (micros(), receivers.cpu()?);
    let server = order.start().await?;
    let meter = Meter::new(server.id()?, &order.database)?;
    let before = meter.used()?;
    receivers.wait_for(deliveries).await?;
    finished(&server, &company).await?;
    let (took, received) = (meter.used()? - before, receivers.cpu()? - received_before);
    let peak = server.memory()?.peak;
    server.stop().await?;

    let arrivals = receivers.take().await?;
    let distinct: HashSet<_> = arrivals.iter().map(|arrival| arrival.delivery).collect();
    if distinct.len() as u64 != deliveries {
        return Err(format!("{} of {deliveries} deliveries arrived", distinct.len()).into());
    }
    let first = arrivals.iter().map(|arrival| arrival.at).min().unwrap_or(started);
    let last = arrivals.iter().map(|arrival| arrival.at).max().unwrap_or(started);
    let each = |took: Duration| took.as_secs_f64() * 1e3 / deliveries.max(1) as f64;
    let drained = Drained {
        webhooks,
        deliveries,
        per_second: deliveries as f64 * 1e6 / (last - first).max(1) as f64,
        first_ms: first.saturating_sub(started) / 1000,
        repeated: (arrivals.len() - distinct.len()) as u64,
        server_ms: each(took),
        receiver_ms: each(received),
        peak,
    };
    println!(
        "backlog of {deliveries} for {webhooks} webhooks: {:.0}/s, the first {} ms after the start, {} \
         repeated; CPU per delivery {:.3} ms + receiver {:.3}; at most {:.0} MB",
        drained.per_second,
        drained.first_ms,
        drained.repeated,
        drained.server_ms,
        drained.receiver_ms,
        peak as f64 / 1024.0,
    );
    Ok(drained)
}

/// Makes events with their deliveries, oldest first.
struct Maker<'a> {
    company: &'a Company,
    now: Timestamp,
    random: fastrand::Rng,
}

impl Maker<'_> {
    /// Adds the event with this index, of `of` events.
    fn event(&mut self, index: u64, of: u64, changes: ChangeSet) -> ChangeSet {
        let Company { id: company, connection, partners, webhooks, .. } = self.company;
        let age = SPAN * u32::try_from((of - index) * 1_000 / of).unwrap_or(1_000) / 1_000;
        let age = i64::try_from(age.as_millis()).unwrap_or_default();
        let at = Timestamp::from_millis(self.now.millis() - age);
        let partner = &partners[self.random.usize(..partners.len())];
        // The data is as large as that of a message's event.
        let data = json!({
            "message_id": uuid(at, &mut self.random),
            "type": "text",
            "content": text_of_mark(index + 1),
            "media_url": null,
            "media_mimetype": null,
            "media_caption": null,
            "direction": "inbound",
            "sender_type": "contact",
            "status": "received",
            "created_at": at,
            "contact": {
                "id": partner.contact,
                "phone": partner.identifier,
                "name": "Conceição de Souza",
                "source_platform": "whatsapp",
                "is_ai_enabled": true,
                "external_ai_enabled": false,
                "ai_paused_until": null,
                "opted_out_at": null,
            },
            "connection": { "id": connection, "type": "official_cloud", "name": "Silent" },
        });
        let event = Event {
            id: EventId::new(uuid(at, &mut self.random)),
            company: *company,
            event_type: EventType::MessageReceived,
            contact: Some(partner.contact),
            at,
            data: data.to_string(),
        };
        let deliveries = webhooks.iter().map(|webhook| {
            let id = DeliveryId::new(uuid(at, &mut self.random));
            Delivery::new(id, *company, *webhook, event.id, event.event_type, at)
        });
        let changes = deliveries.fold(changes, ChangeSet::insert);
        changes.emit(event)
    }
}
