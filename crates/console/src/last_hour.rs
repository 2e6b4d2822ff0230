//! What this process did in the last hour, a sample each ten seconds (R431).

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use recado_core::Timestamp;

/// How long one sample stands for.
pub const SAMPLE_EVERY: Duration = Duration::from_secs(10);
/// How many samples are kept: an hour of them.
const SAMPLES: usize = 360;

/// What the counters of a process show at a moment: how often something happened since it began.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Counters {
    /// Requests answered.
    pub requests: f64,
    /// Messages given to gateways.
    pub sends: f64,
    /// Events of gateways.
    pub gateway_events: f64,
    /// Attempts at deliveries.
    pub attempts: f64,
    /// How many requests took at most so many seconds, by ascending seconds.
    pub durations: Vec<(f64, f64)>,
}

/// What waits at a moment.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Backlog {
    /// Deliveries that are pending.
    pub deliveries: Option<f64>,
    /// Jobs that are due.
    pub jobs: Option<f64>,
}

/// What happened in one part of the hour.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Sample {
    /// Its end.
    pub at: Timestamp,
    /// Requests a second.
    pub requests: Option<f64>,
    /// Messages given to gateways, a second.
    pub sends: Option<f64>,
    /// Events of gateways, a second.
    pub gateway_events: Option<f64>,
    /// Attempts at deliveries, a second.
    pub attempts: Option<f64>,
    /// What waits.
    pub backlog: Backlog,
    /// How many seconds half of the requests took at most.
    pub half: Option<f64>,
    /// How many seconds 99 of a hundred requests took at most.
    pub most: Option<f64>,
}

/// How far a counter went. One that is less than before began anew (R431).
fn gone(before: f64, now: f64) -> f64 {
    if now < before { now } else { now - before }
}

/// R431. The sample between two readings of the counters; without rates if there is no earlier one.
fn sample(
    before: Option<&(Timestamp, Counters)>,
    at: Timestamp,
    now: &Counters,
    backlog: Backlog,
) -> Sample {
    let mut sample = Sample {
        at,
        requests: None,
        sends: None,
        gateway_events: None,
        attempts: None,
        backlog,
        half: None,
        most: None,
    };
    let Some((then, before)) = before else { return sample };
    let seconds = at.since(*then).as_secs_f64();
    if seconds > 0.0 {
        let rate = |before, now| Some(gone(before, now) / seconds);
        sample.requests = rate(before.requests, now.requests);
        sample.sends = rate(before.sends, now.sends);
        sample.gateway_events = rate(before.gateway_events, now.gateway_events);
        sample.attempts = rate(before.attempts, now.attempts);
    }
    let durations: Vec<(f64, f64)> = now
        .durations
        .iter()
        .map(|(bound, count)| {
            let known = before.durations.iter().find(|(other, _)| other == bound);
            (*bound, gone(known.map_or(0.0, |(_, count)| *count), *count))
        })
        .collect();
    sample.half = within(&durations, 0.5);
    sample.most = within(&durations, 0.99);
    sample
}

/// The least bound within which this share of the durations lies; the greatest finite one where it
/// lies beyond all; `None` without any.
fn within(durations: &[(f64, f64)], share: f64) -> Option<f64> {
    let all = durations.last().map(|(_, count)| *count).filter(|count| *count > 0.0)?;
    let (bound, _) = durations.iter().find(|(_, count)| *count >= all * share)?;
    let finite = durations.iter().rev().map(|(bound, _)| *bound).find(|bound| bound.is_finite());
    if bound.is_finite() { Some(*bound) } else { finite }
}

#[derive(Debug, Default)]
struct Ring {
    before: Option<(Timestamp, Counters)>,
    samples: VecDeque<Sample>,
}

/// The last hour of this process: the program records into it each [`SAMPLE_EVERY`], and the
/// console reads it. Clones are the same hour.
#[derive(Clone, Debug, Default)]
pub struct LastHour(Arc<Mutex<Ring>>);

impl LastHour {
    /// An hour without samples.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds what the counters show now, and what waits; the oldest sample of a full hour goes
    /// (R431).
    pub fn record(&self, at: Timestamp, counters: Counters, backlog: Backlog) {
        let mut ring = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let sample = sample(ring.before.as_ref(), at, &counters, backlog);
        ring.before = Some((at, counters));
        if ring.samples.len() >= SAMPLES {
            ring.samples.pop_front();
        }
        ring.samples.push_back(sample);
    }

    /// The samples, oldest first.
    pub fn samples(&self) -> Vec<Sample> {
        let ring = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        ring.samples.iter().copied().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_millis(seconds * 1_000)
    }

    fn counters(requests: f64, durations: &[(f64, f64)]) -> Counters {
        Counters { requests, durations: durations.to_vec(), ..Counters::default() }
    }

    /// R431.
    #[test]
    fn a_rate_is_what_a_counter_went_on_since_the_sample_before() {
        let hour = LastHour::new();
        for (second, requests) in [(0, 100.0), (10, 150.0), (20, 30.0), (20, 40.0)] {
            hour.record(at(second), counters(requests, &[]), Backlog::default());
        }
        let rates: Vec<_> = hour.samples().iter().map(|sample| sample.requests).collect();
        assert_eq!(rates, [None, Some(5.0), Some(3.0), None]);
    }

    /// R431.
    #[test]
    fn the_times_of_a_sample_are_those_of_its_own_requests() {
        let hour = LastHour::new();
        let bounds = |a, b, c| [(0.01, a), (0.1, b), (f64::INFINITY, c)];
        for (second, durations) in [
            (0, bounds(1_000.0, 1_000.0, 1_000.0)),
            (10, bounds(1_060.0, 1_100.0, 1_100.0)),
            (20, bounds(1_060.0, 1_100.0, 1_100.0)),
            (30, bounds(1_060.0, 1_100.0, 1_110.0)),
        ] {
            hour.record(at(second), counters(0.0, &durations), Backlog::default());
        }
        let times: Vec<_> =
            hour.samples().iter().map(|sample| (sample.half, sample.most)).collect();
        let beyond = Some(0.1);
        assert_eq!(times, [(None, None), (Some(0.01), Some(0.1)), (None, None), (beyond, beyond)]);
    }

    /// R431.
    #[test]
    fn an_hour_is_kept_and_no_more() {
        let hour = LastHour::new();
        for n in 0..1_000 {
            let backlog = Backlog { deliveries: Some(n as f64), jobs: None };
            hour.clone().record(at(n * 10), Counters::default(), backlog);
        }
        let samples = hour.samples();
        assert_eq!(samples.len(), 360);
        assert_eq!((samples[0].at, samples[359].backlog.deliveries), (at(6_400), Some(999.0)));
    }
}
