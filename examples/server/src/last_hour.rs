//! The console's last hour, read from the metrics of this process (R431).

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use recado_console::{Backlog, Counters, SAMPLE_EVERY};

use crate::metrics;

/// How old a reading may be that another server of this process has made.
const SHARED_FOR: Duration = SAMPLE_EVERY.checked_div(2).expect("two is not zero");

/// The last reading, and when it was made.
struct Shared(Option<(Instant, Counters, Backlog)>);

impl Shared {
    /// The last reading if it is young enough; else a new one.
    fn at(
        &mut self,
        now: Instant,
        read: impl FnOnce() -> (Counters, Backlog),
    ) -> (Counters, Backlog) {
        if let Some((at, counters, backlog)) = &self.0
            && now.saturating_duration_since(*at) < SHARED_FOR
        {
            return (counters.clone(), *backlog);
        }
        let (counters, backlog) = read();
        self.0 = Some((now, counters.clone(), backlog));
        (counters, backlog)
    }
}

/// The reading of this process.
static SHARED: Mutex<Shared> = Mutex::new(Shared(None));

/// What the metrics of this process say. Several servers in one process share a reading: the text
/// of many series takes time to write. It is written on a thread on which nobody waits.
///
/// R431.
pub(crate) async fn read_metrics() -> Option<(Counters, Backlog)> {
    let reading = || {
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        shared.at(Instant::now(), || read(&metrics::render()))
    };
    tokio::task::spawn_blocking(reading).await.ok()
}

/// What the Prometheus text says of one process.
///
/// R431.
fn read(text: &str) -> (Counters, Backlog) {
    let mut counters = Counters::default();
    let mut backlog = Backlog::default();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let Some((series, value)) = line.rsplit_once(' ') else { continue };
        let Ok(value) = value.parse::<f64>() else { continue };
        let (name, labels) = series.split_once('{').unwrap_or((series, ""));
        match name {
            "recado_http_requests_total" => counters.requests += value,
            "recado_sends_total" => counters.sends += value,
            "recado_gateway_events_total" => counters.gateway_events += value,
            "recado_webhook_attempts_total" => counters.attempts += value,
            "recado_deliveries_pending" => backlog.deliveries = Some(value),
            "recado_jobs_due" => backlog.jobs = Some(value),
            "recado_http_request_duration_seconds_bucket" => {
                let bound = labels.split("le=\"").nth(1).and_then(|it| it.split('"').next());
                // `+Inf` is read as infinity.
                let Some(bound) = bound.and_then(|it| it.parse::<f64>().ok()) else { continue };
                match counters.durations.iter_mut().find(|(known, _)| *known == bound) {
                    Some((_, count)) => *count += value,
                    None => counters.durations.push((bound, value)),
                }
            }
            _ => {}
        }
    }
    counters.durations.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    (counters, backlog)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R431.
    #[test]
    fn servers_of_one_process_share_a_reading_and_each_sample_of_one_server_is_new() {
        let (mut shared, start, mut written) = (Shared(None), Instant::now(), 0);
        for seconds in [0, 1, 4, 10, 11, 20, 30] {
            let (counters, _) = shared.at(start + Duration::from_secs(seconds), || {
                written += 1;
                (Counters { requests: seconds as f64, ..Counters::default() }, Backlog::default())
            });
            assert_eq!(counters.requests, (seconds / 10 * 10) as f64);
        }
        assert_eq!(written, 4);
    }

    /// R431.
    #[test]
    fn series_of_one_name_are_summed_and_bounds_ascend() {
        let (counters, backlog) = read(
            "# TYPE recado_http_requests_total counter\n\
             recado_http_requests_total{route=\"/a\",status=\"200\"} 3\n\
             recado_http_requests_total{route=\"/b\",status=\"200\"} 4\n\
             recado_http_request_duration_seconds_bucket{route=\"/a\",le=\"+Inf\"} 3\n\
             recado_http_request_duration_seconds_bucket{route=\"/a\",le=\"0.1\"} 2\n\
             recado_http_request_duration_seconds_bucket{route=\"/b\",le=\"0.1\"} 4\n\
             recado_jobs_due 5\n\
             recado_deliveries_pending NaN?\n",
        );
        assert_eq!(counters.requests, 7.0);
        assert_eq!(counters.durations, [(0.1, 6.0), (f64::INFINITY, 3.0)]);
        assert_eq!((backlog.jobs, backlog.deliveries), (Some(5.0), None));
    }
}
