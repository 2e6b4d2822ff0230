//! The results and their targets, as a table in Markdown.

use std::fmt;
use std::time::Duration;

use super::messaging::{MeasuredMessaging, TOP_RATE};
use super::scale::{Pair, Scale};
use super::server::Memory;
use crate::report::{Report, millis};

/// The share of the driver's pages that the server has to reach.
const PAGES: f64 = 0.60;
/// How many times slower the large company may be.
const SCALE: f64 = 1.5;
/// How many times the driver's single commits group commit has to reach.
const CREATES: f64 = 5.0;
/// The share of the driver's inserts that sends have to reach on Postgres.
const SENDS: f64 = 0.25;
/// The target for the latency of gateway events at the top rate, in microseconds.
const EVENT_P50: u64 = 5_000;
const EVENT_P99: u64 = 50_000;
/// The share of the top rate that has to be reached, because the last calls end after the time.
const NEARLY: f64 = 0.98;
const START: Duration = Duration::from_millis(100);
const IDLE_MIB: f64 = 40.0;
const LOADED_MIB: f64 = 150.0;

/// The rows of a table.
#[derive(Debug, Default)]
pub(crate) struct Table(Vec<Row>);

#[derive(Debug)]
struct Row {
    what: String,
    seen: String,
    aim: String,
    met: Option<bool>,
}

impl Table {
    /// Adds a row. `met` says whether the target was met, if there is one.
    pub(crate) fn row(&mut self, what: String, seen: String, aim: String, met: Option<bool>) {
        self.0.push(Row { what, seen, aim, met });
    }

    /// Compares the server's pages with the driver's.
    pub(crate) fn compare_pages(&mut self, scale: &Scale) {
        for (served, bare) in scale.page.iter().zip(&scale.bare) {
            let ratio = served.per_second / bare.per_second;
            self.row(
                format!("GET /contacts, 50 a page, against {}", bare.scenario),
                format!(
                    "{:.0} % ({:.0}/s against {:.0}/s)",
                    ratio * 100.0,
                    served.per_second,
                    bare.per_second
                ),
                format!("≥ {:.0} %", PAGES * 100.0),
                Some(ratio >= PAGES),
            );
            if let (Some(served), Some(bare)) = (served.cpu_us, bare.cpu_us) {
                let ratio = bare as f64 / served as f64 * 100.0;
                self.row(
                    "the same by CPU time, database server included".to_owned(),
                    format!("{ratio:.0} % ({bare} µs of {served} µs a page)"),
                    "none".to_owned(),
                    None,
                );
            }
        }
    }

    /// Compares the large company with the small one.
    pub(crate) fn compare_scales(&mut self, scale: &Scale) {
        self.compare_scale(&scale.page, true);
        scale.flat.iter().for_each(|pair| self.compare_scale(pair, true));
        scale.growing.iter().for_each(|pair| self.compare_scale(pair, false));
    }

    fn compare_scale(&mut self, [small, large]: &Pair, has_aim: bool) {
        let factor = small.per_second / large.per_second;
        let cpu = match (small.cpu_us, large.cpu_us) {
            (Some(small), Some(large)) => {
                format!("; {:.2} × the CPU time", large as f64 / small.max(1) as f64)
            }
            _ => String::new(),
        };
        self.row(
            format!("{}: 1,000,000 contacts against 10,000", large.scenario),
            format!(
                "{factor:.2} × ({:.0}/s against {:.0}/s{cpu})",
                large.per_second, small.per_second
            ),
            if has_aim { format!("≤ {SCALE} ×") } else { "none".to_owned() },
            has_aim.then_some(factor <= SCALE),
        );
    }

    /// Compares group commit with single commits. Only SQLite has a target.
    pub(crate) fn compare_creates(&mut self, database: &str, created: &Report, bare: &Report) {
        let ratio = created.per_second / bare.per_second;
        let has_aim = database.starts_with("sqlite:");
        self.row(
            format!("POST /contacts, {} clients, against {}", created.connections, bare.scenario),
            format!("{ratio:.1} × ({:.0}/s against {:.0}/s)", created.per_second, bare.per_second),
            if has_aim { format!("≥ {CREATES:.0} ×") } else { "none".to_owned() },
            has_aim.then_some(ratio >= CREATES),
        );
    }

    /// Compares sends with the driver's inserts (with a target on Postgres only). Adds gateway
    /// events at the top rate and the other measurements of messages.
    pub(crate) fn compare_messaging(
        &mut self,
        database: &str,
        measured: &MeasuredMessaging,
        memory: Memory,
    ) {
        let MeasuredMessaging { inserted, sent, paced, others } = measured;
        let ratio = sent.per_second / inserted.per_second;
        let has_aim = database.starts_with("postgres");
        self.row(
            format!(
                "POST /send/message, {} clients, against {}",
                sent.connections, inserted.scenario
            ),
            format!(
                "{:.0} % ({:.0}/s against {:.0}/s)",
                ratio * 100.0,
                sent.per_second,
                inserted.per_second
            ),
            if has_aim { format!("≥ {:.0} %", SENDS * 100.0) } else { "none".to_owned() },
            has_aim.then_some(ratio >= SENDS),
        );
        for report in paced {
            // The answer to a webhook does not count its events; each call has one.
            let rate = match report.events.is_empty() {
                true => report.per_second,
                false => report.events_per_second(),
            };
            self.row(
                report.scenario.clone(),
                format!(
                    "{rate:.0} events/s, p50 {} ms, p99 {} ms",
                    millis(report.p50_us),
                    millis(report.p99_us)
                ),
                format!("{TOP_RATE}/s, p50 {} ms, p99 {} ms", EVENT_P50 / 1000, EVENT_P99 / 1000),
                Some(
                    rate >= f64::from(TOP_RATE) * NEARLY
                        && report.p50_us <= EVENT_P50
                        && report.p99_us <= EVENT_P99,
                ),
            );
        }
        for report in others {
            let events = match report.events.is_empty() {
                true => String::new(),
                false => format!(", {:.0} events/s", report.events_per_second()),
            };
            self.row(
                report.scenario.clone(),
                format!(
                    "{:.0}/s{events}, p50 {} ms, p99 {} ms",
                    report.per_second,
                    millis(report.p50_us),
                    millis(report.p99_us)
                ),
                "none".to_owned(),
                None,
            );
        }
        self.memory("resident memory after sends, events and listings", memory, LOADED_MIB);
    }

    /// Adds start time and memory of the process.
    pub(crate) fn process(&mut self, start: Duration, idle: Memory, loaded: Memory) {
        self.row(
            "start to ready, 1,000,000 contacts".to_owned(),
            format!("{} ms", start.as_millis()),
            format!("≤ {} ms", START.as_millis()),
            Some(start <= START),
        );
        self.memory("resident memory, idle", idle, IDLE_MIB);
        let what = "resident memory after the scenarios on 1,000,000 contacts";
        self.memory(what, loaded, LOADED_MIB);
    }

    pub(crate) fn memory(&mut self, what: &str, memory: Memory, aim: f64) {
        let mib = |kib: u64| kib as f64 / 1024.0;
        self.row(
            what.to_owned(),
            format!(
                "{:.0} MB ({:.0} MB of it anonymous, at most {:.0} MB)",
                mib(memory.resident),
                mib(memory.anonymous),
                mib(memory.peak)
            ),
            format!("≤ {aim:.0} MB"),
            Some(mib(memory.resident) <= aim),
        );
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "| what | seen | aim | met |\n|---|---|---|---|")?;
        for Row { what, seen, aim, met } in &self.0 {
            let met = match met {
                Some(true) => "yes",
                Some(false) => "**no**",
                None => "",
            };
            writeln!(f, "| {what} | {seen} | {aim} | {met} |")?;
        }
        Ok(())
    }
}
