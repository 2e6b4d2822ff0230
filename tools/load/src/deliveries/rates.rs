//! Measures the number of deliveries per second and the cost of one.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;

use super::drive::{Driven, Kind, Marks, drive};
use super::receivers::Receivers;
use super::stage::{self, Hook};
use super::{Order, finished};
use crate::baseline::cpu::Meter;
use crate::receiver;
use crate::report::millis;
use crate::run::Effort;
use crate::stores::{self, AnyError};

/// The number of contacts that write.
pub(super) const PEOPLE: u64 = 2_000;
/// The number of events in a call with several.
const BATCH: u64 = 100;
/// The number of clients, if a call has many events.
const BATCHERS: usize = 4;
/// The number of messages to report as delivered and read, for each second of the measurement.
const REPORTED: u64 = 2_500;
/// The time before each measurement that is not measured.
const WARMUP: Duration = Duration::from_secs(1);

/// The results of one kind of load.
#[derive(Clone, Debug, Serialize)]
pub(super) struct DeliveryRate {
    pub(super) what: String,
    pub(super) webhooks: u16,
    /// Whether the published figures are about this load: one call of the API for each event.
    pub(super) is_comparable: bool,
    pub(super) clients: usize,
    pub(super) events: u64,
    pub(super) deliveries: u64,
    /// Events per second while the clients called.
    pub(super) events_per_second: f64,
    /// Deliveries per second, from the first call to the last arrival.
    pub(super) per_second: f64,
    /// The time from the last answer to the arrival of the last delivery.
    pub(super) lag_ms: u64,
    pub(super) call_p50_us: u64,
    pub(super) call_p99_us: u64,
    /// Processor time of one delivery (of one event without a webhook), in milliseconds.
    pub(super) server_ms: f64,
    pub(super) receiver_ms: f64,
    pub(super) clients_ms: f64,
    /// Resident memory of the server afterwards, in KiB.
    pub(super) resident: u64,
}

impl DeliveryRate {
    /// Processor time of one delivery in all processes, including the clients.
    pub(super) fn all_ms(&self) -> f64 {
        self.server_ms + self.receiver_ms + self.clients_ms
    }
}

/// Measures one webhook for each event, and no webhook for comparison.
///
/// # Errors
///
/// When something fails or a delivery is lost.
pub(super) async fn measure_one(
    order: &Order,
    seen: &mut Vec<DeliveryRate>,
) -> Result<(), AnyError> {
    let clients = usize::try_from(order.clients)?;
    for (what, webhooks, kind, clients) in [
        ("a bare event a call, one webhook", 1, Kind::Test, clients),
        ("a status report a call, no webhook", 0, Kind::Report, clients),
        ("a status report a call, one webhook", 1, Kind::Report, clients),
        ("a message a call, no webhook", 0, Kind::Messages(1), clients),
        ("a message a call, one webhook", 1, Kind::Messages(1), clients),
        ("100 messages a call, one webhook", 1, Kind::Messages(BATCH), BATCHERS),
        ("a new contact a call, one webhook", 1, Kind::Create, clients),
    ] {
        if order.wants(what) {
            seen.push(measure(order, what, webhooks, kind, clients).await?);
        }
    }
    Ok(())
}

/// Measures ten webhooks for each event.
///
/// # Errors
///
/// When something fails or a delivery is lost.
pub(super) async fn measure_ten(
    order: &Order,
    seen: &mut Vec<DeliveryRate>,
) -> Result<(), AnyError> {
    let clients = usize::try_from(order.clients)?;
    for (what, kind, clients) in [
        ("a status report a call, ten webhooks", Kind::Report, clients),
        ("a message a call, ten webhooks", Kind::Messages(1), clients),
        ("100 messages a call, ten webhooks", Kind::Messages(BATCH), BATCHERS),
    ] {
        if order.wants(what) {
            seen.push(measure(order, what, 10, kind, clients).await?);
        }
    }
    Ok(())
}

async fn measure(
    order: &Order,
    what: &str,
    webhooks: u16,
    kind: Kind,
    clients: usize,
) -> Result<DeliveryRate, AnyError> {
    let receivers = receiver::Order { healthy: webhooks, ..receiver::Order::default() };
    let mut receivers = Receivers::start(receivers).await?;
    let store = stores::open(&order.database).await?;
    let hooks = Hook::active(&receivers.addresses.healthy);
    let mut company = stage::company(&*store, what, PEOPLE, &hooks).await?;
    if kind == Kind::Report {
        stage::messages(&*store, &mut company, REPORTED * (order.seconds + 1)).await?;
    }
    drop((hooks, store));
    let companies = Arc::new(vec![company]);

    let server = order.start().await?;
    let marks = Marks::default();
    // A test is delivered to one webhook only.
    let copies = if kind == Kind::Test { 1 } else { u64::from(webhooks) };
    let effort = Effort { connections: clients, warmup: WARMUP, measured: WARMUP, rate: None };
    let warmed = drive(&server, &companies, kind, effort, &marks).await?;
    receivers.wait_for(warmed.events * copies).await?;
    finished(&server, &companies[0]).await?;
    receivers.take().await?;

    let meter = Meter::new(server.id()?, &order.database)?;
    let own = Meter::alone(std::process::id());
    let before = (meter.used()?, receivers.cpu()?, own.used()?);
    let effort = Effort { measured: order.duration(), ..effort };
    let driven = drive(&server, &companies, kind, effort, &marks).await?;
    receivers.wait_for(driven.events * copies).await?;
    let clients_took = own.used()? - before.2;
    finished(&server, &companies[0]).await?;
    let (server_took, receiver_took) = (meter.used()? - before.0, receivers.cpu()? - before.1);
    let resident = server.memory()?.resident;
    server.stop().await?;

    let arrivals = receivers.take().await?;
    let distinct: HashSet<_> = arrivals.iter().map(|arrival| arrival.delivery).collect();
    let deliveries = distinct.len() as u64;
    if deliveries != driven.events * copies {
        let expected = driven.events * copies;
        return Err(format!("{what}: {deliveries} of {expected} deliveries arrived").into());
    }
    if arrivals.len() > distinct.len() {
        eprintln!("{what}: {} deliveries arrived more than once", arrivals.len() - distinct.len());
    }
    let Driven { began, ended, events, report, .. } = driven;
    let last = arrivals.iter().map(|arrival| arrival.at).max().unwrap_or(ended);
    let seconds = |from: u64, to: u64| (to.saturating_sub(from) as f64 / 1e6).max(f64::EPSILON);
    let each = |took: Duration| took.as_secs_f64() * 1e3 / deliveries.max(events).max(1) as f64;
    let rate = DeliveryRate {
        what: what.to_owned(),
        webhooks,
        is_comparable: webhooks > 0 && !matches!(kind, Kind::Messages(2..)),
        clients,
        events,
        deliveries,
        events_per_second: events as f64 / seconds(began, ended),
        per_second: deliveries as f64 / seconds(began, last.max(ended)),
        lag_ms: last.saturating_sub(ended) / 1000,
        call_p50_us: report.p50_us,
        call_p99_us: report.p99_us,
        server_ms: each(server_took),
        receiver_ms: each(receiver_took),
        clients_ms: each(clients_took),
        resident,
    };
    println!(
        "{what:<42} {:>7.0} events/s {:>7.0} deliveries/s, the last {:>5} ms after its answer; a call \
         p50 {} ms p99 {} ms; CPU per delivery {:.3} ms + receiver {:.3} + clients {:.3}; {:.0} MB",
        rate.events_per_second,
        rate.per_second,
        rate.lag_ms,
        millis(rate.call_p50_us),
        millis(rate.call_p99_us),
        rate.server_ms,
        rate.receiver_ms,
        rate.clients_ms,
        rate.resident as f64 / 1024.0,
    );
    Ok(rate)
}
