//! The results of a run.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use hdrhistogram::Histogram;
use serde::Serialize;

use crate::run::Effort;

/// The greatest latency that can be recorded: one minute, in microseconds.
const MAX_MICROS: u64 = 60_000_000;

/// The counts of one connection, or of all connections.
#[derive(Debug)]
pub(crate) struct Tally {
    latencies: Histogram<u64>,
    statuses: BTreeMap<u16, u64>,
    broken: u64,
    bytes: u64,
    /// Gateway events by their result.
    events: BTreeMap<&'static str, u64>,
}

impl Tally {
    pub(crate) fn new() -> Self {
        let latencies =
            Histogram::new_with_bounds(1, MAX_MICROS, 3).expect("the bounds are in order");
        Self { latencies, statuses: BTreeMap::new(), broken: 0, bytes: 0, events: BTreeMap::new() }
    }

    /// Counts the results of events in an answer, without parsing all of its JSON.
    pub(crate) fn results(&mut self, body: &[u8]) {
        let name = b"\"result\":\"";
        for (at, _) in body.windows(name.len()).enumerate().filter(|(_, part)| part == name) {
            let rest = &body[at + name.len()..];
            let known = ["stored", "duplicate", "ignored", "refused"];
            let result = known.into_iter().find(|word| rest.starts_with(word.as_bytes()));
            *self.events.entry(result.unwrap_or("other")).or_default() += 1;
        }
    }

    /// Counts an answer.
    pub(crate) fn answered(&mut self, status: u16, took: Duration, bytes: usize) {
        *self.statuses.entry(status).or_default() += 1;
        self.bytes += bytes as u64;
        self.timed(took);
    }

    /// Counts an operation that is not an HTTP call.
    pub(crate) fn timed(&mut self, took: Duration) {
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        self.latencies.saturating_record(micros.clamp(1, MAX_MICROS));
    }

    /// Counts a call without an answer.
    pub(crate) fn broke(&mut self) {
        self.broken += 1;
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.latencies.add(&other.latencies).expect("all histograms have the same bounds");
        for (status, count) in &other.statuses {
            *self.statuses.entry(*status).or_default() += count;
        }
        for (result, count) in &other.events {
            *self.events.entry(result).or_default() += count;
        }
        self.broken += other.broken;
        self.bytes += other.bytes;
    }

    /// Calls that were answered.
    pub(crate) fn count(&self) -> u64 {
        self.latencies.len()
    }
}

/// The result of one scenario.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Report {
    pub(crate) scenario: String,
    pub(crate) connections: usize,
    pub(crate) seconds: f64,
    pub(crate) requests: u64,
    pub(crate) per_second: f64,
    pub(crate) p50_us: u64,
    pub(crate) p90_us: u64,
    pub(crate) p99_us: u64,
    pub(crate) max_us: u64,
    pub(crate) mean_bytes: u64,
    /// Answers by status.
    pub(crate) statuses: BTreeMap<u16, u64>,
    /// Calls that got no answer.
    pub(crate) broken: u64,
    /// Gateway events by their result.
    pub(crate) events: BTreeMap<String, u64>,
    /// Processor time of one call on the server's side, if it was measured.
    pub(crate) cpu_us: Option<u64>,
}

impl Report {
    pub(crate) fn new(scenario: &str, connections: usize, took: Duration, tally: &Tally) -> Self {
        let quantile = |q| tally.latencies.value_at_quantile(q);
        let requests = tally.count();
        Self {
            scenario: scenario.to_owned(),
            connections,
            seconds: took.as_secs_f64(),
            requests,
            per_second: requests as f64 / took.as_secs_f64().max(f64::EPSILON),
            p50_us: quantile(0.50),
            p90_us: quantile(0.90),
            p99_us: quantile(0.99),
            max_us: tally.latencies.max(),
            mean_bytes: tally.bytes / requests.max(1),
            statuses: tally.statuses.clone(),
            broken: tally.broken,
            events: tally.events.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect(),
            cpu_us: None,
        }
    }

    /// Gateway events per second.
    pub(crate) fn events_per_second(&self) -> f64 {
        self.events.values().sum::<u64>() as f64 / self.seconds.max(f64::EPSILON)
    }

    /// Adds the processor time of one call: `used`, from the start of the run to its end, divided
    /// by the estimated number of calls, including those of the warm-up.
    #[must_use]
    pub(crate) fn with_cpu(mut self, used: Duration, effort: Effort) -> Self {
        let whole = (effort.warmup + effort.measured).as_secs_f64();
        let calls = self.per_second * whole;
        self.cpu_us = Some((used.as_secs_f64() * 1e6 / calls.max(1.0)) as u64);
        self
    }

    /// Whether every call was answered with a 2xx.
    pub(crate) fn is_clean(&self) -> bool {
        self.broken == 0 && self.statuses.keys().all(|status| (200..300).contains(status))
    }
}

/// Milliseconds, with only significant digits.
pub(crate) fn millis(micros: u64) -> String {
    let millis = micros as f64 / 1000.0;
    if millis < 10.0 { format!("{millis:.2}") } else { format!("{millis:.0}") }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:<44} {:>9.0}/s  p50 {:>6} ms  p90 {:>6} ms  p99 {:>6} ms  max {:>6} ms  {:>6} B",
            self.scenario,
            self.per_second,
            millis(self.p50_us),
            millis(self.p90_us),
            millis(self.p99_us),
            millis(self.max_us),
            self.mean_bytes,
        )?;
        if let Some(cpu) = self.cpu_us {
            write!(f, "  {cpu} µs of CPU")?;
        }
        if !self.events.is_empty() {
            write!(f, "  {:.0} events/s {:?}", self.events_per_second(), self.events)?;
        }
        if !self.is_clean() {
            write!(f, "  answers {:?}, without an answer {}", self.statuses, self.broken)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_shows_quantiles_and_errors() {
        let mut tally = Tally::new();
        for millis in 1..=100 {
            tally.answered(200, Duration::from_millis(millis), 10);
        }
        tally.answered(503, Duration::from_secs(3600), 10);
        tally.broke();
        tally
            .results(br#"{"data":[{"result":"stored"},{"result":"ignored"},{"result":"stored"}]}"#);
        let report = Report::new("x", 1, Duration::from_secs(2), &tally);
        assert_eq!(report.requests, 101);
        assert!((50_000..52_000).contains(&report.p50_us), "{}", report.p50_us);
        assert_eq!(report.statuses, BTreeMap::from([(200, 100), (503, 1)]));
        assert_eq!(report.events, BTreeMap::from([("ignored".into(), 1), ("stored".into(), 2)]));
        assert!(!report.is_clean());
        assert!(report.to_string().contains("503: 1"), "{report}");
    }
}
