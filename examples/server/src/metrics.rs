//! Metrics: one recorder for the process, rendered as Prometheus text.

use std::sync::OnceLock;

use metrics::{Unit, describe_gauge, gauge};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};

/// The bounds of latency histograms, in seconds.
const SECONDS: [f64; 14] =
    [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0];

const RESIDENT: &str = "process_resident_memory_bytes";

/// The recorder of this process, installed at the first call. If an embedding program has installed
/// its own, this one stays empty, and the program's recorder gets everything.
pub(crate) fn recorder() -> &'static PrometheusHandle {
    static HANDLE: OnceLock<PrometheusHandle> = OnceLock::new();
    HANDLE.get_or_init(|| {
        let recorder = PrometheusBuilder::new()
            .set_buckets_for_metric(Matcher::Suffix("seconds".to_owned()), &SECONDS)
            .expect("the bounds are not empty")
            .build_recorder();
        let handle = recorder.handle();
        // An error means that another recorder is installed, which then gets the metrics.
        let _ = metrics::set_global_recorder(recorder);
        crate::attempts::describe();
        describe_gauge!(RESIDENT, Unit::Bytes, "Resident memory of the process");
        crate::watch::describe();
        handle
    })
}

/// All metrics as Prometheus text.
pub(crate) fn render() -> String {
    let recorder = recorder();
    if let Some(bytes) = resident_bytes() {
        gauge!(RESIDENT).set(bytes);
    }
    recorder.render()
}

/// Resident memory, if the system reports it.
fn resident_bytes() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn resident_memory_is_among_the_metrics() {
        let text = render();
        let line = text.lines().find(|line| line.starts_with(RESIDENT)).expect("the metric");
        let bytes: f64 = line.rsplit(' ').next().expect("a value").parse().expect("a number");
        assert!(bytes > 100_000.0, "{line}");
    }
}
