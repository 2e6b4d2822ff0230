//! Measures the time from the API's answer to the arrival at the receiver.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use hdrhistogram::Histogram;
use serde::Serialize;

use super::drive::{Kind, Marks, Sent, drive};
use super::rates::PEOPLE;
use super::receivers::Receivers;
use super::stage::{self, Hook};
use super::{Order, finished};
use crate::baseline::cpu::Meter;
use crate::receiver::{self, Arrival};
use crate::report::millis;
use crate::run::Effort;
use crate::stores::{self, AnyError};

/// The number of clients.
pub(super) const CLIENTS: usize = 8;
/// The greatest latency that can be recorded, in microseconds.
const MAX_MICROS: u64 = 600_000_000;

/// Quantiles of latencies, in microseconds.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Quantiles {
    pub(super) count: u64,
    pub(super) p50_us: u64,
    pub(super) p99_us: u64,
    pub(super) max_us: u64,
}

impl Quantiles {
    fn of(latencies: impl Iterator<Item = u64>) -> Self {
        let mut histogram =
            Histogram::<u64>::new_with_bounds(1, MAX_MICROS, 3).expect("the bounds are in order");
        latencies.for_each(|latency| histogram.saturating_record(latency.min(MAX_MICROS)));
        Self {
            count: histogram.len(),
            p50_us: histogram.value_at_quantile(0.50),
            p99_us: histogram.value_at_quantile(0.99),
            max_us: histogram.max(),
        }
    }
}

/// Latencies of the same deliveries, measured from two points in time.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Latencies {
    /// From the arrival of the API's answer at the client. An earlier delivery counts as 0.
    pub(super) from_answer: Quantiles,
    /// From the beginning of the call.
    pub(super) from_call: Quantiles,
}

impl Latencies {
    /// The latencies of the arrivals whose calls are known.
    pub(super) fn of(sent: &[Sent], arrivals: &[Arrival]) -> Self {
        let calls: HashMap<u64, &Sent> = sent.iter().map(|call| (call.mark, call)).collect();
        let pairs: Vec<(&Sent, u64)> = arrivals
            .iter()
            .filter_map(|arrival| Some((*calls.get(&arrival.mark)?, arrival.at)))
            .collect();
        Self {
            from_answer: Quantiles::of(
                pairs.iter().map(|(call, at)| at.saturating_sub(call.answered)),
            ),
            from_call: Quantiles::of(pairs.iter().map(|(call, at)| at.saturating_sub(call.began))),
        }
    }
}

/// The results at a moderate rate.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Latency {
    pub(super) rate: f64,
    pub(super) latencies: Latencies,
    pub(super) call_p50_us: u64,
    pub(super) call_p99_us: u64,
    /// Processor time of server and database for one delivery, in milliseconds.
    pub(super) server_ms: f64,
    /// Resident memory of the server afterwards, in KiB.
    pub(super) resident: u64,
}

/// Measures one event per call with one webhook, at the rate in `order`.
///
/// # Errors
///
/// When something fails or a delivery is lost.
pub(super) async fn measure(order: &Order) -> Result<Latency, AnyError> {
    let mut receivers =
        Receivers::start(receiver::Order { healthy: 1, ..Default::default() }).await?;
    let store = stores::open(&order.database).await?;
    let hooks = Hook::active(&receivers.addresses.healthy);
    let company = stage::company(&*store, "latency", PEOPLE, &hooks).await?;
    drop((hooks, store));
    let companies = Arc::new(vec![company]);
    let server = order.start().await?;
    let marks = Marks::default();
    let effort = Effort {
        connections: CLIENTS,
        warmup: Duration::ZERO,
        measured: Duration::from_secs(2),
        rate: Some(order.rate),
    };
    let warmed = drive(&server, &companies, Kind::Messages(1), effort, &marks).await?;
    receivers.wait_for(warmed.events).await?;
    receivers.take().await?;

    let meter = Meter::new(server.id()?, &order.database)?;
    let before = meter.used()?;
    let effort = Effort { measured: order.duration() * 2, ..effort };
    let driven = drive(&server, &companies, Kind::Messages(1), effort, &marks).await?;
    receivers.wait_for(driven.events).await?;
    finished(&server, &companies[0]).await?;
    let took = meter.used()? - before;
    let resident = server.memory()?.resident;
    server.stop().await?;
    let arrivals = receivers.take().await?;
    let latencies = Latencies::of(&driven.sent, &arrivals);
    if latencies.from_answer.count < driven.events {
        return Err("not every delivery has arrived".into());
    }
    let seconds = (driven.ended - driven.began) as f64 / 1e6;
    let latency = Latency {
        rate: driven.events as f64 / seconds,
        latencies,
        call_p50_us: driven.report.p50_us,
        call_p99_us: driven.report.p99_us,
        server_ms: took.as_secs_f64() * 1e3 / driven.events.max(1) as f64,
        resident,
    };
    println!(
        "{:.0} events/s: answer to receiver p50 {} ms p99 {} ms max {} ms; call to receiver p50 {} ms \
         p99 {} ms; a call p50 {} ms p99 {} ms; CPU {:.3} ms; {:.0} MB",
        latency.rate,
        millis(latencies.from_answer.p50_us),
        millis(latencies.from_answer.p99_us),
        millis(latencies.from_answer.max_us),
        millis(latencies.from_call.p50_us),
        millis(latencies.from_call.p99_us),
        millis(latency.call_p50_us),
        millis(latency.call_p99_us),
        latency.server_ms,
        resident as f64 / 1024.0,
    );
    Ok(latency)
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn what_arrives_before_its_answer_took_no_time_after_it() {
        let sent = [
            Sent { mark: 1, began: 1_000, answered: 3_000 },
            Sent { mark: 2, began: 1_000, answered: 2_000 },
        ];
        let arrival = |mark, at| Arrival { at, mark, delivery: Uuid::nil(), receiver: 0 };
        let seen = Latencies::of(&sent, &[arrival(1, 2_500), arrival(2, 2_900), arrival(9, 1)]);
        assert_eq!((seen.from_answer.count, seen.from_answer.max_us), (2, 900));
        assert!(seen.from_answer.p50_us <= 1, "{seen:?}");
        assert_eq!(seen.from_call.max_us, 1_900);
    }
}
