//! The results, compared with targets and with the published figures of the fastest open-source
//! webhook server, which were measured on the same kind of machine.

use super::Seen;
use super::rates::DeliveryRate;
use crate::baseline::table::Table;
use crate::report::millis;

/// The published figures for a number of webhooks per event, with one API call per event.
struct Published {
    webhooks: u16,
    per_second: f64,
    /// Processor time of one delivery in all processes, in milliseconds.
    cpu_ms: f64,
    /// How many times better than the published figure the result has to be.
    times: f64,
}

const PUBLISHED: [Published; 2] = [
    Published { webhooks: 1, per_second: 900.0, cpu_ms: 2.0, times: 4.0 },
    Published { webhooks: 10, per_second: 2_400.0, cpu_ms: 0.75, times: 5.0 },
];
/// The published latency from the API's answer to the receiver at 200 events per second, in
/// microseconds.
const PUBLISHED_P50: u64 = 430;
const PUBLISHED_P99: u64 = 3_100;
const PUBLISHED_MIB: f64 = 60.0;
/// Deliveries per second from a backlog.
const BACKLOG: f64 = 10_000.0;
/// How many times a quantile may grow with faulty receivers and still count as unchanged, …
const UNCHANGED: f64 = 1.5;
/// … or by how many microseconds, because small quantiles vary by chance.
const CHANCE: u64 = 1_000;

/// Makes the table.
pub(super) fn table(seen: &Seen) -> Table {
    let mut table = Table::default();
    for rate in &seen.rates {
        add_rate(&mut table, rate);
    }
    if let Some(seen) = &seen.latency {
        let answer = seen.latencies.from_answer;
        for (name, seen, published) in
            [("p50", answer.p50_us, PUBLISHED_P50), ("p99", answer.p99_us, PUBLISHED_P99)]
        {
            table.row(
                format!("answer to receiver at 200 events/s, {name}"),
                format!(
                    "{} ms ({:.2} × of {} ms)",
                    millis(seen),
                    seen as f64 / published as f64,
                    millis(published)
                ),
                format!("≤ {} ms", millis(published)),
                Some(seen <= published),
            );
        }
        let call = seen.latencies.from_call;
        table.row(
            "call to receiver at 200 events/s".to_owned(),
            format!("p50 {} ms, p99 {} ms", millis(call.p50_us), millis(call.p99_us)),
            "none".to_owned(),
            None,
        );
        memory(&mut table, "resident memory at 200 events/s", seen.resident);
    }
    for drained in &seen.backlogs {
        table.row(
            format!("{} due deliveries, {} webhooks", drained.deliveries, drained.webhooks),
            format!(
                "{:.0}/s, {:.3} ms of CPU each (and {:.3} ms of the receiver), at most {:.0} MB",
                drained.per_second,
                drained.server_ms,
                drained.receiver_ms,
                drained.peak as f64 / 1024.0
            ),
            format!("≥ {BACKLOG:.0}/s"),
            Some(drained.per_second >= BACKLOG),
        );
    }
    for seen in &seen.isolation {
        let (alone, beside) = (seen.alone(), seen.beside());
        let unchanged = |alone: u64, beside: u64| {
            beside as f64 <= alone as f64 * UNCHANGED || beside <= alone + CHANCE
        };
        table.row(
            format!("healthy receivers beside harmful ones: {}", seen.what),
            format!(
                "p50 {} ms (alone {} ms), p99 {} ms (alone {} ms)",
                millis(beside.0),
                millis(alone.0),
                millis(beside.1),
                millis(alone.1)
            ),
            format!("≤ {UNCHANGED} ×"),
            Some(unchanged(alone.0, beside.0) && unchanged(alone.1, beside.1)),
        );
    }
    table
}

fn add_rate(table: &mut Table, rate: &DeliveryRate) {
    let published = PUBLISHED.iter().find(|published| published.webhooks == rate.webhooks);
    let published = published.filter(|_| rate.is_comparable);
    let Some(published) = published else {
        let speed = match rate.webhooks {
            0 => format!("{:.0} events/s", rate.events_per_second),
            _ => format!("{:.0}/s", rate.per_second),
        };
        table.row(
            rate.what.clone(),
            format!(
                "{speed}, {:.3} ms of CPU each ({:.3} ms with receiver and clients)",
                rate.server_ms,
                rate.all_ms()
            ),
            "none".to_owned(),
            None,
        );
        return;
    };
    let times = rate.per_second / published.per_second;
    table.row(
        format!("{}: deliveries", rate.what),
        format!("{:.0}/s ({times:.2} × {:.0}/s)", rate.per_second, published.per_second),
        format!("≥ {} ×", published.times),
        Some(times >= published.times),
    );
    // The published figure for "all processes" may or may not include receiver and clients. Our
    // figure includes them.
    let least = published.cpu_ms / published.times;
    table.row(
        format!("{}: CPU of a delivery", rate.what),
        format!(
            "{:.3} ms (1/{:.2} of {} ms); {:.3} ms of it server and database",
            rate.all_ms(),
            published.cpu_ms / rate.all_ms(),
            published.cpu_ms,
            rate.server_ms
        ),
        format!("≤ {least} ms"),
        Some(rate.all_ms() <= least),
    );
    memory(table, &format!("{}: resident memory", rate.what), rate.resident);
}

fn memory(table: &mut Table, what: &str, resident: u64) {
    let mib = resident as f64 / 1024.0;
    table.row(
        what.to_owned(),
        format!("{mib:.0} MB ({:.2} × of {PUBLISHED_MIB} MB)", mib / PUBLISHED_MIB),
        format!("≤ {PUBLISHED_MIB} MB"),
        Some(mib <= PUBLISHED_MIB),
    );
}
